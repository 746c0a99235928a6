#include "checkers/callers.hpp"

namespace holdfast::checkers {

namespace {

Finding findingAt(Anomaly anomaly, Severity severity, const Stamp& stamp, CallId call, const Call& facts) {
  Finding finding;
  finding.checker = Checker::callers;
  finding.severity = severity;
  finding.anomaly = anomaly;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.key = facts.key;
  finding.call = call;
  return finding;
}

/// How long the call had waited at `at`, on its node's clock and without suspensions.
obs::Duration waited(const Call& call, NodeId node, TrueInstant at, const History& history) {
  return (history.node(node).clock.at(at) - call.requestedLocal) -
         (history.pausedInAll(node, at) - call.pausedBefore);
}

}  // namespace

void Callers::judgeAnswer(const Stamp& stamp, CallId id, const Context& context) const {
  const Call& call = context.history.call(id);
  if (call.stray) {
    const Anomaly anomaly = call.answers > 1 ? Anomaly::answeredTwice : Anomaly::answeredUnasked;
    Finding finding = findingAt(anomaly, Severity::safety, stamp, id, call);
    finding.observed = call.answers;
    finding.expected = 1;
    context.findings.add(finding);
    return;
  }
  const obs::Duration time = waited(call, stamp.node, stamp.at, context.history);
  if (time - context.options.waitTolerance <= call.wait) return;
  Finding finding = findingAt(Anomaly::answeredLate, Severity::liveness, stamp, id, call);
  finding.expected = call.wait.ns;
  finding.observed = time.ns;
  context.findings.add(finding);
}

void Callers::judgeOrder(const Stamp& stamp, CallId id, const Context& context) const {
  const Call& served = context.history.call(id);
  if (served.stray) return;
  for (const CallId other : context.history.key(served.key).pending) {
    const Call& waiting = context.history.call(other);
    if (waiting.node != stamp.node || waiting.requestedAt >= served.requestedAt) continue;
    // One whose own time is up is no waiter any more, though it may be told a moment later.
    if (waited(waiting, stamp.node, stamp.at, context.history) >= waiting.wait) continue;
    Finding finding = findingAt(Anomaly::servedOutOfOrder, Severity::liveness, stamp, id, served);
    finding.otherCall = other;
    finding.other = waiting.node;
    finding.expected = waiting.requestedAt.ns;
    finding.observed = served.requestedAt.ns;
    context.findings.add(finding);
    return;
  }
}

void Callers::on(const Stamp& stamp, const obs::Admitted& event, const Context& context) {
  judgeAnswer(stamp, event.call, context);
  judgeOrder(stamp, event.call, context);
}

void Callers::on(const Stamp& stamp, const obs::Reentered& event, const Context& context) {
  const Call& call = context.history.call(event.call);
  if (call.answers == 0) {
    context.findings.add(findingAt(Anomaly::answeredUnasked, Severity::safety, stamp, event.call, call));
  }
}

void Callers::on(const Stamp& stamp, const obs::LockRefused& event, const Context& context) {
  const Call& call = context.history.call(event.call);
  if (call.admitted && event.error == obs::ErrorClass::conflict409) return;
  judgeAnswer(stamp, event.call, context);
}

void Callers::on(const Stamp& stamp, const obs::Settled& event, const Context& context) {
  const Txn& txn = context.history.txn(event.txn);
  if (txn.settlements <= 1) return;
  Finding finding;
  finding.checker = Checker::callers;
  finding.anomaly = Anomaly::settledTwice;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.txn = event.txn;
  finding.expected = 1;
  finding.observed = txn.settlements;
  finding.because(Fact::settled, txn.node, txn.settledAt, txn.position);
  context.findings.add(finding);
}

void Callers::finish(TrueInstant at, const Context& context) {
  const History& history = context.history;
  const bool complete = !history.phased() || history.ended();
  for (std::uint32_t i = 1; i < history.calls(); ++i) {
    const Call& call = history.call({i});
    if (call.state != CallState::pending || history.lostInCrash(call)) continue;
    if (history.node(call.node).paused) continue;
    const obs::Duration time = waited(call, call.node, at, history);
    if (!complete && time - context.options.waitTolerance <= call.wait) continue;
    Finding finding = findingAt(Anomaly::neverAnswered, Severity::liveness, {at, call.node}, CallId{i}, call);
    finding.expected = call.wait.ns;
    finding.observed = time.ns;
    context.findings.add(finding);
  }
  if (!complete) return;
  for (std::uint32_t i = 1; i < history.txns(); ++i) {
    const Txn& txn = history.txn({i});
    if (txn.state != TxnState::submitted) continue;
    const NodeFacts& node = history.node(txn.node);
    if (node.crashes != txn.crashes || node.paused) continue;
    Finding finding;
    finding.checker = Checker::callers;
    finding.severity = Severity::liveness;
    finding.anomaly = Anomaly::neverSettled;
    finding.at = at;
    finding.node = txn.node;
    finding.txn = {i};
    finding.because(Fact::submitted, txn.node, txn.submittedAt, i);
    context.findings.add(finding);
  }
}

}  // namespace holdfast::checkers
