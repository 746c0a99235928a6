#include "shrink/schedule.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "shrink/ddmin.hpp"
#include "shrink/first_of.hpp"

namespace holdfast::shrink {
namespace {

// Pairs of steps are left out of schedules of at most so many steps; there are 1,770 pairs in this many.
constexpr std::size_t kMostForPairs = 60;
// How many candidates are played between two looks at the clock and at the progress callback.
constexpr std::size_t kPlayedTogether = 16;

class ScheduleShrinker {
 public:
  ScheduleShrinker(ScheduleSteps failing, const PlaySchedule& play, const ScheduleLimits& limits)
      : play_(play),
        limits_(limits),
        latest_(limits.timeLimitNs ? Clock::now() + std::chrono::nanoseconds(*limits.timeLimitNs)
                                   : Clock::time_point::max()),
        current_(std::move(failing)) {}

  ShrunkSchedule shrink() {
    // What a shorter schedule passes over can make still others superfluous.
    for (std::size_t before = current_.size() + 1; current_.size() < before && !stopped_;) {
      before = current_.size();
      leaveOut();
      if (current_.size() == before) leaveOutPairs();
    }
    return {current_, runs_, !stopped_};
  }

 private:
  using Clock = std::chrono::steady_clock;

  ScheduleSteps only(const Subset& kept) const {
    ScheduleSteps part;
    for (const std::size_t index : kept) part.push_back(current_[index]);
    return part;
  }

  std::optional<ScheduleSteps> played(const Subset& kept) {
    if (Clock::now() >= latest_) return std::nullopt;
    ++runs_;
    return play_(only(kept));
  }

  bool goOn() {
    if (Clock::now() >= latest_) stopped_ = true;
    if (limits_.progress && !limits_.progress(current_.size(), runs_)) stopped_ = true;
    return !stopped_;
  }

  std::optional<std::size_t> firstFailing(std::span<const Subset> candidates) {
    for (std::size_t begin = 0; begin < candidates.size() && goOn(); begin += kPlayedTogether) {
      const std::size_t size = std::min(kPlayedTogether, candidates.size() - begin);
      const auto failing = firstOf(size, limits_.jobs,
                                   [&](std::size_t i) { return played(candidates[begin + i]).has_value(); });
      if (failing) return begin + *failing;
    }
    return std::nullopt;
  }

  /// Takes over what happens of a candidate that fails.
  void take(const Subset& kept) {
    if (kept.size() == current_.size()) return;
    if (auto shorter = play_(only(kept))) current_ = std::move(*shorter);
  }

  void leaveOut() {
    take(
        ddmin(current_.size(), [&](std::span<const Subset> candidates) { return firstFailing(candidates); }));
  }

  /// Two steps may be needed only for each other, such as a fault and its repair.
  void leaveOutPairs() {
    if (current_.size() > kMostForPairs) return;
    std::vector<Subset> candidates;
    for (std::size_t first = 0; first < current_.size(); ++first) {
      for (std::size_t second = first + 1; second < current_.size(); ++second) {
        Subset& kept = candidates.emplace_back();
        for (std::size_t i = 0; i < current_.size(); ++i) {
          if (i != first && i != second) kept.push_back(i);
        }
      }
    }
    if (const auto failing = firstFailing(candidates)) take(candidates[*failing]);
  }

  const PlaySchedule& play_;
  const ScheduleLimits& limits_;
  Clock::time_point latest_;
  ScheduleSteps current_;
  std::atomic<std::uint64_t> runs_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::optional<ShrunkSchedule> shrinkSchedule(const ScheduleSteps& whole, const PlaySchedule& play,
                                             const ScheduleLimits& limits) {
  auto failing = play(whole);
  if (!failing) return std::nullopt;
  return ScheduleShrinker(std::move(*failing), play, limits).shrink();
}

}  // namespace holdfast::shrink
