// Two proposers whose wishes exclude each other, or who wish the same. With the pause that each takes before
// a round (EP-2), every schedule ends with an epoch; without it, each round can be outrun by a round of the
// other, and so on: a cycle where ballots are told by their order.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "explore/fair_cycles.hpp"
#include "explore/replay.hpp"
#include "explore/searches.hpp"

namespace holdfast::explore {
namespace {

/// Each of two members is told by an operator to go on without the other.
Configuration duel(std::uint16_t backoff, std::uint8_t ballots) {
  Configuration configuration = *findConfiguration("epoch");
  configuration.nodes = 2;
  Client first = configuration.clients[0];
  first.steps[0].remove = 1;
  Client second = first;
  second.node = 1;
  second.steps[0].remove = 0;
  configuration.clients = {first, second};
  configuration.ticks.backoff = backoff;
  configuration.ballots = ballots;
  return configuration;
}

const protocol::EpochMembership& epochOf(const World& world, const World::State& state, std::uint8_t node) {
  return *world.table().node(state.nodes[node]).node->membership().epoch();
}

std::uint32_t newestEpoch(const World& world, const World::State& state) {
  return std::max(epochOf(world, state, 0).number(), epochOf(world, state, 1).number());
}

std::uint32_t greatestBallot(const World& world, const World::State& state) {
  return std::max(epochOf(world, state, 0).acceptor().promised().counter,
                  epochOf(world, state, 1).acceptor().promised().counter);
}

/// All schedules, as a graph. From where a run has ended no step leads on.
struct Schedules {
  std::vector<World::State> states;
  std::vector<std::vector<std::uint32_t>> next;

  explicit Schedules(const World& world) {
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> numbers;
    const auto numberOf = [&](const World::State& state) {
      const auto number = static_cast<std::uint32_t>(states.size());
      const auto [place, fresh] = numbers.emplace(world.fingerprint(state), number);
      if (fresh) states.push_back(state);
      return place->second;
    };
    numberOf(world.initial());
    std::vector<World::Choice> choices;
    for (std::size_t at = 0; at < states.size(); ++at) {
      choices.clear();
      if (!world.isBeyond(states[at])) world.choices(states[at], choices);
      std::vector<std::uint32_t> successors;
      for (const World::Choice& choice : choices) {
        World::State successor = states[at];
        world.apply(successor, choice);
        successors.push_back(numberOf(successor));
      }
      next.push_back(std::move(successors));
    }
  }
};

/// The world, with the operators as those who wait: each from when it has said what it wishes until there is
/// another epoch.
class Wishes {
 public:
  using State = World::State;
  using Choice = World::Choice;

  explicit Wishes(const World& world) : world_(world) {}

  State initial() const { return world_.initial(); }
  void choices(const State& state, std::vector<Choice>& out) const { world_.choices(state, out); }
  void apply(State& state, const Choice& choice) const { world_.apply(state, choice); }
  std::uint64_t fingerprint(const State& state) const { return world_.fingerprint(state); }
  Judgement judge(const State& state) const { return world_.judge(state); }
  bool isBeyond(const State& state) const { return world_.isBeyond(state); }
  std::uint32_t turn(const State& state, const Choice& choice) const { return world_.turn(state, choice); }
  bool mayStayAway(const Choice& choice) const { return world_.mayStayAway(choice); }
  std::uint32_t waiters(const State& state) const {
    std::uint32_t waiters = 0;
    for (std::uint32_t i = 0; newestEpoch(world_, state) < 2 && i < 2; ++i) {
      if (state.places[i] > 0) waiters |= 1U << i;
    }
    return waiters;
  }

 private:
  const World& world_;
};

TEST(Duel, OfProposersThatPauseEndsOnEverySchedule) {
  const World world(duel(1, 6));
  const Wishes wishes(world);
  const Result result = FairCycles<Wishes>(wishes, {}).run();
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.cycle, 0U) << "two that keep each other from an epoch for ever";
  const Schedules all(world);
  EXPECT_EQ(all.states.size(), 13'153U);
  std::size_t ends = 0;
  for (std::size_t i = 0; i < all.states.size(); ++i) {
    EXPECT_LE(greatestBallot(world, all.states[i]), 2U);
    if (!all.next[i].empty()) continue;
    ++ends;
    EXPECT_EQ(newestEpoch(world, all.states[i]), 2U) << "a run that ends without an epoch";
  }
  EXPECT_GT(ends, 0U);
}

TEST(Duel, OfProposersThatDoNotPauseGoesOnFromBallotToBallot) {
  std::size_t before = 0;
  for (const std::uint8_t ballots : {std::uint8_t{1}, std::uint8_t{2}}) {
    const World world(duel(0, ballots));
    const Schedules all(world);
    EXPECT_GT(all.states.size(), 10 * before);
    before = all.states.size();
    const bool outrun = std::ranges::any_of(
        all.states, [&](const World::State& state) { return greatestBallot(world, state) > ballots; });
    EXPECT_TRUE(outrun) << "of ballot " << int{ballots};
  }
}

/// `outbid` has no bound on ballots: they are told by their order (protocol/renumbering.hpp). What nodes draw
/// is drawn anew each time.
TEST(Duel, OfProposersThatPauseEndsWithoutABoundOnBallotsWhateverTheyDraw) {
  std::uint32_t greatest = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Configuration configuration = *findConfiguration("outbid");
    configuration.seed = seed;
    const World world(configuration);
    const Result result = fairCycles(world, {});
    EXPECT_EQ(result.verdict, Verdict::verified) << "seed " << seed;
    EXPECT_EQ(result.cycle, 0U);
    EXPECT_EQ(World::describeWaiters(result.cycles.waiters),
              (std::vector<std::string>{"the proposer at A", "the proposer at B"}));
    world.table().eachStep([&](const LocalStep& step) {
      const auto* epoch = world.table().node(step.node).node->membership().epoch();
      greatest = std::max(greatest, epoch->acceptor().promised().counter);
    });
  }
  EXPECT_EQ(greatest, 1U) << "whoever is outbid by an equal counter waits for the other";
}

TEST(Duel, OfProposersThatDoNotPauseIsALivelock) {
  Configuration configuration = *findConfiguration("outbid");
  configuration.ticks.backoff = 0;
  const World world(configuration);
  // Messages to the member that is dead pile up, so that there is no end of states.
  Limits limits;
  limits.states = 20'000;
  const Result result = fairCycles(world, limits);
  ASSERT_EQ(result.verdict, Verdict::violated);
  EXPECT_FALSE(result.judgement.bad());
  EXPECT_GT(result.cycle, 1U);
  const Replayed run = replay(world, result.path);
  EXPECT_TRUE(run.faithful);
  EXPECT_EQ(run.findings.count(checkers::Severity::safety), 0U);
  ASSERT_TRUE(run.loop.has_value());
  const std::vector<World::State> states = statesOf(world, result.path);
  const World::State& begin = states[*run.loop];
  EXPECT_EQ(world.fingerprint(begin), world.fingerprint(states.back())) << "once round";
  EXPECT_NE(world.fingerprintOf(begin), world.fingerprintOf(states.back())) << "with greater ballots";
  EXPECT_GT(greatestBallot(world, states.back()), greatestBallot(world, begin));
  for (std::size_t i = *run.loop; i < states.size(); ++i) EXPECT_EQ(newestEpoch(world, states[i]), 1U);
}

}  // namespace
}  // namespace holdfast::explore
