// Cycles in which somebody waits for ever are found when they are fair, and only then.
#include "explore/fair_cycles.hpp"

#include <gtest/gtest.h>

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
  std::uint32_t actor(const State&, const Choice& choice) const { return choice.actor; }
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
