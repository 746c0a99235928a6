// The lease by which a configuration is live on a node (EP-6): renewals to its members, and their answers.
//
// One renewal is under way at a time. With a majority of acknowledgements the lease runs until its sending +
// epochLease on the node's own clock. Renewals are the only liveness signal of the protocol.
#pragma once

#include <cstdint>
#include <span>

#include "protocol/membership/environment.hpp"

namespace holdfast::protocol {

class LeaseHolder {
 public:
  /// `start`: of the process, which every renewal names (EP-14).
  explicit LeaseHolder(std::uint64_t start) : start_(start) {}

  /// Sends the next renewal to `members`. `selfAcknowledges`: the node itself is one of them and may vote.
  /// Returns whether the lease has just become live.
  bool renew(MembershipNumber number, std::span<const NodeId> members, bool selfAcknowledges,
             const MembershipEnv& env);
  /// Counts an acknowledgement. Returns whether the lease has just become live.
  bool acknowledge(NodeId from, const MembershipRenewAck& ack, std::size_t members, const MembershipEnv& env);
  /// The lease timer fired: says so when the lease has really lapsed.
  void onLapse(MembershipNumber number, const MembershipEnv& env) const;
  /// Another configuration is the acting one: the lease on the old one counts for nothing.
  void reset(const MembershipEnv& env);
  /// Counts renewals anew; only while no answer to one is under way.
  void renumber() { sequence_ = 0; }

  MonotonicInstant deadline() const { return deadline_; }
  void addTo(StateHash& hash) const;

 private:
  bool conclude(MembershipNumber number, std::size_t members, const MembershipEnv& env);

  MonotonicInstant deadline_ = MonotonicInstant::longAgo();
  std::uint64_t start_ = 0;
  std::uint32_t sequence_ = 0;  // of the renewal in flight, among those of this start
  MonotonicInstant sentAt_;     // when it was sent
  NodeSet acknowledged_;
  bool concluded_ = true;  // the renewal in flight has its majority, or there is none
  bool everLive_ = false;
};

}  // namespace holdfast::protocol
