// Section 13: what an acquisition costs by its path, and BD-1/BD-2: what is retained.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

CheckerOptions onlyCost() { return CheckerOptions{}.only(Checker::cost); }

TEST(Cost, TheFirstLockOfAColdKeyCostsOneRound) {
  Story story(onlyCost());
  story.at(1_s).ask(A, 1).send(A, D, MessageKind::lockRequest).at(1'005_ms).grant(A, Path::virgin);
  story.send(D, A, MessageKind::lockGrant).at(1'010_ms).admit(A, 1, Path::virgin);
  expectHeld(story);
  const PathCost& cost = story.checkers().costs().virgin;
  EXPECT_EQ(cost.acquisitions, 1U);
  EXPECT_EQ(cost.messages.sum, 2U);
  EXPECT_EQ(cost.messages.median(), 2U);
  EXPECT_EQ(cost.releaseCommits.sum, 0U);
  EXPECT_EQ(cost.wait.sumNs, (10_ms).ns);
  EXPECT_EQ(cost.wait.mostNs, (10_ms).ns);
  EXPECT_EQ(cost.wait.histogram[24], 1U) << "10 ms lies in [2^23, 2^24) ns";
}

TEST(Cost, AHandoffCostsThreeMessagesOneCommitAndADeliveryAPeer) {
  Story story(onlyCost());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 5).commit(A, 1).unlock(A, 1);
  story.at(2_s).ask(B, 2).send(B, D, MessageKind::lockRequest).send(D, A, MessageKind::lockRecall);
  story.release(A).apply(B, A).apply(C, A).apply(D, A).grant(B, Path::clean);
  story.send(D, B, MessageKind::lockGrant).admit(B, 2, Path::clean);
  expectHeld(story);
  const CostTable& costs = story.checkers().costs();
  EXPECT_EQ(costs.clean.acquisitions, 1U);
  EXPECT_EQ(costs.clean.messages.sum, 3U);
  EXPECT_EQ(costs.clean.releaseCommits.sum, 1U);
  EXPECT_EQ(costs.releases, 1U);
  EXPECT_EQ(costs.releaseDeliveries, 3U);
  EXPECT_EQ(costs.virgin.messages.sum, 0U);
}

TEST(Cost, EachAcquisitionIsChargedWithItsOwn) {
  Story story(onlyCost());
  story.at(1_s)
      .ask(A, 1)
      .send(A, D, MessageKind::lockRequest)
      .grant(A, Path::virgin)
      .admit(A, 1, Path::virgin);
  story.unlock(A, 1).release(A).at(2_s).ask(B, 2).send(B, D, MessageKind::lockRequest);
  story.send(D, B, MessageKind::lockDeny)
      .send(B, D, MessageKind::lockHandBack)
      .send(D, B, MessageKind::logHead);
  story.grant(B, Path::clean).admit(B, 2, Path::clean).unlock(B, 2);
  expectHeld(story);
  EXPECT_EQ(story.checkers().costs().virgin.messages.sum, 1U);
  EXPECT_EQ(story.checkers().costs().clean.messages.sum, 3U) << "a log's message is none of the key's";
  EXPECT_EQ(story.checkers().costs().clean.releaseCommits.sum, 0U);
}

TEST(Cost, ExtremesAndPlacesOfManyAcquisitions) {
  Story story(onlyCost());
  std::uint32_t call = 0;
  std::int64_t start = 0;
  for (const int messages : {20, 3, 15}) {
    story.at(seconds(start)).ask(A, ++call);
    for (int i = 0; i < messages; ++i) story.send(A, D, MessageKind::lockRequest);
    start += call == 1 ? 3 * 3600 : 1;
    story.at(seconds(start)).admit(A, call, Path::virgin).unlock(A, call);
  }
  expectHeld(story);
  const PathCost& cost = story.checkers().costs().virgin;
  EXPECT_EQ(cost.messages.least, 3U);
  EXPECT_EQ(cost.messages.most, 20U);
  EXPECT_EQ(cost.messages.histogram[15], 2U);
  EXPECT_EQ(cost.wait.mostNs, (10'800_s).ns);
  EXPECT_EQ(cost.wait.histogram[43], 1U) << "all that lasts longer than 2^42 ns";
}

TEST(Cost, TheMedianIsTheLowerOfTwo) {
  Amount amount;
  EXPECT_EQ(amount.median(), 0U);
  amount.add(1);
  amount.add(4);
  EXPECT_EQ(amount.median(), 1U);
  amount.add(4);
  EXPECT_EQ(amount.median(), 4U);
}

TEST(Cost, ADeliveryIsWhereAPeerAppliesTheEntry) {
  Story story(onlyCost());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).unlock(A, 1).release(A);
  story.apply(A, A).fail(B, A).apply(C, A);
  story.tell(A, obs::ControlAppended{EntryKind::request, K, story.token(), 0, 2})
      .tell(C, obs::Applied{A, 2, false});
  expectHeld(story);
  const CostTable& costs = story.checkers().costs();
  EXPECT_EQ(costs.releaseDeliveries, 1U);
  EXPECT_EQ(costs.barrierEntries, 0U);
  EXPECT_EQ(costs.barrierDeliveries, 0U);
}

TEST(Cost, ARepeatUnderALiveDelegationCostsNothing) {
  Story story(onlyCost());
  story.at(1_s).lock(A, 1, Path::virgin).unlock(A, 1);
  for (std::uint32_t call = 2; call < 28; ++call) story.at(seconds(call)).lock(A, call).unlock(A, call);
  expectHeld(story);
  EXPECT_EQ(story.checkers().costs().cached.acquisitions, 26U);
  EXPECT_EQ(story.checkers().costs().cached.messages.most, 0U);
  EXPECT_EQ(story.checkers().costs().cached.wait.histogram[0], 26U);
}

TEST(Cost, ARepeatThatAsksTheHomeIsAViolation) {
  Story story(onlyCost());
  story.at(1_s).lock(A, 1, Path::virgin).unlock(A, 1);
  story.at(2_s).ask(A, 2).send(A, D, MessageKind::lockRequest).admit(A, 2, Path::cached);
  const Finding finding = expectViolation(story, Checker::cost, Anomaly::cachedAcquisitionPaid);
  EXPECT_EQ(finding.observed, 1);
  EXPECT_EQ(finding.rule(), "section 13");
}

TEST(Cost, ARequestThatSomebodyElseMayHaveCausedIsNotJudged) {
  Story renewed(onlyCost());
  renewed.at(1_s).lock(A, 1, Path::virgin).unlock(A, 1).at(2_s).ask(A, 2);
  renewed.send(A, D, MessageKind::lockRequest)
      .tell(A, obs::Installed{K, {1, 1, 2}, Path::virgin, true, {(90_s).ns}});
  renewed.admit(A, 2, Path::cached);
  expectHeld(renewed);
  EXPECT_EQ(renewed.checkers().costs().ambiguousRepeats, 1U);

  Story follower(onlyCost());
  follower.at(1_s).ask(A, 1).ask(A, 2).send(A, D, MessageKind::lockRequest).admit(A, 1, Path::virgin);
  follower.unlock(A, 1).admit(A, 2, Path::cached);
  expectHeld(follower);

  Story otherKey(onlyCost());
  otherKey.at(1_s).lock(A, 1, Path::virgin).unlock(A, 1).ask(A, 2);
  otherKey.send(A, D, MessageKind::lockRequest, K2).admit(A, 2, Path::cached);
  expectHeld(otherKey);

  Story otherNode(onlyCost());
  otherNode.at(1_s).lock(A, 1, Path::virgin).unlock(A, 1).ask(A, 2);
  otherNode.send(B, D, MessageKind::lockRequest).admit(A, 2, Path::cached);
  expectHeld(otherNode);
}

TEST(Cost, ARequestForALaterCallOfTheNodeIsNotJudged) {
  Story story(onlyCost());
  story.at(1_s).lock(A, 1, Path::virgin).unlock(A, 1).ask(A, 2).ask(A, 3);
  story.send(A, D, MessageKind::lockRequest).admit(A, 2, Path::cached).unlock(A, 2).admit(A, 3, Path::cached);
  expectHeld(story);
  EXPECT_EQ(story.checkers().costs().ambiguousRepeats, 2U);
}

TEST(Cost, ARecoveryIsChargedWithItsBarrier) {
  Story story(onlyCost());
  story.at(1_s).grant(B, Path::recovery).ask(B, 1).startBarrier(B, 9);
  for (const NodeId member : {A, C, D}) {
    story.send(B, member, MessageKind::barrierRequest, KeyId::none()).measure(B, 9, member);
    story.send(member, B, MessageKind::barrierReply, KeyId::none()).apply(B, member);
  }
  story.barrierDone(B, 9).admit(B, 1, Path::recovery);
  expectHeld(story);
  const CostTable& costs = story.checkers().costs();
  EXPECT_EQ(costs.recovery.barrierMessages.sum, 6U);
  EXPECT_EQ(costs.recovery.barrierEntries.sum, 3U);
  EXPECT_EQ(costs.barrierEntries, 3U);
  EXPECT_EQ(costs.barrierDeliveries, 3U);
}

TEST(Cost, ARecoveryIsChargedWithItsOwnBarrierAndTheEntriesThatWereMade) {
  Story story(onlyCost());
  story.at(1_s).grant(B, Path::recovery).ask(B, 1).startBarrier(B, 9);
  story.send(B, A, MessageKind::barrierRequest, KeyId::none()).measure(B, 9, A).barrierDone(B, 9);
  story.admit(B, 1, Path::recovery).unlock(B, 1).at(2_s).cut(B, C);
  story.at(3_s).grant(B, Path::recovery).ask(B, 2).startBarrier(B, 10);
  for (const NodeId member : {A, C, D}) story.send(B, member, MessageKind::barrierRequest, KeyId::none());
  story.measure(B, 10, A).measure(B, 10, D).at(30_s).skip(B, 10, C).barrierDone(B, 10);
  story.admit(B, 2, Path::recovery);
  expectHeld(story);
  const PathCost& cost = story.checkers().costs().recovery;
  EXPECT_EQ(cost.barrierMessages.sum, 1U + 3U);
  EXPECT_EQ(cost.barrierEntries.sum, 1U + 2U);
}

TEST(Cost, ABoundForAPathIsHeldAgainstEachAcquisition) {
  CheckerOptions options = onlyCost();
  options.maxMessages[static_cast<std::size_t>(Path::virgin)] = 2;
  Story story(options);
  story.at(1_s).ask(A, 1).send(A, D, MessageKind::lockRequest).send(A, D, MessageKind::lockRequest);
  story.send(D, A, MessageKind::lockGrant).admit(A, 1, Path::virgin);
  const Finding finding = expectViolation(story, Checker::cost, Anomaly::costBeyondBound);
  EXPECT_EQ(finding.observed, 3);
  EXPECT_EQ(finding.expected, 2);
}

TEST(Cost, ABoundMayBeReached) {
  CheckerOptions options = onlyCost();
  options.maxMessages[static_cast<std::size_t>(Path::virgin)] = 2;
  Story story(options);
  story.at(1_s).ask(A, 1).send(A, D, MessageKind::lockRequest).send(D, A, MessageKind::lockGrant);
  story.admit(A, 1, Path::virgin);
  expectHeld(story);
}

TEST(Cost, ALookAtUnlockedWritesIsAViolation) {
  Story story(onlyCost());
  story.at(1_s).lock(A, 1, Path::virgin).put(A, 1, 0, 5).tell(A, obs::UnlockedWritesChecked{TxnId{1}, 3});
  const Finding finding = expectViolation(story, Checker::cost, Anomaly::unlockedWritePaid);
  EXPECT_EQ(finding.observed, 3);
  EXPECT_EQ(finding.rule(), "LH-5");
}

TEST(Cost, TablesAddUp) {
  Story one(onlyCost());
  one.at(1_s).ask(A, 1).send(A, D, MessageKind::lockRequest).at(2_s).admit(A, 1, Path::virgin);
  Story two(onlyCost());
  two.at(1_s).ask(A, 1).send(A, D, MessageKind::lockRequest).send(D, A, MessageKind::lockGrant);
  two.at(4_s).admit(A, 1, Path::virgin);
  CostTable sum = one.checkers().costs();
  sum.merge(two.checkers().costs());
  EXPECT_EQ(sum.virgin.acquisitions, 2U);
  EXPECT_EQ(sum.virgin.messages.sum, 3U);
  EXPECT_EQ(sum.virgin.messages.least, 1U);
  EXPECT_EQ(sum.virgin.messages.most, 2U);
  EXPECT_EQ(sum.virgin.wait.mostNs, (3_s).ns);
  CostTable other = two.checkers().costs();
  other.merge(one.checkers().costs());
  EXPECT_EQ(sum, other);
}

TEST(Retention, WithinTheBoundHolds) {
  Story story(CheckerOptions{}.only(Checker::retention));
  story.at(1_s).lock(A, 1).tell(A, obs::RetainedCount{obs::Retained::grants, 10, 10});
  expectHeld(story);
}

TEST(Retention, BeyondTheBoundIsAViolation) {
  Story story(CheckerOptions{}.only(Checker::retention));
  story.at(1_s).lock(A, 1).tell(B, obs::RetainedCount{obs::Retained::handles, 11, 10});
  const Finding finding = expectViolation(story, Checker::retention, Anomaly::retainedBeyondBound);
  EXPECT_EQ(finding.node, B);
  EXPECT_EQ(finding.observed, 11);
  EXPECT_EQ(finding.expected, 10);
  EXPECT_EQ(finding.detail, static_cast<std::uint8_t>(obs::Retained::handles));
}

}  // namespace
}  // namespace holdfast::checkers::testing
