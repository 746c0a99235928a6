// The facts that all checkers share, each held against what a story told.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

const History& of(Story& story) { return story.checkers().history(); }

// ---- Nodes ------------------------------------------------------------------------------------------------

TEST(History, PausesAddUpOnTheNodesOwnClock) {
  Story story;
  story.at(0_s).clock(A, 0_s, -500'000'000);
  story.at(2_s).tell(A, obs::NodePaused{}).at(4_s).tell(A, obs::NodePaused{});
  EXPECT_EQ(of(story).pausedInAll(A, {(6_s).ns}), 2_s) << "4 s of true time, from the first pause on";
  story.at(8_s).tell(A, obs::NodeResumed{}).at(9_s).tell(A, obs::NodeResumed{});
  EXPECT_EQ(of(story).node(A).resumedAt, TrueInstant{(8_s).ns});
  EXPECT_EQ(of(story).pausedInAll(A, {(20_s).ns}), 3_s);
  story.at(20_s).tell(A, obs::NodePaused{}).at(22_s).crash(A).at(30_s).restart(A);
  EXPECT_FALSE(of(story).node(A).paused);
  EXPECT_EQ(of(story).pausedInAll(A, {(40_s).ns}), 4_s);
  story.ask(A, 1);
  EXPECT_EQ(of(story).call({1}).pausedBefore, 4_s);
  EXPECT_EQ(of(story).call({1}).requestedLocal, MonotonicInstant{(15_s).ns});
}

TEST(History, ANodeIsUpAMemberAndOfALife) {
  Story story;
  story.at(0_s).tell(A, obs::MembershipRenewed{1, {(9_s).ns}});
  EXPECT_TRUE(of(story).node(A).member);
  story.tell(A, obs::MembershipLapsed{1});
  EXPECT_FALSE(of(story).node(A).member);
  story.tell(A, obs::MembershipRenewed{1, {(9_s).ns}}).crash(A);
  EXPECT_FALSE(of(story).node(A).member);
  EXPECT_FALSE(of(story).node(A).up);
  EXPECT_EQ(of(story).node(A).crashes, 1U);
  story.restart(A).tell(A, obs::CoordinatorReplaced{});
  EXPECT_TRUE(of(story).node(A).up);
  EXPECT_EQ(of(story).node(A).replacements, 1U);
}

TEST(History, ARunIsHealedFromThatPhaseOn) {
  Story story;
  EXPECT_FALSE(of(story).healed());
  story.at(1_s).phase(Phase::faults);
  EXPECT_FALSE(of(story).healed());
  EXPECT_EQ(of(story).healedAt(), TrueInstant::never());
  story.at(2_s).phase(Phase::healed);
  EXPECT_TRUE(of(story).healed());
  story.at(3_s).phase(Phase::end);
  EXPECT_TRUE(of(story).healed());
  EXPECT_TRUE(of(story).ended());
  EXPECT_EQ(of(story).healedAt(), TrueInstant{(2_s).ns});
}

// ---- Calls and sections -----------------------------------------------------------------------------------

TEST(History, ACallIsBehindThoseOfItsNodeThatWait) {
  Story story;
  story.at(1_s).ask(A, 1).ask(B, 2).ask(A, 3);
  EXPECT_FALSE(of(story).call({2}).behind);
  EXPECT_TRUE(of(story).call({3}).behind);
  story.admit(A, 1).refuse(A, 3, ErrorClass::locked423, Cause::contended).ask(A, 4);
  EXPECT_FALSE(of(story).call({4}).behind);
  EXPECT_EQ(of(story).call({3}).state, CallState::refused);
  EXPECT_EQ(of(story).call({1}).answers, 1);
  EXPECT_EQ(of(story).admissions(), 1U);
  story.crash(A);
  ASSERT_EQ(of(story).key(K).pending.size(), 1U) << "those of other nodes wait on";
  EXPECT_EQ(of(story).key(K).pending[0], CallId{2});
}

