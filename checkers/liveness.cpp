#include "checkers/liveness.hpp"

#include <algorithm>

namespace holdfast::checkers {

namespace {

/// Whether a call made at `requestedAt` is one that must find a healed cluster.
bool mustSucceed(TrueInstant requestedAt, const Context& context) {
  const obs::Duration bound = context.options.livenessBound;
  if (bound.ns <= 0 || !context.history.healed() || context.history.healedAt() == TrueInstant::never()) {
    return false;
  }
  return requestedAt >= context.history.healedAt() + bound;
}

bool anyHoles(NodeId node, const History& history) {
  const auto origins = static_cast<std::uint16_t>(history.nodes());
  for (std::uint16_t i = 0; i < origins; ++i) {
    if (history.replica(node, {i}).hasHoles()) return true;
  }
  return false;
}

bool excused(NodeId node, obs::Cause cause, const History& history) {
  switch (cause) {
    case obs::Cause::capacity:
    case obs::Cause::shutdown:
    case obs::Cause::disabled:
    case obs::Cause::version:
    case obs::Cause::malformed:
    case obs::Cause::notMember:
      return true;
    case obs::Cause::unsatisfiable:
    case obs::Cause::fence:
    case obs::Cause::barrier:
      return anyHoles(node, history);
    default:
      return false;
  }
}

}  // namespace

void Liveness::on(const Stamp& stamp, const obs::Admitted& event, const Context& context) {
  lastInside_.at(event.key.value, stamp.node) = event.call;
  if (mustSucceed(context.history.call(event.call).requestedAt, context))
    ++keys_.at(event.key.value).obtained;
}

void Liveness::on(const Stamp& stamp, const obs::LockRefused& event, const Context& context) {
  const Call& call = context.history.call(event.call);
  if (!mustSucceed(call.requestedAt, context) || event.error == obs::ErrorClass::conflict409) return;
  if (excused(stamp.node, event.cause, context.history)) return;
  if (isContention(stamp, event, call, context)) return;
  KeyLiveness& row = keys_.at(event.key.value);
  ++row.refused;
  row.lastRefused = event.call;
  if (event.error != obs::ErrorClass::lockUnavailable503) return;
  Finding finding;
  finding.checker = Checker::liveness;
  finding.severity = Severity::liveness;
  finding.anomaly = Anomaly::refusedAfterHealing;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.key = event.key;
  finding.call = event.call;
  finding.detail = static_cast<std::uint8_t>(event.cause);
  finding.expected = context.options.livenessBound.ns;
  finding.observed = (call.requestedAt - context.history.healedAt()).ns;
  context.findings.add(finding);
}

/// Whether somebody was inside while the caller waited, and what was left of its wait did not suffice: for a
/// holder of its own node to see the grant end, which is no 423 because nobody else held the key; for any
/// other to see the end of the section, or to recover after it.
bool Liveness::isContention(const Stamp& stamp, const obs::LockRefused& refused, const Call& waiter,
                            const Context& context) const {
  const auto insideUntil = [&](NodeId other) {
    const CallId* const holder = lastInside_.find(refused.key.value, other);
    return holder == nullptr ? TrueInstant{INT64_MIN} : endOf(*holder, context.history);
  };
  if (refused.cause == obs::Cause::ownGrant) return insideUntil(stamp.node) >= waiter.requestedAt;
  const bool waiting = refused.error == obs::ErrorClass::locked423;
  const bool handed = refused.cause == obs::Cause::barrier || refused.cause == obs::Cause::fence;
  if (!waiting && !handed) return false;
  // Who has been handed the key since has heard of the end from the home, which heard of it from the holder.
  const obs::Duration slack = context.options.holderSlack * (handed ? 2 : 1);
  const TrueInstant since = std::max(waiter.requestedAt, stamp.at - slack);
  for (std::uint16_t i = 0; i < lastInside_.width(); ++i) {
    if (insideUntil({i}) >= since) return true;
  }
  return false;
}

/// A section that nobody ended ends with its lease, by its node's clock, or with its node.
TrueInstant Liveness::endOf(CallId id, const History& history) {
  if (!id.valid()) return {INT64_MIN};
  const Call& call = history.call(id);
  const NodeFacts& facts = history.node(call.node);
  const TrueInstant lapse = facts.clock.whenReads(call.deadline);
  if (call.state != CallState::live) return std::min(lapse, call.endedAt);
  return call.crashes == facts.crashes ? lapse : facts.crashedAt;
}

void Liveness::finish(TrueInstant at, const Context& context) {
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    const KeyLiveness& row = keys_[i];
    if (row.refused == 0 || row.obtained > 0) continue;
    Finding finding;
    finding.checker = Checker::liveness;
    finding.severity = Severity::liveness;
    finding.anomaly = Anomaly::keyNotObtainable;
    finding.at = at;
    finding.node = context.history.call(row.lastRefused).node;
    finding.key = {i};
    finding.call = row.lastRefused;
    finding.observed = row.refused;
    finding.expected = context.options.livenessBound.ns;
    context.findings.add(finding);
  }
}

}  // namespace holdfast::checkers
