// Memberships that change: a member dies, a minority is cut off, members come and go (S-40, S-41, S-46, S-66;
// EP-6, EP-8, EP-9, EP-11, EP-13).
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

double inSeconds(Duration duration) { return static_cast<double>(duration.ns) / 1e9; }

/// Locks and unlocks `key` every `pause` until `until`; what happens to each call is the checkers' to judge.
Task<> lockAgainAndAgain(Story& story, std::string node, std::string key, Duration pause, TrueInstant until) {
  while (story.now() < until) {
    const LockOutcome lock = co_await story.node(node).lock(key, callFor(500_ms, 5_s));
    if (lock.admitted()) story.node(node).unlock(lock);
    co_await story.sleep(pause);
  }
}

// ---- S-40 -------------------------------------------------------------------------------------------------

const std::vector<std::string> kFive{"A", "B", "C", "D", "E"};
const std::vector<std::string> kFiveKeys{"kA", "kB", "kC", "kD", "kE"};

/// Only the dead home's share of the keys is refused, as long as nothing has changed.
Task<> expectOnlyItsShare(Story& story) {
  for (const std::string& key : kFiveKeys) {
    const LockOutcome lock = co_await story.node("B").lock(key, callFor(1_s, 500_ms));
    const bool lost = key == "kE";
    story.expectEqual(lock.error, lost ? obs::ErrorClass::lockUnavailable503 : obs::ErrorClass::none,
                      "B's lock of " + key + " while E is down");
    if (lost) story.expectEqual(lock.cause, Cause::homeUnreachable, "why it is refused");
    if (lock.admitted()) story.node("B").unlock(lock);
  }
}

ScenarioResult homeDies(ScenarioContext& context) {
  StoryOptions options = epochOptions(kFive, {}, kFiveKeys);
  options.protocol.maxDelegation = 20_s;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const TrueInstant died = story.now();
    story.node("E").crash();
    co_await expectOnlyItsShare(story);
    // Somebody has a delegation of nearly its whole length when the members change.
    story.also([&story, died]() -> Task<> {
      co_await lockAgainAndAgain(story, "C", "kA", 700_ms, died + rehomedWithin(story.options()));
    });
    story.expect(co_await untilNumber(story, "B", 2), "a membership without E is agreed on");
    const auto decided = story.first<obs::MembershipDecided>();
    story.expect(decided && decided->second.members == setOf(story, {"A", "B", "C", "D"}),
                 "it has the four who are left");
    story.expect(decided && (decided->second.voters.bits & setOf(story, {"E"}).bits) == 0, "E did not vote");

    // EP-9: until it is active nothing is granted, whether or not the key has moved.
    // Before D has its lease it refuses for want of one, and not because it waits (EP-6).
    const bool live = co_await untilLive(story, "B", 2) && co_await untilLive(story, "D", 2);
    story.expect(live, "it is renewed, at the home of kD as well");
    const LockOutcome early = co_await b.lock("kD", callFor(1_s, 1_s));
    story.expectEqual(early.cause, Cause::activation, "why kD, which has not moved, is refused meanwhile");
    if (early.admitted()) b.unlock(early);

    LockOutcome rehomed = early;
    while (!rehomed.admitted() && story.now() < died + 120_s) {
      rehomed = co_await b.lock("kE", callFor(3_s, 1_s));
    }
    story.expect(rehomed.admitted(), "kE is served again");
    story.expectEqual(rehomed.token.membership, 2U, "the membership of its token");
    const Duration bound = rehomedWithin(story.options());
    story.expectAtMost(rehomed.at - died, bound, "from E's death to kE being served");
    b.unlock(rehomed);
    for (const std::string& key : kFiveKeys) {
      const LockOutcome lock = co_await b.lock(key, callFor(5_s, 500_ms));
      story.expect(lock.admitted(), key + " is served in the new membership");
      b.unlock(lock);
    }
    story.note(fmt::format("E's keys were served again {:.3f} s after its death; the bound is {:.3f} s",
                           inSeconds(rehomed.at - died), inSeconds(bound)));
    story.note(
        "bound = renewEvery * (missedRenewals + 1) + proposalBackoff + round + "
        "((epochLease + skew) * (1 + rateError) + maxDelegation + skew) * (1 + rateError)");
  });
}

