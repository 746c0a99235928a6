// Generated cases: protocol options, clock histories, a workload and other faults, as a plan that runs.
//
// Contract: a case is a pure function of the options and its number, so that any one of them can be made
// again by itself. Options and plan of each are valid. Unless asked for otherwise every clock history stays
// inside the assumption of the case: rates within what its `skew` covers (CK-3), no monotonic clock that
// stops (CK-1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shrink/case.hpp"
#include "skew/history.hpp"

namespace holdfast::skew {

/// What a case is about beside its clocks.
enum class Family : std::uint8_t {
  handoff,  ///< one key at the edge of a delegation: late replies, lost recalls, a holder that stays inside
  succession,  ///< the members change while old holders run on: partitions, restarts, late messages
  everyday,    ///< the random workload under faults of all kinds
  healing,     ///< the same, and then a healed phase that is judged for liveness
};
BOOST_DESCRIBE_ENUM(Family, handoff, succession, everyday, healing)

struct GeneratorOptions {
  std::uint64_t seed = 1;
  /// Bound of all rates, either way; nothing: what the `skew` of each case covers.
  std::optional<std::int64_t> maxDriftPpb;
  bool frozen = false;  ///< Whether machines may stop together with their monotonic clocks.
  /// The protocol of every case; nothing: drawn for each.
  std::optional<protocol::ProtocolOptions> protocol;
};

/// A bound that is larger than this is outside what any case has.
inline constexpr std::int64_t kMostDriftPpb = 40'000'000;

struct Generated {
  std::uint64_t index = 0;
  Family family = Family::handoff;
  std::int64_t driftPpb = 0;    ///< Bound of all rates.
  std::int64_t coveredPpb = 0;  ///< What the case's `skew` covers (CK-3).
  shrink::Case whole;
  std::vector<NodeHistory> histories;  ///< By node; their faults are in the plan.

  /// Whether the clocks keep to what the protocol assumes of them (CK-1, CK-3).
  bool insideAssumption() const;
};

/// Case number `index`.
Generated generate(const GeneratorOptions& options, std::uint64_t index);

/// The same of a given family.
Generated generate(const GeneratorOptions& options, std::uint64_t index, Family family);

}  // namespace holdfast::skew
