// A set of log positions as sorted ranges that neither overlap nor touch.
#pragma once

#include <vector>

#include "protocol/replication/replica_state.hpp"

namespace holdfast::protocol {

/// Adds all positions of `range`; ranges that overlap or touch it become one with it.
void insertRange(std::vector<PositionRange>& ranges, PositionRange range);

/// Takes one position out, splitting its range when it lies inside; false when no range has it.
bool removePosition(std::vector<PositionRange>& ranges, Position position);

}  // namespace holdfast::protocol
