// The own log and the streams of others (LW-1): what is sent, what is accepted, and when it shows.
#include "protocol/replication/replication.hpp"

#include <gtest/gtest.h>

#include "tests/protocol/replication_fixture.hpp"

namespace holdfast::protocol {
namespace {

using namespace testing;

std::vector<Position> positionsOf(const std::vector<LogFrame>& frames) {
  std::vector<Position> positions;
  for (const LogFrame& frame : frames) positions.push_back(frame.position);
  return positions;
}

using Positions = std::vector<Position>;

// ---- The own log ------------------------------------------------------------------------------------------

TEST(OwnLog, GivesPositionsInCommitOrder) {
  Replica a;
  EXPECT_EQ(a.replication.head(), 0u);
  EXPECT_EQ(a.append(put(1, 10, 5)), 1u);
  EXPECT_EQ(a.append(barrier(7)), 2u);
  EXPECT_EQ(a.append(release(kKey, kA)), 3u);
  EXPECT_EQ(a.replication.head(), 3u);
  EXPECT_TRUE(a.out.sends.empty()) << "nobody has subscribed";
}

TEST(OwnLog, ANodeSeesItsOwnCommitsAtOnce) {
  Replica a;
  a.append(put(9, 10, 5));
  const obs::Read read = a.replication.readOf(CallId{4}, kKey);
  EXPECT_EQ(read.call, CallId{4});
  EXPECT_EQ(read.key, kKey);
  EXPECT_EQ(read.present, obs::kAllFields);
  EXPECT_EQ(read.values[2], 5);
  EXPECT_EQ(read.writers[2], TxnId{9});
  EXPECT_EQ(a.fence(dependsOn(kA, 1)), FenceState::Kind::satisfied);
  EXPECT_EQ(a.fence(dependsOn(kA, 2)), FenceState::Kind::waiting);
}

TEST(OwnLog, WritesOfOneTransactionApplyInTheirOrder) {
  Replica a;
  a.append(
      transaction(1, {putOf(10, 5), putOf(10, 6), {kKey, WriteOp::increment, 1, 0, Timestamp{10}, {2}}}));
  EXPECT_EQ(a.replication.readOf(CallId{}, kKey).values, (FieldValues{8, 6, 6, 6}));
}

TEST(OwnLog, EverySubscriberGetsEveryEntry) {
  Replica a;
  a.append(put(1, 10, 5));
  EXPECT_TRUE(a.subscribed(kB, 1));
  EXPECT_EQ(positionsOf(a.sent<LogFrame>(kB)), Positions{1});
  EXPECT_TRUE(a.subscribed(kC, 2));
  EXPECT_TRUE(a.sent<LogFrame>(kC).empty());
  a.out.clear();
  a.append(put(2, 11, 6));
  ASSERT_EQ(positionsOf(a.sent<LogFrame>(kB)), Positions{2});
  ASSERT_EQ(positionsOf(a.sent<LogFrame>(kC)), Positions{2});
  EXPECT_EQ(a.sent<LogFrame>(kC)[0].entry, put(2, 11, 6));
}

TEST(OwnLog, SubscribingAgainStartsAgain) {
  Replica a;
  for (std::uint32_t i = 1; i <= 4; ++i) a.append(put(i, i, i));
  a.subscribed(kB, 1);
  a.out.clear();
  a.subscribed(kB, 3);
  EXPECT_EQ(positionsOf(a.sent<LogFrame>(kB)), (Positions{3, 4}));
  a.out.clear();
  a.append(put(5, 5, 5));
  EXPECT_EQ(positionsOf(a.sent<LogFrame>(kB)), Positions{5}) << "one subscription, not two";
}

TEST(OwnLog, RefusesSubscriptionsThatMakeNoSense) {
  Replica a;
  a.append(put(1, 10, 5));
  const auto before = a.hash();
  EXPECT_FALSE(a.subscribed(kB, 0));
  EXPECT_FALSE(a.subscribed(kB, 3)) << "ahead of the log";
  EXPECT_FALSE(a.subscribed(kA, 1)) << "the node itself";
  EXPECT_FALSE(a.subscribed(NodeId{3}, 1)) << "nobody";
  EXPECT_FALSE(a.subscribed(NodeId::none(), 1));
  EXPECT_EQ(a.hash(), before);
  EXPECT_TRUE(a.out.sends.empty());
}

TEST(OwnLog, PurgedEntriesAreReportedAsAGap) {
  Replica a;
  for (std::uint32_t i = 1; i <= 4; ++i) a.append(put(i, i, i));
  a.replication.purge(2, a.context());
  EXPECT_EQ(a.replication.head(), 4u);
  EXPECT_EQ(a.value(), 4) << "records stay";
  a.subscribed(kB, 1);
  ASSERT_EQ(a.out.sends.size(), 3u);
  ASSERT_TRUE(std::holds_alternative<LogGap>(a.out.sends[0].message)) << "the gap comes before the frames";
  EXPECT_EQ(std::get<LogGap>(a.out.sends[0].message).first, 3u);
  EXPECT_EQ(positionsOf(a.sent<LogFrame>(kB)), (Positions{3, 4}));
  a.out.clear();
  a.subscribed(kC, 3);
  EXPECT_TRUE(a.sent<LogGap>(kC).empty()) << "nothing that it asked for is missing";
}

TEST(OwnLog, PurgingStopsAtTheHead) {
  Replica a;
  a.append(put(1, 1, 1));
  a.replication.purge(100, a.context());
  a.replication.purge(0, a.context());
  EXPECT_EQ(a.replication.head(), 1u);
  EXPECT_EQ(a.append(put(2, 2, 2)), 2u);
  a.subscribed(kB, 1);
  ASSERT_EQ(a.sent<LogGap>(kB).size(), 1u);
  EXPECT_EQ(a.sent<LogGap>(kB)[0].first, 2u);
  EXPECT_EQ(positionsOf(a.sent<LogFrame>(kB)), Positions{2});
}

TEST(OwnLog, RecoverAppendsWhatNobodyWasToldOf) {
  Replica a;
  a.append(put(1, 10, 5));
  ReplicaState state = a.replication.takeState();
  EXPECT_EQ(Replication::recover(state, setupOf(kA, {}), put(2, 11, 6)), 2u);
  Replica restarted(kA, {}, std::move(state));
  EXPECT_EQ(restarted.replication.head(), 2u);
  EXPECT_EQ(restarted.value(), 6);
}

TEST(OwnLog, RecoverKeepsThePlaceOfWhatMakesNoSense) {
  ReplicaState state;
  const NodeSetup setup = setupOf(kA, {});
  EXPECT_EQ(Replication::recover(state, setup, put(1, 11, 6, KeyId::none())), 1u);
  EXPECT_EQ(Replication::recover(state, setup, put(2, 12, 7)), 2u);
  Replica restarted(kA, {}, std::move(state));
  EXPECT_EQ(restarted.replication.head(), 2u);
  EXPECT_EQ(restarted.value(), 7);
}

TEST(OwnLog, RecoverWorksOnANewDisk) {
  ReplicaState state;
  EXPECT_EQ(Replication::recover(state, setupOf(kA, {}), put(1, 11, 6, kOther)), 1u);
  Replica restarted(kA, {}, std::move(state));
  EXPECT_EQ(restarted.value(kOther), 6);
  EXPECT_EQ(restarted.replication.record(kKey), nullptr);
}

// ---- Streams ----------------------------------------------------------------------------------------------

TEST(Streams, BootSubscribesToEveryOtherNode) {
  Replica b(kB);
  b.replication.boot(b.context());
  ASSERT_EQ(b.out.sends.size(), 2u);
  ASSERT_EQ(b.sent<Subscribe>(kA).size(), 1u);
  ASSERT_EQ(b.sent<Subscribe>(kC).size(), 1u);
  EXPECT_EQ(b.sent<Subscribe>(kA)[0].from, 1u);
}

TEST(Streams, AReceivedEntryShowsOnlyOnceApplied) {
  Replica a;
  EXPECT_TRUE(a.frame(kB, 1, put(1, 10, 5)));
  ASSERT_EQ(a.out.applies.size(), 1u);
  EXPECT_EQ(a.out.applies[0].origin, kB);
  EXPECT_EQ(a.out.applies[0].position, 1u);
  EXPECT_EQ(a.replication.received(kB), 1u);
  EXPECT_EQ(a.replication.applied(kB), 0u);
  EXPECT_EQ(a.replication.record(kKey), nullptr);
  EXPECT_EQ(a.replication.receivedQueued(), 1u);

  const auto applied = a.apply(kB);
  ASSERT_TRUE(applied.has_value());
  EXPECT_EQ(applied->origin, kB);
  EXPECT_EQ(applied->position, 1u);
  EXPECT_EQ(*applied->entry, put(1, 10, 5));
  EXPECT_EQ(a.replication.applied(kB), 1u);
  EXPECT_EQ(a.value(), 5);
  EXPECT_EQ(a.replication.receivedQueued(), 0u);
  const auto observed = a.observed<obs::Applied>();
  ASSERT_EQ(observed.size(), 1u);
  EXPECT_EQ(observed[0].origin, kB);
  EXPECT_EQ(observed[0].position, 1u);
  EXPECT_FALSE(observed[0].failed);
}

TEST(Streams, OneApplyIsUnderWayForEachOrigin) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.frame(kB, 2, put(2, 11, 6));
  a.frame(kC, 1, put(3, 12, 7));
  ASSERT_EQ(a.out.applies.size(), 2u);
  EXPECT_EQ(a.out.applies[1].origin, kC);
  a.out.clear();
  a.apply(kB);
  ASSERT_EQ(a.out.applies.size(), 1u);
  EXPECT_EQ(a.out.applies[0].position, 2u);
  EXPECT_EQ(a.value(), 5);
  a.apply(kC);
  EXPECT_EQ(a.value(), 7) << "origins do not wait for each other";
  EXPECT_EQ(a.out.applies.size(), 1u);
}

TEST(Streams, ControlEntriesAreHandedOn) {
  Replica a;
  a.frame(kB, 1, release(kKey, kB));
  a.frame(kB, 2, barrier(77));
  const auto first = a.apply(kB);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(*first->entry, release(kKey, kB));
  const auto second = a.apply(kB);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(*second->entry, barrier(77));
  EXPECT_FALSE(a.apply(kB).has_value());
}

TEST(Streams, DuplicatesChangeNothing) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.frame(kB, 2, put(2, 11, 6));
  a.apply(kB);
  a.out.clear();
  const auto before = a.hash();
  EXPECT_TRUE(a.frame(kB, 1, put(1, 10, 5)));
  EXPECT_TRUE(a.frame(kB, 2, put(2, 11, 6)));
  EXPECT_EQ(a.hash(), before);
  EXPECT_TRUE(a.out.applies.empty());
  EXPECT_TRUE(a.out.sends.empty());
}

