// Points that a sweep must reach: situations of the protocol and routes to its limitations, without which a
// sweep has proved nothing about them.
//
// Contract: each point has a budget, the number of seeds of the default workload within which it is reached
// as good as surely (a seed in some four hundred reaches the rarest, which leaves a chance of some 10^-5 to
// miss it in its budget). A sweep of fewer seeds than the budget does not judge the point.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::scenarios {

struct SweepReport;

struct MustReachPoint {
  std::string name;             ///< Of the milestone ("barrierShared") or limitation ("L-2 (l2HomeRestart)").
  std::uint64_t budget = 0;     ///< In seeds.
  std::uint64_t seeds = 0;      ///< Of the sweep, those that reached it.
  std::uint64_t firstSeed = 0;  ///< Meaningful when seeds > 0.

  bool judgedAfter(std::uint64_t ran) const { return ran >= budget; }
};

/// All points, milestones first, as the sweep reached them.
std::vector<MustReachPoint> mustReachPoints(const SweepReport& report);

/// Names of the points that the sweep had the seeds for and did not reach.
std::vector<std::string> missedBy(const SweepReport& report);

}  // namespace holdfast::scenarios
