// A node of the record-lock protocol, as a value.
//
// handle(input, context) is the only entry (see context.hpp). A node has no clock, no randomness and no I/O;
// it can be copied, compared by canonicalHash() and thrown away, which is what the explorer does with it all
// day. A crash is takeDurable() on the old value and the constructor with what survived.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/commits.hpp"
#include "protocol/context.hpp"
#include "protocol/delegation/coordinator.hpp"
#include "protocol/delegation/sessions.hpp"
#include "protocol/directory.hpp"
#include "protocol/durable.hpp"
#include "protocol/membership/membership.hpp"
#include "protocol/node_setup.hpp"
#include "protocol/replication/replication.hpp"
#include "protocol/routing.hpp"
#include "protocol/timers.hpp"

namespace holdfast::protocol {

class Node {
 public:
  /// `setup.directory` must outlive the node and all its copies.
  Node(const NodeSetup& setup, Durable durable);

  void handle(const Input& input, const Context& context);

  /// The reading of the monotonic clock at which the node wants a Wake; never() when it wants none.
  MonotonicInstant nextWake() const { return timers_.next(); }

  /// Equal for states that behave alike from `now` on, as far as nothing beyond `horizon` is reached.
  std::uint64_t canonicalHash(MonotonicInstant now, Duration horizon = StateHash::kNoHorizon,
                              Renumbering* renumbering = nullptr) const;

  /// For whoever compares states: nothing under way names a renewal or a record, so they may be counted anew.
  void renumber() {
    if (EpochMembership* const epoch = membership_.epoch()) epoch->renumber();
  }
  /// The same where renewals may be under way, but no record.
  void renumberWrites() {
    if (EpochMembership* const epoch = membership_.epoch()) epoch->renumberWrites();
  }

  /// The same of commits, which may be under way.
  void renumberCommits() { commits_.renumber(); }

  /// What a crash leaves of log and records. A commit that the driver finds durable after the crash is added
  /// with recover(); the membership's records are the driver's, who wrote them.
  Durable takeDurable();

  /// Appends an entry that had reached the disk before the crash although nobody was told.
  static Position recover(Durable& durable, const NodeSetup& setup, const LogEntry& entry);

  /// One RetainedCount observation for each kind of state, with its bound (BD-1, BD-2).
  void reportRetained(const Context& context) const;

  /// The node's own replica of a record; nullptr when it was never written here.
  const Record* record(KeyId key) const { return replication_.record(key); }
  const Replication& replication() const { return replication_; }
  const Membership& membership() const { return membership_; }

  NodeId self() const { return setup_.self; }

 private:
  struct Dispatch;

  Env env(const Context& context);
  MembershipEnv membershipEnv(const Env& env) const;
  void startCoordinator(bool mayHaveGranted, const Env& env);
  void onMessage(NodeId from, const Message& message, std::uint8_t worker, const Env& env);
  void follow(const MembershipChange& change, const Env& env);
  void onReplicaMessage(NodeId from, const Message& message, const Env& env);
  void onWake(const Env& env);
  void onTimer(const Timer& timer, const Env& env);
  void onCommitDone(const CommitDone& done, const Env& env);
  void onEntryVisible(NodeId origin, Position position, const LogEntry& entry, const Env& env);
  void sweep(const Env& env);

  NodeSetup setup_;
  RouteCache routes_;
  TimerSet timers_;
  Commits commits_;
  Replication replication_;
  Membership membership_;
  Sessions sessions_;
  std::optional<Coordinator> coordinator_;
  std::vector<Message> loopback_;  // empty between inputs
  std::uint32_t durableIncarnation_ = 0;
};

}  // namespace holdfast::protocol
