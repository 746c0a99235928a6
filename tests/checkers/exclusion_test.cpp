// X-1 and the rules about dead authority, over hand-made histories.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

CheckerOptions onlyExclusion() { return CheckerOptions{}.only(Checker::exclusion); }

TEST(Exclusion, OneAfterTheOtherHolds) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).at(1_s).unlock(A, 1).at(1_s).lock(B, 2, Path::clean).at(2_s).unlock(B, 2);
  expectHeld(story);
}

TEST(Exclusion, TwoNodesInsideIsAViolation) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).at(5_s).lock(B, 2, Path::clean);
  const Finding finding = expectViolation(story, Checker::exclusion, Anomaly::overlappingAdmissions);
  EXPECT_EQ(finding.rule(), "X-1");
  EXPECT_EQ(finding.node, B);
  EXPECT_EQ(finding.other, A);
  EXPECT_EQ(finding.call, CallId{2});
  EXPECT_EQ(finding.otherCall, CallId{1});
  EXPECT_EQ(finding.at, TrueInstant{(5_s).ns});
}

TEST(Exclusion, TwoLocalCallersInsideIsAViolation) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).at(1_s).lock(A, 2);
  EXPECT_EQ(expectViolation(story, Checker::exclusion, Anomaly::overlappingAdmissions).other, A);
}

TEST(Exclusion, DifferentKeysDoNotExclude) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1, Path::virgin, K).lock(B, 2, Path::virgin, K2);
  expectHeld(story);
}

TEST(Exclusion, ALeaseEndsAtItsDeadlineExactly) {
  Story at(onlyExclusion());
  at.at(0_s).lock(A, 1).at(10_s).lock(B, 2, Path::recovery);
  expectHeld(at);

  Story before(onlyExclusion());
  before.at(0_s).lock(A, 1).at(9'999'999'999_ns).lock(B, 2, Path::recovery);
  expectViolation(before, Checker::exclusion, Anomaly::overlappingAdmissions);
}

TEST(Exclusion, ASuspendedHolderIsInside) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).at(1_s).tell(A, obs::NodePaused{}).at(2_s).lock(B, 2, Path::recovery);
  EXPECT_EQ(expectViolation(story, Checker::exclusion, Anomaly::overlappingAdmissions).other, A);
}

TEST(Exclusion, InTheNanosecondThatAChangeOfRateHidesNobodyIsBlamed) {
  const auto admittedAt = [](Duration t) {
    Story story(onlyExclusion());
    story.at(0_s).clock(A, 0_s).lock(A, 1).at(5_s).clock(A, 5_s);
    return story.at(t).lock(B, 2, Path::recovery);
  };
  Story unsure = admittedAt(9'999'999'999_ns);
  expectHeld(unsure);
  Story sure = admittedAt(9'999'999'998_ns);
  expectViolation(sure, Checker::exclusion, Anomaly::overlappingAdmissions);
}

TEST(Exclusion, ALeaseIsMeasuredOnTheHoldersOwnClock) {
  // The slow clock of A needs 20 s of true time for a lease of 10 s.
  Story slow(onlyExclusion());
  slow.at(0_s).clock(A, 1000_s, -500'000'000).lock(A, 1).at(15_s).lock(B, 2, Path::recovery);
  EXPECT_EQ(expectViolation(slow, Checker::exclusion, Anomaly::overlappingAdmissions).evidence[2].at,
            TrueInstant{(20_s).ns});

  Story over(onlyExclusion());
  over.at(0_s).clock(A, 1000_s, -500'000'000).lock(A, 1).at(20_s).lock(B, 2, Path::recovery);
  expectHeld(over);
}

TEST(Exclusion, AChangeOfRateInMidLeaseCounts) {
  Story story(onlyExclusion());
  story.at(0_s).clock(A, 0_s).lock(A, 1);
  story.at(5_s).clock(A, 5_s, -500'000'000);  // the remaining 5 s take 10 s
  story.at(14_s).lock(B, 2, Path::recovery);
  expectViolation(story, Checker::exclusion, Anomaly::overlappingAdmissions);
}

TEST(Exclusion, RevocationAndCrashEndASection) {
  Story revoked(onlyExclusion());
  revoked.at(0_s).lock(A, 1).at(1_s).revoke(A, 1).at(1_s).lock(B, 2, Path::clean);
  expectHeld(revoked);

  Story crashed(onlyExclusion());
  crashed.at(0_s).lock(A, 1).at(1_s).crash(A).at(2_s).lock(B, 2, Path::recovery);
  expectHeld(crashed);
}

TEST(Exclusion, ReplacingTheCoordinatorEndsNoSection) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).at(1_s).tell(A, obs::CoordinatorReplaced{}).at(2_s).lock(A, 2);
  expectViolation(story, Checker::exclusion, Anomaly::overlappingAdmissions);
}

