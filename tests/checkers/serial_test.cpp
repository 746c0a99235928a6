// Serial equivalence, value by value, and the routes L-1a, L-1b, L-2 and LH-4 as they damage records.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

CheckerOptions onlySerial() { return CheckerOptions{}.only(Checker::serial); }

/// At 1 s A finds the key as transaction 1 left it (100, unlocked), and at 2 s makes it 150 in transaction 2.
Story afterADeposited() {
  Story story(onlySerial());
  story.at(0_s).put(D, 1, 0, 100).commit(D, 1).apply(A, D).apply(B, D).apply(C, D);
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).reads(A, 1, 1);
  story.at(2_s).put(A, 2, 1, 150).commit(A, 2).unlock(A, 1);
  return story;
}

TEST(Serial, SectionsThatReadEachOthersWritesHold) {
  Story story = afterADeposited();
  story.at(3_s).release(A).grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean).reads(B, 2, 2);
  story.put(B, 3, 2, 130).commit(B, 3).reads(B, 2, 3).unlock(B, 2).apply(A, B);
  story.at(9_s).endsWith(A, 3).endsWith(B, 3);
  expectHeld(story);
  EXPECT_TRUE(story.findings().limitations().empty()) << story.told();
}

// ---- Stale reads ------------------------------------------------------------------------------------------

TEST(Serial, AStaleReadOnACleanHandoffIsAViolationWithItsValues) {
  Story story = afterADeposited();
  story.at(3_s).release(A).grant(B, Path::clean).lock(B, 2, Path::clean).reads(B, 2, 1);
  const Finding finding = expectViolation(story, Checker::serial, Anomaly::staleRead);
  EXPECT_EQ(finding.expected, 150);
  EXPECT_EQ(finding.observed, 100);
  EXPECT_EQ(finding.otherTxn, TxnId{2});
  EXPECT_EQ(finding.other, A);
}

/// B recovers the key without A, who can not be reached, and reads 100.
Story afterBReadStale() {
  Story story = afterADeposited();
  story.cut(A, B).at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, C);
  story.at(61_s).skip(B, 9, A).barrierDone(B, 9).lock(B, 2, Path::recovery).reads(B, 2, 1);
  return story;
}

TEST(Serial, BothDamagedEffectsOfL2AreReported) {
  Story story = afterBReadStale();
  story.put(B, 3, 2, 80).commit(B, 3).unlock(B, 2);
  story.at(70_s).heal(A, B).apply(B, A).apply(A, B).endsWith(A, 3).endsWith(B, 3);
  const Finding stale = expectLimitation(story, Route::l2b, Anomaly::staleRead);
  EXPECT_EQ(stale.expected, 150);
  EXPECT_EQ(stale.observed, 100);
  const Finding derived = expectLimitation(story, Route::l2b, Anomaly::derivedFromStaleRead);
  EXPECT_EQ(derived.expected, 150);
  EXPECT_EQ(derived.observed, 100);
  EXPECT_EQ(derived.written, 80);
  EXPECT_EQ(derived.txn, TxnId{3});
  EXPECT_EQ(derived.otherTxn, TxnId{2});
}

TEST(Serial, AReadOnlySectionDerivesNothing) {
  Story story = afterBReadStale();
  expectLimitation(story, Route::l2b, Anomaly::staleRead);
  EXPECT_EQ(story.findings().first(Route::l2b, Anomaly::derivedFromStaleRead), nullptr);
}

TEST(Serial, L2cDamagesASectionThatReadBeforeTheCommitSettled) {
  Story story(onlySerial());
  story.at(0_s).put(D, 1, 0, 100).commit(D, 1).apply(A, D).apply(B, D);
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).reads(A, 1, 1).put(A, 2, 1, 150).submit(A, 2);
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A).apply(B, A);
  story.barrierDone(B, 9).lock(B, 2, Path::recovery).reads(B, 2, 1);
  story.at(61_s).settle(A, 2).at(62_s).put(B, 3, 2, 80).commit(B, 3);
  const Finding derived = expectLimitation(story, Route::l2c, Anomaly::derivedFromStaleRead);
  EXPECT_EQ(derived.expected, 150);
  EXPECT_EQ(derived.observed, 100);
  EXPECT_EQ(derived.written, 80);
}