/// Messages of agreement and catching up, renewals not among them.
std::uint64_t changeMessages(const Story& story) {
  std::uint64_t sum = 0;
  for (std::size_t i = static_cast<std::size_t>(MessageKind::membershipPrepare);
       i < obs::kEnumeratorCount<MessageKind>; ++i) {
    sum += story.messages(static_cast<MessageKind>(i));
  }
  return sum;
}

std::uint64_t renewalMessages(const Story& story) {
  return story.messages(MessageKind::membershipRenew) + story.messages(MessageKind::membershipRenewAck);
}

std::size_t durableRecords(const Story& story) {
  return story.count<obs::DurableWrite>(
      [](const obs::DurableWrite& write, NodeId) { return write.metadata; });
}

/// How many of the five keys B obtains, asked for all at once.
Task<int> obtained(Story& story) {
  const StoryNode b = story.node("B");
  std::vector<Pending<LockOutcome>> asked;
  for (const std::string& key : kFiveKeys) asked.push_back(b.lock(key, callFor(600_ms, 200_ms)));
  int count = 0;
  for (const Pending<LockOutcome>& one : asked) {
    const LockOutcome lock = co_await one.answer();
    if (!lock.admitted()) continue;
    ++count;
    b.unlock(lock);
  }
  co_return count;
}

/// What B obtains, second by second, from before E's death on; and what the membership costs meanwhile.
ScenarioResult availability(ScenarioContext& context, protocol::MembershipKind kind) {
  StoryOptions options = epochOptions(kFive, {}, kFiveKeys);
  options.protocol.membership = kind;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const bool epochs = story.options().protocol.membership == protocol::MembershipKind::epoch;
    co_await story.sleep(1_s);
    const std::uint64_t renewals = renewalMessages(story);
    co_await story.sleep(10_s);
    const std::uint64_t perSecond = (renewalMessages(story) - renewals) / 10;
    story.expectEqual(co_await obtained(story), 5, "keys obtained before the death");
    const std::uint64_t messages = changeMessages(story);
    const std::size_t records = durableRecords(story);
    const TrueInstant died = story.now();
    story.node("E").crash();
    std::string curve;
    int last = 0;
    int least = 5;
    for (int second = 1; second <= 40; ++second) {
      const Duration until = died + sim::seconds(second) - story.now();
      if (until > Duration{}) co_await story.sleep(until);
      last = co_await obtained(story);
      least = std::min(least, last);
      curve += fmt::format(" {}", last);
    }
    story.expectEqual(last, epochs ? 5 : 4, "keys obtained in the end");
    story.expectEqual(least, epochs ? 0 : 4, "keys obtained in the worst second");
    story.note(
        fmt::format("keys obtained of 5 in each second after the death of one of five nodes:{}", curve));
    story.note(fmt::format("renewals cost {} messages a second", perSecond));
    story.note(fmt::format("in these 40 s memberships cost {} further messages and {} durable records",
                           changeMessages(story) - messages, durableRecords(story) - records));
  });
}

ScenarioResult availabilityOfEpochs(ScenarioContext& context) {
  return availability(context, protocol::MembershipKind::epoch);
}

ScenarioResult availabilityOfHomeMaps(ScenarioContext& context) {
  return availability(context, protocol::MembershipKind::homeMap);
}

// ---- S-41 -------------------------------------------------------------------------------------------------

