// Agreement on the next membership when it matters: forks, delays, restarts and crashes in mid-round, forged
// certificates (S-42 to S-47; EP-1 to EP-12).
#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/membership_parts.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;
using obs::CertificateFault;

constexpr std::uint32_t kAll = 10'000;

void cutBoth(Story& story, std::string_view one, std::string_view other) {
  story.cluster().cut(story.id(one), story.id(other));
  story.cluster().cut(story.id(other), story.id(one));
}

void healBoth(Story& story, std::string_view one, std::string_view other) {
  story.cluster().heal(story.id(one), story.id(other));
  story.cluster().heal(story.id(other), story.id(one));
}

void restartAfter(Story& story, std::string_view node) {
  story.node(node).crash();
  story.node(node).restart();
}

/// The old holder goes on using `key` for as long as it is let; each time for a moment.
Task<> keepUsing(Story& story, std::string node, std::string key, TrueInstant until) {
  while (story.now() < until) {
    const LockOutcome lock = co_await story.node(node).lock(key, callFor(1_s, 2_s));
    co_await story.sleep(400_ms);
    if (lock.admitted()) story.node(node).unlock(lock);
    co_await story.sleep(100_ms);
  }
}

/// When the last section of `node` on any key began.
TrueInstant lastAdmission(const Story& story, std::string_view node) {
  const NodeId id = story.id(node);
  const auto found = story.last<obs::Admitted>([=](const obs::Admitted&, NodeId at) { return at == id; });
  return found ? found->first.at : TrueInstant::never();
}

// ---- S-42 -------------------------------------------------------------------------------------------------

/// `asker` tells `member` that it would like to be one, as a former member does by itself.
void askToBeLetIn(Story& story, std::string_view asker, std::string_view member) {
  story.cluster().dropNext(story.id(asker), story.id(member), MessageKind::membershipQuery, kAll);
  story.cluster().injectMessage(story.id(asker), story.id(member),
                                protocol::MembershipQuery{numberAt(story, asker), 0, true});
}