TEST(Serial, L2cDamagesASectionThatHadCommittedToo) {
  Story story(onlySerial());
  story.at(0_s).put(D, 1, 0, 100).commit(D, 1).apply(A, D).apply(B, D);
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).reads(A, 1, 1).put(A, 2, 1, 150).submit(A, 2);
  story.at(60_s).expire(A).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, A).apply(B, A);
  story.barrierDone(B, 9).lock(B, 2, Path::recovery).reads(B, 2, 1).put(B, 3, 2, 80).commit(B, 3);
  story.at(62_s).settle(A, 2);
  EXPECT_EQ(expectLimitation(story, Route::l2c, Anomaly::derivedFromStaleRead).written, 80);
}

TEST(Serial, TheSameWithoutARecoveryHasNoExcuse) {
  Story story(onlySerial());
  story.at(0_s).put(D, 1, 0, 100).commit(D, 1).apply(A, D).apply(B, D);
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).reads(A, 1, 1).put(A, 2, 1, 150).submit(A, 2);
  story.unlock(A, 1).release(A).grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean).reads(B, 2, 1);
  story.put(B, 3, 2, 80).commit(B, 3).at(2_s).settle(A, 2);
  expectViolation(story, Checker::serial, Anomaly::derivedFromStaleRead);
}

TEST(Serial, TheNextLocalCallerMayReadTheValueBeforeTheSubmission) {
  Story story(onlySerial());
  story.at(0_s).put(D, 1, 0, 100).commit(D, 1).apply(A, D);
  story.at(1_s).lock(A, 1, Path::virgin).reads(A, 1, 1).put(A, 2, 1, 150).unlock(A, 1);
  story.at(2_s).lock(A, 2).submit(A, 2).reads(A, 2, 1).at(3_s).settle(A, 2);
  EXPECT_EQ(expectLimitation(story, Route::lh4, Anomaly::staleRead).expected, 150);
}

TEST(Serial, AndNotTheOneBeforeWhatWasSubmittedWhenItCame) {
  Story story(onlySerial());
  story.at(0_s).put(D, 1, 0, 100).commit(D, 1).apply(A, D);
  story.at(1_s).lock(A, 1, Path::virgin).reads(A, 1, 1).put(A, 2, 1, 150).submit(A, 2).unlock(A, 1);
  story.at(2_s).lock(A, 2).reads(A, 2, 1).at(3_s).settle(A, 2);
  EXPECT_EQ(expectViolation(story, Checker::serial, Anomaly::staleRead).expected, 150);
}

TEST(Serial, AReadAfterTheSectionEndedIsNotJudgedForOrder) {
  Story story = afterADeposited();
  story.at(3_s).release(A).grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean);
  story.put(B, 3, 2, 130).commit(B, 3).at(4_s).reads(A, 1, 2);
  expectHeld(story);
}

TEST(Serial, EachFieldIsJudgedByItself) {
  // Having B's patch of field 1 does not stand for A's write of field 0 (S-33).
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).patch(A, 1, 1, 0, 10).commit(A, 1).unlock(A, 1);
  story.at(2_s).apply(B, A).lock(B, 2, Path::clean).patch(B, 2, 2, 1, 20).commit(B, 2).unlock(B, 2);
  story.at(3_s).apply(C, B).lock(C, 3, Path::clean).read(C, 3, Content{}.with(1, 2, 20));
  const Finding finding = expectViolation(story, Checker::serial, Anomaly::staleRead);
  EXPECT_EQ(finding.field, 0);
  EXPECT_EQ(finding.expected, 10);
}