TEST(Streams, AJumpAsksOnceForWhatIsMissing) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.out.clear();
  EXPECT_TRUE(a.frame(kB, 3, put(3, 12, 7)));
  EXPECT_TRUE(a.frame(kB, 4, put(4, 13, 8)));
  ASSERT_EQ(a.sent<Subscribe>(kB).size(), 1u);
  EXPECT_EQ(a.sent<Subscribe>(kB)[0].from, 2u);
  EXPECT_EQ(a.replication.received(kB), 1u);

  // The answer closes the hole; a later jump asks again at once.
  a.out.clear();
  a.frame(kB, 2, put(2, 11, 6));
  a.frame(kB, 4, put(4, 13, 8));
  ASSERT_EQ(a.sent<Subscribe>(kB).size(), 1u);
  EXPECT_EQ(a.sent<Subscribe>(kB)[0].from, 3u);
}

TEST(Streams, AskingIsRepeatedWhenTheAnswerFailsToCome) {
  Replica a;
  a.frame(kB, 3, put(3, 12, 7));
  a.out.clear();
  a.now = a.now + a.setup.options.retryEvery - Duration{1};
  a.frame(kB, 4, put(4, 13, 8));
  EXPECT_TRUE(a.sent<Subscribe>(kB).empty());
  a.now = a.now + Duration{1};
  a.frame(kB, 5, put(5, 14, 9));
  ASSERT_EQ(a.sent<Subscribe>(kB).size(), 1u);
  EXPECT_EQ(a.sent<Subscribe>(kB)[0].from, 1u);
}

