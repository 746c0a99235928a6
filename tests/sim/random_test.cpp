// Keyed draws: pure, independent of each other's presence, and evenly spread.
#include "sim/random.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <vector>

namespace holdfast::sim {
namespace {

constexpr std::uint64_t kLatency = 1;
constexpr std::uint64_t kLoss = 2;

// How to draw: name the stream, the entity and the index, in any order, as often as you like.
TEST(KeyedRandom, TutorialADrawIsAFunctionOfItsKey) {
  constexpr KeyedRandom random{42};
  const Duration third =
      random.between(microseconds(100), microseconds(900), kLatency, /*link*/ 7, /*message*/ 3);
  const bool lost = random.chance(/*ppm*/ 250'000, kLoss, 7, 3);
  EXPECT_GE(third, microseconds(100));
  EXPECT_LE(third, microseconds(900));
  EXPECT_EQ(random.between(microseconds(100), microseconds(900), kLatency, 7, 3), third);
  EXPECT_EQ(random.chance(250'000, kLoss, 7, 3), lost);
}

// A recorded run replays only if these never change, on any compiler.
TEST(KeyedRandom, BitsAreTheSameOnEveryPlatform) {
  static_assert(KeyedRandom{0}.bits(0, 0, 0) == 0xb42d4dce2282b26cULL);
  EXPECT_EQ(KeyedRandom{1}.bits(2, 3, 4), 0x78dec6200df28dbdULL);
  EXPECT_EQ(KeyedRandom{UINT64_MAX}.bits(UINT64_MAX, UINT64_MAX, UINT64_MAX), 0xba43d6a7b3e97640ULL);
  EXPECT_EQ(mix(5, 6), 0x0bbb0b15c77e7a0fULL);
}

TEST(KeyedRandom, EveryPartOfTheKeyMatters) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t stream = 0; stream < 10; ++stream)
      for (std::uint64_t entity = 0; entity < 10; ++entity)
        for (std::uint64_t index = 0; index < 10; ++index)
          seen.insert(KeyedRandom{seed}.bits(stream, entity, index));
  EXPECT_EQ(seen.size(), 10'000U);
}

TEST(KeyedRandom, NeighbouringKeysDifferInAboutHalfTheBits) {
  std::array<std::int64_t, 4> flipped{};
  constexpr std::uint64_t kDraws = 4096;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::uint64_t base = KeyedRandom{i}.bits(i, i, i);
    flipped[0] += std::popcount(base ^ KeyedRandom{i + 1}.bits(i, i, i));
    flipped[1] += std::popcount(base ^ KeyedRandom{i}.bits(i + 1, i, i));
    flipped[2] += std::popcount(base ^ KeyedRandom{i}.bits(i, i + 1, i));
    flipped[3] += std::popcount(base ^ KeyedRandom{i}.bits(i, i, i + 1));
  }
  for (const std::int64_t bits : flipped) {
    EXPECT_NEAR(static_cast<double>(bits) / kDraws, 32.0, 0.5);
  }
}

TEST(KeyedRandom, BelowIsEvenlySpread) {
  constexpr KeyedRandom random{7};
  constexpr std::uint64_t kCells = 16;
  constexpr std::uint64_t kDraws = 64'000;
  std::array<std::int64_t, kCells> counts{};
  for (std::uint64_t i = 0; i < kDraws; ++i) ++counts[random.below(kCells, kLatency, 0, i)];
  double chiSquare = 0;
  for (const std::int64_t count : counts) {
    const double expected = static_cast<double>(kDraws) / kCells;
    chiSquare += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
  }
  // 15 degrees of freedom: 37.7 is exceeded with probability 0.001, and the draws are fixed.
  EXPECT_LT(chiSquare, 37.7);
}

TEST(KeyedRandom, ChanceHitsAsOftenAsAskedFor) {
  constexpr KeyedRandom random{9};
  std::int64_t hits = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) hits += random.chance(30'000, kLoss, 1, i) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(hits), 3'000.0, 250.0);
}

TEST(KeyedRandom, TheEdgesOfChanceAreCertain) {
  constexpr KeyedRandom random{3};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_FALSE(random.chance(0, kLoss, 0, i));
    EXPECT_TRUE(random.chance(kPpmOne, kLoss, 0, i));
    EXPECT_TRUE(random.chance(UINT32_MAX, kLoss, 0, i));
  }
}

TEST(KeyedRandom, TheEdgesOfRangesAreReachedAndKept) {
  constexpr KeyedRandom random{3};
  std::set<std::int64_t> seen;
  for (std::uint64_t i = 0; i < 200; ++i) seen.insert(random.between({-2}, {2}, kLatency, 0, i).ns);
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(random.between({5}, {5}, kLatency, 0, 0).ns, 5);
  EXPECT_EQ(random.between({5}, {4}, kLatency, 0, 0).ns, 5) << "a range out of order counts as its lower end";
  EXPECT_EQ(random.below(0, kLatency, 0, 0), 0U);
  EXPECT_EQ(random.below(1, kLatency, 0, 0), 0U);
}

RC_GTEST_PROP(KeyedRandom, DrawsStayInRange,
              (std::uint64_t seed, std::int64_t a, std::int64_t b, std::uint64_t index)) {
  const KeyedRandom random{seed};
  const Duration lo{std::min(a, b)};
  const Duration hi{std::max(a, b)};
  const Duration drawn = random.between(lo, hi, kLatency, 1, index);
  RC_ASSERT(drawn >= lo);
  RC_ASSERT(drawn <= hi);
  const auto bound = *rc::gen::inRange<std::uint64_t>(1, UINT64_MAX);
  RC_ASSERT(random.below(bound, kLatency, 1, index) < bound);
}

// What shrinking rests on: leave out any set of draws, and all others are what they were.
RC_GTEST_PROP(KeyedRandom, RemovingDrawsChangesNoOther,
              (std::uint64_t seed, const std::vector<bool>& removed)) {
  const KeyedRandom random{seed};
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < removed.size(); ++i) all.push_back(random.bits(kLatency, i % 3, i));
  for (std::size_t i = 0; i < removed.size(); ++i) {
    if (!removed[i]) RC_ASSERT(random.bits(kLatency, i % 3, i) == all[i]);
  }
}

