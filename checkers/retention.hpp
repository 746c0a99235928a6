// BD-1, BD-2: what a node keeps at the end of a run is within its bound.
#pragma once

#include "checkers/context.hpp"

namespace holdfast::checkers {

class Retention {
 public:
  static constexpr Checker kChecker = Checker::retention;

  void on(const Stamp& stamp, const obs::RetainedCount& event, const Context& context) const {
    if (event.count <= event.bound) return;
    Finding finding;
    finding.checker = Checker::retention;
    finding.severity = Severity::safety;
    finding.anomaly = Anomaly::retainedBeyondBound;
    finding.at = stamp.at;
    finding.node = stamp.node;
    finding.detail = static_cast<std::uint8_t>(event.what);
    finding.observed = static_cast<std::int64_t>(event.count);
    finding.expected = static_cast<std::int64_t>(event.bound);
    context.findings.add(finding);
  }
};

}  // namespace holdfast::checkers
