// X-2 and the routes of L-2, each with the near miss that has no excuse.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

CheckerOptions onlyFreshness() { return CheckerOptions{}.only(Checker::freshness); }

/// At 1 s A locks the virgin key, writes 150 in transaction 1 and commits it at position 1.
Story afterAWrote() {
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
  return story;
}

// ---- Clean handoffs ---------------------------------------------------------------------------------------

TEST(Freshness, ACleanHandoffWithTheWriteAppliedHolds) {
  Story story = afterAWrote();
  story.at(2_s).release(A).grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean);
  expectHeld(story);
}

TEST(Freshness, ACleanHandoffWithoutTheWriteIsAViolation) {
  Story story = afterAWrote();
  story.at(2_s).release(A).grant(B, Path::clean).lock(B, 2, Path::clean);
  const Finding finding = expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
  EXPECT_EQ(finding.rule(), "X-2");
  EXPECT_EQ(finding.node, B);
  EXPECT_EQ(finding.other, A);
  EXPECT_EQ(finding.otherTxn, TxnId{1});
  EXPECT_EQ(finding.expected, 1);
  EXPECT_EQ(finding.observed, 0);
}

TEST(Freshness, TheWriteItselfMustShowNotOnlyALaterEntry) {
  Story story = afterAWrote();
  story.at(2_s).release(A).grant(B, Path::clean);
  story.tell(B, obs::GapFound{A, 1, 1}).tell(B, obs::Applied{A, 2, false}).lock(B, 2, Path::clean);
  expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, AFailedApplyHidesTheWriteUntilItIsRepaired) {
  Story hole = afterAWrote();
  hole.at(2_s).release(A).grant(B, Path::clean).fail(B, A).apply(B, A).lock(B, 2, Path::clean);
  expectViolation(hole, Checker::freshness, Anomaly::staleAdmission);

  Story repaired = afterAWrote();
  repaired.at(2_s).release(A).grant(B, Path::clean).fail(B, A).apply(B, A).repair(B, A, 1);
  repaired.lock(B, 2, Path::clean);
  expectHeld(repaired);
}

TEST(Freshness, TheMiddleHolderThatWroteNothingPassesTheWriteOn) {
  Story story = afterAWrote();
  story.at(2_s).release(A).grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean).unlock(B, 2);
  story.at(3_s).release(B).grant(C, Path::clean).apply(C, B).lock(C, 3, Path::clean);
  EXPECT_EQ(expectViolation(story, Checker::freshness, Anomaly::staleAdmission).other, A);
}

TEST(Freshness, AVirginPathIsNoExcuseForADelegatedKey) {
  Story story = afterAWrote();
  story.at(2_s).lock(B, 2, Path::virgin);
  expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, ACachedAdmissionIsJudgedToo) {
  Story story = afterAWrote();
  story.at(2_s).lock(B, 2, Path::cached);
  expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, UnlockedWritesOweNothing) {
  Story story(onlyFreshness());
  story.at(1_s).put(A, 1, 0, 7).commit(A, 1).at(2_s).lock(B, 1, Path::virgin);
  expectHeld(story);
}

TEST(Freshness, WritesToAnotherKeyOweNothing) {
  Story story = afterAWrote();
  story.at(2_s).lock(B, 2, Path::virgin, K2);
  expectHeld(story);
}

// ---- L-2a: the predecessor crashed ------------------------------------------------------------------------

TEST(Freshness, L2aTheCrashedPredecessor) {
  Story story = afterAWrote();
  story.at(2_s).crash(A).at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9);
  story.measure(B, 9, C).at(61_s).skip(B, 9, A).barrierDone(B, 9).lock(B, 2, Path::recovery);
  const Finding finding = expectLimitation(story, Route::l2a, Anomaly::staleAdmission);
  EXPECT_EQ(finding.other, A);
  EXPECT_EQ(finding.evidence[0].fact, Fact::settled);
  EXPECT_EQ(finding.evidence[1].fact, Fact::crashed);
  EXPECT_EQ(finding.evidence[1].at, TrueInstant{(2_s).ns});
}

