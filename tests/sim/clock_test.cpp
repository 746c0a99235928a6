// Clock maps: exact, monotone, inverted by whenReads(), and continuous across changes of rate.
#include "sim/clock.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <utility>
#include <vector>

namespace holdfast::sim {
namespace {

constexpr TrueInstant at(Duration d) { return {d.ns}; }

/// A deviation within what a clock may have.
std::int64_t anyRate() { return *rc::gen::inRange<std::int64_t>(-kMaxRatePpb, kMaxRatePpb + 1); }
/// A true instant within three months.
TrueInstant anyInstant() { return {*rc::gen::inRange<std::int64_t>(0, hours(24 * 90).ns)}; }

// How a deadline is put on a node's clock: read it, add the duration, ask when it will show that.
TEST(MonotonicClock, TutorialADeadlineOnADriftingClock) {
  // 100 ppm fast, that is 100'000 ppb, with an arbitrary origin.
  const MonotonicClock clock(MonotonicInstant{5'000}, 100'000);
  const TrueInstant start = at(seconds(10));
  const MonotonicInstant deadline = clock.at(start) + seconds(30);
  const TrueInstant fires = clock.whenReads(deadline);
  // A fast clock reaches it earlier in true time: 30 s / 1.0001, rounded up.
  EXPECT_EQ((fires - start).ns, 29'997'000'300);
  EXPECT_GE(clock.at(fires), deadline);
  EXPECT_LT(clock.at(fires - nanoseconds(1)), deadline);
}

TEST(MonotonicClock, RunsAtItsRate) {
  const MonotonicClock exact;
  EXPECT_EQ(exact.at(at(hours(1))).ns, hours(1).ns);
  const MonotonicClock half(MonotonicInstant{0}, -kMaxRatePpb);
  EXPECT_EQ(half.at(at(seconds(10))).ns, seconds(5).ns);
  const MonotonicClock fast(MonotonicInstant{7}, kMaxRatePpb);
  EXPECT_EQ(fast.at(at(seconds(10))).ns, seconds(15).ns + 7);
}

TEST(MonotonicClock, AsksForNoMoreThanTheLargestRate) {
  EXPECT_EQ(MonotonicClock({}, 2 * kMaxRatePpb).ratePpb(), kMaxRatePpb);
  EXPECT_EQ(MonotonicClock({}, INT64_MIN).ratePpb(), -kMaxRatePpb);
}

TEST(MonotonicClock, ReadsItsStartBeforeItWasBorn) {
  const MonotonicClock clock(MonotonicInstant{100}, 0, TrueInstant{50});
  EXPECT_EQ(clock.at(TrueInstant{0}).ns, 100);
  EXPECT_EQ(clock.at(TrueInstant{50}).ns, 100);
  EXPECT_EQ(clock.at(TrueInstant{51}).ns, 101);
}

TEST(MonotonicClock, ReadingIsFloored) {
  const MonotonicClock slow(MonotonicInstant{0}, -1);
  EXPECT_EQ(slow.at(TrueInstant{1}).ns, 0);
  EXPECT_EQ(slow.at(TrueInstant{1'000'000'000}).ns, 999'999'999);
  const MonotonicClock fast(MonotonicInstant{0}, 1);
  EXPECT_EQ(fast.at(TrueInstant{999'999'999}).ns, 999'999'999);
  EXPECT_EQ(fast.at(TrueInstant{1'000'000'000}).ns, 1'000'000'001);
}

TEST(MonotonicClock, ARateChangeMovesADeadline) {
  MonotonicClock clock;
  const MonotonicInstant deadline{seconds(30).ns};
  EXPECT_EQ(clock.whenReads(deadline), at(seconds(30)));
  clock.setRate(at(seconds(10)), -kMaxRatePpb);
  EXPECT_EQ(clock.at(at(seconds(10))).ns, seconds(10).ns) << "a change of rate is no jump";
  EXPECT_EQ(clock.whenReads(deadline), at(seconds(50))) << "20 s remain at half speed";
  clock.setRate(at(seconds(20)), kMaxRatePpb);
  EXPECT_EQ(clock.whenReads(deadline), at(seconds(30))) << "15 s remain at one and a half speed";
}

// A thousand changes to the same rate are no change: no reading is rounded away.
TEST(MonotonicClock, ManyChangesLoseNoTime) {
  const MonotonicClock undisturbed(MonotonicInstant{0}, 333'333'333);
  MonotonicClock disturbed = undisturbed;
  for (int i = 1; i <= 1000; ++i) disturbed.setRate(TrueInstant{i * 7}, 333'333'333);
  for (const std::int64_t t : {7'001L, 8'000L, 1'000'000'007L}) {
    EXPECT_EQ(disturbed.at(TrueInstant{t}), undisturbed.at(TrueInstant{t}));
  }
}

TEST(MonotonicClock, AChangeDatedBackCountsAsNow) {
  MonotonicClock clock;
  clock.setRate(at(seconds(10)), 0);
  clock.setRate(at(seconds(5)), kMaxRatePpb);
  EXPECT_EQ(clock.at(at(seconds(10))).ns, seconds(10).ns);
  EXPECT_EQ(clock.at(at(seconds(12))).ns, seconds(13).ns);
}

TEST(MonotonicClock, FreezesAndThaws) {
  MonotonicClock clock(MonotonicInstant{0}, kMaxRatePpb);
  clock.freeze(at(seconds(2)));
  EXPECT_TRUE(clock.frozen());
  EXPECT_EQ(clock.at(at(hours(1))).ns, seconds(3).ns);
  EXPECT_EQ(clock.whenReads(MonotonicInstant{seconds(3).ns}), at(seconds(2))) << "it already shows that";
  EXPECT_EQ(clock.whenReads(MonotonicInstant{seconds(3).ns + 1}), TrueInstant::never());
  clock.thaw(at(seconds(100)));
  EXPECT_EQ(clock.at(at(seconds(102))).ns, seconds(6).ns);
  EXPECT_EQ(clock.whenReads(MonotonicInstant{seconds(6).ns}), at(seconds(102)));
}

TEST(MonotonicClock, ARateSetWhileFrozenCountsFromTheThaw) {
  MonotonicClock clock;
  clock.freeze(at(seconds(1)));
  clock.setRate(at(seconds(2)), kMaxRatePpb);
  EXPECT_EQ(clock.at(at(seconds(3))).ns, seconds(1).ns);
  clock.thaw(at(seconds(3)));
  EXPECT_EQ(clock.at(at(seconds(5))).ns, seconds(4).ns);
}

TEST(MonotonicClock, SaturatesAtTheEnds) {
  const MonotonicClock fast(MonotonicInstant{0}, kMaxRatePpb);
  EXPECT_EQ(fast.at(TrueInstant::never()), MonotonicInstant::never());
  EXPECT_EQ(fast.whenReads(MonotonicInstant::never()), TrueInstant::never());
  const MonotonicClock slow(MonotonicInstant{0}, -kMaxRatePpb);
  EXPECT_EQ(slow.whenReads(MonotonicInstant{INT64_MAX - 1}), TrueInstant::never());
}

RC_GTEST_PROP(MonotonicClock, NeverGoesBack, ()) {
  MonotonicClock clock(MonotonicInstant{*rc::gen::arbitrary<std::int32_t>()}, anyRate());
  TrueInstant now{};
  MonotonicInstant last = clock.at(now);
  for (int i = 0; i < 20; ++i) {
    now = now + nanoseconds(*rc::gen::inRange<std::int64_t>(0, minutes(10).ns));
    RC_ASSERT(clock.at(now) >= last);
    last = clock.at(now);
    const int change = *rc::gen::inRange(0, 4);
    if (change == 0) clock.setRate(now, anyRate());
    if (change == 1) clock.freeze(now);
    if (change == 2) clock.thaw(now);
    RC_ASSERT(clock.at(now) == last);
  }
}

RC_GTEST_PROP(MonotonicClock, WhenReadsIsTheEarliestInstant, ()) {
  MonotonicClock clock(MonotonicInstant{*rc::gen::arbitrary<std::int32_t>()}, anyRate());
  const TrueInstant changed = anyInstant();
  clock.setRate(changed, anyRate());
  const MonotonicInstant wanted =
      clock.at(changed) + nanoseconds(*rc::gen::inRange<std::int64_t>(-1'000, hours(50).ns));
  const TrueInstant found = clock.whenReads(wanted);
  RC_ASSERT(found >= changed);
  RC_ASSERT(clock.at(found) >= wanted);
  RC_ASSERT(found == changed || clock.at(found - nanoseconds(1)) < wanted);
}

RC_GTEST_PROP(MonotonicClock, InvertsItsOwnReadings, ()) {
  const MonotonicClock clock(MonotonicInstant{0}, anyRate());
  const TrueInstant t = anyInstant();
  const TrueInstant back = clock.whenReads(clock.at(t));
  RC_ASSERT(back <= t);
  RC_ASSERT(clock.at(back) == clock.at(t));
}

// The short-interval arithmetic and the 128-bit one must agree; the first is used below some 18 s.
RC_GTEST_PROP(MonotonicClock, AgreesWithWideArithmetic, ()) {
  const std::int64_t rate = anyRate();
  const std::int64_t t = *rc::gen::inRange<std::int64_t>(0, seconds(40).ns);
  const Int128 exact = Int128{t} * (1'000'000'000 + rate) / 1'000'000'000;
  RC_ASSERT(MonotonicClock(MonotonicInstant{0}, rate).at(TrueInstant{t}).ns ==
            static_cast<std::int64_t>(exact));
}

RC_GTEST_PROP(MonotonicClock, SplittingAnIntervalChangesNothing, ()) {
  const std::int64_t rate = anyRate();
  const MonotonicClock whole(MonotonicInstant{3}, rate);
  MonotonicClock split = whole;
  const TrueInstant middle = anyInstant();
  split.setRate(middle, rate);
  const TrueInstant later = middle + nanoseconds(*rc::gen::inRange<std::int64_t>(0, hours(1).ns));
  RC_ASSERT(split.at(later) == whole.at(later));
}

TEST(MonotonicClock, IsAValue) {
  static_assert(std::is_trivially_copyable_v<MonotonicClock>);
  static_assert(std::is_trivially_copyable_v<WallClock>);
  MonotonicClock a(MonotonicInstant{1}, 5);
  const MonotonicClock b = a;
  EXPECT_EQ(a, b);
  a.setRate(at(seconds(1)), 6);
  EXPECT_NE(a, b);
  EXPECT_EQ(b.at(at(seconds(2))).ns, 2'000'000'011);
}

TEST(WallClock, ShowsTrueTimePlusItsOffset) {
  const WallClock ahead(hours(3));
  EXPECT_EQ(ahead.at(at(seconds(1))).ns, (hours(3) + seconds(1)).ns);
  EXPECT_EQ(ahead.offsetAt(at(seconds(1))), hours(3));
  const WallClock behind(-hours(3), kMaxRatePpb);
  EXPECT_EQ(behind.at(at(seconds(10))).ns, (seconds(15) - hours(3)).ns);
}

TEST(WallClock, JumpsBothWays) {
  WallClock clock;
  clock.jump(at(seconds(10)), hours(2));
  EXPECT_EQ(clock.at(at(seconds(10))).ns, (hours(2) + seconds(10)).ns);
  clock.jump(at(seconds(20)), -hours(5));
  EXPECT_EQ(clock.at(at(seconds(20))).ns, (seconds(20) - hours(3)).ns);
  EXPECT_EQ(clock.offsetAt(at(seconds(30))), -hours(3));
}

TEST(WallClock, AJumpLeavesTheRateAlone) {
  WallClock clock(Duration{}, 100'000'000);
  clock.jump(at(seconds(10)), -seconds(1));
  EXPECT_EQ(clock.at(at(seconds(20))).ns, (seconds(22) - seconds(1)).ns);
  clock.setRate(at(seconds(20)), 0);
  EXPECT_EQ(clock.at(at(seconds(30))).ns, seconds(31).ns);
  EXPECT_EQ(clock.ratePpb(), 0);
}

RC_GTEST_PROP(WallClock, JumpsAddUp, (const std::vector<std::int32_t>& steps)) {
  WallClock clock(hours(1));
  Duration total = hours(1);
  std::int64_t t = 0;
  for (const std::int32_t step : steps) {
    clock.jump(TrueInstant{t += 1000}, Duration{step});
    total = total + Duration{step};
  }
  RC_ASSERT(clock.offsetAt(TrueInstant{t + 5}) == total);
}

}  // namespace
}  // namespace holdfast::sim
