#include "protocol/replication/replication.hpp"

#include <algorithm>
#include <cstddef>

#include "protocol/replication/position_ranges.hpp"

namespace holdfast::protocol {
namespace {

/// Merges the writes of a transaction entry; other entries write nothing. Calls `changed(key, wasTombstone)`
/// for each write that changed its record.
template <class Changed>
void mergeWrites(std::vector<Record>& records, NodeId origin, Position position, const LogEntry& entry,
                 const Rules& rules, Changed&& changed) {
  const auto* transaction = std::get_if<TransactionEntry>(&entry);
  if (transaction == nullptr) return;
  std::uint16_t ordinal = 0;
  for (const Write& write : transaction->writes) {
    Record& record = records[write.key.value];
    const bool wasTombstone = record.tombstone();
    const Version version{write.stamp, origin, ordinal++, position};
    if (record.merge(write, version, transaction->txn, rules)) changed(write.key, wasTombstone);
  }
}

}  // namespace

Replication::Replication(const NodeSetup& setup, ReplicaState state)
    : self_(setup.self),
      rules_(setup.rules),
      retention_(setup.options.tombstoneRetention),
      askAgain_(setup.options.retryEvery),
      keyCount_(static_cast<std::uint32_t>(setup.directory->keyCount())),
      state_(std::move(state)) {
  const std::size_t nodes = setup.directory->nodeCount();
  state_.origins.resize(nodes);
  state_.records.resize(keyCount_);
  incoming_.resize(nodes);
  for (std::size_t i = 0; i < nodes; ++i) incoming_[i].received = state_.origins[i].applied;
  subscribers_.reserve(nodes);
}

// ---- The own log ------------------------------------------------------------------------------------------

Position Replication::append(const LogEntry& entry, const Context& context) {
  state_.log.entries.push_back(entry);
  const Position position = state_.log.head();
  applyWrites(self_, position, entry, context);
  for (const NodeId subscriber : subscribers_) context.send(subscriber, LogFrame{position, entry});
  return position;
}

void Replication::purge(Position through, const Context&) {
  OwnLog& log = state_.log;
  const Position last = std::min(through, log.head());
  if (last < log.first) return;
  const auto dropped = static_cast<std::ptrdiff_t>(last - log.first) + 1;
  log.entries.erase(log.entries.begin(), log.entries.begin() + dropped);
  log.first = last + 1;
}

Position Replication::recover(ReplicaState& state, const NodeSetup& setup, const LogEntry& entry) {
  const std::size_t keys = setup.directory->keyCount();
  state.records.resize(keys);
  state.log.entries.push_back(entry);
  const Position position = state.log.head();
  // BD-3: what makes no sense keeps its place, and writes nothing.
  if (wellFormed(entry, keys, setup.directory->nodeCount())) {
    mergeWrites(state.records, setup.self, position, entry, setup.rules, [](KeyId, bool) {});
  }
  return position;
}

// ---- Streams ----------------------------------------------------------------------------------------------

void Replication::boot(const Context& context) {
  tombstones_.clear();
  heads_.upTo.clear();
  for (std::uint32_t key = 0; key < keyCount_; ++key) {
    if (state_.records[key].tombstone()) noteTombstone(KeyId{key}, false, context);
  }
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    const NodeId origin{static_cast<std::uint16_t>(i)};
    if (origin != self_) subscribe(origin, context);
  }
}

void Replication::onPeerUp(NodeId peer, const Context& context) {
  if (isPeer(peer)) subscribe(peer, context);
}

void Replication::subscribe(NodeId origin, const Context& context, std::uint32_t round) {
  Incoming& incoming = incoming_[origin.value];
  incoming.askAgainAt = context.now + askAgain_;
  context.send(origin, Subscribe{incoming.received + 1, round});
}

bool Replication::onSubscribe(NodeId from, const Subscribe& message, const Context& context) {
  // A subscriber that is ahead of this log knows of entries that are lost here. Serving it would put new
  // entries into positions that it has already passed, so it is refused and stays behind, visibly.
  if (!isPeer(from) || message.from == 0 || message.from > head() + 1) return false;
  const auto at = std::lower_bound(subscribers_.begin(), subscribers_.end(), from);
  if (at == subscribers_.end() || *at != from) subscribers_.insert(at, from);

  const OwnLog& log = state_.log;
  if (message.from < log.first) context.send(from, LogGap{log.first});
  for (Position position = std::max(message.from, log.first); position <= log.head(); ++position) {
    context.send(from, LogFrame{position, log.at(position)});
  }
  if (message.round != 0) context.send(from, LogHead{message.round, log.head()});
  return true;
}

