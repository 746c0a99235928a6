#include "checkers/callers.hpp"

#include <utility>

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
  // Whoever is let in by re-entry while it waits has got its answer.
  if (context.history.reentry().fresh) judgeAnswer(stamp, event.call, context);
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

// ---- The home's queue -------------------------------------------------------------------------------------

void Callers::leave(Queue& queue, NodeId node) {
  for (std::size_t i = queue.size(); i-- > 0;) {
    if (queue[i].node == node) queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Callers::on(const Stamp& stamp, const obs::MessageSent& event, const Context& context) {
  if (!context.options.judgeQueueOrder || event.message != obs::MessageKind::lockRequest) return;
  if (event.key.valid()) askedAt_.at(event.key.value, stamp.node) = stamp.at;
}

void Callers::on(const Stamp& stamp, const obs::Queued& event, const Context& context) {
  if (!context.options.judgeQueueOrder) return;
  Queue& queue = queues_.at(event.key.value);
  leave(queue, event.requester);
  const NodeFacts& home = context.history.node(stamp.node);
  // A node that is its own home asks without a message, in the very step that queues it.
  const TrueInstant* asked = askedAt_.find(event.key.value, event.requester);
  const bool remote = event.requester != stamp.node && asked != nullptr;
  queue.push_back(
      {event.requester, stamp.node, home.crashes + home.replacements, stamp.at, remote ? *asked : stamp.at});
}

void Callers::on(const Stamp&, const obs::Denied& event, const Context& context) {
  // These are told to one that stays in the queue, too.
  const bool stays = event.cause == obs::Cause::contended || event.cause == obs::Cause::ownGrant;
  if (!context.options.judgeQueueOrder || stays) return;
  leave(queues_.at(event.key.value), event.to);
}

/// A call for which the waiter had asked and that has plenty of time left, or none: the home drops a waiter
/// at the deadline that it was told, by its own clock.
CallId Callers::surelyWaiting(const Waiter& waiter, KeyId key, TrueInstant at, const Context& context) const {
  const NodeFacts& home = context.history.node(waiter.home);
  if (home.crashes + home.replacements != waiter.homeLives) return {};
  for (const CallId id : context.history.key(key).pending) {
    const Call& call = context.history.call(id);
    if (call.node != waiter.node || call.requestedAt > waiter.askedAt) continue;
    const obs::Duration left = call.wait - waited(call, waiter.node, at, context.history);
    if (left > sim::seconds(1) + call.wait / 8) return id;
  }
  return {};
}

void Callers::on(const Stamp& stamp, const obs::RecallSent& event, const Context&) {
  last_.at(event.key.value).recall = {event.token, stamp.at};
}

/// A home recalls for the sake of a waiter; to renew what it has recalled is to let the delegate overtake.
void Callers::judgeRenewal(const Stamp& stamp, const obs::Granted& event, const Context& context) {
  Last& last = last_.at(event.key.value);
  const obs::Token before = std::exchange(last.granted, event.token);
  if (!event.renewal || !before.valid() || last.recall.token != before) return;
  Finding finding;
  finding.checker = Checker::callers;
  finding.severity = Severity::liveness;
  finding.anomaly = Anomaly::renewedAfterRecall;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.other = event.to;
  finding.key = event.key;
  finding.expected = last.recall.at.ns;
  context.findings.add(finding);
}

void Callers::on(const Stamp& stamp, const obs::Granted& event, const Context& context) {
  judgeRenewal(stamp, event, context);
  if (!context.options.judgeQueueOrder || event.renewal) return;
  Queue& queue = queues_.at(event.key.value);
  for (const Waiter& earlier : queue) {
    if (earlier.node == event.to) break;
    if (earlier.home != stamp.node) continue;
    const CallId call = surelyWaiting(earlier, event.key, stamp.at, context);
    if (!call.valid()) continue;
    Finding finding;
    finding.checker = Checker::callers;
    finding.severity = Severity::liveness;
    finding.anomaly = Anomaly::grantedOutOfOrder;
    finding.at = stamp.at;
    finding.node = stamp.node;
    finding.other = earlier.node;
    finding.key = event.key;
    finding.otherCall = call;
    finding.expected = earlier.queuedAt.ns;
    finding.observed = event.to.value;
    context.findings.add(finding);
    break;
  }
  leave(queue, event.to);
}

void Callers::finish(TrueInstant at, const Context& context) {
  const History& history = context.history;
  const bool complete = !history.phased() || history.ended();
  for (std::uint32_t i = 1; i < history.calls(); ++i) {
    const Call& call = history.call({i});
    if (call.state != CallState::pending || history.lostInCrash(call)) continue;
    if (history.node(call.node).paused) continue;
    const obs::Duration time = waited(call, call.node, at, history);
    // A run of phases ends at a given instant, and whoever is still within its limit then is not late.
    // Without a healed phase that is nothing to wonder at.
    if (history.phased() && time - context.options.waitTolerance <= call.wait) {
      if (complete && history.healedAt() < at) ++waiting_;
      continue;
    }
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
