#include "checkers/freshness.hpp"

#include "checkers/attribution.hpp"

namespace holdfast::checkers {

namespace {

obs::LineageLoss lossBy(Route route) {
  if (route == Route::l2Eviction) return obs::LineageLoss::evicted;
  return route == Route::l2HomeRestart ? obs::LineageLoss::coldHome : obs::LineageLoss::membershipChange;
}

}  // namespace

void Freshness::on(const Stamp& stamp, const obs::Admitted& event, const Context& context) {
  for (std::uint16_t i = 0; i < context.lineage.origins(); ++i) judgeHidden(stamp, event, {i}, context);
  if (event.path == obs::Path::recovery) judgeRecovery(stamp, event, context);
}

void Freshness::judgeHidden(const Stamp& stamp, const obs::Admitted& event, NodeId origin,
                            const Context& context) const {
  // One finding for each origin: the latest write without an excuse, else the latest one with.
  bool found = false;
  bool foundViolation = false;
  Finding worst;
  const std::uint32_t rank = context.history.call(event.call).rank;
  context.lineage.forEachHidden(
      context.history, event.key, stamp.node, origin, [&](TxnId id, CallId writerId) {
        const Txn& txn = context.history.txn(id);
        const Call& writer = context.history.call(writerId);
        if (foundViolation || writer.rank >= rank) return;
        const Excuse excuse = context.lineage.excuseFor(event.key, txn, writer);
        const bool violation = excuse.route == Route::none;
        if (found && !violation) return;
        found = true;
        foundViolation = violation;
        worst = Finding{};
        worst.checker = Checker::freshness;
        worst.anomaly = Anomaly::staleAdmission;
        worst.severity = violation ? Severity::safety : Severity::limitation;
        worst.route = excuse.route;
        worst.at = stamp.at;
        worst.node = stamp.node;
        worst.other = origin;
        worst.key = event.key;
        worst.call = event.call;
        worst.otherCall = writerId;
        worst.otherTxn = id;
        worst.detail = static_cast<std::uint8_t>(event.path);
        worst.expected = txn.position;
        worst.observed = context.history.replica(stamp.node, origin).prefix();
        worst.because(Fact::settled, origin, txn.settledAt, txn.position);
        addExcuse(worst, excuse, context.lineage.barrierOf(event.key, stamp.node), origin);
      });
  if (found) context.findings.add(worst);
}

void Freshness::judgeRecovery(const Stamp& stamp, const obs::Admitted& event, const Context& context) const {
  Finding finding;
  finding.checker = Checker::freshness;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.key = event.key;
  finding.call = event.call;
  const Barrier* barrier = context.lineage.barrierOf(event.key, stamp.node);
  const bool joined = barrier != nullptr && context.lineage.joinedSinceGrant(event.key, stamp.node);
  if (!joined || !barrier->done || !barrier->satisfied) {
    finding.severity = Severity::safety;
    finding.anomaly = Anomaly::admittedWithoutBarrier;
    if (barrier != nullptr) {
      finding.because(joined ? Fact::barrierUnsatisfied : Fact::barrierStarted, barrier->node,
                      barrier->startedAt, static_cast<std::int64_t>(barrier->nonce));
    }
    context.findings.add(finding);
  }
  const std::optional<Route> route = context.lineage.cleanReleaseRoute(event.key, stamp.node);
  if (!route) return;
  finding.severity = *route == Route::none ? Severity::safety : Severity::limitation;
  finding.anomaly = Anomaly::recoveryAfterCleanRelease;
  finding.route = *route;
  finding.evidenceCount = 0;
  finding.because(Fact::released, stamp.node, context.lineage.releasedAt(event.key));
  if (*route != Route::none) {
    finding.because(Fact::lineageLost, stamp.node, stamp.at, static_cast<std::int64_t>(lossBy(*route)));
  }
  context.findings.add(finding);
}

void Freshness::on(const Stamp& stamp, const obs::BarrierSkipped& event, const Context& context) {
  const Barrier* const barrier = context.lineage.barrier(event.nonce);
  const BarrierMember* const member = barrier == nullptr ? nullptr : barrier->member(event.member);
  if (member == nullptr || member->leftOut == LeftOut::no) return;
  Finding finding;
  finding.checker = Checker::freshness;
  finding.severity = Severity::safety;
  finding.anomaly = Anomaly::leftOutOfBarrier;
  finding.detail = static_cast<std::uint8_t>(member->leftOut);
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.other = event.member;
  finding.expected = barrier->givesUpAt.ns;
  finding.observed = context.history.node(stamp.node).clock.at(stamp.at).ns;
  finding.because(Fact::barrierStarted, barrier->node, barrier->startedAt,
                  static_cast<std::int64_t>(barrier->nonce));
  if (member->answered) {
    finding.because(Fact::barrierAnswered, event.member, member->answeredAt,
                    static_cast<std::int64_t>(barrier->nonce));
  }
  context.findings.add(finding);
}

void Freshness::on(const Stamp& stamp, const obs::Settled& event, const Context& context) {
  const Txn& txn = context.history.txn(event.txn);
  if (!event.committed || txn.settlements != 1) return;
  for (std::uint32_t i = txn.firstWrite; i != kNothing; i = context.history.write(i).nextOfTxn) {
    const Write& write = context.history.write(i);
    if (!write.call.valid()) continue;
    bool localSeen = false;
    forEachOvertaker(context.history, context.lineage, txn, write, [&](CallId id, Route route) {
      if (route == Route::lh4 && localSeen) return;
      localSeen = localSeen || route == Route::lh4;
      const Call& later = context.history.call(id);
      Finding finding;
      finding.checker = Checker::freshness;
      finding.severity = route == Route::none ? Severity::safety : Severity::limitation;
      finding.route = route;
      finding.anomaly = Anomaly::lateSettlement;
      finding.at = stamp.at;
      finding.node = stamp.node;
      finding.other = later.node;
      finding.key = write.key;
      finding.call = write.call;
      finding.otherCall = id;
      finding.txn = event.txn;
      finding.detail = static_cast<std::uint8_t>(later.path);
      finding.expected = event.position;
      finding.because(Fact::submitted, stamp.node, txn.submittedAt, event.txn.value);
      finding.because(Fact::admitted, later.node, later.admittedAt, static_cast<std::int64_t>(later.path));
      if (route != Route::lh4) {
        addExcuse(finding, context.lineage.excuseFor(write.key, txn, context.history.call(write.call)),
                  context.lineage.barrierOf(write.key, later.node), stamp.node);
      }
      context.findings.add(finding);
    });
  }
}

void Freshness::on(const Stamp& stamp, const obs::Applied& event, const Context& context) {
  const Position skipped = context.history.replica(stamp.node, event.origin).lastJump();
  if (skipped == 0) return;
  Finding finding;
  finding.checker = Checker::freshness;
  finding.severity = Severity::safety;
  finding.anomaly = Anomaly::appliedOutOfOrder;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.other = event.origin;
  finding.expected = event.position - skipped;
  finding.observed = event.position;
  context.findings.add(finding);
}

}  // namespace holdfast::checkers