TEST(History, AnAnswerThatNobodyWaitsForIsStray) {
  const auto strayAfter = [](const std::function<void(Story&)>& told) {
    Story story;
    story.at(1_s).crash(A).restart(A).ask(A, 1);
    told(story);
    return of(story).call({1}).stray;
  };
  const auto refuse = [](Story& story) { story.refuse(A, 1, ErrorClass::locked423, Cause::contended); };
  EXPECT_FALSE(strayAfter([](Story& story) { story.admit(A, 1); }));
  EXPECT_TRUE(strayAfter([](Story& story) { story.admit(A, 1).admit(A, 1); }));
  EXPECT_TRUE(strayAfter([](Story& story) { story.crash(A).restart(A).admit(A, 1); }));
  EXPECT_FALSE(strayAfter(refuse));
  EXPECT_TRUE(strayAfter([&](Story& story) { refuse(story.admit(A, 1)); }));
  EXPECT_TRUE(strayAfter([&](Story& story) { refuse(story.crash(A).restart(A)); }));
  EXPECT_FALSE(strayAfter([](Story& story) {
    story.admit(A, 1).unlock(A, 1).refuse(A, 1, ErrorClass::conflict409, Cause::expired);
  })) << "a refused re-entry is no answer to the call";
}

TEST(History, ACallThatIsAdmittedAgainHasOneSection) {
  Story story;
  story.at(1_s).tell(A, obs::CoordinatorReplaced{}).lock(A, 1).admit(A, 1).unlock(A, 1).lock(B, 2);
  EXPECT_EQ(of(story).key(K).sections, 2U);
  EXPECT_EQ(of(story).call({1}).rank, 1U);
  EXPECT_EQ(of(story).call({1}).nextSection, CallId{2});
  EXPECT_EQ(of(story).call({1}).replacements, 1U);
}

TEST(History, ASectionEndsWithItsLeaseIfThatIsEarlier) {
  Story story;
  story.at(0_s).lock(A, 1).at(1_s).lock(B, 2, Path::clean, K, 1_s).at(5_s).unlock(A, 1);
  EXPECT_EQ(of(story).key(K).lastEnd, TrueInstant{(5_s).ns});
  story.at(6_s).unlock(B, 2);  // lapsed at 2 s
  EXPECT_EQ(of(story).key(K).lastEnd, TrueInstant{(5_s).ns});
  EXPECT_TRUE(of(story).key(K).open.empty());

  Story late;
  late.at(0_s).lock(A, 1, Path::virgin, K, 2_s).at(5_s).unlock(A, 1);
  EXPECT_EQ(of(late).key(K).lastEnd, TrueInstant{(2_s).ns});
}

TEST(History, ARevocationStands) {
  Story story;
  story.at(0_s).lock(A, 1).at(1_s).revoke(A, 1).at(2_s).unlock(A, 1);
  EXPECT_EQ(of(story).call({1}).state, CallState::revoked);
  EXPECT_EQ(of(story).call({1}).endedAt, TrueInstant{(1_s).ns});
  EXPECT_TRUE(of(story).key(K).open.empty());
}

TEST(History, WhatLapsedOrWasLostIsSweptWithItsEnd) {
  Story lapsed;
  lapsed.at(0_s).lock(A, 1).at(20_s).lock(B, 2);
  ASSERT_EQ(of(lapsed).key(K).open.size(), 1U);
  EXPECT_EQ(of(lapsed).key(K).open[0], CallId{2});
  EXPECT_EQ(of(lapsed).key(K).lastEnd, TrueInstant{(10_s).ns});

  Story lost;
  lost.at(0_s).lock(A, 1).at(2_s).crash(A);
  EXPECT_TRUE(of(lost).key(K).open.empty());
  EXPECT_EQ(of(lost).key(K).lastEnd, TrueInstant{(2_s).ns});
}

