// The side of a participant's own callers: asking, admission, the end of a critical section, refusals.
#include "protocol/ricart_agrawala/participant.hpp"

#include <algorithm>

#include "protocol/refuse_lock.hpp"

namespace holdfast::protocol {

Participant::Participant(const NodeSetup& setup)
    : participants_(setup.members),
      keys_(setup.directory->keyCount()),
      droppedTables_(setup.directory->tableCount()) {}

void Participant::boot(const ParticipantEnv& env) {
  for (std::size_t i = 0; i < keys_.size(); ++i) advance(KeyId{static_cast<std::uint32_t>(i)}, env);
}

bool Participant::isParticipant(NodeId node) const {
  return std::binary_search(participants_.begin(), participants_.end(), node);
}

bool Participant::closed(KeyId key, const ParticipantEnv& env) const {
  return shutDown_ || droppedTables_[env.setup.directory->key(key).table];
}

// ---- Callers ----------------------------------------------------------------------------------------------

void Participant::lock(const CallLock& call, const ParticipantEnv& env) {
  const MonotonicInstant now = env.now();
  const Caller caller{call.call, now, now + call.wait, call.lease, call.hold, false, 0, Cause::none};
  Cause refusal = Cause::none;
  if (!env.options().enabled) {
    refusal = Cause::disabled;
  } else if (call.key.value >= keys_.size() || call.lease <= Duration{} || call.wait < Duration{}) {
    refusal = Cause::malformed;
  } else if (closed(call.key, env)) {
    refusal = Cause::shutdown;
  } else if (!isParticipant(env.setup.self)) {
    refusal = Cause::notMember;
  } else if (keys_[call.key.value].callers.size() >= env.options().waitersPerKey) {
    refusal = Cause::capacity;  // BD-1
  }
  if (refusal != Cause::none) {
    refuse(caller, call.key, refusal, env);
    return;
  }
  // LH-1: the node's own callers are served in the order of their arrival, and share the request.
  Key& state = keys_[call.key.value];
  // CK-4: who was suspended inside may have lapsed, and is then no holder whom this caller waits for.
  lapseInside(state, call.key, env);
  state.callers.push_back(caller);
  if (state.inside.valid()) state.callers.back().last = Cause::contended;
  advance(call.key, env);
}

void Participant::reenter(const CallReenter& call, const ParticipantEnv& env) {
  Handle* const handle = env.sessions.find(call.call);
  const KeyId key = handle != nullptr ? handle->key : KeyId::none();
  Cause cause = Cause::unknownHandle;
  if (handle != nullptr && !handle->unlocked) cause = env.sessions.lapse(*handle, env);
  if (cause != Cause::none) {
    env.context.reply(LockReply{call.call, key, ErrorClass::conflict409, cause, Path::cached, Token{}, {}});
    return;
  }
  // LH-2: nothing but its lease bounds a handle here.
  handle->deadline = std::max(handle->deadline, env.now() + call.lease);
  handle->wallDeadline = std::max(handle->wallDeadline, env.context.wall + call.lease);
  handle->hold = handle->hold || call.hold;
  if (keys_[key.value].inside == call.call) keys_[key.value].until = handle->deadline;
  env.timers.set(TimerKind::handleLapse, key.value, handle->deadline);
  env.observe(obs::Reentered{call.call, key, handle->hold, handle->deadline, handle->call});
  env.context.reply(LockReply{call.call, key, ErrorClass::none, Cause::none, Path::cached, handle->token,
                              handle->deadline - env.now()});
}

void Participant::onTouched(const TouchedKeys& touched, const ParticipantEnv& env) {
  for (const Touched& touch : touched) {
    if (touch.unlocked.valid()) leave(keys_[touch.key.value], touch.key, touch.unlocked, env);
    advance(touch.key, env);
  }
}

// ---- Moving a key on --------------------------------------------------------------------------------------

void Participant::advance(KeyId key, const ParticipantEnv& env) {
  Key& state = keys_[key.value];
  lapseInside(state, key, env);
  refuseLate(state, key, env);
  if (state.callers.empty() && !state.inside.valid()) withdraw(state, env);
  grantOpen(state, key, env);
  if (!state.callers.empty() && !state.inside.valid()) {
    if (state.stamp == 0) request(state, key, env);
    if (mayAdmit(state, key, env)) admitNext(state, key, env);
  }
  armTimers(state, key, env);
}

void Participant::request(Key& state, KeyId key, const ParticipantEnv& env) {
  if (!isParticipant(env.setup.self)) return;
  // RA-1, RA-2: wanted from here on, under a stamp that does not change however long the commit takes.
  state.stamp = env.requests.nextStamp();
  for (Caller& caller : state.callers) caller.stamp = state.stamp;
  env.commits.start(RequestEntry{key, state.stamp}, 1, env.context);
}

void Participant::withdraw(Key& state, const ParticipantEnv& env) {
  state.stamp = 0;
  // RA-4: what was granted to a withdrawn request says nothing about the next one.
  if (!env.on(Rule::RA4_WithdrawnIsVoid)) return;
  state.granted.clear();
  state.grants.clear();
}

bool Participant::allGranted(const Key& state, const ParticipantEnv& env) const {
  const auto granted = static_cast<std::size_t>(
      std::count_if(participants_.begin(), participants_.end(),
                    [&](NodeId participant) { return state.granted.contains(participant); }));
  if (!env.on(Rule::RA1_EveryParticipant)) return granted > participants_.size() / 2;
  return granted == participants_.size();
}

bool Participant::mayAdmit(const Key& state, KeyId key, const ParticipantEnv& env) {
  // What this node has submitted under the key settles first: the next caller must see it, too (LH-3).
  if (state.stamp == 0 || !allGranted(state, env)) return false;
  if (env.sessions.settling(key) && env.on(Rule::LH4_SettlesBeforeNext)) return false;
  // RA-3: a grant that is visible has all of its author's earlier entries before it, unless one of them
  // failed to apply.
  if (env.replication.fence(state.grants).satisfied()) return true;
  if (std::find(fencing_.begin(), fencing_.end(), key) == fencing_.end()) fencing_.push_back(key);
  return false;
}

void Participant::admitNext(Key& state, KeyId key, const ParticipantEnv& env) {
  const Caller caller = state.callers.front();
  state.callers.erase(state.callers.begin());
  const Token token = tokenOf(env.setup.self, state.stamp);
  const MonotonicInstant deadline = env.now() + caller.lease;
  env.sessions.open(caller.call, key, token, deadline, caller.hold, caller.lease, env);
  state.inside = caller.call;
  state.until = deadline;
  for (Caller& waiting : state.callers) waiting.last = Cause::contended;
  for (OpenRequest& open : env.requests.open(key)) {
    open.held = open.held || open.state != GrantState::granted;
  }
  env.timers.set(TimerKind::handleLapse, key.value, deadline);
  env.observe(obs::Admitted{caller.call, key, token, Path::clean, caller.hold, deadline});
  env.context.reply(
      LockReply{caller.call, key, ErrorClass::none, Cause::none, Path::clean, token, caller.lease});
}

void Participant::leave(Key& state, KeyId key, CallId call, const ParticipantEnv& env) {
  if (state.inside != call) return;
  state.inside = CallId{};
  // CK-4: who leaves late, after a pause, had lapsed before.
  state.until = std::min(state.until, env.now());
  env.timers.cancel(TimerKind::handleLapse, key.value);
  // One request, one section: whoever waits here asks anew and behind those who asked meanwhile.
  state.stamp = 0;
  state.granted.clear();
  state.grants.clear();
}

void Participant::lapseInside(Key& state, KeyId key, const ParticipantEnv& env) {
  if (!state.inside.valid()) return;
  // A handle that is gone had lapsed and was swept (BD-2).
  const Handle* const handle = env.sessions.find(state.inside);
  if (handle != nullptr && env.now() < handle->deadline) return;
  env.sessions.noteLapse(state.inside);
  // RA-4: the lease bounds the holder.
  if (env.on(Rule::RA4_LeaseBounds)) leave(state, key, state.inside, env);
}

// ---- Refusals ---------------------------------------------------------------------------------------------

void Participant::refuse(const Caller& caller, KeyId key, Cause cause, const ParticipantEnv& env) const {
  refuseLock(caller.call, key, cause, env);
}

void Participant::refuseAll(Key& state, KeyId key, Cause cause, const ParticipantEnv& env) {
  for (const Caller& caller : state.callers) refuse(caller, key, cause, env);
  state.callers.clear();
}

void Participant::refuseLate(Key& state, KeyId key, const ParticipantEnv& env) {
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

/// Section 12: 423 only on the word of a holder; a participant that is merely silent is a 503 (RA-6).
Cause Participant::whyLate(const Key& state, KeyId key, const Caller& caller,
                           const ParticipantEnv& env) const {
  if (state.inside.valid() || caller.last == Cause::contended) return Cause::contended;
  if (state.stamp != 0 && allGranted(state, env)) {
    const FenceState fence = env.replication.fence(state.grants);
    return fence.kind == FenceState::Kind::unsatisfiable ? Cause::unsatisfiable : Cause::fence;
  }
  return env.sessions.settling(key) ? Cause::fence : Cause::participant;
}

/// Asks those whose grant is missing whether they have held the key, for every caller whose time is nearly up
/// and since when it waits.
void Participant::probe(Key& state, KeyId key, const ParticipantEnv& env) const {
  for (Caller& caller : state.callers) {
    if (caller.probed || caller.deadline - env.options().answerMargin > env.now()) continue;
    caller.probed = true;
    if (state.stamp == 0) continue;
    const LockRequest question{0, {caller.call.value, state.stamp}, key, env.now() - caller.since, true};
    for (const NodeId participant : participants_) {
      if (participant == env.setup.self || state.granted.contains(participant)) continue;
      env.context.send(participant, question);
    }
  }
}

void Participant::armTimers(const Key& state, KeyId key, const ParticipantEnv& env) const {
  MonotonicInstant deadline = MonotonicInstant::never();
  MonotonicInstant probe = MonotonicInstant::never();
  for (const Caller& caller : state.callers) {
    deadline = std::min(deadline, caller.deadline);
    if (!caller.probed) probe = std::min(probe, caller.deadline - env.options().answerMargin);
  }
  env.timers.set(TimerKind::callerDeadline, key.value, deadline);
  env.timers.set(TimerKind::requestRetry, key.value, probe);
}

void Participant::onTimer(TimerKind kind, KeyId key, const ParticipantEnv& env) {
  if (kind == TimerKind::requestRetry) probe(keys_[key.value], key, env);
  advance(key, env);
}

// ---- Administration ---------------------------------------------------------------------------------------

/// Everybody leaves the key: callers are told, the handle loses its write capability.
void Participant::expel(Key& state, KeyId key, const ParticipantEnv& env) {
  refuseAll(state, key, Cause::shutdown, env);
  env.sessions.revoke(key, env);
  if (state.inside.valid()) leave(state, key, state.inside, env);
  advance(key, env);
}

void Participant::dropTable(std::uint16_t table, const ParticipantEnv& env) {
  if (table >= droppedTables_.size()) return;
  droppedTables_[table] = true;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const KeyId key{static_cast<std::uint32_t>(i)};
    if (env.setup.directory->key(key).table == table) expel(keys_[i], key, env);
  }
}

void Participant::shutDown(const ParticipantEnv& env) {
  for (std::size_t table = 0; table < droppedTables_.size(); ++table) {
    dropTable(static_cast<std::uint16_t>(table), env);
  }
  shutDown_ = true;
}

void Participant::abandonAll(const ParticipantEnv& env) {
  for (std::size_t i = 0; i < keys_.size(); ++i) expel(keys_[i], KeyId{static_cast<std::uint32_t>(i)}, env);
}

std::size_t Participant::localWaiters() const {
  std::size_t count = 0;
  for (const Key& key : keys_) count += key.callers.size();
  return count;
}

void Participant::addTo(StateHash& hash) const {
  for (const Key& key : keys_) {
    hash.add(static_cast<std::uint64_t>(key.callers.size()));
    for (const Caller& caller : key.callers) {
      hash.add(caller.call);
      hash.addPast(caller.since);
      hash.add(caller.deadline);
      hash.add(caller.lease);
      hash.add(static_cast<std::uint64_t>(caller.hold) << 1 | static_cast<std::uint64_t>(caller.probed));
      hash.add(static_cast<std::uint64_t>(caller.stamp));
      hash.add(caller.last);
    }
    hash.add(key.inside);
    hash.addPast(key.until);
    hash.add(static_cast<std::uint64_t>(key.stamp));
    hash.add(key.granted);
    hash.add(key.grants);
  }
  for (const bool dropped : droppedTables_) hash.add(static_cast<std::uint64_t>(dropped));
  hash.addRange(fencing_);
  hash.add(static_cast<std::uint64_t>(shutDown_));
}

}  // namespace holdfast::protocol
