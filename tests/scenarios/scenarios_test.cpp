// Every directed scenario holds with all rules on, and every twin goes wrong in the way it says.
#include "scenarios/scenario.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <charconv>
#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "checkers/finding.hpp"
#include "observations/reflect.hpp"

namespace holdfast::scenarios {
namespace {

constexpr std::uint64_t kSeeds[] = {1, 2, 77};

std::string told(const ScenarioResult& result) {
  std::string text;
  for (const std::string& line : result.unmet) text += "\n  unmet: " + line;
  const checkers::Names names{result.report.nodeNames, result.report.keyNames};
  for (const checkers::Finding& finding : result.report.findings.violations()) {
    text += "\n  " + std::string(obs::nameOf(finding.checker)) + ": " + checkers::describe(finding, names);
  }
  return text;
}

/// The rules of the specification, and its scenarios: for each group the number of the last one.
const std::map<std::string_view, int> kLastRule{{"CK", 5}, {"EP", 14}, {"HM", 7}, {"RT", 4}, {"DG", 10},
                                                {"TK", 3}, {"LH", 5},  {"DR", 6}, {"FR", 9}, {"LW", 3},
                                                {"BD", 5}, {"X", 2},   {"L", 2},  {"S", 70}, {"RA", 6}};

/// Whether the specification has a rule of that id, such as "DG-3" or "L-2a".
bool isRule(std::string_view id) {
  const std::size_t hyphen = id.find('-');
  const auto group = kLastRule.find(id.substr(0, hyphen));
  if (hyphen == std::string_view::npos || group == kLastRule.end()) return false;
  int number = 0;
  const char* const end = id.data() + id.size();
  const auto [rest, failure] = std::from_chars(id.data() + hyphen + 1, end, number);
  const bool route = group->first == "L" && end - rest == 1 && *rest >= 'a' && *rest <= 'c';
  return failure == std::errc{} && (rest == end || route) && number >= 1 && number <= group->second;
}

std::vector<std::string> idsOf(std::string_view rules) {
  std::vector<std::string> ids;
  std::string id;
  for (const char c : std::string(rules) + ',') {
    if (c == ',') {
      ids.push_back(id);
      id.clear();
    } else if (c != ' ') {
      id += c;
    }
  }
  return ids;
}

std::string testName(std::string_view name) {
  std::string text;
  for (const char c : name) text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return text;
}

// ---- Each scenario ----------------------------------------------------------------------------------------

/// A scenario that a failing test prints by its name.
struct Case {
  const Scenario* scenario = nullptr;

  friend std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.scenario->name; }
};

std::vector<Case> everyCase() {
  std::vector<Case> all;
  for (const Scenario& scenario : allScenarios()) all.push_back({&scenario});
  return all;
}

std::string nameOfCase(const testing::TestParamInfo<Case>& one) { return testName(one.param.scenario->name); }

class EveryScenario : public testing::TestWithParam<Case> {};

TEST_P(EveryScenario, HoldsWithAllRulesOn) {
  for (const std::uint64_t seed : kSeeds) {
    ScenarioContext context{seed, {}, nullptr, nullptr};
    const ScenarioResult result = runScenario(*GetParam().scenario, context);
    EXPECT_EQ(result.exitCode(), 0) << "seed " << seed << told(result);
    EXPECT_GT(result.expectations, 0U);
    EXPECT_TRUE(result.unmet.empty()) << told(result);
    EXPECT_GT(result.report.observations, 0U);
  }
}

/// What a story promises hangs on no draw, such as how long a proposer pauses.
TEST_P(EveryScenario, HoldsForOtherSeeds) {
  for (std::uint64_t seed = 100; seed < 125; ++seed) {
    ScenarioContext context{seed, {}, nullptr, nullptr};
    const ScenarioResult result = runScenario(*GetParam().scenario, context);
    EXPECT_EQ(result.exitCode(), 0) << "seed " << seed << told(result);
  }
}

TEST_P(EveryScenario, IsDecidedByItsSeed) {
  ScenarioContext first{5, {}, nullptr, nullptr};
  ScenarioContext second{5, {}, nullptr, nullptr};
  const ScenarioResult once = runScenario(*GetParam().scenario, first);
  const ScenarioResult again = runScenario(*GetParam().scenario, second);
  EXPECT_EQ(once.report.hash, again.report.hash);
  EXPECT_EQ(once.report.observations, again.report.observations);
  EXPECT_EQ(once.notes, again.notes);
}

TEST_P(EveryScenario, SaysWhatItIsAbout) {
  const Scenario& scenario = *GetParam().scenario;
  EXPECT_TRUE(scenario.name.starts_with("S-") || scenario.name.starts_with("R-")) << scenario.name;
  EXPECT_FALSE(scenario.story.empty());
  EXPECT_TRUE(scenario.story.ends_with('.')) << scenario.story;
  for (const std::string& id : idsOf(scenario.rules)) EXPECT_TRUE(isRule(id)) << "'" << id << "'";
}

INSTANTIATE_TEST_SUITE_P(All, EveryScenario, testing::ValuesIn(everyCase()), nameOfCase);

// ---- Each twin --------------------------------------------------------------------------------------------

struct TwinCase {
  const Scenario* scenario = nullptr;
  Twin twin;

