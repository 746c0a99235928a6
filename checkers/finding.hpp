// Findings: what a checker says when a promise was broken, or when a documented limitation was reached.
//
// A finding is a flat value without text: it names the broken rule, the observations that prove it, and, for
// an anomaly that the contract documents, the route (L-1a ... L-2) it came by. Text is made in describe()
// alone, because findings are rare and runs are many. Findings keeps every count, the first violations up to
// a cap, and the first limitation of each kind.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "observations/types.hpp"

namespace holdfast::checkers {

using obs::CallId;
using obs::Duration;
using obs::KeyId;
using obs::NodeId;
using obs::TrueInstant;
using obs::TxnId;

/// The checkers, one a promise. The names are what a report and a rule-off twin call them by.
enum class Checker : std::uint8_t {
  exclusion,    // X-1, and no write through dead authority (CK-4, LH-2, LH-3, DR-2, EP-6, TK-1)
  freshness,    // X-2, FR-3, FR-8, DR-3
  serial,       // each key's sections are serially equivalent, value by value (section 10)
  convergence,  // LW-3: replicas agree once everything is applied
  callers,      // every caller is answered once and in time
  errorClass,   // section 12
  retention,    // BD-1, BD-2
  cost,         // section 13
  liveness,     // S-70
  membership    // EP, HM: one value a number, one live ring, no successor before its time
};
BOOST_DESCRIBE_ENUM(Checker, exclusion, freshness, serial, convergence, callers, errorClass, retention, cost,
                    liveness, membership)

enum class Severity : std::uint8_t { safety, liveness, limitation };
BOOST_DESCRIBE_ENUM(Severity, safety, liveness, limitation)

/// The documented ways in which the contract does not hold (section 10), each of which must be reachable.
/// lh4: an unlock is no commit, so the next local caller may read the value before it (LH-4).
/// l2HomeRestart, l2MembershipChange, l2Eviction: recovery was taken although the release was clean.
enum class Route : std::uint8_t {
  none,
  l1a,
  l1b,
  l2a,
  l2b,
  l2c,
  l2HomeRestart,
  l2MembershipChange,
  l2Eviction,
  lh4
};
BOOST_DESCRIBE_ENUM(Route, none, l1a, l1b, l2a, l2b, l2c, l2HomeRestart, l2MembershipChange, l2Eviction, lh4)
inline constexpr std::size_t kRoutes = obs::kEnumeratorCount<Route>;

// What exactly was observed, by checker, and the rule of the specification that it breaks.
// clang-format off
#define HOLDFAST_ANOMALIES(X) \
  /* exclusion */ \
  X(overlappingAdmissions, "X-1") \
  X(submittedAfterLapse, "LH-3") \
  X(submittedAfterRevocation, "DR-2") \
  X(submittedWithoutHandle, "LH-3") \
  X(admittedWithoutMembership, "EP-6") \
  X(leaseBeyondBound, "LH-2") \
  X(reenteredAfterEnd, "DR-1") \
  X(reenteredByAnother, "X-1") \
  X(tokenNotIncreasing, "TK-1") \
  X(grantedInQuarantine, "DG-9") \
  X(grantedToStranger, "DG-2") \
  /* freshness */ \
  X(staleAdmission, "X-2") \
  X(lateSettlement, "DR-3") \
  X(recoveryAfterCleanRelease, "FR-6") \
  X(admittedWithoutBarrier, "FR-8") \
  X(leftOutOfBarrier, "FR-8") \
  X(appliedOutOfOrder, "LW-1") \
  /* serial */ \
  X(staleRead, "X-2") \
  X(derivedFromStaleRead, "X-2") \
  X(outrankedWrite, "LW-3") \
  X(lostUpdate, "LW-3") \
  X(strangeValue, "LW-3") \
  X(committedWithoutSubmission, "LH-3") \
  X(refusedWriteVisible, "LH-3") \
  X(stampWentBack, "LW-2") \
  /* convergence */ \
  X(replicasDiffer, "LW-3") \
  X(wrongResolution, "LW-3") \
  X(replicationBehind, "LW-1") \
  /* callers */ \
  X(answeredTwice, "DG-10") \
  X(answeredUnasked, "DG-10") \
  X(settledTwice, "DR-3") \
  X(neverAnswered, "DG-10") \
  X(neverSettled, "DR-3") \
  X(answeredLate, "DG-10") \
  X(servedOutOfOrder, "LH-1") \
  X(grantedOutOfOrder, "DG-10") \
  X(renewedAfterRecall, "DG-10") \
  /* error class */ \
  X(wrongErrorClass, "section 12") \
  X(lockedWithoutHolder, "section 12") \
  X(conflictOnLiveHandle, "LH-4") \
  /* retention */ \
  X(retainedBeyondBound, "BD-2") \
  /* cost */ \
  X(cachedAcquisitionPaid, "section 13") \
  X(costBeyondBound, "section 13") \
  X(unlockedWritePaid, "LH-5") \
  /* liveness */ \
  X(refusedAfterHealing, "S-70") \
  X(keyNotObtainable, "S-70") \
  /* membership */ \
  X(membershipTooLong, "EP-6") \
  X(leaseUnacknowledged, "EP-14") \
  X(leaseBeyondReservations, "EP-7") \
  X(ballotWentBack, "EP-2") \
  X(acceptanceConcealed, "EP-2") \
  X(reservationConcealed, "EP-7") \
  X(restartForgotReservation, "EP-10") \
  X(renewedAfterPromise, "EP-3") \
  X(certificateWithoutMajority, "EP-5") \
  X(certificateForged, "EP-5") \
  X(twoConfigurations, "EP-4") \
  X(installedWithoutCertificate, "EP-5") \
  X(membershipWentBack, "EP-11") \
  X(protectionForgotten, "EP-9") \
  X(activatedTooEarly, "EP-8") \
  X(activatedUnquiesced, "HM-3") \
  X(twoLiveRings, "EP-12") \
  X(twoRingsForKey, "DG-1") \
  X(grantedBeforeActivation, "EP-9") \
  X(grantedWithoutMembership, "EP-6") \
  X(servedAfterAcknowledging, "HM-3") \
  X(strangerTakesPart, "DG-2")
// clang-format on

enum class Anomaly : std::uint8_t {
#define HOLDFAST_ANOMALY_ENUMERATOR(name, rule) name,
  HOLDFAST_ANOMALIES(HOLDFAST_ANOMALY_ENUMERATOR)
#undef HOLDFAST_ANOMALY_ENUMERATOR
};
// One by one, because BOOST_DESCRIBE_ENUM takes no more than 52 at once.
#define HOLDFAST_ANOMALY_ENTRY(name, rule) BOOST_DESCRIBE_ENUM_ENTRY(Anomaly, name)
BOOST_DESCRIBE_ENUM_BEGIN(Anomaly)
HOLDFAST_ANOMALIES(HOLDFAST_ANOMALY_ENTRY)
BOOST_DESCRIBE_ENUM_END(Anomaly)
#undef HOLDFAST_ANOMALY_ENTRY

/// The id of the rule that `anomaly` breaks, such as "X-1".
std::string_view ruleOf(Anomaly anomaly);

/// The id of the documented limitation, such as "L-2b"; "" for none.
std::string_view limitationOf(Route route);

/// A fact that a finding rests on.
enum class Fact : std::uint8_t {
  none,
  admitted,   // number: obs::Path
  submitted,  // number: transaction
  settled,    // number: position in the origin's log
  applied,    // number: the prefix applied here
  lapsed,     // at: when the handle's lease ended
  revoked,
  unlocked,
  crashed,
  down,
  linkCut,
  paused,
  barrierStarted,   // number: nonce
  barrierAppended,  // number: position
  barrierMeasured,  // number: position
  barrierSkipped,   // number: nonce
  barrierAnswered,  // number: nonce
  barrierUnsatisfied,
  lineageLost,  // number: obs::LineageLoss
  released,     // number: position
  grantOutstanding,
  stagedEarlier,   // number: the timestamp the write carries
  stagedLater,     // number: the timestamp the write carries
  callerStamp,     // number: the timestamp the caller gave
  recovered,       // number: how many sections back lineage was last lost
  installed,       // number: the members, one bit a node
  certificate,     // number: the voters, one bit a node
  membershipLive,  // number: of the membership; at: when the lease ends
  delegationLive   // number: of the membership; at: when the delegation ends
};
BOOST_DESCRIBE_ENUM(Fact, none, admitted, submitted, settled, applied, lapsed, revoked, unlocked, crashed,
                    down, linkCut, paused, barrierStarted, barrierAppended, barrierMeasured, barrierSkipped,
                    barrierAnswered, barrierUnsatisfied, lineageLost, released, grantOutstanding,
                    stagedEarlier, stagedLater, callerStamp, recovered, installed, certificate,
                    membershipLive, delegationLive)

struct Evidence {
  Fact fact = Fact::none;
  NodeId node;
  TrueInstant at;
  std::int64_t number = 0;
};
BOOST_DESCRIBE_STRUCT(Evidence, (), (fact, node, at, number))

inline constexpr std::size_t kMaxEvidence = 4;

/// One broken promise, or one limitation reached. `at` is true time, `node` where it was observed, and the
/// `other` fields name the second party: the predecessor, the write that was missed, the other holder.
/// `expected`, `observed` and `written` are values of `field`, or quantities of the anomaly (a count and its
/// bound, a wait and its limit in ns); which of them mean something depends on the anomaly.
struct Finding {
  Checker checker = Checker::exclusion;
  Severity severity = Severity::safety;
  Route route = Route::none;
  Anomaly anomaly = Anomaly::overlappingAdmissions;
  TrueInstant at;
  NodeId node;
  NodeId other;
  KeyId key;
  CallId call;
  CallId otherCall;
  TxnId txn;
  TxnId otherTxn;
  std::uint8_t field = 0;
  std::uint8_t detail = 0;
  std::int64_t expected = 0;
  std::int64_t observed = 0;
  std::int64_t written = 0;
  std::uint8_t evidenceCount = 0;
  std::array<Evidence, kMaxEvidence> evidence{};