TEST(History, WhoIsSurelyInsideOrSurelyLapsed) {
  Story story;
  story.at(0_s).clock(A, 0_s, -500'000'000).lock(A, 1).at(15_s);
  EXPECT_TRUE(of(story).surelyInside(of(story).call({1}), story.now()));
  EXPECT_FALSE(of(story).surelyLapsed(of(story).call({1}), story.now()));
  EXPECT_FALSE(of(story).surelyInside(of(story).call({1}), {(20_s).ns}));
  EXPECT_TRUE(of(story).surelyLapsed(of(story).call({1}), {(20_s).ns}));
  story.unlock(A, 1);
  EXPECT_FALSE(of(story).surelyInside(of(story).call({1}), story.now()));
  story.lock(A, 2).crash(A);
  EXPECT_FALSE(of(story).surelyInside(of(story).call({2}), story.now()));
}

// ---- Transactions and writes ------------------------------------------------------------------------------

TEST(History, ATransactionIsOfTheLifeInWhichItWasLastTouched) {
  Story story;
  story.at(1_s).put(A, 1, 0, 5);
  EXPECT_EQ(of(story).txn({1}).state, TxnState::staged);
  story.crash(A).restart(A).put(A, 1, 0, 6);
  EXPECT_EQ(of(story).txn({1}).crashes, 1U);
  story.crash(A).restart(A).at(2_s).tell(A, obs::Submitted{{1}, {}, K, 1});
  EXPECT_EQ(of(story).txn({1}).crashes, 2U);
  story.at(3_s).tell(A, obs::Submitted{{1}, {}, K, 2});
  EXPECT_EQ(of(story).txn({1}).submissions, 2U);
  EXPECT_EQ(of(story).txn({1}).submittedAt, TrueInstant{(2_s).ns}) << "of the first attempt";
}

TEST(History, TheFirstSettlementCounts) {
  Story story;
  story.at(1_s).put(A, 1, 0, 5).commit(A, 1).at(2_s).abort(A, 1);
  EXPECT_EQ(of(story).txn({1}).state, TxnState::committed);
  EXPECT_EQ(of(story).txn({1}).settledAt, TrueInstant{(1_s).ns});
  EXPECT_EQ(of(story).txn({1}).settlements, 2);
  story.refuseWrite(A, 1, 7, Cause::unknownHandle);
  EXPECT_EQ(of(story).txn({1}).state, TxnState::committed);
}

TEST(History, ARefusedTransactionStaysRefusedUnlessItCommits) {
  Story story;
  story.at(1_s).put(A, 1, 0, 5).refuseWrite(A, 1, 7, Cause::unknownHandle).abort(A, 1);
  EXPECT_EQ(of(story).txn({1}).state, TxnState::refused);
  EXPECT_EQ(of(story).txn({1}).refusals, 1);
  story.put(A, 2, 0, 5).refuseWrite(A, 2, 7, Cause::unknownHandle).settle(A, 2);
  EXPECT_EQ(of(story).txn({2}).state, TxnState::committed);
  story.put(A, 3, 0, 5).submit(A, 3).refuseWrite(A, 3, 0, Cause::unknownHandle);
  EXPECT_EQ(of(story).txn({3}).state, TxnState::submitted) << "the second submission was refused";
  EXPECT_EQ(of(story).txn({3}).refusals, 0);
}

TEST(History, TheLastWriteThatTouchesAFieldDecidesIt) {
  Story story;
  story.at(1_s).put(A, 1, 0, 5).patch(A, 1, 0, 1, 7).patch(A, 1, 0, 1, 8).patch(A, 1, 0, 2, 9, K2);
  const History& history = of(story);
  EXPECT_EQ(history.writeOf({1}, K, 0)->values[0], 5);
  EXPECT_EQ(history.writeOf({1}, K, 1)->values[1], 8);
  EXPECT_EQ(history.writeOf({1}, K, 2)->op, WriteOp::put);
  EXPECT_EQ(history.writeOf({1}, K2, 1), nullptr);
  EXPECT_EQ(history.writeOf({1}, K2, 2)->values[2], 9);
}

TEST(History, AnEraseDecidesAllFieldsAndLeavesNone) {
  Story story;
  story.at(1_s).erase(A, 1, 0).put(A, 2, 0, 5).increment(A, 3, 0, 5);
  EXPECT_EQ(of(story).write(0).touched(), obs::kAllFields);
  EXPECT_EQ(of(story).write(0).leavesPresent(), 0);
  Write bare = of(story).write(0);
  bare.fields = 0;
  EXPECT_EQ(bare.touched(), obs::kAllFields) << "whatever fields it names";
  EXPECT_EQ(of(story).write(1).touched(), obs::kAllFields);
  EXPECT_EQ(of(story).write(1).leavesPresent(), obs::kAllFields);
  EXPECT_EQ(of(story).write(2).touched(), 1);
}

