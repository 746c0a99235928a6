// Fences, holes and gaps (FR-3, FR-5, FR-8): what a replica may claim to have applied and made visible.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "protocol/replication/position_ranges.hpp"
#include "tests/protocol/replication_fixture.hpp"

namespace holdfast::protocol {

std::ostream& operator<<(std::ostream& out, const PositionRange& range) {
  return out << range.from << ".." << range.to;
}

namespace {

using namespace testing;
using Kind = FenceState::Kind;

TEST(Fence, ReceivedAndQueuedDoesNotCount) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::waiting);
  a.apply(kB);
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::satisfied);
  EXPECT_EQ(a.fence(dependsOn(kB, 2)), Kind::waiting);
}

TEST(Fence, WithoutItsRuleReceivedCounts) {
  Replica a(kA, Rules().without(Rule::FR3_AppliedAndVisible));
  a.frame(kB, 1, put(1, 10, 5));
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::satisfied);
  EXPECT_EQ(a.replication.record(kKey), nullptr) << "admitted, and the write is not there";
  EXPECT_EQ(a.fence(dependsOn(kB, 2)), Kind::waiting);
}

// S-31: A writes, B holds without writing, C must have A's write.
TEST(Fence, EveryOriginCounts) {
  Replica c(kC);
  DependencySet set = dependsOn(kA, 2);
  set.require(kB, 1);
  c.frame(kB, 1, release(kKey, kB));
  c.apply(kB);
  c.frame(kA, 1, put(1, 10, 5));
  c.apply(kA);
  const FenceState state = c.replication.fence(set);
  EXPECT_EQ(state.kind, Kind::waiting);
  EXPECT_EQ(state.origin, kA);
  EXPECT_EQ(state.position, 2u);
  c.frame(kA, 2, release(kKey, kA));
  c.apply(kA);
  EXPECT_TRUE(c.replication.fence(set).satisfied());
}

// S-32: the loser of a timestamp tie has the right version; only the position tells that the winner is
// missing.
TEST(Fence, ATieIsNoSubstituteForThePosition) {
  Replica a(kA);
  a.append(put(1, 10, 100));
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::waiting);
  a.frame(kB, 1, put(2, 10, 200));
  a.apply(kB);
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::satisfied);
  EXPECT_EQ(a.value(), 200);
}

// S-33: having B's patch of one field does not stand for C's write of another.
TEST(Fence, ANewerPatchDoesNotImplyAnOlderOne) {
  Replica a(kA);
  DependencySet set = dependsOn(kB, 1);
  set.require(kC, 1);
  a.frame(kB, 1, transaction(2, {{kKey, WriteOp::patch, 0b10, 0, Timestamp{20}, {0, 7, 0, 0}}}));
  a.apply(kB);
  EXPECT_EQ(a.replication.fence(set).origin, kC);
  a.frame(kC, 1, transaction(1, {{kKey, WriteOp::patch, 0b01, 0, Timestamp{10}, {6, 0, 0, 0}}}));
  a.apply(kC);
  EXPECT_TRUE(a.replication.fence(set).satisfied());
  EXPECT_EQ(a.replication.readOf(CallId{}, kKey).values, (FieldValues{6, 7, 0, 0}));
}

TEST(Fence, AnEmptySetIsSatisfiedAndANobodyNeverIs) {
  Replica a;
  EXPECT_EQ(a.fence({}), Kind::satisfied);
  EXPECT_EQ(a.fence(dependsOn(NodeId{9}, 1)), Kind::unsatisfiable);
  EXPECT_EQ(a.replication.received(NodeId{9}), 0u);
  EXPECT_EQ(a.replication.visible(NodeId{9}), 0u);
}

TEST(Fence, UnsatisfiableOutranksWaiting) {
  Replica a;
  a.gap(kC, 5);
  DependencySet set = dependsOn(kB, 1);
  set.require(kC, 4);
  const FenceState state = a.replication.fence(set);
  EXPECT_EQ(state.kind, Kind::unsatisfiable);
  EXPECT_EQ(state.origin, kC);
}

// ---- Gaps (FR-5) ------------------------------------------------------------------------------------------

TEST(Gap, PurgedPositionsFailClosed) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.apply(kB);
  EXPECT_TRUE(a.gap(kB, 4));
  const auto found = a.observed<obs::GapFound>();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].origin, kB);
  EXPECT_EQ(found[0].from, 2u);
  EXPECT_EQ(found[0].to, 3u);
  EXPECT_EQ(a.replication.received(kB), 3u);
  EXPECT_EQ(a.replication.visible(kB), 1u);
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::satisfied) << "what lies before the gap is complete";
  EXPECT_EQ(a.fence(dependsOn(kB, 2)), Kind::unsatisfiable);

  // The stream goes on behind the gap, and nothing behind it is complete.
  a.frame(kB, 4, put(4, 13, 8));
  EXPECT_EQ(a.fence(dependsOn(kB, 4)), Kind::unsatisfiable);
  a.apply(kB);
  EXPECT_EQ(a.value(), 8);
  EXPECT_EQ(a.replication.applied(kB), 4u);
  EXPECT_EQ(a.fence(dependsOn(kB, 4)), Kind::unsatisfiable);
}

