// The delegate's local side: callers, the acquisition they share, the fence, admission.

#include "protocol/delegation/delegate.hpp"

#include <algorithm>

#include "protocol/refuse_lock.hpp"

namespace holdfast::protocol {

Delegate::Delegate(const NodeSetup& setup, std::uint32_t incarnation)
    : keys_(setup.directory->keyCount()),
      droppedTables_(setup.directory->tableCount()),
      barriers_(incarnation),
      incarnation_(incarnation) {}

// ---- Callers ----------------------------------------------------------------------------------------------

void Delegate::lock(const CallLock& call, const Env& env) {
  const Caller caller{call.call, env.now() + call.wait, call.lease, call.hold, Cause::none};
  Cause refusal = Cause::none;
  if (!env.options().enabled) {
    refusal = Cause::disabled;
  } else if (call.key.value >= keys_.size() || call.lease <= Duration{} || call.wait < Duration{}) {
    refusal = Cause::malformed;
  } else if (closed(call.key, env)) {
    refusal = Cause::shutdown;
  } else if (!env.membership.isMember(env.setup.self) && env.on(Rule::DG2_MembersOnly)) {
    refusal = Cause::notMember;
  } else if (!env.distinct()) {
    refusal = Cause::notMember;
  } else if (keys_[call.key.value].callers.size() >= env.options().waitersPerKey) {
    // BD-1: the node's own callers of a key are as many at most as a home's waiters.
    refusal = Cause::capacity;
  }
  if (refusal != Cause::none) {
    refuse(caller, call.key, refusal, env);
    return;
  }
  Key& state = keys_[call.key.value];
  if (call.worker != env.setup.ownerWorker && !env.on(Rule::BD5_OneCoordinator)) {
    // BD-5: a worker without the coordinator would know of its own node's lock only.
    const MonotonicInstant deadline = env.now() + call.lease;
    env.sessions.open(call.call, call.key, Token{}, deadline, call.hold, call.lease, env);
    env.observe(obs::Admitted{call.call, call.key, Token{}, Path::cached, call.hold, deadline});
    env.context.reply(
        LockReply{call.call, call.key, ErrorClass::none, Cause::none, Path::cached, Token{}, call.lease});
    return;
  }
  // A handle that ran out while its node was paused holds the key no more, whatever its timer does.
  lapseInside(state, call.key, env);
  // LH-1: first come, first served among the node's own callers.
  const auto place = env.on(Rule::LH1_LocalFifo) ? state.callers.end() : state.callers.begin();
  state.callers.insert(place, caller)->last = state.inside.valid() ? Cause::contended : Cause::none;
  askAgainBy(state, call.key, caller.deadline, env);
  advance(call.key, env);
}

void Delegate::reenter(const CallReenter& call, const Env& env) {
  Handle* handle = env.sessions.find(call.call);
  const KeyId key = handle != nullptr ? handle->key : KeyId::none();
  if (handle != nullptr && handle->unlocked && !env.on(Rule::LH1_OwnHandle)) {
    handle = env.sessions.find(keys_[key.value].inside);
  }
  Cause cause = Cause::unknownHandle;
  if (handle != nullptr && !handle->unlocked) cause = env.sessions.lapse(*handle, env);
  if (cause == Cause::expired && !env.on(Rule::LH2_LapseIsFinal)) cause = Cause::none;
  const Delegation* delegation = handle != nullptr ? &keys_[key.value].delegation : nullptr;
  if (cause == Cause::none &&
      (!delegation->installed || delegation->token.membership != handle->token.membership)) {
    cause = Cause::expired;
  }
  if (cause == Cause::none && delegation->token.membership != env.membership.number() &&
      env.on(Rule::DG7_MembershipRecheck)) {
    // DG-7: nothing is prolonged under a superseded membership, and what is refused is over.
    env.sessions.revoke(key, env);
    leave(keys_[key.value], key, call.call, env);
    cause = Cause::revoked;
  }
  // DR-1: no re-entry and no upgrade once the delegation is closing.
  if (cause == Cause::none && delegation->drain != Drain::none && env.on(Rule::DR1_CloseAdmission)) {
    cause = Cause::revoked;
  }
  if (cause != Cause::none) {
    env.context.reply(LockReply{call.call, key, ErrorClass::conflict409, cause, Path::cached, Token{}, {}});
    return;
  }
  const MonotonicInstant deadline = boundedDeadline(*delegation, call.lease, Rule::LH2_BoundedReentry, env);
  handle->deadline = std::max(handle->deadline, deadline);
  handle->wallDeadline = std::max(handle->wallDeadline, env.context.wall + call.lease);
  handle->hold = handle->hold || call.hold;
  if (keys_[key.value].inside == handle->call)
    env.timers.set(TimerKind::handleLapse, key.value, handle->deadline);
  env.observe(obs::Reentered{call.call, key, handle->hold, handle->deadline, handle->call});
  env.context.reply(LockReply{call.call, key, ErrorClass::none, Cause::none, Path::cached, handle->token,
                              handle->deadline - env.now()});
}

void Delegate::onTouched(const TouchedKeys& touched, const Env& env) {
  for (const Touched& touch : touched) {
    Key& state = keys_[touch.key.value];
    if (touch.unlocked.valid()) leave(state, touch.key, touch.unlocked, env);
    continueDrain(state, touch.key, env);
    advance(touch.key, env);
  }
}

void Delegate::leave(Key& state, KeyId key, CallId call, const Env& env) {
  if (state.inside != call) return;
  state.inside = CallId{};
  env.timers.cancel(TimerKind::handleLapse, key.value);
}

void Delegate::lapseInside(Key& state, KeyId key, const Env& env) {
  const Handle* handle = state.inside.valid() ? env.sessions.find(state.inside) : nullptr;
  if (handle == nullptr) {
    state.inside = CallId{};
    return;
  }
  if (env.now() < handle->deadline) return;
  env.sessions.noteLapse(state.inside);
  leave(state, key, state.inside, env);
}

// ---- Refusals ---------------------------------------------------------------------------------------------

void Delegate::refuse(const Caller& caller, KeyId key, Cause cause, const Env& env) const {
  refuseLock(caller.call, key, cause, env);
}

void Delegate::refuseAll(Key& state, KeyId key, Cause cause, const Env& env) {
  for (const Caller& caller : state.callers) refuse(caller, key, cause, env);
  state.callers.clear();
  armCallerTimer(state, key, env);
}

/// Section 12: 423 only when the last valid observation was "held by another"; everything else names its
/// cause.
Cause Delegate::whyLate(const Key& state, KeyId key, const Caller& caller, const Env& env) const {
  if (state.inside.valid() && state.inside != caller.call) return Cause::contended;
  if (!env.live()) return Cause::noMembership;
  const Delegation& delegation = state.delegation;
  if (delegation.installed && delegation.drain == Drain::none && !delegation.fenced) {
    if (delegation.path == Path::recovery) return Cause::barrier;
    const FenceState fence = env.replication.fence(delegation.dependencies);
    return fence.kind == FenceState::Kind::unsatisfiable ? Cause::unsatisfiable : Cause::fence;
  }
  if (delegation.installed && env.sessions.settling(key)) return Cause::fence;
  if (caller.last != Cause::none) return caller.last;
  // Nobody was asked while this node's own delegation is closing, or could not be released (DR-1, DR-6).
  return delegation.drain != Drain::none ? Cause::ownGrant : Cause::homeUnreachable;
}

void Delegate::refuseLate(Key& state, KeyId key, const Env& env) {
  for (std::size_t i = 0; i < state.callers.size();) {
    if (state.callers[i].deadline > env.now()) {
      ++i;
      continue;
    }
    const Caller late = state.callers[i];
    state.callers.erase(state.callers.begin() + static_cast<std::ptrdiff_t>(i));
    refuse(late, key, whyLate(state, key, late, env), env);
  }
}

void Delegate::armCallerTimer(const Key& state, KeyId key, const Env& env) const {
  MonotonicInstant earliest = MonotonicInstant::never();
  for (const Caller& caller : state.callers) earliest = std::min(earliest, caller.deadline);
  env.timers.set(TimerKind::callerDeadline, key.value, earliest);
}

// ---- Moving a key on --------------------------------------------------------------------------------------

void Delegate::advance(KeyId key, const Env& env) {
  Key& state = keys_[key.value];
  lapseInside(state, key, env);
  refuseLate(state, key, env);
  while (!state.callers.empty() && mayAdmit(state, key, env)) {
    admitNext(state, key, env);
    if (env.on(Rule::LH1_LocalExclusion)) break;
  }
  armCallerTimer(state, key, env);
}

/// FR-3: neither a record's version, nor a timestamp, nor a single position stands for what each origin had
/// committed.
FenceState Delegate::fenceOf(const Delegation& delegation, KeyId key, const Env& env) {
  if (!env.on(Rule::FR3_PositionsNotVersions))
    return env.replication.versionFence(key, delegation.dependencies);
  if (!env.on(Rule::FR3_PositionsNotStamps)) return env.replication.stampFence(delegation.dependencies);
  return env.replication.fence(delegation.dependencies);
}

/// Whether the first caller can be admitted now; otherwise does what brings that nearer.
bool Delegate::mayAdmit(Key& state, KeyId key, const Env& env) {
  if (state.inside.valid() && env.on(Rule::LH1_LocalExclusion)) return false;
  if (!env.live()) return false;
  Delegation& delegation = state.delegation;
  if (delegation.installed && env.now() >= delegation.deadline) lapseDelegation(state, key, env);
  if (delegation.installed && delegation.token.membership != env.membership.number() &&
      env.on(Rule::DG7_MembershipRecheck)) {
    env.sessions.revoke(key, env);
    forget(state, key, env);
  }
  if (!delegation.installed) {
    ask(state, key, env);
    return false;
  }
  if (delegation.drain != Drain::none && env.on(Rule::DR1_CloseAdmission)) return false;
  if (!delegation.fenced) {
    if (delegation.path == Path::recovery && env.on(Rule::FR8_Barrier)) {
      barriers_.join({key, delegation.grant}, env);
      return false;
    }
    const FenceState fence = fenceOf(delegation, key, env);
    if (fence.kind == FenceState::Kind::unsatisfiable) refuseAll(state, key, Cause::unsatisfiable, env);
    if (!fence.satisfied()) {
      if (std::find(fencing_.begin(), fencing_.end(), key) == fencing_.end()) fencing_.push_back(key);
      return false;
    }
    delegation.fenced = true;
    env.observe(obs::FenceSatisfied{key, delegation.token});
  }
  // What this node has submitted under the key is part of what the next caller must see: it settles first,
  // also when its handle has lapsed or was unlocked meanwhile (LH-3).
  if (env.sessions.settling(key) && env.on(Rule::LH4_SettlesBeforeNext)) return false;
  // A handle is never stretched past its delegation: with too little left, renew first (DG-5, LH-2).
  const Duration enough = std::min(env.options().minUseful, state.callers.front().lease);
  if (delegation.deadline - env.now() < enough && delegation.drain == Drain::none) {
    ask(state, key, env);
    return false;
  }
  return true;
}

void Delegate::ask(Key& state, KeyId key, const Env& env) {
  if (state.asking) return;
  if (env.now() < state.askNotBefore) {
    env.timers.set(TimerKind::requestRetry, key.value, state.askNotBefore);
    return;
  }
  MonotonicInstant latest = state.callers.front().deadline;
  MonotonicInstant earliest = latest;
  for (const Caller& caller : state.callers) {
    latest = std::max(latest, caller.deadline);
    earliest = std::min(earliest, caller.deadline);
  }
  const bool retry = state.askedBefore;
  state.asking = true;
  state.askedBefore = true;
  state.request = RequestId{incarnation_, ++sequence_};
  state.sentAt = env.now();
  state.askAgainAt = env.now() + env.options().retryEvery;
  env.timers.set(TimerKind::requestRetry, key.value, state.askAgainAt);
  askAgainBy(state, key, earliest, env);
  const Duration margin = env.options().answerMargin;
  const Duration wait = std::max(latest - env.now() - margin, Duration{});
  env.send(env.homeOf(key), LockRequest{env.membership.number(), state.request, key, wait, retry});
}

/// Brings the next attempt forward, so that a caller who gives up at `deadline` learns in time whether the
/// key is held or the home is silent.
void Delegate::askAgainBy(Key& state, KeyId key, MonotonicInstant deadline, const Env& env) const {
  const Duration margin = env.options().answerMargin;
  const MonotonicInstant probe = deadline - margin;
  if (!state.asking || probe >= state.askAgainAt || probe <= env.now() + margin / 2) return;
  state.askAgainAt = probe;
  env.timers.set(TimerKind::requestRetry, key.value, probe);
}

MonotonicInstant Delegate::boundedDeadline(const Delegation& delegation, Duration lease, Rule rule,
                                           const Env& env) const {
  const MonotonicInstant wanted = env.now() + lease;
  if (!env.on(rule)) return wanted;
  const MonotonicInstant authority = env.on(Rule::EP6_MinorityStops)
                                         ? std::min(delegation.deadline, env.membership.deadline())
                                         : delegation.deadline;
  return std::min(wanted, authority);
}

void Delegate::admitNext(Key& state, KeyId key, const Env& env) {
  const Caller caller = state.callers.front();
  state.callers.erase(state.callers.begin());
  Delegation& delegation = state.delegation;
  const Path path = delegation.used ? Path::cached : delegation.path;
  delegation.used = true;
  const MonotonicInstant deadline = boundedDeadline(delegation, caller.lease, Rule::LH2_BoundedHandle, env);
  env.sessions.open(caller.call, key, delegation.token, deadline, caller.hold, caller.lease, env);
  state.inside = caller.call;
  state.askedBefore = false;
  for (Caller& waiting : state.callers) waiting.last = Cause::contended;
  env.timers.set(TimerKind::handleLapse, key.value, deadline);
  env.observe(obs::Admitted{caller.call, key, delegation.token, path, caller.hold, deadline});
  env.context.reply(LockReply{caller.call, key, ErrorClass::none, Cause::none, path, delegation.token,
                              deadline - env.now()});
}

// ---- Progress ---------------------------------------------------------------------------------------------

void Delegate::concludeBarriers(const Env& env) {
  BarrierResult result;
  while (barriers_.conclude(env, result)) {
    for (const auto& [key, grant] : result.recoveries) {
      Key& state = keys_[key.value];
      Delegation& delegation = state.delegation;
      if (!delegation.installed || delegation.fenced || delegation.grant != grant) continue;
      if (result.satisfied) {
        delegation.fenced = true;
        delegation.dependencies = result.reached;
        env.observe(obs::FenceSatisfied{key, delegation.token});
        advance(key, env);
      } else {
        refuseAll(state, key, Cause::barrier, env);
      }
    }
  }
}

void Delegate::onBarrierReply(NodeId from, const BarrierReply& reply, const Env& env) {
  barriers_.onReply(from, reply, env);
  concludeBarriers(env);
}

void Delegate::onProgress(const Env& env) {
  // advance() puts a key back as long as it has to wait; indices, because it does so while we look.
  for (std::size_t left = fencing_.size(); left > 0; --left) {
    const KeyId key = fencing_.front();
    fencing_.erase(fencing_.begin());
    advance(key, env);
  }
  concludeBarriers(env);
}

void Delegate::onLive(const Env& env) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (!keys_[i].callers.empty()) advance(KeyId{static_cast<std::uint32_t>(i)}, env);
  }
}