TEST(Freshness, L2aNeedsARecoveryAndNotOnlyACrash) {
  Story story = afterAWrote();
  story.at(2_s).release(A).at(3_s).crash(A).at(4_s).grant(B, Path::clean).lock(B, 2, Path::clean);
  expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, ACommitFoundAfterTheCrashIsL2aToo) {
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).submit(A, 1);
  story.at(2_s).crash(A).at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9);
  story.measure(B, 9, C).at(61_s).skip(B, 9, A).barrierDone(B, 9).lock(B, 2, Path::recovery);
  story.at(70_s).restart(A).settle(A, 1, true);
  expectLimitation(story, Route::l2a, Anomaly::lateSettlement);
}

// ---- L-2b: the predecessor can not be reached -------------------------------------------------------------

/// B recovers under a membership without A, and its barrier does not ask A.
Story afterBDidNotAskA(bool cut) {
  Story story = afterAWrote();
  story.at(2_s).tell(B, obs::MembershipInstalled{3, {6}, 1, {6}, 0_s});
  if (cut) story.cut(A, B);
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9);
  story.measure(B, 9, C).barrierDone(B, 9).lock(B, 2, Path::recovery);
  return story;
}

TEST(Freshness, L2bThePredecessorThatIsNoMemberAnyMoreAndOutOfReach) {
  Story away = afterBDidNotAskA(true);
  EXPECT_EQ(expectLimitation(away, Route::l2b, Anomaly::staleAdmission).other, A);
  Story inReach = afterBDidNotAskA(false);
  expectViolation(inReach, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, L2bTheUnreachablePredecessor) {
  Story story = afterAWrote();
  story.at(2_s).cut(A, B).at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9);
  story.measure(B, 9, C).at(61_s).skip(B, 9, A).barrierDone(B, 9).lock(B, 2, Path::recovery);
  const Finding finding = expectLimitation(story, Route::l2b, Anomaly::staleAdmission);
  EXPECT_EQ(finding.evidence[1].fact, Fact::barrierSkipped);
  EXPECT_EQ(finding.evidence[1].number, 9);
}

/// B recovers at 60 s with barrier 9, which has asked A, and C's answer is measured.
Story askingA(Story story = afterAWrote()) {
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).askForBarrier(B, A).measure(B, 9, C);
  return story;
}

/// At 61 s B leaves A out and is admitted.
Story& leavingAOut(Story& story) {
  return story.at(61_s).skip(B, 9, A).barrierDone(B, 9).lock(B, 2, Path::recovery);
}

TEST(Freshness, L2bSilenceIsEnough) {
  Story story = askingA();
  leavingAOut(story);
  EXPECT_EQ(expectLimitation(story, Route::l2b, Anomaly::staleAdmission).other, A);
}

