// Checking properties: they hold for every history inside the assumption, and each rule that they rest on is
// missed within the budget of CI.
#include "skew/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace holdfast::skew {
namespace {

using protocol::Rule;

constexpr std::uint64_t kBudget = 3'000;

CheckOptions optionsFor(std::uint64_t cases) {
  CheckOptions options;
  options.cases = cases;
  options.jobs = std::max(1U, std::thread::hardware_concurrency());
  return options;
}

bool breaks(const CheckReport& report, Property property) {
  return report.failed &&
         std::ranges::any_of(report.failed->broken, [&](const Broken& b) { return b.property == property; });
}

TEST(Check, HoldsForEveryHistoryInsideTheAssumption) {
  const CheckReport report = check(optionsFor(300));
  if (report.failed) {
    const Broken& broken = report.failed->broken.front();
    FAIL() << "case " << report.failed->made.index << " breaks " << obs::nameOf(broken.property) << ": "
           << (broken.signature ? checkers::describe(*broken.signature) : "two runs differ");
  }
  EXPECT_EQ(report.judged, 300U);
  EXPECT_EQ(report.distribution.cases(), 300U);
  EXPECT_EQ(report.distribution.outside(), 0U);
  EXPECT_GT(report.distribution.admissions(), 1'000U);
  for (const CountGroup& group : report.distribution.groups()) {
    const bool counted = std::ranges::any_of(group.counts, [](const auto& c) { return c.second > 0; });
    EXPECT_TRUE(counted) << group.title;
  }
}

class RuleOffTest : public testing::TestWithParam<Rule> {};

TEST_P(RuleOffTest, IsMissedWithinTheBudget) {
  CheckOptions options = optionsFor(kBudget);
  options.properties = {};
  options.properties.insert(Property::exclusion);
  options.rules.switchOff(GetParam());
  EXPECT_TRUE(breaks(check(options), Property::exclusion));
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleOffTest,
                         testing::Values(Rule::CK2_DurationsOnly, Rule::CK3_SkewMargin,
                                         Rule::CK5_MonotonicLeases, Rule::DG3_OneDelegate,
                                         Rule::DG4_AnchorAtSend, Rule::DG5_MinUseful, Rule::EP7_Reservation,
                                         Rule::EP8_AnchorAtReceipt, Rule::EP8_WaitsOut,
                                         Rule::EP10_RestartReserves),
                         [](const auto& rule) { return std::string(protocol::nameOf(rule.param)); });

TEST(Check, EachPropertyIsMissedWithoutARuleThatItRestsOn) {
  for (const auto& [property, rule] : {std::pair(Property::exclusion, Rule::DG3_OneDelegate),
                                       std::pair(Property::wall, Rule::CK5_MonotonicLeases),
                                       std::pair(Property::freshness, Rule::FR1_ReleaseCarriesPosition),
                                       std::pair(Property::anomalies, Rule::FR2_InheritDependencies),
                                       std::pair(Property::liveness, Rule::CK2_DurationsOnly)}) {
    CheckOptions options = optionsFor(kBudget);
    options.properties = {};
    options.properties.insert(property);
    options.rules.switchOff(rule);
    EXPECT_TRUE(breaks(check(options), property)) << obs::nameOf(property);
  }
}

TEST(Check, FindsWhatLiesOutsideTheAssumption) {
  CheckOptions drift = optionsFor(kBudget);
  drift.generator.maxDriftPpb = 200'000'000;
  const CheckReport fast = check(drift);
  ASSERT_TRUE(breaks(fast, Property::exclusion));
  EXPECT_FALSE(fast.failed->made.insideAssumption());
  CheckOptions frozen = optionsFor(kBudget);
  frozen.generator.frozen = true;
  const CheckReport stopped = check(frozen);
  ASSERT_TRUE(breaks(stopped, Property::exclusion));
  EXPECT_FALSE(stopped.failed->made.insideAssumption());
}

TEST(Check, DoesNotDependOnTheNumberOfJobs) {
  CheckOptions options = optionsFor(kBudget);
  options.rules.switchOff(Rule::DG4_AnchorAtSend);
  options.jobs = 1;
  const CheckReport one = check(options);
  options.jobs = 3;
  const CheckReport three = check(options);
  ASSERT_TRUE(one.failed && three.failed);
  EXPECT_EQ(one.judged, three.judged);
  EXPECT_EQ(one.failed->made.whole, three.failed->made.whole);
  EXPECT_EQ(one.failed->broken, three.failed->broken);
  EXPECT_EQ(one.distribution.admissions(), three.distribution.admissions());
}

TEST(Property, WallClocksAreAllThatTrueWallsTakeAway) {
  for (std::uint64_t index = 0; index < 40; ++index) {
    const Generated made = generate({}, index);
    const shrink::Case calm = withTrueWalls(made.whole);
    for (std::size_t i = 0; i < calm.plan.clocks.size(); ++i) {
      EXPECT_EQ(calm.plan.clocks[i].wallOffset, sim::Duration{});
      EXPECT_EQ(calm.plan.clocks[i].ratePpb, made.whole.plan.clocks[i].ratePpb);
    }
    EXPECT_EQ(calm.plan.operations, made.whole.plan.operations);
    EXPECT_EQ(withTrueWalls(calm), calm);
  }
}

}  // namespace
}  // namespace holdfast::skew