TEST(Gap, WithoutItsRuleThePurgedPositionPasses) {
  Replica a(kA, Rules().without(Rule::FR5_FailClosed));
  a.gap(kB, 4);
  EXPECT_EQ(a.fence(dependsOn(kB, 3)), Kind::satisfied);
  EXPECT_EQ(a.fence(dependsOn(kB, 4)), Kind::waiting);
}

TEST(Gap, WhatIsReceivedAlreadyIsNotMissing) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.frame(kB, 2, put(2, 11, 6));
  a.out.clear();
  const auto before = a.hash();
  EXPECT_TRUE(a.gap(kB, 1));
  EXPECT_TRUE(a.gap(kB, 3));
  EXPECT_EQ(a.hash(), before);
  EXPECT_TRUE(a.observed<obs::GapFound>().empty());
}

TEST(Gap, QueuedEntriesBeforeItAreAppliedFirst) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.gap(kB, 4);
  EXPECT_EQ(a.replication.applied(kB), 0u) << "the queued entry would be lost in a crash";
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::waiting);
  EXPECT_EQ(a.fence(dependsOn(kB, 2)), Kind::unsatisfiable);
  a.frame(kB, 4, put(4, 13, 8));
  a.apply(kB);
  EXPECT_EQ(a.replication.applied(kB), 3u);
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::satisfied);
  a.apply(kB);
  EXPECT_EQ(a.replication.applied(kB), 4u);
}

TEST(Gap, SurvivesACrashAndGrows) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.gap(kB, 4);
  a.crash();
  EXPECT_EQ(a.replication.received(kB), 0u);
  a.gap(kB, 6);
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::unsatisfiable) << "the queued entry was lost, and purged since";
  ASSERT_EQ(a.replication.takeState().origins[kB.value].gaps, (std::vector<PositionRange>{{1, 5}}));
}

TEST(Gap, RepairedPositionByPosition) {
  Replica a;
  a.gap(kB, 4);
  a.out.clear();
  EXPECT_TRUE(a.replication.repair(kB, 2, put(2, 11, 6), a.context()));
  EXPECT_EQ(a.value(), 6);
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::unsatisfiable);
  EXPECT_TRUE(a.replication.repair(kB, 1, put(1, 10, 5), a.context()));
  EXPECT_EQ(a.value(), 6) << "an older write that comes late loses";
  EXPECT_EQ(a.fence(dependsOn(kB, 2)), Kind::satisfied);
  EXPECT_EQ(a.fence(dependsOn(kB, 3)), Kind::unsatisfiable);
  EXPECT_TRUE(a.replication.repair(kB, 3, put(3, 12, 7), a.context()));
  EXPECT_EQ(a.fence(dependsOn(kB, 3)), Kind::satisfied);
  EXPECT_EQ(a.replication.visible(kB), 3u);
  const auto repaired = a.observed<obs::HoleRepaired>();
  ASSERT_EQ(repaired.size(), 3u);
  EXPECT_EQ(repaired[0].origin, kB);
  EXPECT_EQ(repaired[0].position, 2u);
}

// ---- Holes (FR-8) -----------------------------------------------------------------------------------------

TEST(Hole, NoLaterEntryPapersOverIt) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.frame(kB, 2, put(2, 11, 6, kOther));
  a.frame(kB, 3, barrier(9));
  EXPECT_TRUE(a.apply(kB).has_value());
  EXPECT_FALSE(a.apply(kB, true).has_value());
  EXPECT_TRUE(a.apply(kB).has_value());
  const auto observed = a.observed<obs::Applied>();
  ASSERT_EQ(observed.size(), 3u);
  EXPECT_TRUE(observed[1].failed);
  EXPECT_EQ(observed[1].position, 2u);
  EXPECT_EQ(a.replication.applied(kB), 3u);
  EXPECT_EQ(a.replication.visible(kB), 1u);
  EXPECT_EQ(a.replication.record(kOther), nullptr);
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::satisfied);
  EXPECT_EQ(a.fence(dependsOn(kB, 2)), Kind::unsatisfiable);
  EXPECT_EQ(a.fence(dependsOn(kB, 3)), Kind::unsatisfiable);
  EXPECT_EQ(a.fence(dependsOn(kB, 4)), Kind::unsatisfiable);
}