TEST(Freshness, AnAnswerInTimeBeatsEveryOtherReason) {
  const auto answered = [](auto&& beside) {
    Story story = askingA();
    story.answerBarrier(B, 9, A).at(60'500_ms).deliver(A, B, MessageKind::barrierReply);
    beside(story);
    leavingAOut(story);
    return story;
  };
  Story healthy = answered([](Story&) {});
  const Finding finding = expectViolation(healthy, Checker::freshness, Anomaly::leftOutOfBarrier);
  EXPECT_EQ(finding.rule(), "FR-8");
  EXPECT_EQ(finding.other, A);
  EXPECT_EQ(finding.evidence[1].fact, Fact::barrierAnswered);
  EXPECT_EQ(finding.evidence[1].at, TrueInstant{(60'500_ms).ns});
  EXPECT_NE(healthy.findings().first(Anomaly::staleAdmission), nullptr) << healthy.told();
  Story crashed = answered([](Story& s) { s.crash(A); });
  expectViolation(crashed, Checker::freshness, Anomaly::staleAdmission);
  Story cut = answered([](Story& s) { s.cut(A, B); });
  expectViolation(cut, Checker::freshness, Anomaly::staleAdmission);
  Story paused = answered([](Story& s) { s.pause(A); });
  expectViolation(paused, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, AnAnswerInTheInstantOfTheSkipCountsByItsOrder) {
  Story behind = askingA();
  behind.answerBarrier(B, 9, A).at(61_s).skip(B, 9, A).deliver(A, B, MessageKind::barrierReply);
  behind.barrierDone(B, 9).lock(B, 2, Path::recovery);
  expectLimitation(behind, Route::l2b, Anomaly::staleAdmission);

  Story before = askingA();
  before.answerBarrier(B, 9, A).at(61_s).deliver(A, B, MessageKind::barrierReply);
  leavingAOut(before);
  expectViolation(before, Checker::freshness, Anomaly::leftOutOfBarrier);
}

TEST(Freshness, AnAnswerThatIsLostIsNoAnswer) {
  Story story = askingA();
  story.answerBarrier(B, 9, A).at(60'500_ms).lose(A, B, MessageKind::barrierReply);
  leavingAOut(story);
  expectLimitation(story, Route::l2b, Anomaly::staleAdmission);
}

TEST(Freshness, ARefusalIsAnAnswerToTheBarrierThatItWasAskedFor) {
  // No entry, and an answer all the same: B must fail, and not leave A out.
  Story refused = askingA();
  refused.at(60'500_ms).send(A, B, MessageKind::barrierReply).deliver(A, B, MessageKind::barrierReply);
  leavingAOut(refused);
  expectViolation(refused, Checker::freshness, Anomaly::leftOutOfBarrier);

  // A was asked for two barriers, and which one it refuses is not observed.
  Story either = afterAWrote();
  either.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 8).askForBarrier(B, A);
  either.startBarrier(B, 9).askForBarrier(B, A).measure(B, 9, C);
  either.send(A, B, MessageKind::barrierReply).deliver(A, B, MessageKind::barrierReply);
  leavingAOut(either);
  expectLimitation(either, Route::l2b, Anomaly::staleAdmission);
}

TEST(Freshness, L2bAnAnswerToAnEarlierBarrierIsNoAnswer) {
  const auto afterAAppended = [](std::uint64_t nonce) {
    Story story = afterAWrote();
    story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 8).startBarrier(B, 9).measure(B, 9, C);
    story.answerBarrier(B, nonce, A).deliver(A, B, MessageKind::barrierReply);
    leavingAOut(story);
    return story;
  };
  Story earlier = afterAAppended(8);
  EXPECT_EQ(expectLimitation(earlier, Route::l2b, Anomaly::staleAdmission).other, A);
  Story same = afterAAppended(9);
  expectViolation(same, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, NobodyIsLeftOutBeforeTheTimeout) {
  const auto skippedAt = [](Duration at, std::int64_t ppb) {
    CheckerOptions options = onlyFreshness();
    options.barrierTimeout = 1_s;
    Story story(options);
    story.clock(B, 1000_s, ppb);
    story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
    story.at(2_s).crash(A);
    story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, C);
    story.at(at).skip(B, 9, A).barrierDone(B, 9).lock(B, 2, Path::recovery);
    return story;
  };
  Story soon = skippedAt(60'999'999'999_ns, 0);
  const Finding finding = expectViolation(soon, Checker::freshness, Anomaly::leftOutOfBarrier);
  EXPECT_EQ(finding.expected, (1061_s).ns);
  EXPECT_EQ(finding.observed, (1060'999'999'999_ns).ns);
  EXPECT_NE(soon.findings().first(Anomaly::staleAdmission), nullptr) << "a crash does not excuse haste";
  Story inTime = skippedAt(61_s, 0);
  expectLimitation(inTime, Route::l2a, Anomaly::staleAdmission);
  Story slow = skippedAt(61_s, -500'000'000);
  expectViolation(slow, Checker::freshness, Anomaly::leftOutOfBarrier);
  Story slowInTime = skippedAt(62_s, -500'000'000);
  expectLimitation(slowInTime, Route::l2a, Anomaly::staleAdmission);
}

TEST(Freshness, WhoWasNotAskedIsNotLeftOut) {
  const auto asking = [](auto&& ask) {
    Story story = afterAWrote();
    story.at(2_s).cut(A, B).at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9);
    story.askForBarrier(B, C);
    ask(story);
    story.measure(B, 9, C);
    leavingAOut(story);
    return story;
  };
  Story unasked = asking([](Story&) {});
  EXPECT_EQ(expectViolation(unasked, Checker::freshness, Anomaly::leftOutOfBarrier).other, A);
  Story lost = asking(
      [](Story& s) { s.send(B, A, MessageKind::barrierRequest).lose(B, A, MessageKind::barrierRequest); });
  expectLimitation(lost, Route::l2b, Anomaly::staleAdmission);
  Story rejected = asking([](Story& s) {
    s.tell(B, obs::MessageLost{0, A, MessageKind::barrierRequest, obs::LossReason::rejected});
  });
  expectLimitation(rejected, Route::l2b, Anomaly::staleAdmission);
}

TEST(Freshness, WhatIsExcusedIsJudgedWhenTheMemberIsLeftOut) {
  // A goes down after B has given it up: unreachable it was, and not down.
  Story later = askingA();
  later.at(61_s).skip(B, 9, A).at(62_s).crash(A).barrierDone(B, 9).lock(B, 2, Path::recovery);
  expectLimitation(later, Route::l2b, Anomaly::staleAdmission);

  Story meanwhile = askingA();
  meanwhile.at(60'500_ms).crash(A).restart(A);
  leavingAOut(meanwhile);
  EXPECT_EQ(expectLimitation(meanwhile, Route::l2a, Anomaly::staleAdmission).evidence[1].at,
            TrueInstant{(60'500_ms).ns});
}

TEST(Freshness, AMemberThatTheBarrierForgotIsAViolation) {
  Story story = afterAWrote();
  story.at(2_s).cut(A, B).at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9);
  story.measure(B, 9, C).barrierDone(B, 9).lock(B, 2, Path::recovery);
  expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
}

// ---- L-2c: the commit settled after the barrier was measured ----------------------------------------------

TEST(Freshness, L2cSettledBetweenBarrierAndAdmission) {
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).submit(A, 1);
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A);
  story.at(61_s).settle(A, 1).at(62_s).apply(B, A, 1).barrierDone(B, 9).lock(B, 2, Path::recovery);
  const Finding finding = expectLimitation(story, Route::l2c, Anomaly::staleAdmission);
  EXPECT_EQ(finding.evidence[1].fact, Fact::barrierMeasured);
  EXPECT_EQ(finding.evidence[1].number, 1);
}

TEST(Freshness, L2cARequestThatArrivesTwiceMakesASecondEntryThatIsNoMeasure) {
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).submit(A, 1);
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A).at(61_s).settle(A, 1);
  story.at(62_s).tell(A, obs::ControlAppended{obs::EntryKind::barrier, KeyId::none(), {}, 9, 3});
  story.apply(B, A, 1).barrierDone(B, 9).lock(B, 2, Path::recovery);
  expectLimitation(story, Route::l2c, Anomaly::staleAdmission);
}

TEST(Freshness, L2cSettledAfterTheAdmission) {
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).submit(A, 1);
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A);
  story.apply(B, A).barrierDone(B, 9).at(61_s).lock(B, 2, Path::recovery).at(62_s).settle(A, 1);
  const Finding finding = expectLimitation(story, Route::l2c, Anomaly::lateSettlement);
  EXPECT_EQ(finding.node, A);
  EXPECT_EQ(finding.other, B);
}

TEST(Freshness, ABarrierThatWasMeasuredMustBeDrained) {
  // FR-8: the write lies below the measured position, yet it does not show.
  Story story = afterAWrote();
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A);
  story.at(61_s).barrierDone(B, 9).lock(B, 2, Path::recovery);
  expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, L2cIsNoExcuseForAWriteThatHadSettledBeforeTheBarrier) {
  // A "head position" measured too low (FR-9): the write had settled long before the barrier began.
  Story story = afterAWrote();
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9);
  story.tell(B, obs::BarrierMeasured{9, A, 0}).at(61_s).barrierDone(B, 9).lock(B, 2, Path::recovery);
  expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, ASharedBarrierMustNotBeOlderThanTheRecovery) {
  // The barrier had measured A before A's commit settled, and the recovery joined it only afterwards.
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).submit(A, 1);
  story.at(2_s).startBarrier(B, 9, {K2}).measure(B, 9, A).at(3_s).settle(A, 1);
  story.at(60_s).expire(A).grant(B, Path::recovery).tell(B, obs::RecoveryJoined{K, 9}).barrierDone(B, 9);
  story.at(61_s).lock(B, 2, Path::recovery);
  expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
}

TEST(Freshness, RecoveryWithoutASatisfiedBarrierIsAViolation) {
  const auto lockAfter = [](auto&& prepare) {
    Story story(onlyFreshness());
    story.at(1_s).grant(B, Path::recovery);
    prepare(story);
    story.lock(B, 1, Path::recovery);
    return story;
  };
  Story none = lockAfter([](Story&) {});
  EXPECT_EQ(expectViolation(none, Checker::freshness, Anomaly::admittedWithoutBarrier).rule(), "FR-8");
  Story open = lockAfter([](Story& s) { s.startBarrier(B, 9).measure(B, 9, A); });
  expectViolation(open, Checker::freshness, Anomaly::admittedWithoutBarrier);
  Story failed = lockAfter([](Story& s) { s.startBarrier(B, 9).measure(B, 9, A).barrierDone(B, 9, false); });
  expectViolation(failed, Checker::freshness, Anomaly::admittedWithoutBarrier);
  Story done = lockAfter([](Story& s) { s.startBarrier(B, 9).measure(B, 9, A).barrierDone(B, 9); });
  expectHeld(done);
}

TEST(Freshness, AnEarlierRecoverysBarrierDoesNotServeTheNext) {
  Story story(onlyFreshness());
  story.at(1_s).grant(B, Path::recovery).startBarrier(B, 9).barrierDone(B, 9).lock(B, 1, Path::recovery);
  story.at(2_s).unlock(B, 1).at(60_s).expire(B).grant(B, Path::recovery).lock(B, 2, Path::recovery);
  expectViolation(story, Checker::freshness, Anomaly::admittedWithoutBarrier);
}

TEST(Freshness, ARenewalInMidRecoveryChangesNothing) {
  Story story(onlyFreshness());
  story.at(1_s).grant(B, Path::recovery).startBarrier(B, 9).at(2_s).grant(B, Path::recovery, K, D, true);
  story.barrierDone(B, 9).lock(B, 1, Path::recovery);
  expectHeld(story);
}

// ---- After a recovery -------------------------------------------------------------------------------------

/// A's write is lost by L-2b in B's recovery; B then releases cleanly.
Story afterBRecoveredWithoutA() {
  Story story = afterAWrote();
  story.at(2_s).cut(A, B).at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9);
  story.measure(B, 9, C).at(61_s).skip(B, 9, A).barrierDone(B, 9).lock(B, 2, Path::recovery);
  story.at(62_s).unlock(B, 2).release(B);
  return story;
}

