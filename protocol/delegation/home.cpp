#include "protocol/delegation/home.hpp"

#include <algorithm>

#include "protocol/canonical_key.hpp"

namespace holdfast::protocol {
namespace {

/// What the incarnation would be if it were drawn (rule TK2_Ordered off): one number for each, in no order.
std::uint32_t drawnIncarnation(const NodeSetup& setup, std::uint32_t incarnation) {
  StateHash draw{MonotonicInstant{}};
  draw.add(setup.seed);
  draw.add(setup.self);
  draw.add(incarnation);
  return static_cast<std::uint32_t>(draw.value() >> 32 | 1);
}

/// Whether the key's own part is a string of bytes (rule RT2_EveryShape off).
bool isBytes(const Env& env, KeyId key) {
  const auto parts = decodeCanonicalKey(env.setup.directory->key(key).canonicalBytes);
  return parts && std::holds_alternative<KeyPart::Bytes>(parts->key.value);
}

}  // namespace

Home::Home(const NodeSetup& setup, std::uint32_t incarnation, MonotonicInstant quarantineUntil, bool trusted)
    : keys_(setup.directory->keyCount()),
      grantsOfTable_(setup.directory->tableCount()),
      grantsOfRequester_(setup.directory->tableCount() * setup.directory->nodeCount()),
      lineage_(setup.directory->keyCount(), setup.options, trusted),
      incarnation_(setup.rules.on(Rule::TK2_Ordered) ? incarnation : drawnIncarnation(setup, incarnation)),
      quarantineUntil_(quarantineUntil) {}

// ---- Requests ---------------------------------------------------------------------------------------------

void Home::onRequest(NodeId from, const LockRequest& request, const Env& env) {
  if (request.key.value >= keys_.size() || !request.request.valid()) {
    env.observe(obs::MessageRefused{from, MessageKind::lockRequest, Cause::malformed});
    return;
  }
  const Cause cause = refusal(from, request, env);
  if (cause != Cause::none) {
    deny(from, request.request, request.key, cause, untilGrants(cause, env), env);
    return;
  }
  Key& state = keys_[request.key.value];
  state.touched = env.now();
  if (state.grant.live && state.grant.expires <= env.now()) expire(state, request.key, env);
  const bool old = duplicate(state, from, request.request);
  // DG-10: what was recalled is not renewed; its delegate waits for its turn like anybody else.
  const bool recalled = state.grant.recalling && env.on(Rule::DG10_RecallStands);
  if (state.grant.live && state.grant.delegate == from && !recalled) {
    requestFromDelegate(state, from, request, old, env);
    return;
  }
  // DG-6: a duplicate never mints a new token. Its original was granted, queued or refused before.
  if (old && env.on(Rule::DG6_NoMintForDuplicate)) return;
  enqueue(state, from, request, env);
  serve(state, request.key, env);
}

Cause Home::refusal(NodeId from, const LockRequest& request, const Env& env) const {
  if (shutDown_) return Cause::shutdown;
  // DG-2: refused before anything is allocated.
  if (!env.membership.isMember(from) && env.on(Rule::DG2_MembersOnly)) return Cause::notMember;
  if (request.membership != env.membership.number() && env.on(Rule::BD3_RefuseSuperseded))
    return Cause::membership;
  // HM-2: equal numbers are no equal maps.
  if (!env.membership.agrees(env.setup, from)) return Cause::membership;
  if (!env.live()) return Cause::homeNoMembership;
  if (!env.distinct()) return Cause::notMember;
  // RT-2: whatever the encoder makes a key of is one. A narrower check would not know its own peers' keys.
  if (!env.on(Rule::RT2_EveryShape) && from != env.setup.self && isBytes(env, request.key))
    return Cause::notHome;
  if (env.homeOf(request.key) != env.setup.self && env.on(Rule::DG1_OneArbiter)) return Cause::notHome;
  if (env.now() < quarantineUntil_ && env.on(Rule::DG9_Quarantine)) return Cause::quarantine;
  // EP-9: whatever the predecessors may still have granted is waited out for every key, moved or not.
  const bool gated = env.on(Rule::EP9_GatesEveryKey) || !env.keptHome(request.key);
  if (!env.membership.active() && gated) return Cause::activation;
  return Cause::none;
}

/// How long asking again is of no use.
Duration Home::untilGrants(Cause cause, const Env& env) const {
  if (cause == Cause::quarantine) return quarantineUntil_ - env.now();
  if (cause == Cause::activation) return env.membership.grantsFrom() - env.now();
  return env.options().retryEvery;
}

/// Why a waiter has to go on waiting: "held by another" is said only when it is another (section 12).
Cause Home::whyWait(const Key& state, NodeId requester) {
  return state.grant.delegate == requester ? Cause::ownGrant : Cause::contended;
}

void Home::deny(NodeId to, RequestId request, KeyId key, Cause cause, Duration retryAfter,
                const Env& env) const {
  env.observe(obs::Denied{key, to, cause});
  env.send(to, LockDeny{env.membership.number(), request, key, cause, retryAfter});
}

bool Home::duplicate(Key& state, NodeId from, RequestId request) {
  for (Seen& seen : state.seen) {
    if (seen.requester != from) continue;
    if (request <= seen.request) return true;
    seen.request = request;
    return false;
  }
  state.seen.push_back({from, request});
  return false;
}

void Home::requestFromDelegate(Key& state, NodeId from, const LockRequest& request, bool old,
                               const Env& env) {
  const bool mintsForDuplicate = !env.on(Rule::DG6_NoMintForDuplicate);
  if (request.request == state.grant.request && !mintsForDuplicate) {
    sendGrant(state, request.key, env);  // the reply may have been lost; the token stays
    return;
  }
  if (old && !mintsForDuplicate) return;
  grant(state, request.key, from, request.request, true, env);
}

void Home::enqueue(Key& state, NodeId from, const LockRequest& request, const Env& env) {
  const MonotonicInstant deadline = env.now() + request.wait;
  for (Waiter& waiter : state.waiters) {
    if (waiter.requester != from) continue;
    // A retry keeps its place and renews the anchor of the grant to come (DG-4).
    waiter.request = std::max(waiter.request, request.request);
    waiter.deadline = deadline;
    armWaiterTimer(state, request.key, env);
    if (state.grant.live) {
      deny(from, waiter.request, request.key, whyWait(state, from), request.wait, env);
    }
    return;
  }
  if (state.waiters.size() >= env.options().waitersPerKey) {
    deny(from, request.request, request.key, Cause::capacity, env.options().retryEvery, env);
    return;
  }
  state.waiters.push_back({from, request.request, deadline});
  armWaiterTimer(state, request.key, env);
  if (!state.grant.live) return;
  env.observe(obs::Queued{request.key, from});
  // The caller cannot tell contention from silence once it has had to ask twice.
  if (request.retry) deny(from, request.request, request.key, whyWait(state, from), request.wait, env);
}

// ---- Grants -----------------------------------------------------------------------------------------------

void Home::serve(Key& state, KeyId key, const Env& env) {
  dropLateWaiters(state, key, env);
  while (!state.grant.live && !state.waiters.empty()) {
    // DG-10: arrival order.
    const auto next = env.on(Rule::DG10_ArrivalOrder) ? state.waiters.begin() : state.waiters.end() - 1;
    const Waiter waiter = *next;
    state.waiters.erase(next);
    if (!env.live() || shutDown_) {
      deny(waiter.requester, waiter.request, key, shutDown_ ? Cause::shutdown : Cause::homeNoMembership,
           env.options().retryEvery, env);
    } else if (!roomFor(key, waiter.requester, env)) {
      deny(waiter.requester, waiter.request, key, Cause::capacity, env.options().retryEvery, env);
    } else {
      grant(state, key, waiter.requester, waiter.request, false, env);
    }
  }
  armWaiterTimer(state, key, env);
  if (state.grant.live && !state.waiters.empty() && !state.grant.recalling) recall(state, key, env);
}

std::uint32_t& Home::requesterCount(KeyId key, NodeId requester, const Env& env) {
  // BD-1: over all tables, or a node would be bound by nothing but their number.
  if (env.on(Rule::BD1_CapsOverTables)) return grantsOfRequester_[requester.value];
  const std::size_t table = env.setup.directory->key(key).table;
  return grantsOfRequester_[table * env.setup.directory->nodeCount() + requester.value];
}

/// BD-1: at a cap the answer is `capacity`, never a forgotten grant.
bool Home::roomFor(KeyId key, NodeId requester, const Env& env) {
  const std::uint16_t table = env.setup.directory->key(key).table;
  if (grantsOfTable_[table] < env.options().grantsPerTable &&
      requesterCount(key, requester, env) < env.options().grantsPerRequester) {
    return true;
  }
  if (env.on(Rule::BD1_Caps)) return false;
  std::size_t oldest = keys_.size();
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Grant& grant = keys_[i].grant;
    if (grant.live && (oldest == keys_.size() || grant.issued < keys_[oldest].grant.issued)) oldest = i;
  }
  if (oldest < keys_.size()) clear(keys_[oldest], KeyId{static_cast<std::uint32_t>(oldest)}, env);
  return true;
}

