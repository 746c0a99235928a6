// Tombstones (LW-3): kept for the retention, measured here and from when the record became one.
#include <gtest/gtest.h>

#include "tests/protocol/replication_fixture.hpp"

namespace holdfast::protocol {
namespace {

using namespace testing;

TEST(Tombstone, IsReclaimedAfterItsRetentionAndNotBefore) {
  Replica a;
  const MonotonicInstant erased = a.now;
  a.append(put(1, 10, 5));
  EXPECT_EQ(a.replication.nextTombstone(), MonotonicInstant::never());
  a.append(transaction(2, {eraseOf(11)}));
  EXPECT_EQ(a.replication.tombstones(), 1u);
  EXPECT_EQ(a.replication.nextTombstone(), erased + a.setup.options.tombstoneRetention);

  a.now = a.replication.nextTombstone() - Duration{1};
  a.sweep();
  ASSERT_NE(a.replication.record(kKey), nullptr);
  EXPECT_TRUE(a.replication.record(kKey)->tombstone());

  a.now = a.now + Duration{1};
  a.sweep();
  EXPECT_EQ(a.replication.record(kKey), nullptr);
  EXPECT_EQ(a.replication.tombstones(), 0u);
  EXPECT_EQ(a.replication.nextTombstone(), MonotonicInstant::never());
  ASSERT_EQ(a.observed<obs::TombstoneReclaimed>().size(), 1u);
  EXPECT_EQ(a.observed<obs::TombstoneReclaimed>()[0].key, kKey);
}

TEST(Tombstone, ALateWriteFromBeforeTheEraseStaysDead) {
  Replica a;
  a.append(transaction(2, {eraseOf(11)}));
  a.frame(kB, 1, put(1, 10, 5));
  a.apply(kB);
  EXPECT_EQ(a.replication.readOf(CallId{}, kKey).present, 0);
  EXPECT_EQ(a.replication.tombstones(), 1u);
}

// Rule LW3_TombstoneRetention: without it the erased record comes back.
TEST(Tombstone, WithoutRetentionALateWriteRises) {
  Replica a(kA, Rules().without(Rule::LW3_TombstoneRetention));
  a.append(transaction(2, {eraseOf(11)}));
  EXPECT_EQ(a.replication.record(kKey), nullptr);
  EXPECT_EQ(a.replication.tombstones(), 0u);
  ASSERT_EQ(a.observed<obs::TombstoneReclaimed>().size(), 1u);
  a.frame(kB, 1, put(1, 10, 5));
  a.apply(kB);
  EXPECT_EQ(a.value(), 5);
}

TEST(Tombstone, ANewerWriteEndsIt) {
  Replica a;
  a.append(transaction(1, {eraseOf(11)}));
  a.append(put(2, 12, 5));
  EXPECT_EQ(a.replication.tombstones(), 0u);
  a.now = a.now + sim::hours(1);
  a.sweep();
  EXPECT_EQ(a.value(), 5);
  EXPECT_TRUE(a.observed<obs::TombstoneReclaimed>().empty());
}

TEST(Tombstone, ANewerEraseStartsTheRetentionAnew) {
  Replica a;
  a.append(transaction(1, {eraseOf(11)}));
  a.now = a.now + sim::minutes(4);
  a.append(transaction(2, {eraseOf(12)}));
  EXPECT_EQ(a.replication.tombstones(), 1u);
  EXPECT_EQ(a.replication.nextTombstone(), a.now + a.setup.options.tombstoneRetention);
  const MonotonicInstant before = a.replication.nextTombstone();
  a.now = a.now + sim::minutes(1);
  a.frame(kB, 1, transaction(3, {eraseOf(5)}));
  a.apply(kB);
  EXPECT_EQ(a.replication.nextTombstone(), before) << "an older erase changes nothing";
}

TEST(Tombstone, ManyAreReclaimedInTheOrderTheyCame) {
  Replica a;
  a.append(transaction(1, {eraseOf(11, KeyId{2})}));
  a.now = a.now + sim::seconds(1);
  a.append(transaction(2, {eraseOf(11, KeyId{0})}));
  a.now = a.now + sim::seconds(1);
  a.append(transaction(3, {eraseOf(11, KeyId{1})}));
  EXPECT_EQ(a.replication.tombstones(), 3u);
  a.now = a.replication.nextTombstone() + sim::seconds(1);
  a.sweep();
  EXPECT_EQ(a.replication.tombstones(), 1u);
  a.now = a.now + sim::seconds(1);
  a.sweep();
  const auto reclaimed = a.observed<obs::TombstoneReclaimed>();
  ASSERT_EQ(reclaimed.size(), 3u);
  EXPECT_EQ(reclaimed[0].key, KeyId{2});
  EXPECT_EQ(reclaimed[1].key, KeyId{0});
  EXPECT_EQ(reclaimed[2].key, KeyId{1});
}

TEST(Tombstone, ARestartStartsTheRetentionAnew) {
  Replica a;
  a.append(transaction(1, {eraseOf(11)}));
  a.now = a.now + sim::minutes(4);
  a.crash();
  EXPECT_EQ(a.replication.nextTombstone(), MonotonicInstant::never()) << "before boot there is no clock";
  a.replication.boot(a.context());
  EXPECT_EQ(a.replication.tombstones(), 1u);
  EXPECT_EQ(a.replication.nextTombstone(), a.now + a.setup.options.tombstoneRetention);
}

TEST(Tombstone, ARecoveredEraseIsRetainedToo) {
  ReplicaState state;
  Replication::recover(state, setupOf(kA, {}), transaction(1, {eraseOf(11)}));
  Replica a(kA, {}, std::move(state));
  a.replication.boot(a.context());
  EXPECT_EQ(a.replication.tombstones(), 1u);
}

TEST(Tombstone, HashesByWhatRemains) {
  Replica a;
  Replica later;
  later.now = later.now + sim::seconds(9);
  a.append(transaction(1, {eraseOf(11)}));
  later.append(transaction(1, {eraseOf(11)}));
  EXPECT_EQ(a.hash(), later.hash());
  later.now = later.now + sim::seconds(1);
  EXPECT_NE(a.hash(), later.hash());
}

// ---- What was logged within the retention (LW3_ReclaimBehindLogs) -----------------------------------------

/// A's replica at the end of the retention of an erase, when it has asked B and C in one round.
struct AtRetentionsEnd : testing::Replica {
  AtRetentionsEnd() {
    append(transaction(2, {eraseOf(11)}));
    now = replication.nextTombstone();
    replication.sweepTombstones(context());
    const auto asked = sent<Subscribe>(kB);
    EXPECT_EQ(asked.size(), 1U);
    if (!asked.empty()) round = asked.front().round;
    EXPECT_EQ(sent<Subscribe>(kC).size(), 1U);
    out.sends.clear();
  }
  bool head(NodeId origin, Position position) { return replication.onLogHead(origin, {round, position}); }
  /// How many tombstones one more sweep leaves.
  std::size_t left() {
    replication.sweepTombstones(context());
    return replication.tombstones();
  }
  std::uint32_t round = 0;
};

TEST(Reclaim, WaitsForTheAnswerOfEveryOrigin) {
  AtRetentionsEnd a;
  EXPECT_NE(a.round, 0U);
  EXPECT_TRUE(a.head(kB, 0));
  EXPECT_EQ(a.left(), 1U);
  EXPECT_TRUE(a.sent<Subscribe>(kB).empty()) << "B has answered";
  EXPECT_EQ(a.sent<Subscribe>(kC).size(), 1U) << "C is asked again";
  EXPECT_TRUE(a.head(kC, 0));
  EXPECT_EQ(a.left(), 0U);
}

TEST(Reclaim, WaitsUntilWhatWasLoggedIsApplied) {
  AtRetentionsEnd a;
  a.head(kB, 1);
  a.head(kC, 0);
  EXPECT_EQ(a.left(), 1U) << "B's entry has not arrived";
  a.frame(kB, 1, put(1, 10, 5));
  EXPECT_EQ(a.left(), 1U) << "nor is it applied when it is received";
  a.frame(kB, 2, put(3, 9, 6));
  a.apply(kB);
  EXPECT_EQ(a.left(), 0U) << "what B logged later is not waited for";
  EXPECT_EQ(a.replication.record(kKey), nullptr) << "the erase has kept B's write out";
}

TEST(Reclaim, WaitsForTheRepairOfAHole) {
  AtRetentionsEnd a;
  a.head(kB, 1);
  a.head(kC, 0);
  a.frame(kB, 1, put(1, 10, 5));
  a.apply(kB, true);
  EXPECT_EQ(a.left(), 1U);
  EXPECT_TRUE(a.replication.repair(kB, 1, put(1, 10, 5), a.context()));
  EXPECT_EQ(a.left(), 0U);
}

TEST(Reclaim, AnAnswerToAnEarlierRoundDoesNotCount) {
  AtRetentionsEnd a;
  a.head(kB, 0);
  a.head(kC, 0);
  EXPECT_EQ(a.left(), 0U);
  a.append(transaction(4, {eraseOf(12)}));
  a.now = a.replication.nextTombstone();
  EXPECT_EQ(a.left(), 1U);
  EXPECT_TRUE(a.head(kB, 0));
  EXPECT_TRUE(a.head(kC, 0));
  EXPECT_EQ(a.left(), 1U) << "both answers are of the round before";
  a.round = a.sent<Subscribe>(kB).back().round;
  a.head(kB, 0);
  a.head(kC, 0);
  EXPECT_EQ(a.left(), 0U);
}

TEST(Reclaim, ATombstoneThatFallsDueMeanwhileIsOfTheNextRound) {
  AtRetentionsEnd a;
  a.now = a.now - sim::seconds(1);
  a.append(transaction(4, {eraseOf(12, kOther)}));
  a.now = a.replication.nextTombstone();
  a.head(kB, 0);
  a.head(kC, 0);
  a.now = a.now + a.setup.options.tombstoneRetention;
  EXPECT_EQ(a.left(), 1U) << "the second one was not due when B and C were asked";
}

TEST(Reclaim, NonsensicalAnswersAreRefused) {
  AtRetentionsEnd a;
  EXPECT_FALSE(a.replication.onLogHead(kA, {a.round, 0}));
  EXPECT_FALSE(a.replication.onLogHead(NodeId{9}, {a.round, 0}));
  EXPECT_FALSE(a.replication.onLogHead(kB, {0, 0}));
  EXPECT_FALSE(a.replication.onLogHead(kB, {a.round, UINT32_MAX}));
  EXPECT_EQ(a.left(), 1U);
}

TEST(Reclaim, AnOriginAnswersBehindWhatItHas) {
  Replica b;
  b.append(put(1, 10, 5));
  EXPECT_TRUE(b.replication.onSubscribe(kC, {1, 7}, b.context()));
  ASSERT_EQ(b.out.sends.size(), 2U);
  const auto* const head = std::get_if<LogHead>(&b.out.sends.back().message);
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->round, 7U);
  EXPECT_EQ(head->position, 1U);
  b.out.sends.clear();
  b.subscribed(kC, 2);
  EXPECT_TRUE(b.out.sends.empty()) << "who does not ask is not told";
}

// Rule LW3_ReclaimBehindLogs: without it the clock alone decides.
TEST(Reclaim, WithoutTheRuleNobodyIsAsked) {
  Replica a(kA, Rules().without(Rule::LW3_ReclaimBehindLogs));
  a.append(transaction(2, {eraseOf(11)}));
  a.now = a.replication.nextTombstone();
  a.replication.sweepTombstones(a.context());
  EXPECT_TRUE(a.out.sends.empty());
  EXPECT_EQ(a.replication.tombstones(), 0U);
}

}  // namespace
}  // namespace holdfast::protocol