TEST(Streams, AReconnectedPeerIsAskedFromBehindWhatWasReceived) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.frame(kB, 2, put(2, 11, 6));
  a.out.clear();
  a.replication.onPeerUp(kB, a.context());
  ASSERT_EQ(a.sent<Subscribe>(kB).size(), 1u);
  EXPECT_EQ(a.sent<Subscribe>(kB)[0].from, 3u);
  a.out.clear();
  a.replication.onPeerUp(kA, a.context());
  a.replication.onPeerUp(NodeId{9}, a.context());
  EXPECT_TRUE(a.out.sends.empty());
}

TEST(Streams, ACrashLosesTheQueueAndAsksAgain) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.frame(kB, 2, put(2, 11, 6));
  a.apply(kB);
  a.crash();
  EXPECT_EQ(a.replication.received(kB), 1u);
  EXPECT_EQ(a.replication.receivedQueued(), 0u);
  EXPECT_EQ(a.value(), 5) << "what was applied is durable";
  a.replication.boot(a.context());
  ASSERT_EQ(a.sent<Subscribe>(kB).size(), 1u);
  EXPECT_EQ(a.sent<Subscribe>(kB)[0].from, 2u);
  EXPECT_FALSE(a.apply(kB).has_value()) << "an apply of the earlier life means nothing";
  a.frame(kB, 2, put(2, 11, 6));
  a.apply(kB);
  EXPECT_EQ(a.value(), 6);
}

