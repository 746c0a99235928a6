// Votes, and when a proposal is due.

#include <algorithm>
#include <utility>

#include "protocol/membership/epoch_membership.hpp"

namespace holdfast::protocol {
namespace {

void dismiss(Configuration& configuration, NodeId node) {
  std::erase_if(configuration.members, [&](Member m) { return m.node == node; });
  auto& dismissed = configuration.dismissed;
  const auto at = std::lower_bound(dismissed.begin(), dismissed.end(), node);
  if (at == dismissed.end() || *at != node) dismissed.insert(at, node);
}

void admit(Configuration& configuration, Member member) {
  std::erase(configuration.dismissed, member.node);
  std::erase_if(configuration.members, [&](Member m) { return m.node == member.node; });
  configuration.members.insert(
      std::lower_bound(configuration.members.begin(), configuration.members.end(), member), member);
}

}  // namespace

// ---- Acceptor ---------------------------------------------------------------------------------------------

Cause EpochMembership::ballotRefusal(NodeId from, const Ballot& ballot, std::uint32_t ringVersion,
                                     const MembershipEnv& env) const {
  // EP-1: a ballot is its proposer's own.
  if (!ballot.valid() || ballot.counter > kMaxBallotCounter || ballot.proposer != from)
    return Cause::malformed;
  if (!isMember(from)) return Cause::notMember;
  if (ringVersion != env.options().ringVersion && env.on(Rule::RT3_VersionsAgree)) return Cause::version;
  // EP-11: no acceptor without a certificate for the configuration that votes.
  if (!mayVote(env)) return Cause::noMembership;
  return Cause::none;
}

MembershipChange EpochMembership::onPrepare(NodeId from, const MembershipPrepare& prepare,
                                            const MembershipEnv& env) {
  Cause cause = ballotRefusal(from, prepare.ballot, prepare.ringVersion, env);
  if (cause == Cause::none && prepare.number != number() + 1) {
    cause = Cause::membership;
    if (prepare.number > number() + 1) noteNewer(from, prepare.number - 1, env);
    if (prepare.number <= number() && prepare.number > 0) {
      env.send(from, MembershipCertificates{number(), chain_.after(prepare.number - 1), 0});
    }
  }
  if (cause != Cause::none) {
    env.observe(obs::MessageRefused{from, MessageKind::membershipPrepare, cause});
    return {};
  }
  deliver(acceptor_.onPrepare(from, prepare, protectedUntil_, env), env);
  // Somebody else leads: this node waits for its turn.
  if (from != env.self() && proposer_.phase() == Proposer::Phase::backingOff) {
    env.timers.set(TimerKind::membershipPropose, 0, env.now() + env.options().proposalTimeout * 2);
  }
  return {};
}

MembershipChange EpochMembership::onAccept(NodeId from, const MembershipAccept& accept,
                                           const MembershipEnv& env) {
  const AcceptedValue& value = accept.value;
  Cause cause = ballotRefusal(from, value.ballot, value.configuration.ringVersion, env);
  if (cause == Cause::none && value.configuration.number != number() + 1) cause = Cause::membership;
  if (cause == Cause::none &&
      (!wellFormed(env.directory(), value.configuration) || !plausible(value.protection))) {
    cause = Cause::malformed;
  }
  if (cause != Cause::none) {
    env.observe(obs::MessageRefused{from, MessageKind::membershipAccept, cause});
    return {};
  }
  deliver(acceptor_.onAccept(from, accept, env), env);
  return {};
}

// ---- Proposer ---------------------------------------------------------------------------------------------

MembershipChange EpochMembership::onVote(NodeId from, const Message& message, const MembershipEnv& env) {
  const Configuration& present = chain_.current();
  if (!present.contains(from) && env.on(Rule::EP5_VotersAreMembers)) {
    env.observe(obs::MessageRefused{from, kindOf(message), Cause::notMember});
    return {};
  }
  std::vector<Answer> out;
  MembershipChange change;
  if (const auto* promise = std::get_if<MembershipPromise>(&message)) {
    const bool sane = plausible(promise->reservation) && plausible(promise->carried) &&
                      (!promise->accepted || (wellFormed(env.directory(), promise->accepted->configuration) &&
                                              promise->accepted->configuration.number == promise->number &&
                                              plausible(promise->accepted->protection)));
    if (sane) {
      proposer_.onPromise(from, *promise, present, protectedUntil_, out, env);
    } else {
      env.observe(obs::MessageRefused{from, MessageKind::membershipPromise, Cause::malformed});
    }
  } else if (const auto* reject = std::get_if<MembershipReject>(&message)) {
    const bool before = proposer_.inRound();
    proposer_.onReject(from, *reject, env);
    if (before && !proposer_.inRound() && wanted(env)) proposer_.backOff(number() + 1, env);
  } else if (const auto* accepted = std::get_if<MembershipAccepted>(&message)) {
    if (auto certificate = proposer_.onAccepted(from, *accepted, present, env)) {
      change = keep(std::move(*certificate), env);
    }
  }
  for (Answer& answer : out) deliver(std::move(answer), env);
  return change;
}

MembershipChange EpochMembership::onProposeTimer(const MembershipEnv& env) {
  if (proposer_.inRound()) {
    proposer_.abandon(Cause::homeUnreachable, env);
    if (admin_ && proposer_.attempts() >= kMaxAdminAttempts) admin_.reset();
    if (wanted(env)) proposer_.backOff(number() + 1, env);
    return {};
  }
  if (proposer_.phase() != Proposer::Phase::backingOff) return {};
  // What was due when the pause began may have been settled by somebody else meanwhile.
  if (auto configuration = wanted(env)) {
    startRound(std::move(*configuration), env);
  } else {
    proposer_.abandon(Cause::none, env);
  }
  return {};
}

void EpochMembership::startRound(Configuration wanted, const MembershipEnv& env) {
  std::vector<Answer> out;
  proposer_.start(chain_.current(), std::move(wanted), acceptor_.promised(), admin_.has_value(), out, env);
  for (Answer& answer : out) deliver(std::move(answer), env);
}

void EpochMembership::considerProposal(const MembershipEnv& env) {
  if (!proposer_.idle() || !keeping_.empty() || !wanted(env)) return;
  proposer_.backOff(number() + 1, env);
}

bool EpochMembership::silent(std::size_t member, const MembershipEnv& env) const {
  if (members_[member] == env.self()) return false;
  return env.now() > silentAfter_[member];
}

/// EP-3: this node has promised a successor that nobody has decided since, so that nothing is renewed.
bool EpochMembership::stalled(const MembershipEnv& env) const { return env.now() >= acceptor_.stallsAt(); }

std::optional<Configuration> EpochMembership::wanted(const MembershipEnv& env) const {
  if (!mayVote(env)) return std::nullopt;
  const ProtocolOptions& options = env.options();
  Configuration next = chain_.current();
  next.number = number() + 1;
  next.ringVersion = options.ringVersion;
  std::size_t heard = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!silent(i, env)) {
      ++heard;
    } else if (next.members.size() > options.minMembers) {
      std::erase_if(next.members, [&](Member m) { return m.node == members_[i]; });
    }
  }
  // Agreement needs a majority of the present members; who does not hear one is on the wrong side of a cut.
  if (heard < chain_.current().majority()) return std::nullopt;
  if (options.rejoin) {
    for (const Member& member : candidates_.wantingIn(env)) {
      // Whom an operator has removed only an operator brings back.
      if (!std::binary_search(next.dismissed.begin(), next.dismissed.end(), member.node)) admit(next, member);
    }
  }
  if (admin_) {
    if (admin_->remove.valid() && admin_->remove != admin_->add) dismiss(next, admin_->remove);
    if (const Member* added = candidates_.find(admin_->add, env)) admit(next, *added);
  }
  const bool changes = next.members != chain_.current().members;  // also when somebody was dismissed
  if (next.members.empty() || next.members.size() > kMaxMembers || next.dismissed.size() > kMaxMembers ||
      (!changes && !stalled(env))) {
    return std::nullopt;
  }
  return next;
}