TEST(KeyedRandom, DerivedSourcesAreUnrelated) {
  constexpr KeyedRandom random{11};
  EXPECT_NE(random.derived(0).seed, random.derived(1).seed);
  EXPECT_NE(random.derived(0).bits(1, 1, 1), random.bits(1, 1, 1));
}

RC_GTEST_PROP(Mix, IsABijectionInEitherArgument, (std::uint64_t a, std::uint64_t b, std::uint64_t c)) {
  RC_PRE(b != c);
  RC_ASSERT(mix(a, b) != mix(a, c));
  RC_ASSERT(mix(b, a) != mix(c, a));
}

TEST(LatencyDistribution, BodyAndTailHaveTheirShares) {
  constexpr LatencyDistribution latency{microseconds(100), microseconds(500), milliseconds(5), 100'000};
  constexpr KeyedRandom random{5};
  std::int64_t inTail = 0;
  Duration least = latency.tail;
  Duration most{};
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    const Duration d = latency.sample(random, kLatency, 0, i);
    ASSERT_GE(d, latency.minimum);
    ASSERT_LE(d, latency.tail);
    inTail += d > latency.typical ? 1 : 0;
    least = std::min(least, d);
    most = std::max(most, d);
  }
  EXPECT_NEAR(static_cast<double>(inTail), 5'000.0, 300.0);
  EXPECT_LT(least, microseconds(101));
  EXPECT_GT(most, microseconds(4'990));
}

TEST(LatencyDistribution, WithoutTailItNeverExceedsTypical) {
  constexpr LatencyDistribution latency{{10}, {20}, {1'000}, 0};
  constexpr KeyedRandom random{5};
  std::set<std::int64_t> seen;
  for (std::uint64_t i = 0; i < 500; ++i) seen.insert(latency.sample(random, kLatency, 0, i).ns);
  EXPECT_EQ(seen.size(), 11U);
  EXPECT_EQ(*seen.begin(), 10);
  EXPECT_EQ(*seen.rbegin(), 20);
  EXPECT_EQ(LatencyDistribution::constant({7}).sample(random, kLatency, 0, 0).ns, 7);
}

}  // namespace
}  // namespace holdfast::sim
