// Every caller is answered once, in time and in turn; every submitted transaction settles once.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

CheckerOptions onlyCallers() {
  CheckerOptions options = CheckerOptions{}.only(Checker::callers);
  options.waitTolerance = 10_ms;
  return options;
}

TEST(Callers, AWaiterThatIsLetInByReentryIsAnsweredByIt) {
  Story asked(CheckerOptions{}.only(Checker::callers));
  asked.at(0_s).ask(A, 1, K, 5_s).at(1_s).reenter(A, 1, 10_s);
  expectHeld(asked);

  Story late(CheckerOptions{}.only(Checker::callers));
  late.at(0_s).ask(A, 1, K, 5_s).at(6_s).reenter(A, 1, 10_s);
  expectViolation(late, Checker::callers, Anomaly::answeredLate);

  Story unasked(CheckerOptions{}.only(Checker::callers));
  unasked.at(1_s).reenter(A, 1, 10_s);
  expectViolation(unasked, Checker::callers, Anomaly::answeredUnasked);
}

TEST(Callers, OneAnswerEachHolds) {
  Story story(onlyCallers());
  story.at(0_s).lock(A, 1).ask(B, 2, K, 5_s).at(5_s).refuse(B, 2, ErrorClass::locked423, Cause::contended);
  story.put(A, 1, 1, 5).commit(A, 1).put(A, 2, 1, 6).refuseWrite(A, 2, 1, Cause::expired);
  expectHeld(story);
}

TEST(Callers, ASecondAnswerIsAViolation) {
  Story refusedToo(onlyCallers());
  refusedToo.at(0_s).lock(A, 1).at(1_s).refuse(A, 1, ErrorClass::locked423, Cause::contended);
  const Finding finding = expectViolation(refusedToo, Checker::callers, Anomaly::answeredTwice);
  EXPECT_EQ(finding.severity, Severity::safety);
  EXPECT_EQ(finding.observed, 2);

  Story admittedToo(onlyCallers());
  admittedToo.at(0_s).lock(B, 9).ask(A, 1).at(1_s).refuse(A, 1, ErrorClass::locked423, Cause::contended);
  admittedToo.at(2_s).admit(A, 1);
  expectViolation(admittedToo, Checker::callers, Anomaly::answeredTwice);
}

TEST(Callers, AnAnswerThatNobodyAskedForIsAViolation) {
  Story story(onlyCallers());
  story.at(0_s).admit(A, 1);
  expectViolation(story, Checker::callers, Anomaly::answeredUnasked);
}

TEST(Callers, ASecondAnswerIsNotAlsoOutOfTurn) {
  Story story(onlyCallers());
  story.at(0_s).ask(A, 1).at(1_s).ask(A, 2).at(2_s).refuse(A, 2, ErrorClass::locked423, Cause::contended);
  story.at(3_s).admit(A, 2).unlock(A, 2).admit(A, 1);
  expectViolation(story, Checker::callers, Anomaly::answeredTwice);
  EXPECT_EQ(story.findings().first(Anomaly::servedOutOfOrder), nullptr) << story.told();
}

TEST(Callers, AReentryThroughNoCallIsAnAnswerThatNobodyAskedFor) {
  Story story(onlyCallers());
  story.at(0_s).lock(B, 9).reenter(A, 1, 10_s);
  expectViolation(story, Checker::callers, Anomaly::answeredUnasked);
}

TEST(Callers, AnAnswerAfterTheCrashOfTheNodeIsAViolation) {
  Story story(onlyCallers());
  story.at(0_s).ask(A, 1).at(1_s).crash(A).at(2_s).restart(A).admit(A, 1);
  expectViolation(story, Checker::callers, Anomaly::answeredUnasked);
}

TEST(Callers, ARefusedReentryIsNoSecondAnswer) {
  Story story(onlyCallers());
  story.at(0_s).lock(A, 1).at(1_s).revoke(A, 1).refuse(A, 1, ErrorClass::conflict409, Cause::revoked);
  expectHeld(story);
}

TEST(Callers, ARefusedReentryIsNotHeldToTheCallsLimit) {
  Story story(onlyCallers());
  story.at(0_s).ask(A, 1, K, 5_s).admit(A, 1).at(9_s);
  story.refuse(A, 1, ErrorClass::conflict409, Cause::expired);
  expectHeld(story);
}

