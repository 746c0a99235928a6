#include "checkers/exclusion.hpp"

namespace holdfast::checkers {

namespace {

Finding violation(Anomaly anomaly, const Stamp& stamp, KeyId key, CallId call) {
  Finding finding;
  finding.checker = Checker::exclusion;
  finding.severity = Severity::safety;
  finding.anomaly = anomaly;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.key = key;
  finding.call = call;
  return finding;
}

}  // namespace

void Exclusion::on(const Stamp& stamp, const obs::Admitted& event, const Context& context) {
  judgeAdmission(stamp, event.call, event.key, event.path, context);
  judgeBounds(stamp, event.call, event.key, event.deadline, context);
}

void Exclusion::judgeAdmission(const Stamp& stamp, CallId call, KeyId key, obs::Path path,
                               const Context& context) const {
  const History& history = context.history;
  for (const CallId id : history.key(key).open) {
    if (id == call) continue;
    const Call& other = history.call(id);
    if (!history.surelyInside(other, stamp.at)) continue;
    Finding finding = violation(Anomaly::overlappingAdmissions, stamp, key, call);
    finding.other = other.node;
    finding.otherCall = id;
    finding.because(Fact::admitted, other.node, other.admittedAt, static_cast<std::int64_t>(other.path));
    finding.because(Fact::admitted, stamp.node, stamp.at, static_cast<std::int64_t>(path));
    finding.because(Fact::lapsed, other.node, history.node(other.node).clock.whenReads(other.deadline));
    context.findings.add(finding);
  }
  const NodeFacts& node = history.node(stamp.node);
  if (history.membershipSeen() &&
      (!node.member || node.clock.surelyReached(node.membershipDeadline, stamp.at))) {
    Finding finding = violation(Anomaly::admittedWithoutMembership, stamp, key, call);
    if (node.member) {
      finding.because(Fact::lapsed, stamp.node, node.clock.whenReads(node.membershipDeadline));
    }
    context.findings.add(finding);
  }
}

void Exclusion::on(const Stamp& stamp, const obs::Reentered& event, const Context& context) {
  const Call& call = context.history.call(event.call);
  const Reentry& found = context.history.reentry();
  if (!found.fresh && !found.inside) {
    Finding finding = violation(Anomaly::reenteredAfterEnd, stamp, event.key, event.call);
    if (found.lapsed) {
      finding.because(Fact::lapsed, call.node, found.lapsedAt);
    } else if (found.state == CallState::revoked) {
      finding.because(Fact::revoked, call.node, call.endedAt);
    } else if (found.state == CallState::unlocked) {
      finding.because(Fact::unlocked, call.node, call.endedAt);
    } else if (found.state == CallState::live) {
      finding.because(Fact::crashed, call.node, context.history.node(call.node).crashedAt);
    }
    context.findings.add(finding);
  }
  if (event.handle != event.call) {
    const Call& entered = context.history.call(event.handle);
    Finding finding = violation(Anomaly::reenteredByAnother, stamp, event.key, event.call);
    finding.other = entered.node;
    finding.otherCall = event.handle;
    context.findings.add(finding.because(Fact::admitted, entered.node, entered.admittedAt,
                                         static_cast<std::int64_t>(entered.path)));
  }
  if (!found.inside) judgeAdmission(stamp, event.call, event.key, obs::Path::cached, context);
  judgeBounds(stamp, event.call, event.key, event.deadline, context);
}

void Exclusion::judgeBounds(const Stamp& stamp, CallId call, KeyId key, obs::MonotonicInstant deadline,
                            const Context& context) const {
  if (!context.options.judgeHandleBounds) return;
  const NodeFacts& node = context.history.node(stamp.node);
  obs::MonotonicInstant bound = obs::MonotonicInstant::never();
  if (node.member) bound = node.membershipDeadline;
  if (const KeyTokens* row = keys_.find(key.value)) {
    for (const Delegation& delegation : row->delegations) {
      if (delegation.node == stamp.node && delegation.deadline < bound) bound = delegation.deadline;
    }
  }
  if (deadline <= bound) return;
  Finding finding = violation(Anomaly::leaseBeyondBound, stamp, key, call);
  finding.expected = bound.ns;
  finding.observed = deadline.ns;
  context.findings.add(finding);
}

void Exclusion::on(const Stamp& stamp, const obs::Submitted& event, const Context& context) {
  if (!event.call.valid() || (event.attempt > 1 && !context.options.judgeRetries)) return;
  const History& history = context.history;
  const Call& call = history.call(event.call);
  Finding finding = violation(Anomaly::submittedWithoutHandle, stamp, event.key, event.call);
  finding.txn = event.txn;
  if (!call.admitted || call.node != stamp.node) {
    context.findings.add(finding);
  } else if (history.lostInCrash(call)) {
    context.findings.add(finding.because(Fact::crashed, stamp.node, history.node(stamp.node).crashedAt));
  } else if (call.state == CallState::revoked) {
    finding.anomaly = Anomaly::submittedAfterRevocation;
    context.findings.add(finding.because(Fact::revoked, call.node, call.revokedAt));
  } else if (history.surelyLapsed(call, stamp.at)) {
    finding.anomaly = Anomaly::submittedAfterLapse;
    finding.expected = call.deadline.ns;
    finding.observed = history.node(stamp.node).clock.at(stamp.at).ns;
    context.findings.add(
        finding.because(Fact::lapsed, call.node, history.node(call.node).clock.whenReads(call.deadline)));
  }
}

void Exclusion::on(const Stamp& stamp, const obs::Granted& event, const Context& context) {
  KeyTokens& row = keys_.at(event.key.value);
  const bool comparable =
      row.last.valid() && (row.home == stamp.node || row.last.membership != event.token.membership);
  if (comparable && event.token <= row.last) {
    Finding finding = violation(Anomaly::tokenNotIncreasing, stamp, event.key, {});
    finding.other = event.to;
    finding.expected = static_cast<std::int64_t>(row.last.counter);
    finding.observed = static_cast<std::int64_t>(event.token.counter);
    context.findings.add(finding);
  }
  const std::uint64_t members = context.options.members;
  if (members != 0 && (event.to.value >= 64 || (members >> event.to.value & 1U) == 0)) {
    Finding finding = violation(Anomaly::grantedToStranger, stamp, event.key, {});
    finding.other = event.to;
    context.findings.add(finding);
  }
  const Quarantine& quarantine = quarantines_.at(stamp.node.value);
  const NodeClock& clock = context.history.node(stamp.node).clock;
  if (quarantine.on && clock.surelyBefore(quarantine.until, stamp.at)) {
    Finding finding = violation(Anomaly::grantedInQuarantine, stamp, event.key, {});
    finding.other = event.to;
    finding.expected = quarantine.until.ns;
    finding.observed = clock.at(stamp.at).ns;
    context.findings.add(finding);
  }
  row.home = stamp.node;
  if (!comparable || event.token > row.last) row.last = event.token;
}

void Exclusion::on(const Stamp& stamp, const obs::CoordinatorStarted& event, const Context&) {
  quarantines_.at(stamp.node.value) = {event.quarantined, event.until};
}

void Exclusion::on(const Stamp& stamp, const obs::Installed& event, const Context&) {
  KeyTokens& row = keys_.at(event.key.value);
  for (Delegation& delegation : row.delegations) {
    if (delegation.node == stamp.node) {
      delegation.deadline = event.deadline;
      return;
    }
  }
  row.delegations.push_back({stamp.node, event.deadline});
}

}  // namespace holdfast::checkers