TEST(Hole, WithoutItsRuleTheBarrierIsBelieved) {
  Replica a(kA, Rules().without(Rule::FR8_HolesRefuse));
  a.frame(kB, 1, put(1, 10, 5));
  a.frame(kB, 2, barrier(9));
  a.apply(kB, true);
  a.apply(kB);
  EXPECT_EQ(a.fence(dependsOn(kB, 2)), Kind::satisfied);
  EXPECT_EQ(a.replication.record(kKey), nullptr) << "admitted, and the write is not there";
}

TEST(Hole, SurvivesACrash) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.apply(kB, true);
  a.crash();
  EXPECT_EQ(a.replication.received(kB), 1u) << "the stream goes on behind it";
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::unsatisfiable);
}

TEST(Hole, OnlyARepairClosesIt) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.apply(kB, true);
  a.frame(kB, 1, put(1, 10, 5));
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::unsatisfiable) << "being sent again is no repair";
  a.out.clear();
  EXPECT_TRUE(a.replication.repair(kB, 1, put(1, 10, 5), a.context()));
  EXPECT_EQ(a.value(), 5);
  EXPECT_EQ(a.fence(dependsOn(kB, 1)), Kind::satisfied);
  ASSERT_EQ(a.observed<obs::HoleRepaired>().size(), 1u);
}

TEST(Hole, ACopyOfRowsDoesNotCloseIt) {
  for (const bool kept : {true, false}) {
    Replica source(kC);
    source.frame(kB, 1, put(1, 10, 5));
    source.frame(kB, 2, put(2, 11, 7, kOther));
    source.applyAll(kB);
    Replica a(kA, kept ? Rules() : Rules().without(Rule::FR8_CopyIsNoRepair));
    a.frame(kB, 1, put(1, 10, 5));
    a.apply(kB, true);
    a.replication.takeRows({{kOther, *source.replication.record(kOther)}, {KeyId{99}, Record()}},
                           a.context());
    EXPECT_EQ(a.value(kOther), 7);
    EXPECT_EQ(a.value(), 0) << "no part of the copy";
    EXPECT_EQ(a.fence(dependsOn(kB, 1)), kept ? Kind::unsatisfiable : Kind::satisfied);
  }
}

TEST(Hole, ARepairOfNothingChangesNothing) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.frame(kB, 2, put(2, 11, 6));
  a.apply(kB, true);
  a.out.clear();
  const auto before = a.hash();
  EXPECT_FALSE(a.replication.repair(kB, 2, put(2, 11, 6), a.context())) << "queued, not failed";
  EXPECT_FALSE(a.replication.repair(kB, 9, put(2, 11, 6), a.context()));
  EXPECT_FALSE(a.replication.repair(kC, 1, put(2, 11, 6), a.context()));
  EXPECT_FALSE(a.replication.repair(kA, 1, put(2, 11, 6), a.context()));
  EXPECT_FALSE(a.replication.repair(NodeId{9}, 1, put(2, 11, 6), a.context()));
  EXPECT_FALSE(a.replication.repair(kB, 1, put(2, 11, 6, KeyId{99}), a.context())) << "malformed";
  EXPECT_EQ(a.hash(), before);
  EXPECT_TRUE(a.out.observations.empty());
}

// ---- Ranges of positions ----------------------------------------------------------------------------------

std::set<Position> membersOf(const std::vector<PositionRange>& ranges) {
  std::set<Position> members;
  for (const PositionRange& range : ranges) {
    for (Position position = range.from; position <= range.to; ++position) members.insert(position);
  }
  return members;
}

RC_GTEST_PROP(PositionRanges, BehaveLikeASet, ()) {
  std::vector<PositionRange> ranges;
  std::set<Position> model;
  const auto steps = *rc::gen::container<std::vector<std::tuple<bool, Position, Position>>>(rc::gen::tuple(
      rc::gen::arbitrary<bool>(), rc::gen::inRange<Position>(1, 20), rc::gen::inRange<Position>(0, 5)));
  for (const auto& [insert, from, length] : steps) {
    if (insert) {
      insertRange(ranges, {from, from + length});
      for (Position position = from; position <= from + length; ++position) model.insert(position);
    } else {
      RC_ASSERT(removePosition(ranges, from) == (model.erase(from) == 1));
    }
    RC_ASSERT(membersOf(ranges) == model);
    for (std::size_t i = 1; i < ranges.size(); ++i) RC_ASSERT(ranges[i - 1].to + 1 < ranges[i].from);
  }
}

TEST(PositionRanges, ReachTheGreatestPosition) {
  std::vector<PositionRange> ranges;
  insertRange(ranges, {UINT32_MAX, UINT32_MAX});
  insertRange(ranges, {5, 6});
  insertRange(ranges, {7, UINT32_MAX - 1});
  EXPECT_EQ(ranges, (std::vector<PositionRange>{{5, UINT32_MAX}}));
}

}  // namespace
}  // namespace holdfast::protocol
