// What a membership lease rests on: the renewals that a majority acknowledged, and what it has reserved.
#include <cstdint>
#include <initializer_list>

#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

CheckerOptions options(std::uint64_t given = 0) {
  CheckerOptions options;
  options.only(Checker::membership);
  options.epochLease = 6_s;
  options.members = given;
  return options;
}

/// A renews and others answer. A message's number is its place in the order of sending.
class Renewals {
 public:
  /// Members A, B and C, or others, agreed on; or, without `agreed`, given.
  explicit Renewals(bool agreed = true, std::uint64_t members = 0b111)
      : story(options(agreed ? 0 : members)), agreed_(agreed) {
    story.at(0_s);
    if (agreed) story.tell(A, obs::MembershipInstalled{1, {members}, 1, {}, {}});
  }
  Renewals& at(Duration t) {
    story.at(t);
    return *this;
  }
  /// A sends a renewal to `to`; gives its number.
  std::uint64_t send(NodeId to) {
    if (agreed_) reserve(A);
    story.tell(A, obs::MessageSent{++messages_, to, MessageKind::membershipRenew, KeyId::none()});
    return messages_;
  }
  /// The renewal arrives and is answered; gives the number of the answer.
  std::uint64_t answer(NodeId by, std::uint64_t renewal) {
    if (agreed_) reserve(by);
    return answerUnreserved(by, renewal);
  }
  std::uint64_t answerUnreserved(NodeId by, std::uint64_t renewal) {
    story.tell(by, obs::MessageDelivered{renewal, A, MessageKind::membershipRenew});
    story.tell(by, obs::MessageSent{++messages_, A, MessageKind::membershipRenewAck, KeyId::none()});
    return messages_;
  }
  Renewals& deliver(NodeId from, std::uint64_t answer) {
    story.tell(A, obs::MessageDelivered{answer, from, MessageKind::membershipRenewAck});
    return *this;
  }
  Renewals& reserve(NodeId by, Duration remaining = 7_s) {
    story.tell(by, obs::ReservationMade{1, A, remaining});
    return *this;
  }
  /// A takes a lease until its clock reads `until`.
  Renewals& take(Duration until) {
    story.tell(A, obs::MembershipRenewed{1, {until.ns}});
    return *this;
  }
  Renewals& restart(NodeId node, std::uint32_t start = 2) {
    story.tell(node, obs::NodeCrashed{0}).tell(node, obs::NodeStarted{start});
    if (agreed_) story.tell(node, obs::MembershipInstalled{1, {0b111}, 1, {}, {}});
    return *this;
  }
  Finding expect(Anomaly anomaly) { return expectViolation(story, Checker::membership, anomaly); }
  std::uint64_t violations() const { return story.findings().count(Checker::membership); }

  Story story;

 private:
  bool agreed_;
  std::uint64_t messages_ = 0;
};

TEST(MembershipLease, CountsFromTheSendOfTheRenewalThatWasAcknowledged) {
  for (const bool agreed : {true, false}) {
    for (const bool late : {false, true}) {
      Renewals a(agreed);
      const std::uint64_t ofB = a.at(10_s).answer(B, a.send(B));
      a.at(11_s).deliver(B, ofB).take(late ? 17_s : 16_s);
      if (!late) {
        EXPECT_EQ(a.violations(), 0U) << agreed;
        continue;
      }
      const Finding finding = a.expect(Anomaly::membershipTooLong);
      EXPECT_EQ(finding.rule(), "EP-6");
      EXPECT_EQ(finding.expected, (16_s).ns);
      EXPECT_EQ(finding.observed, (17_s).ns);
    }
  }
}

TEST(MembershipLease, ALaterSendProvesNothingWithoutItsAcknowledgement) {
  Renewals a;
  const std::uint64_t first = a.at(10_s).send(B);
  const std::uint64_t ofB = a.at(11_s).answer(B, first);
  (void)a.at(12_s).send(B);
  a.deliver(B, ofB).take(18_s);
  EXPECT_EQ(a.expect(Anomaly::membershipTooLong).expected, (16_s).ns);
}