ScenarioResult disjointSuccessors(ScenarioContext& context) {
  Story story(context, epochOptions({"A", "B", "C", "D", "E", "F"}, {"A", "B", "C"}, {"kA", "kB", "kC"}));
  return story.run([&]() -> Task<> {
    const obs::NodeBits x = setOf(story, {"A", "D", "E"});
    const LockOutcome before = co_await story.node("C").lock("kC", callFor(1_s, 500_ms));
    story.node("C").unlock(before);
    for (const char* const node : {"A", "B", "D", "E"}) cutBoth(story, "C", node);
    // C falls silent to A; an operator has A replace B, and D and E want in: X = {A, D, E}.
    co_await story.sleep(7'900_ms);
    askToBeLetIn(story, "D", "A");
    askToBeLetIn(story, "E", "A");
    co_await story.sleep(100_ms);
    propose(story, "A", "", "B");
    story.expect(co_await story.untilSeen<obs::MembershipDecided>(), "A and B decide X, C never hears");
    const auto decided = story.first<obs::MembershipDecided>();
    story.expect(decided && decided->second.members == x, "X is {A, D, E}");
    story.expect(decided && decided->second.voters == setOf(story, {"A", "B"}), "by the votes of A and B");

    // B restarts before anybody tells it, on the side of C and F, with A out of reach.
    const std::vector<NodeId> side{story.id("B"), story.id("C"), story.id("F")};
    story.cluster().partition(side);
    healBoth(story, "B", "C");
    healBoth(story, "C", "F");
    restartAfter(story, "B");
    co_await story.sleep(700_ms);
    for (int i = 0; i < 3; ++i) {
      askToBeLetIn(story, "F", "C");
      askToBeLetIn(story, "F", "B");
      co_await story.sleep(3_s);
    }
    story.expect(co_await untilActive(story, "D", 2), "X lives on D and E");
    story.expect(co_await untilNumber(story, "C", 2), "C learns of a second membership");
    for (const char* const node : {"A", "B", "C", "D", "E"}) {
      const auto second = installation(story, node, 2);
      story.expect(second && second->second.members == x,
                   fmt::format("the second membership is X at {}", node));
    }
    const LockOutcome inside = co_await story.node("E").lock("kC", callFor(40_s, 2_s));
    story.expect(inside.admitted(), "E is served kC in X");
    const LockOutcome outside = co_await story.node("F").lock("kC", callFor(1_s, 1_s));
    story.expect(!outside.admitted(), "F is not served it beside");
    if (outside.admitted()) story.node("F").unlock(outside);
    story.node("E").unlock(inside);
    story.cluster().healAll();
    co_await story.sleep(10_s);
  });
}

// ---- S-43 -------------------------------------------------------------------------------------------------

/// The figures of EP-8: leases of 100 s, delegations of at most 10 s, a margin of 1 s.
StoryOptions workedNumbers() {
  StoryOptions options = epochOptions({"A", "B", "C", "D"}, {"A", "B", "C"}, {"kC"});
  options.protocol.epochLease = 100_s;
  options.protocol.renewEvery = 40_s;
  options.protocol.maxDelegation = 10_s;
  options.protocol.skew = 1_s;
  options.protocol.rateErrorPpb = 0;
  options.protocol.proposalTimeout = 250_s;
  return options;
}

ScenarioResult delayedPrepare(ScenarioContext& context) {
  Story story(context, workedNumbers());
  return story.run([&]() -> Task<> {
    Cluster& cluster = story.cluster();
    const NodeId a = story.id("A");
    const NodeId b = story.id("B");
    // Restarts set the rhythm: A renews at 40 s, B at 15 s and 55 s, C at 20 s, 60 s, 100 s and 140 s.
    co_await story.sleep(14_s);
    restartAfter(story, "B");
    co_await story.sleep(5_s);
    restartAfter(story, "C");
    co_await story.sleep(25_s);
    cutBoth(story, "A", "C");
    cutBoth(story, "D", "C");
    cluster.dropNext(b, a, MessageKind::membershipRenew);
    co_await story.sleep(15_s);
    const TrueInstant sent = story.now();  // 60 s
    story.also([&story, sent]() -> Task<> { co_await keepUsing(story, "C", "kC", sent + 185_s); });
    cluster.delayLink(a, b, 100_s - story.options().latency);
    propose(story, "A", "D", "C");
    cluster.delayLink(a, b, {});
    co_await story.sleep(101_s);
    story.cluster().cut(b,
                        story.id("C"));  // nobody tells C, whose renewal at 80 s of this count B acknowledged
    const LockOutcome ofD = co_await story.node("D").lock("kC", callFor(150_s, 5_s));
    story.expect(ofD.admitted(), "D is served kC in the end");
    co_await story.sleep(3_s);
    story.node("D").unlock(ofD);

    const TrueInstant active = activation(story, "A", 2);
    story.expectAtLeast(active - sent, 192_s, "from the sending of the prepare to the activation");
    story.expectAtMost(active - sent, 192_s + 100_ms, "from the sending of the prepare to the activation");
    const TrueInstant last = lastAdmission(story, "C");
    story.expectAtLeast(last - sent, 179_s, "C's last section: its lease runs to 180 s");
    story.expectAtMost(last - sent, 180_s + 100_ms, "C's last section: its lease runs to 180 s");
    story.expectAtLeast(ofD.at, active, "when D is served");
    story.note(
        fmt::format("activated {:.3f} s after the prepare was sent; counted from there it would be 92 s",
                    static_cast<double>((active - sent).ns) / 1e9));
  });
}

// ---- S-44 -------------------------------------------------------------------------------------------------

StoryOptions longLeases() {
  StoryOptions options = epochOptions({"A", "B", "C", "D"}, {"A", "B", "C"}, {"kC"});
  options.protocol.epochLease = 60_s;
  options.protocol.renewEvery = 20_s;
  options.protocol.maxDelegation = 5_s;
  options.protocol.skew = 1_s;
  options.protocol.rateErrorPpb = 0;
  return options;
}

ScenarioResult intersectingAcceptorRestarts(ScenarioContext& context) {
  Story story(context, longLeases());
  return story.run([&]() -> Task<> {
    Cluster& cluster = story.cluster();
    const NodeId a = story.id("A");
    const NodeId b = story.id("B");
    // A and B renew every 20 s; C, restarted, at 17 s, 37 s and 57 s.
    co_await story.sleep(16_s);
    restartAfter(story, "C");
    co_await story.sleep(13_s);
    cutBoth(story, "A", "C");
    cutBoth(story, "D", "C");
    co_await story.sleep(28_s);  // 58 s: B alone has acknowledged C's renewal of 57 s, good until 117 s
    const TrueInstant begun = story.now();
    story.also([&story, begun]() -> Task<> { co_await keepUsing(story, "C", "kC", begun + 70_s); });
    cluster.cut(b, story.id("C"));
    cluster.dropNext(b, a, MessageKind::membershipPromise);
    propose(story, "A", "D", "C");
    co_await story.sleep(500_ms);
    restartAfter(story, "B");  // it has promised, and knows that; what it has reserved it can not know
    story.expect(co_await untilNumber(story, "D", 2), "A's second round succeeds with B");
    const auto promise = story.last<obs::MembershipPromised>(
        [=](const obs::MembershipPromised&, NodeId at) { return at == b; });
    story.expectAtLeast(promise ? promise->second.reservation : Duration{}, 59_s,
                        "what B reports as reserved: a whole lease from its restart");
    const LockOutcome ofD = co_await story.node("D").lock("kC", callFor(100_s, 5_s));
    story.expect(ofD.admitted(), "D is served kC in the end");
    co_await story.sleep(3_s);
    story.node("D").unlock(ofD);
    story.expectAtLeast(activation(story, "A", 2), TrueInstant{} + 117_s, "the activation: C lives to 117 s");
    story.expectAtMost(lastAdmission(story, "C"), TrueInstant{} + 117_s, "C's last section");
  });
}

// ---- S-45 -------------------------------------------------------------------------------------------------

ScenarioResult proposerCrashes(ScenarioContext& context) {
  Story story(context, epochOptions({"A", "B", "C", "D", "E"}, {}, {"kA", "kB", "kE"}));
  return story.run([&]() -> Task<> {
    const LockOutcome lock = co_await story.node("B").lock("kB", callFor(1_s, 500_ms));
    story.node("B").unlock(lock);
    propose(story, "A", "", "E");
    const bool accepted = co_await story.untilSeen<obs::MembershipAccepted>({}, 4);
    story.expect(accepted, "four accept that E leaves");
    story.node("A").crash();
    story.expectEqual(story.count<obs::MembershipDecided>(), 0U, "decisions before the proposer died");
    story.expect(co_await untilNumber(story, "B", 2), "another proposer ends what was begun");
    const auto decided = story.first<obs::MembershipDecided>();
    story.expect(decided && decided->second.members == setOf(story, {"A", "B", "C", "D"}),
                 "the value that was accepted is what is decided (EP-4)");
    story.expect(decided && decided->first.node != story.id("A"), "by somebody else");
    story.expect(co_await untilActive(story, "B", 3, 120_s), "A, dead, is proposed away after that");
    const LockOutcome rehomed = co_await story.node("B").lock("kE", callFor(30_s, 500_ms));
    story.expect(rehomed.admitted(), "B is served kE");
    story.node("B").unlock(rehomed);
  });
}

ScenarioResult rapidReplacements(ScenarioContext& context) {
  StoryOptions options = epochOptions({"A", "B", "C", "D", "E"}, {"A", "B", "C"}, {"kC"});
  options.protocol.maxDelegation = 30_s;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    co_await story.sleep(1'500_ms);
    const TrueInstant begun = story.now();
    story.also([&story, begun]() -> Task<> { co_await keepUsing(story, "C", "kC", begun + 30_s); });
    co_await story.sleep(1_s);
    for (const char* const node : {"A", "B", "D", "E"}) cutBoth(story, "C", node);
    propose(story, "A", "D", "C");
    story.expect(co_await untilLive(story, "A", 2), "C is replaced by D");
    propose(story, "A", "E", "B");
    story.expect(co_await untilNumber(story, "E", 3), "and B by E as soon as that is renewed");
    const auto second = installation(story, "A", 2);
    const auto third = installation(story, "A", 3);
    if (second && third) {
      story.expectAtMost(third->first.at - second->first.at, story.options().protocol.renewEvery + 200_ms,
                         "between the two");
      story.expectAtLeast(third->first.at + third->second.activateAfter,
                          second->first.at + second->second.activateAfter,
                          "when A may grant: what it owed to the first membership it owes still (EP-9)");
    }
    const LockOutcome ofE = co_await story.node("E").lock("kC", callFor(80_s, 5_s));
    story.expect(ofE.admitted(), "E is served kC in the end");
    story.expectEqual(ofE.token.membership, 3U, "the membership of its token");
    story.expectAtLeast(ofE.at, lastAdmission(story, "C"), "when: C's last section is over");
    story.node("E").unlock(ofE);
  });
}