TEST(Serial, ASectionSeesItsOwnCommit) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).put(A, 2, 1, 20).commit(A, 2);
  story.reads(A, 1, 1);
  expectViolation(story, Checker::serial, Anomaly::outrankedWrite);

  Story good(onlySerial());
  good.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).put(A, 2, 1, 20).commit(A, 2);
  good.reads(A, 1, 2);
  expectHeld(good);
}

TEST(Serial, OfOneSectionsWritesTheOneStagedLastCounts) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).at(2_s).put(A, 2, 1, 20);
  story.submit(A, 1).submit(A, 2).settle(A, 2).settle(A, 1).reads(A, 1, 2).endsWith(A, 2);
  expectHeld(story);
}

// ---- L-1: outranked writes --------------------------------------------------------------------------------

/// B writes 130 after A wrote 150 with the given stamp; both are applied everywhere, and A's stands.
Story whereTheEarlierWriteStands(
    const std::function<void(Story&)>& stampA, const std::function<void(Story&)>& stampB = [](Story&) {}) {
  Story story(onlySerial());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin);
  stampA(story);
  story.put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
  story.at(2_s).release(A).grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean).reads(B, 2, 1);
  stampB(story);
  story.put(B, 2, 2, 130).commit(B, 2).unlock(B, 2).at(3_s).apply(A, B).endsWith(A, 1).endsWith(B, 1);
  return story;
}

TEST(Serial, L1aThePredecessorsClockWasAhead) {
  Story story = whereTheEarlierWriteStands([](Story& s) { s.stamped(6_s); });
  const Finding finding = expectLimitation(story, Route::l1a, Anomaly::lostUpdate);
  EXPECT_EQ(finding.expected, 130);
  EXPECT_EQ(finding.observed, 150);
  EXPECT_EQ(finding.evidence[0].fact, Fact::stagedEarlier);
  EXPECT_EQ(finding.evidence[0].number, (6_s).ns);
  EXPECT_EQ(finding.evidence[1].number, (2_s).ns);
}

TEST(Serial, L1aOnAStampTie) {
  // The stamps are equal and the greater name wins: B's clock stood still, as it were.
  Story story(onlySerial());
  story.at(1_s).lock(B, 1, Path::virgin).stamped(9_s).put(B, 1, 1, 150).commit(B, 1).unlock(B, 1);
  story.at(2_s).apply(A, B).lock(A, 2, Path::clean).stamped(9_s).put(A, 2, 2, 130).commit(A, 2).apply(B, A);
  story.endsWith(A, 1).endsWith(B, 1);
  expectLimitation(story, Route::l1a, Anomaly::lostUpdate);
}

TEST(Serial, L1bTheCallerGaveAFutureStamp) {
  Story story = whereTheEarlierWriteStands([](Story& s) { s.stampedByCaller(3600_s); });
  const Finding finding = expectLimitation(story, Route::l1b, Anomaly::lostUpdate);
  EXPECT_EQ(finding.evidence[0].fact, Fact::callerStamp);
  EXPECT_EQ(finding.expected, 130);
  EXPECT_EQ(finding.observed, 150);
}

TEST(Serial, AnEarlierWriteThatStandsWithASmallerStampIsAViolation) {
  Story story = whereTheEarlierWriteStands([](Story&) {});
  EXPECT_EQ(expectViolation(story, Checker::serial, Anomaly::lostUpdate).rule(), "LW-3");
}

TEST(Serial, LaterReadersOfAnOutrankedWriteAreToldWhy) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).stampedByCaller(3600_s).put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
  story.at(2_s).apply(B, A).lock(B, 2, Path::clean).put(B, 2, 2, 130).commit(B, 2).unlock(B, 2);
  story.at(3_s).lock(B, 3).reads(B, 3, 1);
  expectLimitation(story, Route::l1b, Anomaly::outrankedWrite);

  Story without(onlySerial());
  without.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
  without.at(2_s).apply(B, A).lock(B, 2, Path::clean).put(B, 2, 2, 130).commit(B, 2).unlock(B, 2);
  without.at(3_s).lock(B, 3).reads(B, 3, 1);
  expectViolation(without, Checker::serial, Anomaly::outrankedWrite);
}

