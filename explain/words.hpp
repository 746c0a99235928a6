// Events as clauses of a story: "call 3 asked for k", "closed admission on k".
//
// Contract: every kind has a clause without its node's name; kinds without one of their own are told as the
// timeline of a trace tells them. Faults stand out by capitals.
#pragma once

#include <string>

#include "observations/observation.hpp"
#include "traces/names.hpp"

namespace holdfast::explain {

std::string tell(const obs::Stamped& event, const traces::Names& names);

}  // namespace holdfast::explain
