// What the ghost says of a write that was durable when its author crashed is what the checkers say.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explore/replay.hpp"
#include "explore/searches.hpp"

namespace holdfast::explore {
namespace {

using protocol::Rule;

/// As `barrier`, but the node that writes may crash too. Without the filter the home takes every key for one
/// that was never delegated.
Configuration authorMayCrash(bool filter) {
  Configuration configuration = *findConfiguration("barrier");
  configuration.mayCrash = 2;
  if (!filter) configuration.rules.switchOff(Rule::FR6_EverDelegatedFilter);
  return configuration;
}

TEST(Ghost, AnAuthorMayCrashWhereASuccessorRecovers) {
  const Result result = breadthFirst(World(authorMayCrash(true)), {});
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.states, 175'627U);
}

TEST(Ghost, WhatItSaysOfACrashedAuthorTheCheckersConfirm) {
  const World world(authorMayCrash(false));
  const Result result = breadthFirst(world, {});
  ASSERT_EQ(result.verdict, Verdict::violated);
  const auto breach = static_cast<Breach>(result.judgement.violation);
  EXPECT_STREQ(nameOf(breach), "lateSettlement");
  EXPECT_TRUE(replay(world, result.path).confirms(breach));
}

/// Incarnations that are drawn (TK2_Ordered off) are any numbers, so the ghost has to know them in full.
TEST(Ghost, ADrawnIncarnationGoesBackForItWhereItDoesForTheCheckers) {
  const auto ends = [](std::uint8_t crashes) {
    Configuration configuration = *findConfiguration("cold-home");
    configuration.budgets.crashes = crashes;
    configuration.rules.switchOff(Rule::TK2_Ordered);
    const World world(configuration);
    const Result result = breadthFirst(world, {});
    if (result.verdict != Verdict::violated) return Breach::none;
    const auto breach = static_cast<Breach>(result.judgement.violation);
    EXPECT_TRUE(replay(world, result.path).confirms(breach));
    return breach;
  };
  EXPECT_STREQ(nameOf(ends(1)), nameOf(Breach::none)) << "the second is the greater of the first two";
  EXPECT_STREQ(nameOf(ends(3)), nameOf(Breach::tokenNotIncreasing));
}

/// X-2 speaks of writes that were committed. One that is on the disk of a node that is down has settled for
/// nobody: it is late when the node tells of it, which is behind the back of whoever was admitted meanwhile.
TEST(Ghost, AWriteThatIsFoundAfterACrashSettlesWhenItsAuthorRestarts) {
  const World world(authorMayCrash(false));
  std::vector<std::string> steps = {"a client of B locks (call 1)",
                                    "A gets lockRequest from B",
                                    "B gets lockGrant from A",
                                    "a client of B stages a write (call 1)",
                                    "a client of B submits (call 1)",
                                    "B crashes; 1 of its pending commits are durable",
                                    "all clocks tick",
                                    "all clocks tick",
                                    "all clocks tick",
                                    "a timer of A fires",
                                    "a client of A locks (call 2)"};
  const auto judged = [&] {
    const auto path = pathOf(world, steps);
    EXPECT_TRUE(path.has_value()) << path.error();
    const Replayed run = replay(world, *path);
    EXPECT_TRUE(run.faithful);
    const auto breach = static_cast<Breach>(world.judge(statesOf(world, *path).back()).violation);
    EXPECT_EQ(run.findings.count(checkers::Severity::safety), breach == Breach::none ? 0U : 1U);
    EXPECT_TRUE(breach == Breach::none || run.confirms(breach));
    return std::string(nameOf(breach));
  };
  EXPECT_EQ(judged(), "none");
  steps.push_back("B restarts");
  EXPECT_EQ(judged(), "lateSettlement");
}

}  // namespace
}  // namespace holdfast::explore
