// Installing configurations, keeping them live, catching up.

#include "protocol/membership/epoch_membership.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::protocol {
namespace {

Duration patience(const MembershipEnv& env) {
  return env.options().renewEvery * env.options().missedRenewals;
}

}  // namespace

EpochMembership::EpochMembership(const NodeSetup& setup, DurableMembership durable)
    : chain_(setup),
      proposer_(durable.start),
      lease_(durable.start),
      joiner_(durable.start),
      found_(std::move(durable)),
      identity_(found_.disk),
      start_(found_.start) {
  if (!found_.corrupted) founded_ = chain_.restore(found_.chain);
  found_.chain.clear();
  adoptHead();
}

void EpochMembership::adoptHead() {
  const auto nodesOf = [](const Configuration* configuration) {
    std::vector<NodeId> nodes;
    if (configuration == nullptr) return nodes;
    for (const Member& member : configuration->members) nodes.push_back(member.node);
    return nodes;
  };
  members_ = nodesOf(&chain_.current());
  predecessors_ = nodesOf(chain_.predecessor());
  former_ = chain_.formerMembers();
}

bool EpochMembership::isMember(NodeId node) const {
  return std::binary_search(members_.begin(), members_.end(), node);
}

bool EpochMembership::selfIsMember(const MembershipEnv& env) const {
  // EP-11: what the same name did with an earlier disk is not known here.
  if (!env.on(Rule::EP11_BlankIsJoining)) return chain_.current().contains(env.self());
  return chain_.current().contains(Member{env.self(), identity_});
}

const Configuration& EpochMembership::newest() const {
  return keeping_.empty() ? chain_.current() : keeping_.back().certificate.value.configuration;
}

// ---- Start ------------------------------------------------------------------------------------------------

MembershipChange EpochMembership::boot(const MembershipEnv& env) {
  MembershipChange change;
  listen(env);
  if (founded_) {
    acceptor_.restore(found_.acceptor, number() + 1, env);
    acceptor_.reserveAfterRestart(env);
    // EP-9: the clock may be another one; what the configuration came with is waited out once more.
    protectedUntil_ = env.now() + onAnotherClock(chain_.head().value.protection, env.options());
    change = begin(env);
  } else if ((identity_ == 0 && !found_.corrupted && selfIsMember(env)) ||
             (!env.on(Rule::EP11_BlankIsJoining) && selfIsMember(env))) {
    // A founder holds the first certificate by birth, and acts on it once it is durable (EP-5).
    change = keep(chain_.head(), env);
  } else {
    joiner_.begin(found_.corrupted ? obs::JoiningReason::corrupted : obs::JoiningReason::blank, identity_,
                  env);
    acceptor_.begin(number() + 1);
    change = renew(env);
  }
  found_ = {};
  change |= drain(env);
  return change;
}

/// The chain is durable and its head is what this node goes by.
MembershipChange EpochMembership::begin(const MembershipEnv& env) {
  founded_ = true;
  listen(env);
  observeInstalled(env);
  return renew(env);
}

/// Everybody is given the time to renew once more.
void EpochMembership::listen(const MembershipEnv& env) {
  silentAfter_.assign(members_.size(), env.now() + patience(env));
}

void EpochMembership::observeInstalled(const MembershipEnv& env) {
  const Certificate& head = chain_.head();
  const Duration wait = std::max(protectedUntil_ - env.now(), Duration{});
  env.observe(obs::MembershipInstalled{number(), bitsOf(chain_.current()), ringVersion(), bitsOf(head.votes),
                                       protectedUntil_ == MonotonicInstant::longAgo() ? Duration{} : wait});
  active_ = false;
  env.timers.set(TimerKind::membershipActivate, 0, std::max(protectedUntil_, env.now()));
}

// ---- Inputs -----------------------------------------------------------------------------------------------

MembershipChange EpochMembership::onMessage(NodeId from, const Message& message, const MembershipEnv& env) {
  MembershipChange change = dispatch(from, message, env);
  change |= drain(env);
  return change;
}

