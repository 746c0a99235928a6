// The steps of a plan as lines for people, in the order of their time.
#pragma once

#include <string>
#include <vector>

#include "checkers/finding.hpp"
#include "scenarios/plan.hpp"

namespace holdfast::cli {

/// A line a step: true time, what is done, by or to which node, and the values that mean something for it.
/// Clocks that start as true time does are left out.
std::vector<std::string> stepLines(const scenarios::Plan& plan, const checkers::Names& names);

}  // namespace holdfast::cli
