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
  EXPECT_EQ(result.path.size(), 0U);
}

TEST(FairCycles, AreNoneWhereTheWaiterIsKeptFromActing) {
  const Door door(true);
  const Result result = FairCycles<Door>(door, {}).run();
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.cycle, 0U);
  EXPECT_EQ(result.states, 4U);
}

TEST(FairCycles, AreNoneInABriefHandoff) {
  const World world(*findConfiguration("brief"));
  const Result plain = breadthFirst(world, {});
  const Result result = fairCycles(world, {});
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.states, plain.states);
  EXPECT_EQ(result.transitions, plain.transitions);
  EXPECT_EQ(result.depth, plain.depth);
}

TEST(FairCycles, AreNoneWhereEveryCallerIsAnsweredInTheEnd) {
  for (const char* name : {"drift", "faults", "patient", "two-keys", "three-two-keys"}) {
    const Result result = fairCycles(World(*findConfiguration(name)), {});
    EXPECT_EQ(result.verdict, Verdict::verified) << name;
    EXPECT_EQ(result.cycle, 0U) << name;
  }
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
  EXPECT_FALSE(result.judgement.bad());
  EXPECT_GT(result.cycle, 1U);
  const Replayed run = replay(world, result.path);
  EXPECT_TRUE(run.faithful);
  EXPECT_EQ(run.findings.count(checkers::Severity::safety), 0U);
  // The home's caller waits in the end, and the one that holds the key has crashed on the way.
  const std::vector<std::string> steps = describe(world, result.path);
  const auto taken = [&](std::string_view step) {
    return std::ranges::any_of(steps, [&](const std::string& line) { return line.starts_with(step); });
  };
  EXPECT_TRUE(taken("a client of A locks"));
  EXPECT_TRUE(taken("B crashes"));
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