TEST(Freshness, WhatARecoveryLostStaysLostAcrossCleanHandoffs) {
  Story story = afterBRecoveredWithoutA();
  story.at(63_s).grant(C, Path::clean).apply(C, B).lock(C, 3, Path::clean);
  expectLimitation(story, Route::l2b, Anomaly::staleAdmission);
  EXPECT_EQ(story.findings().count(Route::l2b), 2U);
}

TEST(Freshness, WhatTheRecovererWroteIsOwedByTheNext) {
  Story story = afterAWrote();
  story.at(2_s).cut(A, B).at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9);
  story.measure(B, 9, C).at(61_s).skip(B, 9, A).barrierDone(B, 9).lock(B, 2, Path::recovery);
  story.put(B, 2, 2, 80).commit(B, 2).at(62_s).unlock(B, 2).release(B);
  story.at(63_s).grant(C, Path::clean).apply(C, A).lock(C, 3, Path::clean);
  EXPECT_EQ(expectViolation(story, Checker::freshness, Anomaly::staleAdmission).other, B);
}

TEST(Freshness, ALaterReleaseByTheOriginCoversTheLostWriteAgain) {
  Story story = afterBRecoveredWithoutA();
  story.at(63_s).heal(A, B).grant(A, Path::clean).apply(A, B).lock(A, 3, Path::clean).unlock(A, 3).release(A);
  story.at(64_s).grant(C, Path::clean).apply(C, B).lock(C, 4, Path::clean);
  EXPECT_EQ(expectViolation(story, Checker::freshness, Anomaly::staleAdmission).other, A);
}

