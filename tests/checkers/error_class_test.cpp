// Section 12: which error a caller may see, and when.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

CheckerOptions onlyErrors() {
  CheckerOptions options = CheckerOptions{}.only(Checker::errorClass);
  options.holderSlack = 0_s;
  return options;
}

/// A story with an admission on another key, so that it is not empty.
Story someRun() {
  Story story(onlyErrors());
  story.at(0_s).lock(C, 100, Path::virgin, K2);
  return story;
}

Story& refuse423(Story& story, NodeId node, std::uint32_t call) {
  return story.refuse(node, call, ErrorClass::locked423, Cause::contended);
}

// ---- 423 --------------------------------------------------------------------------------------------------

TEST(ErrorClass, A423NeedsAHolder) {
  Story story = someRun();
  story.at(1_s).ask(A, 1, K, 5_s).at(6_s);
  refuse423(story, A, 1);
  EXPECT_EQ(expectViolation(story, Checker::errorClass, Anomaly::lockedWithoutHolder).rule(), "section 12");
}

TEST(ErrorClass, AnotherHandleInsideIsAHolder) {
  Story story = someRun();
  story.at(1_s).lock(B, 2).at(2_s).ask(A, 1, K, 5_s).at(7_s);
  refuse423(story, A, 1);
  expectHeld(story);
}

