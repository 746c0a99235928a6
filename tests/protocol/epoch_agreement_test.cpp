// One value for each epoch number, whatever is delayed, lost, repeated or restarted (EP-1 to EP-5, EP-12).

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>

#include "tests/protocol/epoch_network.hpp"

namespace holdfast::protocol::epochs {
namespace {

using sim::milliseconds;
using sim::seconds;

/// A run of several proposers that all propose at once, over a network and disks that `draw` decides on.
/// Gives the number for which two values were decided, or installed, if there is one.
std::optional<std::uint32_t> forkIn(const std::vector<std::uint32_t>& steps, Rules rules) {
  ProtocolOptions options = EpochNetwork::exact();
  options.rejoin = false;
  options.epochLease = seconds(1'000);  // renewals are not what this is about
  options.renewEvery = seconds(900);
  constexpr std::uint32_t kNodes = 3;
  EpochNetwork net(kNodes, kNodes, rules, options);
  net.startAll();
  for (const std::uint32_t step : steps) {
    const NodeId node{static_cast<std::uint16_t>(step % kNodes)};
    const std::uint32_t what = step / kNodes % 32;
    const std::uint32_t which = step / (kNodes * 32);
    const std::size_t letter = net.letters.empty() ? 0 : which % net.letters.size();
    if (what < 14) {
      (void)net.deliverOne(letter);
    } else if (what < 24 && net.up(node)) {
      (void)net.persistOne(node);
    } else if (what == 24 && !net.letters.empty()) {
      net.letters.erase(net.letters.begin() + static_cast<std::ptrdiff_t>(letter));
    } else if (what == 25 && !net.letters.empty()) {
      net.letters.push_back(net.letters[letter]);  // it will arrive twice
    } else if (what == 26 && net.up(node)) {
      net.crash(node, which % 3);
    } else if (what < 28 && !net.up(node)) {
      net.start(node);
    } else if (what < 31 && net.up(node)) {
      const NodeId other{static_cast<std::uint16_t>(which % kNodes)};
      if (other != node) net.propose(node, NodeId::none(), other);
    } else if (what == 31) {
      net.now = net.now + milliseconds(which % 600);
      for (std::uint16_t i = 0; i < kNodes; ++i) net.fireTimers({i});
    }
  }
  std::map<std::uint32_t, std::uint64_t> decided;
  const auto differs = [&](std::uint32_t number, std::uint64_t members) {
    return decided.emplace(number, members).first->second != members;
  };
  for (const auto& [node, what] : net.all<obs::MembershipDecided>()) {
    if (differs(what.number, what.members.bits)) return what.number;
  }
  for (const auto& [node, what] : net.all<obs::MembershipInstalled>()) {
    if (differs(what.number, what.members.bits)) return what.number;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> stepsOf(std::uint64_t seed, std::size_t count) {
  std::vector<std::uint32_t> steps;
  for (std::size_t i = 0; i < count; ++i) {
    StateHash hash{MonotonicInstant{}};
    hash.add(seed);
    hash.add(static_cast<std::uint64_t>(i));
    steps.push_back(static_cast<std::uint32_t>(hash.value() >> 33));
  }
  return steps;
}

RC_GTEST_PROP(Agreement, DecidesOneValueForANumber, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  RC_ASSERT(!forkIn(stepsOf(seed, 200), {}).has_value());
}

/// The same runs find what each rule is for; a property that no mutant fails would prove nothing.
std::size_t forksWithout(Rule rule, std::uint64_t seeds, std::size_t steps) {
  std::size_t forks = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    forks += forkIn(stepsOf(seed, steps), Rules().switchOff(rule)).has_value() ? 1U : 0U;
  }
  return forks;
}

TEST(Agreement, ForksWithoutTheRulesThatKeepItFromIt) {
  EXPECT_GT(forksWithout(Rule::EP4_AdoptAccepted, 600, 200), 0U);
  EXPECT_GT(forksWithout(Rule::EP2_ReportAccepted, 600, 200), 0U);
  EXPECT_GT(forksWithout(Rule::EP5_Majority, 600, 200), 0U);
  EXPECT_GT(forksWithout(Rule::EP12_DurableAcceptors, 600, 200), 0U);
}

/// Two proposers with the same counter, at the same instant.
std::size_t valuesOfADuel(Rules rules) {
  EpochNetwork net(3, 3, rules);
  net.startAll();
  net.propose({0}, NodeId::none(), {2});
  net.propose({1}, NodeId::none(), {0});
  net.settle();
  std::map<std::uint64_t, int> values;
  for (const auto& [node, what] : net.all<obs::MembershipDecided>()) {
    if (what.number == 2) ++values[what.members.bits];
  }
  return values.size();
}

TEST(Agreement, EqualCountersAreToldApartByTheProposer) {
  EXPECT_LE(valuesOfADuel({}), 1U);
  EXPECT_EQ(valuesOfADuel(Rules().switchOff(Rule::EP1_TotalOrder)), 2U);
}

TEST(Agreement, DuellingProposersComeToAnEnd) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EpochNetwork net(5, 5);
    net.seed = seed;
    net.startAll();
    // Everybody wants its right neighbour away, at the same instant.
    for (std::uint16_t i = 0; i < 5; ++i) {
      net.propose({i}, NodeId::none(), {static_cast<std::uint16_t>((i + 1) % 5)});
    }
    net.advance(seconds(5));
    const auto decided = net.all<obs::MembershipDecided>();
    ASSERT_FALSE(decided.empty()) << "seed " << seed;
    EXPECT_EQ(decided[0].second.number, 2U);
  }
}

/// Two proposers, A and B, and whoever decides what arrives when: an accept once its receiver has promised a
/// greater ballot, a prepare of one proposer at the other while that one is in a round of its own, all else
/// at once. Whatever is sent arrives in the end.
class Adversary {
 public:
  explicit Adversary(EpochNetwork& net) : net_(net) {}

