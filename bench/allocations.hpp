// Counts heap allocations, so that a benchmark can say how many an event costs.
//
// The program's operator new is replaced (allocations.cpp); the count is of the calling thread.
#pragma once

#include <cstdint>

namespace holdfast::bench {

std::uint64_t allocationsSoFar();

}  // namespace holdfast::bench
