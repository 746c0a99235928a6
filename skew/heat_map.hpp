// The boundary of exclusion drawn: a row for each lease, a column for each margin, in the colour of the
// deviation of rates at which exclusion first breaks.
//
// Contract: text of an SVG picture that follows from the cells alone and refers to nothing outside itself.
#pragma once

#include <span>
#include <string>

#include "skew/boundary.hpp"

namespace holdfast::skew {

/// "24,390 ppm" without the unit: up to three decimals below ten, none from a thousand on.
std::string ppmText(std::int64_t ppb);

/// A length of time in the longest unit that leaves an integer: "250 ms".
std::string lengthText(Duration length);

/// Cells by lease and then by margin, all of one grid. The bold line parts what clocks off by `markPpb` break
/// from what they do not.
std::string heatMapSvg(std::span<const BoundaryCell> cells, std::int64_t markPpb);

}  // namespace holdfast::skew