MembershipChange EpochMembership::dispatch(NodeId from, const Message& message, const MembershipEnv& env) {
  if (const auto* renewal = std::get_if<MembershipRenew>(&message)) return onRenew(from, *renewal, env);
  if (const auto* ack = std::get_if<MembershipRenewAck>(&message)) return onRenewAck(from, *ack, env);
  if (const auto* prepare = std::get_if<MembershipPrepare>(&message)) return onPrepare(from, *prepare, env);
  if (const auto* accept = std::get_if<MembershipAccept>(&message)) return onAccept(from, *accept, env);
  if (const auto* certificates = std::get_if<MembershipCertificates>(&message)) {
    return onCertificates(from, *certificates, env);
  }
  if (const auto* query = std::get_if<MembershipQuery>(&message)) return onQuery(from, *query, env);
  return onVote(from, message, env);
}

/// What the roles of this node have said to each other meanwhile, and what that leads to.
MembershipChange EpochMembership::drain(const MembershipEnv& env) {
  MembershipChange change;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const Message message = std::move(own_[i]);
    change |= dispatch(env.self(), message, env);
  }
  own_.clear();
  return change;
}

void EpochMembership::deliver(std::optional<Answer> answer, const MembershipEnv& env) {
  if (!answer) return;
  if (answer->to == env.self()) {
    own_.push_back(std::move(answer->message));
  } else {
    env.send(answer->to, std::move(answer->message));
  }
}

MembershipChange EpochMembership::onTimer(TimerKind timer, const MembershipEnv& env) {
  MembershipChange change;
  switch (timer) {
    case TimerKind::membershipRenew:
      change = renew(env);
      considerProposal(env);
      break;
    case TimerKind::membershipLapse:
      lease_.onLapse(number(), env);
      break;
    case TimerKind::membershipPropose:
      change = onProposeTimer(env);
      break;
    case TimerKind::membershipActivate:
      if (active_ || env.now() < protectedUntil_ || !founded_) break;
      active_ = true;
      change.ready = true;
      env.observe(obs::MembershipActive{number()});
      break;
    default:
      break;
  }
  change |= drain(env);
  return change;
}

MembershipChange EpochMembership::onPersisted(const PersistDone& done, const MembershipEnv& env) {
  MembershipChange change;
  if (done.record == RecordKind::acceptor) {
    deliver(acceptor_.onPersisted(done, protectedUntil_, env), env);
  } else if (done.record == RecordKind::certificate) {
    change = onKept(done, env);
  }
  change |= drain(env);
  return change;
}

/// What has become durable is installed in the order of the numbers; answers of the disk may overtake others.
MembershipChange EpochMembership::onKept(const PersistDone& done, const MembershipEnv& env) {
  const auto kept = std::find_if(keeping_.begin(), keeping_.end(),
                                 [&](const Keeping& k) { return k.sequence == done.sequence; });
  if (kept == keeping_.end()) return {};
  if (done.failed) {
    // Nothing that depends on it has happened; it is written again, with what came behind it.
    for (auto later = kept; later != keeping_.end(); ++later) {
      later->sequence = ++certificateSequence_;
      later->durable = false;
      env.persist(later->certificate, later->sequence);
    }
    return {};
  }
  kept->durable = true;
  MembershipChange change;
  while (!keeping_.empty() && keeping_.front().durable) {
    Certificate durable = std::move(keeping_.front().certificate);
    keeping_.erase(keeping_.begin());
    change |= install(std::move(durable), env);
  }
  return change;
}

// ---- Lease ------------------------------------------------------------------------------------------------

MembershipChange EpochMembership::renew(const MembershipEnv& env) {
  env.timers.set(TimerKind::membershipRenew, 0, env.now() + env.options().renewEvery);
  MembershipChange change;
  if (founded_ && selfIsMember(env)) {
    // EP-7: the node's own acknowledgement is a reservation like any other's, and ends like any other's
    // (EP-3).
    const bool votes = mayVote(env) && (!acceptor_.retired() || !env.on(Rule::EP3_PromiseRetires));
    if (votes) acceptor_.reserve(number(), env.self(), env);
    change.live = lease_.renew(number(), members_, votes, env);
  }
  if (!founded_ || !selfIsMember(env) || joiner_.joining()) {
    // EP-13: a former member asks to be one again; a node that never was one waits for an operator.
    const auto& dismissed = chain_.current().dismissed;
    const bool former = chain_.everMember(env.self()) && env.options().rejoin &&
                        !std::binary_search(dismissed.begin(), dismissed.end(), env.self());
    joiner_.ask(chain_.current(), identity_, former && !selfIsMember(env), env);
  }
  return change;
}