TEST(Streams, ARestartedOriginHasNoSubscribers) {
  Replica a;
  a.subscribed(kB, 1);
  a.crash();
  a.append(put(1, 10, 5));
  EXPECT_TRUE(a.sent<LogFrame>(kB).empty());
}

TEST(Streams, MalformedMessagesChangeNothing) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.out.clear();
  const auto before = a.hash();
  Write badOp = putOf(1, 1);
  badOp.op = static_cast<WriteOp>(9);
  Write badFields = putOf(1, 1);
  badFields.fields = 0x1f;
  ReleaseEntry badRelease{kKey, kB, Token{1, 1, 1}, 6, dependsOn(NodeId{700}, 1)};
  EXPECT_FALSE(a.frame(kB, 0, put(2, 11, 6)));
  for (const Position position : {1U, 3U}) {  // not the next one
    EXPECT_FALSE(a.frame(kB, position, put(2, 11, 6, KeyId{3}))) << "no such key";
    EXPECT_FALSE(a.frame(kB, position, put(2, 11, 6, KeyId::none())));
    EXPECT_FALSE(a.frame(kB, position, transaction(2, {putOf(1, 1), badOp})));
    EXPECT_FALSE(a.frame(kB, position, transaction(2, {badFields})));
    EXPECT_FALSE(a.frame(kB, position, release(KeyId{3}, kB)));
    EXPECT_FALSE(a.frame(kB, position, badRelease));
    EXPECT_FALSE(a.frame(kB, position, BarrierEntry{NodeId{3}, 1}));
  }
  EXPECT_FALSE(a.frame(kA, 1, put(2, 11, 6))) << "from itself";
  EXPECT_FALSE(a.frame(NodeId{3}, 1, put(2, 11, 6)));
  EXPECT_FALSE(a.gap(kB, 0));
  EXPECT_FALSE(a.gap(kA, 5));
  EXPECT_FALSE(a.gap(NodeId::none(), 5));
  EXPECT_FALSE(a.apply(NodeId{3}).has_value());
  EXPECT_FALSE(a.apply(kA).has_value());
  EXPECT_FALSE(a.apply(kC).has_value());
  EXPECT_EQ(a.hash(), before);
  EXPECT_TRUE(a.out.sends.empty());
  EXPECT_TRUE(a.out.observations.empty());
}

