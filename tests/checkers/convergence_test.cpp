// LW-3 at the end of a run: replicas agree, and each holds the fold of what it applied.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

CheckerOptions onlyConvergence() { return CheckerOptions{}.only(Checker::convergence); }

/// A and B commit a write each at the same time, B's wins; everything is applied; the run is healed and over.
Story afterTwoWrites(bool applyAtA = true) {
  Story story(onlyConvergence());
  story.at(1_s).lock(C, 1, Path::virgin, K2);  // so that the run is not empty
  story.put(A, 1, 0, 10).put(B, 2, 0, 20).commit(A, 1).commit(B, 2).apply(B, A);
  if (applyAtA) story.apply(A, B);
  story.at(2_s).phase(Phase::healed).at(3_s).phase(Phase::end);
  return story;
}

TEST(Convergence, EqualReplicasHold) {
  Story story = afterTwoWrites();
  story.endsWith(A, 2).endsWith(B, 2);
  expectHeld(story);
}

TEST(Convergence, ReplicasThatDifferAlthoughAllIsAppliedAreAViolation) {
  Story story = afterTwoWrites();
  story.endsWith(A, 1).endsWith(B, 2);
  const Finding finding = expectViolation(story, Checker::convergence, Anomaly::replicasDiffer);
  EXPECT_EQ(finding.severity, Severity::safety);
  EXPECT_EQ(finding.observed, 20);
  EXPECT_EQ(finding.expected, 10);
  const Finding resolution = expectViolation(story, Checker::convergence, Anomaly::wrongResolution);
  EXPECT_EQ(resolution.node, A);
  EXPECT_EQ(resolution.expected, 20);
}

TEST(Convergence, ReplicasDifferInAnyFieldAndByTheWriterAlone) {
  Story field = afterTwoWrites();
  field.endsWith(A, 2).ends(B, field.contentOf(2).with(2, 2, 7));
  EXPECT_EQ(expectViolation(field, Checker::convergence, Anomaly::replicasDiffer).field, 2);

  Story writer = afterTwoWrites();
  writer.ends(A, writer.contentOf(2).with(1, 1, 0)).endsWith(B, 2);
  EXPECT_EQ(expectViolation(writer, Checker::convergence, Anomaly::replicasDiffer).field, 1);
  EXPECT_EQ(writer.findings().first(Anomaly::wrongResolution)->field, 1);
}

TEST(Convergence, EachKeyIsComparedWithItself) {
  Story story = afterTwoWrites();
  story.endsWith(A, 2).ends(A, {}, K2).endsWith(B, 2).ends(B, {}, K2);
  expectHeld(story);
}

TEST(Convergence, WhoeverComesFirstMayBeTheOneThatLags) {
  Story lags = afterTwoWrites(false);
  lags.endsWith(B, 2).endsWith(A, 1);
  const Finding finding = expectViolation(lags, Checker::convergence, Anomaly::replicationBehind);
  EXPECT_EQ(finding.node, A);
  EXPECT_EQ(finding.other, B);

  Story hole = afterTwoWrites(false);
  hole.fail(A, B).endsWith(B, 2).endsWith(A, 1);
  expectHeld(hole);
  EXPECT_EQ(hole.checkers().unjudgedReplicas(), 1U);
}

TEST(Convergence, ALogIsAppliedToItsEndWithItsControlEntries) {
  Story release = afterTwoWrites();
  release.appendRelease(A).endsWith(A, 2).endsWith(B, 1);
  EXPECT_EQ(expectViolation(release, Checker::convergence, Anomaly::wrongResolution).node, B);
  ASSERT_NE(release.findings().first(Anomaly::replicationBehind), nullptr);
  EXPECT_EQ(release.findings().first(Anomaly::replicationBehind)->expected, 2);

  Story aborted = afterTwoWrites();
  aborted.tell(A, obs::Settled{{9}, false, false, 7}).endsWith(A, 2).endsWith(B, 1);
  expectViolation(aborted, Checker::convergence, Anomaly::replicasDiffer);
  EXPECT_EQ(aborted.findings().first(Anomaly::replicationBehind), nullptr)
      << "an abort has no place in a log";
}

TEST(Convergence, AHealedRunThatWasCutShortOwesNoAgreement) {
  Story story(onlyConvergence());
  story.at(1_s).lock(C, 1, Path::virgin, K2).put(A, 1, 0, 10).commit(A, 1);
  story.phase(Phase::healed).at(3_s).endsWith(A, 1).ends(B, {});
  expectHeld(story);
}

TEST(Convergence, AReplicaThatLagsIsALivenessViolation) {
  Story story = afterTwoWrites(false);
  story.endsWith(A, 1).endsWith(B, 2);
  const Finding finding = expectViolation(story, Checker::convergence, Anomaly::replicationBehind);
  EXPECT_EQ(finding.severity, Severity::liveness);
  EXPECT_EQ(finding.node, A);
  EXPECT_EQ(finding.other, B);
  EXPECT_EQ(finding.expected, 1);
  EXPECT_EQ(finding.observed, 0);
}

