// What makes two failures the same failure: who found it, what was observed, and on which route.
//
// Contract: a flat value without nodes, keys and times, so that it survives any change of a run that leaves
// the kind of failure as it is. The rule that is broken follows from the anomaly: see ruleOf().
#pragma once

#include <string>
#include <vector>

#include "checkers/finding.hpp"

namespace holdfast::checkers {

struct Signature {
  Checker checker = Checker::exclusion;
  Anomaly anomaly = Anomaly::overlappingAdmissions;
  Route route = Route::none;

  friend bool operator==(const Signature&, const Signature&) = default;
};
BOOST_DESCRIBE_STRUCT(Signature, (), (checker, anomaly, route))

constexpr Signature signatureOf(const Finding& finding) {
  return {finding.checker, finding.anomaly, finding.route};
}

/// Of the violations that are kept, each kind once, in the order in which they were found.
std::vector<Signature> signaturesOf(const Findings& findings);

/// The first violation of that kind, or of a kind with a route the first limitation; null if there is none.
const Finding* firstOf(const Findings& findings, const Signature& signature);

/// "checker freshness, rule X-2, anomaly staleAdmission", and the route if there is one.
std::string describe(const Signature& signature);

}  // namespace holdfast::checkers
