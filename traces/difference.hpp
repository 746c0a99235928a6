// What differs between two runs as a whole, counted by kind of observation.
//
// Contract: an observation has a counterpart if the other run has one that is the same in instant, node, kind
// and every field, wherever it stands; each serves once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "observations/observation.hpp"

namespace holdfast::traces {

struct KindDifference {
  std::string_view kind;
  std::uint64_t first = 0;      ///< How many the first run has,
  std::uint64_t second = 0;     ///<   and the second.
  std::uint64_t onlyFirst = 0;  ///< How many of them have no counterpart.
  std::uint64_t onlySecond = 0;

  friend bool operator==(const KindDifference&, const KindDifference&) = default;
};

/// Every kind of which some observation has no counterpart, in the order of the kinds.
std::vector<KindDifference> differencesByKind(std::span<const obs::Stamped> first,
                                              std::span<const obs::Stamped> second);

}  // namespace holdfast::traces
