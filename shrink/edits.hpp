// Ways to make the values of a case plainer without taking a step out of it.
//
// Contract: an edit gives a case that is plainer than the one it gets, or the same one when there is nothing
// for it to do: times become round numbers, durations shorter, drifts and offsets nearer to zero, kinds
// plainer, gaps between steps narrower. Applying edits until none changes anything ends.
#pragma once

#include <functional>
#include <vector>

#include "shrink/case.hpp"

namespace holdfast::shrink {

using Edit = std::function<Case(const Case&)>;

/// Edits of everything at once, then of delays and chances, the coarse before the fine.
std::vector<Edit> sweepingEdits();

/// Edits of single values of a case of this form (so many operations, faults and clocks).
std::vector<Edit> singleEdits(const Case& form);

/// Edits that bring the steps of a case of this form nearer to each other and to the start.
std::vector<Edit> timeEdits(const Case& form);

}  // namespace holdfast::shrink
