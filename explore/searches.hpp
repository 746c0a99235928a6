// The searches of the world, compiled once.
#pragma once

#include <expected>
#include <string>

#include "explore/breadth_first.hpp"
#include "explore/walks.hpp"
#include "explore/world.hpp"

namespace holdfast::explore {

Result breadthFirst(const World& world, Limits limits);

/// With a checkpoint: `resumeFrom` is read first unless it is empty; `file` is written when the search is cut
/// short, unless it is empty. The error says what is wrong with either.
std::expected<Result, std::string> breadthFirst(const World& world, Limits limits, const std::string& file,
                                                const std::string& resumeFrom);

Result depthFirst(const World& world, Limits limits);

/// Whether a caller can wait for ever although timers, clocks, messages, commits and applies get their turn.
/// Clients may stay where they are, and faults need not strike. Precondition: `world` is not symmetric, as a
/// cycle of merged states need not be a cycle of states.
Result fairCycles(const World& world, Limits limits);

Result walks(const World& world, Limits limits, const WalkOptions& options);

}  // namespace holdfast::explore
