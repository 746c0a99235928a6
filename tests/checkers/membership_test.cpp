// One value a number, one live ring, and no successor before its time (EP), over hand-made histories.
#include "tests/checkers/ring.hpp"

namespace holdfast::checkers::testing {
namespace {

// ---- What holds -------------------------------------------------------------------------------------------

TEST(Membership, AChangeWithAllItsStepsHolds) {
  Ring ring;
  ring.at(0_s).found().grant(A, C, 1).hold(C, 1);
  ring.reserve(A, 1, C).reserve(B, 1, C);
  ring.at(5_s).agree();
  for (const NodeId node : {A, B, D}) ring.install(node, 2, kSecond, setOf({A, B})).renew(node, 2);
  ring.at(111_s);  // C's lease on membership 1 ended at 100 s, its delegation at 10 s
  for (const NodeId node : {A, B, D}) ring.renew(node, 2).activate(node, 2);
  ring.grant(B, D, 2).hold(D, 2);
  ring.at(112_s).install(C, 2, kSecond, setOf({A, B}));
  ring.expectHolds();
}

TEST(Membership, WithoutAnyMembershipNothingIsJudged) {
  Ring ring;
  ring.at(0_s).renew(A, 1).grant(A, D, 1).hold(D, 1).at(200_s).grant(A, B, 2);
  ring.expectHolds();
}

TEST(Membership, ARestartInstallsTheSameAgain) {
  Ring ring;
  ring.at(0_s).found().at(1_s).agree().install(A, 2, kSecond, setOf({A, B}));
  ring.story.crash(A).restart(A);
  ring.install(A, 2, kSecond, setOf({A, B}));
  ring.expectHolds();
}

TEST(Membership, AReplacedDiskStartsFromTheBeginning) {
  Ring ring;
  ring.at(0_s).found().reserve(B, 1, A).at(1_s).agree().install(B, 2, kSecond, setOf({A, B}));
  ring.story.crash(B).restart(B).tell(B, obs::MembershipJoining{obs::JoiningReason::blank, 1});
  // Its old vote stands, whoever shows the certificate.
  ring.install(B, 1, kFirst).install(D, 2, kSecond, setOf({A, B})).install(B, 2, kSecond, setOf({A, B}));
  ring.expectHolds();
}

// ---- Agreement --------------------------------------------------------------------------------------------

TEST(Membership, APromiseBelowAnEarlierOneIsAViolation) {
  Ring counter;
  counter.at(0_s).found().promise(B, 2, 5, A).promise(B, 2, 4, C);
  EXPECT_EQ(counter.expect(Anomaly::ballotWentBack).rule(), "EP-2");

  Ring name;  // EP-1: counters may be equal, then the names decide
  name.at(0_s).found().promise(B, 2, 5, C).promise(B, 2, 5, A);
  EXPECT_EQ(name.expect(Anomaly::ballotWentBack).node, B);

  Ring accepted;
  accepted.at(0_s).found().promise(B, 2, 5, C).accept(B, 2, kSecond, 4, A);
  accepted.expect(Anomaly::ballotWentBack);

  Ring growing;
  growing.at(0_s).found().promise(B, 2, 5, A).promise(B, 2, 5, C).promise(B, 2, 6, A).promise(B, 3, 1, A);
  growing.expectHolds();
}

TEST(Membership, BallotsAreHeldAgainstTheGreatestOfTheirNumber) {
  Ring again;
  again.at(0_s).found().promise(B, 2, 5, A).promise(B, 2, 4, C).promise(B, 2, 4, C);
  again.expect(Anomaly::ballotWentBack);
  EXPECT_EQ(again.story.findings().count(Checker::membership), 2U) << again.story.told();

  Ring accepted;  // an acceptance promises, too
  accepted.at(0_s).found().accept(B, 2, kSecond, 5, A).promise(B, 2, 4, C, 1000_s, true);
  accepted.expect(Anomaly::ballotWentBack);

  Ring other;  // and is told of its own number
  other.at(0_s).found().accept(B, 2, kSecond, 5, A).promise(B, 3, 1, C);
  other.expectHolds();
}

TEST(Membership, APromiseThatForgetsAnAcceptedValueIsAViolation) {
  Ring silent;
  silent.at(0_s).found().promise(B, 2, 1, A).accept(B, 2, kSecond, 1, A).promise(B, 2, 2, C);
  EXPECT_EQ(silent.expect(Anomaly::acceptanceConcealed).other, C);

  Ring told;
  told.at(0_s).found().accept(B, 2, kSecond, 1, A).promise(B, 2, 2, C, 1000_s, true);
  told.expectHolds();
}

TEST(Membership, APromiseReportsItsReservations) {
  Ring less;
  less.at(0_s).found().reserve(B, 1, C).at(20_s).promise(B, 2, 1, A, 80_s);
  const Finding finding = less.expect(Anomaly::reservationConcealed);
  EXPECT_EQ(finding.expected, (81_s).ns);
  EXPECT_EQ(finding.observed, (80_s).ns);

  Ring exact;
  exact.at(0_s).found().reserve(B, 1, C).at(20_s).promise(B, 2, 1, A, 81_s);
  exact.expectHolds();

  Ring slow;  // on the acceptor's own clock only 10 s have passed
  slow.at(0_s).found().story.clock(B, 500_s, -500'000'000);
  slow.reserve(B, 1, C).at(20_s).promise(B, 2, 1, A, 90_s);
  EXPECT_EQ(slow.expect(Anomaly::reservationConcealed).expected, (91_s).ns);
}

TEST(Membership, AReservationIsTheLongestAndKnownToANanosecond) {
  Ring nanosecond;
  nanosecond.at(0_s).found().reserve(B, 1, C).at(20_s).promise(B, 2, 1, A, 81_s - 1_ns);
  nanosecond.expectHolds();

  Ring shorter;
  shorter.at(0_s).found().reserve(B, 1, C).at(1_s).reserve(B, 1, A, 50_s).at(2_s).promise(B, 2, 1, A, 98_s);
  EXPECT_EQ(shorter.expect(Anomaly::reservationConcealed).expected, (99_s).ns);

  Ring born;  // a first start makes nothing longer
  born.at(0_s).found().reserve(B, 1, C).at(20_s).story.tell(B, obs::NodeStarted{1});
  born.promise(B, 2, 1, A, 81_s);
  born.expectHolds();

  Ring unreserved;
  unreserved.at(0_s).found().reserve(A, 1, C).story.crash(B).restart(B);
  unreserved.promise(B, 2, 1, A, 0_s);
  unreserved.expectHolds();
}

TEST(Membership, ARestartedAcceptorReservesAnew) {
  Ring forgot;
  forgot.at(0_s).found().reserve(B, 1, C).at(20_s).story.crash(B).at(50_s).restart(B);
  forgot.at(60_s).promise(B, 2, 1, A, 41_s);  // what was left of the old one
  EXPECT_EQ(forgot.expect(Anomaly::restartForgotReservation).expected, (91_s).ns);

  Ring full;
  full.at(0_s).found().reserve(B, 1, C).at(20_s).story.crash(B).at(50_s).restart(B);
  full.at(60_s).promise(B, 2, 1, A, 91_s);
  full.expectHolds();
}

TEST(Membership, ARenewalAfterThePromiseIsAViolation) {
  Ring late;
  late.at(0_s).found().promise(B, 2, 1, A).reserve(B, 1, C);
  EXPECT_EQ(late.expect(Anomaly::renewedAfterPromise).rule(), "EP-3");

  Ring of2;
  of2.at(0_s).found().promise(B, 2, 1, A).reserve(B, 2, C);
  of2.expectHolds();
}

TEST(Membership, ACertificateIsAMajorityOfThePredecessor) {
  Ring minority;
  minority.at(0_s).found().accept(A, 2, kSecond, 1, A).install(A, 2, kSecond, setOf({A}));
  const Finding finding = minority.expect(Anomaly::certificateWithoutMajority);
  EXPECT_EQ(finding.expected, 2);
  EXPECT_EQ(finding.observed, 1);

  Ring strangers;
  strangers.at(0_s).found().accept(A, 2, kSecond, 1, A).accept(D, 2, kSecond, 1, A);
  strangers.install(A, 2, kSecond, setOf({A, D}));
  strangers.expect(Anomaly::certificateWithoutMajority);
}

TEST(Membership, EveryVoterHasAccepted) {
  Ring forged;
  forged.at(0_s).found().accept(A, 2, kSecond, 1, A).install(D, 2, kSecond, setOf({A, C}));
  EXPECT_EQ(forged.expect(Anomaly::certificateForged).other, C);

  Ring another;  // C did accept, but another value
  another.at(0_s).found().accept(A, 2, kSecond, 1, A).accept(C, 2, setOf({B, C, F}), 1, C);
  another.install(D, 2, kSecond, setOf({A, C}));
  EXPECT_EQ(another.expect(Anomaly::certificateForged).other, C);

  Ring decided;  // and the decision counts votes of its own ballot only
  decided.at(0_s).found().accept(A, 2, kSecond, 1, A).accept(B, 2, kSecond, 1, A);
  decided.decide(A, 2, kSecond, setOf({A, B}), 2);
  decided.expect(Anomaly::certificateForged);
}

TEST(Membership, HalfOfAMembershipIsNoMajority) {
  const obs::NodeBits four = setOf({A, B, C, D});
  const auto founded = [&](Ring& ring) {
    ring.at(0_s);
    for (const NodeId node : {A, B, C, D}) ring.install(node, 1, four);
  };
  Ring certificate;
  founded(certificate);
  certificate.accept(A, 2, kSecond, 1, A).accept(B, 2, kSecond, 1, A).install(A, 2, kSecond, setOf({A, B}));
  certificate.expect(Anomaly::certificateWithoutMajority);

  Ring votes;
  founded(votes);
  votes.accept(A, 2, kSecond, 1, A).accept(B, 2, kSecond, 1, A);
  votes.accept(C, 2, kFirst, 2, C).accept(D, 2, kFirst, 2, C);
  votes.expectHolds();
}

TEST(Membership, OnlyTheVotesOfOneBallotForTheNextNumberDecide) {
  const obs::NodeBits third = setOf({B, C});
  Ring ballots;
  ballots.at(0_s).found().accept(A, 2, kSecond, 1, A).accept(B, 2, third, 2, C);
  ballots.accept(A, 2, kSecond, 3, A).accept(B, 2, kSecond, 3, A);
  ballots.expectHolds();

  Ring strangers;
  strangers.at(0_s).found().accept(A, 2, kSecond, 1, A).accept(D, 2, kSecond, 1, A);
  strangers.accept(B, 2, third, 2, C).accept(C, 2, third, 2, C);
  strangers.expectHolds();

  Ring later;
  later.at(0_s).found().accept(A, 3, kSecond, 1, A).accept(B, 3, kSecond, 1, A);
  later.accept(B, 3, third, 2, C).accept(C, 3, third, 2, C);
  later.expectHolds();
}

TEST(Membership, ACertificateIsOfItsNumberAndJudgedByAPredecessorThatWasSeen) {
  Ring number;
  number.at(0_s).found().accept(A, 2, kSecond, 1, A).accept(C, 3, kSecond, 1, A);
  number.install(D, 2, kSecond, setOf({A, C}));
  EXPECT_EQ(number.expect(Anomaly::certificateForged).other, C);

  Ring unseen;
  unseen.at(0_s).found().accept(A, 5, kSecond, 1, A).install(D, 5, kSecond, setOf({A}));
  unseen.expectHolds();

  Ring version;
  version.at(0_s).found().story.tell(C, obs::MembershipInstalled{1, kFirst, 2, {}, 0_s});
  version.expect(Anomaly::twoConfigurations);
}

TEST(Membership, ANumberHasOneValue) {
  Ring fork;
  fork.at(0_s).found();
  fork.accept(A, 2, setOf({A, D, E}), 1, A).accept(B, 2, setOf({A, D, E}), 1, A);
  fork.decide(A, 2, setOf({A, D, E}), setOf({A, B}));
  fork.accept(B, 2, setOf({B, C, F}), 2, C).accept(C, 2, setOf({B, C, F}), 2, C);
  fork.at(300_s).decide(C, 2, setOf({B, C, F}), setOf({B, C}), 2);
  const Finding finding = fork.expect(Anomaly::twoConfigurations);
  EXPECT_EQ(finding.node, C);
  EXPECT_EQ(finding.other, B) << "whose vote had made the majority of the first value";
  ASSERT_EQ(finding.evidenceCount, 4);
  EXPECT_EQ(finding.evidence[1].fact, Fact::certificate);
  EXPECT_EQ(finding.evidence[1].number, static_cast<std::int64_t>(setOf({A, B}).bits));
  EXPECT_EQ(finding.evidence[3].number, static_cast<std::int64_t>(setOf({B, C}).bits));
  EXPECT_NE(describe(finding).find("votes of {1, 2}"), std::string::npos) << describe(finding);
}

TEST(Membership, WhatAMajorityAcceptedIsDecidedThoughNobodySaysSo) {
  Ring ring;
  ring.at(0_s).found().accept(A, 2, kSecond, 1, A).accept(B, 2, kSecond, 1, A);
  ring.accept(B, 2, setOf({B, C}), 2, C).accept(C, 2, setOf({B, C}), 2, C);
  EXPECT_EQ(ring.expect(Anomaly::twoConfigurations).node, C);

  Ring split;  // neither has a majority under one ballot
  split.at(0_s).found().accept(A, 2, kSecond, 1, A).accept(B, 2, setOf({B, C}), 2, C);
  split.expectHolds();
}

// ---- Succession -------------------------------------------------------------------------------------------

TEST(Membership, NothingIsInstalledOnSomebodysWord) {
  Ring word;
  word.at(0_s).found().install(A, 2, kSecond);
  EXPECT_EQ(word.expect(Anomaly::installedWithoutCertificate).rule(), "EP-5");
}

TEST(Membership, NumbersGrowOnEveryNodeAlsoAcrossARestart) {
  Ring back;
  back.at(0_s).found().agree().install(A, 2, kSecond, setOf({A, B}));
  back.story.crash(A).restart(A);
  back.install(A, 1, kFirst);
  EXPECT_EQ(back.expect(Anomaly::membershipWentBack).expected, 2);
}

// ---- Activation -------------------------------------------------------------------------------------------

TEST(Membership, AnActivationDuringAnOldLeaseIsAViolation) {
  // The worked numbers of EP-8: the old holder has renewed at 80 s, for 100 s.
  Ring early;
  early.at(80_s).found().at(90_s).agree().install(D, 2, kSecond, setOf({A, B})).renew(D, 2);
  early.at(92_s).activate(D, 2);
  const Finding finding = early.expect(Anomaly::activatedTooEarly);
  EXPECT_EQ(finding.expected, 1);
  EXPECT_EQ(finding.observed, 2);
  EXPECT_EQ(finding.evidence[1].fact, Fact::membershipLive);
  EXPECT_EQ(finding.evidence[1].at, TrueInstant{(180_s).ns});

  Ring late;
  late.at(80_s).found().at(90_s).agree().install(D, 2, kSecond, setOf({A, B}));
  late.at(192_s).renew(D, 2).activate(D, 2);
  late.expectHolds();
}

TEST(Membership, AnActivationDuringAnOldDelegationIsAViolation) {
  const auto history = [](Ring& ring) {
    ring.at(0_s).found().at(95_s).grant(A, C, 1).hold(C, 1);  // until 105 s, the leases until 100 s
    ring.agree().install(D, 2, kSecond, setOf({A, B})).at(101_s).renew(D, 2);
  };
  Ring early;
  history(early);
  early.activate(D, 2);
  EXPECT_EQ(early.expect(Anomaly::activatedTooEarly).key, K);

  Ring released;
  history(released);
  released.release(C, 1).activate(D, 2);
  released.expectHolds();

  Ring crashed;
  history(crashed);
  crashed.story.crash(C);
  crashed.activate(D, 2);
  crashed.expectHolds();

  Ring expired;
  history(expired);
  expired.at(105_s).activate(D, 2);
  expired.expectHolds();
}

TEST(Membership, WhatEndsADelegationIsItsHoldersWordAboutItsToken) {
  // C holds the key until 300 s, and membership 2 is activated at 150 s.
  const auto activated = [](const std::function<void(Ring&, Token)>& between) {
    Ring ring;
    ring.at(0_s).found().grant(A, C, 1).hold(C, 1, 300_s).agree();
    ring.install(D, 2, kSecond, setOf({A, B})).at(140_s);
    between(ring, {1, 1, 1});
    ring.at(150_s).renew(D, 2).activate(D, 2);
    return ring;
  };
  const auto ends = [](const auto& what) {
    return
        [=](Ring& ring, const Token& token) { ring.story.tell(C, std::decay_t<decltype(what)>{K, token}); };
  };
  const std::function<void(Ring&, Token)> ended[] = {
      ends(obs::HandedBack{}),
      ends(obs::Drained{}),
      ends(obs::DelegationLapsed{}),
      [](Ring& ring, Token token) {
        ring.story.tell(C, obs::ControlAppended{EntryKind::release, K, token, 0, 1});
      },
      [](Ring& ring, Token) { ring.story.tell(C, obs::CoordinatorReplaced{}); },
  };
  for (const auto& between : ended) {
    Ring ring = activated(between);
    ring.expectHolds();
  }
  const std::function<void(Ring&, Token)> running[] = {
      [](Ring&, Token) {},
      [](Ring& ring, Token) { ring.story.tell(C, obs::HandedBack{K, {1, 1, 9}}); },
      [](Ring& ring, Token token) { ring.story.tell(B, obs::HandedBack{K, token}); },
      [](Ring& ring, Token token) {
        ring.story.tell(C, obs::ControlAppended{EntryKind::barrier, K, token, 0, 1});
      },
      [](Ring& ring, Token) { ring.story.crash(B); },
      [](Ring& ring, Token token) {
        ring.story.tell(B, obs::Installed{K, token, Path::virgin, false, ring.story.local(B) + 1_s});
      },
  };
  for (const auto& between : running) {
    Ring ring = activated(between);
    EXPECT_EQ(ring.expect(Anomaly::activatedTooEarly).other, C);
  }
}

TEST(Membership, ADelegationOfTheSameMembershipForbidsNothing) {
  Ring ring;
  ring.at(0_s).found().grant(A, C, 1).hold(C, 1).at(1_s).grant(A, C, 1).hold(C, 1);
  ring.install(B, 1, kFirst).renew(B, 1).activate(B, 1);
  ring.expectHolds();
}

TEST(Membership, AHomeGrantsNoKeyThatAnotherMembershipHolds) {
  Ring ring;
  ring.at(0_s).found().grant(A, C, 1).hold(C, 1, 300_s).agree().install(B, 2, kSecond, setOf({A, B}));
  ring.at(150_s).renew(B, 2).grant(B, D, 2);
  EXPECT_EQ(ring.expect(Anomaly::twoRingsForKey).other, C);
}

TEST(Membership, OnlyWhoIsActiveAndLeasedInItsRingActs) {
  Ring inactive;  // C has a lease on a ring that it has not activated
  inactive.at(0_s);
  for (const NodeId node : {A, B, C}) inactive.install(node, 1, kFirst);
  inactive.renew(C, 1).agree().install(D, 2, kSecond, setOf({A, B})).at(1_s).renew(D, 2).activate(D, 2);
  inactive.expectHolds();

  Ring unleased;  // who comes late to a predecessor does not act without a lease
  unleased.at(0_s).found().agree().install(D, 2, kSecond, setOf({A, B})).at(150_s).renew(D, 2).activate(D, 2);
  unleased.story.crash(C).restart(C);
  unleased.install(C, 1, kFirst).activate(C, 1);
  unleased.expectHolds();

  Ring restarted;  // nor is anybody in a ring before it has installed it again
  restarted.at(0_s).found().story.crash(A).restart(A);
  restarted.renew(A, 1).grant(A, B, 1);
  restarted.expectHolds();
}

TEST(Membership, LeaseAndActivationAreOfTheRingThatIsInstalled) {
  const auto granted = [](const std::function<void(Ring&)>& between) {
    Ring ring;
    ring.at(0_s).found().agree().at(50_s).install(A, 2, kSecond, setOf({A, B}));
    between(ring);
    ring.grant(A, D, 2);
    return ring;
  };
  Ring kept = granted([](Ring& ring) { ring.activate(A, 2); });
  kept.expect(Anomaly::grantedWithoutMembership);
  Ring renewed = granted([](Ring& ring) { ring.activate(A, 2).renew(A, 1); });
  renewed.expect(Anomaly::grantedWithoutMembership);
  Ring activated = granted([](Ring& ring) { ring.activate(A, 1).renew(A, 2); });
  activated.expect(Anomaly::grantedBeforeActivation);
}

TEST(Membership, WhatIsOwedToEarlierMembershipsStaysOwed) {
  const obs::NodeBits voters = setOf({A, B});
  const auto history = [&](Ring& ring) {
    ring.at(0_s).found().agree().install(A, 2, kSecond, voters, 112_s).at(10_s);
  };
  Ring promised;
  history(promised);
  promised.promise(A, 3, 1, B, 1000_s, false, 101_s);
  const Finding finding = promised.expect(Anomaly::protectionForgotten);
  EXPECT_EQ(finding.expected, (102_s).ns);
  EXPECT_EQ(finding.observed, (101_s).ns);

  Ring installed;
  history(installed);
  installed.accept(A, 3, kFirst, 1, B).accept(B, 3, kFirst, 1, B).install(A, 3, kFirst, voters, 50_s);
  EXPECT_EQ(installed.expect(Anomaly::protectionForgotten).rule(), "EP-9");

  Ring kept;
  history(kept);
  kept.promise(A, 3, 1, B, 1000_s, false, 102_s);
  kept.accept(A, 3, kFirst, 1, B).accept(B, 3, kFirst, 1, B).install(A, 3, kFirst, voters, 102_s);
  kept.expectHolds();
}

TEST(Membership, TwoRingsThatBothLiveAreAViolation) {
  Ring renewed;  // a predecessor that goes on renewing after its successor was activated
  renewed.at(0_s).found().agree().install(D, 2, kSecond, setOf({A, B})).at(150_s).renew(D, 2).activate(D, 2);
  renewed.at(151_s).renew(C, 1);
  const Finding finding = renewed.expect(Anomaly::twoLiveRings);
  EXPECT_EQ(finding.node, C);
  EXPECT_EQ(finding.other, D);
  renewed.at(152_s).renew(C, 1);
  EXPECT_EQ(renewed.story.findings().count(Checker::membership), 1U) << "each pair is reported once";
}

TEST(Membership, TwoMembershipsForOneKeyAreReportedWithTheCertificateOfTheOneThatWasAgreed) {
  Ring ring;
  ring.at(0_s).found().grant(A, C, 1).hold(C, 1, 300_s);
  ring.agree().install(B, 2, kSecond, setOf({A, B})).at(150_s).renew(B, 2);
  ring.story.tell(B, obs::Admitted{{7}, K, {2, 1, 9}, Path::recovery, false, ring.story.local(B) + 1_s});
  const Finding finding = ring.expect(Anomaly::twoRingsForKey);
  EXPECT_EQ(finding.other, C);
  EXPECT_EQ(finding.evidence[0].fact, Fact::certificate);
  EXPECT_EQ(finding.evidence[0].number, static_cast<std::int64_t>(setOf({A, B}).bits));
  EXPECT_EQ(finding.evidence[1].fact, Fact::delegationLive);
}

TEST(Membership, EveryKeyWaitsForTheActivation) {
  Ring ring;
  ring.at(0_s).found().agree().install(A, 2, kSecond, setOf({A, B})).at(101_s).renew(A, 2).grant(A, B, 2);
  EXPECT_EQ(ring.expect(Anomaly::grantedBeforeActivation).rule(), "EP-9");
}

// ---- Minority silence, and strangers ----------------------------------------------------------------------

TEST(Membership, WithoutALeaseNobodyGrants) {
  Ring ring;
  ring.at(0_s).found().at(100_s).grant(A, B, 1);
  const Finding finding = ring.expect(Anomaly::grantedWithoutMembership);
  EXPECT_EQ(finding.rule(), "EP-6");
  EXPECT_EQ(finding.evidence[0].fact, Fact::membershipLive) << "nobody voted for the first membership";
  EXPECT_EQ(finding.evidence[0].at, TrueInstant{(100_s).ns}) << "when the lease had ended";

  Ring before;
  before.at(0_s).found().at(99_s).grant(A, B, 1);
  before.expectHolds();
}

TEST(Membership, StrangersTakeNoPart) {
  Ring asked;
  asked.at(0_s).found().grant(A, D, 1);
  EXPECT_EQ(asked.expect(Anomaly::strangerTakesPart).other, D);

  Ring home;
  home.at(0_s).found().install(D, 1, kFirst).renew(D, 1).activate(D, 1).grant(D, A, 1);
  EXPECT_EQ(home.expect(Anomaly::strangerTakesPart).other, D);
}

// ---- Texts ------------------------------------------------------------------------------------------------

TEST(Membership, EveryAnomalyHasARuleAndASentence) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Anomaly>>([](auto anomaly) {
    Finding finding;
    finding.anomaly = anomaly.value;
    if (anomaly.value >= Anomaly::ballotWentBack) finding.checker = Checker::membership;
    EXPECT_FALSE(finding.rule().empty()) << anomaly.name;
    EXPECT_EQ(describe(finding).find("promises that ."), std::string::npos) << anomaly.name;
  });
}

}  // namespace
}  // namespace holdfast::checkers::testing