TEST(Callers, WaitingInVainUntilTheEndIsALivenessViolation) {
  Story story(onlyCallers());
  story.at(0_s).lock(B, 9).ask(A, 1, K, 30_s).at(1_s);
  const Finding finding = expectViolation(story, Checker::callers, Anomaly::neverAnswered);
  EXPECT_EQ(finding.severity, Severity::liveness);
  EXPECT_EQ(finding.call, CallId{1});
  EXPECT_EQ(finding.observed, (1_s).ns);
}

TEST(Callers, OfARunCutShortOnlyOverdueCallersAreReported) {
  Story young(onlyCallers());
  young.at(0_s).phase(Phase::faults).lock(B, 9).ask(A, 1, K, 30_s).put(B, 1, 9, 5).submit(B, 1).at(30_s);
  expectHeld(young);

  Story overdue(onlyCallers());
  overdue.at(0_s).phase(Phase::faults).lock(B, 9).ask(A, 1, K, 30_s).at(31_s);
  expectViolation(overdue, Checker::callers, Anomaly::neverAnswered);

  Story complete(onlyCallers());
  complete.at(0_s).phase(Phase::faults).lock(B, 9).ask(A, 1, K, 30_s).at(31_s).phase(Phase::end);
  expectViolation(complete, Checker::callers, Anomaly::neverAnswered);
}

TEST(Callers, WhoIsWithinItsLimitWhenARunOfPhasesEndsIsCountedAndNotLate) {
  Story story(onlyCallers());
  story.at(0_s).phase(Phase::faults).lock(B, 9).ask(A, 1, K, 30_s).at(20_s).phase(Phase::healed);
  story.at(30_s).phase(Phase::end);
  expectHeld(story);
  EXPECT_EQ(story.checkers().stillWaiting(), 1U);

  Story unhealed(onlyCallers());
  unhealed.at(0_s).phase(Phase::faults).lock(B, 9).ask(A, 1, K, 30_s);
  unhealed.at(30_s).phase(Phase::healed).phase(Phase::end);
  expectHeld(unhealed);
  EXPECT_EQ(unhealed.checkers().stillWaiting(), 0U);
}

TEST(Callers, WhoWaitsWhenAHealedRunIsCutShortIsNotCounted) {
  Story story(onlyCallers());
  story.at(0_s).phase(Phase::faults).lock(B, 9).ask(A, 1, K, 30_s).at(10_s).phase(Phase::healed).at(20_s);
  expectHeld(story);
  EXPECT_EQ(story.checkers().stillWaiting(), 0U);
}

TEST(Callers, WhatWasNeverSubmittedNeedNotSettle) {
  Story story(onlyCallers());
  story.at(0_s).lock(A, 1).put(A, 1, 1, 5).unlock(A, 1).at(1_s);
  expectHeld(story);
}

TEST(Callers, ACrashOrASuspensionExcusesTheNode) {
  Story crashed(onlyCallers());
  crashed.at(0_s).lock(B, 9).ask(A, 1).put(A, 1, 0, 5).submit(A, 1).at(1_s).crash(A).at(100_s);
  expectHeld(crashed);

  Story paused(onlyCallers());
  paused.at(0_s)
      .lock(B, 9)
      .ask(A, 1)
      .put(A, 1, 0, 5)
      .submit(A, 1)
      .at(1_s)
      .tell(A, obs::NodePaused{})
      .at(100_s);
  expectHeld(paused);
}

