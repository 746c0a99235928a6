// Networks and disks to measure on, as numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/random.hpp"

namespace holdfast::measure {

struct NetworkProfile {
  std::string_view name;
  std::string_view what;
  sim::LatencyDistribution link;  // one way, within a region
  std::uint16_t regions = 1;      // node i is in region i modulo this
  sim::Duration between{};        // one way, from a region to the next
};

struct DiskProfile {
  std::string_view name;
  std::string_view what;
  sim::LatencyDistribution commit;  // of a log entry, until it is durable
  sim::LatencyDistribution apply;   // of a received entry, until it is visible
};

std::span<const NetworkProfile> networkProfiles();
std::span<const DiskProfile> diskProfiles();

/// The profile of that name; null when there is none.
const NetworkProfile* findNetwork(std::string_view name);
const DiskProfile* findDisk(std::string_view name);

/// One line with every number.
std::string describe(const NetworkProfile& profile);
std::string describe(const DiskProfile& profile);

}  // namespace holdfast::measure