void Delegate::onMembership(MonotonicInstant oldDeadline, const Env& env) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const KeyId key{static_cast<std::uint32_t>(i)};
    Key& state = keys_[i];
    // DG-1, DG-6: no answer of the old home counts any more; callers ask the new one.
    state.asking = false;
    // DG-7: neither does what it had said of the key.
    if (!state.inside.valid() && env.on(Rule::DG7_DenialsLapse)) {
      for (Caller& caller : state.callers) caller.last = Cause::none;
    }
    state.askedBefore = false;
    state.askNotBefore = MonotonicInstant::longAgo();
    env.timers.cancel(TimerKind::requestRetry, key.value);
    Delegation& delegation = state.delegation;
    if (delegation.installed && env.on(Rule::DG7_MembershipRecheck)) {
      // LH-2: whoever is inside may go on until the old lease ends, which the successor's activation waits
      // for (EP-8). Nobody else is admitted: mayAdmit() lets go of the delegation as soon as it is free
      // (DG-7).
      delegation.deadline = std::min(delegation.deadline, oldDeadline);
      env.timers.set(TimerKind::delegationLapse, key.value, delegation.deadline);
    }
    advance(key, env);
  }
}

void Delegate::onTimer(TimerKind kind, KeyId key, const Env& env) {
  if (kind == TimerKind::barrierTimeout) {
    barriers_.onTimeout(env);
    concludeBarriers(env);
    return;
  }
  Key& state = keys_[key.value];
  if (kind == TimerKind::requestRetry) {
    state.asking = false;
  } else if (kind == TimerKind::delegationLapse && state.delegation.installed &&
             env.now() >= state.delegation.deadline) {
    lapseDelegation(state, key, env);
  } else if (kind == TimerKind::recallGrace && state.delegation.drain == Drain::grace) {
    state.delegation.drain = Drain::settling;
    if (env.on(Rule::DR2_RevokeHandles)) env.sessions.revoke(key, env);
    lapseInside(state, key, env);
    if (env.on(Rule::DR2_RevokeHandles) && state.inside.valid()) leave(state, key, state.inside, env);
  }
  lapseInside(state, key, env);
  continueDrain(state, key, env);
  advance(key, env);
}