Token Home::mint(Key& state, KeyId key, const Env& env) {
  std::uint64_t counter = ++counter_;
  if (!env.on(Rule::TK3_TokenOutlivesRecord)) {
    const Record* record = env.replication.record(key);
    if (record == nullptr || record->empty() || record->tombstone()) state.counter = 0;
    counter = ++state.counter;
  }
  return Token{env.membership.number(), incarnation_, counter};
}

void Home::grant(Key& state, KeyId key, NodeId to, RequestId request, bool renewal, const Env& env) {
  if (!renewal) {
    DependencySet unused;
    state.grant.path = lineage_.classify(key, env, unused);
    lineage_.noteDelegated(key, env);
    ++grants_;
    ++grantsOfTable_[env.setup.directory->key(key).table];
    ++requesterCount(key, to, env);
  }
  const Duration margin = env.on(Rule::CK3_SkewMargin) ? env.options().skew : Duration{};
  Grant& grant = state.grant;
  grant.live = true;
  if (grant.recalling)
    env.timers.cancel(TimerKind::recallRetry, key.value);  // only without DG10_RecallStands
  grant.recalling = grant.recalling && renewal;
  grant.renewed = renewal;
  grant.delegate = to;
  grant.token = mint(state, key, env);
  grant.request = request;
  grant.issued = env.now();
  grant.expires = env.now() + env.options().maxDelegation + margin;
  env.timers.set(TimerKind::grantExpiry, key.value, grant.expires);
  env.observe(obs::Granted{key, to, grant.token, grant.path, renewal, env.options().maxDelegation});
  sendGrant(state, key, env);
}