MembershipChange EpochMembership::onRenew(NodeId from, const MembershipRenew& renew,
                                          const MembershipEnv& env) {
  const auto refuseFor = [&](Cause cause) {
    env.observe(obs::MessageRefused{from, MessageKind::membershipRenew, cause});
    return MembershipChange{};
  };
  if (renew.ringVersion != env.options().ringVersion && env.on(Rule::RT3_VersionsAgree)) {
    return refuseFor(Cause::version);
  }
  if (renew.number != number()) {
    noteNewer(from, renew.number, env);
    // EP-11: who is behind catches up by certificates.
    if (renew.number < number() && founded_) {
      env.send(from, MembershipCertificates{number(), chain_.after(renew.number), 0});
    }
    return refuseFor(Cause::membership);
  }
  if (!isMember(from)) return refuseFor(Cause::notMember);
  const auto position = std::lower_bound(members_.begin(), members_.end(), from) - members_.begin();
  // EP-6: renewal is the liveness signal.
  silentAfter_[static_cast<std::size_t>(position)] = env.now() + patience(env);
  if (!mayVote(env)) return refuseFor(Cause::noMembership);
  // EP-3: who has promised the successor keeps the present configuration alive no longer.
  if (acceptor_.retired() && env.on(Rule::EP3_PromiseRetires)) return refuseFor(Cause::superseded);
  acceptor_.reserve(number(), from, env);
  env.send(from, MembershipRenewAck{number(), renew.sequence, renew.start});
  return {};
}

MembershipChange EpochMembership::onRenewAck(NodeId from, const MembershipRenewAck& ack,
                                             const MembershipEnv& env) {
  if (ack.number != number() || !isMember(from) || !selfIsMember(env)) {
    env.observe(obs::MessageRefused{from, MessageKind::membershipRenewAck, Cause::membership});
    return {};
  }
  MembershipChange change;
  change.live = lease_.acknowledge(from, ack, members_.size(), env);
  return change;
}

// ---- Certificates -----------------------------------------------------------------------------------------

void EpochMembership::noteNewer(NodeId from, MembershipNumber number, const MembershipEnv& env) const {
  if (number > newest().number && from != env.self()) {
    // Nobody counts who answers this: a joiner asks for itself.
    env.send(from, MembershipQuery{newest().number, identity_, false, 0});
  }
}

MembershipChange EpochMembership::onQuery(NodeId from, const MembershipQuery& query,
                                          const MembershipEnv& env) {
  if (!founded_ || joiner_.joining()) return {};  // what it does not know for sure it does not pass on
  if (!chain_.current().contains(Member{from, query.identity})) {
    candidates_.note({from, query.identity}, query.join, env);
  }
  env.send(from, MembershipCertificates{number(), chain_.after(query.number), query.start});
  return {};
}

MembershipChange EpochMembership::onCertificates(NodeId from, const MembershipCertificates& message,
                                                 const MembershipEnv& env) {
  if (message.certificates.size() > kMaxCertificatesPerMessage) {
    env.observe(obs::CertificateRefused{from, message.head, obs::CertificateFault::oversized});
    return {};
  }
  MembershipChange change;
  for (const Certificate& certificate : message.certificates) {
    // Answers overlap: what is installed is passed over as long as something newer follows.
    const bool last = &certificate == &message.certificates.back();
    if (certificate.number() <= newest().number && !last && env.on(Rule::EP11_RefuseOlder)) continue;
    const bool known = certificate.number() == newest().number &&
                       certificate.value.configuration == newest();  // the same news from somebody else
    if (known) continue;
    if (refuse(from, certificate, env)) break;
    change |= keep(certificate, env);
  }
  // EP-11: its answer counts once everything that it knows is known here.
  if (isMember(from)) joiner_.heard(from, message.head, message.answers, newest(), env);
  return change;
}

/// EP-5, EP-11, RT-3: whether the certificate is not to be acted on; says why.
bool EpochMembership::refuse(NodeId from, const Certificate& certificate, const MembershipEnv& env) const {
  const Configuration* predecessor = &newest();
  const MembershipNumber number = certificate.number();
  // Without EP-11 an older certificate takes the chain back to where it stood.
  if (!env.on(Rule::EP11_RefuseOlder) && number > 1 && number <= predecessor->number) {
    predecessor = chain_.at(number - 1);
  }
  if (predecessor == nullptr) predecessor = &newest();
  auto proved = verify(env.directory(), *predecessor, certificate, env.setup.rules);
  if (proved && certificate.value.configuration.ringVersion != env.options().ringVersion &&
      env.on(Rule::RT3_VersionsAgree)) {
    proved = std::unexpected(obs::CertificateFault::version);
  }
  if (!proved) env.observe(obs::CertificateRefused{from, number, proved.error()});
  return !proved;
}