ScenarioResult minorityStops(ScenarioContext& context) {
  Story story(context, epochOptions(kFive, {}, kFiveKeys));
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode c = story.node("C");
    const LockOutcome before = co_await a.lock("kA", callFor(1_s, 1_s));
    story.expect(before.admitted(), "A locks its own kA");
    a.unlock(before);
    const std::vector<NodeId> minority{story.id("A"), story.id("B")};
    const TrueInstant cutAt = story.now();
    story.cluster().partition(minority);
    const Duration lease = story.options().protocol.epochLease;
    story.also(
        [&story, cutAt]() -> Task<> { co_await lockAgainAndAgain(story, "A", "kA", 300_ms, cutAt + 60_s); });
    co_await story.sleep(lease + 100_ms);
    story.expect(!liveAt(story, "A") && !liveAt(story, "B"), "the minority's leases have run out");
    const LockOutcome silent = co_await story.node("B").lock("kB", callFor(1_s, 1_s));
    story.expectEqual(silent.cause, Cause::noMembership, "why B refuses its own kB");
    if (silent.admitted()) story.node("B").unlock(silent);
    const auto lapsed = story.last<obs::MembershipLapsed>();
    story.expect(lapsed && lapsed->first.at <= cutAt + lease, "they ended within a lease of the cut");

    story.expect(co_await untilActive(story, "C", 2), "the majority goes on in a membership of its own");
    const LockOutcome moved = co_await c.lock("kA", callFor(30_s, 1_s));
    story.expect(moved.admitted(), "C is served kA, which has moved");
    story.expectEqual(moved.token.membership, 2U, "the membership of its token");
    c.unlock(moved);
    const bool unheard = numberAt(story, "A") == 1 && numberAt(story, "B") == 1;
    story.expect(unheard, "the minority has heard nothing of it");

    story.cluster().healAll();
    story.expect(co_await untilNumber(story, "A", 2), "A catches up by certificate");
    const auto caughtUp = installation(story, "A", 2);
    story.expect(caughtUp && caughtUp->second.voters.bits != 0, "with the votes that prove it");
    story.expect(co_await untilActive(story, "A", 3), "A is a member again");
    story.expect(co_await untilActive(story, "B", 3), "and B is");
    const LockOutcome back = co_await a.lock("kA", callFor(40_s, 1_s));
    story.expect(back.admitted(), "A is served kA");
    a.unlock(back);
  });
}

// ---- S-46 -------------------------------------------------------------------------------------------------

StoryOptions threeOfFive() { return epochOptions(kFive, {"A", "B", "C"}, {"kA", "kB", "kC"}); }

ScenarioResult plannedReplacement(ScenarioContext& context) {
  Story story(context, threeOfFive());
  return story.run([&]() -> Task<> {
    co_await story.sleep(1_s);
    const LockOutcome stranger = co_await story.node("D").lock("kA", callFor(1_s, 1_s));
    story.expectEqual(stranger.cause, Cause::notMember, "why D, which is no member, is refused");
    if (stranger.admitted()) story.node("D").unlock(stranger);
    propose(story, "A", "D", "C");
    story.expect(co_await untilNumber(story, "D", 2), "D is told the membership that it joins");
    story.expect(co_await untilNumber(story, "C", 2), "C is told that it has left");
    const auto decided = story.first<obs::MembershipDecided>();
    story.expect(decided && decided->second.members == setOf(story, {"A", "B", "D"}),
                 "A, B and D are members");
    const auto started = story.first<obs::ProposalStarted>();
    story.expect(started && started->second.administrative, "an operator has proposed it (EP-13)");
    story.expectEqual(story.count<obs::MembershipLapsed>(), 0U, "leases that ran out: C was in good health");
    story.expect(co_await untilActive(story, "D", 2), "it becomes active");
    const LockOutcome ofD = co_await story.node("D").lock("kA", callFor(20_s, 1_s));
    story.expect(ofD.admitted(), "D is served");
    story.node("D").unlock(ofD);
    const LockOutcome ofC = co_await story.node("C").lock("kA", callFor(1_s, 1_s));
    story.expectEqual(ofC.error, obs::ErrorClass::lockUnavailable503, "C's lock after that");
    if (ofC.admitted()) story.node("C").unlock(ofC);

    // The membership is durable: whoever restarts goes by it from its first instant on (EP-5).
    for (const char* const node : {"B", "D"}) {
      story.node(node).crash();
      co_await story.sleep(100_ms);
      story.node(node).restart();
      co_await story.sleep(100_ms);
      story.expectEqual(numberAt(story, node), 2U, fmt::format("what {} goes by after its restart", node));
    }
  });
}

