// Makes a failing schedule short: the fewest steps, in words, that still fail in the same way.
//
// Contract: whoever asks plays a candidate by taking its steps in order and passing over those that can not
// happen any more, so that what an absent step had made possible goes with it. The result fails, and no
// candidate that lacks any one of its steps does, nor any two of them while it is short. It is the same for
// any number of jobs; only the time limit depends on real time, and what it ends with fails too.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::shrink {

/// A schedule, a step a line, in the words of whoever plays it.
using ScheduleSteps = std::vector<std::string>;

/// Plays what is possible of the steps: those that happened, if they fail in the wanted way; else nothing.
/// It is called from several threads at once.
using PlaySchedule = std::function<std::optional<ScheduleSteps>(std::span<const std::string>)>;

struct ScheduleLimits {
  unsigned jobs = 1;
  std::optional<std::uint64_t> timeLimitNs;  ///< Of real time.
  /// How many steps are left after how many runs, told between two batches; returns whether to go on.
  std::function<bool(std::size_t, std::uint64_t)> progress;
};

struct ShrunkSchedule {
  ScheduleSteps steps;
  std::uint64_t runs = 0;
  bool complete = true;  ///< False: ended by the time limit or by the progress callback.
};

/// Shrinks a schedule; nothing if it does not fail to begin with.
std::optional<ShrunkSchedule> shrinkSchedule(const ScheduleSteps& whole, const PlaySchedule& play,
                                             const ScheduleLimits& limits);

}  // namespace holdfast::shrink
