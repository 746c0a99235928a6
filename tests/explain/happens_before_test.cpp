// The order of events, its clocks, and what is left of it when what follows from it is taken away.
#include "explain/happens_before.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/explain/run_builder.hpp"

namespace holdfast::explain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(HappensBefore, FollowsANodeAndItsMessages) {
  RunBuilder b;
  const auto first = b.add(1, kA, obs::NodeStarted{1});
  const auto sent = b.send(2, kA, kB, 7);
  const auto alone = b.add(3, kB, obs::NodeStarted{1});
  const auto met = b.deliver(4, kB, kA, 7);
  const auto after = b.add(5, kA, obs::NodePaused{});
  const HappensBefore order(b.run);
  EXPECT_TRUE(order.before(first, met));
  EXPECT_TRUE(order.before(sent, met));
  EXPECT_TRUE(order.before(alone, met));
  EXPECT_FALSE(order.before(met, sent));
  EXPECT_FALSE(order.before(met, met));
  EXPECT_TRUE(order.concurrent(alone, sent));
  EXPECT_TRUE(order.concurrent(after, met));
  EXPECT_THAT(order.clock(met), ElementsAre(2U, 2U, 0U));
}

TEST(HappensBefore, FollowsAnEntryFromItsLogToItsApplication) {
  RunBuilder b;
  b.add(1, kA, obs::Submitted{{4}, {1}, kAlice, 1});
  const auto settled = b.add(2, kA, obs::Settled{{4}, true, false, 12});
  const auto other = b.add(3, kB, obs::Applied{kA, 11, false});
  const auto applied = b.add(4, kB, obs::Applied{kA, 12, false});
  const auto released = b.add(5, kA, obs::ControlAppended{obs::EntryKind::release, kAlice, {1, 1, 1}, 0, 13});
  const auto met = b.add(6, kC, obs::Applied{kA, 13, false});
  const HappensBefore order(b.run);
  EXPECT_TRUE(order.before(settled, applied));
  EXPECT_FALSE(order.before(settled, other));
  EXPECT_TRUE(order.before(released, met));
  EXPECT_EQ(order.edges().back(), (Edge{released, met, EdgeKind::logEntry}));
}

TEST(HappensBefore, AnEventOfNobodyHasItsOwnLane) {
  RunBuilder b;
  const auto phase = b.add(1, obs::NodeId::none(), obs::PhaseChanged{obs::Phase::healed});
  const auto start = b.add(2, kA, obs::NodeStarted{1});
  const HappensBefore order(b.run);
  EXPECT_TRUE(order.concurrent(phase, start));
  EXPECT_EQ(order.lane(phase), 1U);
}

TEST(HappensBefore, ThePastOfAnEventIsAllThatLedToIt) {
  const OverlapRun r;
  const HappensBefore order(r.run);
  const std::vector<bool> past = order.pastOf(std::array{r.overlap});
  for (EventIndex i = 0; i < r.run.size(); ++i) {
    EXPECT_EQ(past[i], i == r.overlap || order.before(i, r.overlap)) << "event " << i;
  }
  EXPECT_FALSE(past[r.inside]) << "B was granted the key without hearing of A's admission";
}

TEST(HappensBefore, ReductionKeepsTheOrderAndNothingMore) {
  const OverlapRun r;
  const HappensBefore order(r.run);
  const std::vector<EventIndex> some{r.asked, r.granted, r.inside, r.overlap};
  EXPECT_THAT(order.reduced(some),
              ElementsAre(Edge{r.asked, r.granted, EdgeKind::path}, Edge{r.granted, r.inside, EdgeKind::path},
                          Edge{r.granted, r.overlap, EdgeKind::path}));
  EXPECT_THAT(order.reduced({}), IsEmpty());
}

/// A run of up to 40 events on three nodes, with messages that arrive or do not.
std::vector<obs::Stamped> arbitraryRun() {
  RunBuilder b;
  std::uint64_t sent = 0;
  const int count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    const obs::NodeId node{*rc::gen::inRange<std::uint16_t>(0, 3)};
    if (sent > 0 && *rc::gen::inRange(0, 2) == 0) {
      b.deliver(i, node, kA, *rc::gen::inRange<std::uint64_t>(1, sent + 1));
    } else {
      b.send(i, node, kB, ++sent);
    }
  }
  return b.run;
}

RC_GTEST_PROP(HappensBeforeProperty, ClocksPastAndReductionAgree, ()) {
  const std::vector<obs::Stamped> run = arbitraryRun();
  const HappensBefore order(run);
  std::vector<EventIndex> all(run.size());
  for (EventIndex i = 0; i < run.size(); ++i) all[i] = i;
  const std::vector<Edge> least = order.reduced(all);
  // The reduction's own closure, by walking it in order, must be the order again.
  std::vector<std::vector<bool>> closure(run.size(), std::vector<bool>(run.size(), false));
  for (const Edge& edge : least) {
    RC_ASSERT(edge.from < edge.to);
    closure[edge.to][edge.from] = true;
    for (EventIndex i = 0; i < run.size(); ++i) {
      if (closure[edge.from][i]) closure[edge.to][i] = true;
    }
  }
  for (EventIndex b = 0; b < run.size(); ++b) {
    const std::vector<bool> past = order.pastOf(std::array{b});
    for (EventIndex a = 0; a < run.size(); ++a) {
      RC_ASSERT(closure[b][a] == order.before(a, b));
      RC_ASSERT((a == b || order.before(a, b)) == past[a]);
    }
  }
  for (const Edge& edge : least) {
    for (EventIndex middle = edge.from + 1; middle < edge.to; ++middle) {
      RC_ASSERT(!(order.before(edge.from, middle) && order.before(middle, edge.to)));
    }
  }
}

}  // namespace
}  // namespace holdfast::explain