ScenarioResult joinAndRejoin(ScenarioContext& context) {
  Story story(context, threeOfFive());
  return story.run([&]() -> Task<> {
    co_await story.sleep(1_s);
    propose(story, "B", "D", "");
    story.expect(co_await untilActive(story, "D", 2), "D joins");
    const auto joined = installation(story, "D", 2);
    story.expect(joined && joined->second.members == setOf(story, {"A", "B", "C", "D"}), "as the fourth");
    const auto blank = story.first<obs::MembershipJoining>();
    story.expect(blank && blank->second.why == obs::JoiningReason::blank, "a blank identity before (EP-11)");

    story.node("C").crash();
    story.expect(co_await untilLive(story, "A", 3), "C dies and is proposed away");
    propose(story, "A", "E", "");
    story.expect(co_await untilLive(story, "A", 4), "E joins meanwhile");
    propose(story, "A", "", "B");
    story.expect(co_await untilNumber(story, "A", 5), "and B is dismissed");
    story.node("C").restart();
    story.expect(co_await untilNumber(story, "C", 5), "C learns of all three that it has missed");
    std::vector<std::uint32_t> learnt;
    story.forEach<obs::MembershipInstalled>([&](const obs::Stamped& stamped, const auto& installed) {
      if (stamped.node == story.id("C")) learnt.push_back(installed.number);
    });
    const std::vector<std::uint32_t> inOrder{1, 2, 2, 3, 4, 5};
    story.expectEqual(learnt.size() < 6 ? learnt : std::vector(learnt.begin(), learnt.begin() + 6), inOrder,
                      "what C installed: one after the other, its restart included");
    story.expect(co_await untilNumber(story, "C", 6), "it asks to be let in, and is");
    story.expect(co_await untilActive(story, "C", 6), "and acts as a member");
    story.expect(story.cluster().node(story.id("A"))->membership().isMember(story.id("C")), "A counts it");
    story.expect(!story.cluster().node(story.id("A"))->membership().isMember(story.id("B")),
                 "B, whom an operator dismissed, is not let in by asking");
    const LockOutcome lock = co_await story.node("C").lock("kA", callFor(40_s, 1_s));
    story.expect(lock.admitted(), "C is served");
    story.node("C").unlock(lock);
  });
}

ScenarioResult replacedDisk(ScenarioContext& context) {
  Story story(context, threeOfFive());
  return story.run([&]() -> Task<> {
    co_await story.sleep(1_s);
    const LockOutcome lock = co_await story.node("A").lock("kA", callFor(1_s, 1_s));
    story.node("A").unlock(lock);
    propose(story, "A", "D", "");
    story.expect(co_await untilActive(story, "B", 2), "a second membership is active");
    story.node("B").crash();
    co_await story.sleep(500_ms);
    story.expect(story.cluster().replaceDisk(story.id("B")), "B's disk is replaced");
    story.node("B").restart();
    co_await story.sleep(500_ms);
    const auto joining = story.last<obs::MembershipJoining>(
        [&](const obs::MembershipJoining&, NodeId at) { return at == story.id("B"); });
    story.expect(joining && joining->second.identity > 0, "B knows that it is not the member it was (EP-11)");
    const LockOutcome early = co_await story.node("B").lock("kB", callFor(1_s, 1_s));
    story.expectEqual(early.error, obs::ErrorClass::lockUnavailable503, "B's lock with its new disk");
    if (early.admitted()) story.node("B").unlock(early);
    story.expect(co_await untilActive(story, "B", 3, 120_s), "it is let in with its new identity");

    story.node("D").crash();
    story.expect(story.cluster().corruptRecord(story.id("D"), protocol::RecordKind::certificate),
                 "a certificate on D's disk goes bad");
    story.node("D").restart();
    co_await story.sleep(500_ms);
    const auto corrupted = story.last<obs::MembershipJoining>(
        [&](const obs::MembershipJoining&, NodeId at) { return at == story.id("D"); });
    story.expect(corrupted && corrupted->second.why == obs::JoiningReason::corrupted,
                 "D does not take what it can not read for nothing");
    story.expect(co_await untilNumber(story, "D", 3), "and learns the chain anew");
  });
}

// ---- S-66 -------------------------------------------------------------------------------------------------

