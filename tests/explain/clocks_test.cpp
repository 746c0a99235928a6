// What every node's clocks read, and when they read it.
#include "explain/clocks.hpp"

#include <gtest/gtest.h>

#include "tests/explain/run_builder.hpp"

namespace holdfast::explain {
namespace {

TEST(Clocks, ReadTrueTimeUnlessTheRunSaysOtherwise) {
  const Clocks clocks({});
  EXPECT_EQ(clocks.monotonic(kB, {5}).ns, 5);
  EXPECT_EQ(clocks.wall(kB, {-5}).ns, -5);
}

TEST(Clocks, FollowRateAndJumps) {
  RunBuilder b;
  b.add(0, kA, obs::ClockRate{{100 * kMillisecond}, 500'000'000});
  b.add(10, kA, obs::ClockRate{{115 * kMillisecond}, -500'000'000});
  b.add(0, kA, obs::WallSet{{0}, 0});
  b.add(20, kA, obs::WallSet{{-7 * kMillisecond}, 0});
  const Clocks clocks(b.run);
  EXPECT_EQ(clocks.monotonic(kA, {4 * kMillisecond}).ns, 106 * kMillisecond);
  EXPECT_EQ(clocks.monotonic(kA, {12 * kMillisecond}).ns, 116 * kMillisecond);
  EXPECT_EQ(clocks.ratePpb(kA, {12 * kMillisecond}), -500'000'000);
  EXPECT_EQ(clocks.wall(kA, {21 * kMillisecond}).ns, -6 * kMillisecond);
}

TEST(Clocks, ReadingsAreFloored) {
  RunBuilder b;
  b.add(0, kA, obs::ClockRate{{0}, -1});
  const Clocks clocks(b.run);
  EXPECT_EQ(clocks.monotonic(kA, {1}).ns, 0);
}

TEST(Clocks, FindTheInstantOfAReadingAcrossAChangeOfRate) {
  RunBuilder b;
  b.add(0, kA, obs::ClockRate{{0}, 0});
  b.add(10, kA, obs::ClockRate{{10 * kMillisecond}, 1'000'000'000});
  const Clocks clocks(b.run);
  EXPECT_EQ(clocks.whenReads(kA, {8 * kMillisecond}, {0}).ns, 8 * kMillisecond);
  EXPECT_EQ(clocks.whenReads(kA, {16 * kMillisecond}, {0}).ns, 13 * kMillisecond);
  EXPECT_EQ(clocks.whenReads(kA, {8 * kMillisecond}, {9 * kMillisecond}).ns, 9 * kMillisecond)
      << "it is past already";
  EXPECT_EQ(clocks.whenReads(kA, obs::MonotonicInstant::never(), {0}), obs::TrueInstant::never());
}

TEST(Clocks, ClaimsOfAForeignTraceDoNotOverflow) {
  RunBuilder b;
  b.add(0, kA, obs::ClockRate{{INT64_MAX - 1}, INT64_MAX});
  b.add(1, kB, obs::ClockRate{{INT64_MIN}, INT64_MIN});
  const Clocks clocks(b.run);
  EXPECT_EQ(clocks.monotonic(kA, {INT64_MAX}).ns, INT64_MAX);
  EXPECT_EQ(clocks.monotonic(kB, {INT64_MAX}).ns, INT64_MIN);
  EXPECT_EQ(clocks.whenReads(kB, {0}, {0}), obs::TrueInstant::never());
}

}  // namespace
}  // namespace holdfast::explain
