#include "protocol/membership/acceptor.hpp"

#include <algorithm>

namespace holdfast::protocol {
namespace {

Duration left(MonotonicInstant until, MonotonicInstant now) { return std::max(until - now, Duration{}); }

/// EP-1: counter first, then the proposer's name. Without the rule equal counters count as equal ballots.
bool below(const Ballot& a, const Ballot& b, const MembershipEnv& env) {
  return env.on(Rule::EP1_TotalOrder) ? a < b : a.counter < b.counter;
}

}  // namespace

Duration onAnotherClock(Duration duration, const ProtocolOptions& options) {
  constexpr std::int64_t kOne = 1'000'000'000;
  const std::int64_t ppb = options.rateErrorPpb;
  const std::int64_t rest = (duration.ns % kOne) * ppb;
  return {duration.ns + duration.ns / kOne * ppb + (rest + kOne - 1) / kOne};
}

void Acceptor::restore(const AcceptorRecord& durable, MembershipNumber next, const MembershipEnv& env) {
  begin(next);
  // EP-12: without the durable record a quorum that meets in this node could decide twice.
  if (durable.number != next || !env.on(Rule::EP12_DurableAcceptors)) return;
  record_ = durable;
  if (retired()) retire(record_.promised, env);
  // The clock may be another one since: the whole protection is counted again (EP-9).
  if (record_.accepted)
    acceptedUntil_ = env.now() + onAnotherClock(record_.accepted->protection, env.options());
}

void Acceptor::reserveAfterRestart(const MembershipEnv& env) {
  // EP-10: nobody knows any more which renewals were acknowledged, so all epochs count as renewed just now.
  if (!env.on(Rule::EP10_RestartReserves)) return;
  reservedUntil_ = env.now() + env.options().epochLease + env.options().skew;
}

void Acceptor::begin(MembershipNumber next) {
  record_ = AcceptorRecord{next, {}, std::nullopt};
  acceptedUntil_ = MonotonicInstant::longAgo();
  stallsAt_ = MonotonicInstant::never();
  pending_.clear();
}

void Acceptor::reserve(MembershipNumber number, NodeId holder, const MembershipEnv& env) {
  // EP-7: the holder's lease counts from its send, which was before now.
  const Duration remaining = env.options().epochLease + env.options().skew;
  reservedUntil_ = std::max(reservedUntil_, env.now() + remaining);
  env.observe(obs::ReservationMade{number, holder, remaining});
}

std::optional<Answer> Acceptor::onPrepare(NodeId from, const MembershipPrepare& prepare,
                                          MonotonicInstant carried, const MembershipEnv& env) {
  // EP-2: greater than every ballot promised; a copy of the one just promised is answered by that one's
  // answer.
  if (prepare.ballot == record_.promised) return std::nullopt;
  if (below(prepare.ballot, record_.promised, env)) {
    return Answer{from, MembershipReject{prepare.number, prepare.ballot, record_.promised, prepare.start}};
  }
  retire(prepare.ballot, env);
  return write({0, from, prepare.ballot, false, prepare.start}, Rule::EP2_PersistPromise, carried, env);
}

std::optional<Answer> Acceptor::onAccept(NodeId from, const MembershipAccept& accept,
                                         const MembershipEnv& env) {
  const AcceptedValue& value = accept.value;
  if (below(value.ballot, record_.promised, env)) {
    return Answer{from,
                  MembershipReject{value.configuration.number, value.ballot, record_.promised, accept.start}};
  }
  if (record_.accepted && record_.accepted->ballot == value.ballot) return std::nullopt;  // a copy
  retire(value.ballot, env);
  record_.accepted = value;
  // EP-9: a deadline of this node's own from here on.
  acceptedUntil_ = env.now() + onAnotherClock(value.protection, env.options());
  return write({0, from, value.ballot, true, accept.start}, Rule::EP4_PersistAccepted, {}, env);
}

/// EP-3: from here on the present configuration is not renewed here.
void Acceptor::retire(const Ballot& ballot, const MembershipEnv& env) {
  record_.promised = ballot;
  if (stallsAt_ == MonotonicInstant::never()) stallsAt_ = env.now() + env.options().proposalTimeout * 2;
}

std::optional<Answer> Acceptor::write(Pending pending, Rule rule, MonotonicInstant carried,
                                      const MembershipEnv& env) {
  // EP-2, EP-4: durable before it is answered.
  if (!env.on(rule)) return answer(pending, carried, env);
  pending.sequence = ++sequence_;
  pending_.push_back(pending);
  env.persist(record_, sequence_);
  return std::nullopt;
}

std::optional<Answer> Acceptor::onPersisted(const PersistDone& done, MonotonicInstant carried,
                                            const MembershipEnv& env) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const Pending& p) { return p.sequence == done.sequence; });
  if (found == pending_.end()) return std::nullopt;
  const Pending pending = *found;
  pending_.erase(found);
  // A promise that is not durable is none; it stays in force here, which costs nothing but a round.
  if (done.failed) return std::nullopt;
  return answer(pending, carried, env);
}

Answer Acceptor::answer(const Pending& pending, MonotonicInstant carried, const MembershipEnv& env) const {
  if (record_.promised != pending.ballot) {
    return {pending.to, MembershipReject{record_.number, pending.ballot, record_.promised, pending.start}};
  }
  return pending.acceptance ? acceptance(pending, env) : promise(pending, carried, env);
}

Answer Acceptor::promise(const Pending& pending, MonotonicInstant carried, const MembershipEnv& env) const {
  MembershipPromise promise;
  promise.number = record_.number;
  promise.ballot = pending.ballot;
  promise.start = pending.start;
  // EP-7: as durations, measured now; the proposer counts them from the receipt (EP-8).
  if (env.on(Rule::EP7_Reservation)) promise.reservation = left(reservedUntil_, env.now());
  if (env.on(Rule::EP9_Transitive)) promise.carried = left(carried, env.now());
  // EP-2: what was accepted before goes along.
  if (record_.accepted && env.on(Rule::EP2_ReportAccepted)) {
    promise.accepted = record_.accepted;
    promise.accepted->protection = left(acceptedUntil_, env.now());
  }
  env.observe(obs::MembershipPromised{promise.number, pending.ballot.counter, pending.ballot.proposer,
                                      promise.reservation, promise.carried, promise.accepted.has_value()});
  return {pending.to, std::move(promise)};
}

Answer Acceptor::acceptance(const Pending& pending, const MembershipEnv& env) const {
  const AcceptedValue& value = *record_.accepted;
  env.observe(obs::MembershipAccepted{record_.number, value.ballot.counter, value.ballot.proposer,
                                      bitsOf(value.configuration), value.configuration.ringVersion,
                                      value.protection});
  return {pending.to, MembershipAccepted{record_.number, value.ballot, digestOf(value.configuration),
                                         signVote(env.directory(), env.self(), value), pending.start}};
}

std::optional<MonotonicInstant> Acceptor::protectionOf(const Configuration& configuration) const {
  if (!record_.accepted || record_.accepted->configuration != configuration) return std::nullopt;
  return acceptedUntil_;
}

void Acceptor::addTo(StateHash& hash) const {
  hash.add(record_);
  hash.add(stallsAt_);
  hash.add(reservedUntil_);
  hash.add(acceptedUntil_);
  for (const Pending& pending : pending_) {
    hash.add(pending.to);
    hash.add(pending.ballot);
    hash.add(static_cast<std::uint64_t>(pending.acceptance));
    hash.add(pending.start);
  }
}

}  // namespace holdfast::protocol