/// The bank account of the contract, over a change of members between the two callers.
ScenarioResult cleanReleaseThenChange(ScenarioContext& context) {
  StoryOptions options = epochOptions({"A", "B", "C", "D"}, {}, {"kA"});
  options.protocol.missedRenewals = 1'000;  // B and C, who do not hear each other, propose nobody away
  Story story(context, options);
  ScenarioResult result = story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "kA", 100);
    // B's log does not reach C: the link is cut both ways, and everybody else hears both.
    story.cluster().cut(b.id(), c.id());
    story.cluster().cut(c.id(), b.id());
    const LockOutcome first = co_await b.lock("kA");
    const auto before = co_await b.read(first);
    const TxnOutcome deposit = co_await b.write(first, put(before.values[0] + 50));
    b.unlock(first);
    story.expect(deposit.committed, "B was told that its deposit is committed");
    story.expect(co_await giveBack(story, b, "kA"), "B's release is clean, and the home knows");
    propose(story, "A", "", "D");
    story.expect(co_await untilActive(story, "A", 2), "D leaves: the membership has changed");
    story.expect(co_await untilNumber(story, "C", 2), "and C knows");

    const LockOutcome second = co_await c.lock("kA", callFor(40_s, 5_s));
    story.expectEqual(second.path, obs::Path::recovery, "C's path, although the release was clean");
    const auto seen = co_await c.read(second);
    story.expectEqual(seen.values[0], 100, "what C reads");
    const TxnOutcome withdrawal = co_await c.write(second, put(seen.values[0] - 20));
    c.unlock(second);
    story.expect(withdrawal.committed, "C was told that its withdrawal is committed");
    story.expectEqual(story.count<obs::LockRefused>() + story.count<obs::WriteRefused>(), 0U,
                      "errors that reached anyone");
    story.cluster().healAll();
    co_await story.sleep(1_s);
    for (const char* const node : {"A", "B", "C"}) {
      story.expectEqual(valueAt(story, node, "kA"), 80, fmt::format("the account at {} in the end", node));
    }
  });
  const checkers::Findings& findings = result.report.findings;
  result.expectations += 2;
  if (findings.count(checkers::Route::l2MembershipChange) == 0) {
    result.unmet.push_back("the report says that the change of members lost the set of a clean release");
  }
  const checkers::Finding* const missed = findings.first(checkers::Route::l2b, checkers::Anomaly::staleRead);
  if (missed == nullptr || missed->expected != 150 || missed->observed != 100) {
    result.unmet.push_back("the report says that C read 100 where 150 stood");
  }
  return result;
}

}  // namespace

std::vector<Scenario> membershipScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"S-40-home-dies",
       "EP-6, EP-8, EP-9, EP-13",
       "One of five dies: its keys are refused and all others lock, until a membership without it is active.",
       {{Rule::EP8_WaitsOut, Checker::membership}, {Rule::EP9_GatesEveryKey, Checker::membership}},
       &homeDies},
      {"S-40-availability-epoch",
       "EP-6, EP-8, EP-9",
       "What can be locked in each second after a death, with members that agree on a new membership.",
       {},
       &availabilityOfEpochs},
      {"S-40-availability-home-map",
       "HM-7",
       "The same with a home map: the dead home's share is gone until an operator acts, and nothing else.",
       {},
       &availabilityOfHomeMaps},
      {"S-41-minority-stops",
       "EP-6, EP-11",
       "Two of five are cut off: they stop by their own clocks, and catch up by certificates when healed.",
       {{Rule::EP6_MinorityStops, Checker::membership}},
       &minorityStops},
      {"S-46-planned-replacement",
       "EP-3, EP-5, EP-13",
       "A healthy member is replaced by a new one while everybody renews normally.",
       {{Rule::EP13_SameAgreement, Checker::membership}, {Rule::EP5_DurableChain, Checker::membership}},
       &plannedReplacement},
      {"S-46-join-and-rejoin",
       "EP-11, EP-13",
       "D joins; C dies, misses three memberships, learns of them one after the other, and is let in again.",
       {},
       &joinAndRejoin},
      {"S-46-replaced-disk",
       "EP-11",
       "B comes back with another disk, D with a bad one: neither is the member that its name was.",
       {{Rule::EP11_BlankIsJoining, Checker::membership}},
       &replacedDisk},
      {"S-66-membership-change",
       "L-2, FR-6, EP-13",
       "B releases cleanly, the members change, and C, who can not reach B, recovers without its deposit.",
       {{Rule::FR8_Barrier, Checker::freshness}},
       &cleanReleaseThenChange},
  };
}

}  // namespace holdfast::scenarios
