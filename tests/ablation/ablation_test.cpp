// What a rule buys is found by explorer, stories and sweep, and nothing is found while all rules are on.
#include "ablation/ablation.hpp"

#include <gtest/gtest.h>

#include "ablation/known_bugs.hpp"
#include "ablation/statements.hpp"
#include "scenarios/scenario.hpp"

namespace holdfast::ablation {
namespace {

using protocol::Rule;
using protocol::Rules;

Bounds small() {
  Bounds bounds;
  bounds.states = 3'000;
  bounds.seeds = 20;
  return bounds;
}

TEST(Ablation, TheExplorerFindsAShortestSchedule) {
  const auto found = explore(Rule::DG3_OneDelegate, Rules{}.without(Rule::DG3_OneDelegate), small());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->method, Method::explorer);
  EXPECT_EQ(found->where, "brief");
  EXPECT_EQ(found->checker, "exclusion");
  EXPECT_EQ(found->anomaly, "overlappingAdmissions");
  EXPECT_EQ(found->path.size(), 6U);
  EXPECT_GT(found->effort, 6U);
}

TEST(Ablation, TheSweepNamesItsSeed) {
  const auto found = sweep(Rules{}.without(Rule::DG3_OneDelegate), {}, small());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->where, "mixed");
  EXPECT_LE(found->seed, 20U);
  EXPECT_FALSE(found->checker.empty());
}

TEST(Ablation, StoriesGoWrongAsTheyMust) {
  const std::vector<Breakage> told = tellStories(Rule::DR3_AwaitSettlement);
  ASSERT_GE(told.size(), 2U);
  EXPECT_EQ(told[0].where, "S-22-recall-in-flight-commit");
  EXPECT_EQ(told[0].checker, "freshness");
}

TEST(Ablation, NothingIsFoundWithAllRules) {
  for (const Rule about : {Rule::DG3_OneDelegate, Rule::EP5_Majority, Rule::HM1_NamedOnly}) {
    EXPECT_FALSE(explore(about, Rules{}, small()).has_value());
  }
  EXPECT_FALSE(sweep(Rules{}, {}, small()).has_value());
}

TEST(Ablation, EveryRuleSaysWhatItSays) {
  for (std::size_t i = 0; i < protocol::kRuleCount; ++i) {
    const auto rule = static_cast<Rule>(i);
    EXPECT_FALSE(statementOf(rule).empty()) << protocol::nameOf(rule);
  }
}

TEST(KnownBugs, StandInOrderAndSayHowTheyAreExpressed) {
  std::uint16_t last = 0;
  for (const KnownBug& bug : knownBugs()) {
    EXPECT_GT(bug.number, last);
    last = bug.number;
    EXPECT_FALSE(bug.what.empty());
    const bool missing = bug.expression == Expression::missing;
    EXPECT_EQ(missing, !bug.missing.empty()) << bug.number;
    EXPECT_EQ(missing, bug.story.empty()) << bug.number;
    EXPECT_EQ(bug.expression == Expression::ruleOff, bug.rule.has_value()) << bug.number;
  }
  EXPECT_GT(knownBugs().size(), 70U);
}

TEST(KnownBugs, AreCaughtByTheirStories) {
  std::size_t caught = 0;
  for (const KnownBug& bug : knownBugs()) {
    if (bug.expression == Expression::missing) continue;
    const scenarios::Scenario* story = scenarios::findScenario(bug.story);
    ASSERT_NE(story, nullptr) << bug.number;
    if (bug.expression == Expression::ruleOff) {
      const auto told = scenarios::runTwin(*story, {*bug.rule, bug.checker});
      EXPECT_TRUE(told.reached) << bug.number << ": " << told.explanation;
    } else {
      scenarios::ScenarioContext context;
      const auto told = scenarios::runScenario(*story, context);
      EXPECT_EQ(told.exitCode(), 0) << bug.number;
      EXPECT_TRUE(bug.expression == Expression::outcome || told.report.findings.count(bug.route) > 0)
          << bug.number;
    }
    ++caught;
  }
  EXPECT_GT(caught, 50U);
}

}  // namespace
}  // namespace holdfast::ablation
