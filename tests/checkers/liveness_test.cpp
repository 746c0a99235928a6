// S-70: after healing every key can be obtained again within the bound.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

/// Healed at 100 s, with a bound of 20 s.
Story healed(Duration bound = 20_s) {
  CheckerOptions options = CheckerOptions{}.only(Checker::liveness);
  options.livenessBound = bound;
  Story story(options);
  story.at(0_s).phase(Phase::faults).lock(A, 100, Path::virgin, K2).at(100_s).phase(Phase::healed);
  return story;
}

TEST(Liveness, AKeyObtainedAfterTheBoundHolds) {
  Story story = healed();
  story.at(121_s).lock(A, 1, Path::recovery);
  expectHeld(story);
}

TEST(Liveness, A503AfterTheBoundIsAViolation) {
  Story story = healed();
  story.at(121_s).ask(A, 1).refuse(A, 1, ErrorClass::lockUnavailable503, Cause::homeUnreachable);
  story.at(122_s).lock(A, 2, Path::recovery);
  const Finding finding = expectViolation(story, Checker::liveness, Anomaly::refusedAfterHealing);
  EXPECT_EQ(finding.severity, Severity::liveness);
  EXPECT_EQ(finding.observed, (21_s).ns);
  EXPECT_EQ(finding.expected, (20_s).ns);
}

TEST(Liveness, A503BeforeTheBoundIsNone) {
  Story story = healed();
  story.at(119_s).ask(A, 1).at(125_s).refuse(A, 1, ErrorClass::lockUnavailable503, Cause::quarantine);
  expectHeld(story);
}

TEST(Liveness, CausesThatHealingDoesNotMendAreExcused) {
  std::uint32_t call = 0;
  Story story = healed();
  story.at(121_s);
  for (const Cause cause : {Cause::capacity, Cause::shutdown, Cause::disabled, Cause::version,
                            Cause::malformed, Cause::notMember}) {
    ++call;
    story.ask(A, call).refuse(A, call, ErrorClass::lockUnavailable503, cause);
  }
  expectHeld(story);
}

TEST(Liveness, AFenceThatAHoleBlocksIsExcusedAndNoOther) {
  Story hole = healed();
  hole.put(B, 1, 0, 5).commit(B, 1).fail(A, B).at(121_s).ask(A, 1);
  hole.refuse(A, 1, ErrorClass::lockUnavailable503, Cause::unsatisfiable);
  expectHeld(hole);

  Story none = healed();
  none.at(121_s).ask(A, 1).refuse(A, 1, ErrorClass::lockUnavailable503, Cause::unsatisfiable);
  expectViolation(none, Checker::liveness, Anomaly::refusedAfterHealing);
}

TEST(Liveness, WhoWaitedBehindAHolderMayBeToldOfItsOwnNodesGrant) {
  Story behind = healed();
  behind.at(121_s).lock(A, 1, Path::virgin).ask(A, 2).at(122_s).unlock(A, 1);
  behind.refuse(A, 2, ErrorClass::lockUnavailable503, Cause::ownGrant);
  expectHeld(behind);

  Story lapsed = healed();  // nobody unlocked: the section ended with its lease
  lapsed.at(121_s).lock(A, 1, Path::virgin, K, 2_s).ask(A, 2);
  lapsed.at(124_s).refuse(A, 2, ErrorClass::lockUnavailable503, Cause::ownGrant);
  expectHeld(lapsed);

  Story afterwards = healed();
  afterwards.at(121_s).lock(A, 1, Path::virgin, K, 2_s).at(124_s).ask(A, 2);
  afterwards.at(125_s).refuse(A, 2, ErrorClass::lockUnavailable503, Cause::ownGrant);
  expectViolation(afterwards, Checker::liveness, Anomaly::refusedAfterHealing);

  Story behindAnother = healed();
  behindAnother.at(121_s).lock(B, 1, Path::virgin).ask(A, 2).at(122_s).unlock(B, 1);
  behindAnother.refuse(A, 2, ErrorClass::lockUnavailable503, Cause::ownGrant);
  expectViolation(behindAnother, Checker::liveness, Anomaly::refusedAfterHealing);

  Story alone = healed();
  alone.at(121_s).lock(A, 1, Path::virgin).unlock(A, 1).at(122_s).ask(A, 2);
  alone.at(123_s).refuse(A, 2, ErrorClass::lockUnavailable503, Cause::ownGrant);
  expectViolation(alone, Checker::liveness, Anomaly::refusedAfterHealing);
}

TEST(Liveness, WhoWaitedBehindAnotherNodesHolderIsNotJudged) {
  const auto refused = [](Duration lease, ErrorClass error, Cause cause) {
    Story story = healed();
    story.at(119_s)
        .lock(B, 2, Path::virgin, K, lease)
        .at(121_s)
        .ask(A, 1)
        .at(124_s)
        .refuse(A, 1, error, cause);
    return story;
  };
  Story held = refused(10_s, ErrorClass::locked423, Cause::contended);
  expectHeld(held);
  Story recovering = refused(4_s, ErrorClass::lockUnavailable503, Cause::barrier);
  expectHeld(recovering);

  Story longPast = refused(2900_ms, ErrorClass::locked423, Cause::contended);
  expectViolation(longPast, Checker::liveness, Anomaly::keyNotObtainable);
  Story stuck = refused(1_s, ErrorClass::locked423, Cause::contended);
  expectViolation(stuck, Checker::liveness, Anomaly::keyNotObtainable);
  Story endless = refused(1_s, ErrorClass::lockUnavailable503, Cause::barrier);
  expectViolation(endless, Checker::liveness, Anomaly::refusedAfterHealing);
  Story unreachable = refused(10_s, ErrorClass::lockUnavailable503, Cause::homeUnreachable);
  expectViolation(unreachable, Checker::liveness, Anomaly::refusedAfterHealing);
}

TEST(Liveness, AKeyThatNobodyEverObtainsIsAViolation) {
  Story story = healed();
  story.at(121_s).ask(A, 1).at(151_s).refuse(A, 1, ErrorClass::locked423, Cause::contended);
  const Finding finding = expectViolation(story, Checker::liveness, Anomaly::keyNotObtainable);
  EXPECT_EQ(finding.key, K);
  EXPECT_EQ(finding.observed, 1);

  Story obtained = healed();
  obtained.at(121_s).lock(B, 2).ask(A, 1).at(151_s).refuse(A, 1, ErrorClass::locked423, Cause::contended);
  expectHeld(obtained);
}

TEST(Liveness, WithoutABoundNothingIsJudged) {
  Story story = healed(0_s);
  story.at(500_s).ask(A, 1).refuse(A, 1, ErrorClass::lockUnavailable503, Cause::homeUnreachable);
  expectHeld(story);
}

TEST(Liveness, WithoutHealingNothingIsJudged) {
  CheckerOptions options = CheckerOptions{}.only(Checker::liveness);
  options.livenessBound = 1_s;
  Story story(options);
  story.at(0_s).phase(Phase::faults).lock(A, 100, Path::virgin, K2).at(50_s).ask(A, 1);
  story.refuse(A, 1, ErrorClass::lockUnavailable503, Cause::homeUnreachable).phase(Phase::end);
  expectHeld(story);
}

}  // namespace
}  // namespace holdfast::checkers::testing