TEST(Exclusion, ReentryExtendsTheSection) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).at(9_s).reenter(A, 1, 10_s).at(12_s).lock(B, 2, Path::recovery);
  expectViolation(story, Checker::exclusion, Anomaly::overlappingAdmissions);
}

TEST(Exclusion, ReentryThroughADeadHandleIsAViolation) {
  const std::pair<std::function<void(Story&)>, Fact> ends[] = {
      {[](Story& story) { story.revoke(A, 1); }, Fact::revoked},
      {[](Story& story) { story.unlock(A, 1); }, Fact::unlocked},
      {[](Story& story) { story.crash(A).restart(A); }, Fact::crashed},
  };
  for (const auto& [end, fact] : ends) {
    Story story(onlyExclusion());
    story.at(0_s).lock(A, 1).at(1_s);
    end(story);
    story.at(2_s).reenter(A, 1, 10_s);
    EXPECT_EQ(expectViolation(story, Checker::exclusion, Anomaly::reenteredAfterEnd).evidence[0].fact, fact);
  }
}

TEST(Exclusion, AHandleThatLapsedDoesNotComeBack) {
  Story inTime(onlyExclusion());
  inTime.at(0_s).lock(A, 1).at(9'999'999'999_ns).reenter(A, 1, 10_s);
  expectHeld(inTime);

  Story late(onlyExclusion());
  late.at(0_s).lock(A, 1).at(10_s).reenter(A, 1, 10_s);
  const Finding finding = expectViolation(late, Checker::exclusion, Anomaly::reenteredAfterEnd);
  EXPECT_EQ(finding.evidence[0].fact, Fact::lapsed);
  EXPECT_EQ(finding.evidence[0].at, TrueInstant{(10_s).ns});

  // By the slow clock of A its ten seconds are not over after fifteen.
  Story slow(onlyExclusion());
  slow.at(0_s).clock(A, 1000_s, -500'000'000).lock(A, 1).at(15_s).reenter(A, 1, 10_s);
  expectHeld(slow);
}

TEST(Exclusion, AHandleThatCameBackAfterItsLapseExcludesOthersAgain) {
  Story beside(onlyExclusion());
  beside.at(0_s).lock(A, 1).at(11_s).lock(B, 2, Path::recovery).at(12_s).reenter(A, 1, 10_s);
  const Finding overlap = expectViolation(beside, Checker::exclusion, Anomaly::overlappingAdmissions);
  EXPECT_EQ(overlap.call, CallId{1});
  EXPECT_EQ(overlap.otherCall, CallId{2});

  Story before(onlyExclusion());
  before.at(0_s).lock(A, 1).at(11_s).lock(B, 2, Path::recovery).unlock(B, 2).at(12_s).reenter(A, 1, 10_s);
  before.at(13_s).lock(B, 3, Path::recovery);
  EXPECT_EQ(expectViolation(before, Checker::exclusion, Anomaly::overlappingAdmissions).call, CallId{3});
}

TEST(Exclusion, AWaiterThatIsLetInByReentryIsAdmittedAsAnyOther) {
  Story beside(onlyExclusion());
  beside.at(0_s).lock(A, 1).at(1_s).ask(A, 2).reenter(A, 2, 10_s);
  EXPECT_EQ(expectViolation(beside, Checker::exclusion, Anomaly::overlappingAdmissions).otherCall, CallId{1});

  Story alone(onlyExclusion());
  alone.at(0_s).lock(A, 1).at(1_s).unlock(A, 1).ask(A, 2).reenter(A, 2, 10_s).at(2_s);
  expectHeld(alone);

  // And it excludes others from then on.
  Story after(onlyExclusion());
  after.at(0_s).ask(A, 1).reenter(A, 1, 10_s).at(2_s).lock(B, 2, Path::clean);
  EXPECT_EQ(expectViolation(after, Checker::exclusion, Anomaly::overlappingAdmissions).otherCall, CallId{1});
}

TEST(Exclusion, NobodyEntersTheHandleOfAnother) {
  Story waiter(onlyExclusion());
  waiter.at(0_s).lock(A, 1).at(1_s).ask(A, 2).reenter(A, 2, 10_s, K, 1);
  const Finding finding = expectViolation(waiter, Checker::exclusion, Anomaly::reenteredByAnother);
  EXPECT_EQ(finding.call, CallId{2});
  EXPECT_EQ(finding.otherCall, CallId{1});
  EXPECT_EQ(waiter.findings().count(Checker::exclusion), 2U) << waiter.told();

  Story left(onlyExclusion());
  left.at(0_s).lock(A, 1).at(1_s).unlock(A, 1).lock(A, 2).at(2_s).reenter(A, 1, 10_s, K, 2);
  EXPECT_EQ(expectViolation(left, Checker::exclusion, Anomaly::reenteredByAnother).otherCall, CallId{2});
}

TEST(Exclusion, AHandleLostInACrashIsNotEnteredAgain) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).at(1_s).crash(A).restart(A).at(2_s).reenter(A, 1, 10_s);
  EXPECT_EQ(expectViolation(story, Checker::exclusion, Anomaly::reenteredAfterEnd).evidence[0].fact,
            Fact::crashed);
}

