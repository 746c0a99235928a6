// A path of the explorer as an ordinary run: every observation, stamped with true time, and the judgement of
// the checkers as they are.
//
// The path is taken once more by nodes of its own that were never interned, so a mistake in what the explorer
// takes for equal comes to light: their observations must be the explorer's, and in the end the checkers must
// report the breach by its name. Clocks read in whole ticks; an observer sees each one stand still between
// ticks and set forward at each. A step takes a millisecond of true time, a tick of all clocks a whole tick.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkers/checker_set.hpp"
#include "explore/search.hpp"
#include "explore/world.hpp"

namespace holdfast::explore {

using Listener = std::function<void(const obs::Stamped&)>;

struct Replayed {
  bool faithful = true;  ///< Every node did what its interned double did.
  bool stuck = false;    ///< In the end a caller waits, and nothing can happen any more.
  checkers::Findings findings;
  obs::TrueInstant end;
  /// After how many steps the loop begins in which the path ends, and in which a caller waits for ever.
  std::optional<std::size_t> loop = std::nullopt;

  /// Whether the checkers report a safety violation of this kind.
  bool confirms(Breach breach) const;
};

/// Takes the path and tells `listener` of everything, if there is one.
Replayed replay(const World& world, const std::vector<std::uint16_t>& path, const Listener& listener = {});

/// What the checkers are told of a configuration.
checkers::CheckerOptions checkerOptionsOf(const Configuration& configuration);

/// The path in words, one line a step.
std::vector<std::string> describe(const World& world, const std::vector<std::uint16_t>& path);

/// The path that describe() puts in these words. The error is "steps[3]: ..." with what was possible there.
std::expected<std::vector<std::uint16_t>, std::string> pathOf(const World& world,
                                                              std::span<const std::string> steps);

struct Possible {
  std::vector<std::string> steps;
  std::vector<std::uint16_t> path;
};

/// What is left of the steps when those that can not happen, each in its turn, are passed over.
Possible possibleOf(const World& world, std::span<const std::string> steps);

}  // namespace holdfast::explore