TEST(Streams, AMalformedEntryIsAskedForOnceMoreAndThenPassed) {
  ReleaseEntry nameless{kKey, kB, Token{1, 1, 1}, ReleaseEntry::kCurrentForm, dependsOn(NodeId{700}, 1)};
  const std::vector<LogEntry> control{nameless, release(KeyId{3}, kB), BarrierEntry{NodeId{3}, 1},
                                      RequestEntry{KeyId{3}, 1}, GrantEntry{kKey, NodeId{3}, 1, false}};
  for (const LogEntry& entry : control) {
    Replica a;
    EXPECT_FALSE(a.frame(kB, 1, entry)) << "doubted";
    ASSERT_EQ(a.sent<Subscribe>(kB).size(), 1u);
    EXPECT_EQ(a.sent<Subscribe>(kB)[0].from, 1u);
    EXPECT_EQ(a.replication.received(kB), 0u);
    EXPECT_TRUE(a.frame(kB, 1, entry)) << "it stands there";
    EXPECT_TRUE(a.frame(kB, 2, put(1, 10, 5)));
    EXPECT_FALSE(a.apply(kB).has_value()) << "nobody acts on it";
    EXPECT_TRUE(a.apply(kB).has_value());
    EXPECT_EQ(a.replication.visible(kB), 2u) << "nothing is missing";
    EXPECT_EQ(a.value(), 5);
  }
}

TEST(Streams, ADoubtedFrameThatWasNoEntryLeavesItsPlaceToTheEntry) {
  Replica a;
  EXPECT_FALSE(a.frame(kB, 1, release(KeyId{3}, kB)));
  EXPECT_TRUE(a.frame(kB, 1, put(1, 10, 5)));
  EXPECT_TRUE(a.apply(kB).has_value());
  EXPECT_FALSE(a.frame(kB, 2, release(KeyId{3}, kB))) << "another place, another doubt";
}

TEST(Streams, AMalformedTransactionLeavesAHole) {
  Replica a;
  (void)a.frame(kB, 1, put(1, 10, 5, KeyId{3}));
  EXPECT_TRUE(a.frame(kB, 1, put(1, 10, 5, KeyId{3})));
  EXPECT_TRUE(a.frame(kB, 2, put(2, 11, 6)));
  a.applyAll(kB);
  EXPECT_EQ(a.value(), 6) << "the stream goes on";
  EXPECT_EQ(a.fence(dependsOn(kB, 2)), FenceState::Kind::unsatisfiable) << "FR-8";
  ASSERT_EQ(a.observed<obs::Applied>().size(), 2u);
  EXPECT_TRUE(a.observed<obs::Applied>()[0].failed);
}

TEST(Streams, WithoutPassingNothingBehindAMalformedEntryArrives) {
  Replica a(kA, Rules().without(Rule::BD3_MalformedPassed));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(a.frame(kB, 1, release(KeyId{3}, kB)));
  a.frame(kB, 2, put(1, 10, 5));
  EXPECT_EQ(a.replication.received(kB), 0u);
}

