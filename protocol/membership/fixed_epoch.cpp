#include <algorithm>

#include "protocol/membership/membership.hpp"

namespace holdfast::protocol {

FixedEpoch::FixedEpoch(const NodeSetup& setup) : members_(setup.members) {
  std::sort(members_.begin(), members_.end());
}

bool FixedEpoch::isMember(NodeId node) const {
  return std::binary_search(members_.begin(), members_.end(), node);
}

void FixedEpoch::boot(const NodeSetup& setup, const Context& context, TimerSet& timers) {
  onRenewTimer(setup, context, timers);
}

void FixedEpoch::onRenewTimer(const NodeSetup& setup, const Context& context, TimerSet& timers) {
  timers.set(TimerKind::membershipRenew, 0, context.now + setup.options.renewEvery);
  if (!isMember(setup.self)) return;
  ++sequence_;
  sentAt_ = context.now;
  acknowledged_.clear();
  acknowledged_.insert(setup.self);
  concluded_ = false;
  for (const NodeId member : members_) {
    if (member == setup.self) continue;
    context.send(member, MembershipRenew{number_, setup.options.ringVersion, sequence_});
  }
  conclude(setup, context, timers);
}

void FixedEpoch::onRenew(const NodeSetup& setup, NodeId from, const MembershipRenew& renew,
                         const Context& context) const {
  const bool versionsAgree =
      renew.ringVersion == setup.options.ringVersion || !setup.rules.on(Rule::RT3_VersionsAgree);
  if (!versionsAgree || renew.number != number_ || !isMember(from)) {
    const Cause cause =
        !versionsAgree ? Cause::version : (!isMember(from) ? Cause::notMember : Cause::membership);
    context.observe(obs::MessageRefused{from, MessageKind::membershipRenew, cause});
    return;
  }
  context.send(from, MembershipRenewAck{number_, renew.sequence});
}

bool FixedEpoch::onRenewAck(const NodeSetup& setup, NodeId from, const MembershipRenewAck& ack,
                            const Context& context, TimerSet& timers) {
  if (ack.number != number_ || !isMember(from)) {
    context.observe(obs::MessageRefused{from, MessageKind::membershipRenewAck, Cause::membership});
    return false;
  }
  if (ack.sequence != sequence_ || concluded_) return false;
  acknowledged_.insert(from);
  const bool wasLive = context.now < deadline_;
  conclude(setup, context, timers);
  return concluded_ && !wasLive && context.now < deadline_;
}

void FixedEpoch::conclude(const NodeSetup& setup, const Context& context, TimerSet& timers) {
  if (acknowledged_.size() * 2 <= members_.size()) return;
  concluded_ = true;
  // EP-6: the lease counts from the send, so that it ends before the acknowledgers' reservations do (EP-7).
  const MonotonicInstant anchor = setup.rules.on(Rule::EP6_LeaseAtSend) ? sentAt_ : context.now;
  const MonotonicInstant deadline = anchor + setup.options.epochLease;
  if (deadline <= deadline_) return;
  deadline_ = deadline;
  everLive_ = true;
  timers.set(TimerKind::membershipLapse, 0, deadline_);
  context.observe(obs::MembershipRenewed{number_, deadline_});
}

void FixedEpoch::onLapseTimer(const Context& context) {
  if (everLive_ && context.now >= deadline_) context.observe(obs::MembershipLapsed{number_});
}

void FixedEpoch::addTo(StateHash& hash) const {
  hash.add(deadline_);
  hash.add(sentAt_);
  hash.add(acknowledged_);
  hash.add(static_cast<std::uint64_t>(concluded_));
}

bool Membership::onMessage(const NodeSetup& setup, NodeId from, const Message& message,
                           const Context& context, TimerSet& timers) {
  auto& epoch = std::get<FixedEpoch>(kind_);
  if (const auto* renew = std::get_if<MembershipRenew>(&message)) {
    epoch.onRenew(setup, from, *renew, context);
    return false;
  }
  return epoch.onRenewAck(setup, from, std::get<MembershipRenewAck>(message), context, timers);
}

void Membership::onTimer(const NodeSetup& setup, TimerKind timer, const Context& context, TimerSet& timers) {
  auto& epoch = std::get<FixedEpoch>(kind_);
  if (timer == TimerKind::membershipRenew) {
    epoch.onRenewTimer(setup, context, timers);
  } else {
    epoch.onLapseTimer(context);
  }
}

}  // namespace holdfast::protocol
