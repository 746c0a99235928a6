// Memberships that change, explored: counts of what is complete, what rules prevent, and the bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "explore/replay.hpp"
#include "explore/searches.hpp"
#include "sim/random.hpp"

namespace holdfast::explore {
namespace {

using protocol::Rule;

Configuration changing(const char* name, std::optional<Rule> off = {}) {
  Configuration configuration = *findConfiguration(name);
  if (off) configuration.rules.switchOff(*off);
  return configuration;
}

struct Change {
  const char* configuration;
  std::uint64_t states;
  std::uint64_t beyond;
  std::uint64_t transitions;
  std::uint32_t depth;
};

class ChangeTest : public ::testing::TestWithParam<Change> {};

TEST_P(ChangeTest, IsExploredToTheEnd) {
  const Change& change = GetParam();
  const World world(changing(change.configuration));
  Limits limits;
  limits.jobs = 2;
  limits.reduce = true;
  const Result result = breadthFirst(world, limits);
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.states, change.states);
  EXPECT_EQ(result.beyond, change.beyond);
  EXPECT_EQ(result.transitions + result.asleep, change.transitions);
  EXPECT_EQ(result.depth, change.depth);
}

// The larger ones are in docs/explore.md.
INSTANTIATE_TEST_SUITE_P(Configurations, ChangeTest,
                         ::testing::Values(Change{"epoch", 15'815, 14, 47'923, 37},
                                           Change{"duel-crash", 36'933, 342, 87'282, 70},
                                           Change{"epoch-loss", 71'184, 122, 243'331, 37},
                                           Change{"epoch-crash", 160'700, 56, 543'694, 48},
                                           Change{"epoch-dead", 39'907, 1'346, 139'618, 45},
                                           Change{"epoch-minority", 8'313, 30, 19'089, 67},
                                           Change{"epoch-dead-lock", 33'144, 8, 127'102, 60},
                                           Change{"outbid", 524, 1, 1'521, 34},
                                           Change{"home-map", 10'313, 2'089, 26'406, 40},
                                           Change{"home-map-fence", 11'898, 1'388, 34'352, 40},
                                           Change{"home-map-removed", 8'024, 714, 25'272, 40}),
                         [](const auto& tested) {
                           std::string name = tested.param.configuration;
                           std::erase(name, '-');
                           return name;
                         });

struct Unruled {
  const char* configuration;
  Rule rule;
  Breach breach;
  std::uint32_t depth;  // of the shortest path
};

class UnruledTest : public ::testing::TestWithParam<Unruled> {};

TEST_P(UnruledTest, ASearchMeetsWhatTheRulePreventsAndTheCheckersConfirmIt) {
  const Unruled& unruled = GetParam();
  const World world(changing(unruled.configuration, unruled.rule));
  Limits limits;
  limits.states = 1'000'000;
  const Result result = breadthFirst(world, limits);
  ASSERT_EQ(result.verdict, Verdict::violated);
  EXPECT_STREQ(nameOf(static_cast<Breach>(result.judgement.violation)), nameOf(unruled.breach));
  EXPECT_EQ(result.path.size(), unruled.depth);
  const Replayed run = replay(world, result.path);
  EXPECT_TRUE(run.faithful) << "a node did what its interned double did not";
  EXPECT_TRUE(run.confirms(unruled.breach));
  const auto path = pathOf(world, describe(world, result.path));
  ASSERT_TRUE(path.has_value()) << path.error();
  EXPECT_EQ(*path, result.path);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, UnruledTest,
    ::testing::Values(
        Unruled{"duel", Rule::EP1_TotalOrder, Breach::twoConfigurations, 10},
        Unruled{"duel", Rule::EP2_ReportAccepted, Breach::twoConfigurations, 10},
        Unruled{"duel", Rule::EP4_AdoptAccepted, Breach::twoConfigurations, 10},
        Unruled{"duel-crash", Rule::EP2_PersistPromise, Breach::twoConfigurations, 20},
        Unruled{"duel-crash", Rule::EP4_PersistAccepted, Breach::twoConfigurations, 20},
        Unruled{"duel-crash", Rule::EP12_DurableAcceptors, Breach::twoConfigurations, 24},
        Unruled{"epoch", Rule::EP5_Majority, Breach::certificateWithoutMajority, 6},
        Unruled{"epoch-crash", Rule::EP5_DurableChain, Breach::membershipWentBack, 12},
        Unruled{"epoch-loss", Rule::EP7_Reservation, Breach::activatedTooEarly, 18},
        Unruled{"epoch", Rule::EP9_ProtectionTravels, Breach::activatedTooEarly, 13},
        Unruled{"epoch-minority", Rule::EP6_MinorityStops, Breach::grantedWithoutMembership, 1},
        Unruled{"epoch-dead-lock", Rule::EP9_GatesEveryKey, Breach::grantedBeforeActivation, 26},
        Unruled{"epoch", Rule::EP13_SameAgreement, Breach::activatedTooEarly, 3},
        Unruled{"home-map-own", Rule::HM1_NamedOnly, Breach::strangerTakesPart, 21},
        Unruled{"home-map-lock", Rule::HM2_DigestIsNoFreshness, Breach::servedAfterAcknowledging, 7},
        Unruled{"home-map", Rule::HM3_StageUnion, Breach::activatedTooEarly, 13},
        Unruled{"home-map-lock", Rule::HM3_StopBeforeAcknowledging, Breach::servedAfterAcknowledging, 5},
        Unruled{"home-map-fence", Rule::HM3_WaitsOut, Breach::activatedTooEarly, 17},
        Unruled{"home-map", Rule::HM3_ActiveOnly, Breach::activatedTooEarly, 2},
        Unruled{"home-map", Rule::HM4_AcknowledgementDies, Breach::twoLiveRings, 16},
        Unruled{"home-map-removed", Rule::HM5_RemovalIsNoFence, Breach::activatedTooEarly, 15}),
    [](const auto& tested) { return std::string(protocol::nameOf(tested.param.rule)); });

TEST(ChangingMembership, HasTheSameStatesDepthFirstAndWithoutFairCycles) {
  for (const char* name : {"home-map", "epoch"}) {
    const World world(changing(name));
    const Result breadth = breadthFirst(world, Limits{});
    const Result depth = depthFirst(world, Limits{});
    const Result fair = fairCycles(world, Limits{});
    EXPECT_EQ(depth.verdict, Verdict::verified) << name;
    EXPECT_EQ(depth.states, breadth.states) << name;
    EXPECT_EQ(depth.beyond, breadth.beyond) << name;
    EXPECT_EQ(fair.verdict, Verdict::verified) << name;
    EXPECT_EQ(fair.states, breadth.states) << name;
    EXPECT_EQ(fair.beyond, breadth.beyond) << name;
  }
}

/// Along sampled schedules, down to the bounds: nothing but a state beyond them is without a choice.
TEST(ChangingMembership, SampledSchedulesAreFaithfulAndHoldAndEndAtTheBoundsAlone) {
  std::size_t ended = 0;
  for (const char* name : {"epoch-lock", "epoch-loss", "epoch-crash", "epoch-dead", "replacement", "duel",
                           "duel-crash", "outbid", "home-map-lock", "home-map-own", "home-map-fence"}) {
    const World world(changing(name));
    const sim::KeyedRandom random{3};
    for (std::uint64_t schedule = 0; schedule < 20; ++schedule) {
      World::State state = world.initial();
      std::vector<World::Choice> choices;
      std::vector<std::uint16_t> path;
      for (std::uint64_t step = 0; step < 80; ++step) {
        choices.clear();
        world.choices(state, choices);
        EXPECT_EQ(choices.empty(), world.isBeyond(state)) << name;
        if (choices.empty()) break;
        path.push_back(static_cast<std::uint16_t>(random.below(choices.size(), 1, schedule, step)));
        world.apply(state, choices[path.back()]);
      }
      ended += world.isBeyond(state) ? 1U : 0U;
      const Replayed run = replay(world, path);
      EXPECT_TRUE(run.faithful) << name << ", schedule " << schedule;
      EXPECT_EQ(run.findings.count(checkers::Severity::safety), 0U) << name << ", schedule " << schedule;
    }
  }
  EXPECT_GT(ended, 10U);
}

TEST(ChangingMembership, HasNoRenamingsAndSaysWhereItEnds) {
  const Configuration epoch = changing("epoch");
  EXPECT_EQ(World(epoch, true).symmetries(), 0U);
  EXPECT_EQ(boundsOf(epoch), "epoch 2 acts everywhere, or a ballot of counter 2 or for epoch 3");
  EXPECT_EQ(boundsOf(changing("outbid")), "epoch 2 acts everywhere, or a ballot for epoch 3");
  EXPECT_EQ(boundsOf(changing("home-map")), "the published map acts everywhere");
  EXPECT_EQ(boundsOf(changing("brief")), "");
}

TEST(ChangingMembership, WhatItCanNotKeepIsRefusedWithAReason) {
  Configuration configuration = changing("epoch");
  configuration.late = 1;
  EXPECT_NE(whatIsWrong(configuration).find("slower than a tick"), std::string::npos);
  configuration = changing("epoch");
  configuration.punctual = false;
  EXPECT_NE(whatIsWrong(configuration).find("are not first"), std::string::npos);
  configuration = changing("outbid");
  EXPECT_EQ(whatIsWrong(configuration), "");
  configuration.outage = Outage::brief;
  EXPECT_NE(whatIsWrong(configuration).find("nobody restarts"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::explore
