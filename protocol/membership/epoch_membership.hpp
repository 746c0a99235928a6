// Membership by durable epochs (EP): configurations that their own members agree on, one number after
// another.
#pragma once

#include <span>
#include <vector>

#include "protocol/membership/environment.hpp"
#include "protocol/membership/lease_holder.hpp"

namespace holdfast::protocol {

class EpochMembership {
 public:
  EpochMembership(const NodeSetup& setup, DurableMembership durable);

  MembershipChange boot(const MembershipEnv& env);
  MembershipChange onMessage(NodeId from, const Message& message, const MembershipEnv& env);
  MembershipChange onTimer(TimerKind timer, const MembershipEnv& env);
  MembershipChange onPersisted(const PersistDone& done, const MembershipEnv& env);
  /// EP-13: an operator's proposal.
  MembershipChange propose(const AdminProposeMembership& change, const MembershipEnv& env);

  MembershipNumber number() const { return 1; }
  std::span<const NodeId> members() const { return members_; }
  std::span<const NodeId> predecessors() const { return predecessors_; }
  bool isMember(NodeId node) const;
  std::uint32_t ringVersion() const { return 1; }
  MonotonicInstant deadline() const { return lease_.deadline(); }
  MonotonicInstant grantsFrom() const { return MonotonicInstant::longAgo(); }
  bool first() const { return true; }

  void addTo(StateHash& hash) const;

 private:
  std::vector<NodeId> members_;       // sorted
  std::vector<NodeId> predecessors_;  // sorted
  LeaseHolder lease_;
};

}  // namespace holdfast::protocol