bool Replication::onFrame(NodeId origin, const LogFrame& message, const Context& context) {
  if (!isPeer(origin) || message.position == 0) return false;
  const bool sound = wellFormed(message.entry, keyCount_, incoming_.size());
  if (!sound && rules_.on(Rule::BD3_MalformedContained) && !standsInLog(origin, message.position, context)) {
    return false;
  }
  Incoming& incoming = incoming_[origin.value];
  if (message.position <= incoming.received) return true;
  if (message.position != incoming.received + 1) {
    // Frames in between were lost with a connection. Frames that are still under way on it do not fit either
    // and are no reason to have the log sent once more.
    if (context.now >= incoming.askAgainAt) subscribe(origin, context);
    return true;
  }
  incoming.received = message.position;
  incoming.askAgainAt = kAskAtOnce;
  incoming.queue.push(message.position, message.entry);
  askApply(origin, context);
  return true;
}

/// BD-3: what makes no sense is refused, and asked for once more. What comes again stands in its author's
/// log: refused for ever, it would keep back everything behind it.
bool Replication::standsInLog(NodeId origin, Position position, const Context& context) {
  Incoming& incoming = incoming_[origin.value];
  if (position != incoming.received + 1 || !rules_.on(Rule::BD3_MalformedPassed)) return false;
  if (incoming.doubted == position) return true;
  incoming.doubted = position;
  subscribe(origin, context);
  return false;
}

bool Replication::onGap(NodeId origin, const LogGap& message, const Context& context) {
  if (!isPeer(origin) || message.first == 0) return false;
  Incoming& incoming = incoming_[origin.value];
  if (message.first <= incoming.received + 1) return true;
  OriginState& state = state_.origins[origin.value];
  const PositionRange gap{incoming.received + 1, message.first - 1};
  insertRange(state.gaps, gap);
  context.observe(obs::GapFound{origin, gap.from, gap.to});
  incoming.received = gap.to;
  incoming.askAgainAt = kAskAtOnce;
  if (incoming.queue.empty()) state.applied = incoming.received;
  return true;
}

void Replication::askApply(NodeId origin, const Context& context) {
  Incoming& incoming = incoming_[origin.value];
  if (incoming.applying || incoming.queue.empty()) return;
  incoming.applying = true;
  context.out.applies.push_back({origin, incoming.queue.front().position});
}

std::optional<AppliedEntry> Replication::onApplyReady(const ApplyReady& ready, const Context& context) {
  if (!isPeer(ready.origin)) return std::nullopt;
  Incoming& incoming = incoming_[ready.origin.value];
  if (!incoming.applying) return std::nullopt;
  OriginState& state = state_.origins[ready.origin.value];

  const bool inOrder = rules_.on(Rule::LW1_OrderedApply);
  ReceivedEntry next = inOrder ? incoming.queue.takeFront() : incoming.queue.takeBack();
  taken_ = std::move(next.entry);
  incoming.applying = false;
  const bool sound = wellFormed(taken_, keyCount_, incoming_.size());
  if (!sound && !rules_.on(Rule::BD3_MalformedContained)) {
    // The application ends in an exception, and what was received with the entry is not looked at again.
    incoming.queue = {};
    state.applied = incoming.received;
    return std::nullopt;
  }

  // What lies between this entry and the next in line can only be gaps, which are done with. Out of order,
  // the cursor claims all that came before the entry, as a careless implementation would.
  if (incoming.queue.empty()) {
    state.applied = incoming.received;
  } else if (inOrder) {
    state.applied = incoming.queue.front().position - 1;
  } else {
    state.applied = std::max(state.applied, next.position);
  }
  // BD-3, FR-4: of a release, barrier, request or grant that makes no sense nothing follows, and nothing is
  // missing. A transaction that can not be applied is one that is missing (FR-8).
  const bool missing = ready.failed || (!sound && std::holds_alternative<TransactionEntry>(taken_));
  if (missing) {
    state.holes.insert(std::lower_bound(state.holes.begin(), state.holes.end(), next.position),
                       next.position);
  } else if (sound) {
    applyWrites(ready.origin, next.position, taken_, context);
  }
  context.observe(obs::Applied{ready.origin, next.position, missing});
  askApply(ready.origin, context);
  if (missing || !sound) return std::nullopt;
  return AppliedEntry{ready.origin, next.position, &taken_};
}