TEST(Exclusion, SubmittingInsideTheLeaseHolds) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(9'999_ms).submit(A, 1).at(20_s).settle(A, 1);
  expectHeld(story);
}

TEST(Exclusion, SubmittingAfterTheLapseIsAViolation) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(10_s).submit(A, 1);
  const Finding finding = expectViolation(story, Checker::exclusion, Anomaly::submittedAfterLapse);
  EXPECT_EQ(finding.rule(), "LH-3");
  EXPECT_EQ(finding.expected, (10_s).ns);
  EXPECT_EQ(finding.observed, (10_s).ns);
}

TEST(Exclusion, SubmittingAfterARevocationIsAViolationEvenWhenUnlockedBefore) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).put(A, 1, 1, 5).unlock(A, 1).at(1_s).revoke(A, 1, K, true).at(2_s).submit(A, 1);
  EXPECT_EQ(expectViolation(story, Checker::exclusion, Anomaly::submittedAfterRevocation).rule(), "DR-2");
}

TEST(Exclusion, SubmittingThroughAHandleLostInACrashIsAViolation) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).put(A, 1, 1, 5).at(1_s).crash(A).at(2_s).restart(A).submit(A, 1);
  expectViolation(story, Checker::exclusion, Anomaly::submittedWithoutHandle);
}

TEST(Exclusion, SubmittingThroughNoHandleIsAViolation) {
  Story story(onlyExclusion());
  story.at(0_s).lock(A, 1).put(A, 1, 7, 5).submit(A, 1);
  expectViolation(story, Checker::exclusion, Anomaly::submittedWithoutHandle);
}

TEST(Exclusion, SubmittingThroughAnotherNodesHandleOrAWaitingCallIsAViolation) {
  Story others(onlyExclusion());
  others.at(0_s).lock(A, 1).put(B, 1, 1, 5).submit(B, 1);
  EXPECT_EQ(expectViolation(others, Checker::exclusion, Anomaly::submittedWithoutHandle).node, B);

  Story waiting(onlyExclusion());
  waiting.at(0_s).lock(A, 1).ask(A, 2).put(A, 1, 2, 5).submit(A, 1);
  EXPECT_EQ(expectViolation(waiting, Checker::exclusion, Anomaly::submittedWithoutHandle).call, CallId{2});

  Story unlocked(onlyExclusion());
  unlocked.at(0_s).lock(A, 1).put(B, 1, 0, 5).submit(B, 1);
  expectHeld(unlocked);
}

TEST(Exclusion, ARetryNeedsLiveAuthorityUnlessTold) {
  const auto tell = [](CheckerOptions options) {
    Story story(options);
    story.at(0_s).lock(A, 1).put(A, 1, 1, 5).submit(A, 1).at(1_s).revoke(A, 1);
    story.tell(A, obs::AttemptAborted{{1}, 1}).submit(A, 1, 2);
    return story;
  };
  Story judged = tell(onlyExclusion());
  expectViolation(judged, Checker::exclusion, Anomaly::submittedAfterRevocation);
  CheckerOptions lenient = onlyExclusion();
  lenient.judgeRetries = false;
  Story excused = tell(lenient);
  expectHeld(excused);
}