// ---- S-46: proposers in each other's way ------------------------------------------------------------------

ScenarioResult duel(ScenarioContext& context) {
  Story story(context, epochOptions({"A", "B", "C", "D", "E"}, {"A", "B", "C"}, {"kA"}));
  return story.run([&]() -> Task<> {
    co_await story.sleep(1_s);
    const LockOutcome lock = co_await story.node("B").lock("kA", callFor(1_s, 500_ms));
    story.node("B").unlock(lock);
    propose(story, "A", "D", "");
    propose(story, "B", "E", "");
    story.expect(co_await untilNumber(story, "A", 3), "both get their way, one after the other");
    story.expectAtLeast(story.count<obs::ProposalAbandoned>(), 1U, "rounds that stood in the other's way");
    const auto& membership = story.cluster().node(story.id("A"))->membership();
    story.expect(membership.isMember(story.id("D")) && membership.isMember(story.id("E")),
                 "D and E are members");
    story.expect(co_await untilActive(story, "E", 3), "and the last membership becomes active");
  });
}

ScenarioResult promiseSurvives(ScenarioContext& context) {
  Story story(context, epochOptions({"A", "B", "C", "D", "E"}, {"A", "B", "C"}, {"kA"}));
  return story.run([&]() -> Task<> {
    Cluster& cluster = story.cluster();
    const NodeId a = story.id("A");
    const NodeId b = story.id("B");
    const NodeId c = story.id("C");
    co_await story.sleep(1_s);
    const LockOutcome lock = co_await story.node("B").lock("kA", callFor(1_s, 500_ms));
    story.node("B").unlock(lock);
    // A's prepare is under way for long; meanwhile B promises its own, which is greater, and restarts.
    cluster.holdMessages(a, b, MessageKind::membershipPrepare);
    cluster.dropNext(a, c, MessageKind::membershipPrepare);
    propose(story, "A", "D", "");
    cluster.dropNext(b, a, MessageKind::membershipPrepare);
    cluster.dropNext(b, c, MessageKind::membershipPrepare);
    propose(story, "B", "E", "");
    co_await story.sleep(100_ms);
    const auto ofB = [=](const obs::MembershipPromised&, NodeId at) { return at == b; };
    story.expectEqual(story.count<obs::MembershipPromised>(ofB), 1U, "B's promises before its restart");
    restartAfter(story, "B");
    co_await story.sleep(50_ms);
    story.expectEqual(cluster.releaseHeld(a, b, MessageKind::membershipPrepare), 1U,
                      "prepares that arrive late");
    co_await story.sleep(50_ms);
    // A may have begun again by now: B promises a greater ballot than its own.
    const auto late = [=](const obs::MembershipPromised& promise, NodeId at) {
      return at == b && promise.proposer == a && promise.counter == 1;
    };
    story.expectEqual(story.count<obs::MembershipPromised>(late), 0U, "B's promises of A's late ballot");
    story.expect(co_await untilNumber(story, "B", 2), "agreement goes on (EP-3)");
  });
}

