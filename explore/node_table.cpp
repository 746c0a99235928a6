#include "explore/node_table.hpp"

#include <algorithm>

#include "protocol/canonical_key.hpp"
#include "protocol/routing.hpp"
#include "protocol/state_hash.hpp"
#include "sim/random.hpp"

namespace holdfast::explore {
namespace {

sim::Duration ticks(std::int64_t count) { return kTick * count; }

protocol::ProtocolOptions protocolOptions(const Configuration& configuration) {
  const Ticks& t = configuration.ticks;
  protocol::ProtocolOptions options;
  options.membership = configuration.membership;
  // A membership that is given stays live: its renewals lie beyond the horizon.
  options.epochLease = t.membership == 0 ? ticks(4 * kFarTicks) : ticks(t.membership);
  options.renewEvery = ticksOrFar(t.renew);
  options.missedRenewals = t.missed;
  options.proposalTimeout = ticks(t.round);
  options.proposalBackoff = ticks(t.backoff);
  // Clocks differ by whole ticks, which the skew covers (CK-3).
  options.rateErrorPpb = 0;
  options.rejoin = false;
  options.sweepEvery = ticks(kFarTicks);
  options.tombstoneRetention = ticks(kFarTicks);
  options.maxDelegation = ticksOrFar(t.delegation);
  options.skew = ticks(t.skew);
  options.minUseful = ticks(t.minUseful);
  options.retryEvery = ticksOrFar(t.retry);
  options.answerMargin = ticks(t.margin);
  options.recallEvery = ticksOrFar(t.recall);
  options.minTenure = ticks(t.tenure);
  options.recallGrace = ticks(t.grace);
  options.barrierTimeout = ticks(t.barrier);
  options.everDelegatedBits = 64;
  options.commitAttempts = 2;
  return options;
}

protocol::Directory directoryOf(const Configuration& configuration) {
  std::vector<std::string> names;
  std::vector<sim::NodeId> members;
  for (std::uint8_t i = 0; i < configuration.nodes; ++i) {
    names.push_back(std::string(1, static_cast<char>('A' + i)));
    members.push_back({i});
  }
  std::vector<protocol::KeyInfo> keys;
  std::erase_if(members, [&](sim::NodeId node) { return (configuration.members >> node.value & 1U) == 0; });
  // Keys are named so that their home is the one that the configuration asks for.
  for (int number = 0; keys.size() < configuration.keys; ++number) {
    const std::string key = "k" + std::to_string(number);
    auto bytes = protocol::canonicalKey("data", "accounts", protocol::KeyPart{key});
    protocol::KeyInfo info{"accounts/" + key, std::move(*bytes), 0};
    const protocol::Directory trial(names, {info});
    const sim::NodeId home = protocol::homeOf(trial, members, sim::KeyId{0}, protocol::kFirstRingVersion);
    if (home.value == configuration.home) keys.push_back(std::move(info));
  }
  return {std::move(names), std::move(keys)};
}

std::uint64_t hashOf(const Item& item, protocol::Renumbering* numbers = nullptr) {
  protocol::StateHash hash(obs::MonotonicInstant{}, protocol::StateHash::kNoHorizon, numbers);
  hash.add(item.kind);
  hash.add(static_cast<std::uint64_t>(item.node) << 8 | item.from);
  hash.add(static_cast<std::uint64_t>(item.input.index()));
  std::visit(
      [&]<class T>(const T& input) {
        if constexpr (std::is_same_v<T, protocol::Deliver>) {
          hash.add(input.message);
        } else if constexpr (obs::Described<T>) {
          obs::forEachField(input, [&](std::string_view, const auto& field) { hash.add(field); });
        }
      },
      item.input);
  if (item.kind == ItemKind::commit) hash.add(item.entry);
  if (item.kind == ItemKind::persist && item.record.index() != 0) hash.add(item.record);
  return sim::scramble(hash.value());
}

/// Datagrams and commits about different keys have no order; a stream's messages have.
std::uint8_t keyOf(const Item& item) {
  sim::KeyId key = sim::KeyId::none();
  const auto take = [&](const auto& about) {
    if constexpr (requires { key = about.key; }) key = about.key;
  };
  if (item.kind == ItemKind::commit) {
    std::visit(take, item.entry);
  } else if (const auto* deliver = std::get_if<protocol::Deliver>(&item.input);
             deliver != nullptr && item.kind == ItemKind::datagram) {
    std::visit(take, deliver->message);
  }
  return static_cast<std::uint8_t>(key.value);
}

std::uint64_t hashOf(const protocol::DurableMembership& records, protocol::Renumbering* numbers) {
  protocol::StateHash hash(obs::MonotonicInstant{}, protocol::StateHash::kNoHorizon, numbers);
  hash.add(static_cast<std::uint64_t>(records.disk) << 1 | static_cast<std::uint64_t>(records.corrupted));
  hash.add(records.start);
  hash.add(records.acceptor);
  hash.addRange(records.chain);
  hash.add(records.homeMap);
  return hash.value();
}

/// Gives the node its input, or does what an item stands for that is none. `renumbers`: nothing is under way
/// at a tick that names a renewal or a write.
void give(StoredNode& node, const Item& item, bool renumbers, protocol::Effects& effects) {
  if (item.kind == ItemKind::tick) {
    node.now = node.now + kTick;
    if (!renumbers) return;
    node.node->renumber();
    if (node.node->membership().epoch() != nullptr) node.written = {};
  } else if (item.kind == ItemKind::settle) {
    node.node->renumberWrites();
    node.written = {};
  } else {
    if (item.kind == ItemKind::persist) protocol::store(node.records, item.record);
    node.node->handle(item.input, protocol::Context{node.now, NodeTable::kWall, effects});
  }
}

bool streamed(protocol::MessageKind kind) {
  return kind == protocol::MessageKind::subscribe || kind == protocol::MessageKind::logFrame ||
         kind == protocol::MessageKind::logGap || kind == protocol::MessageKind::logHead;
}

}  // namespace

NodeTable::NodeTable(const Configuration& configuration, std::size_t renamings)
    : renamings_(renamings),
      fixed_(configuration.membership == protocol::MembershipKind::fixed),
      prompt_(configuration.late == 0),
      directory_(directoryOf(configuration)) {
  blank_ = addDurable(protocol::Durable{}, 0);
  const Ticks& t = configuration.ticks;
  // Longer than everything that is counted in ticks, and than every sum of a past instant and a duration.
  int longest = std::max({t.delegation + t.skew, int{t.wait}, int{t.lease}, int{t.retry}, int{t.recall},
                          t.tenure + t.barrier, int{t.grace}});
  if (!fixed_) {
    longest = std::max({longest, t.membership + t.delegation + 2 * t.skew, 2 * t.round,
                        t.renew * std::max(int{t.missed}, 3)});
  }
  horizon_ = ticks(longest + 2);
  for (std::uint8_t i = 0; i < configuration.nodes; ++i) {
    protocol::NodeSetup setup;
    setup.self = {i};
    setup.directory = &directory_;
    setup.options = protocolOptions(configuration);
    setup.rules = configuration.rules;
    setup.seed = configuration.seed;
    for (std::uint8_t j = 0; j < configuration.nodes; ++j) {
      if ((configuration.members >> j & 1U) != 0) setup.members.push_back({j});
    }
    for (std::uint8_t j = 0; j < configuration.nodes; ++j) {
      setup.shortIds.push_back(
          static_cast<std::uint16_t>((j + configuration.nodes - i) % configuration.nodes));
    }
    setups_.push_back(std::move(setup));
  }
}

std::uint32_t NodeTable::addItem(Item item) {
  item.hash = hashOf(item);
  const std::uint64_t hash = item.hash;
  return items_.add(hash, [&] {
    item.images = Images(renamings_);
    return std::move(item);
  });
}

std::uint64_t NodeTable::hashOfNode(const StoredNode& stored, protocol::Renumbering* numbers) const {
  const protocol::Node& node = *stored.node;
  const std::uint64_t identity = std::uint64_t{node.self().value} + 1;
  std::uint64_t hash = sim::mix(node.canonicalHash(stored.now, horizon_, numbers), identity);
  if (!fixed_) {
    hash = sim::mix(hash, hashOf(stored.records, numbers));
    for (const std::uint8_t count : stored.written) hash = sim::mix(hash, count);
  }
  return hash;
}

std::uint64_t NodeTable::hashOfDurable(const protocol::Durable& durable,
                                       protocol::Renumbering* numbers) const {
  protocol::StateHash hash(obs::MonotonicInstant{}, protocol::StateHash::kNoHorizon, numbers);
  hash.add(static_cast<std::uint64_t>(durable.incarnation));
  hash.add(durable.replica);
  if (!fixed_) hash.add(hashOf(durable.membership, numbers));
  return sim::scramble(hash.value());
}

std::uint32_t NodeTable::addNode(StoredNode&& stored) {
  stored.node->renumberCommits();
  const std::uint64_t hash = hashOfNode(stored, nullptr);
  return nodes_.add(hash, [&] {
    const obs::MonotonicInstant wake = stored.node->nextWake();
    const std::int64_t wait = wake == obs::MonotonicInstant::never() ? INT64_MAX : (wake - stored.now).ns;
    stored.wakeIn =
        wait > horizon_.ns
            ? kNever
            : static_cast<std::uint16_t>(std::max<std::int64_t>(0, (wait + kTick.ns - 1) / kTick.ns));
    stored.hash = hash;
    stored.images = Images(renamings_);
    return std::move(stored);
  });
}

std::uint32_t NodeTable::addDurable(protocol::Durable durable, std::uint32_t crash) {
  const std::uint64_t value = hashOfDurable(durable, nullptr);
  return durables_.add(value,
                       [&] { return StoredDurable{std::move(durable), value, crash, Images(renamings_)}; });
}

std::uint64_t NodeTable::renumberedNode(std::uint32_t number, protocol::Renumbering& numbers) const {
  return hashOfNode(nodes_[number], &numbers);
}

std::uint64_t NodeTable::renumberedDurable(std::uint32_t number, protocol::Renumbering& numbers) const {
  return hashOfDurable(durables_[number].durable, &numbers);
}

std::uint64_t NodeTable::renumberedItem(std::uint32_t number, protocol::Renumbering& numbers) const {
  return hashOf(items_[number], &numbers);
}

std::uint32_t NodeTable::start(std::uint8_t node, std::uint32_t durable) {
  protocol::Durable found = durables_[durable].durable;
  ++found.membership.start;
  StoredNode stored;
  stored.records = found.membership;
  stored.node.emplace(setups_[node], std::move(found));
  stored.now = startReading(node);
  stored.origin = {durable, 0, 0, static_cast<std::uint8_t>(node + 1)};
  return addNode(std::move(stored));
}

std::uint32_t NodeTable::crash(std::uint32_t number, std::uint8_t node,
                               const std::vector<std::uint32_t>& survivors) {
  protocol::Node dying = *nodes_[number].node;
  protocol::Durable durable = dying.takeDurable();
  durable.membership = nodes_[number].records;
  for (const std::uint32_t survivor : survivors) {
    if (items_[survivor].kind == ItemKind::persist) {
      protocol::store(durable.membership, items_[survivor].record);
      continue;
    }
    (void)protocol::Node::recover(durable, setups_[node], items_[survivor].entry);
  }
  if (renamings_ == 0) return addDurable(std::move(durable), 0);
  std::uint64_t key = sim::mix(nodes_[number].hash, node);
  for (const std::uint32_t survivor : survivors) key = sim::mix(key, items_[survivor].hash);
  return addDurable(std::move(durable), crashes_.add(key, [&] { return Crash{number, node, survivors}; }));
}

const LocalStep& NodeTable::step(std::uint32_t number, std::uint32_t itemNumber) {
  const StoredNode& before = nodes_[number];
  const Item& item = items_[itemNumber];
  const std::uint64_t key = sim::mix(before.hash, item.hash);
  if (const auto known = steps_.find(key)) return steps_[*known];

  thread_local protocol::Effects effects;
  effects.clear();
  LocalStep step;
  step.before = number;
  step.item = itemNumber;
  StoredNode after = before;
  give(after, item, !fixed_ && prompt_, effects);
  for (const protocol::Persist& persist : effects.persists) ++after.written[persist.record.index()];
  const std::uint8_t self = item.node;
  step.now = after.now;
  after.origin = {number, itemNumber};
  step.node = addNode(std::move(after));
  const auto bring = [&](Item made) {
    std::uint16_t place = 0;
    made.key = keyOf(made);
    for (const std::uint32_t earlier : step.items) place += sentAlike(items_[earlier], made) ? 1 : 0;
    made.origin = Origin{number, itemNumber, place};
    step.items.push_back(addItem(std::move(made)));
  };
  for (protocol::Send& send : effects.sends) {
    const bool stream = streamed(protocol::kindOf(send.message));
    const sim::NodeId to = send.to;
    bring({stream ? ItemKind::stream : ItemKind::datagram,
           static_cast<std::uint8_t>(to.value),
           self,
           protocol::Deliver{sim::NodeId{self}, std::move(send.message)},
           {},
           {},
           0});
  }
  for (protocol::Commit& commit : effects.commits) {
    bring({ItemKind::commit,
           self,
           self,
           protocol::CommitDone{commit.commit, protocol::CommitOutcome::committed},
           std::move(commit.entry),
           {},
           0});
  }
  for (protocol::Persist& persist : effects.persists) {
    const auto kind = static_cast<protocol::RecordKind>(persist.record.index());
    bring({ItemKind::persist,
           self,
           self,
           protocol::PersistDone{persist.sequence, false, kind},
           {},
           std::move(persist.record),
           0});
  }
  for (const protocol::Apply& apply : effects.applies) {
    const auto origin = static_cast<std::uint8_t>(apply.origin.value);
    bring({ItemKind::apply, self, origin, protocol::ApplyReady{apply.origin, false}, {}, {}, 0});
  }
  step.observations = effects.observations;
  return steps_[steps_.add(key, [&] { return std::move(step); })];
}

std::size_t NodeTable::bytes() const {
  // What a value holds outside itself is estimated: a node has a dozen short arrays.
  return nodes_.size() * (sizeof(StoredNode) + 1'500) + items_.size() * (sizeof(Item) + 64) +
         steps_.size() * (sizeof(LocalStep) + 200) + durables_.size() * (sizeof(StoredDurable) + 500);
}

}  // namespace holdfast::explore