/// EP-5: the certificate becomes durable first, and then the acting configuration.
MembershipChange EpochMembership::keep(Certificate certificate, const MembershipEnv& env) {
  const bool next = certificate.number() == newest().number + 1 || certificate.number() == 1;
  if (!next && env.on(Rule::EP11_RefuseOlder)) return {};
  if (!env.on(Rule::EP5_DurableChain)) return install(std::move(certificate), env);
  keeping_.push_back({++certificateSequence_, certificate, false});
  env.persist(std::move(certificate), certificateSequence_);
  return {};
}

MembershipChange EpochMembership::install(Certificate certificate, const MembershipEnv& env) {
  if (certificate.number() == 1) {  // a founder's own
    acceptor_.begin(2);
    return begin(env);
  }
  if (!env.on(Rule::EP11_RefuseOlder)) chain_.rewindBefore(certificate.number());
  if (certificate.number() != number() + 1) return {};
  MembershipChange change;
  change.installed = true;
  change.oldDeadline = lease_.deadline();
  const bool decidedHere = proposer_.activationOf(certificate.value.configuration).has_value();
  protect(certificate, env);
  chain_.append(std::move(certificate));
  adoptHead();
  candidates_.forget(chain_.current());
  acceptor_.begin(number() + 1);
  proposer_.reset(env);
  if (admin_ && fulfilled(*admin_, env)) admin_.reset();
  lease_.reset(env);
  change |= begin(env);
  if (decidedHere) announce(env);
  return change;
}

/// EP-8, EP-9: until when this node grants nothing under the configuration. Each of the ways to know of the
/// protection is safe by itself, for each counts from an instant after it was measured; the earliest end
/// holds.
void EpochMembership::protect(const Certificate& certificate, const MembershipEnv& env) {
  const Configuration& configuration = certificate.value.configuration;
  MonotonicInstant until = env.now() + onAnotherClock(certificate.value.protection, env.options());
  if (!env.on(Rule::EP9_ProtectionTravels)) until = MonotonicInstant::longAgo();
  if (const auto accepted = acceptor_.protectionOf(configuration)) until = std::min(until, *accepted);
  if (const auto own = proposer_.activationOf(configuration)) {
    until = env.on(Rule::EP9_ProtectionTravels) ? std::min(until, *own) : *own;
  }
  // EP-9: what is still owed to earlier configurations stays owed.
  protectedUntil_ = env.on(Rule::EP9_Transitive) ? std::max(protectedUntil_, until) : until;
}

/// The certificate to all whom it concerns; whoever misses it learns by its renewals (EP-11).
void EpochMembership::announce(const MembershipEnv& env) const {
  NodeSet told;
  const auto tell = [&](NodeId node) {
    if (node == env.self() || told.contains(node)) return;
    told.insert(node);
    env.send(node, MembershipCertificates{number(), {chain_.head()}, 0});
  };
  for (const NodeId member : members_) tell(member);
  for (const NodeId member : predecessors_) tell(member);
}

// ---- Hash -------------------------------------------------------------------------------------------------

void EpochMembership::addTo(StateHash& hash) const {
  hash.add(chain_);
  hash.add(acceptor_);
  hash.add(proposer_);
  hash.add(lease_);
  hash.add(joiner_);
  hash.add(candidates_);
  hash.add(start_);
  hash.add(static_cast<std::uint64_t>(identity_) << 2 | static_cast<std::uint64_t>(founded_) << 1 |
           static_cast<std::uint64_t>(active_));
  hash.addRange(silentAfter_);
  hash.add(protectedUntil_);
  hash.add(static_cast<std::uint64_t>(admin_.has_value()));
  if (admin_) {
    hash.add(*admin_);
    hash.add(static_cast<std::uint64_t>(std::min(proposer_.attempts(), kMaxAdminAttempts)));
  }
  // EP-2: the next round's ballot is greater than what was promised, and than what the last round has met.
  hash.noteFloor(std::max(proposer_.highestCounter(), acceptor_.promised().counter));
  for (const Keeping& kept : keeping_) hash.add(kept.certificate);
}

}  // namespace holdfast::protocol