TEST(Convergence, AHoleThatWasNeverRepairedLeavesNothingToJudge) {
  Story story = afterTwoWrites(false);
  story.fail(A, B).endsWith(A, 1).endsWith(B, 2);
  expectHeld(story);
  EXPECT_EQ(story.checkers().unjudgedReplicas(), 1U);
}

TEST(Convergence, ARunThatDidNotHealOwesNoAgreement) {
  Story story(onlyConvergence());
  story.at(1_s).lock(C, 1, Path::virgin, K2).put(A, 1, 0, 10).commit(A, 1);
  story.phase(Phase::faults).at(3_s).phase(Phase::end).endsWith(A, 1).ends(B, {});
  expectHeld(story);
}

TEST(Convergence, AnAbsentFieldIsTheSameWhoeverRemovedIt) {
  Story story(onlyConvergence());
  story.at(1_s)
      .lock(C, 1, Path::virgin, K2)
      .put(A, 1, 0, 10)
      .commit(A, 1)
      .at(2_s)
      .erase(A, 2, 0)
      .commit(A, 2);
  story.apply(B, A).phase(Phase::healed).at(3_s).phase(Phase::end);
  Content erased;
  erased.writers.fill(TxnId{2});
  story.ends(A, erased).ends(B, {});
  story.finish();
  EXPECT_EQ(story.findings().first(Anomaly::replicasDiffer), nullptr) << story.told();
}

TEST(Convergence, TheFinalRecordIsTheFoldOfWhatWasApplied) {
  Story story(onlyConvergence());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1);
  story.at(2_s).increment(A, 2, 1, 5).commit(A, 2).at(3_s).increment(B, 3, 0, 7).commit(B, 3);
  story.apply(A, B).apply(B, A);
  const Content sum = story.contentOf(1).with(0, 3, 22);
  story.ends(A, sum).ends(B, sum);
  expectHeld(story);
}

TEST(Convergence, ALostIncrementIsAViolation) {
  Story story(onlyConvergence());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1);
  story.at(2_s).increment(A, 2, 1, 5).commit(A, 2).at(3_s).increment(B, 3, 0, 7).commit(B, 3);
  story.apply(A, B).ends(A, story.contentOf(1).with(0, 3, 17));
  const Finding finding = expectViolation(story, Checker::convergence, Anomaly::wrongResolution);
  EXPECT_EQ(finding.expected, 22);
  EXPECT_EQ(finding.observed, 17);
}

TEST(Convergence, AnIncrementBelowTheBaseIsDropped) {
  Story story(onlyConvergence());
  story.at(1_s).lock(A, 1, Path::virgin).increment(A, 1, 1, 5).commit(A, 1);
  story.at(2_s).put(A, 2, 1, 10).commit(A, 2).endsWith(A, 2);
  expectHeld(story);
}

TEST(Convergence, EachFieldIsTheFoldOfItsOwnWrites) {
  Story patched(onlyConvergence());
  patched.at(1_s)
      .lock(A, 1, Path::virgin)
      .put(A, 1, 1, 10)
      .commit(A, 1)
      .at(2_s)
      .patch(A, 2, 1, 1, 5)
      .commit(A, 2);
  patched.ends(A, patched.contentOf(1).with(1, 2, 5));
  expectHeld(patched);

  Story erased(onlyConvergence());  // whatever an erase carries as values
  erased.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1);
  erased.at(2_s).stage(A, 2, 1, WriteOp::erase, obs::kAllFields, {9, 9, 9, 9}).commit(A, 2);
  erased.at(3_s).increment(A, 3, 1, 5).commit(A, 3).ends(A, Content{}.with(0, 3, 5));
  expectHeld(erased);
}

TEST(Convergence, VersionsStandByStampThenOriginThenPositionThenTheirOrderInTheTransaction) {
  Story stamp(onlyConvergence());
  stamp.at(1_s)
      .lock(C, 1, Path::virgin, K2)
      .put(B, 1, 0, 10)
      .commit(B, 1)
      .at(2_s)
      .put(A, 2, 0, 20)
      .commit(A, 2);
  stamp.apply(A, B).endsWith(A, 2);
  expectHeld(stamp);

  Story origin(onlyConvergence());
  origin.at(1_s).lock(C, 1, Path::virgin, K2).put(B, 1, 0, 10).commit(B, 1).put(A, 2, 0, 20).commit(A, 2);
  origin.apply(A, B).endsWith(A, 1);
  expectHeld(origin);

  Story position(onlyConvergence());
  position.at(1_s).lock(C, 1, Path::virgin, K2).put(A, 1, 0, 10).put(A, 2, 0, 20).commit(A, 2).commit(A, 1);
  position.endsWith(A, 1);
  expectHeld(position);

  Story ordinal(onlyConvergence());
  ordinal.at(1_s).lock(C, 1, Path::virgin, K2).put(A, 1, 0, 10).put(A, 1, 0, 20).commit(A, 1).endsWith(A, 1);
  expectHeld(ordinal);
}