void Home::sendGrant(const Key& state, KeyId key, const Env& env) const {
  const Grant& grant = state.grant;
  LockGrant reply{grant.token, grant.request, key, grant.path, grant.renewed, env.options().maxDelegation,
                  {}};
  if (grant.path != Path::virgin) reply.path = lineage_.classify(key, env, reply.dependencies);
  if (!env.on(Rule::CK2_DurationsOnly)) reply.duration = grant.expires - MonotonicInstant{};
  env.send(grant.delegate, std::move(reply));
}

// ---- Recall -----------------------------------------------------------------------------------------------

void Home::recall(Key& state, KeyId key, const Env& env) {
  Grant& grant = state.grant;
  MonotonicInstant ripe = grant.issued + env.options().minTenure;
  if (grant.path == Path::recovery) ripe = ripe + env.options().barrierTimeout;
  if (!grant.recalling && env.now() < ripe) {
    // A fresh delegate gets the time to admit somebody, or a hot key would travel without serving anyone.
    env.timers.set(TimerKind::recallRetry, key.value, ripe);
    return;
  }
  grant.recalling = true;
  env.observe(obs::RecallSent{key, grant.delegate, grant.token});
  env.timers.set(TimerKind::recallRetry, key.value, env.now() + env.options().recallEvery);
  env.send(grant.delegate, LockRecall{grant.token, key});
  if (!env.on(Rule::DG3_OneDelegate)) {
    clear(state, key, env);
    serve(state, key, env);
  }
}