// ---- Operator ---------------------------------------------------------------------------------------------

Cause EpochMembership::adminRefusal(const AdminProposeMembership& change, const MembershipEnv& env) const {
  const bool adds = change.add.valid();
  if (!adds && !change.remove.valid()) return Cause::malformed;
  if (!mayVote(env)) return Cause::noMembership;
  // EP-13: a node is admitted with the identity that it has made known itself.
  const bool known = candidates_.find(change.add, env) != nullptr;
  if (adds && !known && (!isMember(change.add) || change.add == change.remove)) return Cause::notMember;
  return Cause::none;
}

/// Whether the current configuration is what the operator wanted.
bool EpochMembership::fulfilled(const AdminProposeMembership& change, const MembershipEnv& env) const {
  const bool added =
      !change.add.valid() || (isMember(change.add) && candidates_.find(change.add, env) == nullptr);
  const bool removed = !change.remove.valid() || change.remove == change.add || !isMember(change.remove);
  return added && removed;
}

MembershipChange EpochMembership::propose(const AdminProposeMembership& change, const MembershipEnv& env) {
  const Cause refusal = adminRefusal(change, env);
  if (refusal != Cause::none || env.now() >= lease_.deadline()) {
    env.observe(
        obs::ProposalAbandoned{number() + 1, 0, refusal == Cause::none ? Cause::noMembership : refusal});
    return {};
  }
  admin_ = change;
  MembershipChange result;
  auto configuration = wanted(env);
  if (!configuration) {
    admin_.reset();  // it is so already, or no majority is heard
    env.observe(obs::ProposalAbandoned{number() + 1, 0, Cause::none});
  } else if (!env.on(Rule::EP13_SameAgreement)) {
    // Without agreement: what this node was told is what is.
    AcceptedValue value{Ballot{1, env.self()}, std::move(*configuration), Duration{}};
    const Vote vote{env.self(), signVote(env.directory(), env.self(), value)};
    result = keep(Certificate{std::move(value), {vote}}, env);
  } else if (!proposer_.inRound()) {
    startRound(std::move(*configuration), env);
  }
  result |= drain(env);
  return result;
}

}  // namespace holdfast::protocol