TEST(Freshness, AStaleReleaseThatClearedNothingCoversNothing) {
  Story story = afterBRecoveredWithoutA();
  story.at(63_s).appendRelease(A).tell(D, obs::ReleaseSeen{K, A, story.token(), false});
  story.at(64_s).grant(C, Path::clean).apply(C, B).lock(C, 3, Path::clean);
  expectLimitation(story, Route::l2b, Anomaly::staleAdmission);
}

TEST(Freshness, ALaterRecoveryThatMeasuredTheOriginCoversTheLostWriteAgain) {
  Story story = afterBRecoveredWithoutA();
  story.at(63_s).heal(A, B).grant(C, Path::clean).apply(C, B).lock(C, 3, Path::clean);
  story.at(120_s).expire(C).grant(B, Path::recovery).startBarrier(B, 10).measure(B, 10, A).measure(B, 10, C);
  story.apply(B, A).apply(B, C).barrierDone(B, 10).lock(B, 4, Path::recovery).unlock(B, 4).release(B);
  story.at(121_s).grant(C, Path::clean).apply(C, B).lock(C, 5, Path::clean);
  EXPECT_EQ(expectViolation(story, Checker::freshness, Anomaly::staleAdmission).call, CallId{5});
}

/// B recovers the key, admits nobody, and releases; its barrier measured C, and A unless it was cut off.
Story afterAnUnusedRecovery(bool reachesA) {
  Story story = afterAWrote();
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, C);
  if (reachesA) story.measure(B, 9, A).apply(B, A);
  if (!reachesA) story.at(61_s).skip(B, 9, A);
  story.at(62_s).barrierDone(B, 9).release(B).grant(C, Path::clean).apply(C, B);
  return story;
}

