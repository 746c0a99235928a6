// A single Replication with its effects at hand, and the entries and messages that its tests feed it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "protocol/replication/replication.hpp"

namespace holdfast::protocol::testing {

inline constexpr NodeId kA{0};
inline constexpr NodeId kB{1};
inline constexpr NodeId kC{2};
inline constexpr KeyId kKey{0};
inline constexpr KeyId kOther{1};

inline const Directory& threeNodes() {
  static const Directory directory({"a", "b", "c"}, {{"t/x", "x", 0}, {"t/y", "y", 0}, {"t/z", "z", 0}});
  return directory;
}

inline NodeSetup setupOf(NodeId self, Rules rules = {}) {
  NodeSetup setup;
  setup.self = self;
  setup.directory = &threeNodes();
  setup.rules = rules;
  setup.members = {kA, kB, kC};
  return setup;
}

inline Write putOf(std::int64_t stamp, std::int64_t value, KeyId key = kKey) {
  return {key, WriteOp::put, obs::kAllFields, 0, Timestamp{stamp}, {value, value, value, value}};
}

inline Write eraseOf(std::int64_t stamp, KeyId key = kKey) {
  return {key, WriteOp::erase, obs::kAllFields, 0, Timestamp{stamp}, {}};
}

inline LogEntry transaction(std::uint32_t txn, Writes writes) {
  return TransactionEntry{TxnId{txn}, std::move(writes)};
}

inline LogEntry put(std::uint32_t txn, std::int64_t stamp, std::int64_t value, KeyId key = kKey) {
  return transaction(txn, {putOf(stamp, value, key)});
}

inline LogEntry release(KeyId key, NodeId holder) { return ReleaseEntry{key, holder, Token{1, 1, 1}, 6, {}}; }

inline LogEntry barrier(std::uint64_t nonce) { return BarrierEntry{kA, nonce}; }

inline DependencySet dependsOn(NodeId origin, Position position) {
  DependencySet set;
  set.require(origin, position);
  return set;
}

/// One node's Replication under test.
class Replica {
 public:
  explicit Replica(NodeId self = kA, Rules rules = {}, ReplicaState state = {})
      : setup(setupOf(self, rules)), replication(setup, std::move(state)) {}

  Context context() { return {now, WallInstant{0}, out}; }

  Position append(const LogEntry& entry) { return replication.append(entry, context()); }
  bool frame(NodeId origin, Position position, const LogEntry& entry) {
    return replication.onFrame(origin, LogFrame{position, entry}, context());
  }
  bool gap(NodeId origin, Position first) { return replication.onGap(origin, LogGap{first}, context()); }
  bool subscribed(NodeId from, Position position) {
    return replication.onSubscribe(from, Subscribe{position}, context());
  }
  /// Sweeps, and answers what that asks of the others with the heads of their logs: nothing new.
  void sweep() {
    out.sends.clear();
    replication.sweepTombstones(context());
    for (const NodeId origin : {kA, kB, kC}) {
      for (const Subscribe& question : sent<Subscribe>(origin)) {
        replication.onLogHead(origin, {question.round, replication.received(origin)});
      }
    }
    replication.sweepTombstones(context());
  }
  std::optional<AppliedEntry> apply(NodeId origin, bool failed = false) {
    return replication.onApplyReady(ApplyReady{origin, failed}, context());
  }
  /// Applies whatever is queued of `origin`.
  void applyAll(NodeId origin) {
    while (replication.applied(origin) < replication.received(origin)) apply(origin);
  }
  FenceState::Kind fence(const DependencySet& set) const { return replication.fence(set).kind; }
  std::int64_t value(KeyId key = kKey) const { return replication.readOf(CallId{}, key).values[0]; }

  /// Loses what a crash loses.
  void crash() {
    replication = Replication(setup, replication.takeState());
    out.clear();
  }

  std::uint64_t hash() const {
    StateHash hash(now);
    hash.add(replication);
    return hash.value();
  }

  /// The messages of type T sent to `to`.
  template <class T>
  std::vector<T> sent(NodeId to) const {
    std::vector<T> found;
    for (const Send& send : out.sends) {
      if (send.to != to) continue;
      if (const T* message = std::get_if<T>(&send.message)) found.push_back(*message);
    }
    return found;
  }

  template <class T>
  std::vector<T> observed() const {
    std::vector<T> found;
    for (const obs::Observation& observation : out.observations) {
      if (const T* what = std::get_if<T>(&observation)) found.push_back(*what);
    }
    return found;
  }

  NodeSetup setup;
  Effects out;
  MonotonicInstant now{sim::seconds(100).ns};
  Replication replication;
};

}  // namespace holdfast::protocol::testing
