// Shrinking of schedules, on made-up ones whose shortest forms are known.
#include "shrink/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::shrink {
namespace {

using testing::ElementsAre;
using testing::Lt;

bool has(std::span<const std::string> steps, std::string_view step) {
  return std::ranges::find(steps, step) != steps.end();
}

/// Fails when "boom" happens, which "arm" makes possible; "off" and "on" undo each other, and "off" alone
/// makes it impossible.
std::optional<ScheduleSteps> playBomb(std::span<const std::string> steps) {
  ScheduleSteps happened;
  bool armed = false;
  bool off = false;
  bool boom = false;
  for (const std::string& step : steps) {
    if (step == "boom" && (!armed || off)) continue;
    armed |= step == "arm";
    off = step == "off" || (off && step != "on");
    boom |= step == "boom";
    happened.push_back(step);
  }
  return boom ? std::optional(happened) : std::nullopt;
}

TEST(Schedule, KeepsTheStepsThatTheFailureNeeds) {
  ScheduleSteps whole;
  for (int i = 0; i < 300; ++i) whole.push_back("idle " + std::to_string(i));
  whole.insert(whole.begin() + 100, "arm");
  whole.insert(whole.begin() + 250, "boom");
  for (const unsigned jobs : {1U, 3U}) {
    const auto shrunk = shrinkSchedule(whole, playBomb, {jobs, std::nullopt, {}});
    ASSERT_TRUE(shrunk);
    EXPECT_THAT(shrunk->steps, ElementsAre("arm", "boom"));
    EXPECT_TRUE(shrunk->complete);
    EXPECT_THAT(shrunk->runs, Lt(200U));
  }
}

TEST(Schedule, LeavesOutTwoStepsThatNeedEachOther) {
  // A failure that wants as many "off" as "on": neither can be left out alone.
  const auto balanced = [](std::span<const std::string> steps) -> std::optional<ScheduleSteps> {
    if (std::ranges::count(steps, "off") != std::ranges::count(steps, "on")) return std::nullopt;
    return playBomb(steps);
  };
  const auto shrunk = shrinkSchedule({"off", "arm", "on", "boom"}, balanced, {});
  ASSERT_TRUE(shrunk);
  EXPECT_THAT(shrunk->steps, ElementsAre("arm", "boom"));
}

TEST(Schedule, PassesOverWhatCanNotHappen) {
  const auto shrunk = shrinkSchedule({"boom", "arm", "off", "boom", "on", "boom"}, playBomb, {});
  ASSERT_TRUE(shrunk);
  EXPECT_THAT(shrunk->steps, ElementsAre("arm", "boom"));
}

TEST(Schedule, ThatDoesNotFailIsNotShrunk) {
  EXPECT_FALSE(shrinkSchedule({"arm", "off", "boom"}, playBomb, {}).has_value());
}

TEST(Schedule, AnInterruptedSearchGivesOneThatFails) {
  ScheduleSteps whole(200, "idle");
  whole[10] = "arm";
  whole[150] = "boom";
  ScheduleLimits limits;
  limits.progress = [](std::size_t, std::uint64_t runs) { return runs < 10; };
  const auto shrunk = shrinkSchedule(whole, playBomb, limits);
  ASSERT_TRUE(shrunk);
  EXPECT_FALSE(shrunk->complete);
  EXPECT_TRUE(playBomb(shrunk->steps).has_value());
  EXPECT_TRUE(has(shrunk->steps, "boom"));
}

}  // namespace
}  // namespace holdfast::shrink
