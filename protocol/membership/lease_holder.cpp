#include "protocol/membership/lease_holder.hpp"

namespace holdfast::protocol {

bool LeaseHolder::renew(MembershipNumber number, std::span<const NodeId> members, bool selfAcknowledges,
                        const MembershipEnv& env) {
  ++sequence_;
  sentAt_ = env.now();
  acknowledged_.clear();
  if (selfAcknowledges) acknowledged_.insert(env.self());
  concluded_ = false;
  for (const NodeId member : members) {
    if (member == env.self()) continue;
    env.send(member, MembershipRenew{number, env.options().ringVersion, sequence_, start_});
  }
  return conclude(number, members.size(), env);
}

bool LeaseHolder::acknowledge(NodeId from, const MembershipRenewAck& ack, std::size_t members,
                              const MembershipEnv& env) {
  if (ack.sequence != sequence_ || concluded_) return false;
  // EP-14: an earlier start had sent renewals of the same numbers, and earlier.
  if (ack.start != start_ && env.on(Rule::EP14_NameTheStart)) return false;
  acknowledged_.insert(from);
  return conclude(ack.number, members, env);
}

bool LeaseHolder::conclude(MembershipNumber number, std::size_t members, const MembershipEnv& env) {
  if (acknowledged_.size() * 2 <= members) return false;
  concluded_ = true;
  const bool wasLive = env.now() < deadline_;
  // EP-6: the lease counts from the send, so that it ends before the acknowledgers' reservations do (EP-7).
  const MonotonicInstant anchor = env.on(Rule::EP6_LeaseAtSend) ? sentAt_ : env.now();
  const MonotonicInstant deadline = anchor + env.options().epochLease;
  if (deadline <= deadline_) return false;
  deadline_ = deadline;
  everLive_ = true;
  env.timers.set(TimerKind::membershipLapse, 0, deadline_);
  env.observe(obs::MembershipRenewed{number, deadline_});
  return !wasLive && env.now() < deadline_;
}

void LeaseHolder::onLapse(MembershipNumber number, const MembershipEnv& env) const {
  if (everLive_ && env.now() >= deadline_) env.observe(obs::MembershipLapsed{number});
}

void LeaseHolder::reset(const MembershipEnv& env) {
  deadline_ = MonotonicInstant::longAgo();
  concluded_ = true;
  everLive_ = false;
  acknowledged_.clear();
  env.timers.cancel(TimerKind::membershipLapse, 0);
}

void LeaseHolder::addTo(StateHash& hash) const {
  hash.add(deadline_);
  if (!concluded_) {
    hash.add(start_);
    hash.addPast(sentAt_);
    hash.add(acknowledged_);
  }
  hash.add(static_cast<std::uint64_t>(sequence_));
  hash.add(static_cast<std::uint64_t>(concluded_));
}

}  // namespace holdfast::protocol