// ---- S-47 -------------------------------------------------------------------------------------------------

std::size_t refused(const Story& story, CertificateFault fault) {
  return story.count<obs::CertificateRefused>(
      [=](const obs::CertificateRefused& what, NodeId) { return what.fault == fault; });
}

void showCertificate(Story& story, std::string_view from, protocol::Certificate certificate) {
  protocol::MembershipCertificates message;
  message.head = certificate.number();
  message.certificates.push_back(std::move(certificate));
  story.cluster().injectMessage(story.id(from), story.id("B"), std::move(message));
}

/// Shows B a certificate and expects that it is refused for this fault, and changes nothing.
Task<> expectRefused(Story& story, std::string from, protocol::Certificate certificate,
                     CertificateFault fault) {
  const std::uint32_t before = numberAt(story, "B");
  const std::size_t count = refused(story, fault);
  showCertificate(story, from, std::move(certificate));
  co_await story.sleep(20_ms);
  const std::string what = fmt::format("a certificate that is {}", obs::nameOf(fault));
  story.expectEqual(refused(story, fault), count + 1, what + ": times it was refused");
  story.expectEqual(numberAt(story, "B"), before, what + ": what B goes by after it");
}

ScenarioResult forgedCertificates(ScenarioContext& context) {
  Story story(context, epochOptions({"A", "B", "C", "D", "E"}, {"A", "B", "C"}, {"kA"}));
  return story.run([&]() -> Task<> {
    co_await story.sleep(1_s);
    const LockOutcome lock = co_await story.node("B").lock("kA", callFor(1_s, 500_ms));
    story.node("B").unlock(lock);
    const protocol::Configuration wanted = configurationOf(story, 2, {"B", "C", "D"});

    // C's own vote is all that a rogue C really has; D and E can sign for themselves alone.
    protocol::Certificate forged = certify(story, wanted, 1, "C", {"A", "C"});
    forged.votes.front().signature ^= 1U;
    co_await expectRefused(story, "C", forged, CertificateFault::forged);
    const protocol::Certificate partial = certify(story, wanted, 1, "C", {"C"});
    co_await expectRefused(story, "C", partial, CertificateFault::partial);
    const protocol::Certificate padded = certify(story, wanted, 1, "C", {"C", "C"});
    co_await expectRefused(story, "C", padded, CertificateFault::duplicatedVoter);
    const protocol::Certificate foreign = certify(story, wanted, 1, "C", {"D", "E"});
    co_await expectRefused(story, "D", foreign, CertificateFault::notMember);
    protocol::Certificate changed = certify(story, wanted, 1, "C", {"A", "C"});
    changed.value.configuration.number = 7;
    co_await expectRefused(story, "C", changed, CertificateFault::gap);
    changed.value.configuration.number = 2;
    changed.value.configuration.ringVersion = 99;
    co_await expectRefused(story, "C", changed, CertificateFault::version);
    changed.value.configuration = wanted;
    std::reverse(changed.value.configuration.members.begin(), changed.value.configuration.members.end());
    co_await expectRefused(story, "C", changed, CertificateFault::malformed);
    changed.value.configuration.members.assign(protocol::kMaxMembers + 1, wanted.members.front());
    co_await expectRefused(story, "C", changed, CertificateFault::oversized);

    // A ballot of a node that is no member, and one in another's name, are heard by nobody.
    const auto refusedBallots = [](Cause cause) {
      return [=](const obs::MessageRefused& what, NodeId) {
        return what.message == MessageKind::membershipPrepare && what.cause == cause;
      };
    };
    story.cluster().injectMessage(story.id("D"), story.id("B"),
                                  protocol::MembershipPrepare{2, {9, story.id("D")}, 1});
    story.cluster().injectMessage(story.id("D"), story.id("B"),
                                  protocol::MembershipPrepare{2, {9, story.id("A")}, 1});
    co_await story.sleep(50_ms);
    story.expectEqual(story.count<obs::MessageRefused>(refusedBallots(Cause::notMember)), 1U,
                      "ballots of a stranger");
    story.expectEqual(story.count<obs::MessageRefused>(refusedBallots(Cause::malformed)), 1U,
                      "ballots in another's name");
    story.expectEqual(story.count<obs::MembershipPromised>(), 0U, "promises");

    // Two true changes later the first true certificate is obsolete.
    propose(story, "A", "D", "");
    story.expect(co_await untilNumber(story, "B", 2), "D joins");
    const auto* const epoch = story.cluster().node(story.id("B"))->membership().epoch();
    const protocol::Certificate old = epoch->chain().head();
    story.expect(old.votes.size() >= 2, "and the certificate has its votes");
    co_await story.sleep(3_s);
    propose(story, "A", "E", "");
    story.expect(co_await untilNumber(story, "B", 3), "E joins");
    co_await expectRefused(story, "C", old, CertificateFault::obsolete);
  });
}

}  // namespace

