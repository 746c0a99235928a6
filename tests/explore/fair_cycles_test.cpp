// Cycles in which somebody waits for ever are found when they are fair, and only then.
#include "explore/fair_cycles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "explore/replay.hpp"
#include "explore/searches.hpp"

namespace holdfast::explore {
namespace {

/// A neighbour enters and leaves a room again and again while a waiter is at the door. With a queue the
/// waiter can act at any time; without one only while the room is empty, which the neighbour may prevent.
class Door {
 public:
  struct State {
    std::uint8_t inside = 0;
    std::uint8_t waiting = 1;
  };
  struct Choice {
    std::uint8_t actor = 0;  // 0: the neighbour, 1: the waiter
  };

  explicit Door(bool queue) : queue_(queue) {}

  State initial() const { return {}; }
  void choices(const State& state, std::vector<Choice>& out) const {
    out.push_back({0});
    if (state.waiting != 0 && (queue_ || state.inside == 0)) out.push_back({1});
  }
  void apply(State& state, const Choice& choice) const {
    if (choice.actor == 0) {
      state.inside = state.inside == 0 ? 1 : 0;
    } else {
      state.waiting = 0;
    }
  }
  std::uint64_t fingerprint(const State& state) const { return 1U + state.inside * 2U + state.waiting; }
  Judgement judge(const State&) const { return {}; }
  std::uint32_t turn(const State&, const Choice& choice) const { return choice.actor; }
  std::uint32_t waiters(const State& state) const { return state.waiting; }
  bool mayStayAway(const Choice&) const { return false; }

