// One value for each epoch number, whatever is delayed, lost, repeated or restarted (EP-1 to EP-5, EP-12).

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>

#include "tests/protocol/epoch_network.hpp"

namespace holdfast::protocol {
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
  EpochNetwork net(5, 5, rules, options);
  net.startAll();
  net.advance(milliseconds(100));
  for (const std::uint32_t step : steps) {
    const NodeId node{static_cast<std::uint16_t>(step % 5)};
    const std::uint32_t what = step / 5 % 16;
    const std::uint32_t which = step / 80;
    if (what < 8 && !net.letters.empty()) {
      (void)net.deliverOne(which % net.letters.size());
    } else if (what < 11 && net.up(node)) {
      (void)net.persistOne(node);
    } else if (what == 11 && !net.letters.empty()) {
      net.letters.erase(net.letters.begin() + static_cast<std::ptrdiff_t>(which % net.letters.size()));
    } else if (what == 12 && !net.letters.empty()) {
      net.letters.push_back(net.letters[which % net.letters.size()]);  // it will arrive twice
    } else if (what == 13) {
      if (net.up(node)) {
        net.crash(node, which % 3);
      } else {
        net.start(node);
      }
    } else if (what == 14 && net.up(node)) {
      const NodeId other{static_cast<std::uint16_t>(which % 5)};
      if (other != node) net.propose(node, NodeId::none(), other);
    } else {
      net.now = net.now + milliseconds(which % 400);
      net.fireTimers(node);
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
  RC_ASSERT(!forkIn(stepsOf(seed, 400), {}).has_value());
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
  EXPECT_GT(forksWithout(Rule::EP1_TotalOrder, 400, 400), 0U);
  EXPECT_GT(forksWithout(Rule::EP4_AdoptAccepted, 400, 400), 0U);
  EXPECT_GT(forksWithout(Rule::EP2_ReportAccepted, 400, 400), 0U);
  EXPECT_GT(forksWithout(Rule::EP5_Majority, 400, 400), 0U);
  EXPECT_GT(forksWithout(Rule::EP12_DurableAcceptors, 400, 400), 0U);
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

}  // namespace
}  // namespace holdfast::protocol
