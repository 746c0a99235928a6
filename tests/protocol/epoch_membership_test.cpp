// Agreement on epochs, step by step: promises, certificates, leases, catching up (EP-1 to EP-13).

#include "protocol/membership/epoch_membership.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>

#include "tests/protocol/epoch_network.hpp"

namespace holdfast::protocol::epochs {
namespace {

using sim::milliseconds;
using sim::seconds;

constexpr NodeId kA{0};
constexpr NodeId kB{1};
constexpr NodeId kC{2};
constexpr NodeId kD{3};
constexpr NodeId kE{4};
constexpr NodeId kF{5};

std::vector<NodeId> membersAt(EpochNetwork& net, NodeId node) {
  const auto members = net.at(node).members();
  return {members.begin(), members.end()};
}

bool live(EpochNetwork& net, NodeId node) { return net.now < net.at(node).deadline(); }

TEST(EpochMembership, FoundersAreLiveByTheirFirstRenewal) {
  EpochNetwork net(3, 3);
  net.startAll();
  for (const NodeId node : {kA, kB, kC}) {
    EXPECT_TRUE(live(net, node));
    EXPECT_EQ(net.at(node).number(), 1U);
    ASSERT_EQ(net.disk(node).chain.size(), 1U) << "the certificate by birth is durable";
  }
  EXPECT_EQ(net.all<obs::MembershipInstalled>().size(), 3U);
  EXPECT_GE(net.all<obs::ReservationMade>().size(), 6U);
}

TEST(EpochMembership, ASilentMemberIsProposedAwayAndTheOthersGoOn) {
  EpochNetwork net(5, 5);
  net.startAll();
  net.isolate(kE);
  net.advance(seconds(20));
  for (const NodeId node : {kA, kB, kC, kD}) {
    EXPECT_EQ(membersAt(net, node), (std::vector<NodeId>{kA, kB, kC, kD}));
    EXPECT_TRUE(live(net, node));
  }
  // EP-6: the minority stops by its own clock, whatever it does not know.
  EXPECT_EQ(net.at(kE).number(), 1U);
  EXPECT_FALSE(live(net, kE));
  const auto decided = net.all<obs::MembershipDecided>();
  ASSERT_FALSE(decided.empty());
  EXPECT_GE(std::popcount(decided[0].second.voters.bits), 3);

  // Healed, it catches up by certificate and asks to be a member again.
  net.isolate(kE, false);
  net.advance(seconds(20));
  EXPECT_GE(net.at(kE).number(), 3U);
  EXPECT_EQ(membersAt(net, kE).size(), 5U);
  EXPECT_TRUE(live(net, kE));
}

TEST(EpochMembership, TheMinorityDecidesNothing) {
  EpochNetwork net(5, 5);
  net.startAll();
  for (const NodeId node : {kA, kB, kC}) net.isolate(node);
  net.advance(seconds(60));
  EXPECT_TRUE(net.all<obs::MembershipDecided>().empty());
  for (const NodeId node : {kA, kB, kC, kD, kE}) EXPECT_FALSE(live(net, node));
  // Reunited they agree again, although some may have promised meanwhile.
  for (const NodeId node : {kA, kB, kC}) net.isolate(node, false);
  net.advance(seconds(40));
  for (const NodeId node : {kA, kB, kC, kD, kE}) EXPECT_TRUE(live(net, node)) << node.value;
}

TEST(EpochMembership, ABlankNodeJoinsOnlyByAnOperator) {
  EpochNetwork net(4, 3);
  net.startAll();
  net.advance(seconds(5));
  EXPECT_EQ(net.all<obs::MembershipJoining>().size(), 1U);
  EXPECT_EQ(net.at(kA).number(), 1U);
  net.propose(kA, kD, NodeId::none());
  net.settle();
  net.advance(seconds(5));
  EXPECT_EQ(membersAt(net, kD), (std::vector<NodeId>{kA, kB, kC, kD}));
  EXPECT_TRUE(live(net, kD));
  // EP-11: as an acceptor, too.
  net.isolate(kA);
  net.advance(seconds(20));
  EXPECT_EQ(membersAt(net, kD), (std::vector<NodeId>{kB, kC, kD}));
}

TEST(EpochMembership, AnOperatorReplacesAHealthyMember) {
  EpochNetwork net(4, 3);
  net.startAll();
  net.advance(seconds(3));
  net.propose(kB, kD, kC);
  net.settle();
  net.advance(seconds(3));
  for (const NodeId node : {kA, kB, kD}) {
    EXPECT_EQ(membersAt(net, node), (std::vector<NodeId>{kA, kB, kD}));
    EXPECT_TRUE(live(net, node));
  }
  EXPECT_EQ(net.at(kC).number(), 2U) << "it is told that it is out";
  EXPECT_FALSE(live(net, kC));
}

TEST(EpochMembership, AProposalForANodeThatNobodyHeardOfIsAbandoned) {
  EpochNetwork net(4, 3);
  for (const NodeId node : {kA, kB, kC}) net.start(node);
  net.settle();
  net.propose(kA, kD, NodeId::none());
  const auto abandoned = net.all<obs::ProposalAbandoned>();
  ASSERT_EQ(abandoned.size(), 1U);
  EXPECT_EQ(abandoned[0].second.cause, Cause::notMember);
}

// ---- Activation (EP-8) ------------------------------------------------------------------------------------

/// EP-8's schedule: the prepare is 100 s under way, and the old holder renews at 80.
MonotonicInstant activationAfterADelayedPrepare(Rules rules) {
  ProtocolOptions options = EpochNetwork::exact();
  options.epochLease = seconds(100);
  options.renewEvery = seconds(10);
  options.maxDelegation = seconds(10);
  options.skew = seconds(1);
  options.proposalTimeout = seconds(500);
  options.missedRenewals = 1'000;
  EpochNetwork net(3, 3, rules, options);
  net.startAll();
  const MonotonicInstant zero = net.now;
  net.propose(kA, NodeId::none(), kC);
  while (net.persistOne(kA)) {
  }
  // Everything but the prepare to B is lost; A promises itself at once, with a reservation from the start.
  const auto prepare = net.letters[net.find<MembershipPrepare>(kA, kB)];
  net.letters.clear();
  net.now = zero + seconds(80);
  net.receive(kB, kC, MembershipRenew{1, 1, 9});
  net.now = zero + seconds(100);
  net.receive(kB, kA, prepare.message);
  EXPECT_TRUE(net.persistOne(kB));
  EXPECT_TRUE(net.pass<MembershipPromise>(kB, kA));
  EXPECT_TRUE(net.persistOne(kA));  // its own acceptance
  EXPECT_TRUE(net.pass<MembershipAccept>(kA, kB));
  EXPECT_TRUE(net.persistOne(kB));
  EXPECT_TRUE(net.pass<MembershipAccepted>(kB, kA));
  EXPECT_TRUE(net.persistOne(kA));  // the certificate
  EXPECT_EQ(net.at(kA).number(), 2U);
  return MonotonicInstant{(net.at(kA).grantsFrom() - zero).ns};
}

// ---- Starts (EP-14) ---------------------------------------------------------------------------------------

/// Whether A takes a lease by acknowledgements of its last start's renewal.
bool liveByOldAcknowledgements(Rules rules) {
  EpochNetwork net(3, 3, rules);
  net.startAll();
  net.crash(kA);
  net.letters.clear();
  net.start(kA);
  EXPECT_TRUE(net.pass<MembershipRenew>(kA, kB));
  EXPECT_TRUE(net.pass<MembershipRenew>(kA, kC));
  const auto ofB = net.letters[net.find<MembershipRenewAck>(kB, kA)].message;
  const auto ofC = net.letters[net.find<MembershipRenewAck>(kC, kA)].message;
  net.crash(kA);
  net.letters.clear();
  net.now = net.now + seconds(5);
  net.start(kA);
  net.receive(kA, kB, ofB);
  net.receive(kA, kC, ofC);
  return net.now < net.at(kA).deadline();
}

TEST(EpochStarts, AnAcknowledgementOfAnEarlierStartProlongsNothing) {
  EXPECT_FALSE(liveByOldAcknowledgements({}));
  EXPECT_TRUE(liveByOldAcknowledgements(Rules().without(Rule::EP14_NameTheStart)));
}

TEST(EpochStarts, AnAcknowledgementOfThisStartCounts) {
  EpochNetwork net(3, 3);
  net.startAll();
  net.crash(kA);
  net.letters.clear();
  net.start(kA);
  EXPECT_TRUE(net.pass<MembershipRenew>(kA, kB));
  EXPECT_TRUE(net.pass<MembershipRenewAck>(kB, kA));
  EXPECT_LT(net.now, net.at(kA).deadline());
}

/// Whether A goes on to its accept on a promise that C made to its last start, under the same ballot.
bool acceptsByOldPromise(Rules rules) {
  ProtocolOptions options = EpochNetwork::exact();
  options.rejoin = false;
  EpochNetwork net(3, 3, rules, options);
  net.startAll();
  net.propose(kA, NodeId::none(), kC);
  EXPECT_TRUE(net.pass<MembershipPrepare>(kA, kC));
  EXPECT_TRUE(net.persistOne(kC));
  const auto promise = net.letters[net.find<MembershipPromise>(kC, kA)].message;
  net.crash(kA);  // and its own promise was not durable
  net.letters.clear();
  net.start(kA);
  EXPECT_TRUE(net.pass<MembershipRenew>(kA, kB));
  EXPECT_TRUE(net.pass<MembershipRenewAck>(kB, kA));
  net.propose(kA, NodeId::none(), kB);
  EXPECT_EQ(std::get<MembershipPrepare>(net.letters[net.find<MembershipPrepare>(kA, kC)].message).ballot,
            std::get<MembershipPromise>(promise).ballot);
  net.letters.clear();
  while (net.persistOne(kA)) {
  }
  net.receive(kA, kC, promise);
  return net.find<MembershipAccept>(kA, kC) < net.letters.size();
}

TEST(EpochStarts, APromiseToAnEarlierStartIsNone) {
  EXPECT_FALSE(acceptsByOldPromise({}));
  EXPECT_TRUE(acceptsByOldPromise(Rules().without(Rule::EP14_RoundsNameTheStart)));
}

TEST(EpochStarts, AJoinerCountsAnswersToItselfOnly) {
  EpochNetwork net(3, 3);
  net.startAll();
  net.crash(kA);
  net.letters.clear();
  net.disk(kA).corrupted = true;
  net.disk(kA).chain.clear();
  net.start(kA);
  ASSERT_TRUE(net.at(kA).joining());
  const std::uint64_t start = net.disk(kA).start;
  for (const std::uint64_t answers : {start - 1, std::uint64_t{0}}) {
    for (const NodeId peer : {kB, kC}) net.receive(kA, peer, MembershipCertificates{1, {}, answers});
    EXPECT_TRUE(net.at(kA).joining()) << answers;
  }
  for (const NodeId peer : {kB, kC}) net.receive(kA, peer, MembershipCertificates{1, {}, start});
  EXPECT_FALSE(net.at(kA).joining());
}

TEST(EpochMembership, ActivationCountsFromTheReceiptOfThePromise) {
  EXPECT_EQ(activationAfterADelayedPrepare({}).ns, seconds(192).ns);
}

TEST(EpochMembership, CountedFromTheSendingItWouldComeWhileTheOldHolderLives) {
  // 112 of A's own promise (101 + 10 + 1) outlasts the 92 that B's promise gives; B's alone is what is
  // unsafe.
  const MonotonicInstant early = activationAfterADelayedPrepare(Rules().switchOff(Rule::EP8_AnchorAtReceipt));
  EXPECT_LT(early.ns, seconds(180).ns);
}

TEST(Proposer, TheNumbersOfTheSpecification) {
  ProtocolOptions options = EpochNetwork::exact();
  options.epochLease = seconds(100);
  options.maxDelegation = seconds(10);
  options.skew = seconds(1);
  for (const bool atReceipt : {true, false}) {
    EpochNetwork net(1, 1, atReceipt ? Rules{} : Rules().switchOff(Rule::EP8_AnchorAtReceipt), options);
    const NodeSetup setup = [&] {
      NodeSetup made = net.setupOf(kA);
      made.options = options;
      return made;
    }();
    Effects effects;
    TimerSet timers;
    std::vector<Answer> out;
    const auto envAt = [&](Duration at, Context& context) {
      context.now = MonotonicInstant{at.ns};
      return MembershipEnv{setup, context, timers, 1};
    };
    Context context{MonotonicInstant{}, WallInstant{}, effects};
    const Configuration present{1, {{kA, 0}}, 1, {}};
    Proposer proposer{0};
    proposer.start(present, Configuration{2, {{kA, 0}}, 1, {}}, {}, true, out, envAt({}, context));
    proposer.onPromise(kA, MembershipPromise{2, {1, kA}, seconds(81), {}, {}}, present,
                       MonotonicInstant::longAgo(), out, envAt(seconds(100), context));
    ASSERT_EQ(proposer.phase(), Proposer::Phase::accepting);
    const auto* accept = std::get_if<MembershipAccept>(&out.back().message);
    ASSERT_NE(accept, nullptr);
    (void)proposer.onAccepted(
        kA,
        MembershipAccepted{
            2, {1, kA}, digestOf(accept->value.configuration), signVote(*setup.directory, kA, accept->value)},
        present, envAt(seconds(100), context));
    const auto activation = proposer.activationOf(accept->value.configuration);
    ASSERT_TRUE(activation.has_value());
    EXPECT_EQ(activation->ns, atReceipt ? seconds(192).ns : seconds(92).ns);
  }
}

// ---- Durability (EP-10, EP-11, EP-12) ---------------------------------------------------------------------

TEST(EpochMembership, ARestartedAcceptorReportsAFullReservation) {
  EpochNetwork net(3, 3);
  net.startAll();
  net.crash(kB);
  net.advance(seconds(1));
  net.start(kB);
  net.letters.clear();
  net.receive(kB, kA, MembershipPrepare{2, {7, kA}, 1});
  ASSERT_TRUE(net.persistOne(kB));
  const auto promised = net.all<obs::MembershipPromised>();
  ASSERT_EQ(promised.size(), 1U);
  EXPECT_EQ(promised[0].second.reservation,
            net.setupOf(kB).options.epochLease + net.setupOf(kB).options.skew);
}

TEST(EpochMembership, APromiseIsAnsweredOnlyWhenItIsDurable) {
  EpochNetwork net(3, 3);
  net.startAll();
  net.letters.clear();
  net.receive(kB, kA, MembershipPrepare{2, {7, kA}, 1});
  EXPECT_TRUE(net.letters.empty());
  EXPECT_TRUE(net.all<obs::MembershipPromised>().empty());
  // EP-3: it renews nothing all the same.
  net.receive(kB, kC, MembershipRenew{1, 1, 5});
  EXPECT_TRUE(net.letters.empty());
  ASSERT_TRUE(net.persistOne(kB));
  ASSERT_EQ(net.letters.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<MembershipPromise>(net.letters[0].message));
  // EP-2: a smaller ballot is rejected, also after a restart.
  net.crash(kB);
  net.start(kB);
  net.letters.clear();
  net.receive(kB, kC, MembershipPrepare{2, {6, kC}, 1});
  ASSERT_EQ(net.letters.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<MembershipReject>(net.letters[0].message));
}

/// EP-12: A and B accept X = {A,D,E}; B restarts, A is out of reach, C never heard. What B and C decide then,
/// when C would like Y = {B,C,F}.
std::uint64_t decidedAfterX(Rules rules) {
  EpochNetwork net(6, 3, rules);
  net.startAll();
  net.advance(seconds(3));  // everybody has heard of F
  net.letters.clear();
  const AcceptedValue x{{1, kA}, {2, {{kA, 0}, {kD, 0}, {kE, 0}}, 1, {}}, seconds(15)};
  for (const NodeId voter : {kA, kB}) {
    net.receive(voter, kA, MembershipPrepare{2, x.ballot, 1});
    (void)net.persistOne(voter);
    net.receive(voter, kA, MembershipAccept{x});
    (void)net.persistOne(voter);
  }
  EXPECT_EQ(net.all<obs::MembershipAccepted>().size(), 2U) << "X is decided";
  net.isolate(kA);
  net.crash(kB);
  net.start(kB);
  net.letters.clear();
  net.propose(kC, kF, kA);
  net.settle();
  const auto decided = net.all<obs::MembershipDecided>();
  return decided.empty() ? 0 : decided.back().second.members.bits;
}

TEST(EpochMembership, DurableAcceptorsDecideTheSameSuccessorAgain) {
  EXPECT_EQ(decidedAfterX({}), 0b011001U) << "X, which C has to adopt from B's promise (EP-4)";
}

TEST(EpochMembership, ForgetfulAcceptorsFork) {
  EXPECT_EQ(decidedAfterX(Rules().switchOff(Rule::EP12_DurableAcceptors)), 0b100110U);
  EXPECT_EQ(decidedAfterX(Rules().switchOff(Rule::EP4_PersistAccepted)), 0b100110U);
  EXPECT_EQ(decidedAfterX(Rules().switchOff(Rule::EP2_ReportAccepted)), 0b100110U);
  EXPECT_EQ(decidedAfterX(Rules().switchOff(Rule::EP4_AdoptAccepted)), 0b100110U);
}

TEST(EpochMembership, AWrongDiskIsNoMember) {
  EpochNetwork net(3, 3);
  net.startAll();
  net.crash(kC);
  net.disk(kC) = {};
  net.disk(kC).disk = 1;
  net.start(kC);
  net.receive(kC, kA, MembershipPrepare{2, {3, kA}, 1});
  net.receive(kC, kA, MembershipRenew{1, 1, 99});
  EXPECT_FALSE(net.persistOne(kC)) << "it must not vote in a configuration that it may have voted in before";
  EXPECT_FALSE(live(net, kC));
  const auto joining = net.all<obs::MembershipJoining>();
  ASSERT_EQ(joining.size(), 1U);
  EXPECT_EQ(joining[0].second.why, obs::JoiningReason::blank);
  // It asks, and is admitted with the identity that it has now.
  net.advance(seconds(20));
  EXPECT_GE(net.at(kC).number(), 2U);
  EXPECT_TRUE(live(net, kC));
  const auto* admitted = net.at(kA).chain().current().find(kC);
  ASSERT_NE(admitted, nullptr);
  EXPECT_EQ(admitted->identity, 1U);
}

TEST(EpochMembership, CorruptedRecordsMakeANodeJoin) {
  EpochNetwork net(3, 3);
  net.startAll();
  net.crash(kC);
  DurableMembership spoilt;
  spoilt.disk = 1;
  spoilt.corrupted = true;
  net.disk(kC) = spoilt;
  net.start(kC);
  const auto joining = net.all<obs::MembershipJoining>();
  ASSERT_EQ(joining.size(), 1U);
  EXPECT_EQ(joining[0].second.why, obs::JoiningReason::corrupted);
  EXPECT_TRUE(net.at(kC).joining());
}

TEST(EpochMembership, TheProposersCrashAfterAcceptanceIsMadeGoodByAnother) {
  EpochNetwork net(5, 5);
  net.startAll();
  net.propose(kA, NodeId::none(), kE);
  // A crashes when B and C have accepted and nobody knows that it is decided.
  while (net.persistOne(kA)) {
  }
  for (const NodeId node : {kB, kC}) {
    ASSERT_TRUE(net.pass<MembershipPrepare>(kA, node));
    ASSERT_TRUE(net.persistOne(node));
    ASSERT_TRUE(net.pass<MembershipPromise>(node, kA));
  }
  while (net.persistOne(kA)) {
  }
  for (const NodeId node : {kB, kC}) {
    ASSERT_TRUE(net.pass<MembershipAccept>(kA, node));
    ASSERT_TRUE(net.persistOne(node));
  }
  net.letters.clear();
  net.crash(kA);
  net.advance(seconds(30));
  const auto decided = net.all<obs::MembershipDecided>();
  ASSERT_FALSE(decided.empty());
  EXPECT_EQ(decided[0].second.number, 2U);
  EXPECT_EQ(decided[0].second.members.bits, 0b01111U) << "A's value, not one without the silent A";
  EXPECT_TRUE(live(net, kB));
}

TEST(EpochMembership, ProtectionIsCarriedThroughRapidReplacements) {
  ProtocolOptions options = EpochNetwork::exact();
  options.epochLease = seconds(100);
  options.renewEvery = seconds(1);
  options.maxDelegation = seconds(10);
  options.skew = seconds(1);
  options.missedRenewals = 1'000;
  for (const bool transitive : {true, false}) {
    EpochNetwork net(5, 3, transitive ? Rules{} : Rules().switchOff(Rule::EP9_Transitive), options);
    net.startAll();
    net.advance(seconds(2));
    net.isolate(kC);  // an original holder that keeps running until about 102
    net.propose(kA, kD, kC);
    net.settle();
    ASSERT_EQ(net.at(kA).number(), 2U);
    const MonotonicInstant first = net.at(kA).grantsFrom();
    net.advance(milliseconds(1'100));  // A needs a lease to propose
    net.propose(kA, kE, kB);           // before anybody has renewed the second configuration for long
    net.settle();
    ASSERT_EQ(net.at(kE).number(), 3U);
    if (transitive) {
      EXPECT_GE(net.at(kE).grantsFrom(), first);
      EXPECT_GE(net.at(kD).grantsFrom(), first);
    }
  }
}

// ---- Certificates that count for nothing (EP-5, EP-11) ----------------------------------------------------

class Refused : public testing::Test {
 protected:
  Refused() : net(4, 3) {
    net.startAll();
    value = {{5, kA}, {2, {{kA, 0}, {kB, 0}}, 1, {}}, seconds(1)};
  }
  Vote vote(NodeId voter) const { return {voter, signVote(net.directory(), voter, value)}; }
  /// What C says of the certificate; it stays where it is unless it says nothing.
  std::vector<obs::CertificateFault> faultsOf(const Certificate& certificate) {
    const std::size_t before = net.all<obs::CertificateRefused>().size();
    net.letters.clear();
    net.receive(kC, kB, MembershipCertificates{certificate.number(), {certificate}});
    net.settle();
    std::vector<obs::CertificateFault> faults;
    const auto refusals = net.all<obs::CertificateRefused>();
    for (std::size_t i = before; i < refusals.size(); ++i) faults.push_back(refusals[i].second.fault);
    return faults;
  }
  EpochNetwork net;
  AcceptedValue value;
};

TEST_F(Refused, ForgedPartialAndDuplicatedVotes) {
  using Fault = obs::CertificateFault;
  Certificate certificate{value, {vote(kA), {kB, 12345}}};
  EXPECT_EQ(faultsOf(certificate), std::vector{Fault::forged});
  certificate.votes = {vote(kA)};
  EXPECT_EQ(faultsOf(certificate), std::vector{Fault::partial});
  certificate.votes = {vote(kA), vote(kA)};
  EXPECT_EQ(faultsOf(certificate), std::vector{Fault::duplicatedVoter});
  certificate.votes = {vote(kA), vote(kD)};
  EXPECT_EQ(faultsOf(certificate), std::vector{Fault::notMember});
  certificate.votes = {vote(kA), vote(kB)};
  certificate.value.protection = Duration{};  // shortened on the way: the signatures say otherwise
  EXPECT_EQ(faultsOf(certificate), std::vector{Fault::forged});
  EXPECT_EQ(net.at(kC).number(), 1U);
}

TEST_F(Refused, GapsObsoleteOversizedAndUnknownVersions) {
  using Fault = obs::CertificateFault;
  value.configuration.number = 3;
  EXPECT_EQ(faultsOf({value, {vote(kA), vote(kB)}}), std::vector{Fault::gap});
  value.configuration.number = 1;
  EXPECT_EQ(faultsOf({value, {vote(kA), vote(kB)}}), std::vector{Fault::obsolete});
  value.configuration.number = 2;
  value.configuration.ringVersion = 77;
  EXPECT_EQ(faultsOf({value, {vote(kA), vote(kB)}}), std::vector{Fault::version});
  value.configuration.ringVersion = 2;  // known, but not this node's own (RT-3)
  EXPECT_EQ(faultsOf({value, {vote(kA), vote(kB)}}), std::vector{Fault::version});
  value.configuration.ringVersion = 1;
  Certificate large{value, std::vector<Vote>(kMaxMembers + 1, vote(kA))};
  EXPECT_EQ(faultsOf(large), std::vector{Fault::oversized});
  value.configuration.members = {{kB, 0}, {kA, 0}};
  EXPECT_EQ(faultsOf({value, {vote(kA), vote(kB)}}), std::vector{Fault::malformed});
  EXPECT_EQ(net.at(kC).number(), 1U);
}

TEST_F(Refused, BallotsOfStrangersAndForOthers) {
  net.letters.clear();
  net.receive(kA, kD, MembershipPrepare{2, {9, kD}, 1});
  net.receive(kA, kB, MembershipPrepare{2, {9, kC}, 1});
  net.receive(kA, kB, MembershipPrepare{2, {9, kB}, 2});
  const auto refused = net.all<obs::MessageRefused>();
  ASSERT_GE(refused.size(), 3U);
  EXPECT_EQ(refused[refused.size() - 3].second.cause, Cause::notMember);
  EXPECT_EQ(refused[refused.size() - 2].second.cause, Cause::malformed);
  EXPECT_EQ(refused.back().second.cause, Cause::version);
  EXPECT_FALSE(net.persistOne(kA));
}

TEST_F(Refused, AGenuineOneIsInstalled) {
  EXPECT_TRUE(faultsOf({value, {vote(kA), vote(kB)}}).empty());
  EXPECT_EQ(net.at(kC).number(), 2U);
  EXPECT_GE(net.at(kC).grantsFrom(), net.now + seconds(1)) << "the whole protection, from the receipt";
}

// ---- Hash -------------------------------------------------------------------------------------------------

TEST(EpochMembership, TheHashSeesPromisesReservationsAndProtection) {
  EpochNetwork net(3, 3);
  net.startAll();
  const auto hashOf = [&](NodeId node) {
    StateHash hash(net.now);
    hash.add(net.at(node));
    return hash.value();
  };
  std::set<std::uint64_t> hashes{hashOf(kB)};
  net.now = net.now + milliseconds(1);
  EXPECT_TRUE(hashes.insert(hashOf(kB)).second) << "the reservation has less left";
  net.receive(kB, kA, MembershipPrepare{2, {7, kA}, 1});
  EXPECT_TRUE(hashes.insert(hashOf(kB)).second) << "a promise under way";
  ASSERT_TRUE(net.persistOne(kB));
  EXPECT_TRUE(hashes.insert(hashOf(kB)).second) << "a promise";
  AcceptedValue value{{7, kA}, {2, {{kA, 0}, {kB, 0}}, 1, {}}, seconds(3)};
  net.receive(kB, kA, MembershipAccept{value});
  EXPECT_TRUE(hashes.insert(hashOf(kB)).second) << "an acceptance under way";
}

}  // namespace
}  // namespace holdfast::protocol::epochs
