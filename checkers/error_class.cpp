#include "checkers/error_class.hpp"

#include <algorithm>

namespace holdfast::checkers {

namespace {

Finding violation(Anomaly anomaly, const Stamp& stamp, KeyId key, CallId call, obs::Cause cause) {
  Finding finding;
  finding.checker = Checker::errorClass;
  finding.severity = Severity::safety;
  finding.anomaly = anomaly;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.key = key;
  finding.call = call;
  finding.detail = static_cast<std::uint8_t>(cause);
  return finding;
}

}  // namespace

// ---- Grants -----------------------------------------------------------------------------------------------

void ErrorClasses::endGrant(KeyGrants& row, TrueInstant at) {
  if (!row.outstanding) return;
  row.outstanding = false;
  if (row.past[0].to != row.to) std::swap(row.past[0], row.past[1]);
  row.past[0] = {row.to, row.membership, at};
}

void ErrorClasses::forgetGrantsOf(NodeId home, TrueInstant at) {
  for (KeyGrants& row : keys_) {
    if (row.home == home) endGrant(row, at);
  }
}

void ErrorClasses::on(const Stamp& stamp, const obs::Granted& event, const Context&) {
  KeyGrants& row = keys_.at(event.key.value);
  endGrant(row, stamp.at);
  row.outstanding = true;
  row.to = event.to;
  row.membership = event.token.membership;
  row.home = stamp.node;
}

void ErrorClasses::on(const Stamp& stamp, const obs::ReleaseSeen& event, const Context&) {
  if (event.cleared) endGrant(keys_.at(event.key.value), stamp.at);
}

void ErrorClasses::on(const Stamp& stamp, const obs::HandBackSeen& event, const Context&) {
  if (event.cleared) endGrant(keys_.at(event.key.value), stamp.at);
}

void ErrorClasses::on(const Stamp& stamp, const obs::GrantExpired& event, const Context&) {
  endGrant(keys_.at(event.key.value), stamp.at);
}

void ErrorClasses::on(const Stamp& stamp, const obs::NodeCrashed&, const Context&) {
  forgetGrantsOf(stamp.node, stamp.at);
}

void ErrorClasses::on(const Stamp& stamp, const obs::CoordinatorReplaced&, const Context&) {
  forgetGrantsOf(stamp.node, stamp.at);
}

void ErrorClasses::on(const Stamp& stamp, const obs::MembershipInstalled& event, const Context&) {
  installations_.at(stamp.node.value) = {event.number, stamp.at};
}

// ---- 423 --------------------------------------------------------------------------------------------------

bool ErrorClasses::heldByOther(CallId id, const Call& call, const Context& context) const {
  const History& history = context.history;
  const KeyFacts& key = history.key(call.key);
  const Installation* const known = installations_.find(call.node.value);
  const Installation installed = known != nullptr ? *known : Installation{};
  const TrueInstant since = std::max(call.requestedAt, installed.at) - context.options.holderSlack;
  if (key.lastEnd >= since) return true;
  for (const CallId other : key.open) {
    if (other == id) continue;
    const Call& holder = history.call(other);
    // It may have lapsed since; what counts is whether it was inside while the caller waited.
    const TrueInstant lapse = history.node(holder.node).clock.whenReads(holder.deadline);
    if (lapse >= since) return true;
  }
  const KeyGrants* row = keys_.find(call.key.value);
  if (row == nullptr) return false;
  const auto counts = [&](NodeId to, std::uint32_t membership) {
    return (to != call.node || call.behind) && membership >= installed.number;
  };
  if (row->outstanding && counts(row->to, row->membership)) return true;
  return std::any_of(row->past.begin(), row->past.end(), [&](const Past& past) {
    return past.to.valid() && past.until >= since && counts(past.to, past.membership);
  });
}

void ErrorClasses::on(const Stamp& stamp, const obs::LockRefused& event, const Context& context) {
  const Call& call = context.history.call(event.call);
  const bool reentry = call.admitted && event.error == obs::ErrorClass::conflict409;
  if (reentry) {
    judgeConflict(stamp, {}, event.call, event.key, event.cause, context);
    return;
  }
  const bool allowed =
      event.error == obs::ErrorClass::lockUnavailable503 || event.error == obs::ErrorClass::locked423;
  if (!allowed || classOf(event.cause) != event.error) {
    Finding finding = violation(Anomaly::wrongErrorClass, stamp, event.key, event.call, event.cause);
    finding.observed = static_cast<std::int64_t>(event.error);
    finding.expected = static_cast<std::int64_t>(classOf(event.cause));
    context.findings.add(finding);
    return;
  }
  if (event.error != obs::ErrorClass::locked423 || heldByOther(event.call, call, context)) return;
  Finding finding = violation(Anomaly::lockedWithoutHolder, stamp, event.key, event.call, event.cause);
  finding.expected = call.requestedAt.ns;
  context.findings.add(finding);
}

// ---- 409 --------------------------------------------------------------------------------------------------

void ErrorClasses::judgeConflict(const Stamp& stamp, TxnId txn, CallId id, KeyId key, obs::Cause cause,
                                 const Context& context) const {
  const History& history = context.history;
  const Call& call = history.call(id);
  if (!call.admitted || call.node != stamp.node) return;  // never a handle here: rightly unknown
  const bool lost = history.lostInCrash(call) || history.node(call.node).replacements != call.replacements;
  const bool lapsed = !history.node(call.node).clock.surelyBefore(call.deadline, stamp.at);
  const bool revoked = call.state == CallState::revoked;
  bool justified = lost || lapsed || revoked;
  if (cause == obs::Cause::expired) justified = lost || lapsed;
  if (cause == obs::Cause::revoked) justified = lost || revoked;
  // What was never staged under an unlocked handle may be refused: the caller has left the section.
  if (!justified && call.state == CallState::unlocked) {
    bool stagedBefore = false;
    for (std::uint32_t i = history.txn(txn).firstWrite; i != kNothing; i = history.write(i).nextOfTxn) {
      if (history.write(i).call == id) stagedBefore = true;
    }
    justified = !stagedBefore;
  }
  if (justified) return;
  Finding finding = violation(Anomaly::conflictOnLiveHandle, stamp, key, id, cause);
  finding.txn = txn;
  finding.expected = call.deadline.ns;
  finding.observed = history.node(call.node).clock.at(stamp.at).ns;
  finding.because(Fact::admitted, call.node, call.admittedAt, static_cast<std::int64_t>(call.path));
  if (call.state == CallState::unlocked) finding.because(Fact::unlocked, call.node, call.endedAt);
  finding.because(Fact::lapsed, call.node, history.node(call.node).clock.whenReads(call.deadline));
  context.findings.add(finding);
}

/// Whether this node may rightly not know the transaction: it never staged anything, was refused or over
/// before, or was lost in a crash.
bool ErrorClasses::unknownHere(const Stamp& stamp, TxnId id, const Context& context) const {
  const Txn& txn = context.history.txn(id);
  return txn.firstWrite == kNothing || txn.refusals > 1 || txn.submissions > 0 || txn.node != stamp.node ||
         txn.crashes != context.history.node(stamp.node).crashes;
}

void ErrorClasses::on(const Stamp& stamp, const obs::WriteRefused& event, const Context& context) {
  const bool lockError = event.error == obs::ErrorClass::conflict409;
  // Beside a conflict: the storage gave up, the call made no sense (BD-3), or the node is going away (DR-6).
  const bool otherError = event.cause == obs::Cause::aborted || event.cause == obs::Cause::malformed ||
                          event.cause == obs::Cause::shutdown;
  const bool consistent = classOf(event.cause) == event.error && (lockError || otherError);
  const bool gated = lockError && !event.call.valid() && !unknownHere(stamp, event.txn, context);
  if (!consistent || gated) {
    Finding finding = violation(Anomaly::wrongErrorClass, stamp, event.key, event.call, event.cause);
    finding.txn = event.txn;
    finding.observed = static_cast<std::int64_t>(event.error);
    finding.expected = static_cast<std::int64_t>(classOf(event.cause));
    context.findings.add(finding);
    return;
  }
  if (lockError && event.call.valid())
    judgeConflict(stamp, event.txn, event.call, event.key, event.cause, context);
}

}  // namespace holdfast::checkers