TEST(Exclusion, AdmittingWithoutAMembershipIsAViolation) {
  const auto renewed = [](NodeId node, Duration until) {
    Story story(onlyExclusion());
    story.at(0_s).tell(node, obs::MembershipRenewed{1, {until.ns}});
    return story;
  };
  Story live = renewed(A, 20_s);
  live.at(1_s).lock(A, 1);
  expectHeld(live);

  Story other = renewed(B, 20_s);
  other.at(1_s).lock(A, 1);
  expectViolation(other, Checker::exclusion, Anomaly::admittedWithoutMembership);

  Story passed = renewed(A, 20_s);
  passed.at(20_s).lock(A, 1, Path::cached, K, 0_s);
  EXPECT_EQ(expectViolation(passed, Checker::exclusion, Anomaly::admittedWithoutMembership).rule(), "EP-6");

  Story lapsed = renewed(A, 20_s);
  lapsed.at(5_s).tell(A, obs::MembershipLapsed{1}).at(6_s).lock(A, 1);
  expectViolation(lapsed, Checker::exclusion, Anomaly::admittedWithoutMembership);

  Story never(onlyExclusion());
  never.at(0_s).lock(A, 1);
  expectHeld(never);
}

TEST(Exclusion, AHomeGrantsToMembersOnly) {
  const auto granted = [](std::uint64_t members) {
    CheckerOptions options = onlyExclusion();
    options.members = members;
    Story story(options);
    story.at(1_s).grant(B, Path::virgin).lock(B, 1, Path::virgin);
    return story;
  };
  Story member = granted(0b1010);
  expectHeld(member);
  Story stranger = granted(0b1001);
  const Finding finding = expectViolation(stranger, Checker::exclusion, Anomaly::grantedToStranger);
  EXPECT_EQ(finding.rule(), "DG-2");
  EXPECT_EQ(finding.node, D);
  EXPECT_EQ(finding.other, B);
  Story untold = granted(0);
  expectHeld(untold);
}

TEST(Exclusion, AHandleIsBoundedByMembershipAndDelegation) {
  Story within(onlyExclusion());
  within.at(0_s).tell(A, obs::MembershipRenewed{1, {(8_s).ns}}).lock(A, 1, Path::virgin, K, 8_s);
  expectHeld(within);

  Story membership(onlyExclusion());
  membership.at(0_s).tell(A, obs::MembershipRenewed{1, {(8_s).ns}}).lock(A, 1, Path::virgin, K, 9_s);
  EXPECT_EQ(expectViolation(membership, Checker::exclusion, Anomaly::leaseBeyondBound).rule(), "LH-2");

  Story delegation(onlyExclusion());
  delegation.at(0_s).tell(A, obs::Installed{K, {1, 1, 1}, Path::virgin, false, {(8_s).ns}}).lock(A, 1);
  expectViolation(delegation, Checker::exclusion, Anomaly::leaseBeyondBound);

  Story upgrade(onlyExclusion());
  upgrade.at(0_s).tell(A, obs::Installed{K, {1, 1, 1}, Path::virgin, false, {(15_s).ns}}).lock(A, 1);
  upgrade.at(9_s).reenter(A, 1, 10_s);
  expectViolation(upgrade, Checker::exclusion, Anomaly::leaseBeyondBound);
}

TEST(Exclusion, AHandleIsBoundedByTheShorterOfTheNodesOwnBounds) {
  const auto install = [](Story& story, NodeId node, Duration until) {
    story.tell(node, obs::Installed{K, {1, 1, 1}, Path::virgin, false, {until.ns}});
  };
  Story longer(onlyExclusion());
  longer.at(0_s).tell(A, obs::MembershipRenewed{1, {(8_s).ns}});
  install(longer, A, 15_s);
  longer.lock(A, 1, Path::virgin, K, 9_s);
  EXPECT_EQ(expectViolation(longer, Checker::exclusion, Anomaly::leaseBeyondBound).expected, (8_s).ns);

  Story others(onlyExclusion());
  others.at(0_s);
  install(others, A, 30_s);
  install(others, B, 8_s);
  others.lock(A, 1, Path::virgin, K, 9_s);
  expectHeld(others);

  Story own(onlyExclusion());
  own.at(0_s);
  install(own, A, 8_s);
  install(own, B, 30_s);
  own.lock(A, 1, Path::virgin, K, 9_s);
  expectViolation(own, Checker::exclusion, Anomaly::leaseBeyondBound);

  Story renewed(onlyExclusion());
  renewed.at(0_s);
  install(renewed, A, 8_s);
  install(renewed, A, 30_s);
  renewed.lock(A, 1, Path::virgin, K, 9_s);
  expectHeld(renewed);

  CheckerOptions lenient = onlyExclusion();
  lenient.judgeHandleBounds = false;
  Story untold(lenient);
  untold.at(0_s);
  install(untold, A, 8_s);
  untold.lock(A, 1, Path::virgin, K, 9_s);
  expectHeld(untold);
}

