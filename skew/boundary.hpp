// Where exclusion breaks: the smallest rate deviation at which two nodes can be inside at once, for a lease
// and a margin, by search, beside the closed form.
//
// The closed form. A holder asks at true time 0 and takes its delegation to end when its own clock has gone
// on by `lease` (DG-4). With that clock slow by d this is lease / (1 - d) of true time. The home mints the
// grant no earlier and waits until its own clock has gone on by lease + skew (DG-3). With that clock fast by
// d this is (lease + skew) / (1 + d). So exclusion holds for
//     lease * (1 + d) <= (lease + skew) * (1 - d),   that is   d <= skew / (2 * lease + skew),
// and every delay of a message only adds to it.
//
// Contract: pure functions; bisect() finds a boundary to the part per billion if what it asks is monotone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "protocol/rules.hpp"
#include "shrink/case.hpp"
#include "skew/draws.hpp"

namespace holdfast::skew {

/// The largest deviation, in ppb either way, at which the closed form promises exclusion.
std::int64_t closedFormPpb(Duration lease, Duration skew);

/// The smallest number in (lo, hi] for which `breaks` holds, which must not hold for lo; nothing if it does
/// not for hi.
std::optional<std::int64_t> bisect(std::int64_t lo, std::int64_t hi,
                                   const std::function<bool(std::int64_t)>& breaks);

/// A protocol with fixed members that has this lease and margin, and otherwise gives nothing away.
protocol::ProtocolOptions edgeProtocol(Duration lease, Duration skew);

/// The adversary's plan: the holder slow and the home fast by `driftPpb`, no delay anywhere, recalls lost;
/// the holder comes back late and stays to the end, and another waits at the home.
shrink::Case edgeCase(const protocol::ProtocolOptions& protocol, std::int64_t driftPpb);

/// Whether two nodes were inside at once, or one acted beyond its lease, in the run of the case.
bool breaksExclusion(const shrink::Case& whole, const protocol::Rules& rules);

struct BoundaryOptions {
  std::vector<Duration> leases;
  std::vector<Duration> skews;
  std::uint64_t seed = 1;
  std::uint32_t randomPlans = 16;  ///< Beside the adversary's, for each cell.
  protocol::Rules rules;
  unsigned jobs = 1;
  std::function<bool(std::size_t done, std::size_t cells)> progress;  ///< Returns whether to go on.
};

struct BoundaryCell {
  Duration lease;
  Duration skew;
  std::int64_t formulaPpb = 0;           ///< Covered by the closed form.
  std::optional<std::int64_t> foundPpb;  ///< The smallest at which a plan breaks exclusion; none up to 50 %.
  bool byRandomPlan = false;             ///< A random plan broke it before the adversary's did.
  std::uint64_t runs = 0;

  friend bool operator==(const BoundaryCell&, const BoundaryCell&) = default;
};

/// A cell for each lease and margin, by lease and then by margin; fewer if it was stopped.
std::vector<BoundaryCell> searchBoundary(const BoundaryOptions& options);

}  // namespace holdfast::skew