 private:
  bool queue_;
};

TEST(FairCycles, AreFoundWhereNobodyIsKeptFromActing) {
  const Door door(false);
  const Result result = FairCycles<Door>(door, {}).run();
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_EQ(result.cycle, 2U);
  EXPECT_EQ(result.path.size(), 2U) << "once round";
  EXPECT_EQ(result.cycles.waiters, 1U);
  EXPECT_EQ(result.cycles.states, 2U);
  EXPECT_EQ(result.cycles.components, 1U);
  EXPECT_EQ(result.cycles.cyclic, 1U);
  EXPECT_EQ(fairLoopAt(door, result.path), 0U);
  EXPECT_EQ(fairLoopAt(door, {result.path[0]}), std::nullopt);
}

TEST(FairCycles, AtTheEndOfALongPathAreTheLongest) {
  // The neighbour goes in and out, and every second state is the last one.
  std::vector<std::uint16_t> path(100'000, 0);
  EXPECT_EQ(fairLoopAt(Door(false), path), 0U);
  EXPECT_EQ(fairLoopAt(Door(true), path), std::nullopt) << "the waiter could always act, and never does";
  path.push_back(0);
  EXPECT_EQ(fairLoopAt(Door(false), path), 1U);
}

TEST(FairCycles, AreNoneWhereTheWaiterIsKeptFromActing) {
  const Door door(true);
  const Result result = FairCycles<Door>(door, {}).run();
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.cycle, 0U);
  EXPECT_EQ(result.states, 4U);
  EXPECT_EQ(result.cycles.components, 1U);
  EXPECT_EQ(result.cycles.cyclic, 1U) << "looked at, and not fair";
}

TEST(FairCycles, AreNoneInABriefHandoff) {
  const World world(*findConfiguration("brief"));
  const Result plain = breadthFirst(world, {});
  const Result result = fairCycles(world, {});
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.states, plain.states);
  EXPECT_EQ(result.transitions, plain.transitions);
  EXPECT_EQ(result.depth, plain.depth);
  EXPECT_EQ(World::describeWaiters(result.cycles.waiters), (std::vector<std::string>{"call 1", "call 2"}));
  EXPECT_GT(result.cycles.components, 1'000U);
}

TEST(FairCycles, AreNoneWhereEveryCallerIsAnsweredInTheEnd) {
  for (const char* name : {"drift", "faults", "patient", "hand-back", "two-keys", "three-two-keys"}) {
    const Result result = fairCycles(World(*findConfiguration(name)), {});
    EXPECT_EQ(result.verdict, Verdict::verified) << name;
    EXPECT_EQ(result.cycle, 0U) << name;
  }
}

/// The result shows a livelock: nothing bad in any state, and a path that really comes back to where it was.
void expectLivelock(const World& world, const Result& result, std::uint64_t moreStatesThan) {
  EXPECT_FALSE(result.judgement.bad());
  EXPECT_GT(result.cycle, moreStatesThan);
  EXPECT_EQ(result.cut, Cut::none);
  const Replayed run = replay(world, result.path);
  EXPECT_TRUE(run.faithful);
  EXPECT_EQ(run.findings.count(checkers::Severity::safety), 0U);
  ASSERT_TRUE(run.loop.has_value());
  EXPECT_LT(*run.loop, result.path.size());
}

/// A holder that has crashed answers no recall. The grant's own end is what a patient waiter depends on.
TEST(FairCycles, AreFoundWhereADelegationHasNoEnd) {
  Configuration configuration = *findConfiguration("patient");
  configuration.ticks.delegation = 0;
  const World world(configuration);
  Limits limits;
  limits.states = 100'000;
  const Result result = fairCycles(world, limits);
  ASSERT_EQ(result.verdict, Verdict::violated);
  expectLivelock(world, result, 1);
  // The home's caller waits in the end, and the one that holds the key has crashed on the way.
  const std::vector<std::string> steps = describe(world, result.path);
  const auto taken = [&](std::string_view step) {
    return std::ranges::any_of(steps, [&](const std::string& line) { return line.starts_with(step); });
  };
  EXPECT_TRUE(taken("a client of A locks"));
  EXPECT_TRUE(taken("B crashes"));
}

struct Forgotten {
  protocol::Rule rule;
  const char* step;  // what leaves the home with a grant that nobody knows how to end
};

class ForgottenGrantTest : public ::testing::TestWithParam<Forgotten> {};

/// The home recalls for ever what its delegate has dropped, or has never known by that token.
TEST_P(ForgottenGrantTest, WithoutTheRuleAKeyCanNotBeObtainedAnyMore) {
  Configuration configuration = *findConfiguration("hand-back");
  configuration.rules.switchOff(GetParam().rule);
  const World world(configuration);
  const Result result = fairCycles(world, {});
  ASSERT_EQ(result.verdict, Verdict::violated);
  expectLivelock(world, result, 1);
  const std::vector<std::string> steps = describe(world, result.path);
  EXPECT_TRUE(std::ranges::find(steps, GetParam().step) != steps.end());
  EXPECT_EQ(world.waiters(statesOf(world, result.path).back()), 1U) << "the home's caller alone";
}

INSTANTIATE_TEST_SUITE_P(Rules, ForgottenGrantTest,
                         ::testing::Values(Forgotten{protocol::Rule::DG5_HandBack, "a timer of B fires"},
                                           Forgotten{protocol::Rule::DG6_NoMintForDuplicate,
                                                     "A gets a duplicate of lockRequest from B"}),
                         [](const auto& tested) { return std::string(protocol::nameOf(tested.param.rule)); });

/// The home's caller waits without end; the other's gives up after a tick and asks again for as long as it is
/// refused. Grants have no end, and one thing may be slower than a tick.
Configuration contested(protocol::Rules rules) {
  Configuration configuration = *findConfiguration("hand-back");
  configuration.clients[1].again = true;
  configuration.budgets.duplicates = 0;
  configuration.rules = rules;
  return configuration;
}

// Recoveries append to logs, which grow without end here. Where every grant is as of a virgin key there are
// none, and what is left is finite up to the numbers of tokens and requests.
const protocol::Rules kNoRecoveries = protocol::Rules().without(protocol::Rule::FR6_EverDelegatedFilter);

TEST(FairCycles, AKeyDoesNotGoToAndFroForEverWhereWaitersAreServedInArrivalOrder) {
  const Result result = fairCycles(World(contested(kNoRecoveries)), {});
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_GT(result.states, 10'000U);
  Limits limits;
  limits.states = 20'000;
  const Result withAllRules = fairCycles(World(contested({})), limits);
  EXPECT_EQ(withAllRules.verdict, Verdict::incomplete) << "logs grow";
  EXPECT_EQ(withAllRules.cycle, 0U);
}

TEST(FairCycles, WithoutArrivalOrderAKeyCanGoToAndFroForEver) {
  const protocol::Rule order = protocol::Rule::DG10_ArrivalOrder;
  Limits limits;
  limits.states = 20'000;
  for (const protocol::Rules& rules : {kNoRecoveries.without(order), protocol::Rules().without(order)}) {
    const World world(contested(rules));
    const Result result = fairCycles(world, limits);
    ASSERT_EQ(result.verdict, Verdict::violated);
    expectLivelock(world, result, 10);
  }
}

/// One round of it, step by step: the key is granted, comes too late, is handed back, and is granted again to
/// whoever asked last. Rounds end in states that differ in the numbers of tokens and requests alone.
TEST(FairCycles, TheRoundsOfAKeyThatGoesToAndFroEndInStatesThatAreTakenForOne) {
  const std::vector<std::string> first = {"a client of B locks (call 2)", "A gets lockRequest from B",
                                          "a client of A locks (call 1)", "B gets lockRecall from A"};
  const std::vector<std::string> round = {"all clocks tick",           "a timer of A fires",
                                          "B gets lockRecall from A",  "a timer of B fires",
                                          "B gets lockGrant from A",   "a client of B locks (call 2)",
                                          "A gets lockRequest from B", "A gets lockHandBack from B",
                                          "B gets lockDeny from A",    "B gets lockRecall from A"};
  const World world(contested(protocol::Rules().without(protocol::Rule::DG10_ArrivalOrder)));
  std::vector<std::string> steps = first;
  std::vector<World::State> ends;
  for (std::size_t rounds = 0; rounds < 6; ++rounds) {
    steps.insert(steps.end(), round.begin(), round.end());
    const auto path = pathOf(world, steps);
    ASSERT_TRUE(path.has_value()) << path.error();
    ends.push_back(statesOf(world, *path).back());
    EXPECT_EQ(world.waiters(ends.back()) & 1U, 1U) << "the home's caller";
    if (rounds < 3) continue;  // the first rounds differ in what has been seen before
    EXPECT_EQ(world.fingerprint(ends[rounds]), world.fingerprint(ends[2]));
    EXPECT_NE(world.fingerprintOf(ends[rounds]), world.fingerprintOf(ends[rounds - 1]));
  }
}

TEST(FairCycles, OfASearchThatIsCutShortNothingIsKnown) {
  const World world(*findConfiguration("brief"));
  Limits limits;
  limits.states = 100;
  const Result result = fairCycles(world, limits);
  EXPECT_EQ(result.verdict, Verdict::incomplete);
  EXPECT_EQ(result.cut, Cut::states);
}

}  // namespace
}  // namespace holdfast::explore
