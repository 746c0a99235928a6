// The durable record of a home map (HM-3, HM-6): what a node was told, and what it may act on.
#pragma once

#include <cstdint>
#include <vector>

#include "observations/types.hpp"

namespace holdfast::protocol {

struct HomeMapRecord {
  std::uint32_t generation = 0;  // 0: none
  std::vector<sim::NodeId> homes;
  friend bool operator==(const HomeMapRecord&, const HomeMapRecord&) = default;
};
BOOST_DESCRIBE_STRUCT(HomeMapRecord, (), (generation, homes))

}  // namespace holdfast::protocol