std::vector<Scenario> membershipAgreementScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"S-42-disjoint-successors",
       "EP-2, EP-4, EP-12",
       "A and B accept {A, D, E}; B restarts, and with C, which never heard, would decide {B, C, F}.",
       {{Rule::EP12_DurableAcceptors, Checker::membership},
        {Rule::EP2_ReportAccepted, Checker::membership},
        {Rule::EP4_PersistAccepted, Checker::membership},
        {Rule::EP4_AdoptAccepted, Checker::membership}},
       &disjointSuccessors},
      {"S-43-delayed-prepare",
       "EP-7, EP-8, EP-9",
       "A prepare takes 100 s, in which the old holder renews: activation at 192 s is safe, at 92 s it is "
       "not.",
       {{Rule::EP8_AnchorAtReceipt, Checker::exclusion},
        {Rule::EP7_Reservation, Checker::exclusion},
        {Rule::EP9_ProtectionTravels, Checker::membership}},
       &delayedPrepare},
      {"S-44-intersecting-acceptor-restarts",
       "EP-10, EP-2",
       "The acceptor that two quorums share restarts after acknowledging the old holder's renewal.",
       {{Rule::EP10_RestartReserves, Checker::exclusion}},
       &intersectingAcceptorRestarts},
      {"S-45-proposer-crashes",
       "EP-3, EP-4",
       "The proposer dies when its value is accepted and not yet decided; another proposer decides it.",
       {{Rule::EP4_AdoptAccepted, Checker::membership}, {Rule::EP3_PromiseRetires, Checker::membership}},
       &proposerCrashes},
      {"S-45-rapid-replacements",
       "EP-9",
       "Two members are replaced one upon the other while the first of them, cut off, goes on to its lease's "
       "end.",
       {{Rule::EP9_Transitive, Checker::membership}},
       &rapidReplacements},
      {"S-46-duelling-proposers",
       "EP-1, EP-13",
       "Two operators have their ways at once: the rounds collide, back off, and both changes are made.",
       {{Rule::EP1_TotalOrder, Checker::membership}},
       &duel},
      {"S-46-promise-survives",
       "EP-2",
       "B promises a ballot and restarts; a lower one that was under way all the while gets no promise.",
       {{Rule::EP2_PersistPromise, Checker::membership}},
       &promiseSurvives},
      {"S-47-certificates",
       "EP-5, EP-11, RT-3",
       "Forged, partial, padded, foreign, obsolete, oversized and malformed certificates change nothing.",
       {{Rule::EP5_VotesAuthenticated, Checker::membership},
        {Rule::EP5_Majority, Checker::membership},
        {Rule::EP5_VotersDistinct, Checker::membership},
        {Rule::EP5_VotersAreMembers, Checker::membership},
        {Rule::EP11_RefuseOlder, Checker::membership}},
       &forgedCertificates},
  };
}

}  // namespace holdfast::scenarios