TEST(Convergence, TheRightValueIsPresentAndOfTheRightWriter) {
  Story absent(onlyConvergence());
  absent.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).ends(A, {});
  EXPECT_EQ(expectViolation(absent, Checker::convergence, Anomaly::wrongResolution).expected, 10);

  Story writer(onlyConvergence());
  writer.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).put(A, 2, 1, 10);
  writer.ends(A, writer.contentOf(1).with(3, 2, 0));
  EXPECT_EQ(expectViolation(writer, Checker::convergence, Anomaly::wrongResolution).field, 3);
}

TEST(Convergence, WhatWasThereBeforeTheRunIsNotJudged) {
  Story story(onlyConvergence());
  story.at(1_s).lock(A, 1, Path::virgin).ends(A, Content{}.with(0, 0, 7)).ends(B, Content{}.with(0, 0, 7));
  expectHeld(story);
}

TEST(Convergence, AReclaimedTombstoneIsNotHeldAgainstTheFold) {
  Story story(onlyConvergence());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 1, 10).commit(A, 1).at(2_s).erase(A, 2, 1).commit(A, 2);
  story.tell(A, obs::TombstoneReclaimed{K}).stamped(0_s).put(A, 3, 1, 30).commit(A, 3).endsWith(A, 3);
  expectHeld(story);
}

/// A erases with a clock that is a minute ahead, B forgets it after the retention of five seconds and writes
/// at `writes`, and C, which applied the erase late, keeps the write out.
Story eraseThenWrite(Duration writes, bool forgetfulFirst = true) {
  CheckerOptions options = onlyConvergence();
  options.tombstoneRetention = 5_s;
  Story story(options);
  story.at(1_s).lock(C, 1, Path::virgin, K2).put(A, 1, 0, 10).commit(A, 1);
  story.at(2_s).stamped(62_s).erase(A, 2, 0).commit(A, 2).apply(B, A);
  story.at(writes).tell(B, obs::TombstoneReclaimed{K}).put(B, 3, 0, 30).commit(B, 3);
  story.apply(C, A).apply(C, B).phase(Phase::healed).at(20_s).phase(Phase::end);
  if (forgetfulFirst) return story.endsWith(B, 3).ends(C, {});
  return story.ends(C, {}).endsWith(B, 3);
}

TEST(Convergence, AWriteThatOutlivesTheEraseThatOutranksItIsNotJudged) {
  for (const bool forgetfulFirst : {true, false}) {
    Story story = eraseThenWrite(7_s, forgetfulFirst);
    expectHeld(story);
    EXPECT_EQ(story.checkers().unjudgedReplicas(), 1U);
  }
}

TEST(Convergence, AnEraseThatIsForgottenTooEarlyIsAViolation) {
  Story story = eraseThenWrite(6_s);
  expectViolation(story, Checker::convergence, Anomaly::replicasDiffer);
}

/// The same with an increment of B's at `writes`, which the erase outranks, below one of C's that it does
/// not, on which both agree. `between`: a put that no erase outranks lies between the two.
Story eraseBelowASum(Duration writes, bool between) {
  CheckerOptions options = onlyConvergence();
  options.tombstoneRetention = 5_s;
  Story story(options);
  story.at(1_s).lock(C, 1, Path::virgin, K2).put(A, 1, 0, 10).commit(A, 1);
  story.at(2_s).stamped(20_s).erase(A, 2, 0).commit(A, 2).apply(B, A);
  story.at(writes).tell(B, obs::TombstoneReclaimed{K}).stamped(writes).increment(B, 3, 0, 30).commit(B, 3);
  if (between) story.at(10_s).stamped(60_s).put(B, 4, 0, 1).commit(B, 4);
  story.at(11_s).stamped(100_s).increment(C, 5, 0, 7).commit(C, 5).apply(C, A).apply(C, B).apply(B, C);
  story.phase(Phase::healed).at(20_s).phase(Phase::end);
  return story.ends(B, Content{}.with(0, 5, 37)).ends(C, Content{}.with(0, 5, 7));
}

TEST(Convergence, ASumThatContainsWhatOutlivesAnEraseIsNotJudged) {
  Story story = eraseBelowASum(7_s, false);
  story.finish();
  EXPECT_EQ(story.findings().first(Anomaly::replicasDiffer), nullptr) << story.told();
  EXPECT_EQ(story.checkers().unjudgedReplicas(), 1U);
}

TEST(Convergence, ASumThatContainsWhatWasErasedInTimeIsAViolation) {
  Story story = eraseBelowASum(6_s, false);
  expectViolation(story, Checker::convergence, Anomaly::replicasDiffer);
}

TEST(Convergence, WhatOutlivesAnEraseExcusesNoSumThatDoesNotContainIt) {
  Story story = eraseBelowASum(7_s, true);
  expectViolation(story, Checker::convergence, Anomaly::replicasDiffer);
}

TEST(Convergence, ADeadNodeHasNoSay) {
  Story story = afterTwoWrites();
  story.endsWith(A, 2).endsWith(B, 2).crash(C).ends(C, {});
  expectHeld(story);
}

}  // namespace
}  // namespace holdfast::checkers::testing