TEST(ErrorClass, AGrantOfAnOlderMembershipIsNoHolder) {
  const auto install = [](Story& story, NodeId node) {
    story.tell(node, obs::MembershipInstalled{2, {}, 1, {}, 0_s});
  };
  Story elsewhere = someRun();
  elsewhere.at(1_s).grant(B, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(4_s);
  install(elsewhere, C);
  elsewhere.at(7_s);
  refuse423(elsewhere, A, 1);
  expectHeld(elsewhere);

  Story here = someRun();
  here.at(1_s).grant(B, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(4_s);
  install(here, A);
  here.at(7_s);
  refuse423(here, A, 1);
  expectViolation(here, Checker::errorClass, Anomaly::lockedWithoutHolder);
}

TEST(ErrorClass, AHandleThatEndedDuringTheWaitWasAHolder) {
  Story unlocked = someRun();
  unlocked.at(1_s).lock(B, 2).at(2_s).ask(A, 1, K, 5_s).at(3_s).unlock(B, 2).at(7_s);
  refuse423(unlocked, A, 1);
  expectHeld(unlocked);

  Story lapsed = someRun();
  lapsed.at(1_s).lock(B, 2, Path::virgin, K, 2_s).at(2_s).ask(A, 1, K, 5_s).at(7_s);
  refuse423(lapsed, A, 1);
  expectHeld(lapsed);
}

TEST(ErrorClass, AHandleThatEndedBeforeTheWaitWasNone) {
  Story unlocked = someRun();
  unlocked.at(1_s).lock(B, 2).at(2_s).unlock(B, 2).at(3_s).ask(A, 1, K, 5_s).at(8_s);
  refuse423(unlocked, A, 1);
  expectViolation(unlocked, Checker::errorClass, Anomaly::lockedWithoutHolder);

  Story lapsed = someRun();
  lapsed.at(1_s).lock(B, 2, Path::virgin, K, 1_s).at(3_s).ask(A, 1, K, 5_s).at(8_s);
  refuse423(lapsed, A, 1);
  expectViolation(lapsed, Checker::errorClass, Anomaly::lockedWithoutHolder);
}

TEST(ErrorClass, ADelegationOfAnotherNodeIsAHolderWhileItIsOutstanding) {
  Story outstanding = someRun();
  outstanding.at(1_s).grant(B, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(7_s);
  refuse423(outstanding, A, 1);
  expectHeld(outstanding);

  Story cleared = someRun();
  cleared.at(1_s).grant(B, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(3_s).release(B).at(7_s);
  refuse423(cleared, A, 1);
  expectHeld(cleared);

  const std::function<void(Story&)> ends[] = {
      [](Story& s) { s.release(B); },
      [](Story& s) { s.expire(B); },
      [](Story& s) { s.tell(D, obs::HandBackSeen{K, B, s.token(), true}); },
      [](Story& s) { s.crash(D); },
      [](Story& s) { s.tell(D, obs::CoordinatorReplaced{}); },
  };
  for (const auto& end : ends) {
    Story before = someRun();
    before.at(1_s).grant(B, Path::virgin).at(2_s);
    end(before);
    before.at(3_s).ask(A, 1, K, 5_s).at(8_s);
    refuse423(before, A, 1);
    expectViolation(before, Checker::errorClass, Anomaly::lockedWithoutHolder);
  }
}

TEST(ErrorClass, AReleaseOrAHandBackThatClearedNothingLeavesTheHolder) {
  const obs::Observation ignored[] = {obs::ReleaseSeen{K, B, {1, 1, 0}, false},
                                      obs::HandBackSeen{K, B, {1, 1, 0}, false}};
  for (const obs::Observation& end : ignored) {
    Story story = someRun();
    story.at(1_s).grant(B, Path::virgin).tell(D, end).at(3_s).ask(A, 1, K, 5_s).at(8_s);
    refuse423(story, A, 1);
    expectHeld(story);
  }
}

TEST(ErrorClass, WhatEndedInTheInstantOfTheRequestWasDuringTheWait) {
  Story unlocked = someRun();
  unlocked.at(1_s).lock(B, 2).at(3_s).unlock(B, 2).ask(A, 1, K, 5_s).at(8_s);
  refuse423(unlocked, A, 1);
  expectHeld(unlocked);

  Story lapsed = someRun();
  lapsed.at(1_s).lock(B, 2, Path::virgin, K, 2_s).at(3_s).ask(A, 1, K, 5_s).at(8_s);
  refuse423(lapsed, A, 1);
  expectHeld(lapsed);

  Story granted = someRun();
  granted.at(1_s).grant(B, Path::virgin).at(3_s).release(B).ask(A, 1, K, 5_s).at(8_s);
  refuse423(granted, A, 1);
  expectHeld(granted);
}

TEST(ErrorClass, AnInstallationEndsTheWordOfEarlierHolders) {
  const auto install = [](Story& story, std::uint32_t number) {
    story.tell(A, obs::MembershipInstalled{number, {}, 1, {}, 0_s});
  };
  Story before = someRun();
  before.at(1_s).lock(B, 2).at(2_s).ask(A, 1, K, 5_s).at(3_s).unlock(B, 2).at(4_s);
  install(before, 2);
  before.at(7_s);
  refuse423(before, A, 1);
  expectViolation(before, Checker::errorClass, Anomaly::lockedWithoutHolder);

  Story same = someRun();
  same.at(1_s).grant(B, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(4_s);
  install(same, 1);
  same.at(7_s);
  refuse423(same, A, 1);
  expectHeld(same);
}

TEST(ErrorClass, TheLastTwoDelegatesOfAWaitAreRemembered) {
  Story released = someRun();
  released.at(1_s).grant(B, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(3_s).release(B);
  released.grant(A, Path::clean).at(4_s).release(A).at(7_s);
  refuse423(released, A, 1);
  expectHeld(released);

  Story replaced = someRun();
  replaced.at(1_s).grant(B, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(3_s).grant(A, Path::clean).at(7_s);
  refuse423(replaced, A, 1);
  expectHeld(replaced);

  Story own = someRun();
  own.at(1_s).grant(A, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(3_s).release(A).at(7_s);
  refuse423(own, A, 1);
  expectViolation(own, Checker::errorClass, Anomaly::lockedWithoutHolder);
}

TEST(ErrorClass, TheCrashOfAnotherNodeLeavesTheHomesGrants) {
  Story story = someRun();
  story.at(1_s).grant(B, Path::virgin).crash(C).at(2_s).ask(A, 1, K, 5_s).at(7_s);
  refuse423(story, A, 1);
  expectHeld(story);
}

TEST(ErrorClass, ACallIsNotItsOwnHolder) {
  Story story = someRun();
  story.at(1_s).lock(A, 1).at(2_s);
  refuse423(story, A, 1);
  expectViolation(story, Checker::errorClass, Anomaly::lockedWithoutHolder);
}

TEST(ErrorClass, TheNewsOfAHolderMayBeAsOldAsTheSlack) {
  CheckerOptions options = onlyErrors();
  options.holderSlack = 1_s;
  Story story(options);
  story.at(0_s).lock(C, 100, Path::virgin, K2).at(1_s).grant(B, Path::virgin).at(2_s).release(B);
  story.at(3_s).ask(A, 1, K, 5_s).at(8_s);
  refuse423(story, A, 1);
  expectHeld(story);
}

TEST(ErrorClass, TheOwnNodesDelegationCountsOnlyForAFollower) {
  Story alone = someRun();
  alone.at(1_s).grant(A, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(7_s);
  refuse423(alone, A, 1);
  expectViolation(alone, Checker::errorClass, Anomaly::lockedWithoutHolder);

  Story follower = someRun();
  follower.at(1_s).grant(A, Path::virgin).at(2_s).ask(A, 2, K, 50_s).ask(A, 1, K, 5_s).at(7_s);
  refuse423(follower, A, 1).admit(A, 2);
  expectHeld(follower);

  Story recalled = someRun();
  recalled.at(1_s).grant(A, Path::virgin).tell(D, obs::RecallSent{K, A, recalled.token()});
  recalled.at(2_s).ask(A, 1, K, 5_s).at(7_s);
  refuse423(recalled, A, 1);
  expectViolation(recalled, Checker::errorClass, Anomaly::lockedWithoutHolder);

  Story named = someRun();
  named.at(1_s).grant(A, Path::virgin).at(2_s).ask(A, 1, K, 5_s).at(7_s);
  named.refuse(A, 1, ErrorClass::lockUnavailable503, Cause::ownGrant);
  expectHeld(named);
}

// ---- 503 --------------------------------------------------------------------------------------------------

TEST(ErrorClass, A503NamesItsCause) {
  const Cause causes[] = {Cause::noMembership, Cause::homeUnreachable, Cause::homeNoMembership,
                          Cause::quarantine,   Cause::notHome,         Cause::notMember,
                          Cause::membership,   Cause::fence,           Cause::unsatisfiable,
                          Cause::barrier,      Cause::capacity,        Cause::shutdown,
                          Cause::disabled,     Cause::version,         Cause::malformed};
  std::uint32_t call = 0;
  Story story = someRun();
  for (const Cause cause : causes) {
    ++call;
    story.at(seconds(call)).ask(A, call).refuse(A, call, ErrorClass::lockUnavailable503, cause);
  }
  expectHeld(story);
}

TEST(ErrorClass, AnErrorOfTheWrongClassIsAViolation) {
  const std::pair<ErrorClass, Cause> wrong[] = {
      {ErrorClass::lockUnavailable503, Cause::contended}, {ErrorClass::lockUnavailable503, Cause::none},
      {ErrorClass::locked423, Cause::quarantine},         {ErrorClass::locked423, Cause::homeUnreachable},
      {ErrorClass::conflict409, Cause::expired},          {ErrorClass::none, Cause::none},
      {ErrorClass::lockUnavailable503, Cause::revoked},
  };
  for (const auto& [error, cause] : wrong) {
    Story story = someRun();
    story.at(1_s).grant(B, Path::virgin).ask(A, 1).at(2_s).refuse(A, 1, error, cause);
    const Finding finding = expectViolation(story, Checker::errorClass, Anomaly::wrongErrorClass);
    EXPECT_EQ(finding.detail, static_cast<std::uint8_t>(cause));
  }
}

// ---- 409 --------------------------------------------------------------------------------------------------

TEST(ErrorClass, A409ThroughADeadHandleHolds) {
  Story expired(onlyErrors());
  expired.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(10_s).refuseWrite(A, 1, 1, Cause::expired);
  expectHeld(expired);

  Story revoked(onlyErrors());
  revoked.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(1_s).revoke(A, 1).refuseWrite(A, 1, 1, Cause::revoked);
  expectHeld(revoked);

  Story crashed(onlyErrors());
  crashed.at(0_s)
      .lock(A, 1)
      .at(1_s)
      .crash(A)
      .restart(A)
      .put(A, 1, 1, 5)
      .refuseWrite(A, 1, 1, Cause::unknownHandle);
  expectHeld(crashed);

  Story recreated(onlyErrors());
  recreated.at(0_s).lock(A, 1).at(1_s).tell(A, obs::CoordinatorReplaced{}).put(A, 1, 1, 5);
  recreated.refuseWrite(A, 1, 1, Cause::unknownHandle);
  expectHeld(recreated);

  Story unheard = someRun();
  unheard.at(1_s).refuseWrite(A, 1, 77, Cause::unknownHandle);
  expectHeld(unheard);
}

TEST(ErrorClass, AReentryThroughALiveHandleIsNotRefused) {
  Story story(onlyErrors());
  story.at(0_s).lock(A, 1).at(9_s).refuse(A, 1, ErrorClass::conflict409, Cause::expired);
  expectViolation(story, Checker::errorClass, Anomaly::conflictOnLiveHandle);
}

TEST(ErrorClass, AHandleIsKnownWhereItWasAdmitted) {
  Story elsewhere(onlyErrors());
  elsewhere.at(0_s).lock(A, 1).put(B, 1, 1, 5).refuseWrite(B, 1, 1, Cause::unknownHandle);
  expectHeld(elsewhere);

  for (const Cause cause : {Cause::unknownHandle, Cause::revoked}) {
    Story waiting = someRun();
    waiting.at(1_s).ask(A, 1).put(A, 1, 1, 5).refuseWrite(A, 1, 1, cause);
    expectHeld(waiting);
  }
}

TEST(ErrorClass, A409ThroughALiveHandleIsAViolation) {
  for (const Cause cause : {Cause::expired, Cause::revoked, Cause::unknownHandle}) {
    Story story(onlyErrors());
    story.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(9_s).refuseWrite(A, 1, 1, cause);
    const Finding finding = expectViolation(story, Checker::errorClass, Anomaly::conflictOnLiveHandle);
    EXPECT_EQ(finding.observed, (9_s).ns);
    EXPECT_EQ(finding.expected, (10_s).ns);
  }
}

TEST(ErrorClass, A409ThroughAnUnlockedHandleInsideItsLeaseIsAViolation) {
  Story story(onlyErrors());
  story.at(0_s).lock(A, 1).put(A, 1, 1, 5).unlock(A, 1).at(9_s).refuseWrite(A, 1, 1, Cause::revoked);
  EXPECT_EQ(expectViolation(story, Checker::errorClass, Anomaly::conflictOnLiveHandle).rule(), "LH-4");
}

TEST(ErrorClass, StagingAfterTheUnlockMayBeRefused) {
  Story story(onlyErrors());
  story.at(0_s).lock(A, 1).unlock(A, 1).at(1_s).refuseWrite(A, 1, 1, Cause::unknownHandle);
  expectHeld(story);
}

TEST(ErrorClass, TheCauseOfA409MustBeTheRightOne) {
  Story story(onlyErrors());
  story.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(1_s).revoke(A, 1).refuseWrite(A, 1, 1, Cause::expired);
  expectViolation(story, Checker::errorClass, Anomaly::conflictOnLiveHandle);
}

TEST(ErrorClass, ALapsedHandleIsNotCalledRevoked) {
  Story story(onlyErrors());
  story.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(10_s).refuseWrite(A, 1, 1, Cause::revoked);
  expectViolation(story, Checker::errorClass, Anomaly::conflictOnLiveHandle);
}

TEST(ErrorClass, WhatWasStagedUnderAnotherHandleIsNoneOfTheUnlockedOnes) {
  Story story(onlyErrors());
  story.at(0_s).lock(A, 1).unlock(A, 1).lock(A, 2).put(A, 1, 2, 5).refuseWrite(A, 1, 1, Cause::unknownHandle);
  expectHeld(story);
}

TEST(ErrorClass, AnUnlockedWriteIsNeverGated) {
  Story gated = someRun();
  gated.at(1_s).put(A, 1, 0, 5).refuseWrite(A, 1, 0, Cause::expired);
  expectViolation(gated, Checker::errorClass, Anomaly::wrongErrorClass);

  Story contended = someRun();
  contended.at(1_s).put(A, 1, 0, 5).refuseWrite(A, 1, 0, Cause::contended);
  expectViolation(contended, Checker::errorClass, Anomaly::wrongErrorClass);
}

TEST(ErrorClass, ATransactionThatTheNodeDoesNotKnowMayBeRefused) {
  Story lost = someRun();
  lost.at(1_s).put(A, 1, 0, 5).crash(A).at(2_s).restart(A).refuseWrite(A, 1, 0, Cause::unknownHandle);
  expectHeld(lost);

  Story twice = someRun();
  twice.at(1_s).put(A, 1, 0, 5).submit(A, 1).refuseWrite(A, 1, 0, Cause::unknownHandle).settle(A, 1);
  expectHeld(twice);
}

TEST(ErrorClass, ANodeNeedNotKnowWhatItNeverHadOrHasRefused) {
  Story unstaged = someRun();
  unstaged.at(1_s).refuseWrite(A, 1, 0, Cause::unknownHandle);
  expectHeld(unstaged);

  Story elsewhere = someRun();
  elsewhere.at(1_s).put(A, 1, 0, 5).refuseWrite(B, 1, 0, Cause::unknownHandle);
  expectHeld(elsewhere);

  Story refused(onlyErrors());
  refused.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(10_s).refuseWrite(A, 1, 1, Cause::expired);
  refused.refuseWrite(A, 1, 0, Cause::unknownHandle);
  expectHeld(refused);
}

TEST(ErrorClass, AWriteIsRefusedForTheReasonsOfWritesOnly) {
  const auto refused = [](ErrorClass error, Cause cause) {
    Story story(onlyErrors());
    story.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(10_s);
    return story.tell(A, obs::WriteRefused{{1}, {1}, K, error, cause});
  };
  for (const Cause cause : {Cause::malformed, Cause::shutdown}) {
    Story story = refused(ErrorClass::lockUnavailable503, cause);
    expectHeld(story);
  }
  Story ofACall = refused(ErrorClass::lockUnavailable503, Cause::capacity);
  expectViolation(ofACall, Checker::errorClass, Anomaly::wrongErrorClass);
  Story misnamed = refused(ErrorClass::conflict409, Cause::contended);
  expectViolation(misnamed, Checker::errorClass, Anomaly::wrongErrorClass);
}

TEST(ErrorClass, ACommitThatFailsForGoodIsNoLockError) {
  Story story(onlyErrors());
  story.at(0_s).lock(A, 1).put(A, 1, 1, 5).submit(A, 1);
  story.tell(A, obs::WriteRefused{{1}, {1}, K, ErrorClass::none, Cause::aborted});
  expectHeld(story);

  Story disguised(onlyErrors());
  disguised.at(0_s).lock(A, 1).put(A, 1, 1, 5).submit(A, 1);
  disguised.tell(A, obs::WriteRefused{{1}, {1}, K, ErrorClass::locked423, Cause::contended});
  expectViolation(disguised, Checker::errorClass, Anomaly::wrongErrorClass);
}

}  // namespace
}  // namespace holdfast::checkers::testing
