// Small clusters of the real protocol are explored to the end, with counts that are pinned, and without a
// rule the same search meets what the rule prevents.
//
// The counts change whenever the protocol's behaviour or what it hashes changes; they are then to be looked
// at, understood, and set anew.
#include "explore/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "explore/searches.hpp"

namespace holdfast::explore {
namespace {

using protocol::Rule;

/// The shortest waits: a few thousand states.
Configuration brief() {
  Configuration configuration = *findConfiguration("handoff");
  configuration.ticks.wait = 2;
  configuration.ticks.grace = 0;
  return configuration;
}

Result explored(const Configuration& configuration, unsigned jobs = 1) {
  EXPECT_EQ(whatIsWrong(configuration), "");
  const World world(configuration);
  Limits limits;
  limits.jobs = jobs;
  limits.states = 3'000'000;
  return breadthFirst(world, limits);
}

TEST(World, ABriefHandoffHasTheSameStatesWithAnyNumberOfThreads) {
  for (const unsigned jobs : {1U, 2U}) {
    const Result result = explored(brief(), jobs);
    EXPECT_EQ(result.verdict, Verdict::verified);
    EXPECT_EQ(result.states, 4'592U);
    EXPECT_EQ(result.transitions, 12'127U);
    EXPECT_EQ(result.depth, 22U);
  }
}

TEST(World, EveryShippedConfigurationCanBeExploredAndHasAnIdentityOfItsOwn) {
  std::vector<std::string> identities;
  for (const Configuration& configuration : configurations()) {
    EXPECT_EQ(whatIsWrong(configuration), "") << configuration.name;
    identities.push_back(identityOf(configuration));
  }
  std::sort(identities.begin(), identities.end());
  EXPECT_EQ(std::unique(identities.begin(), identities.end()), identities.end());
  EXPECT_GE(identities.size(), 5U);
}

struct Mutant {
  const char* configuration;
  Rule rule;
  Breach breach;
  std::uint32_t depth;  // of the shortest path
};

class MutantTest : public ::testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, WithoutTheRuleTheSearchMeetsWhatItPrevents) {
  const Mutant& mutant = GetParam();
  Configuration configuration = *findConfiguration(mutant.configuration);
  configuration.rules.switchOff(mutant.rule);
  const Result result = explored(configuration);
  ASSERT_EQ(result.verdict, Verdict::violated);
  EXPECT_STREQ(nameOf(static_cast<Breach>(result.judgement.violation)), nameOf(mutant.breach));
  EXPECT_EQ(result.path.size(), mutant.depth);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, MutantTest,
    ::testing::Values(Mutant{"handoff", Rule::DG3_OneDelegate, Breach::overlappingAdmissions, 6},
                      Mutant{"lease", Rule::DG4_AnchorAtSend, Breach::overlappingAdmissions, 9},
                      Mutant{"drift", Rule::CK3_SkewMargin, Breach::overlappingAdmissions, 10},
                      Mutant{"drain", Rule::DR3_AwaitSettlement, Breach::staleAdmission, 11},
                      Mutant{"crash", Rule::DG9_Quarantine, Breach::overlappingAdmissions, 11}),
    [](const auto& tested) { return std::string(protocol::nameOf(tested.param.rule)); });

TEST(World, AConfigurationThatCanNotBeExploredIsRefusedWithAReason) {
  Configuration configuration = brief();
  configuration.nodes = 9;
  EXPECT_NE(whatIsWrong(configuration).find("9 nodes"), std::string::npos);
  configuration = brief();
  configuration.drift = 1;
  EXPECT_NE(whatIsWrong(configuration).find("CK-3"), std::string::npos);
  configuration = brief();
  configuration.clients[0].steps[0].key = 1;
  EXPECT_NE(whatIsWrong(configuration).find("key 1"), std::string::npos);
  configuration = brief();
  configuration.clients.clear();
  EXPECT_NE(whatIsWrong(configuration).find("0 clients"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::explore
