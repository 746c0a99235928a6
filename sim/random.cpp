#include "sim/random.hpp"

#include <fmt/core.h>

namespace holdfast::sim {

std::string describe(const LatencyDistribution& latency) {
  return fmt::format("{}..{} ns, {} ppm up to {} ns", latency.minimum.ns, latency.typical.ns, latency.tailPpm,
                     latency.tail.ns);
}

}  // namespace holdfast::sim