TEST(Callers, AnAnswerAfterTheWaitIsALivenessViolation) {
  Story inTime(onlyCallers());
  inTime.at(0_s).ask(A, 1, K, 5_s).at(5'010_ms).refuse(A, 1, ErrorClass::lockUnavailable503, Cause::barrier);
  inTime.lock(B, 2);
  expectHeld(inTime);

  Story late(onlyCallers());
  late.at(0_s).ask(A, 1, K, 5_s).at(5'011_ms).refuse(A, 1, ErrorClass::lockUnavailable503, Cause::fence);
  const Finding finding = expectViolation(late, Checker::callers, Anomaly::answeredLate);
  EXPECT_EQ(finding.expected, (5_s).ns);
  EXPECT_EQ(finding.observed, (5'011_ms).ns);

  Story lateAdmission(onlyCallers());
  lateAdmission.at(0_s).ask(A, 1, K, 5_s).at(6_s).admit(A, 1);
  expectViolation(lateAdmission, Checker::callers, Anomaly::answeredLate);
}

TEST(Callers, TheWaitIsMeasuredOnTheNodesClockWithoutSuspensions) {
  Story slow(onlyCallers());
  slow.at(0_s).clock(A, 500_s, -500'000'000).ask(A, 1, K, 5_s).at(10_s).admit(A, 1);
  expectHeld(slow);

  Story fast(onlyCallers());
  fast.at(0_s).clock(A, 500_s, 500'000'000).ask(A, 1, K, 5_s).at(5_s).admit(A, 1);
  expectViolation(fast, Checker::callers, Anomaly::answeredLate);

  Story paused(onlyCallers());
  paused.at(0_s).ask(A, 1, K, 5_s).at(1_s).tell(A, obs::NodePaused{}).at(21_s).tell(A, obs::NodeResumed{});
  paused.refuse(A, 1, ErrorClass::lockUnavailable503, Cause::homeUnreachable).lock(B, 2);
  expectHeld(paused);
}

TEST(Callers, OnlyTheSuspensionsOfItsOwnWaitAreTakenOff) {
  Story story(onlyCallers());
  story.at(0_s).tell(A, obs::NodePaused{}).at(20_s).tell(A, obs::NodeResumed{}).lock(B, 2);
  story.ask(A, 1, K, 5_s).at(30_s).refuse(A, 1, ErrorClass::lockUnavailable503, Cause::homeUnreachable);
  EXPECT_EQ(expectViolation(story, Checker::callers, Anomaly::answeredLate).observed, (10_s).ns);
}

TEST(Callers, OfTwoCallersOfOneInstantEitherMayBeFirst) {
  Story story(onlyCallers());
  story.at(1_s).ask(A, 1).ask(A, 2).at(2_s).admit(A, 2).unlock(A, 2).admit(A, 1);
  expectHeld(story);
}

TEST(Callers, LocalCallersAreServedInTurn) {
  Story fair(onlyCallers());
  fair.at(0_s).ask(A, 1).at(1_s).ask(A, 2).ask(B, 3).at(2_s).admit(A, 1).at(3_s).unlock(A, 1).admit(A, 2);
  fair.unlock(A, 2).admit(B, 3);
  expectHeld(fair);

  Story unfair(onlyCallers());
  unfair.at(0_s).ask(A, 1).at(1_s).ask(A, 2).at(2_s).admit(A, 2).at(3_s).unlock(A, 2).admit(A, 1);
  const Finding finding = expectViolation(unfair, Checker::callers, Anomaly::servedOutOfOrder);
  EXPECT_EQ(finding.rule(), "LH-1");
  EXPECT_EQ(finding.otherCall, CallId{1});
}

TEST(Callers, OrderIsOwedNeitherToOtherNodesNorToThoseWhoseTimeIsUp) {
  Story nodes(onlyCallers());
  nodes.at(0_s).ask(A, 1).at(1_s).ask(B, 2).at(2_s).admit(B, 2).unlock(B, 2).admit(A, 1);
  expectHeld(nodes);

  Story expired(onlyCallers());
  expired.at(0_s).ask(A, 1, K, 5_s).at(1_s).ask(A, 2).at(5_s).admit(A, 2);
  expired.refuse(A, 1, ErrorClass::locked423, Cause::contended);
  expectHeld(expired);
}

/// A holds the key; then B and C ask in this order, and both are queued.
Story withTwoInTheQueue(bool judged, Duration waitOfB = 30_s) {
  CheckerOptions options = onlyCallers();
  options.judgeQueueOrder = judged;
  Story story(options);
  story.at(0_s).grant(A, Path::virgin).lock(A, 1, Path::virgin);
  story.at(1_s).ask(B, 2, K, waitOfB).send(B, D, MessageKind::lockRequest).tell(D, obs::Queued{K, B});
  story.at(2_s).ask(C, 3).send(C, D, MessageKind::lockRequest).tell(D, obs::Queued{K, C});
  story.at(3_s).unlock(A, 1).release(A);
  return story;
}

TEST(Callers, AHomeServesItsQueueInTurn) {
  Story fair = withTwoInTheQueue(true);
  fair.grant(B, Path::clean).admit(B, 2, Path::clean).unlock(B, 2).release(B);
  fair.at(4_s).grant(C, Path::clean).admit(C, 3, Path::clean);
  expectHeld(fair);

  Story unfair = withTwoInTheQueue(true);
  unfair.grant(C, Path::clean).admit(C, 3, Path::clean).unlock(C, 3).release(C);
  unfair.at(4_s).grant(B, Path::clean).admit(B, 2, Path::clean);
  const Finding finding = expectViolation(unfair, Checker::callers, Anomaly::grantedOutOfOrder);
  EXPECT_EQ(finding.rule(), "DG-10");
  EXPECT_EQ(finding.other, B);
  EXPECT_EQ(finding.otherCall, CallId{2});
}

/// B asks, and `between` happens before the home has queued it; then its call gives up, and C overtakes it.
Story withACallMadeSince(const std::function<void(Story&)>& between) {
  CheckerOptions options = onlyCallers();
  options.judgeQueueOrder = true;
  Story story(options);
  story.at(0_s).grant(A, Path::virgin).lock(A, 1, Path::virgin);
  story.at(1_s).ask(B, 2, K, 4_s).send(B, D, MessageKind::lockRequest);
  between(story.at(2_s));
  story.at(3_s).tell(D, obs::Queued{K, B}).ask(C, 3).send(C, D, MessageKind::lockRequest);
  story.tell(D, obs::Queued{K, C}).at(5_s).refuse(B, 2, ErrorClass::locked423, Cause::contended);
  story.unlock(A, 1).release(A).grant(C, Path::clean).admit(C, 3, Path::clean).unlock(C, 3).release(C);
  return story;
}

TEST(Callers, AHomeOwesItsOrderToTheCallsThatItWasAskedFor) {
  Story unasked = withACallMadeSince(
      [](Story& story) { story.ask(B, 4).at(2'500_ms).send(B, D, MessageKind::lockHandBack); });
  unasked.grant(B, Path::clean).admit(B, 4, Path::clean);
  expectHeld(unasked);

  Story ofAnother = withACallMadeSince([](Story& story) { story.ask(C, 4, K2); });
  ofAnother.admit(C, 4, Path::virgin, K2);
  expectHeld(ofAnother);

  Story asked = withACallMadeSince(
      [](Story& story) { story.ask(B, 4).at(2'500_ms).send(B, D, MessageKind::lockRequest); });
  asked.grant(B, Path::clean).admit(B, 4, Path::clean);
  EXPECT_EQ(expectViolation(asked, Checker::callers, Anomaly::grantedOutOfOrder).otherCall, CallId{4});
}

TEST(Callers, TheWaitOfAnotherNodeKeepsNobodyInTheQueue) {
  CheckerOptions options = onlyCallers();
  options.judgeQueueOrder = true;
  Story story(options);
  story.at(0_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).ask(A, 4, K, 60_s);
  story.at(1_s).ask(B, 2, K, 3_s).send(B, D, MessageKind::lockRequest).tell(D, obs::Queued{K, B});
  story.at(2_s).ask(C, 3).send(C, D, MessageKind::lockRequest).tell(D, obs::Queued{K, C});
  story.at(3_s).unlock(A, 1).release(A).grant(C, Path::clean).admit(C, 3, Path::clean);
  story.at(4_s).refuse(B, 2, ErrorClass::locked423, Cause::contended).unlock(C, 3).release(C);
  story.grant(A, Path::clean).admit(A, 4, Path::clean);
  expectHeld(story);
}

TEST(Callers, AHomeIsHeldToItsOwnQueueAndToItsOwnCalls) {
  CheckerOptions options = onlyCallers();
  options.judgeQueueOrder = true;
  Story own(options);
  own.at(0_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).send(D, C, MessageKind::lockRequest);
  own.at(1_s).ask(D, 2).tell(D, obs::Queued{K, D});
  own.at(2_s).ask(C, 3).send(C, D, MessageKind::lockRequest).tell(D, obs::Queued{K, C});
  own.at(3_s).unlock(A, 1).release(A).grant(C, Path::clean).admit(C, 3, Path::clean).unlock(C, 3).release(C);
  own.grant(D, Path::clean).admit(D, 2, Path::clean);
  EXPECT_EQ(expectViolation(own, Checker::callers, Anomaly::grantedOutOfOrder).otherCall, CallId{2});

  Story moved = withTwoInTheQueue(true);
  moved.grant(C, Path::clean, K, A).admit(C, 3, Path::clean).unlock(C, 3).release(C, K, A);
  moved.grant(B, Path::clean, K, A).admit(B, 2, Path::clean);
  expectHeld(moved);
}

TEST(Callers, WhoIsToldThatTheKeyIsTakenStaysInTheQueue) {
  for (const Cause cause : {Cause::contended, Cause::ownGrant}) {
    Story story = withTwoInTheQueue(true);
    story.tell(D, obs::Denied{K, B, cause}).grant(C, Path::clean).admit(C, 3, Path::clean);
    story.unlock(C, 3).release(C).grant(B, Path::clean).admit(B, 2, Path::clean);
    EXPECT_EQ(expectViolation(story, Checker::callers, Anomaly::grantedOutOfOrder).other, B);
  }
}

TEST(Callers, ARenewalOvertakesNobody) {
  Story story = withTwoInTheQueue(true);
  story.tell(D, obs::Granted{K, A, {1, 1, 9}, Path::clean, true, 60_s});
  story.at(4_s).grant(B, Path::clean).admit(B, 2, Path::clean).unlock(B, 2).release(B);
  story.grant(C, Path::clean).admit(C, 3, Path::clean);
  expectHeld(story);
}

TEST(Callers, WhatWasRecalledIsNotRenewed) {
  const auto renewal = [](Story& story, Token recalled) {
    story.tell(D, obs::RecallSent{K, A, recalled});
    story.at(2_s).tell(D, obs::Granted{K, A, Token{1, 1, 9}, Path::virgin, true, 10_s});
  };
  Story fair(onlyCallers());
  fair.at(0_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).at(1_s);
  renewal(fair, Token{1, 1, 7});  // of an earlier grant
  expectHeld(fair);

  Story unfair(onlyCallers());
  unfair.at(0_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).at(1_s);
  renewal(unfair, unfair.token());
  const Finding finding = expectViolation(unfair, Checker::callers, Anomaly::renewedAfterRecall);
  EXPECT_EQ(finding.rule(), "DG-10");
  EXPECT_EQ(finding.other, A);
  EXPECT_EQ(finding.expected, Duration(1_s).ns);
}

TEST(Callers, TheQueueIsJudgedOnlyWhenToldAndOnlyForThoseWhoSurelyWait) {
  const auto overtake = [](Story& story) {
    story.grant(C, Path::clean).admit(C, 3, Path::clean).unlock(C, 3).release(C);
    story.at(4_s).grant(B, Path::clean).admit(B, 2, Path::clean);
  };
  Story off = withTwoInTheQueue(false);
  overtake(off);
  expectHeld(off);

  Story nearlyOver = withTwoInTheQueue(true, 3_s);
  overtake(nearlyOver);
  expectHeld(nearlyOver);

  Story denied = withTwoInTheQueue(true);
  denied.tell(D, obs::Denied{K, B, Cause::capacity});
  overtake(denied);
  expectHeld(denied);

  Story restarted = withTwoInTheQueue(true);
  restarted.tell(D, obs::CoordinatorReplaced{});
  overtake(restarted);
  expectHeld(restarted);
}

TEST(Callers, ATransactionSettlesExactlyOnce) {
  Story never(onlyCallers());
  never.at(0_s).lock(A, 1).put(A, 1, 1, 5).submit(A, 1).at(1_s);
  EXPECT_EQ(expectViolation(never, Checker::callers, Anomaly::neverSettled).txn, TxnId{1});

  Story twice(onlyCallers());
  twice.at(0_s).lock(A, 1).put(A, 1, 1, 5).commit(A, 1).at(1_s).settle(A, 1);
  EXPECT_EQ(expectViolation(twice, Checker::callers, Anomaly::settledTwice).observed, 2);

  Story retried(onlyCallers());
  retried.at(0_s)
      .lock(A, 1)
      .put(A, 1, 1, 5)
      .submit(A, 1)
      .tell(A, obs::AttemptAborted{{1}, 1})
      .submit(A, 1, 2);
  retried.at(1_s).settle(A, 1);
  expectHeld(retried);
}

}  // namespace
}  // namespace holdfast::checkers::testing