// ---- Unlocked writes --------------------------------------------------------------------------------------

TEST(Serial, AnUnlockedWriteMayStandAboveALockedOne) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
  story.at(2_s).put(B, 2, 0, 7).commit(B, 2).apply(A, B).apply(B, A);
  story.at(3_s).lock(A, 2).reads(A, 2, 2).endsWith(A, 2).endsWith(B, 2);
  expectHeld(story);
}

TEST(Serial, AnUnlockedWriteThatLosesMustNotShow) {
  Story story(onlySerial());
  story.at(1_s).put(B, 2, 0, 7).commit(B, 2).apply(A, B);
  story.at(2_s).lock(A, 1, Path::virgin).put(A, 1, 1, 150).commit(A, 1).reads(A, 1, 2);
  expectViolation(story, Checker::serial, Anomaly::outrankedWrite);
}

/// A's locked write, which an erase with a clock that is a minute ahead outranks, and an unlocked write at
/// `writes` with a smaller timestamp than both, read by the next section. A may have forgotten the erase.
Story writtenAfterAnErase(Duration writes, bool forgotten = true) {
  CheckerOptions options = onlySerial();
  options.tombstoneRetention = 5_s;
  Story story(options);
  story.at(1_s).lock(A, 1, Path::virgin).stamped(40_s).put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
  story.at(2_s).stamped(62_s).erase(A, 2, 0).commit(A, 2);
  if (forgotten) story.at(writes).tell(A, obs::TombstoneReclaimed{K});
  story.at(writes).put(A, 3, 0, 7).commit(A, 3).lock(A, 2).reads(A, 2, 3);
  return story;
}

TEST(Serial, AWriteStandsOnceTheEraseThatOutranksItIsForgotten) {
  Story story = writtenAfterAnErase(7_s);
  expectHeld(story);
}

TEST(Serial, AWriteThatAnEraseOutranksMustNotShowBefore) {
  Story story = writtenAfterAnErase(6_s);
  expectViolation(story, Checker::serial, Anomaly::outrankedWrite);
}

TEST(Serial, AWriteMustNotShowWhereTheEraseThatOutranksItIsKept) {
  Story story = writtenAfterAnErase(7_s, false);
  expectViolation(story, Checker::serial, Anomaly::outrankedWrite);
}

// ---- Deletion ---------------------------------------------------------------------------------------------

TEST(Serial, AnErasedRecordReadsAsAbsentAndMayBeMadeAnew) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).unlock(A, 1);
  story.at(2_s).apply(B, A).lock(B, 2, Path::clean).erase(B, 2, 2).commit(B, 2).read(B, 2, {}).unlock(B, 2);
  story.at(3_s).apply(A, B).lock(A, 3, Path::clean).read(A, 3, {}).put(A, 3, 3, 30).commit(A, 3);
  story.reads(A, 3, 3).apply(B, A).endsWith(A, 3).endsWith(B, 3);
  expectHeld(story);
}

TEST(Serial, AResurrectedRecordIsAViolation) {
  // A's put arrives at C after the erase was applied and its tombstone reclaimed.
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).unlock(A, 1);
  story.at(2_s).apply(B, A).lock(B, 2, Path::clean).erase(B, 2, 2).commit(B, 2).unlock(B, 2).apply(C, B);
  story.at(3_s).tell(C, obs::TombstoneReclaimed{K}).apply(C, A).endsWith(C, 1);
  expectViolation(story, Checker::serial, Anomaly::lostUpdate);
}

TEST(Serial, AnEraseWithAFutureStampHidesALaterWriteByL1b) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).stampedByCaller(3600_s).erase(A, 1, 1).commit(A, 1).unlock(A, 1);
  story.at(2_s).apply(B, A).lock(B, 2, Path::clean).put(B, 2, 2, 30).commit(B, 2).read(B, 2, {});
  expectLimitation(story, Route::l1b, Anomaly::outrankedWrite);
}

