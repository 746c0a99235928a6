#include "checkers/finding.hpp"

namespace holdfast::checkers {

std::string_view ruleOf(Anomaly anomaly) {
  switch (anomaly) {
    case Anomaly::overlappingAdmissions:
      return "X-1";
    case Anomaly::submittedAfterLapse:
      return "LH-3";
    case Anomaly::submittedAfterRevocation:
      return "DR-2";
    case Anomaly::submittedWithoutHandle:
      return "LH-3";
    case Anomaly::admittedWithoutMembership:
      return "EP-6";
    case Anomaly::leaseBeyondBound:
      return "LH-2";
    case Anomaly::reenteredAfterEnd:
      return "DR-1";
    case Anomaly::tokenNotIncreasing:
      return "TK-1";
    case Anomaly::grantedInQuarantine:
      return "DG-9";
    case Anomaly::grantedToStranger:
      return "DG-2";
    case Anomaly::membershipTooLong:
      return "EP-6";
    case Anomaly::staleAdmission:
      return "X-2";
    case Anomaly::lateSettlement:
      return "DR-3";
    case Anomaly::recoveryAfterCleanRelease:
      return "FR-6";
    case Anomaly::admittedWithoutBarrier:
      return "FR-8";
    case Anomaly::appliedOutOfOrder:
      return "LW-1";
    case Anomaly::staleRead:
      return "X-2";
    case Anomaly::derivedFromStaleRead:
      return "X-2";
    case Anomaly::outrankedWrite:
      return "LW-3";
    case Anomaly::lostUpdate:
      return "LW-3";
    case Anomaly::strangeValue:
      return "LW-3";
    case Anomaly::committedWithoutSubmission:
      return "LH-3";
    case Anomaly::refusedWriteVisible:
      return "LH-3";
    case Anomaly::stampWentBack:
      return "LW-2";
    case Anomaly::replicasDiffer:
      return "LW-3";
    case Anomaly::wrongResolution:
      return "LW-3";
    case Anomaly::replicationBehind:
      return "LW-1";
    case Anomaly::answeredTwice:
      return "DG-10";
    case Anomaly::answeredUnasked:
      return "DG-10";
    case Anomaly::settledTwice:
      return "DR-3";
    case Anomaly::neverAnswered:
      return "DG-10";
    case Anomaly::neverSettled:
      return "DR-3";
    case Anomaly::answeredLate:
      return "DG-10";
    case Anomaly::servedOutOfOrder:
      return "LH-1";
    case Anomaly::grantedOutOfOrder:
      return "DG-10";
    case Anomaly::wrongErrorClass:
      return "section 12";
    case Anomaly::lockedWithoutHolder:
      return "section 12";
    case Anomaly::conflictOnLiveHandle:
      return "LH-4";
    case Anomaly::retainedBeyondBound:
      return "BD-2";
    case Anomaly::cachedAcquisitionPaid:
      return "section 13";
    case Anomaly::costBeyondBound:
      return "section 13";
    case Anomaly::refusedAfterHealing:
      return "S-70";
    case Anomaly::keyNotObtainable:
      return "S-70";
  }
  return "";
}

std::string_view limitationOf(Route route) {
  switch (route) {
    case Route::none:
      return "";
    case Route::l1a:
      return "L-1a";
    case Route::l1b:
      return "L-1b";
    case Route::l2a:
      return "L-2a";
    case Route::l2b:
      return "L-2b";
    case Route::l2c:
      return "L-2c";
    case Route::l2HomeRestart:
    case Route::l2MembershipChange:
    case Route::l2Eviction:
      return "L-2";
    case Route::lh4:
      return "LH-4";
  }
  return "";
}

void Findings::add(const Finding& finding) {
  ++bySeverity_[static_cast<std::size_t>(finding.severity)];
  ++byRoute_[static_cast<std::size_t>(finding.route)];
  if (finding.severity == Severity::limitation) {
    if (first(finding.route, finding.anomaly) == nullptr) limitations_.push_back(finding);
    return;
  }
  ++byChecker_[static_cast<std::size_t>(finding.checker)];
  if (violations_.size() < kMaxKept) violations_.push_back(finding);
}

const Finding* Findings::first(Route route) const {
  for (const Finding& finding : limitations_) {
    if (finding.route == route) return &finding;
  }
  return nullptr;
}

const Finding* Findings::first(Anomaly anomaly) const {
  for (const Finding& finding : violations_) {
    if (finding.anomaly == anomaly) return &finding;
  }
  return nullptr;
}

const Finding* Findings::first(Route route, Anomaly anomaly) const {
  for (const Finding& finding : limitations_) {
    if (finding.route == route && finding.anomaly == anomaly) return &finding;
  }
  return nullptr;
}

}  // namespace holdfast::checkers
