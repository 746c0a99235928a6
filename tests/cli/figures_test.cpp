#include "cli/figures.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

TEST(Figures, AreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(grouped(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Figures, AreRoundedToThreeDigits) {
  EXPECT_EQ(rounded(0), "0");
  EXPECT_EQ(rounded(7), "7");
  EXPECT_EQ(rounded(7.25), "7.25");
  EXPECT_EQ(rounded(999.4), "999");
  EXPECT_EQ(rounded(999.6), "1.00 k");
  EXPECT_EQ(rounded(12'345), "12.3 k");
  EXPECT_EQ(rounded(3'400'000), "3.40 M");
  EXPECT_EQ(rounded(-1), "-");
}

TEST(Figures, TimesHaveAFittingUnit) {
  EXPECT_EQ(elapsed(0ns), "0.000 ms");
  EXPECT_EQ(elapsed(1'500us), "1.500 ms");
  EXPECT_EQ(elapsed(70s), "70.000 s");
  EXPECT_EQ(elapsed(10min), "10 min 0 s");
  EXPECT_EQ(elapsed(61min), "1 h 1 min");
  EXPECT_EQ(elapsed(23h), "23 h 0 min");
}

TEST(Figures, RatesOfNoTimeAreNotGuessed) {
  EXPECT_EQ(perSecond(500, 0s), "-");
  EXPECT_EQ(perSecond(500, 2s), "250");
  EXPECT_EQ(speedup(70'000'000'000, 0s), "-");
  EXPECT_EQ(speedup(70'000'000'000, 10ms), "7,000x");
  EXPECT_EQ(speedup(3'000'000'000, 2s), "1.5x");
}

TEST(Figures, NounsAgreeWithTheirNumber) {
  EXPECT_EQ(counted(0, "seed"), "0 seeds");
  EXPECT_EQ(counted(1, "seed"), "1 seed");
  EXPECT_EQ(counted(1'000, "seed"), "1,000 seeds");
}

}  // namespace
}  // namespace holdfast::cli