TEST(History, WritesAreRankedByStampAndThenByOrigin) {
  Story story;
  story.at(1_s).put(A, 1, 0, 5).put(B, 2, 0, 5).stamped(0_s).put(B, 3, 0, 5);
  const History& history = of(story);
  EXPECT_TRUE(history.outranks(history.write(1), history.write(0)));
  EXPECT_FALSE(history.outranks(history.write(0), history.write(1)));
  EXPECT_FALSE(history.outranks(history.write(0), history.write(0)));
  EXPECT_TRUE(history.outranks(history.write(0), history.write(2)));
}

TEST(History, WhatIsCommittedIsVisibleWhereItIsApplied) {
  Story story;
  story.at(1_s).put(A, 1, 0, 5).submit(A, 1);
  EXPECT_FALSE(of(story).visible(A, of(story).txn({1})));
  story.settle(A, 1);
  EXPECT_TRUE(of(story).visible(A, of(story).txn({1})));
  EXPECT_FALSE(of(story).visible(B, of(story).txn({1})));
  story.fail(B, A).apply(C, A);
  EXPECT_FALSE(of(story).visible(B, of(story).txn({1})));
  EXPECT_TRUE(of(story).visible(C, of(story).txn({1})));
  story.repair(B, A, 1).tell(D, obs::GapFound{A, 1, 3});
  EXPECT_TRUE(of(story).visible(B, of(story).txn({1})));
  EXPECT_EQ(of(story).replica(D, A).reached(), 3U);
  EXPECT_TRUE(of(story).replica(D, A).hasHoles());
}

// ---- Erases -----------------------------------------------------------------------------------------------

/// A's erase with a stamp of 20 s is committed at 2 s; B writes at 9 s with its clock's stamp.
Story erased() {
  Story story;
  story.at(1_s).put(A, 9, 0, 1, K2).commit(A, 9).at(2_s).stamped(20_s).erase(A, 1, 0).commit(A, 1);
  return story.at(9_s).put(B, 2, 0, 30).commit(B, 2);
}

bool outlives(Story& story, std::uint32_t txn, Duration retention, KeyId key = K) {
  return of(story).outlivesErase(*of(story).writeOf({txn}, key, 0), retention);
}

TEST(History, WhatIsLoggedAfterTheRetentionOutlivesAnErase) {
  Story story = erased();
  EXPECT_TRUE(outlives(story, 2, 6_s));
  EXPECT_TRUE(outlives(story, 2, 7_s)) << "at its very end";
  EXPECT_FALSE(outlives(story, 2, 8_s));
  EXPECT_FALSE(outlives(story, 2, 0_s)) << "kept for ever";
  story.stamped(21_s).put(B, 3, 0, 30).commit(B, 3).put(B, 4, 0, 30).submit(B, 4).abort(B, 4);
  EXPECT_FALSE(outlives(story, 3, 6_s)) << "outranks the erase";
  EXPECT_FALSE(outlives(story, 4, 6_s)) << "was never committed";
  story.put(B, 5, 0, 30, K2).commit(B, 5);
  EXPECT_FALSE(outlives(story, 5, 6_s, K2)) << "another key";

  Story put;
  put.at(2_s).stamped(20_s).put(A, 1, 0, 10).commit(A, 1).at(9_s).put(B, 2, 0, 30).commit(B, 2);
  EXPECT_FALSE(outlives(put, 2, 6_s)) << "a put outranks it";

  Story pending;
  pending.at(2_s).stamped(20_s).erase(A, 1, 0).submit(A, 1).at(9_s).put(B, 2, 0, 30).commit(B, 2);
  EXPECT_FALSE(outlives(pending, 2, 6_s)) << "the erase never committed";
}

