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

TEST(ReplicaView, HolesStandInTheOrderOfPositionsAndShowNothing) {
  ReplicaView failed;
  failed.applied(1);
  failed.applied(2);
  failed.applied(3);
  failed.failed(3);
  failed.failed(2);
  failed.failed(2);
  EXPECT_EQ(failed.prefix(), 1U) << "the earlier hole, though it came later";
  failed.repaired(2);
  EXPECT_TRUE(failed.shows(2)) << "one repair mends what failed twice";
  EXPECT_FALSE(failed.shows(4));
  EXPECT_FALSE(failed.showsAllUpTo(3));
  EXPECT_TRUE(failed.showsAllUpTo(2));

  ReplicaView jumped;
  jumped.applied(1);
  jumped.applied(4);
  jumped.failed(6);
  EXPECT_EQ(jumped.lastJump(), 0U) << "a failure is no jump";
  EXPECT_FALSE(jumped.shows(5));
  EXPECT_EQ(jumped.reached(), 6U);
  jumped.gap(2, 3);
  EXPECT_TRUE(jumped.shows(4)) << "what shows stays";
  jumped.gap(9, 9);
  EXPECT_EQ(jumped.reached(), 9U);
  EXPECT_FALSE(jumped.shows(7)) << "nor was it met before the gap";
  EXPECT_FALSE(jumped.shows(9));
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

TEST(NodeClock, SaysWhenItReadsAnInstantToTheNanosecondAbove) {
  NodeClock slow;
  slow.set({100}, {{1000}, -300'000'000});
  EXPECT_EQ(slow.at({50}), obs::MonotonicInstant{1000}) << "from before its last change nothing is known";
  EXPECT_EQ(slow.at({101}), obs::MonotonicInstant{1000}) << "0.7 ns, rounded down";
  EXPECT_EQ(slow.whenReads({1000}), obs::TrueInstant{100});
  EXPECT_EQ(slow.whenReads({900}), obs::TrueInstant{100});
  EXPECT_EQ(slow.whenReads({1001}), obs::TrueInstant{102});
  EXPECT_EQ(slow.whenReads({1007}), obs::TrueInstant{110});
  EXPECT_EQ(slow.whenReads({INT64_MAX}), obs::TrueInstant::never());

  NodeClock stopped;
  stopped.set({0}, {{0}, -1'000'000'000});
  EXPECT_EQ(stopped.at({1'000'000}), obs::MonotonicInstant{0});
  EXPECT_EQ(stopped.whenReads({1}), obs::TrueInstant::never());
}

TEST(NodeClock, DeviatesByMoreThanFits) {
  NodeClock clock;  // after forty years, at 200 parts in a thousand
  clock.set({0}, {{0}, -200'000'000});
  const std::int64_t elapsed = 1'261'440'000'000'000'001;
  EXPECT_EQ(clock.at({elapsed}), obs::MonotonicInstant{1'009'152'000'000'000'000});
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
