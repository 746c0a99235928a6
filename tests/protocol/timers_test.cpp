// TimerSet against a map from slot to instant.
#include "protocol/timers.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace holdfast::protocol {
namespace {

using sim::MonotonicInstant;

std::uint64_t hashOf(const TimerSet& timers, MonotonicInstant now) {
  StateHash hash(now);
  hash.add(timers);
  return hash.value();
}

TEST(TimerSet, IsNeverDueWhenEmpty) {
  TimerSet timers;
  Timer due;
  EXPECT_EQ(timers.next(), MonotonicInstant::never());
  EXPECT_FALSE(timers.takeDue(MonotonicInstant::never(), due));
}

TEST(TimerSet, SettingAgainMovesTheTimer) {
  TimerSet timers;
  timers.set(TimerKind::grantExpiry, 7, {100});
  timers.set(TimerKind::grantExpiry, 7, {50});
  EXPECT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers.next(), MonotonicInstant{50});
  timers.set(TimerKind::grantExpiry, 7, MonotonicInstant::never());
  EXPECT_EQ(timers.size(), 0u);
}

TEST(TimerSet, TakesNothingEarly) {
  TimerSet timers;
  timers.set(TimerKind::sweep, 0, {100});
  Timer due;
  EXPECT_FALSE(timers.takeDue({99}, due));
  EXPECT_TRUE(timers.takeDue({100}, due));
  EXPECT_EQ(due.kind, TimerKind::sweep);
  EXPECT_EQ(due.at, MonotonicInstant{100});
  EXPECT_EQ(timers.size(), 0u);
}

TEST(TimerSet, OneInstantFiresByKindAndKey) {
  TimerSet timers;
  timers.set(TimerKind::sweep, 1, {5});
  timers.set(TimerKind::grantExpiry, 9, {5});
  timers.set(TimerKind::grantExpiry, 3, {5});
  std::vector<std::pair<TimerKind, std::uint32_t>> order;
  for (Timer due; timers.takeDue({5}, due);) order.emplace_back(due.kind, due.key);
  const std::vector<std::pair<TimerKind, std::uint32_t>> expected{
      {TimerKind::grantExpiry, 3}, {TimerKind::grantExpiry, 9}, {TimerKind::sweep, 1}};
  EXPECT_EQ(order, expected);
}

TEST(TimerSet, HashesWhatRemains) {
  TimerSet early;
  early.set(TimerKind::sweep, 1, {100});
  TimerSet late;
  late.set(TimerKind::sweep, 1, {1'100});
  EXPECT_EQ(hashOf(early, {40}), hashOf(late, {1'040}));
  EXPECT_NE(hashOf(early, {40}), hashOf(late, {1'041}));
}

RC_GTEST_PROP(TimerSet, BehavesLikeAMap, ()) {
  TimerSet timers;
  std::map<std::pair<TimerKind, std::uint32_t>, std::int64_t> model;
  const auto earliest = [&] {
    std::tuple<std::int64_t, TimerKind, std::uint32_t> best{INT64_MAX, TimerKind::sweep, 0};
    for (const auto& [slot, at] : model) best = std::min(best, {at, slot.first, slot.second});
    return best;
  };
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int, int>>>(rc::gen::tuple(
      rc::gen::inRange(0, 4), rc::gen::inRange(0, 4), rc::gen::inRange(0, 4), rc::gen::inRange(0, 20)));
  for (const auto& [what, kindIndex, keyIndex, at] : steps) {
    const auto kind = static_cast<TimerKind>(kindIndex * 3);
    const auto key = static_cast<std::uint32_t>(keyIndex);
    if (what <= 1) {
      timers.set(kind, key, {at});
      model[{kind, key}] = at;
    } else if (what == 2) {
      timers.cancel(kind, key);
      model.erase({kind, key});
    } else {
      Timer due;
      const auto [next, dueKind, dueKey] = earliest();
      const bool taken = timers.takeDue({at}, due);
      RC_ASSERT(taken == (!model.empty() && next <= at));
      if (taken) {
        RC_ASSERT(due.at.ns == next);
        RC_ASSERT(due.kind == dueKind);
        RC_ASSERT(due.key == dueKey);
        model.erase({dueKind, dueKey});
      }
    }
    RC_ASSERT(timers.size() == model.size());
    RC_ASSERT(timers.next().ns == std::get<0>(earliest()));
  }

  // However it came about, an equal set hashes equal.
  TimerSet rebuilt;
  for (auto it = model.rbegin(); it != model.rend(); ++it)
    rebuilt.set(it->first.first, it->first.second, {it->second});
  RC_ASSERT(hashOf(rebuilt, {7}) == hashOf(timers, {7}));
}

}  // namespace
}  // namespace holdfast::protocol
