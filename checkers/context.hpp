// What a checker is handed with each observation beside the observation itself.
//
// A checker is a copyable value with overloads on(stamp, observation, context) for the observations that it
// cares about, and optionally finish(at, context). It keeps no pointer into the context, so that a copy of a
// set of checkers stands on its own. `history` already includes the observation at hand.
#pragma once

#include "checkers/finding.hpp"
#include "checkers/history.hpp"
#include "checkers/lineage.hpp"
#include "checkers/options.hpp"

namespace holdfast::checkers {

struct Context {
  const CheckerOptions& options;
  const History& history;
  const Lineage& lineage;
  Findings& findings;
};

}  // namespace holdfast::checkers