  std::string_view rule() const { return ruleOf(anomaly); }
  /// Adds a fact; one beyond kMaxEvidence is dropped.
  Finding& because(Fact fact, NodeId who, TrueInstant when, std::int64_t number = 0) {
    if (evidenceCount < kMaxEvidence) evidence[evidenceCount++] = {fact, who, when, number};
    return *this;
  }
};
BOOST_DESCRIBE_STRUCT(Finding, (),
                      (checker, severity, route, anomaly, at, node, other, key, call, otherCall, txn,
                       otherTxn, field, detail, expected, observed, written, evidenceCount, evidence))

/// How a barrier left a member out that it should have waited for: `detail` of Anomaly::leftOutOfBarrier.
enum class LeftOut : std::uint8_t { no, tooSoon, answered, unasked };

/// Names for describe(). An id beyond a table is written as a number.
struct Names {
  std::span<const std::string> nodes;
  std::span<const std::string> keys;
};

/// Two or three full sentences: what was promised, what was observed with values and times, and why it is, or
/// is not, a documented limitation.
std::string describe(const Finding& finding, const Names& names = {});

/// All findings of a run.
class Findings {
 public:
  /// Violations beyond this many are counted but not kept.
  static constexpr std::size_t kMaxKept = 64;

  void add(const Finding& finding);

  /// Safety and liveness violations in the order found, at most kMaxKept.
  std::span<const Finding> violations() const { return violations_; }
  /// The first finding of each pair of route and anomaly, in the order found.
  std::span<const Finding> limitations() const { return limitations_; }

  std::uint64_t count(Severity severity) const { return bySeverity_[static_cast<std::size_t>(severity)]; }
  std::uint64_t count(Route route) const { return byRoute_[static_cast<std::size_t>(route)]; }
  /// Violations, safety and liveness, that `checker` found.
  std::uint64_t count(Checker checker) const { return byChecker_[static_cast<std::size_t>(checker)]; }
  /// The first finding by `route`, or null.
  const Finding* first(Route route) const;
  /// The first kept violation of this kind, or null.
  const Finding* first(Anomaly anomaly) const;
  /// Whether this limitation was reached by this kind of damage.
  const Finding* first(Route route, Anomaly anomaly) const;

 private:
  std::vector<Finding> violations_;
  std::vector<Finding> limitations_;
  std::array<std::uint64_t, 3> bySeverity_{};
  std::array<std::uint64_t, kRoutes> byRoute_{};
  std::array<std::uint64_t, obs::kEnumeratorCount<Checker>> byChecker_{};
};

}  // namespace holdfast::checkers
