// The side of the others' requests: which of them this participant grants, and when (RA-3).
#include <algorithm>
#include <utility>

#include "protocol/ricart_agrawala/participant.hpp"

namespace holdfast::protocol {

void Participant::onRequest(NodeId requester, const RequestEntry& request, const ParticipantEnv& env) {
  if (request.key.value >= keys_.size() || !isParticipant(requester)) return;
  env.requests.note(requester, request, env.setup.rules);
  advance(request.key, env);
}

/// RA-2: whether the own request comes before `other`.
bool Participant::comesFirst(const Key& state, const OpenRequest& other, const ParticipantEnv& env) const {
  if (env.on(Rule::RA2_NamesBreakTies)) {
    return std::pair(state.stamp, env.setup.self) < std::pair(other.stamp, other.requester);
  }
  // In its private numbering every node is 0 itself, and the greater number goes first.
  return state.stamp < other.stamp;
}

bool Participant::mayGrant(const Key& state, KeyId key, OpenRequest& request, const ParticipantEnv& env) {
  if (request.requester == env.setup.self) return request.stamp == state.stamp;
  request.held = request.held || state.inside.valid();
  if (state.inside.valid()) return !env.on(Rule::RA3_HolderDefers);
  const bool wanted = state.stamp != 0;
  if (wanted && comesFirst(state, request, env) && env.on(Rule::RA3_EarlierDefers)) return false;
  // The grant comes behind everything that was written under the lock (RA-3): what was submitted settles
  // first, and what was staged before an unlock can be submitted no more (LH-4).
  if (env.sessions.settling(key)) return false;
  env.sessions.revoke(key, env);
  return true;
}

void Participant::grantOpen(Key& state, KeyId key, const ParticipantEnv& env) {
  RequestTable::Open& open = env.requests.open(key);
  for (OpenRequest& request : open) {
    if (request.state != GrantState::open || !mayGrant(state, key, request, env)) continue;
    const GrantEntry grant{key, request.requester, request.stamp, request.held};
    if (env.on(Rule::RA3_GrantInLog)) {
      request.state = GrantState::granting;
      env.commits.start(grant, 1, env.context);
      continue;
    }
    env.requests.close(grant);
    if (grant.requester == env.setup.self) {
      count(env.setup.self, 0, grant, env);
    } else {
      env.context.send(grant.requester, LockGrant{tokenOf(grant.requester, grant.stamp),
                                                  RequestId{0, grant.stamp},
                                                  key,
                                                  Path::clean,
                                                  false,
                                                  {},
                                                  {}});
    }
  }
}

/// RA-4: a grant of anything but the request that is under way counts for nothing.
void Participant::count(NodeId grantor, Position position, const GrantEntry& grant,
                        const ParticipantEnv& env) {
  Key& state = keys_[grant.key.value];
  const bool current = state.stamp != 0 && grant.stamp == state.stamp;
  if (grant.requester != env.setup.self || (!current && env.on(Rule::RA4_WithdrawnIsVoid))) return;
  for (Caller& caller : state.callers) {
    if (grant.held && caller.stamp == grant.stamp) caller.last = Cause::contended;
  }
  state.granted.insert(grantor);
  state.grants.require(grantor, position);
}

void Participant::onGrant(NodeId grantor, Position position, const GrantEntry& grant,
                          const ParticipantEnv& env) {
  if (grant.key.value >= keys_.size()) return;
  if (grantor == env.setup.self) env.requests.close(grant);
  count(grantor, position, grant, env);
  advance(grant.key, env);
}

void Participant::onCommitFailed(const PendingCommit& failed, const ParticipantEnv& env) {
  if (const auto* request = std::get_if<RequestEntry>(&failed.entry)) {
    // As long as it is wanted, it is tried again.
    if (keys_[request->key.value].stamp == request->stamp)
      env.commits.start(failed.entry, failed.attempt + 1, env.context);
    return;
  }
  const auto& grant = std::get<GrantEntry>(failed.entry);
  if (OpenRequest* const open = env.requests.find(grant.key, grant.requester, grant.stamp)) {
    open->state = GrantState::open;
    advance(grant.key, env);
  }
}

void Participant::onProgress(const ParticipantEnv& env) {
  // advance() puts a key back as long as it has to wait.
  for (const KeyId key : std::exchange(fencing_, {})) advance(key, env);
}

/// Somebody whose time is nearly up asks whether it waits for this participant. A holder says for how long it
/// may yet be one; who has left says so if that was after the caller came, or after its request was seen.
void Participant::onProbe(NodeId from, const LockRequest& probe, const ParticipantEnv& env) {
  Key& state = keys_[probe.key.value];
  lapseInside(state, probe.key, env);
  LockDeny deny{0, probe.request, probe.key, Cause::contended, {}};
  const Handle* const inside = state.inside.valid() ? env.sessions.find(state.inside) : nullptr;
  const bool since = state.until != MonotonicInstant::longAgo() && env.now() - state.until <= probe.wait;
  const OpenRequest* const open = env.requests.find(probe.key, from, probe.request.sequence);
  if (inside != nullptr) {
    deny.retryAfter = inside->deadline - env.now();
  } else if (!since) {
    if (open == nullptr || !open->held) return;
    deny.request.incarnation = 0;  // about the request, and no caller that came later
  }
  env.context.send(from, deny);
}

void Participant::onDeny(const LockDeny& deny) {
  Key& state = keys_[deny.key.value];
  if (state.stamp == 0 || deny.request.sequence != state.stamp) return;
  const bool inside = deny.retryAfter > Duration{};
  const CallId asker{deny.request.incarnation};
  bool waited = std::ranges::find(state.callers, asker, &Caller::call) != state.callers.end();
  for (Caller& caller : state.callers) {
    if (inside || (asker.valid() ? waited : caller.stamp == state.stamp)) caller.last = Cause::contended;
    // Whoever came later than the one who had asked may have found the key free.
    waited = waited && caller.call != asker;
  }
}

void Participant::onMessage(NodeId from, const Message& message, const ParticipantEnv& env) {
  if (const auto* asked = std::get_if<LockRequest>(&message); asked && asked->key.value < keys_.size()) {
    onProbe(from, *asked, env);
    return;
  }
  if (const auto* deny = std::get_if<LockDeny>(&message); deny && deny->key.value < keys_.size()) {
    onDeny(*deny);
    return;
  }
  const auto* grant = std::get_if<LockGrant>(&message);
  if (grant && grant->key.value < keys_.size() && !env.on(Rule::RA3_GrantInLog)) {
    count(from, 0, GrantEntry{grant->key, env.setup.self, grant->request.sequence, false}, env);
    advance(grant->key, env);
    return;
  }
  env.observe(obs::MessageRefused{from, kindOf(message), Cause::malformed});
}

}  // namespace holdfast::protocol
