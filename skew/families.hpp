// One function for each family of cases: its protocol, and its plan but for the clocks.
#pragma once

#include "skew/generate.hpp"

namespace holdfast::skew {

/// How the clocks of one node are to be chosen; nodes beyond the list of them have histories of any style.
struct ClockWish {
  bool adversary = false;  ///< The rate is extreme,
  bool faster = false;     ///< in this direction.
};

/// What a family decides before the clocks are drawn.
struct Script {
  scenarios::RunOptions options;
  scenarios::Plan plan;  ///< Without clocks.
  std::vector<ClockWish> wishes;
  Duration longestStop = sim::seconds(30);
};

/// Durations of the protocol in proportion to its lease, with a margin that covers 0.25 to 4 percent.
protocol::ProtocolOptions drawProtocol(const Draws& draws, Family family);

/// The script of a case whose seed and protocol are set in `options`.
Script writeHandoff(scenarios::RunOptions options, const Draws& draws);
Script writeSuccession(scenarios::RunOptions options, const Draws& draws);
Script writeEveryday(scenarios::RunOptions options, const Draws& draws, bool heals);

}  // namespace holdfast::skew