TEST(Freshness, ARecoveryThatAdmittedNobodyReplacesTheLineageToo) {
  Story lost = afterAnUnusedRecovery(false);
  lost.lock(C, 2, Path::clean);
  expectLimitation(lost, Route::l2b, Anomaly::staleAdmission);

  Story kept = afterAnUnusedRecovery(true);
  kept.lock(C, 2, Path::clean);
  expectViolation(kept, Checker::freshness, Anomaly::staleAdmission);
}

// ---- Settlement -------------------------------------------------------------------------------------------

TEST(Freshness, AHandoverBeforeSettlementIsAViolation) {
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).submit(A, 1).unlock(A, 1);
  story.at(2_s).release(A).grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean).at(3_s).settle(A, 1);
  EXPECT_EQ(expectViolation(story, Checker::freshness, Anomaly::lateSettlement).rule(), "DR-3");
}

TEST(Freshness, SettlementBehindTheReleaseIsAViolationEvenIfItComesBeforeTheSuccessor) {
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).submit(A, 1).unlock(A, 1);
  story.at(2_s).release(A).settle(A, 1).grant(B, Path::clean).apply(B, A, 1).lock(B, 2, Path::clean);
  expectViolation(story, Checker::freshness, Anomaly::staleAdmission);
}

/// A's commit settles only after B recovered without it, released unused, and C was handed the key.
Story afterSettlingBehindAnUnusedRecovery(bool skipsA) {
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).submit(A, 1).unlock(A, 1);
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, C);
  if (skipsA) story.at(61_s).skip(B, 9, A);
  story.at(62_s).barrierDone(B, 9).release(B).grant(C, Path::clean).apply(C, B).lock(C, 2, Path::clean);
  story.at(63_s).settle(A, 1);
  return story;
}

TEST(Freshness, ALateSettlementIsExcusedByARecoveryThatAdmittedNobody) {
  Story skipped = afterSettlingBehindAnUnusedRecovery(true);
  expectLimitation(skipped, Route::l2b, Anomaly::lateSettlement);
  Story forgotten = afterSettlingBehindAnUnusedRecovery(false);
  expectViolation(forgotten, Checker::freshness, Anomaly::lateSettlement);
}

TEST(Freshness, TheNextLocalCallerMayComeBeforeTheSubmission) {
  Story story(onlyFreshness());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 150).unlock(A, 1);
  story.at(2_s).lock(A, 2).submit(A, 1).at(3_s).settle(A, 1);
  const Finding finding = expectLimitation(story, Route::lh4, Anomaly::lateSettlement);
  EXPECT_EQ(finding.otherCall, CallId{2});
}

