// Small clusters of the real protocol are explored to the end, with counts that are pinned, and without a
// rule the same search meets what the rule prevents.
//
// The counts change whenever the protocol's behaviour or what it hashes changes; they are then to be looked
// at, understood, and set anew.
#include "explore/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "explore/replay.hpp"
#include "explore/searches.hpp"

namespace holdfast::explore {
namespace {

using protocol::Rule;

/// A few thousand states.
Configuration brief() { return *findConfiguration("brief"); }

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

struct Pinned {
  const char* configuration;
  std::uint64_t states;
  std::uint64_t transitions;
  std::uint32_t depth;
};

class PinnedTest : public ::testing::TestWithParam<Pinned> {};

TEST_P(PinnedTest, IsExploredToTheEnd) {
  const Pinned& pinned = GetParam();
  const Result result = explored(*findConfiguration(pinned.configuration), 2);
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.states, pinned.states);
  EXPECT_EQ(result.transitions, pinned.transitions);
  EXPECT_EQ(result.depth, pinned.depth);
}

// The configurations that take seconds; docs/explore.md has them all.
INSTANTIATE_TEST_SUITE_P(
    Configurations, PinnedTest,
    ::testing::Values(Pinned{"drift", 119'308, 478'467, 39}, Pinned{"drain", 150'596, 550'223, 33},
                      Pinned{"faults", 112'966, 531'926, 29}, Pinned{"barrier", 167'751, 515'436, 45},
                      Pinned{"patient", 18'234, 50'356, 41}, Pinned{"hand-back", 2'735, 7'087, 19},
                      Pinned{"long-lease", 151'018, 367'470, 53}, Pinned{"local", 13'132, 27'908, 36},
                      Pinned{"again", 95'201, 241'444, 40}, Pinned{"relay", 18'521, 60'511, 61},
                      Pinned{"lineage", 80'416, 180'872, 45}, Pinned{"cold-home", 45'041, 122'214, 45},
                      Pinned{"two-keys", 62'479, 127'185, 39}, Pinned{"three", 240'747, 1'251'128, 33},
                      Pinned{"three-two-keys", 665'378, 2'538'443, 64}),
    [](const auto& tested) {
      std::string name = tested.param.configuration;
      std::erase(name, '-');
      return name;
    });

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

/// A client that waits for another begins when that one has nothing more to do, and is no earlier choice.
TEST(World, AClientThatComesAfterAnotherBeginsWhenThatOneHasEnded) {
  Configuration configuration = brief();
  configuration.clients[1].after = 0;
  EXPECT_NE(identityOf(configuration), identityOf(brief()));
  const World world(configuration);
  World::State state = world.initial();
  std::vector<World::Choice> choices;
  const auto begins = [&](std::uint8_t client) {
    choices.clear();
    world.choices(state, choices);
    return std::ranges::any_of(choices, [&](const World::Choice& choice) {
      return choice.kind == World::ChoiceKind::client && choice.who == client;
    });
  };
  EXPECT_FALSE(begins(1));
  while (begins(0)) world.apply(state, {World::ChoiceKind::client, 0, 0});
  EXPECT_TRUE(begins(1)) << "the home has locked and unlocked";
  EXPECT_LT(explored(configuration, 2).states, 4'592U) << "fewer orders than without";

  configuration.clients[1].after = 1;
  EXPECT_NE(whatIsWrong(configuration).find("an earlier one"), std::string::npos);
}

struct Mutant {
  const char* configuration;
  Rule rule;
  Breach breach;
  std::uint32_t depth;  // of the shortest path
};

class MutantTest : public ::testing::TestWithParam<Mutant> {};

TEST_P(MutantTest, WithoutTheRuleTheSearchMeetsWhatItPreventsAndTheCheckersConfirmIt) {
  const Mutant& mutant = GetParam();
  Configuration configuration = *findConfiguration(mutant.configuration);
  configuration.rules.switchOff(mutant.rule);
  const World world(configuration);
  Limits limits;
  limits.states = 3'000'000;
  const Result result = breadthFirst(world, limits);
  ASSERT_EQ(result.verdict, Verdict::violated);
  EXPECT_STREQ(nameOf(static_cast<Breach>(result.judgement.violation)), nameOf(mutant.breach));
  EXPECT_EQ(result.path.size(), mutant.depth);
  std::size_t observations = 0;
  const Replayed run = replay(world, result.path, [&](const obs::Stamped&) { ++observations; });
  EXPECT_TRUE(run.faithful) << "a node did what its interned double did not";
  EXPECT_TRUE(run.confirms(mutant.breach));
  EXPECT_GT(observations, result.path.size());
  EXPECT_EQ(describe(world, result.path).size(), result.path.size());
}

/// What the ghost lets pass the checkers let pass: they judge schedules that no search would call bad.
TEST(Replay, SampledSchedulesOfTheWholeProtocolAreFaithfulAndHold) {
  for (const char* name : {"brief", "drift", "drain", "crash", "three", "barrier", "partition", "patient",
                           "hand-back", "two-keys-faults", "again", "relay", "cold-home"}) {
    const World world(*findConfiguration(name));
    const sim::KeyedRandom random{7};
    for (std::uint64_t schedule = 0; schedule < 30; ++schedule) {
      World::State state = world.initial();
      std::vector<World::Choice> choices;
      std::vector<std::uint16_t> path;
      for (std::uint64_t step = 0; step < 60; ++step) {
        choices.clear();
        world.choices(state, choices);
        path.push_back(static_cast<std::uint16_t>(random.below(choices.size(), 1, schedule, step)));
        world.apply(state, choices[path.back()]);
      }
      const Replayed run = replay(world, path);
      EXPECT_TRUE(run.faithful) << name << ", schedule " << schedule;
      EXPECT_EQ(run.findings.count(checkers::Severity::safety), 0U) << name << ", schedule " << schedule;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, MutantTest,
    ::testing::Values(Mutant{"handoff", Rule::DG3_OneDelegate, Breach::overlappingAdmissions, 6},
                      Mutant{"lease", Rule::DG4_AnchorAtSend, Breach::overlappingAdmissions, 9},
                      Mutant{"drift", Rule::CK3_SkewMargin, Breach::overlappingAdmissions, 10},
                      Mutant{"drain", Rule::DR3_AwaitSettlement, Breach::staleAdmission, 11},
                      Mutant{"crash", Rule::DG9_Quarantine, Breach::overlappingAdmissions, 11},
                      Mutant{"crash", Rule::TK2_DurableIncarnation, Breach::tokenNotIncreasing, 11},
                      Mutant{"drain", Rule::DR2_RevokeHandles, Breach::overlappingAdmissions, 8},
                      Mutant{"two-keys", Rule::DG3_OneDelegate, Breach::overlappingAdmissions, 11},
                      Mutant{"two-keys", Rule::DR2_RevokeHandles, Breach::overlappingAdmissions, 10},
                      Mutant{"three-two-keys", Rule::DG3_OneDelegate, Breach::overlappingAdmissions, 16},
                      Mutant{"three-two-keys", Rule::DR2_RevokeHandles, Breach::overlappingAdmissions, 13},
                      Mutant{"drain", Rule::LH3_CheckAtSubmission, Breach::submittedAfterLapse, 4},
                      Mutant{"drain", Rule::FR1_ReleaseCarriesPosition, Breach::staleAdmission, 9},
                      Mutant{"drain", Rule::FR3_AppliedAndVisible, Breach::staleAdmission, 11},
                      Mutant{"drain", Rule::FR8_Barrier, Breach::admittedWithoutBarrier, 7},
                      Mutant{"long-lease", Rule::LH2_BoundedHandle, Breach::overlappingAdmissions, 10},
                      Mutant{"local", Rule::LH1_LocalExclusion, Breach::overlappingAdmissions, 4},
                      Mutant{"local", Rule::DR1_CloseAdmission, Breach::overlappingAdmissions, 10},
                      Mutant{"again", Rule::DG6_MatchRequestId, Breach::overlappingAdmissions, 14},
                      Mutant{"again", Rule::DG6_NoMintForDuplicate, Breach::overlappingAdmissions, 16},
                      Mutant{"relay", Rule::FR2_InheritDependencies, Breach::staleAdmission, 23},
                      Mutant{"lineage", Rule::FR7_ExpiryVoidsLineage, Breach::lateSettlement, 18},
                      Mutant{"cold-home", Rule::FR6_ColdHomeDistrusts, Breach::staleAdmission, 18},
                      Mutant{"barrier", Rule::FR8_Barrier, Breach::admittedWithoutBarrier, 7},
                      Mutant{"barrier", Rule::FR9_EntryIsTheFence, Breach::staleAdmission, 14},
                      Mutant{"barrier", Rule::FR6_ColdHomeDistrusts, Breach::staleAdmission, 18},
                      Mutant{"barrier", Rule::DR4_NoLateRelease, Breach::staleAdmission, 14}),
    [](const auto& tested) {
      std::string name = tested.param.configuration;
      std::erase(name, '-');
      return name.append(protocol::nameOf(tested.param.rule));
    });

TEST(World, AConfigurationThatCanNotBeExploredIsRefusedWithAReason) {
  Configuration configuration = brief();
  configuration.nodes = 9;
  EXPECT_NE(whatIsWrong(configuration).find("9 nodes"), std::string::npos);
  configuration = brief();
  configuration.ticks.wait = 0;
  EXPECT_NE(whatIsWrong(configuration).find("at least a tick"), std::string::npos);
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