  friend std::ostream& operator<<(std::ostream& out, const TwinCase& one) {
    return out << one.scenario->name << " without " << protocol::nameOf(one.twin.rule);
  }
};

std::vector<TwinCase> everyTwin() {
  std::vector<TwinCase> all;
  for (const Scenario& scenario : allScenarios()) {
    for (const Twin& twin : scenario.twins) all.push_back({&scenario, twin});
  }
  return all;
}

std::string nameOfTwin(const testing::TestParamInfo<TwinCase>& one) {
  const Twin& twin = one.param.twin;
  return fmt::format("{}_without_{}_by_{}", testName(one.param.scenario->name), protocol::nameOf(twin.rule),
                     obs::nameOf(twin.checker));
}

class EveryTwin : public testing::TestWithParam<TwinCase> {};

TEST_P(EveryTwin, GoesWrongAndItsCheckerSaysSo) {
  const TwinCase& one = GetParam();
  for (const std::uint64_t seed : kSeeds) {
    const TwinResult result = runTwin(*one.scenario, one.twin, {seed, {}, nullptr, nullptr});
    EXPECT_TRUE(result.reached) << "seed " << seed << ": " << result.explanation << told(result.result);
    EXPECT_EQ(result.exitCode(), 0);
    EXPECT_NE(result.result.exitCode(), 0);
    bool named = false;
    for (const checkers::Finding& finding : result.result.report.findings.violations()) {
      named = named || finding.checker == one.twin.checker;
    }
    EXPECT_TRUE(named) << "no kept violation is by " << obs::nameOf(one.twin.checker);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryTwin, testing::ValuesIn(everyTwin()), nameOfTwin);

// ---- The list ---------------------------------------------------------------------------------------------

TEST(AllScenarios, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Scenario& scenario : allScenarios()) {
    EXPECT_TRUE(names.insert(scenario.name).second) << scenario.name;
    EXPECT_EQ(findScenario(scenario.name), &scenario);
  }
  EXPECT_FALSE(names.empty());
}

TEST(AllScenarios, CoverEachRuleByATwin) {
  std::set<protocol::Rule> covered;
  for (const Scenario& scenario : allScenarios()) {
    for (const Twin& twin : scenario.twins) covered.insert(twin.rule);
  }
  for (std::size_t i = 0; i < protocol::kRuleCount; ++i) {
    const auto rule = static_cast<protocol::Rule>(i);
    EXPECT_TRUE(covered.contains(rule)) << "no twin goes without " << protocol::nameOf(rule);
  }
}

TEST(AllScenarios, AreFoundByTheirIdWhenItIsTheirs) {
  const Scenario* const cold = findScenario("S-01");
  ASSERT_NE(cold, nullptr);
  EXPECT_EQ(cold->name, "S-01-cold-key");
  EXPECT_EQ(findScenario("S-02"), nullptr) << "there are several";
  EXPECT_EQ(findScenario("S-0"), nullptr);
  EXPECT_EQ(findScenario("no such scenario"), nullptr);
  EXPECT_EQ(scenariosNamed("S-02-").size(), 3U);
  EXPECT_EQ(scenariosNamed("").size(), allScenarios().size());
  EXPECT_TRUE(scenariosNamed("no such scenario").empty());
}

TEST(AllScenarios, ATwinWhoseCheckerFindsNothingIsNotReached) {
  const Scenario* const home = findScenario("S-05");
  ASSERT_NE(home, nullptr);
  const TwinResult harmless =
      runTwin(*home, {protocol::Rule::DR3_AwaitSettlement, checkers::Checker::serial});
  EXPECT_FALSE(harmless.reached);
  EXPECT_EQ(harmless.exitCode(), 3);
  EXPECT_NE(harmless.explanation.find("DR3_AwaitSettlement"), std::string::npos) << harmless.explanation;
}

TEST(AllScenarios, AnExceptionIsAnUnmetExpectation) {
  const Scenario broken{"S-99-broken", "", "", {}, [](ScenarioContext&) -> ScenarioResult {
                          throw std::runtime_error("out of order");
                        }};
  ScenarioContext context;
  const ScenarioResult result = runScenario(broken, context);
  EXPECT_EQ(result.exitCode(), 3);
  ASSERT_EQ(result.unmet.size(), 1U);
  EXPECT_NE(result.unmet.front().find("out of order"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::scenarios