// Rule BD3_MalformedContained: without it what comes with a malformed entry is lost.
TEST(Streams, WithoutContainmentAMalformedEntryTakesOthersAlong) {
  Replica a(kA, Rules().without(Rule::BD3_MalformedContained));
  EXPECT_TRUE(a.frame(kB, 1, release(KeyId{3}, kB)));
  a.frame(kB, 2, put(1, 10, 5));
  EXPECT_FALSE(a.apply(kB).has_value());
  EXPECT_EQ(a.replication.applied(kB), 2u);
  EXPECT_EQ(a.replication.record(kKey), nullptr);
}

// Rule LW1_OrderedApply: without it a release is applied before the write that it stands for.
TEST(Streams, WithoutOrderTheLatestEntryIsAppliedFirst) {
  Replica a(kA, Rules().without(Rule::LW1_OrderedApply));
  a.frame(kB, 1, put(1, 10, 5));
  a.frame(kB, 2, release(kKey, kB));
  const auto first = a.apply(kB);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->position, 2u);
  EXPECT_EQ(a.fence(dependsOn(kB, 2)), FenceState::Kind::satisfied);
  EXPECT_EQ(a.replication.record(kKey), nullptr) << "admitted, and the write is not there";
  a.apply(kB);
  EXPECT_EQ(a.value(), 5);
}

TEST(Streams, ACopyGoesItsOwnWay) {
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  Replication copy = a.replication;
  a.apply(kB);
  EXPECT_EQ(a.replication.applied(kB), 1u);
  EXPECT_EQ(copy.applied(kB), 0u);
  EXPECT_EQ(copy.receivedQueued(), 1u);
  ASSERT_TRUE(copy.onApplyReady(ApplyReady{kB, false}, a.context()).has_value());
  EXPECT_EQ(copy.readOf(CallId{}, kKey).values[0], 5);
}

// ---- The replica ------------------------------------------------------------------------------------------

TEST(Replica, AKeyThatWasNeverWrittenReadsAsAbsent) {
  Replica a;
  const obs::Read read = a.replication.readOf(CallId{3}, kOther);
  EXPECT_EQ(read.present, 0);
  EXPECT_EQ(read.writers, (std::array<TxnId, obs::kRecordFields>{}));
  EXPECT_EQ(a.replication.record(KeyId{50}), nullptr);
  EXPECT_EQ(a.replication.readOf(CallId{3}, KeyId{50}).present, 0);
}

TEST(Replica, TheFinalRecordIsWhatAReadShows) {
  Replica a;
  a.append(transaction(7, {{kKey, WriteOp::patch, 0b0110, 0, Timestamp{3}, {1, 2, 3, 4}}}));
  const obs::FinalRecord final = a.replication.finalRecord(kKey);
  EXPECT_EQ(final.key, kKey);
  EXPECT_EQ(final.present, 0b0110);
  EXPECT_EQ(final.values, (FieldValues{0, 2, 3, 0}));
  EXPECT_EQ(final.writers, (std::array<TxnId, 4>{TxnId{}, TxnId{7}, TxnId{7}, TxnId{}}));
}

TEST(ReplicaHash, TellsWhatMattersForTheFuture) {
  Replica a;
  const auto empty = a.hash();
  a.frame(kB, 1, put(1, 10, 5));
  const auto queued = a.hash();
  EXPECT_NE(queued, empty);
  a.apply(kB);
  const auto applied = a.hash();
  EXPECT_NE(applied, queued);
  a.subscribed(kC, 1);
  const auto subscribed = a.hash();
  EXPECT_NE(subscribed, applied);
  a.append(barrier(1));
  EXPECT_NE(a.hash(), subscribed);
}

TEST(ReplicaHash, ForgetsWhatDoesNot) {
  // One replica was handed an entry some time ago, the other got it later: they behave alike.
  Replica a;
  a.frame(kB, 1, put(1, 10, 5));
  a.apply(kB);
  Replica later;
  later.now = later.now + sim::seconds(30);
  later.frame(kB, 1, put(1, 10, 5));
  later.frame(kB, 1, put(1, 10, 5));
  later.apply(kB);
  EXPECT_EQ(a.hash(), later.hash());
}

}  // namespace
}  // namespace holdfast::protocol
