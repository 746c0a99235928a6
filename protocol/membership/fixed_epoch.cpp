#include "protocol/membership/fixed_epoch.hpp"

#include <algorithm>

namespace holdfast::protocol {

FixedEpoch::FixedEpoch(const NodeSetup& setup, std::uint64_t start)
    : members_(setup.members), ringVersion_(setup.options.ringVersion), lease_(start) {
  std::sort(members_.begin(), members_.end());
}

bool FixedEpoch::isMember(NodeId node) const {
  return std::binary_search(members_.begin(), members_.end(), node);
}

MembershipChange FixedEpoch::boot(const MembershipEnv& env) { return renew(env); }

MembershipChange FixedEpoch::renew(const MembershipEnv& env) {
  env.timers.set(TimerKind::membershipRenew, 0, env.now() + env.options().renewEvery);
  MembershipChange change;
  // Alone in its configuration a node is live at once, and nobody waits for it yet.
  if (isMember(env.self())) (void)lease_.renew(kNumber, members_, true, env);
  return change;
}

void FixedEpoch::onRenew(NodeId from, const MembershipRenew& renew, const MembershipEnv& env) const {
  const bool versionsAgree =
      renew.ringVersion == env.options().ringVersion || !env.on(Rule::RT3_VersionsAgree);
  if (!versionsAgree || renew.number != kNumber || !isMember(from)) {
    const Cause cause =
        !versionsAgree ? Cause::version : (!isMember(from) ? Cause::notMember : Cause::membership);
    env.observe(obs::MessageRefused{from, MessageKind::membershipRenew, cause});
    return;
  }
  env.send(from, MembershipRenewAck{kNumber, renew.sequence, renew.start});
}

MembershipChange FixedEpoch::onRenewAck(NodeId from, const MembershipRenewAck& ack,
                                        const MembershipEnv& env) {
  if (ack.number != kNumber || !isMember(from)) {
    env.observe(obs::MessageRefused{from, MessageKind::membershipRenewAck, Cause::membership});
    return {};
  }
  MembershipChange change;
  change.live = lease_.acknowledge(from, ack, members_.size(), env);
  return change;
}

MembershipChange FixedEpoch::onMessage(NodeId from, const Message& message, const MembershipEnv& env) {
  if (const auto* renew = std::get_if<MembershipRenew>(&message)) {
    onRenew(from, *renew, env);
    return {};
  }
  if (const auto* ack = std::get_if<MembershipRenewAck>(&message)) return onRenewAck(from, *ack, env);
  env.observe(obs::MessageRefused{from, kindOf(message), Cause::membership});
  return {};
}

MembershipChange FixedEpoch::onTimer(TimerKind timer, const MembershipEnv& env) {
  if (timer == TimerKind::membershipRenew) return renew(env);
  if (timer == TimerKind::membershipLapse) lease_.onLapse(kNumber, env);
  return {};
}

}  // namespace holdfast::protocol
