// States that a renaming of interchangeable nodes, keys and clients makes equal are explored once, and
// nothing is lost by it: every state stands for its whole orbit, a renamed state has the renamed future, and
// a protocol that does not treat names alike is found out.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "explore/renaming.hpp"
#include "explore/searches.hpp"
#include "tests/explore/reachable.hpp"

namespace holdfast::explore {
namespace {

using protocol::Rule;

/// Two keys of one home, each locked by a client of the other node: the keys are interchangeable.
Configuration alikeKeys() {
  Configuration configuration = *findConfiguration("brief");
  configuration.keys = 2;
  configuration.clients = {{1, section(0)}, {1, section(1)}};
  return configuration;
}

/// Three nodes, two of which are interchangeable.
Configuration alikeNodes() { return *findConfiguration("three"); }

Limits limitsWith(bool reduce, unsigned jobs = 1) {
  Limits limits;
  limits.reduce = reduce;
  limits.jobs = jobs;
  return limits;
}

TEST(Renaming, ThereIsOneForEachWayToRenameWhatIsInterchangeable) {
  EXPECT_EQ(renamingsOf(*findConfiguration("brief")).size(), 0U);
  EXPECT_EQ(renamingsOf(*findConfiguration("two-keys")).size(), 0U) << "they are locked in opposite orders";
  EXPECT_EQ(renamingsOf(alikeKeys()).size(), 1U);
  const std::vector<Renaming> nodes = renamingsOf(alikeNodes());
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].nodes[0], 0);
  EXPECT_EQ(nodes[0].nodes[1], 2);
  EXPECT_EQ(nodes[0].calls[0], 1);
  Configuration four = alikeNodes();
  four.nodes = 4;
  four.clients = {{1, section(0)}, {2, section(0)}, {3, section(0)}};
  EXPECT_EQ(renamingsOf(four).size(), 5U);
  four.mayCrash = 0b0111;
  EXPECT_EQ(renamingsOf(four).size(), 1U) << "one of them does not crash";
  four.mayCrash = 0xff;
  four.clients[2].patient = true;
  EXPECT_EQ(renamingsOf(four).size(), 1U) << "one of them waits longer";
  four.clients[2] = {3, section(0, true)};
  EXPECT_EQ(renamingsOf(four).size(), 1U) << "one of them writes";
  four.clients[2] = {3, section(0)};
  four.clients[2].after = 1;
  EXPECT_EQ(renamingsOf(four).size(), 0U) << "the third comes after the second, and the first after nobody";
  four.clients[2] = {3, section(0, true)};
  four.clients[1].node = 0;
  EXPECT_EQ(renamingsOf(four).size(), 0U);
}

/// The states met under symmetry, each counted as often as it has different names, are all states.
TEST(Symmetry, EveryStateIsRepresentedOnce) {
  for (const Configuration& configuration : {alikeKeys(), *findConfiguration("brief")}) {
    const World plain(configuration);
    const auto all = reachable(plain, false);
    const World world(configuration, true);
    const auto met = reachable(world, false);
    std::set<std::uint64_t> named;
    std::size_t sum = 0;
    for (const World::State& state : met.states) {
      std::set<std::uint64_t> orbit{world.fingerprintOf(state)};
      for (std::size_t i = 0; i < world.symmetries(); ++i)
        orbit.insert(world.fingerprintOf(world.renamed(state, i)));
      sum += orbit.size();
      named.insert(orbit.begin(), orbit.end());
    }
    EXPECT_EQ(sum, named.size()) << "no state has two representatives";
    EXPECT_EQ(named, all.fingerprints);
    EXPECT_EQ(met.judgements, all.judgements);
    EXPECT_EQ(world.whatBreaksSymmetry(), "");
  }
}

std::set<std::uint64_t> successorsOf(const World& world, const World::State& state,
                                     std::size_t symmetry = ~std::size_t{0}) {
  std::set<std::uint64_t> fingerprints;
  std::vector<World::Choice> choices;
  world.choices(state, choices);
  for (const World::Choice& choice : choices) {
    World::State after = state;
    world.apply(after, choice);
    if (symmetry != ~std::size_t{0}) after = world.renamed(after, symmetry);
    fingerprints.insert(world.fingerprintOf(after));
  }
  return fingerprints;
}

/// The successors of the renamed state are the renamed successors, and it is judged alike.
void expectTheSameFuture(const World& world, const World::State& state) {
  for (std::size_t i = 0; i < world.symmetries(); ++i) {
    const World::State other = world.renamed(state, i);
    ASSERT_EQ(successorsOf(world, other), successorsOf(world, state, i));
    ASSERT_EQ(world.judge(other), world.judge(state));
    ASSERT_EQ(world.fingerprint(other), world.fingerprint(state));
  }
}

TEST(Symmetry, ARenamedStateHasTheRenamedFuture) {
  const World world(alikeKeys(), true);
  ASSERT_EQ(world.symmetries(), 1U);
  for (const World::State& state : reachable(world, false).states) expectTheSameFuture(world, state);
}

