#include "protocol/delegation/coordinator.hpp"

namespace holdfast::protocol {
namespace {

MonotonicInstant quarantineEnd(const NodeSetup& setup, bool mayHaveGranted, MonotonicInstant now) {
  // DG-9: measured from here on this node's clock; waived only when nobody can have granted before.
  if (!mayHaveGranted) return MonotonicInstant::longAgo();
  return now + setup.options.maxDelegation + setup.options.skew;
}

}  // namespace

Coordinator::Coordinator(const NodeSetup& setup, std::uint32_t incarnation, bool mayHaveGranted,
                         MonotonicInstant now)
    : home_(setup, incarnation, quarantineEnd(setup, mayHaveGranted, now), !mayHaveGranted),
      delegate_(setup, incarnation),
      incarnation_(incarnation),
      quarantined_(mayHaveGranted && setup.rules.on(Rule::DG9_Quarantine)),
      quarantineUntil_(quarantineEnd(setup, mayHaveGranted, now)) {}

void Coordinator::begin(const Env& env) {
  env.context.out.persists.push_back({IncarnationRecord{incarnation_}, incarnation_});
}

void Coordinator::onPersisted(const PersistDone& done, const Env& env) {
  if (running_ || done.sequence != incarnation_) return;
  if (done.failed) {
    env.timers.set(TimerKind::persistRetry, 0, env.now() + env.options().retryEvery);
    return;
  }
  run(env);
}

void Coordinator::run(const Env& env) {
  running_ = true;
  env.observe(obs::CoordinatorStarted{incarnation_, quarantined_, quarantineUntil_});
  delegate_.onLive(env);
}

void Coordinator::onMessage(NodeId from, const Message& message, std::uint8_t worker, const Env& env) {
  if (!running_) {
    env.observe(obs::MessageRefused{from, kindOf(message), Cause::quarantine});
    if (const auto* request = std::get_if<LockRequest>(&message)) {
      env.send(from, LockDeny{env.membership.number(), request->request, request->key, Cause::quarantine,
                              env.options().retryEvery});
    }
    const auto* recall = std::get_if<LockRecall>(&message);
    if (recall != nullptr && !env.on(Rule::DR6_UndeliveredIsNotDrained)) {
      env.send(from, LockHandBack{recall->token, recall->key});
    }
    return;
  }
  noteNewer(from, message, env);
  if (const auto* request = std::get_if<LockRequest>(&message)) {
    home_.onRequest(from, *request, env);
  } else if (const auto* grant = std::get_if<LockGrant>(&message)) {
    delegate_.onGrant(from, *grant, env);
  } else if (const auto* deny = std::get_if<LockDeny>(&message)) {
    delegate_.onDeny(from, *deny, env);
  } else if (const auto* recall = std::get_if<LockRecall>(&message)) {
    delegate_.onRecall(from, *recall, worker, env);
  } else if (const auto* handBack = std::get_if<LockHandBack>(&message)) {
    home_.onHandBack(from, *handBack, env);
  } else if (const auto* barrier = std::get_if<BarrierRequest>(&message)) {
    onBarrierRequest(from, *barrier, env);
  } else if (const auto* reply = std::get_if<BarrierReply>(&message)) {
    delegate_.onBarrierReply(from, *reply, env);
  }
}

/// DG-1: requester and home tell each other the number they go by; who is behind asks for what it missed.
void Coordinator::noteNewer(NodeId from, const Message& message, const Env& env) const {
  MembershipNumber named = 0;
  if (const auto* request = std::get_if<LockRequest>(&message)) named = request->membership;
  if (const auto* deny = std::get_if<LockDeny>(&message)) named = deny->membership;
  if (const auto* barrier = std::get_if<BarrierRequest>(&message)) named = barrier->membership;
  if (named > env.membership.number()) {
    env.membership.noteNewer(from, named, env.membershipEnv(incarnation_));
  }
}

void Coordinator::onMembership(MonotonicInstant oldDeadline, const Env& env) {
  home_.onMembership(env);
  delegate_.onMembership(oldDeadline, env);
}

void Coordinator::onBarrierRequest(NodeId from, const BarrierRequest& request, const Env& env) {
  // A member that is behind can tell what it has committed all the same, and is left out otherwise (FR-8).
  const bool agreed = env.options().membership == MembershipKind::epoch;
  const bool current = request.membership == env.membership.number() ||
                       (agreed && request.membership > env.membership.number()) ||
                       !env.on(Rule::BD3_RefuseSuperseded);
  if (!current || !env.membership.isMember(from)) {
    env.observe(obs::MessageRefused{from, MessageKind::barrierRequest, Cause::membership});
    return;
  }
  env.commits.start(BarrierEntry{from, request.nonce}, 1, env.context);
}

void Coordinator::onBarrierAppended(const BarrierEntry& entry, CommitOutcome outcome, Position position,
                                    const Env& env) const {
  const bool appended = outcome == CommitOutcome::committed;
  // FR-9: the log is in the order of commits; where its highest timestamp stands proves nothing.
  if (!env.on(Rule::FR9_AppendOrder)) position = env.replication.newestStamped();
  env.send(entry.requester,
           BarrierReply{entry.nonce, appended ? position : 0, appended ? Cause::none : Cause::aborted});
}

void Coordinator::onTimer(const Timer& timer, const Env& env) {
  const KeyId key{timer.key};
  switch (timer.kind) {
    case TimerKind::persistRetry:
      begin(env);
      break;
    case TimerKind::grantExpiry:
    case TimerKind::waiterDeadline:
    case TimerKind::recallRetry:
      home_.onTimer(timer.kind, key, env);
      break;
    default:
      delegate_.onTimer(timer.kind, key, env);
      break;
  }
}

void Coordinator::addTo(StateHash& hash) const {
  hash.add(home_);
  hash.add(delegate_);
  hash.add(quarantineUntil_);
  hash.add(static_cast<std::uint64_t>(incarnation_) << 1 | static_cast<std::uint64_t>(running_));
}

}  // namespace holdfast::protocol
