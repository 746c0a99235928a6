// Clock histories: what the two clocks of a node, and its process, go through in one run (CK-1).
//
// Contract: a history is a pure function of its options and draws, and it is data in the format of plans: how
// the clocks start, and faults that change them. The monotonic clock is never off true time by more than
// `maxDriftPpb`, at any instant. Only `frozen` histories stop it, which leaves what CK-1 assumes.
#pragma once

#include <cstdint>
#include <vector>

#include "observations/reflect.hpp"
#include "scenarios/plan.hpp"
#include "skew/draws.hpp"

namespace holdfast::skew {

/// What becomes of the rate of a monotonic clock.
enum class RateStyle : std::uint8_t {
  exact,      ///< true time
  steady,     ///< a rate of its own
  extreme,    ///< as fast or as slow as it may be
  wandering,  ///< changes by a little every few seconds, as with temperature
  flipping,   ///< goes from one extreme to the other
  slewed,     ///< slewed now and then for some seconds, as by NTP, and the wall clock with it
};
BOOST_DESCRIBE_ENUM(RateStyle, exact, steady, extreme, wandering, flipping, slewed)

/// What becomes of a wall clock.
enum class WallStyle : std::uint8_t {
  exact,     ///< true time
  offset,    ///< off by up to three hours
  drifting,  ///< off by up to five percent in rate, which changes
  stepped,   ///< set by NTP, in steps of 128 ms to 10 s
  jumping,   ///< set by hours, either way
};
BOOST_DESCRIBE_ENUM(WallStyle, exact, offset, drifting, stepped, jumping)

/// What becomes of the process.
enum class StallStyle : std::uint8_t {
  none,
  paused,   ///< some pauses of milliseconds to seconds
  stopped,  ///< a virtual machine stops for long, and its monotonic clock has gone on when it resumes
  frozen,   ///< the same with a monotonic clock that has stood still: outside CK-1
};
BOOST_DESCRIBE_ENUM(StallStyle, none, paused, stopped, frozen)

struct HistoryOptions {
  std::int64_t maxDriftPpb = 0;
  bool frozen = false;      ///< Whether monotonic clocks may stand still.
  obs::TrueInstant calmAt;  ///< The process stalls before this only.
  obs::TrueInstant endAt;   ///< Clocks change before this only.
  Duration longestStop = sim::seconds(30);
};

struct NodeHistory {
  RateStyle rate = RateStyle::exact;
  WallStyle wall = WallStyle::exact;
  StallStyle stall = StallStyle::none;
  scenarios::ClockSettings clock;
  std::vector<scenarios::Fault> faults;
};

/// A history of any style. Ids of its faults begin at `firstId`; a history has fewer than 1'000.
NodeHistory drawHistory(const HistoryOptions& options, obs::NodeId node, const Draws& draws,
                        std::uint64_t firstId);

/// The same with the style of the monotonic clock given; `faster` says which way an extreme clock goes.
NodeHistory drawHistory(const HistoryOptions& options, obs::NodeId node, const Draws& draws,
                        std::uint64_t firstId, RateStyle rate, bool faster);

}  // namespace holdfast::skew
