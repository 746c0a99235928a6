// The searches of the world, compiled once.
#pragma once

#include <expected>
#include <functional>
#include <string>

#include "explore/breadth_first.hpp"
#include "explore/walks.hpp"
#include "explore/world.hpp"

namespace holdfast::explore {

Result breadthFirst(const World& world, Limits limits);

/// Files of a search that is to survive its process.
struct Checkpoints {
  std::string file;        ///< Written when the search is cut short, and before; "": none is.
  std::string resumeFrom;  ///< Read first; "": the search begins at the initial state.
  double every = 60;       ///< Seconds from one that is written before to the next (BreadthFirst::keepEvery).
  /// Told why one could not be written before; the search goes on.
  std::function<void(const std::string&)> failed = [](const std::string&) {};
};

/// The error says what is wrong with the file to resume from; Result::unsaved with the one to be written.
std::expected<Result, std::string> breadthFirst(const World& world, Limits limits,
                                                const Checkpoints& checkpoints);

Result depthFirst(const World& world, Limits limits);

/// Whether a caller can wait for ever although timers, clocks, messages, commits and applies get their turn.
/// Clients may stay where they are, and faults need not strike. Precondition: `world` is not symmetric, as a
/// cycle of merged states need not be a cycle of states.
Result fairCycles(const World& world, Limits limits);

Result walks(const World& world, Limits limits, const WalkOptions& options);

}  // namespace holdfast::explore