TEST(Freshness, WhatWasSubmittedSettlesBeforeTheNextLocalCallerComes) {
  Story story(onlyFreshness());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 150).unlock(A, 1);
  story.at(2_s).submit(A, 1).lock(A, 2).at(3_s).settle(A, 1);
  const Finding finding = expectViolation(story, Checker::freshness, Anomaly::lateSettlement);
  EXPECT_EQ(finding.rule(), "DR-3");
  EXPECT_EQ(finding.otherCall, CallId{2});
}

TEST(Freshness, TheFirstLocalCallerAfterTheSubmissionIsTheOneThatMustNotCome) {
  Story story(onlyFreshness());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 150).unlock(A, 1);
  story.at(2_s).lock(A, 2).submit(A, 1).unlock(A, 2).lock(A, 3).unlock(A, 3).lock(A, 4);
  story.at(3_s).settle(A, 1);
  EXPECT_EQ(expectViolation(story, Checker::freshness, Anomaly::lateSettlement).otherCall, CallId{3});
  EXPECT_EQ(story.findings().count(Route::lh4), 1U);
  EXPECT_EQ(story.findings().count(Severity::safety), 1U);
}

TEST(Freshness, ALocalCallerUnderANewDelegationMustNot) {
  Story story(onlyFreshness());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).submit(A, 1).unlock(A, 1);
  story.at(2_s).release(A).grant(A, Path::clean).lock(A, 2, Path::clean).at(3_s).settle(A, 1);
  expectViolation(story, Checker::freshness, Anomaly::lateSettlement);
}

// ---- Recovery after a clean release -----------------------------------------------------------------------

Story recoveredAfterCleanRelease(const std::function<void(Story&)>& between) {
  Story story = afterAWrote();
  story.at(2_s).release(A).at(3_s);
  between(story);
  story.grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A).measure(B, 9, C).apply(B, A);
  story.barrierDone(B, 9).at(60_s).lock(B, 2, Path::recovery);
  return story;
}

TEST(Freshness, RecoveryAfterACleanReleaseIsCountedByItsReason) {
  Story evicted = recoveredAfterCleanRelease([](Story& s) { s.grant(C, Path::virgin, K2).release(C, K2); });
  expectLimitation(evicted, Route::l2Eviction, Anomaly::recoveryAfterCleanRelease);

  Story restarted = recoveredAfterCleanRelease([](Story& s) { s.crash(D).restart(D); });
  expectLimitation(restarted, Route::l2HomeRestart, Anomaly::recoveryAfterCleanRelease);

  Story recreated = recoveredAfterCleanRelease([](Story& s) { s.tell(D, obs::CoordinatorReplaced{}); });
  expectLimitation(recreated, Route::l2HomeRestart, Anomaly::recoveryAfterCleanRelease);

  Story changed = recoveredAfterCleanRelease(
      [](Story& s) { s.tell(D, obs::MembershipInstalled{2, {15}, 1, {15}, 0_s}); });
  expectLimitation(changed, Route::l2MembershipChange, Anomaly::recoveryAfterCleanRelease);
}

TEST(Freshness, RecoveryAfterACleanReleaseForNoReasonThatWasSeenIsAViolation) {
  Story none = recoveredAfterCleanRelease([](Story&) {});
  EXPECT_EQ(expectViolation(none, Checker::freshness, Anomaly::recoveryAfterCleanRelease).rule(), "FR-6");
  // What the home says of itself is no evidence.
  for (const obs::LineageLoss why : {obs::LineageLoss::evicted, obs::LineageLoss::coldHome,
                                     obs::LineageLoss::membershipChange, obs::LineageLoss::oldForm}) {
    Story said = recoveredAfterCleanRelease([why](Story& s) { s.tell(D, obs::LineageLost{K, why}); });
    expectViolation(said, Checker::freshness, Anomaly::recoveryAfterCleanRelease);
  }
  // The node that restarted is not the home, and the membership is the one that was there before.
  Story other = recoveredAfterCleanRelease([](Story& s) { s.crash(C).restart(C); });
  expectViolation(other, Checker::freshness, Anomaly::recoveryAfterCleanRelease);
  Story again(onlyFreshness());
  const auto install = [&] { again.tell(D, obs::MembershipInstalled{2, {15}, 1, {15}, 0_s}); };
  install();
  again.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).unlock(A, 1).at(2_s).release(A);
  install();
  again.at(3_s).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A).barrierDone(B, 9);
  again.lock(B, 2, Path::recovery);
  expectViolation(again, Checker::freshness, Anomaly::recoveryAfterCleanRelease);
}

