#include "protocol/membership/proposer.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::protocol {
namespace {

/// A draw in [0, bound], keyed by whose and which it is; nothing is remembered between draws.
Duration keyedPause(const MembershipEnv& env, MembershipNumber number, std::uint32_t attempt,
                    Duration bound) {
  StateHash hash{MonotonicInstant{}};
  hash.add(env.setup.seed);
  hash.add(env.self());
  hash.add(static_cast<std::uint64_t>(number) << 32 | attempt);
  __extension__ using Wide = unsigned __int128;
  return {static_cast<std::int64_t>(static_cast<Wide>(hash.value()) * static_cast<std::uint64_t>(bound.ns) >>
                                    64)};
}

std::size_t needed(const Configuration& present, const MembershipEnv& env) {
  return env.on(Rule::EP5_Majority) ? present.majority() : 1;
}

}  // namespace

void Proposer::backOff(MembershipNumber number, const MembershipEnv& env) {
  phase_ = Phase::backingOff;
  // Doubling until a whole round fits in between.
  const Duration bound = env.options().proposalBackoff * (std::int64_t{1} << std::min(attempts_, 4U));
  env.timers.set(TimerKind::membershipPropose, 0, env.now() + keyedPause(env, number, attempts_, bound));
}

void Proposer::start(const Configuration& present, Configuration wanted, Ballot promised, bool administrative,
                     std::vector<Answer>& out, const MembershipEnv& env) {
  phase_ = Phase::preparing;
  ++attempts_;
  highestCounter_ = std::max(highestCounter_, promised.counter) + 1;
  ballot_ = Ballot{highestCounter_, env.self()};
  sentAt_ = env.now();
  wanted_ = std::move(wanted);
  promises_.clear();
  forced_.reset();
  activateAt_ = MonotonicInstant::longAgo();
  votes_.clear();
  env.timers.set(TimerKind::membershipPropose, 0, env.now() + env.options().proposalTimeout);
  env.observe(obs::ProposalStarted{wanted_.number, ballot_.counter, bitsOf(wanted_), wanted_.ringVersion,
                                   administrative});
  for (const Member& member : present.members) {
    out.push_back(
        {member.node, MembershipPrepare{wanted_.number, ballot_, env.options().ringVersion, start_}});
  }
}

void Proposer::abandon(Cause cause, const MembershipEnv& env) {
  if (inRound()) env.observe(obs::ProposalAbandoned{wanted_.number, ballot_.counter, cause});
  phase_ = Phase::idle;
  env.timers.cancel(TimerKind::membershipPropose, 0);
}

void Proposer::reset(const MembershipEnv& env) {
  if (phase_ != Phase::idle) abandon(Cause::superseded, env);
  attempts_ = 0;
  highestCounter_ = 0;
  votes_.clear();
}

/// EP-14: ballots are counted by the process. One that crashed before its own promise was durable is followed
/// by one that makes the same ballot, perhaps for another value.
bool Proposer::answersThisStart(std::uint64_t start, const MembershipEnv& env) const {
  return start == start_ || !env.on(Rule::EP14_RoundsNameTheStart);
}

void Proposer::onPromise(NodeId from, const MembershipPromise& promise, const Configuration& present,
                         MonotonicInstant carried, std::vector<Answer>& out, const MembershipEnv& env) {
  if (phase_ != Phase::preparing || promise.ballot != ballot_ || promise.number != wanted_.number) return;
  if (!answersThisStart(promise.start, env)) return;
  if (std::find(promises_.begin(), promises_.end(), from) != promises_.end()) return;
  promises_.push_back(from);
  const ProtocolOptions& options = env.options();
  // EP-8: anchored where the promise is received: what the acceptor measured ended its journey only now.
  const MonotonicInstant anchor = env.on(Rule::EP8_AnchorAtReceipt) ? env.now() : sentAt_;
  MonotonicInstant activate = anchor + onAnotherClock(promise.reservation, options);
  if (env.on(Rule::EP8_WaitsOut)) activate = activate + options.maxDelegation + options.skew;
  activateAt_ = std::max(activateAt_, activate);
  // EP-9: what the predecessors are still owed is owed by the successor, too.
  if (promise.carried > Duration{}) {
    activateAt_ = std::max(activateAt_, env.now() + onAnotherClock(promise.carried, options));
  }
  if (promise.accepted) {
    const AcceptedValue& accepted = *promise.accepted;
    activateAt_ = std::max(activateAt_, env.now() + onAnotherClock(accepted.protection, options));
    if (!forced_ || forced_->ballot < accepted.ballot) forced_ = accepted;
  }
  if (promises_.size() < present.majority()) return;
  if (env.on(Rule::EP9_Transitive)) activateAt_ = std::max(activateAt_, carried);
  sendAccept(present, out, env);
}