TEST(Exclusion, TokensOfAKeyIncrease) {
  Story rising(onlyExclusion());
  rising.at(0_s).grant(A, Path::virgin).grant(B, Path::clean).nextIncarnation().grant(A, Path::recovery);
  rising.lock(A, 1, Path::recovery);
  expectHeld(rising);

  Story repeated(onlyExclusion());
  repeated.at(0_s).tell(D, obs::Granted{K, A, {1, 1, 4}, Path::virgin, false, 60_s});
  repeated.tell(D, obs::Granted{K, B, {1, 1, 4}, Path::clean, false, 60_s});
  EXPECT_EQ(expectViolation(repeated, Checker::exclusion, Anomaly::tokenNotIncreasing).rule(), "TK-1");

  Story older(onlyExclusion());
  older.at(0_s).tell(D, obs::Granted{K, A, {1, 2, 1}, Path::virgin, false, 60_s});
  older.tell(D, obs::Granted{K, B, {1, 1, 9}, Path::clean, false, 60_s});
  expectViolation(older, Checker::exclusion, Anomaly::tokenNotIncreasing);
}

TEST(Exclusion, TokensAreComparedAcrossHomesOnceTheMembershipChanged) {
  const auto granted = [](const Token& first, const Token& second) {
    Story story(onlyExclusion());
    story.at(0_s).tell(D, obs::Granted{K, A, first, Path::virgin, false, 60_s});
    story.tell(C, obs::Granted{K, B, second, Path::clean, false, 60_s});
    return story.lock(B, 1, Path::clean);
  };
  Story older = granted({2, 1, 1}, {1, 9, 9});
  EXPECT_EQ(expectViolation(older, Checker::exclusion, Anomaly::tokenNotIncreasing).node, C);
  Story newer = granted({1, 9, 9}, {2, 1, 1});
  expectHeld(newer);
  Story ofOne = granted({1, 2, 1}, {1, 1, 1});  // each of the two has incarnations of its own
  expectHeld(ofOne);
}

TEST(Exclusion, ATokenIsComparedWithTheGreatest) {
  Story story(onlyExclusion());
  for (const std::uint64_t counter : {4U, 2U, 3U, 5U}) {
    story.tell(D, obs::Granted{K, A, {1, 1, counter}, Path::virgin, false, 60_s});
  }
  expectViolation(story, Checker::exclusion, Anomaly::tokenNotIncreasing);
  EXPECT_EQ(story.findings().count(Checker::exclusion), 2U) << story.told();
}

TEST(Exclusion, AQuarantineIsTheHomesOwnUnlessItIsWaived) {
  Story others(onlyExclusion());
  others.at(0_s).tell(C, obs::CoordinatorStarted{2, true, {(10_s).ns}}).grant(A, Path::virgin).lock(A, 1);
  expectHeld(others);

  Story waived(onlyExclusion());
  waived.at(0_s).tell(D, obs::CoordinatorStarted{1, false, {(10_s).ns}}).grant(A, Path::virgin).lock(A, 1);
  expectHeld(waived);
}

TEST(Exclusion, AHomeInQuarantineGrantsNothing) {
  Story early(onlyExclusion());
  early.at(0_s).tell(D, obs::CoordinatorStarted{2, true, {(10_s).ns}}).at(9_s).grant(A, Path::recovery);
  EXPECT_EQ(expectViolation(early, Checker::exclusion, Anomaly::grantedInQuarantine).rule(), "DG-9");

  Story waited(onlyExclusion());
  waited.at(0_s).tell(D, obs::CoordinatorStarted{2, true, {(10_s).ns}}).at(10_s).grant(A, Path::recovery);
  waited.lock(A, 1, Path::recovery);
  expectHeld(waited);

  Story waived(onlyExclusion());
  waived.at(0_s).tell(D, obs::CoordinatorStarted{1, false, {}}).grant(A, Path::virgin).lock(A, 1);
  expectHeld(waived);
}

}  // namespace
}  // namespace holdfast::checkers::testing
