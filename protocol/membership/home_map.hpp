// The operator's home map as a membership (HM): an immutable (generation, homes), published and not agreed
// on.
#pragma once

#include <span>
#include <vector>

#include "protocol/membership/environment.hpp"

namespace holdfast::protocol {

class HomeMap {
 public:
  HomeMap(const NodeSetup& setup, DurableMembership durable);

  MembershipChange boot(const MembershipEnv& env);
  MembershipChange onMessage(NodeId from, const Message& message, const MembershipEnv& env);
  MembershipChange onTimer(TimerKind timer, const MembershipEnv& env);
  MembershipChange onPersisted(const PersistDone& done, const MembershipEnv& env);

  MembershipNumber number() const { return generation_; }
  std::span<const NodeId> members() const { return homes_; }
  std::span<const NodeId> predecessors() const { return {}; }
  std::span<const NodeId> former() const { return {}; }
  bool isMember(NodeId node) const;
  std::uint32_t ringVersion() const { return ringVersion_; }
  /// A home map has no lease: it is live for ever once it is active.
  MonotonicInstant deadline() const { return MonotonicInstant::never(); }
  MonotonicInstant grantsFrom() const { return MonotonicInstant::longAgo(); }
  bool active() const { return true; }
  bool first() const { return true; }

  void addTo(StateHash& hash) const;

 private:
  MembershipNumber generation_ = 1;
  std::vector<NodeId> homes_;  // sorted
  std::uint32_t ringVersion_ = 1;
};

}  // namespace holdfast::protocol