bool Replication::repair(NodeId origin, Position position, const LogEntry& entry, const Context& context) {
  if (!isPeer(origin) || !wellFormed(entry, keyCount_, incoming_.size())) return false;
  OriginState& state = state_.origins[origin.value];
  const auto hole = std::lower_bound(state.holes.begin(), state.holes.end(), position);
  if (hole != state.holes.end() && *hole == position) {
    state.holes.erase(hole);
  } else if (!removePosition(state.gaps, position)) {
    return false;
  }
  applyWrites(origin, position, entry, context);
  context.observe(obs::HoleRepaired{origin, position});
  return true;
}

void Replication::takeRows(const std::vector<CopiedRow>& rows, const Context& context) {
  for (const CopiedRow& row : rows) {
    if (row.key.value >= keyCount_) continue;
    Record& record = state_.records[row.key.value];
    const bool wasTombstone = record.tombstone();
    record.merge(row.record);
    if (wasTombstone || record.tombstone()) noteTombstone(row.key, wasTombstone, context);
  }
  if (rules_.on(Rule::FR8_CopyIsNoRepair)) return;
  for (OriginState& state : state_.origins) state.holes.clear();
}

bool Replication::wellFormed(const LogEntry& entry, std::size_t keys, std::size_t nodes) {
  const auto keyExists = [&](KeyId key) { return key.value < keys; };
  const auto nodeExists = [&](NodeId node) { return node.value < nodes; };
  if (const auto* transaction = std::get_if<TransactionEntry>(&entry)) {
    return std::all_of(transaction->writes.begin(), transaction->writes.end(), [&](const Write& write) {
      return keyExists(write.key) && write.op <= WriteOp::erase && (write.fields & ~obs::kAllFields) == 0;
    });
  }
  if (const auto* release = std::get_if<ReleaseEntry>(&entry)) {
    const auto& dependencies = release->dependencies.entries();
    return keyExists(release->key) &&
           std::all_of(dependencies.begin(), dependencies.end(),
                       [&](const Dependency& dependency) { return nodeExists(dependency.origin); });
  }
  if (const auto* request = std::get_if<RequestEntry>(&entry)) return keyExists(request->key);
  if (const auto* grant = std::get_if<GrantEntry>(&entry)) {
    return keyExists(grant->key) && nodeExists(grant->requester);
  }
  return nodeExists(std::get<BarrierEntry>(entry).requester);
}

// ---- Progress ---------------------------------------------------------------------------------------------

FenceState Replication::fence(const DependencySet& dependencies) const {
  FenceState first;
  for (const Dependency& dependency : dependencies.entries()) {
    const FenceState state = fenceOf(dependency);
    if (state.kind == FenceState::Kind::unsatisfiable) return state;
    if (first.satisfied()) first = state;
  }
  return first;
}

FenceState Replication::fenceOf(const Dependency& dependency) const {
  using Kind = FenceState::Kind;
  const auto [origin, position] = dependency;
  const FenceState unsatisfiable{Kind::unsatisfiable, origin, position};
  const FenceState waiting{Kind::waiting, origin, position};
  if (origin == self_) return position <= head() ? FenceState{} : waiting;
  if (!isPeer(origin)) return unsatisfiable;

  // The prefix must be complete: a version of the record, or the position alone, proves nothing about what
  // should have come before it.
  const OriginState& state = state_.origins[origin.value];
  if (rules_.on(Rule::FR5_FailClosed) && !state.gaps.empty() && state.gaps.front().from <= position) {
    return unsatisfiable;
  }
  if (rules_.on(Rule::FR8_HolesRefuse) && !state.holes.empty() && state.holes.front() <= position) {
    return unsatisfiable;
  }
  const Position reached = rules_.on(Rule::FR3_AppliedAndVisible) ? state.applied : received(origin);
  return position <= reached ? FenceState{} : waiting;
}

Version Replication::newestVersionOf(KeyId key) const {
  Version newest;
  const Record* const found = record(key);
  for (std::size_t i = 0; found != nullptr && i < obs::kRecordFields; ++i) {
    newest = std::max(newest, found->field(i).version);
  }
  return newest;
}

Position Replication::versionAsPosition(KeyId key) const {
  return static_cast<Position>(newestVersionOf(key).stamp.ns);
}

Position Replication::stampAsPosition(KeyId key) const {
  return static_cast<Position>(newestVersionOf(key).stamp.ns / 1'000'000);
}

NodeId Replication::newestWriterOf(KeyId key) const {
  return record(key) != nullptr ? newestVersionOf(key).origin : NodeId::none();
}

FenceState Replication::versionFence(KeyId key, const DependencySet& dependencies) const {
  for (const auto& [origin, version] : dependencies.entries()) {
    if (versionAsPosition(key) < version) return {FenceState::Kind::waiting, origin, version};
  }
  return {};
}

