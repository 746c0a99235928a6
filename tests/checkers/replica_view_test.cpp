// Which entries of a log show in a replica, and what an observer knows of a node's clock.
#include "checkers/replica_view.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <set>

#include "checkers/node_clock.hpp"
#include "sim/clock.hpp"

namespace holdfast::checkers {
namespace {

TEST(ReplicaView, APrefixGrowsEntryByEntry) {
  ReplicaView view;
  EXPECT_EQ(view.prefix(), 0U);
  EXPECT_FALSE(view.shows(1));
  EXPECT_TRUE(view.showsAllUpTo(0));
  for (obs::Position p = 1; p <= 5; ++p) view.applied(p);
  EXPECT_EQ(view.prefix(), 5U);
  EXPECT_TRUE(view.showsAllUpTo(5));
  EXPECT_FALSE(view.showsAllUpTo(6));
  EXPECT_FALSE(view.hasHoles());
}

TEST(ReplicaView, AFailureIsAHoleUntilItIsRepaired) {
  ReplicaView view;
  view.applied(1);
  view.failed(2);
  view.applied(3);
  EXPECT_FALSE(view.shows(2));
  EXPECT_TRUE(view.shows(3));
  EXPECT_EQ(view.prefix(), 1U);
  EXPECT_FALSE(view.showsAllUpTo(3));
  view.repaired(2);
  EXPECT_EQ(view.prefix(), 3U);
  EXPECT_TRUE(view.showsAllUpTo(3));
}

TEST(ReplicaView, AGapHidesARangeOfWhichSingleEntriesCanBeRepaired) {
  ReplicaView view;
  view.gap(1, 5);
  view.applied(6);
  EXPECT_EQ(view.lastJump(), 0U);
  view.repaired(3);
  EXPECT_TRUE(view.shows(3));
  EXPECT_FALSE(view.shows(2));
  EXPECT_FALSE(view.shows(4));
  EXPECT_EQ(view.prefix(), 0U);
  for (const obs::Position p : {1U, 2U, 4U, 5U}) view.repaired(p);
  EXPECT_EQ(view.prefix(), 6U);
}

TEST(ReplicaView, AGapBehindWhatIsQueuedLetsTheQueueComeFirst) {
  ReplicaView view;
  view.applied(1);
  view.gap(4, 6);  // 2 and 3 were received and are not applied yet
  view.applied(2);
  view.applied(3);
  EXPECT_EQ(view.lastJump(), 0U);
  EXPECT_EQ(view.prefix(), 3U);
  EXPECT_FALSE(view.shows(5));
}

TEST(ReplicaView, AJumpIsToldAndLeavesAHole) {
  ReplicaView view;
  view.applied(1);
  view.applied(4);
  EXPECT_EQ(view.lastJump(), 2U);
  EXPECT_EQ(view.prefix(), 1U);
  view.applied(2);
  EXPECT_EQ(view.lastJump(), 0U);
  EXPECT_EQ(view.prefix(), 2U);
}

RC_GTEST_PROP(ReplicaView, ShowsExactlyWhatWasAppliedOrRepaired,
              (const std::vector<std::pair<int, std::uint8_t>>& steps)) {
  ReplicaView view;
  std::set<obs::Position> shown;
  std::set<obs::Position> met;
  obs::Position reached = 0;
  for (const auto& [kind, raw] : steps) {
    const obs::Position p = 1 + raw % 40;
    switch ((kind % 3 + 3) % 3) {
      case 0:
        view.applied(p);
        shown.insert(p);
        reached = std::max(reached, p);
        break;
      case 1:
        view.failed(p);
        shown.erase(p);
        reached = std::max(reached, p);
        break;
      default:
        view.repaired(p);
        if (p <= reached) shown.insert(p);
        break;
    }
  }
  obs::Position prefix = 0;
  while (shown.contains(prefix + 1)) ++prefix;
  for (obs::Position p = 1; p <= 41; ++p) RC_ASSERT(view.shows(p) == shown.contains(p));
  RC_ASSERT(view.prefix() == prefix);
  RC_ASSERT(view.showsAllUpTo(prefix));
  RC_ASSERT(!view.showsAllUpTo(prefix + 1));
}

TEST(NodeClock, ReadsTrueTimeUntilItIsObserved) {
  const NodeClock clock;
  EXPECT_EQ(clock.at({7}), obs::MonotonicInstant{7});
  EXPECT_TRUE(clock.surelyBefore({8}, {7}));
  EXPECT_TRUE(clock.surelyReached({7}, {7}));
}

TEST(NodeClock, IsExactAtFirstAndSureToANanosecondAfterAChange) {
  NodeClock clock;
  clock.set({0}, {{100}, 0});
  EXPECT_TRUE(clock.surelyBefore({110}, {9}));
  EXPECT_FALSE(clock.surelyBefore({110}, {10}));
  EXPECT_TRUE(clock.surelyReached({110}, {10}));
  clock.set({10}, {{110}, 0});
  EXPECT_FALSE(clock.surelyBefore({120}, {19})) << "a fraction of a nanosecond may be missing";
  EXPECT_FALSE(clock.surelyReached({120}, {19}));
  EXPECT_TRUE(clock.surelyBefore({120}, {18}));
  EXPECT_TRUE(clock.surelyReached({120}, {20}));
}

/// The observer's readings agree with the simulated clock, through changes of rate, to the nanosecond that a
/// ClockRate observation may hide at each change.
RC_GTEST_PROP(NodeClock, AgreesWithTheSimulatedClock,
              (std::int32_t firstRate, std::vector<std::pair<std::uint32_t, std::int32_t>> changes,
               std::uint32_t last)) {
  sim::MonotonicClock real(sim::MonotonicInstant{12'345}, firstRate);
  NodeClock observed;
  observed.set({0}, {real.at({0}), real.ratePpb()});
  std::int64_t now = 0;
  for (const auto& [elapsed, rate] : changes) {
    now += elapsed;
    const std::int64_t hidden = real.at({now}).ns - observed.at({now}).ns;
    RC_ASSERT(hidden >= 0);
    RC_ASSERT(hidden <= 1);
    real.setRate({now}, rate);
    observed.set({now}, {real.at({now}), real.ratePpb()});
  }
  now += last;
  const sim::MonotonicInstant reading = real.at({now});
  RC_ASSERT(!observed.surelyBefore(reading, {now}));
  RC_ASSERT(!observed.surelyReached({reading.ns + 1}, {now}));
  if (changes.empty()) RC_ASSERT(observed.at({now}) == reading);
  RC_ASSERT(observed.at(observed.whenReads({reading.ns + 1000})).ns >= reading.ns + 1000);
}

}  // namespace
}  // namespace holdfast::checkers