void Home::onRecallSendFailed(KeyId key, const Env& env) {
  if (key.value >= keys_.size() || !keys_[key.value].grant.live) return;
  Key& state = keys_[key.value];
  env.observe(obs::RecallFailed{key, state.grant.token, Cause::homeUnreachable});
  // DR-6: the retry stays armed; nothing is taken for a release.
  if (env.on(Rule::DR6_NoFabricatedRelease)) return;
  clear(state, key, env);
  serve(state, key, env);
}

// ---- The ends of a grant ----------------------------------------------------------------------------------

void Home::onRelease(NodeId author, Position position, const ReleaseEntry& release, const Env& env) {
  if (release.key.value >= keys_.size() || release.form > ReleaseEntry::kCurrentForm) return;
  Key& state = keys_[release.key.value];
  const Grant& grant = state.grant;
  // FR-4: the author comes from the log the entry stands in; what the entry claims counts for nothing.
  const bool authentic =
      (author == grant.delegate && release.holder == author) || !env.on(Rule::FR4_AuthorBound);
  const bool exact = env.on(Rule::FR4_ExactToken) ? env.sameToken(release.token, grant.token)
                                                  : release.token.counter == grant.token.counter;
  const bool cleared = grant.live && authentic && exact;
  if (cleared || env.homeOf(release.key) == env.setup.self) {
    env.observe(obs::ReleaseSeen{release.key, author, release.token, cleared});
  }
  if (!cleared) return;
  if (release.form < ReleaseEntry::kCurrentForm && env.on(Rule::FR4_OldFormRecovers)) {
    lineage_.lose(release.key, obs::LineageLoss::oldForm, env);
  } else {
    DependencySet merged;
    if (env.on(Rule::FR1_ReleaseCarriesPosition)) {
      // FR-2: the holder's own entry joins what it had inherited.
      if (env.on(Rule::FR2_InheritDependencies)) merged = release.dependencies;
      const bool positions = env.on(Rule::FR3_PositionsNotVersions) && env.on(Rule::FR3_PositionsNotStamps);
      if (positions) merged.require(author, position);
    }
    lineage_.store(release.key, merged, env);
  }
  clear(state, release.key, env);
  serve(state, release.key, env);
}

void Home::onHandBack(NodeId from, const LockHandBack& handBack, const Env& env) {
  if (handBack.key.value >= keys_.size()) {
    env.observe(obs::MessageRefused{from, MessageKind::lockHandBack, Cause::malformed});
    return;
  }
  Key& state = keys_[handBack.key.value];
  const bool cleared =
      state.grant.live && state.grant.delegate == from && env.sameToken(handBack.token, state.grant.token);
  env.observe(obs::HandBackSeen{handBack.key, from, handBack.token, cleared});
  if (!cleared) return;
  if (state.grant.renewed) {
    // Somebody may have been admitted under the token that this one renewed, and its writes are in no set.
    lineage_.lose(handBack.key, obs::LineageLoss::handedBackRenewal, env);
  } else if (state.grant.path == Path::virgin) {
    lineage_.store(handBack.key, DependencySet{}, env);  // delegated, but still never used
  } else if (!env.on(Rule::FR6_HandBackKeepsSet)) {
    lineage_.lose(handBack.key, obs::LineageLoss::handedBackRenewal, env);
  }
  clear(state, handBack.key, env);
  serve(state, handBack.key, env);
}

void Home::expire(Key& state, KeyId key, const Env& env) {
  env.observe(obs::GrantExpired{key, state.grant.delegate, state.grant.token});
  // FR-7: what the delegate wrote is in no dependency set.
  if (env.on(Rule::FR7_ExpiryVoidsLineage)) lineage_.lose(key, obs::LineageLoss::expired, env);
  clear(state, key, env);
}

void Home::clear(Key& state, KeyId key, const Env& env) {
  --grants_;
  --grantsOfTable_[env.setup.directory->key(key).table];
  --requesterCount(key, state.grant.delegate, env);
  state.grant = Grant{};
  state.touched = env.now();
  env.timers.cancel(TimerKind::grantExpiry, key.value);
  env.timers.cancel(TimerKind::recallRetry, key.value);
}

// ---- Waiters and timers -----------------------------------------------------------------------------------