TEST(Serial, AWriteThatVanishedIsAViolation) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).ends(A, {});
  expectViolation(story, Checker::serial, Anomaly::lostUpdate);
}

TEST(Serial, AnUnlockedEraseMayTakeTheValueAway) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).unlock(A, 1);
  story.at(2_s).erase(A, 2, 0).commit(A, 2).ends(A, {});
  expectHeld(story);
}

// ---- Values and provenance --------------------------------------------------------------------------------

TEST(Serial, AValueThatItsWriterDidNotStageIsAViolation) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1);
  story.read(A, 1, story.contentOf(1).with(0, 1, 11));
  const Finding finding = expectViolation(story, Checker::serial, Anomaly::strangeValue);
  EXPECT_EQ(finding.expected, 10);
  EXPECT_EQ(finding.observed, 11);
}

TEST(Serial, AFieldOfAWriterThatNeverTouchedItIsAViolation) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).patch(A, 1, 1, 0, 10).commit(A, 1);
  story.read(A, 1, story.contentOf(1).with(2, 1, 0));
  EXPECT_EQ(expectViolation(story, Checker::serial, Anomaly::strangeValue).field, 2);
}

TEST(Serial, IncrementsFoldSoOnlyTheWriterIsJudged) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).unlock(A, 1);
  story.at(2_s).lock(A, 2).increment(A, 2, 2, 5).commit(A, 2).read(A, 2, story.contentOf(1).with(0, 2, 15));
  expectHeld(story);
}

TEST(Serial, AnAbortedOrRefusedWriteMustNotShow) {
  Story aborted(onlySerial());
  aborted.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).submit(A, 1).abort(A, 1).reads(A, 1, 1);
  expectViolation(aborted, Checker::serial, Anomaly::refusedWriteVisible);

  Story refused(onlySerial());
  refused.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).at(11_s).refuseWrite(A, 1, 1, Cause::expired);
  refused.endsWith(B, 1);
  expectViolation(refused, Checker::serial, Anomaly::refusedWriteVisible);

  Story tooEarly(onlySerial());
  tooEarly.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).submit(A, 1).reads(A, 1, 1).abort(A, 1);
  expectViolation(tooEarly, Checker::serial, Anomaly::refusedWriteVisible);

  Story both(onlySerial());
  both.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).at(11_s).refuseWrite(A, 1, 1, Cause::expired);
  both.submit(A, 1).settle(A, 1);
  expectViolation(both, Checker::serial, Anomaly::refusedWriteVisible);
}

TEST(Serial, ACommitThatNobodySubmittedIsAViolation) {
  Story story(onlySerial());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).settle(A, 1);
  expectViolation(story, Checker::serial, Anomaly::committedWithoutSubmission);

  Story shown(onlySerial());
  shown.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).reads(A, 1, 1);
  expectViolation(shown, Checker::serial, Anomaly::committedWithoutSubmission);
}

TEST(Serial, AHoldersStampsDoNotGoBack) {
  Story back(onlySerial());
  back.at(1_s).lock(A, 1, Path::virgin).stamped(9_s).put(A, 1, 1, 10).at(2_s).stamped(8_s).put(A, 2, 1, 20);
  EXPECT_EQ(expectViolation(back, Checker::serial, Anomaly::stampWentBack).rule(), "LW-2");

  Story anotherHandle(onlySerial());
  anotherHandle.at(1_s).lock(A, 1, Path::virgin).stamped(9_s).put(A, 1, 1, 10).unlock(A, 1);
  anotherHandle.at(2_s).lock(A, 2).stamped(8_s).put(A, 2, 2, 20);
  expectHeld(anotherHandle);

  Story byCaller(onlySerial());
  byCaller.at(1_s)
      .lock(A, 1, Path::virgin)
      .stamped(9_s)
      .put(A, 1, 1, 10)
      .stampedByCaller(8_s)
      .put(A, 2, 1, 2);
  expectHeld(byCaller);
}

}  // namespace
}  // namespace holdfast::checkers::testing
