#include "checkers/finding.hpp"

#include <iterator>

namespace holdfast::checkers {

std::string_view ruleOf(Anomaly anomaly) {
  static constexpr std::string_view kRules[] = {
#define HOLDFAST_ANOMALY_RULE(name, rule) rule,
      HOLDFAST_ANOMALIES(HOLDFAST_ANOMALY_RULE)
#undef HOLDFAST_ANOMALY_RULE
  };
  const std::size_t i = static_cast<std::size_t>(anomaly);
  return i < std::size(kRules) ? kRules[i] : std::string_view();
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
