// Counts heap allocations, so that a measurement can say how many a step costs.
//
// allocations.cpp replaces the operator new of the program it is linked into, and is part of no library: a
// program's allocator is its own affair.
#pragma once

#include <cstdint>

namespace holdfast::measure {

/// How many allocations the calling thread has made.
std::uint64_t allocationsSoFar();

}  // namespace holdfast::measure