FenceState Replication::stampFence(const DependencySet& dependencies) const {
  for (const auto& [origin, stamp] : dependencies.entries()) {
    const bool reached = !isPeer(origin) || state_.origins[origin.value].newestStamp >= stamp;
    if (!reached) return {FenceState::Kind::waiting, origin, stamp};
  }
  return {};
}

Position Replication::newestStamped() const {
  Position where = head();
  std::int64_t newest = INT64_MIN;
  for (std::size_t i = 0; i < state_.log.entries.size(); ++i) {
    const auto* const transaction = std::get_if<TransactionEntry>(&state_.log.entries[i]);
    if (transaction == nullptr) continue;
    for (const Write& write : transaction->writes) {
      if (write.stamp.ns <= newest) continue;
      newest = write.stamp.ns;
      where = state_.log.first + static_cast<Position>(i);
    }
  }
  return where;
}

Position Replication::received(NodeId origin) const {
  if (origin == self_) return head();
  return isPeer(origin) ? incoming_[origin.value].received : 0;
}

Position Replication::applied(NodeId origin) const {
  if (origin == self_) return head();
  return isPeer(origin) ? state_.origins[origin.value].applied : 0;
}

Position Replication::visible(NodeId origin) const {
  Position through = applied(origin);
  if (!isPeer(origin)) return through;
  const OriginState& state = state_.origins[origin.value];
  if (!state.holes.empty()) through = std::min(through, state.holes.front() - 1);
  if (!state.gaps.empty()) through = std::min(through, state.gaps.front().from - 1);
  return through;
}

// ---- The replica ------------------------------------------------------------------------------------------

const Record* Replication::record(KeyId key) const {
  if (key.value >= keyCount_ || state_.records[key.value].empty()) return nullptr;
  return &state_.records[key.value];
}

obs::Read Replication::readOf(CallId call, KeyId key) const {
  const Record* found = record(key);
  const RecordView view = found == nullptr ? RecordView{} : found->view();
  return {call, key, view.present, view.writers, view.values};
}

obs::FinalRecord Replication::finalRecord(KeyId key) const {
  const obs::Read read = readOf(CallId{}, key);
  return {key, read.present, read.writers, read.values};
}

void Replication::applyWrites(NodeId origin, Position position, const LogEntry& entry,
                              const Context& context) {
  mergeWrites(state_.records, origin, position, entry, rules_, [&](KeyId key, bool wasTombstone) {
    if (wasTombstone || state_.records[key.value].tombstone()) noteTombstone(key, wasTombstone, context);
  });
  if (!rules_.on(Rule::FR3_PositionsNotStamps)) noteStamps(origin, entry);
}

void Replication::noteStamps(NodeId origin, const LogEntry& entry) {
  const auto* const transaction = std::get_if<TransactionEntry>(&entry);
  if (transaction == nullptr) return;
  Position& newest = state_.origins[origin.value].newestStamp;
  for (const Write& write : transaction->writes) {
    newest = std::max(newest, static_cast<Position>(std::max<std::int64_t>(write.stamp.ns, 0) / 1'000'000));
  }
}

// ---- Retention and hashing --------------------------------------------------------------------------------

std::size_t Replication::receivedQueued() const {
  std::size_t count = 0;
  for (const Incoming& incoming : incoming_) count += incoming.queue.size();
  return count;
}

std::uint64_t Replication::receivedAhead() const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    if (incoming_[i].received > state_.origins[i].applied)
      count += incoming_[i].received - state_.origins[i].applied;
  }
  return count;
}

void Replication::Incoming::addTo(StateHash& hash) const {
  hash.add(received);
  hash.add(applying);
  hash.add(doubted);
  hash.add(askAgainAt);
  hash.add(static_cast<std::uint64_t>(queue.size()));
  for (std::size_t i = 0; i < queue.size(); ++i) hash.add(queue[i]);
}

void Replication::addTo(StateHash& hash) const {
  hash.add(state_);
  hash.addRange(incoming_);
  hash.addRange(subscribers_);
  hash.add(static_cast<std::uint64_t>(tombstones_.size()));
  for (const Tombstone& tombstone : tombstones_) {
    hash.add(tombstone.key);
    hash.add(tombstone.reclaimAt);
  }
  hash.add(std::uint64_t{heads_.round});
  hash.add(static_cast<std::uint64_t>(heads_.upTo.size()));
  if (!heads_.upTo.empty()) hash.add(heads_.due);
  for (const Position position : heads_.upTo) hash.add(position);
}

}  // namespace holdfast::protocol
