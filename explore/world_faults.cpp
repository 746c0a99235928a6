// What may go wrong in the world: crashes and what they leave on the disk, restarts, links that are cut and
// healed.
#include <algorithm>

#include "explore/world.hpp"

namespace holdfast::explore {
namespace {

constexpr std::uint8_t mask(std::size_t index) { return static_cast<std::uint8_t>(1U << index); }

}  // namespace

void World::faults(const State& state, std::vector<Choice>& out) const {
  for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
    if (isDown(state, node)) {
      if (configuration_.outage != Outage::endless) out.push_back({ChoiceKind::restart, node, 0});
    } else if (state.left.crashes != 0 && (configuration_.mayCrash & mask(node)) != 0) {
      const std::size_t ends = (commitsOf(state, node).size() + 1) * (recordsOf(state, node).size() + 1);
      for (std::uint16_t end = 0; end < ends; ++end) out.push_back({ChoiceKind::crash, node, end});
    }
  }
  for (std::uint8_t high = 1; high < configuration_.nodes; ++high) {
    for (std::uint8_t low = 0; low < high; ++low) {
      const std::uint8_t pair = pairOf(low, high);
      if ((state.cut & mask(pair)) != 0) {
        out.push_back({ChoiceKind::heal, pair, 0});
      } else if (state.left.cuts != 0) {
        out.push_back({ChoiceKind::cut, pair, 0});
      }
    }
  }
}

std::vector<std::uint32_t> World::commitsOf(const State& state, std::uint8_t node) const {
  std::vector<std::uint32_t> commits;
  for (const Entry& entry : (*pools_)[state.pool].entries) {
    const Item& item = table_->item(entry.item);
    if (item.kind == ItemKind::commit && item.node == node) commits.push_back(entry.item);
  }
  // Commits reach the disk in the order in which they were asked for.
  const auto number = [&](std::uint32_t item) {
    return std::get<protocol::CommitDone>(table_->item(item).input).commit;
  };
  std::sort(commits.begin(), commits.end(),
            [&](std::uint32_t a, std::uint32_t b) { return number(a) < number(b); });
  return commits;
}

std::vector<std::uint32_t> World::recordsOf(const State& state, std::uint8_t node) const {
  std::vector<std::uint32_t> records;
  for (const Entry& entry : (*pools_)[state.pool].entries) {
    const Item& item = table_->item(entry.item);
    if (item.kind == ItemKind::persist && item.node == node && item.record.index() != 0) {
      records.push_back(entry.item);
    }
  }
  return records;
}

World::Survivors World::survivorsOf(const State& state, const Choice& choice) const {
  Survivors survivors{commitsOf(state, choice.who), recordsOf(state, choice.who)};
  const std::size_t ends = survivors.commits.size() + 1;
  survivors.commits.resize(choice.which % ends);
  survivors.records.resize(choice.which / ends);
  return survivors;
}

void World::crash(State& state, UnderWay& way, const Choice& choice) const {
  const std::uint8_t node = choice.who;
  const auto [commits, records] = survivorsOf(state, choice);
  std::vector<std::uint32_t> survivors = commits;
  survivors.insert(survivors.end(), records.begin(), records.end());
  obs::Position head = table_->node(state.nodes[node]).node->replication().head();
  state.nodes[node] = table_->crash(state.nodes[node], node, survivors);
  for (const std::uint32_t commit : commits) {
    ++head;
    const auto* transaction = std::get_if<protocol::TransactionEntry>(&table_->item(commit).entry);
    if (transaction != nullptr) state.ghost.found(transaction->txn, head);
  }
  state.ghost.crash(node, cast_);
  std::erase_if(way.entries, [&](const Entry& entry) {
    const Item& item = table_->item(entry.item);
    if (item.kind == ItemKind::datagram) return false;
    return item.node == node || (item.kind == ItemKind::stream && item.from == node);
  });
  state.down = static_cast<std::uint8_t>(state.down | mask(node));
  --state.left.crashes;
}

std::uint32_t World::peerUp(std::uint8_t node, std::uint8_t peer) const {
  return table_->addItem({ItemKind::local, node, node, protocol::PeerUp{sim::NodeId{peer}}, {}, {}, 0});
}

/// The process starts, and the connections to its running peers come up with it.
void World::restart(State& state, UnderWay& way, std::uint8_t node) const {
  state.down = static_cast<std::uint8_t>(state.down & ~mask(node));
  state.nodes[node] = table_->start(node, state.nodes[node]);
  state.ghost.restart(node, cast_);
  advance(state, way, node, boots_[node]);
  for (std::uint8_t peer = 0; peer < configuration_.nodes; ++peer) {
    if (peer == node || isDown(state, peer) || isCut(state, node, peer)) continue;
    advance(state, way, peer, peerUp(peer, node));
  }
}

void World::cut(State& state, UnderWay& way, std::uint8_t pair) const {
  --state.left.cuts;
  state.cut = static_cast<std::uint8_t>(state.cut | mask(pair));
  std::erase_if(way.entries, [&](const Entry& entry) {
    const Item& item = table_->item(entry.item);
    const bool sent = item.kind == ItemKind::datagram || item.kind == ItemKind::stream;
    return sent && pairOf(item.from, item.node) == pair;
  });
}

void World::heal(State& state, UnderWay& way, std::uint8_t pair) const {
  state.cut = static_cast<std::uint8_t>(state.cut & ~mask(pair));
  for (std::uint8_t high = 1; high < configuration_.nodes; ++high) {
    for (std::uint8_t low = 0; low < high; ++low) {
      if (pairOf(low, high) != pair || isDown(state, low) || isDown(state, high)) continue;
      advance(state, way, low, peerUp(low, high));
      advance(state, way, high, peerUp(high, low));
    }
  }
}

}  // namespace holdfast::explore