TEST(MembershipLease, TheClockIsTheHoldersOwn) {
  Renewals a;
  a.story.clock(A, 100_s, 100'000'000);
  const std::uint64_t ofB = a.at(10_s).answer(B, a.send(B));  // A's clock reads 111 s
  a.at(11_s).deliver(B, ofB).take(117_s);
  EXPECT_EQ(a.violations(), 0U);
  a.take(117'000'000'002_ns);
  EXPECT_EQ(a.expect(Anomaly::membershipTooLong).expected, (117_s).ns);
}

TEST(MembershipLease, AnswersToAnEarlierStartCountForNothing) {
  for (const bool agreed : {true, false}) {
    Renewals a(agreed);
    const std::uint64_t ofB = a.at(10_s).answer(B, a.send(B));
    const std::uint64_t ofC = a.answer(C, a.send(C));
    a.at(12_s).restart(A);
    (void)a.at(13_s).send(B);
    a.at(14_s).deliver(B, ofB).deliver(C, ofC).take(19_s);
    const Finding finding = a.expect(Anomaly::leaseUnacknowledged);
    EXPECT_EQ(finding.rule(), "EP-14");
    EXPECT_EQ(finding.expected, 2);
    EXPECT_EQ(finding.observed, 1) << "its own alone";
  }
}

TEST(MembershipLease, TakesAMajority) {
  Renewals a;
  (void)a.at(10_s).send(B);
  a.take(16_s);
  EXPECT_EQ(a.expect(Anomaly::leaseUnacknowledged).observed, 1);
  // Somebody who is no member is none of it.
  Renewals b;
  const std::uint64_t ofD = b.at(10_s).answer(D, b.send(D));
  b.deliver(D, ofD).take(16_s);
  EXPECT_EQ(b.expect(Anomaly::leaseUnacknowledged).observed, 1);
}

TEST(MembershipLease, AnswersUnderAnotherMembershipCountForNothing) {
  Renewals a;
  const std::uint64_t ofB = a.at(10_s).answer(B, a.send(B));
  a.story.tell(A, obs::MembershipInstalled{2, {0b111}, 1, {}, {}});
  a.deliver(B, ofB);
  a.story.tell(A, obs::MembershipRenewed{2, {(16_s).ns}});
  EXPECT_EQ(a.expect(Anomaly::leaseUnacknowledged).observed, 0);
}

TEST(MembershipLease, ASoleMemberAsksNobody) {
  Story story(options());
  story.at(3_s).tell(A, obs::MembershipInstalled{1, {1}, 1, {}, 0_s});
  story.tell(A, obs::ReservationMade{1, A, 7_s}).tell(A, obs::MembershipRenewed{1, {(9_s).ns}});
  EXPECT_EQ(story.checkers().findings().count(Checker::membership), 0U);
  story.tell(A, obs::MembershipRenewed{1, {(10_s).ns}});
  EXPECT_EQ(expectViolation(story, Checker::membership, Anomaly::membershipTooLong).expected, (9_s).ns);
}

TEST(MembershipLease, EndsBeforeTheReservationsOfAMajority) {
  const auto taken = [](Duration reservation, std::int64_t ppbOfB) {
    Renewals a;
    a.story.clock(B, 500_s, ppbOfB);
    const std::uint64_t ofB = a.at(10_s).answer(B, a.send(B));
    a.restart(B);  // what it had reserved before is no concern of a later one
    a.reserve(B, reservation).deliver(B, ofB).take(16_s);
    return a;
  };
  EXPECT_EQ(taken(7_s, 0).violations(), 0U);
  EXPECT_EQ(taken(7_s, 100'000'000).violations(), 0U) << "7 s of a clock that is 10 % fast are 6.36 s";
  Renewals fast = taken(7_s, 200'000'000);
  const Finding finding = fast.expect(Anomaly::leaseBeyondReservations);
  EXPECT_EQ(finding.rule(), "EP-7");
  EXPECT_EQ(finding.expected, 2);
  EXPECT_EQ(finding.observed, 1);
  Renewals brief = taken(5_s, 0);
  (void)brief.expect(Anomaly::leaseBeyondReservations);
}

TEST(MembershipLease, ARestartedAcceptorCountsEverythingAnew) {
  Renewals a;
  const std::uint64_t ofB = a.at(10_s).answer(B, a.send(B));
  a.at(14_s).restart(B).deliver(B, ofB);
  a.story.clock(B, 3_s);  // it has booted, and its clock with it
  a.take(16_s);
  EXPECT_EQ(a.violations(), 0U);
}

TEST(MembershipLease, HalfOfAMembershipCarriesNone) {
  Renewals two(true, 0b1111);
  two.deliver(B, two.at(10_s).answer(B, two.send(B))).take(16_s);
  const Finding acknowledged = two.expect(Anomaly::leaseUnacknowledged);
  EXPECT_EQ(acknowledged.expected, 3);
  EXPECT_EQ(acknowledged.observed, 2);

  Renewals three(true, 0b1111);
  three.deliver(B, three.at(10_s).answer(B, three.send(B))).reserve(C, 1_s);
  three.deliver(C, three.answerUnreserved(C, three.send(C))).take(16_s);
  const Finding reserved = three.expect(Anomaly::leaseBeyondReservations);
  EXPECT_EQ(reserved.expected, 3);
  EXPECT_EQ(reserved.observed, 2);
}

TEST(MembershipLease, NeitherAnOlderAnswerNorAShorterReservationTakesAnythingBack) {
  Renewals a;
  const std::uint64_t first = a.at(10_s).answer(B, a.send(B));
  const std::uint64_t second = a.at(11_s).answer(B, a.send(B));
  a.reserve(B, 1_s).deliver(B, second).deliver(B, first).take(17_s);
  EXPECT_EQ(a.violations(), 0U) << a.story.told();
}

TEST(MembershipLease, WhatWasAcknowledgedBeforeACrashIsGone) {
  Renewals a(false);
  a.deliver(B, a.at(10_s).answer(B, a.send(B))).at(12_s).restart(A);
  (void)a.at(13_s).send(B);
  a.take(16_s);
  EXPECT_EQ(a.expect(Anomaly::leaseUnacknowledged).observed, 1);
}

TEST(MembershipLease, AReservationThatIsCountedAnewIsNotOverByANewClock) {
  Renewals a;
  const std::uint64_t ofB = a.at(10_s).answer(B, a.send(B));
  a.at(14_s).restart(B).deliver(B, ofB);
  a.story.clock(B, 500_s);
  a.take(16_s);
  EXPECT_EQ(a.violations(), 0U) << a.story.told();
}

TEST(MembershipLease, IsNotJudgedWithoutItsLengthOrOnceItIsOver) {
  CheckerOptions untold = options();
  untold.epochLease = {};
  Story story(untold);
  story.at(3_s).tell(A, obs::MembershipInstalled{1, {7}, 1, {}, 0_s});
  story.tell(A, obs::MessageSent{1, B, MessageKind::membershipRenew, KeyId::none()});
  story.tell(A, obs::MembershipRenewed{1, {(20_s).ns}});
  EXPECT_EQ(story.checkers().findings().count(Checker::membership), 0U);
  Renewals a;
  (void)a.at(10_s).send(B);
  a.at(17_s).take(17_s);
  EXPECT_EQ(a.violations(), 0U);
}

}  // namespace
}  // namespace holdfast::checkers::testing