TEST(History, OnlyWhoReclaimedTheTombstoneHasForgottenTheErase) {
  Story story = erased();
  story.apply(A, B).tell(B, obs::TombstoneReclaimed{K});
  EXPECT_TRUE(of(story).showsForgottenErase(B, K, 0, {2}, 6_s));
  EXPECT_FALSE(of(story).showsForgottenErase(A, K, 0, {2}, 6_s));
  EXPECT_FALSE(of(story).showsForgottenErase(B, K, 0, {}, 6_s));
  EXPECT_FALSE(of(story).showsForgottenErase(B, K, 0, {1}, 6_s)) << "the erase itself";
  EXPECT_FALSE(of(story).showsForgottenErase(B, K, 0, {2}, 8_s));
}

/// What C shows as a sum up to its own increment 9, stamped 30 s, beside what `between` told.
bool sumForgot(
    const std::function<void(Story&)>& between, const std::function<void(Story&)>& before = [](Story&) {}) {
  Story story;
  story.at(2_s).stamped(20_s).erase(A, 1, 0).stamped(20_s).erase(A, 1, 0, K2).commit(A, 1);
  before(story.at(3_s));
  between(story.at(9_s));
  story.stamped(30_s).increment(C, 9, 0, 7).commit(C, 9).tell(C, obs::TombstoneReclaimed{K});
  return of(story).showsForgottenErase(C, K, 0, {9}, 6_s);
}

TEST(History, ASumHasForgottenAnEraseIfAPartOfItOutlivesOne) {
  const auto increment = [](Story& story) { story.increment(C, 2, 0, 5).commit(C, 2); };
  EXPECT_FALSE(sumForgot([](Story&) {}));
  EXPECT_TRUE(sumForgot(increment));
  EXPECT_FALSE(sumForgot([](Story& story) { story.increment(B, 2, 0, 5).commit(B, 2); })) << "does not show";
  EXPECT_FALSE(sumForgot([](Story& story) { story.patch(C, 2, 0, 1, 5).commit(C, 2); })) << "another field";
  EXPECT_FALSE(sumForgot([](Story& story) { story.increment(C, 2, 0, 5, K2).commit(C, 2); }))
      << "another key";
  EXPECT_FALSE(sumForgot([&](Story& story) {
    increment(story);
    story.stamped(25_s).put(C, 3, 0, 1).commit(C, 3);
  })) << "below the base";
  EXPECT_FALSE(sumForgot([&](Story& story) {
    increment(story);
    story.stamped(25_s).put(C, 3, 0, 1).commit(C, 3).stamped(26_s).put(C, 4, 0, 1).commit(C, 4);
  })) << "below the highest base";
  EXPECT_TRUE(sumForgot([&](Story& story) {
    increment(story);
    story.stamped(25_s).put(B, 3, 0, 1).commit(B, 3);
  })) << "a base that does not show is none";
  EXPECT_TRUE(sumForgot([&](Story& story) {
    increment(story);
    story.stamped(40_s).put(C, 3, 0, 1).commit(C, 3);
  })) << "a put above the sum is no base";
  EXPECT_TRUE(sumForgot(increment, [](Story& story) { story.stamped(10_s).put(C, 3, 0, 1).commit(C, 3); }))
      << "a base that the erase may have removed is none";
  EXPECT_TRUE(sumForgot([&](Story& story) {
    increment(story);
    story.stamped(25_s).increment(C, 3, 0, 1).commit(C, 3);
  })) << "an increment is no base";
}

TEST(History, ASumContainsNothingThatOutranksIt) {
  Story story;
  story.at(1_s).increment(C, 9, 0, 7).commit(C, 9).at(2_s).stamped(20_s).erase(A, 1, 0).commit(A, 1);
  story.at(9_s).increment(C, 2, 0, 5).commit(C, 2).tell(C, obs::TombstoneReclaimed{K});
  EXPECT_FALSE(of(story).showsForgottenErase(C, K, 0, {9}, 6_s));
  EXPECT_TRUE(of(story).showsForgottenErase(C, K, 0, {2}, 6_s));
}

}  // namespace
}  // namespace holdfast::checkers::testing
