// Partial-order reduction loses no state, no depth and no violation, and what it believes of pairs of choices
// is true of every state of small configurations.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "explore/depth_first.hpp"
#include "explore/searches.hpp"
#include "tests/explore/calibration_model.hpp"
#include "tests/explore/reachable.hpp"

namespace holdfast::explore {
namespace {

using calibration::Bug;
using calibration::CalibrationModel;
using protocol::Rule;

Limits reduced(unsigned jobs = 1) {
  Limits limits;
  limits.jobs = jobs;
  limits.reduce = true;
  return limits;
}

Configuration reducible(const std::string& name, std::optional<Rule> without = {}) {
  Configuration configuration = *findConfiguration(name);
  if (without) configuration.rules.switchOff(*without);
  return configuration;
}

TEST(Reduction, CountsTheStatesOfTheCalibrationModelOverFewerTransitions) {
  for (const unsigned jobs : {1U, 2U}) {
    const Result result = calibration::search({2, Bug::none, false}, reduced(jobs));
    EXPECT_EQ(result.verdict, Verdict::verified);
    EXPECT_EQ(result.states, 584'628U);
    EXPECT_EQ(result.transitions + result.asleep, 5'887'770U);
    EXPECT_LT(result.transitions * 2, 5'887'770U);
  }
}

TEST(Reduction, FindsTheSeededBugsBySchedulesAsShortAsWithoutIt) {
  for (const Bug bug : {Bug::noSkewMargin, Bug::releaseUnmatched, Bug::waiterReleases}) {
    const Result full = calibration::search({3, bug, false}, Limits{});
    const Result one = calibration::search({3, bug, false}, reduced(1));
    const Result two = calibration::search({3, bug, false}, reduced(2));
    ASSERT_EQ(one.verdict, Verdict::violated);
    EXPECT_EQ(one.judgement, full.judgement);
    EXPECT_EQ(one.path.size(), full.path.size());
    EXPECT_EQ(one.path, two.path);
    EXPECT_EQ(one.transitions, two.transitions);
    const CalibrationModel model({3, bug, false});
    EXPECT_TRUE(model.judge(statesOf(model, one.path).back()).bad());
  }
}

/// Of the states that are taken for one, the first stands for all. Were they not alike, what a search goes on
/// to meet would depend on its order.
TEST(Merging, TheOrderOfASearchHasNoSayInWhichStatesThereAre) {
  for (const char* name : {"again", "drain", "patient", "hand-back", "cold-home", "two-keys", "home-map"}) {
    const World breadth(reducible(name));
    const World depth(reducible(name));
    EXPECT_EQ(depthFirst(depth, reduced()).states, breadthFirst(breadth, reduced()).states) << name;
  }
}

TEST(Reduction, DepthFirstSearchMeetsTheSameStates) {
  const World world(reducible("brief"));
  const Result result = DepthFirst<World>(world, reduced(), 8).run();
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.states, 4'592U);
  EXPECT_GT(result.asleep, 0U);
  Limits bounded = reduced();
  bounded.depth = 9;
  Limits full = bounded;
  full.reduce = false;
  EXPECT_EQ(depthFirst(world, bounded).states, breadthFirst(world, full).states);
}

struct Quick {
  const char* configuration;
  std::optional<Rule> without;
};

class ReductionTest : public ::testing::TestWithParam<Quick> {};

/// With the same states at the same depths, nothing that is judged of a state can differ. Of several bad ones
/// at one depth either search may meet another first, so all kinds that there are down to it are compared.
TEST_P(ReductionTest, EndsWithTheSameStatesDepthAndBreaches) {
  const World world(reducible(GetParam().configuration, GetParam().without));
  const Result full = breadthFirst(world, Limits{});
  const Result less = breadthFirst(world, reduced(2));
  EXPECT_EQ(less.verdict, full.verdict);
  EXPECT_EQ(less.depth, full.depth);
  EXPECT_EQ(less.judgement.bad(), full.judgement.bad());
  EXPECT_EQ(less.path.size(), full.path.size());
  EXPECT_LT(less.transitions, full.transitions);
  if (full.verdict == Verdict::violated) {
    const auto all = reachable(world, false, full.path.size());
    EXPECT_EQ(reachable(world, true, full.path.size()).judgements, all.judgements);
    EXPECT_TRUE(all.judgements.contains({less.judgement.violation, less.judgement.stuck}));
    return;
  }
  EXPECT_EQ(less.states, full.states);
  EXPECT_EQ(less.transitions + less.asleep, full.transitions);
}

INSTANTIATE_TEST_SUITE_P(
    Configurations, ReductionTest,
    ::testing::Values(
        Quick{"brief", {}}, Quick{"two-keys", {}}, Quick{"drift", {}}, Quick{"drain", {}}, Quick{"three", {}},
        Quick{"faults", {}}, Quick{"barrier", {}}, Quick{"patient", {}}, Quick{"hand-back", {}},
        Quick{"three-two-keys", {}}, Quick{"long-lease", {}}, Quick{"local", {}}, Quick{"again", {}},
        Quick{"relay", {}}, Quick{"lineage", {}}, Quick{"cold-home", {}},
        Quick{"relay", Rule::FR2_InheritDependencies}, Quick{"again", Rule::DG6_NoMintForDuplicate},
        Quick{"local", Rule::DR1_CloseAdmission}, Quick{"local", Rule::LH1_LocalExclusion},
        Quick{"long-lease", Rule::LH2_BoundedHandle}, Quick{"again", Rule::DG6_MatchRequestId},
        Quick{"two-keys", Rule::DG3_OneDelegate}, Quick{"three-two-keys", Rule::DG3_OneDelegate},
        Quick{"lineage", Rule::FR7_ExpiryVoidsLineage}, Quick{"cold-home", Rule::FR6_ColdHomeDistrusts},
        Quick{"barrier", Rule::FR8_Barrier}, Quick{"barrier", Rule::FR9_EntryIsTheFence},
        Quick{"barrier", Rule::FR6_ColdHomeDistrusts}, Quick{"barrier", Rule::DR4_NoLateRelease},
        Quick{"handoff", Rule::DG3_OneDelegate}, Quick{"lease", Rule::DG4_AnchorAtSend},
        Quick{"drift", Rule::CK3_SkewMargin}, Quick{"drain", Rule::DR3_AwaitSettlement},
        Quick{"crash", Rule::DG9_Quarantine}, Quick{"crash", Rule::TK2_DurableIncarnation},
        Quick{"drain", Rule::DR2_RevokeHandles}, Quick{"drain", Rule::LH3_CheckAtSubmission},
        Quick{"drain", Rule::FR1_ReleaseCarriesPosition}, Quick{"drain", Rule::FR3_AppliedAndVisible},
        Quick{"drain", Rule::FR8_Barrier}),
    [](const auto& tested) {
      std::string name = tested.param.configuration;
      std::erase(name, '-');
      if (tested.param.without) name.append("Without").append(protocol::nameOf(*tested.param.without));
      return name;
    });

/// Every state of the whole graph (of two keys, as far as the first bad states and a little further), bad
/// ones and what follows them included, and every kind of badness.
TEST(Reduction, FindsEveryDistinctViolationThatThereIs) {
  struct Graph {
    const char* name;
    Rule rule;
    std::size_t depth;
  };
  for (const auto& [name, rule, depth] : {Graph{"brief", Rule::DG3_OneDelegate, ~std::size_t{0}},
                                          Graph{"brief", Rule::DG4_AnchorAtSend, ~std::size_t{0}},
                                          Graph{"two-keys", Rule::DG3_OneDelegate, 14}}) {
    const World world(reducible(name, rule));
    const auto full = reachable(world, false, depth);
    const auto less = reachable(world, true, depth);
    EXPECT_EQ(less.fingerprints, full.fingerprints) << name;
    EXPECT_EQ(less.judgements, full.judgements) << name;
    EXPECT_LT(less.transitions, full.transitions) << name;
  }
}

// ---- What the relation says of pairs is true --------------------------------------------------------------

/// A choice by what it is about rather than by its place in what is under way.
struct Meaning {
  World::ChoiceKind kind;
  std::uint8_t who;
  std::uint32_t what;
  friend bool operator==(const Meaning&, const Meaning&) = default;
};

Meaning meaningOf(const World& world, const World::State& state, const World::Choice& choice) {
  using Kind = World::ChoiceKind;
  const bool crash = choice.kind == Kind::crash;
  return {choice.kind, choice.who, crash ? choice.which : world.itemOf(state, choice)};
}

/// The state to which the choice that means this leads; none when there is no such choice.
std::optional<World::State> taken(const World& world, const World::State& state, const Meaning& meaning) {
  std::vector<World::Choice> choices;
  world.choices(state, choices);
  for (const World::Choice& choice : choices) {
    if (meaningOf(world, state, choice) != meaning) continue;
    World::State after = state;
    world.apply(after, choice);
    return after;
  }
  return std::nullopt;
}

/// Counts pairs that commute by their kinds; the text names one that was said to and does not.
struct Pairs {
  std::map<std::pair<World::ChoiceKind, World::ChoiceKind>, std::uint64_t> counts;
  std::string wrong;
};

template <class M>
void checkPairs(const M& world, const World::State& before, Pairs& pairs) {
  std::vector<World::Choice> choices;
  std::vector<World::Choice> next;
  world.choices(before, choices);
  for (const World::Choice& first : choices) {
    World::State after = before;
    world.apply(after, first);
    next.clear();
    world.choices(after, next);
    for (const World::Choice& then : next) {
      if (!world.commutes(before, first, after, then)) continue;
      ++pairs.counts[{first.kind, then.kind}];
      const std::string text = world.describe(before, first) + ", then " + world.describe(after, then);
      const auto other = taken(world, before, meaningOf(world, after, then));
      const auto there = other ? taken(world, *other, meaningOf(world, before, first)) : std::nullopt;
      const auto here = taken(world, after, meaningOf(world, after, then));
      if (!other) {
        pairs.wrong = text + ": the second was not possible before";
      } else if (!there) {
        pairs.wrong = text + ": the second prevents the first";
      } else if (world.fingerprint(*there) != world.fingerprint(*here)) {
        pairs.wrong = text + ": the order matters";
      }
    }
  }
}

TEST(Independence, HoldsOfEveryPairInEveryStateOfTheSmallestConfigurations) {
  for (const char* name : {"brief", "two-keys"}) {
    const World world(reducible(name));
    Pairs pairs;
    for (const World::State& state : reachable(world, false).states) checkPairs(world, state, pairs);
    EXPECT_EQ(pairs.wrong, "") << name;
    using Kind = World::ChoiceKind;
    EXPECT_GT((pairs.counts[{Kind::client, Kind::deliver}]), 100U) << name;
    EXPECT_GT((pairs.counts[{Kind::deliver, Kind::client}]), 100U) << name;
  }
}

TEST(Independence, HoldsOfPairsAlongSampledSchedulesOfTheOthers) {
  Pairs pairs;
  std::vector<std::pair<std::string, std::optional<Rule>>> worlds{
      {"drain", Rule::FR8_Barrier}, {"drain", Rule::DR3_AwaitSettlement}, {"crash", Rule::DG9_Quarantine}};
  for (const Configuration& shipped : configurations()) worlds.push_back({shipped.name, {}});
  for (const auto& [name, rule] : worlds) {
    const World world(reducible(name, rule));
    const sim::KeyedRandom random{11};
    for (std::uint64_t schedule = 0; schedule < 25; ++schedule) {
      World::State state = world.initial();
      for (std::uint64_t step = 0; step < 40; ++step) {
        checkPairs(world, state, pairs);
        std::vector<World::Choice> choices;
        world.choices(state, choices);
        if (choices.empty()) break;
        world.apply(state, choices[random.below(choices.size(), 1, schedule, step)]);
      }
    }
    EXPECT_EQ(pairs.wrong, "") << name;
  }
  // Commits that may abort while something else happens are rare along sampled schedules.
  const World drain(reducible("drain", Rule::DR3_AwaitSettlement));
  for (const World::State& state : reachable(drain, false, 8).states) checkPairs(drain, state, pairs);
  EXPECT_EQ(pairs.wrong, "");
  using Kind = World::ChoiceKind;
  for (const auto& [one, other] :
       {std::pair{Kind::tick, Kind::tick}, std::pair{Kind::tick, Kind::deliver},
        std::pair{Kind::lose, Kind::deliver}, std::pair{Kind::crash, Kind::deliver},
        std::pair{Kind::deliver, Kind::crash}, std::pair{Kind::deliver, Kind::abort},
        std::pair{Kind::wake, Kind::client}, std::pair{Kind::duplicate, Kind::deliver}}) {
    EXPECT_GT((pairs.counts[{one, other}]), 0U) << static_cast<int>(one) << ' ' << static_cast<int>(other);
  }
}

/// Believes that any two arrivals commute, at one node too.
class Careless : public World {
 public:
  using World::World;
  std::uint32_t rank(const Choice& choice) const {
    return choice.kind == ChoiceKind::deliver ? 10U + choice.which : World::rank(choice);
  }
  bool commutes(const State& before, const Choice& first, const State& after, const Choice& then) const {
    const bool arrivals = first.kind == ChoiceKind::deliver && then.kind == ChoiceKind::deliver;
    return arrivals || World::commutes(before, first, after, then);
  }
};

TEST(Independence, AWrongRelationIsCaughtByThePairsAndByTheCountOfStates) {
  const Careless world(reducible("brief"));
  const auto full = reachable(world, false);
  Pairs pairs;
  for (const World::State& state : full.states) checkPairs(world, state, pairs);
  EXPECT_NE(pairs.wrong, "");
  EXPECT_LT(reachable(world, true).fingerprints.size(), full.fingerprints.size());
  EXPECT_LT(BreadthFirst<Careless>(world, reduced()).run().states, full.fingerprints.size());
}

}  // namespace
}  // namespace holdfast::explore