std::size_t Delegate::delegations() const {
  return static_cast<std::size_t>(
      std::count_if(keys_.begin(), keys_.end(), [](const Key& key) { return key.delegation.installed; }));
}

std::size_t Delegate::localWaiters() const {
  std::size_t count = 0;
  for (const Key& key : keys_) count += key.callers.size();
  return count;
}

void Delegate::addTo(StateHash& hash) const {
  for (const Key& key : keys_) {
    for (const Caller& caller : key.callers) {
      hash.add(caller.call);
      hash.add(caller.deadline);
      hash.add(caller.lease);
      hash.add(static_cast<std::uint64_t>(caller.hold));
      hash.add(caller.last);
    }
    const Delegation& delegation = key.delegation;
    hash.add(static_cast<std::uint64_t>(delegation.installed));
    if (delegation.installed) {
      hash.add(static_cast<std::uint64_t>(delegation.renewedFromForgotten) << 3 |
               static_cast<std::uint64_t>(delegation.fenced) << 2 |
               static_cast<std::uint64_t>(delegation.used) << 1 |
               static_cast<std::uint64_t>(delegation.recalled));
      hash.add(delegation.drain);
      hash.add(delegation.path);
      hash.add(delegation.home);
      hash.add(delegation.token);
      hash.add(delegation.deadline);
      hash.add(delegation.dependencies);
    }
    hash.add(key.inside);
    hash.add(static_cast<std::uint64_t>(key.asking) << 1 | static_cast<std::uint64_t>(key.askedBefore));
    if (key.asking) {
      hash.add(key.request);
      // The send instant matters as the deadline that a grant would get from it.
      hash.addPast(key.sentAt);
      hash.add(key.askAgainAt);
    }
    hash.add(key.askNotBefore);
    hash.add(key.lastInstalled);
  }
  hash.addRange(fencing_);
  for (const bool dropped : droppedTables_) hash.add(static_cast<std::uint64_t>(dropped));
  hash.add(barriers_);
  // Of a delegation's own number nothing counts but whether a barrier is for it or for one before it.
  for (const auto* const waiting : {&barriers_.joined(), &barriers_.next()}) {
    hash.add(static_cast<std::uint64_t>(waiting->size()));
    for (const Recovery& recovery : *waiting) {
      const Delegation& delegation = keys_[recovery.key.value].delegation;
      hash.add(recovery.key);
      hash.add(static_cast<std::uint64_t>(delegation.installed && delegation.grant == recovery.grant));
    }
  }
  hash.addGrowing(Growing::request, sequence_);
  hash.add(static_cast<std::uint64_t>(shutDown_));
}

}  // namespace holdfast::protocol