TEST(Freshness, ASetIsEvictedOnlyWhenTheHomesCapIsReached) {
  const auto withCap = [](std::uint32_t cap) {
    CheckerOptions options = onlyFreshness();
    options.lineageSets = cap;
    Story story(options);
    story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).unlock(A, 1).release(A);
    story.at(2_s).grant(C, Path::virgin, K2).release(C, K2);
    story.at(3_s).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A).barrierDone(B, 9);
    story.lock(B, 2, Path::recovery);
    return story;
  };
  Story reached = withCap(1);
  expectLimitation(reached, Route::l2Eviction, Anomaly::recoveryAfterCleanRelease);
  Story room = withCap(2);
  expectViolation(room, Checker::freshness, Anomaly::recoveryAfterCleanRelease);
}

TEST(Freshness, AReleaseThatItsAuthorWasNotSeenToAppendAsItRanIsNotClean) {
  const auto released = [](auto&& release) {
    Story story = afterAWrote();
    release(story.at(2_s));
    story.at(3_s).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A).apply(B, A);
    story.barrierDone(B, 9).lock(B, 2, Path::recovery);
    return story;
  };
  Story unseen = released([](Story& s) { s.tell(D, obs::ReleaseSeen{K, A, s.token(), true}); });
  expectHeld(unseen);
  Story found = released([](Story& s) { s.crash(A).restart(A).release(A); });
  expectHeld(found);
  Story appended = released([](Story& s) { s.crash(A).restart(A).at(2'001_ms).release(A); });
  expectViolation(appended, Checker::freshness, Anomaly::recoveryAfterCleanRelease);
}

TEST(Freshness, RecoveryAfterAnExpiryIsNoSuchRoute) {
  Story story = afterAWrote();
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A).apply(B, A);
  story.barrierDone(B, 9).lock(B, 2, Path::recovery);
  expectHeld(story);
  EXPECT_TRUE(story.findings().limitations().empty()) << story.told();
}

TEST(Freshness, AnUnusedGrantHandedBackLeavesTheReleaseClean) {
  const auto handedBack = [](bool renewed) {
    return recoveredAfterCleanRelease([renewed](Story& s) {
      s.grant(C, Path::clean);
      if (renewed) s.grant(C, Path::clean, K, D, true);
      s.tell(C, obs::HandedBack{K, s.token()}).tell(D, obs::HandBackSeen{K, C, s.token(), true});
    });
  };
  Story unused = handedBack(false);
  expectViolation(unused, Checker::freshness, Anomaly::recoveryAfterCleanRelease);
  // Somebody may have been admitted under the token that was renewed.
  Story renewed = handedBack(true);
  expectHeld(renewed);
  EXPECT_TRUE(renewed.findings().limitations().empty()) << renewed.told();
}

// ---- Streams ----------------------------------------------------------------------------------------------

TEST(Freshness, ApplyingOutOfOrderIsAViolation) {
  Story story(onlyFreshness());
  story.at(1_s).tell(B, obs::Applied{A, 1, false}).tell(B, obs::Applied{A, 3, false}).lock(B, 1);
  const Finding finding = expectViolation(story, Checker::freshness, Anomaly::appliedOutOfOrder);
  EXPECT_EQ(finding.expected, 2);
  EXPECT_EQ(finding.observed, 3);
}

TEST(Freshness, AGapThatWasToldIsNoDisorder) {
  Story story(onlyFreshness());
  story.at(1_s).tell(B, obs::Applied{A, 1, false}).tell(B, obs::GapFound{A, 2, 5});
  story.tell(B, obs::Applied{A, 6, false}).lock(B, 1);
  expectHeld(story);
}

}  // namespace
}  // namespace holdfast::checkers::testing
