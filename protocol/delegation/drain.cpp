// Recall and drain (DR): close admission, revoke, settle, and only then release.

#include <algorithm>

#include "protocol/delegation/delegate.hpp"

namespace holdfast::protocol {

bool Delegate::closed(KeyId key, const Env& env) const {
  return shutDown_ || droppedTables_[env.setup.directory->key(key).table];
}

void Delegate::onRecall(NodeId from, const LockRecall& recall, std::uint8_t worker, const Env& env) {
  if (recall.key.value >= keys_.size() ||
      (from != env.homeOf(recall.key) && env.on(Rule::BD3_RefuseSuperseded))) {
    env.observe(obs::MessageRefused{from, MessageKind::lockRecall, Cause::malformed});
    return;
  }
  if (worker != env.setup.ownerWorker && !env.on(Rule::BD5_OwnerAnswers)) {
    // BD-5: a worker without the coordinator finds no delegation of any key.
    handBack(from, recall.key, recall.token, env);
    return;
  }
  Key& state = keys_[recall.key.value];
  // A recall of a token that is not held here (any more, or yet) is left to the home's retry and to expiry.
  if (!state.delegation.installed || !env.sameToken(state.delegation.token, recall.token)) return;
  if (closed(recall.key, env)) {
    failDrain(state, recall.key, Cause::shutdown, env);
    return;
  }
  if (state.delegation.drain == Drain::none) beginDrain(state, recall.key, true, env);
  advance(recall.key, env);
}

void Delegate::drop(KeyId key, const Env& env) {
  if (key.value >= keys_.size()) return;
  Key& state = keys_[key.value];
  // DR-5: letting go early takes the same steps as a recall.
  if (state.delegation.installed && state.delegation.drain == Drain::none) beginDrain(state, key, false, env);
  advance(key, env);  // whoever still waits here asks anew
}

void Delegate::beginDrain(Key& state, KeyId key, bool recalled, const Env& env) {
  Delegation& delegation = state.delegation;
  if (env.now() >= delegation.deadline) {
    lapseDelegation(state, key, env);
    return;
  }
  delegation.recalled = recalled;
  delegation.drain = Drain::grace;  // DR-1: from here on mayAdmit() and reenter() refuse
  env.observe(obs::AdmissionClosed{key, delegation.token, recalled});
  const MonotonicInstant graceEnds = std::min(env.now() + env.options().recallGrace, delegation.deadline);
  env.timers.set(TimerKind::recallGrace, key.value, graceEnds);
  continueDrain(state, key, env);
}

/// Goes on with the drain as far as the handles and transactions of the key allow.
void Delegate::continueDrain(Key& state, KeyId key, const Env& env) {
  Delegation& delegation = state.delegation;
  if (!delegation.installed) return;
  if (delegation.drain == Drain::grace) {
    if (env.sessions.active(key, env)) return;  // DR-2: the grace is only fairness; its timer ends it
    delegation.drain = Drain::settling;
    env.timers.cancel(TimerKind::recallGrace, key.value);
  }
  if (delegation.drain != Drain::settling) return;
  // DR-3: what was submitted settles first, through its retries.
  if (env.sessions.settling(key) && env.on(Rule::DR3_AwaitSettlement)) return;
  release(state, key, env);
}

void Delegate::release(Key& state, KeyId key, const Env& env) {
  Delegation& delegation = state.delegation;
  env.observe(obs::Drained{key, delegation.token, true});
  const bool knowsLineage = delegation.fenced && delegation.renewedFromForgotten;
  if (!delegation.used && !knowsLineage) {
    // Nobody was admitted: the predecessor's dependency set stands as it is, or is void if the home renewed a
    // grant of which nothing is known here. A release would pass an unfinished recovery off as a complete
    // set.
    const NodeId home = delegation.home;
    const Token token = delegation.token;
    forget(state, key, env);
    handBack(home, key, token, env);
    return;
  }
  delegation.drain = Drain::releasing;
  ReleaseEntry entry{key, env.setup.self, delegation.token, ReleaseEntry::kCurrentForm, {}};
  if (env.on(Rule::FR2_InheritDependencies)) entry.dependencies = delegation.dependencies;
  // FR-2: the newest write of a record does not stand for those before it.
  if (!env.on(Rule::FR2_EveryOrigin)) entry.dependencies.keepOnly(env.replication.newestWriterOf(key));
  if (!env.on(Rule::FR3_PositionsNotVersions)) {
    entry.dependencies.clear();
    entry.dependencies.require(env.setup.self, env.replication.versionAsPosition(key));
  } else if (!env.on(Rule::FR3_PositionsNotStamps)) {
    entry.dependencies.require(env.setup.self, env.replication.stampAsPosition(key));
  }
  // DR-4, FR-1: behind the data writes in the node's own log.
  env.commits.start(std::move(entry), 1, env.context);
}

void Delegate::onReleaseDone(const ReleaseEntry& entry, CommitOutcome outcome, const Env& env) {
  Key& state = keys_[entry.key.value];
  const bool current = state.delegation.installed && state.delegation.token == entry.token;
  if (!current) return;  // it had lapsed meanwhile: the entry is harmless
  if (outcome == CommitOutcome::committed) {
    forget(state, entry.key, env);
  } else {
    failDrain(state, entry.key, Cause::aborted, env);
  }
  advance(entry.key, env);
}

/// DR-6: callers settle, admission stays closed, and the key goes the way of expiry. No release is made up.
void Delegate::failDrain(Key& state, KeyId key, Cause cause, const Env& env) {
  Delegation& delegation = state.delegation;
  if (delegation.drain == Drain::failed) return;
  env.observe(obs::RecallFailed{key, delegation.token, cause});
  delegation.drain = Drain::failed;
  env.timers.cancel(TimerKind::recallGrace, key.value);
  if (!env.on(Rule::DR6_NoFabricatedRelease)) handBack(delegation.home, key, delegation.token, env);
}

/// The delegation's own deadline has come. Its handles, bounded by it, are over (LH-2).
void Delegate::lapseDelegation(Key& state, KeyId key, const Env& env) {
  Delegation& delegation = state.delegation;
  const bool draining = delegation.drain == Drain::grace || delegation.drain == Drain::settling;
  if (draining) {
    // DR-4: settlement did not make it in time; no release is ever written for this delegation.
    env.observe(obs::Drained{key, delegation.token, false});
    if (!env.on(Rule::DR4_NoLateRelease)) {
      env.commits.start(ReleaseEntry{key, env.setup.self, delegation.token, ReleaseEntry::kCurrentForm,
                                     delegation.dependencies},
                        1, env.context);
    }
  }
  env.observe(obs::DelegationLapsed{key, delegation.token});
  forget(state, key, env);
}

void Delegate::forget(Key& state, KeyId key, const Env& env) {
  state.delegation = Delegation{};
  env.timers.cancel(TimerKind::delegationLapse, key.value);
  env.timers.cancel(TimerKind::recallGrace, key.value);
}

// ---- Administration ---------------------------------------------------------------------------------------

void Delegate::dropTable(std::uint16_t table, const Env& env) {
  if (table >= droppedTables_.size()) return;
  droppedTables_[table] = true;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const KeyId key{static_cast<std::uint32_t>(i)};
    if (env.setup.directory->key(key).table != table) continue;
    Key& state = keys_[i];
    refuseAll(state, key, Cause::shutdown, env);
    env.sessions.revoke(key, env);
    if (state.inside.valid()) leave(state, key, state.inside, env);
    if (state.delegation.installed) failDrain(state, key, Cause::shutdown, env);
  }
}

void Delegate::shutDown(const Env& env) {
  for (std::size_t table = 0; table < droppedTables_.size(); ++table) {
    dropTable(static_cast<std::uint16_t>(table), env);
  }
  shutDown_ = true;
}

void Delegate::abandonAll(const Env& env) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const KeyId key{static_cast<std::uint32_t>(i)};
    Key& state = keys_[i];
    refuseAll(state, key, Cause::shutdown, env);
    if (env.on(Rule::BD4_FenceOnReplacement)) env.sessions.revoke(key, env);
    for (const TimerKind kind : {TimerKind::requestRetry, TimerKind::callerDeadline,
                                 TimerKind::delegationLapse, TimerKind::handleLapse, TimerKind::recallGrace,
                                 TimerKind::grantExpiry, TimerKind::waiterDeadline, TimerKind::recallRetry}) {
      env.timers.cancel(kind, key.value);
    }
  }
  env.timers.cancel(TimerKind::barrierTimeout, 0);
}

}  // namespace holdfast::protocol
