#include "explore/mirror.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace holdfast::explore {

std::uint32_t Mirror::node(std::size_t which, std::uint32_t number) const {
  const StoredNode& stored = table_.node(number);
  if (const auto known = stored.images.at(which)) return *known;
  const Origin& origin = stored.origin;
  const std::uint32_t image =
      origin.started != 0
          ? table_.start(renamings_[which].nodes[origin.started - 1U], durable(which, origin.node))
          : table_.step(node(which, origin.node), item(which, origin.item)).node;
  stored.images.set(which, image);
  return image;
}

std::uint32_t Mirror::item(std::size_t which, std::uint32_t number) const {
  const Item& item = table_.item(number);
  if (const auto known = item.images.at(which)) return *known;
  const std::uint32_t image = makeItem(which, number);
  item.images.set(which, image);
  return image;
}

std::uint32_t Mirror::durable(std::size_t which, std::uint32_t number) const {
  if (number == table_.blank()) return number;
  const StoredDurable& stored = table_.durable(number);
  if (const auto known = stored.images.at(which)) return *known;
  const Crash& crash = table_.crashOf(stored.crash);
  std::vector<std::uint32_t> survivors;
  for (const std::uint32_t survivor : crash.survivors) survivors.push_back(item(which, survivor));
  const std::uint32_t image =
      table_.crash(node(which, crash.node), renamings_[which].nodes[crash.id], survivors);
  stored.images.set(which, image);
  return image;
}

std::uint32_t Mirror::makeItem(std::size_t which, std::uint32_t number) const {
  const Renaming& names = renamings_[which];
  const Item& given = table_.item(number);
  const std::uint8_t to = names.nodes[given.node];
  if (const auto* peer = std::get_if<protocol::PeerUp>(&given.input)) {
    const sim::NodeId renamed{names.nodes[peer->peer.value]};
    return table_.addItem({ItemKind::local, to, to, protocol::PeerUp{renamed}, {}, {}, 0});
  }
  const auto withOutcome = [&](std::uint32_t commit, protocol::CommitOutcome outcome) {
    Item other = table_.item(commit);
    std::get<protocol::CommitDone>(other.input).outcome = outcome;
    return table_.addItem(std::move(other));
  };
  const auto* done = std::get_if<protocol::CommitDone>(&given.input);
  if (done != nullptr && done->outcome != protocol::CommitOutcome::committed) {
    // A step brings commits under way that will succeed; one that does not was made of such a one.
    const std::uint32_t sent = withOutcome(number, protocol::CommitOutcome::committed);
    return withOutcome(item(which, sent), done->outcome);
  }
  if (given.origin) {
    const LocalStep& step = table_.step(node(which, given.origin->node), item(which, given.origin->item));
    Item wanted;
    wanted.kind = given.kind;
    wanted.node = to;
    wanted.from = names.nodes[given.from];
    wanted.key = given.key < kMaxKeys ? names.keys[given.key] : given.key;
    std::uint16_t place = 0;
    for (const std::uint32_t candidate : step.items) {
      if (sentAlike(table_.item(candidate), wanted) && place++ == given.origin->place) return candidate;
    }
  }
  broken_ |= 1U << which;
  return number;
}

std::string Mirror::compare(std::size_t which, const LocalStep& step) const {
  const Renaming& names = renamings_[which];
  const std::uint32_t before = node(which, step.before);
  const LocalStep& other = table_.step(before, item(which, step.item));
  const Item& given = table_.item(step.item);
  const auto differs = [&](const char* what) {
    return fmt::format("node {} as node {} does otherwise with the same input ({})", given.node,
                       names.nodes[given.node], what);
  };
  if (other.node != node(which, step.node)) return differs("the state after");
  if (table_.node(other.node).wakeIn != table_.node(step.node).wakeIn) return differs("its timer");
  if (other.items.size() != step.items.size()) return differs("how much it sends");
  std::vector<std::uint32_t> images;
  for (const std::uint32_t sent : step.items) images.push_back(item(which, sent));
  // In the order of what is sent alike; any other is no matter.
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto alike = [&](std::uint32_t sent) {
      return sentAlike(table_.item(sent), table_.item(images[i]));
    };
    const auto end = images.begin() + static_cast<std::ptrdiff_t>(i);
    std::ptrdiff_t left = std::count_if(images.begin(), end, alike);
    const auto found =
        std::ranges::find_if(other.items, [&](std::uint32_t sent) { return alike(sent) && left-- == 0; });
    if (found == other.items.end() || *found != images[i]) return differs("what it sends");
  }
  if (!corresponds(names, cast_, {step.observations, step.now}, {other.observations, other.now})) {
    return differs("what is observed");
  }
  return {};
}

std::string Mirror::compareCrash(std::size_t which, const Crash& crash) const {
  std::vector<std::uint32_t> survivors;
  for (const std::uint32_t survivor : crash.survivors) survivors.push_back(item(which, survivor));
  const std::uint8_t name = renamings_[which].nodes[crash.id];
  const std::uint32_t image = table_.crash(node(which, crash.node), name, survivors);
  if (image == durable(which, table_.crash(crash.node, crash.id, crash.survivors))) return {};
  return fmt::format("a crash of node {} as node {} leaves something else", crash.id, name);
}

std::string Mirror::whatBreaks(const std::vector<std::size_t>& ways) const {
  std::string wrong;
  for (const std::size_t which : ways) {
    // What is looked at may be computed on the way, and is looked at too.
    for (std::size_t known = 0; wrong.empty() && known != table_.steps() + table_.crashes();) {
      known = table_.steps() + table_.crashes();
      table_.eachCrash([&](const Crash& crash) {
        if (wrong.empty()) wrong = compareCrash(which, crash);
      });
      table_.eachStep([&](const LocalStep& step) {
        if (wrong.empty()) wrong = compare(which, step);
      });
    }
    const bool broken = (broken_ >> which & 1U) != 0;
    if (wrong.empty() && broken) wrong = "an input has no counterpart under a renaming";
  }
  return wrong;
}

}  // namespace holdfast::explore