  /// A millisecond in which everything arrives that may.
  void step() {
    net_.now = net_.now + milliseconds(1);
    for (std::uint16_t i = 0; i < net_.size(); ++i) net_.fireTimers({i});
    for (bool busy = true; busy;) {
      busy = false;
      for (std::uint16_t i = 0; i < net_.size(); ++i) {
        while (net_.persistOne({i})) busy = true;
      }
      for (std::size_t i = 0; i < net_.letters.size() && !busy; ++i) {
        if (mayArrive(net_.letters[i])) busy = net_.deliverOne(i);
      }
    }
  }

 private:
  bool mayArrive(const EpochNetwork::Letter& letter) {
    EpochMembership& to = net_.at(letter.to);
    if (const auto* accept = std::get_if<MembershipAccept>(&letter.message)) {
      return to.acceptor().promised() > accept->value.ballot;
    }
    const bool rival = std::holds_alternative<MembershipPrepare>(letter.message) && letter.to.value < 2;
    return !rival || to.proposer().inRound();
  }

  EpochNetwork& net_;
};

/// No agreement is sure to end against whoever decides how long each message takes: pauses are no help where
/// an accept can always be later than the other's next prepare. That ends as soon as the adversary does.
TEST(Agreement, ADuelGoesOnForAsLongAsAnAdversaryDelaysEachAcceptPastTheNextBallot) {
  ProtocolOptions options = EpochNetwork::exact();
  options.rejoin = false;
  EpochNetwork net(3, 3, {}, options);
  net.startAll();
  net.propose({0}, NodeId::none(), {1});
  net.propose({1}, NodeId::none(), {0});
  Adversary adversary(net);
  constexpr std::uint32_t kBallots = 12;
  const auto promised = [&] { return net.at({2}).acceptor().promised(); };
  std::map<std::uint16_t, int> turns;
  Ballot last;
  for (int i = 0; i < 60'000 && promised().counter < kBallots; ++i) {
    adversary.step();
    if (promised() != last) ++turns[promised().proposer.value];
    last = promised();
  }
  EXPECT_EQ(promised().counter, kBallots);
  EXPECT_GT(turns[0], 2);
  EXPECT_GT(turns[1], 2);
  EXPECT_TRUE(net.all<obs::MembershipDecided>().empty());
  net.advance(seconds(5));
  EXPECT_FALSE(net.all<obs::MembershipDecided>().empty());
}

}  // namespace
}  // namespace holdfast::protocol::epochs