void Home::dropLateWaiters(Key& state, KeyId key, const Env& env) {
  for (std::size_t i = 0; i < state.waiters.size();) {
    if (state.waiters[i].deadline > env.now()) {
      ++i;
      continue;
    }
    const Waiter late = state.waiters[i];
    state.waiters.erase(state.waiters.begin() + static_cast<std::ptrdiff_t>(i));
    if (state.grant.live)
      deny(late.requester, late.request, key, whyWait(state, late.requester), Duration{}, env);
  }
}

void Home::armWaiterTimer(const Key& state, KeyId key, const Env& env) const {
  MonotonicInstant earliest = MonotonicInstant::never();
  for (const Waiter& waiter : state.waiters) earliest = std::min(earliest, waiter.deadline);
  env.timers.set(TimerKind::waiterDeadline, key.value, earliest);
}

void Home::onTimer(TimerKind kind, KeyId key, const Env& env) {
  Key& state = keys_[key.value];
  switch (kind) {
    case TimerKind::grantExpiry:
      if (state.grant.live && state.grant.expires <= env.now()) expire(state, key, env);
      break;
    case TimerKind::recallRetry:
      if (!state.grant.live) break;
      if (state.grant.recalling && !env.on(Rule::DR5_HomeNeverForgets)) {
        clear(state, key, env);
      } else if (state.grant.recalling) {
        recall(state, key, env);
      }
      break;
    default:
      break;
  }
  serve(state, key, env);
}

void Home::onMembership(const Env& env) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const KeyId key{static_cast<std::uint32_t>(i)};
    Key& state = keys_[i];
    // DG-1: nobody waits here for a grant of the old membership. What it granted is waited out by
    // grantsFrom().
    for (const Waiter& waiter : state.waiters) {
      deny(waiter.requester, waiter.request, key, Cause::membership, Duration{}, env);
    }
    state.waiters.clear();
    armWaiterTimer(state, key, env);
    if (state.grant.live) clear(state, key, env);
    // L-2: a change of membership loses the set also after a clean release.
    lineage_.lose(key, obs::LineageLoss::membershipChange, env);
  }
  lineage_.distrust();
}

void Home::shutDown(const Env& env) {
  shutDown_ = true;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const KeyId key{static_cast<std::uint32_t>(i)};
    for (const Waiter& waiter : keys_[i].waiters) {
      deny(waiter.requester, waiter.request, key, Cause::shutdown, env.options().retryEvery, env);
    }
    keys_[i].waiters.clear();
    armWaiterTimer(keys_[i], key, env);
  }
}

std::size_t Home::waiters() const {
  std::size_t count = 0;
  for (const Key& state : keys_) count += state.waiters.size();
  return count;
}

void Home::sweep(const Env& env) {
  // BD-2: duplicates of a key's requests are not expected for longer than a whole delegation.
  const Duration memory = env.options().maxDelegation + env.options().skew;
  for (Key& state : keys_) {
    if (!state.grant.live && state.waiters.empty() && state.touched + memory < env.now()) state.seen.clear();
  }
}

void Home::addTo(StateHash& hash) const {
  for (const Key& state : keys_) {
    const Grant& grant = state.grant;
    hash.add(static_cast<std::uint64_t>(grant.live));
    if (grant.live) {
      hash.add(grant.delegate);
      hash.add(grant.token);
      hash.add(grant.request);
      hash.add(grant.path);
      hash.add(static_cast<std::uint64_t>(grant.recalling) << 1 | static_cast<std::uint64_t>(grant.renewed));
      hash.add(grant.expires);
      hash.add(grant.issued);
    }
    for (const Waiter& waiter : state.waiters) {
      hash.add(waiter.requester);
      hash.add(waiter.request);
      hash.add(waiter.deadline);
    }
    for (const Seen& seen : state.seen) {
      hash.add(seen.requester);
      hash.add(seen.request);
    }
    hash.add(state.touched);
    hash.addGrowing(Growing::token, state.counter);
  }
  hash.add(lineage_);
  hash.addGrowing(Growing::token, counter_);
  hash.add(quarantineUntil_);
  hash.add(static_cast<std::uint64_t>(incarnation_) << 1 | static_cast<std::uint64_t>(shutDown_));
}

}  // namespace holdfast::protocol
