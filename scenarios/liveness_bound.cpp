#include "scenarios/liveness_bound.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/wide_integer.hpp"

namespace holdfast::scenarios {
namespace {

constexpr std::int64_t kBillion = 1'000'000'000;

/// Until the operator of a home map has published what he wants and it is active.
Duration remapping(const RunOptions& options) {
  const protocol::ProtocolOptions& p = options.protocol;
  // He comes past a change that is under way, and past those whom he keeps down.
  const Duration stalls = (kOperatorPatience + kOperatorLooks) * 2;
  const Duration oneByOne = kOperatorLooks * options.nodes;
  const Duration greetings = p.renewEvery * 2;
  const Duration drain = stretched(p.maxDelegation + p.skew, kBillion / 8);  // HM-3
  return stalls + oneByOne + greetings + drain;
}

/// Until the members have stopped changing and the last change lets its homes grant: who was silent is
/// proposed away, asks to be let in again, and may just miss a round.
Duration rehoming(const RunOptions& options) {
  const protocol::ProtocolOptions& p = options.protocol;
  const DelayOptions& d = options.delays;
  constexpr std::int64_t kChanges = 3;
  // However often nodes renew, catching up takes its time.
  const Duration heard = std::max(p.renewEvery, sim::seconds(1)) * 2;
  const Duration givenUp = p.proposalTimeout * 2;
  const Duration pauses = p.proposalBackoff * 4;
  const Duration phases = (d.link.tail * 2 + d.persist.tail) * 2;  // EP-2, EP-4
  const Duration change = heard + givenUp + pauses + phases;
  // EP-8, and once more for whoever counts it from the certificate: the formula of docs/membership.md. A
  // change that carries it forward to its successor (EP-9) hands on what remains by one more clock.
  const Duration reserved = stretched(p.epochLease + p.skew, p.rateErrorPpb);
  const Duration learned = stretched(reserved + p.maxDelegation + p.skew, p.rateErrorPpb);
  const Duration protection = stretched(learned, p.rateErrorPpb);
  // Where a moment of silence is enough to be proposed away, it may come once more.
  const Duration silence = p.renewEvery * static_cast<std::int64_t>(p.missedRenewals);
  const std::int64_t times = silence > sim::seconds(3) ? 1 : 2;
  return (change * kChanges + protection) * times;
}

Duration membershipSettles(const RunOptions& options) {
  switch (options.protocol.membership) {
    case protocol::MembershipKind::homeMap:
      return remapping(options);
    case protocol::MembershipKind::epoch:
      return rehoming(options);
    case protocol::MembershipKind::fixed:
      break;
  }
  return {};
}

/// The least that a caller must be ready to wait for a key that nobody else wants.
Duration leastWait(const RunOptions& options) {
  const DelayOptions& d = options.delays;
  const Duration asked = d.link.tail * 2;
  const Duration released = d.commit.tail;
  const Duration applied = d.apply.tail;
  return options.protocol.answerMargin + asked + released + applied;
}

}  // namespace

Duration stretched(Duration counted, std::int64_t ppb) {
  return {static_cast<std::int64_t>(sim::Int128{counted.ns} * (kBillion + ppb) / kBillion)};
}

Duration shortened(Duration counted, std::int64_t ppb) {
  return {static_cast<std::int64_t>(sim::Int128{counted.ns} * kBillion / (kBillion + ppb))};
}

Duration livenessBound(const RunOptions& options) {
  const protocol::ProtocolOptions& p = options.protocol;
  const DelayOptions& d = options.delays;
  // The healing itself may restart a home (DG-9); then comes whom it granted last, with its section.
  const Duration quarantine = p.maxDelegation + p.skew;
  const Duration lastHolder = p.maxDelegation + p.skew;
  const Duration sections = options.workload.lease * 2;
  const Duration waits = options.workload.wait * 2;
  const Duration counted = stretched(quarantine + lastHolder + sections + waits, options.faults.maxDriftPpb);
  // What was lost or begun just before the healing is asked again, or given up.
  const Duration again = p.retryEvery + p.barrierTimeout;
  const Duration backlog = d.reconnect + d.commit.tail + d.link.tail + d.apply.tail;
  return counted + again + backlog + membershipSettles(options);
}

std::optional<std::string> whyNeverLive(const RunOptions& options) {
  const protocol::ProtocolOptions& p = options.protocol;
  if (options.healedPhase.ns <= 0) return std::nullopt;
  const auto ms = [](Duration duration) { return (duration.ns + 999'999) / 1'000'000; };
  // Waits are drawn from half to one and a half of workload.wait.
  const Duration shortest = leastWait(options) * 2;
  if (options.workload.wait < shortest) {
    return fmt::format(
        "workload.wait is {} ms; expected at least {} ms where liveness is judged, because half of it "
        "must hold protocol.answerMargin, delays.link.tail twice, delays.commit.tail and delays.apply.tail; "
        "or no "
        "healedPhase",
        ms(options.workload.wait), ms(shortest));
  }
  const Duration apart = options.delays.link.typical * 2;
  const bool agree = p.membership == protocol::MembershipKind::epoch && options.nodes > 1;
  if (agree && p.proposalBackoff < apart) {
    return fmt::format(
        "protocol.proposalBackoff is {} ms; expected at least {} ms, delays.link.typical twice, where "
        "liveness "
        "is judged, or two who propose at once never get apart; or no healedPhase",
        ms(p.proposalBackoff), ms(apart));
  }
  return std::nullopt;
}

}  // namespace holdfast::scenarios