TEST(Symmetry, SoItHasAlongSampledSchedulesWithEveryKindOfFault) {
  Configuration nodes = alikeNodes();
  nodes.budgets = {1, 1, 1, 1, 0};
  nodes.ticks.retry = 1;
  Configuration drift = nodes;
  drift.drift = 1;
  drift.ticks.skew = 2;
  drift.punctual = false;
  Configuration keys = alikeKeys();
  keys.clients = {{1, section(0, true)}, {1, section(1, true)}};
  keys.budgets = {1, 1, 0, 1, 1};
  std::vector<Configuration> tried{nodes, drift, keys};
  for (const Configuration& shipped : configurations()) {
    if (!renamingsOf(shipped).empty()) tried.push_back(shipped);
  }
  EXPECT_GT(tried.size(), 4U);
  for (const Configuration& configuration : tried) {
    ASSERT_EQ(whatIsWrong(configuration), "");
    const World world(configuration, true);
    ASSERT_EQ(world.symmetries(), 1U) << configuration.name;
    const sim::KeyedRandom random{5};
    for (std::uint64_t schedule = 0; schedule < 30; ++schedule) {
      World::State state = world.initial();
      for (std::uint64_t step = 0; step < 40; ++step) {
        expectTheSameFuture(world, state);
        std::vector<World::Choice> choices;
        world.choices(state, choices);
        world.apply(state, choices[random.below(choices.size(), 1, schedule, step)]);
      }
    }
    EXPECT_EQ(world.whatBreaksSymmetry(), "") << configuration.name;
  }
}

TEST(Symmetry, HalvesTheStatesOfThreeNodesWithAndWithoutReductionAndWithAnyNumberOfThreads) {
  for (const bool reduce : {false, true}) {
    for (const unsigned jobs : {1U, 2U}) {
      if (!reduce && jobs == 1) continue;
      const World world(alikeNodes(), true);
      const Result result = breadthFirst(world, limitsWith(reduce, jobs));
      EXPECT_EQ(result.verdict, Verdict::verified);
      EXPECT_EQ(result.states, 120'376U);  // of 240,747
      EXPECT_EQ(result.depth, 33U);
    }
  }
}

TEST(Symmetry, FindsWhatARulePreventsByAScheduleAsShort) {
  for (const Rule rule : {Rule::DG3_OneDelegate, Rule::DR2_RevokeHandles, Rule::LH3_CheckAtSubmission,
                          Rule::DR3_AwaitSettlement, Rule::FR3_AppliedAndVisible}) {
    Configuration configuration = alikeNodes();
    configuration.clients = {{1, section(0, true)}, {2, section(0, true)}};
    configuration.rules.switchOff(rule);
    const World plain(configuration);
    const World world(configuration, true);
    Limits limits = limitsWith(true);
    limits.states = 200'000;
    const Result full = breadthFirst(plain, limits);
    const Result less = breadthFirst(world, limits);
    ASSERT_EQ(full.verdict, Verdict::violated) << protocol::nameOf(rule);
    EXPECT_EQ(less.verdict, full.verdict) << protocol::nameOf(rule);
    EXPECT_EQ(less.judgement, full.judgement) << protocol::nameOf(rule);
    EXPECT_EQ(less.path.size(), full.path.size()) << protocol::nameOf(rule);
    EXPECT_TRUE(plain.judge(statesOf(plain, less.path).back()).bad()) << protocol::nameOf(rule);
  }
}

TEST(Symmetry, FindsEveryDistinctViolationThatThereIs) {
  for (const Rule rule : {Rule::DG3_OneDelegate, Rule::LH3_CheckAtSubmission}) {
    Configuration configuration = alikeNodes();
    configuration.clients = {{1, section(0, true)}, {2, section(0, true)}};
    configuration.rules.switchOff(rule);
    const World plain(configuration);
    const World world(configuration, true);
    const auto all = reachable(plain, false, 8);
    const auto met = reachable(world, true, 8);
    EXPECT_EQ(met.judgements, all.judgements) << protocol::nameOf(rule);
    EXPECT_GT(all.judgements.size(), 1U) << protocol::nameOf(rule);
    EXPECT_LT(met.fingerprints.size() * 10, all.fingerprints.size() * 6) << protocol::nameOf(rule);
  }
}

/// After a crash the keys of a home are recovered in the order of their names, so they are not
/// interchangeable.
TEST(Symmetry, AProtocolThatTellsNamesApartIsFoundOutAndNothingIsVerified) {
  Configuration configuration = alikeKeys();
  configuration.clients = {{0, section(0)}, {0, section(1)}};
  const World alike(configuration, true);
  EXPECT_EQ(breadthFirst(alike, limitsWith(true)).verdict, Verdict::verified);
  configuration.budgets.crashes = 1;
  const World world(configuration, true);
  ASSERT_EQ(world.symmetries(), 1U);
  const Result result = breadthFirst(world, limitsWith(true, 2));
  EXPECT_EQ(result.verdict, Verdict::incomplete);
  EXPECT_EQ(result.cut, Cut::asymmetry);
  EXPECT_NE(world.whatBreaksSymmetry().find("does otherwise"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::explore