void Proposer::sendAccept(const Configuration& present, std::vector<Answer>& out, const MembershipEnv& env) {
  phase_ = Phase::accepting;
  // EP-4: what may have been decided already is what has to be decided.
  const bool adopts = forced_.has_value() && env.on(Rule::EP4_AdoptAccepted);
  value_ = AcceptedValue{ballot_, adopts ? forced_->configuration : wanted_, Duration{}};
  if (env.on(Rule::EP9_ProtectionTravels)) value_.protection = std::max(activateAt_ - env.now(), Duration{});
  for (const Member& member : present.members) out.push_back({member.node, MembershipAccept{value_, start_}});
}

void Proposer::onReject(NodeId from, const MembershipReject& reject, const MembershipEnv& env) {
  if (reject.number != wanted_.number || reject.ballot != ballot_ || !inRound()) return;
  if (!answersThisStart(reject.start, env)) return;
  // One acceptor's word suffices: a greater ballot is about, and this one only stands in its way.
  if ((from == env.self() || reject.promised > ballot_) && reject.promised.counter <= kMaxBallotCounter) {
    highestCounter_ = std::max(highestCounter_, reject.promised.counter);
    abandon(Cause::superseded, env);
  }
}

std::optional<Certificate> Proposer::onAccepted(NodeId from, const MembershipAccepted& accepted,
                                                const Configuration& present, const MembershipEnv& env) {
  if (phase_ != Phase::accepting || accepted.ballot != ballot_ || accepted.number != wanted_.number)
    return {};
  if (!answersThisStart(accepted.start, env)) return {};
  // EP-5: a vote counts because its voter sent it, and signs it so that others can tell.
  const bool signedByVoter = accepted.digest == digestOf(value_.configuration) &&
                             accepted.signature == signVote(env.directory(), from, value_);
  if (!signedByVoter && env.on(Rule::EP5_VotesAuthenticated)) {
    env.observe(obs::MessageRefused{from, MessageKind::membershipAccepted, Cause::malformed});
    return {};
  }
  const bool again =
      std::any_of(votes_.begin(), votes_.end(), [&](const Vote& vote) { return vote.voter == from; });
  if (again && env.on(Rule::EP5_VotersDistinct)) return {};
  votes_.push_back({from, accepted.signature});
  if (votes_.size() < needed(present, env)) return {};
  phase_ = Phase::idle;
  env.timers.cancel(TimerKind::membershipPropose, 0);
  std::sort(votes_.begin(), votes_.end(), [](const Vote& a, const Vote& b) { return a.voter < b.voter; });
  env.observe(obs::MembershipDecided{wanted_.number, ballot_.counter, bitsOf(value_.configuration),
                                     value_.configuration.ringVersion, bitsOf(votes_), value_.protection});
  return Certificate{value_, votes_};
}

std::optional<MonotonicInstant> Proposer::activationOf(const Configuration& configuration) const {
  if (votes_.empty() || value_.configuration != configuration) return std::nullopt;
  return activateAt_;
}

void Proposer::addTo(StateHash& hash) const {
  hash.add(phase_);
  hash.addGrowing(Growing::attempt, attempts_);
  hash.addGrowing(Growing::ballot, highestCounter_);
  if (phase_ == Phase::idle && votes_.empty()) return;
  hash.add(ballot_);
  hash.addPast(sentAt_);
  hash.add(wanted_);
  hash.addRange(promises_);
  hash.add(forced_);
  hash.add(activateAt_);
  hash.add(value_);
  hash.addRange(votes_);
}

}  // namespace holdfast::protocol
