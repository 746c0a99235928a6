// The delegate's answers to its home: grants installed or handed back, denials remembered.

#include <algorithm>

#include "protocol/delegation/delegate.hpp"

namespace holdfast::protocol {

void Delegate::onGrant(NodeId from, const LockGrant& grant, const Env& env) {
  if (grant.key.value >= keys_.size() || !grant.token.valid()) {
    env.observe(obs::MessageRefused{from, MessageKind::lockGrant, Cause::malformed});
    return;
  }
  if (from != env.homeOf(grant.key) && env.on(Rule::BD3_RefuseSuperseded)) {
    env.observe(obs::MessageRefused{from, MessageKind::lockGrant, Cause::notHome});
    return;
  }
  Key& state = keys_[grant.key.value];
  const bool matches = state.asking && grant.request == state.request;
  if (!matches && env.on(Rule::DG6_MatchRequestId)) {
    reject(state, from, grant, obs::GrantRejection::unmatched, env);
    return;
  }
  // DG-7: the membership may have moved on during the round trip.
  if (grant.token.membership != env.membership.number() && env.on(Rule::DG7_MembershipRecheck)) {
    reject(state, from, grant, obs::GrantRejection::superseded, env);
    return;
  }
  state.asking = false;
  env.timers.cancel(TimerKind::requestRetry, grant.key.value);
  for (Caller& caller : state.callers) caller.last = Cause::none;  // nobody else holds the key now
  // DG-4: anchored where the request was sent; the reply may have been under way for any time.
  MonotonicInstant deadline = (env.on(Rule::DG4_AnchorAtSend) ? state.sentAt : env.now()) + grant.duration;
  if (!env.on(Rule::CK2_DurationsOnly)) deadline = MonotonicInstant{} + grant.duration;
  if (env.now() > deadline - env.options().minUseful) {
    if (env.on(Rule::DG5_MinUseful)) {
      reject(state, from, grant, obs::GrantRejection::late, env);
      advance(grant.key, env);
      return;
    }
    deadline = std::max(deadline, env.now() + env.options().minUseful);
  }
  if (state.callers.empty() && !state.delegation.installed) {
    reject(state, from, grant, obs::GrantRejection::callerGone, env);
    return;
  }
  install(state, grant, deadline, env);
  advance(grant.key, env);
}

void Delegate::install(Key& state, const LockGrant& grant, MonotonicInstant deadline, const Env& env) {
  Delegation& delegation = state.delegation;
  // A renewal of what is held here goes on where it was; anything else starts from what the home says.
  const bool continues = delegation.installed && grant.renewal;
  if (!continues) {
    delegation.fenced = grant.path == Path::virgin || !env.on(Rule::FR1_ReleaseCarriesPosition);
    if (grant.path == Path::recovery) delegation.fenced = !env.on(Rule::FR8_Barrier);
    delegation.used = false;
    delegation.grant = ++grants_;
    delegation.path = grant.path;
    delegation.dependencies = grant.dependencies;
  }
  delegation.installed = true;
  delegation.recalled = false;
  delegation.drain = Drain::none;
  delegation.home = env.homeOf(grant.key);
  delegation.token = grant.token;
  delegation.deadline = deadline;
  state.lastInstalled = std::max(state.lastInstalled, grant.token);
  env.timers.set(TimerKind::delegationLapse, grant.key.value, deadline);
  env.observe(obs::Installed{grant.key, grant.token, delegation.path, continues, deadline});
  // The home renewed a grant of which nothing is left here: its earlier token may have admitted somebody, so
  // the grant must end with a release and not with a hand-back.
  if (grant.renewal && !continues) delegation.renewedFromForgotten = true;
  if (!delegation.fenced && delegation.path == Path::clean) {
    const FenceState fence = env.replication.fence(delegation.dependencies);
    if (!fence.satisfied()) env.observe(obs::FenceWaiting{grant.key, fence.origin, fence.position});
  }
}

void Delegate::reject(Key& state, NodeId home, const LockGrant& grant, obs::GrantRejection why,
                      const Env& env) {
  Delegation& delegation = state.delegation;
  env.observe(obs::GrantRejected{grant.key, grant.token, why});
  if (delegation.installed && env.on(Rule::DG8_NoHandBackWhileHolding)) {
    // DG-8: whoever is inside must not lose the key to the clean-up of a late reply. The home knows this
    // delegate by the newer token now, so the delegation takes it over, with the deadline it had.
    const bool newest = grant.token > delegation.token && grant.renewal && why == obs::GrantRejection::late;
    if (newest) {
      delegation.token = grant.token;
      state.lastInstalled = std::max(state.lastInstalled, grant.token);
    }
    return;
  }
  // Only what this incarnation asked for and never installed: an older reply may stand for a grant under
  // which somebody was admitted and whose release is still on its way.
  const bool mine = grant.request.incarnation == incarnation_ && grant.token > state.lastInstalled;
  if (!env.on(Rule::DG5_HandBack)) return;
  if (mine || !env.on(Rule::DG8_NoHandBackWhileHolding)) handBack(home, grant.key, grant.token, env);
}

void Delegate::handBack(NodeId home, KeyId key, const Token& token, const Env& env) const {
  env.observe(obs::HandedBack{key, token});
  env.send(home, LockHandBack{token, key});
}

void Delegate::onDeny(NodeId from, const LockDeny& deny, const Env& env) {
  if (deny.key.value >= keys_.size() || from != env.homeOf(deny.key)) {
    env.observe(obs::MessageRefused{from, MessageKind::lockDeny, Cause::malformed});
    return;
  }
  Key& state = keys_[deny.key.value];
  if (!state.asking || deny.request != state.request) return;
  for (Caller& caller : state.callers) caller.last = deny.cause;
  const bool waits = deny.cause == Cause::contended || deny.cause == Cause::ownGrant;
  const bool stillQueued = waits && deny.retryAfter > Duration{};
  if (stillQueued) return;
  state.asking = false;
  state.askedBefore = false;
  if (deny.cause == Cause::notMember || deny.cause == Cause::version || deny.cause == Cause::disabled) {
    env.timers.cancel(TimerKind::requestRetry, deny.key.value);
    refuseAll(state, deny.key, deny.cause, env);
    return;
  }
  const Duration pause = std::clamp(deny.retryAfter, Duration{}, env.options().retryEvery);
  state.askNotBefore = env.now() + std::max(pause, env.options().answerMargin);
  env.timers.set(TimerKind::requestRetry, deny.key.value, state.askNotBefore);
}

}  // namespace holdfast::protocol
