// A configuration that was given, not agreed on: its number is 1, its members never change, and only its
// lease is at stake (EP-6).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/membership/lease_holder.hpp"

namespace holdfast::protocol {

class FixedEpoch {
 public:
  /// `start`: of the process (EP-14).
  FixedEpoch(const NodeSetup& setup, std::uint64_t start);

  MembershipChange boot(const MembershipEnv& env);
  MembershipChange onMessage(NodeId from, const Message& message, const MembershipEnv& env);
  MembershipChange onTimer(TimerKind timer, const MembershipEnv& env);
  MembershipChange onPersisted(const PersistDone&, const MembershipEnv&) { return {}; }

  MembershipNumber number() const { return kNumber; }
  std::span<const NodeId> members() const { return members_; }
  std::span<const NodeId> predecessors() const { return {}; }
  std::span<const NodeId> former() const { return {}; }
  bool isMember(NodeId node) const;
  std::uint32_t ringVersion() const { return ringVersion_; }
  MonotonicInstant deadline() const { return lease_.deadline(); }
  MonotonicInstant grantsFrom() const { return MonotonicInstant::longAgo(); }
  bool active() const { return true; }
  bool first() const { return true; }

  void addTo(StateHash& hash) const { hash.add(lease_); }

 private:
  static constexpr MembershipNumber kNumber = 1;

  void onRenew(NodeId from, const MembershipRenew& renew, const MembershipEnv& env) const;
  MembershipChange onRenewAck(NodeId from, const MembershipRenewAck& ack, const MembershipEnv& env);
  MembershipChange renew(const MembershipEnv& env);

  std::vector<NodeId> members_;  // sorted
  std::uint32_t ringVersion_ = 1;
  LeaseHolder lease_;
};

}  // namespace holdfast::protocol
