#include "measure/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast::measure {
namespace {

using sim::microseconds;
using sim::milliseconds;

constexpr std::array kNetworks = {
    NetworkProfile{
        "same-rack", "one switch", {microseconds(40), microseconds(80), milliseconds(1), 5'000}, 1, {}},
    NetworkProfile{"same-region",
                   "three zones of a region",
                   {microseconds(300), microseconds(900), milliseconds(8), 10'000},
                   1,
                   {}},
    NetworkProfile{"two-regions",
                   "every other node on the other side of a continent",
                   {microseconds(300), microseconds(900), milliseconds(8), 10'000},
                   2,
                   milliseconds(35)},
    NetworkProfile{"worldwide",
                   "a third of the nodes on each of three continents",
                   {microseconds(300), microseconds(900), milliseconds(8), 10'000},
                   3,
                   milliseconds(65)},
};

constexpr std::array kDisks = {
    DiskProfile{"nvme",
                "a local drive whose cache survives a power failure",
                {microseconds(20), microseconds(60), milliseconds(2), 5'000},
                {microseconds(20), microseconds(80), milliseconds(2), 5'000}},
    DiskProfile{"ssd",
                "a drive that has to flush",
                {microseconds(300), microseconds(1'200), milliseconds(15), 10'000},
                {microseconds(50), microseconds(300), milliseconds(5), 10'000}},
    DiskProfile{"disk",
                "a drive that has to seek",
                {milliseconds(4), milliseconds(11), milliseconds(60), 20'000},
                {microseconds(100), milliseconds(2), milliseconds(20), 20'000}},
};

/// "40 to 80 us, 5 in 1000 up to 1000 us".
std::string textOf(const sim::LatencyDistribution& latency) {
  const auto us = [](sim::Duration d) { return d.ns / 1'000; };
  return fmt::format("{} to {} us, {} in 1000 up to {} us", us(latency.minimum), us(latency.typical),
                     latency.tailPpm / 1'000, us(latency.tail));
}

}  // namespace

std::span<const NetworkProfile> networkProfiles() { return kNetworks; }
std::span<const DiskProfile> diskProfiles() { return kDisks; }

const NetworkProfile* findNetwork(std::string_view name) {
  const auto found = std::ranges::find(kNetworks, name, &NetworkProfile::name);
  return found == kNetworks.end() ? nullptr : &*found;
}

const DiskProfile* findDisk(std::string_view name) {
  const auto found = std::ranges::find(kDisks, name, &DiskProfile::name);
  return found == kDisks.end() ? nullptr : &*found;
}

std::string describe(const NetworkProfile& profile) {
  std::string text = fmt::format("{} ({}): one way {}", profile.name, profile.what, textOf(profile.link));
  if (profile.regions > 1) {
    text += fmt::format("; {} ms more between regions, of which there are {}", profile.between.ns / 1'000'000,
                        profile.regions);
  }
  return text;
}

std::string describe(const DiskProfile& profile) {
  return fmt::format("{} ({}): commit {}; apply {}", profile.name, profile.what, textOf(profile.commit),
                     textOf(profile.apply));
}

}  // namespace holdfast::measure
