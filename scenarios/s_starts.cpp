// What an earlier start of a process had asked, and is answered after the next one began (EP-14).
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/membership_parts.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

/// A's first renewal after a start is acknowledged, and the acknowledgements reach A after its next start,
/// when it is cut off and its first renewal has reached nobody.
ScenarioResult lateAcknowledgement(ScenarioContext& context) {
  StoryOptions options = epochOptions({"A", "B", "C"}, {}, {"kA", "kB"});
  options.protocol.epochLease = 20_s;
  options.protocol.maxDelegation = 2_s;
  options.protocol.rejoin = false;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    Cluster& cluster = story.cluster();
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    a.crash();
    for (const char* const peer : {"B", "C"}) {
      cluster.holdMessages(story.id(peer), a.id(), MessageKind::membershipRenewAck);
    }
    a.restart();
    const TrueInstant renewed = story.now();
    co_await story.sleep(100_ms);
    a.crash();
    cluster.isolate(a.id());
    co_await story.sleep(12_s);
    a.restart();
    co_await story.sleep(10_ms);
    std::size_t late = 0;
    for (const char* const peer : {"B", "C"}) {
      late += cluster.releaseHeld(story.id(peer), a.id(), MessageKind::membershipRenewAck);
    }
    story.expectEqual(late, 2U, "acknowledgements of the start before that reach A now");
    co_await story.sleep(10_ms);
    story.expect(!liveAt(story, "A"), "A has no lease on its membership");

    story.expect(co_await untilActive(story, "B", 2),
                 "B and C go on without A, and wait out what it may have");
    story.expectAtLeast(activation(story, "B", 2) - renewed,
                        options.protocol.epochLease + options.protocol.skew,
                        "from A's last renewal that anybody heard to B's activation");
    const LockOutcome ofB = co_await b.lock("kA", callFor(5_s, 1_s));
    story.expect(ofB.admitted(), "B obtains a key whose home A was");
    const LockOutcome ofA = co_await a.lock("kA", callFor(1_s, 1_s));
    story.expectEqual(ofA.cause, Cause::noMembership, "why A is refused its own key meanwhile");
    if (ofA.admitted()) a.unlock(ofA);
    if (ofB.admitted()) b.unlock(ofB);
    cluster.healAll();
  });
}

/// B and C accept what A proposes. A dies before anything of that is on its own disk, begins with the same
/// ballot, and does not hear B; a promise of C's comes twice.
ScenarioResult ballotUsedTwice(ScenarioContext& context) {
  StoryOptions options = epochOptions({"A", "B", "C"}, {}, {"kA"});
  options.protocol.renewEvery = 500_ms;
  options.protocol.missedRenewals = 3;
  options.protocol.proposalTimeout = 6_s;
  options.protocol.rejoin = false;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    Cluster& cluster = story.cluster();
    const StoryNode a = story.node("A");
    const NodeId b = story.id("B");
    const NodeId c = story.id("C");
    for (int i = 0; i < 2; ++i) cluster.failNextPersist(a.id(), protocol::RecordKind::acceptor);
    cluster.duplicate(c, a.id(), MessageKind::membershipPromise, 100_ms);
    propose(story, "A", "", "C");
    const auto accepts = [](const obs::MembershipAccepted& accepted, NodeId by) {
      return accepted.number == 2 && by != accepted.proposer;
    };
    story.expect(co_await story.untilSeen<obs::MembershipAccepted>(accepts, 2), "B and C accept");
    a.crash();
    cluster.duplicate(c, a.id(), MessageKind::membershipPromise, {});
    cluster.holdMessages(c, a.id(), MessageKind::membershipPromise);
    cluster.cut(b, a.id());
    a.restart();
    const auto again = [&](const obs::ProposalStarted& round, NodeId by) {
      return by == a.id() && round.counter == 1 && round.members == setOf(story, {"A", "C"});
    };
    story.expect(co_await story.untilSeen<obs::ProposalStarted>(again), "A proposes the epoch without B");
    story.expectEqual(cluster.releaseHeld(c, a.id(), MessageKind::membershipPromise), 1U,
                      "promises to the start before that reach A now");
    story.expect(co_await untilNumber(story, "A", 2), "epoch 2 is agreed on");
    const auto decided = story.last<obs::MembershipDecided>();
    story.expect(decided && decided->second.members == setOf(story, {"A", "B"}),
                 "it is what B and C had accepted");
    cluster.heal(b, a.id());
    story.expect(co_await untilActive(story, "A", 2), "A acts on it");
    const LockOutcome lock = co_await a.lock("kA", callFor(20_s, 1_s));
    story.expect(lock.admitted(), "A obtains a key");
    if (lock.admitted()) a.unlock(lock);
  });
}

}  // namespace

std::vector<Scenario> startScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"R-EP-14-late-acknowledgement",
       "EP-14, EP-6, EP-7",
       "Acknowledgements of A's last start arrive after the next one, cut off, has renewed: they prolong "
       "nothing.",
       {{Rule::EP14_NameTheStart, Checker::membership}},
       &lateAcknowledgement},
      {"R-EP-14-ballot-used-twice",
       "EP-14, EP-2, EP-4",
       "A dies before its own promise is durable and begins with the same ballot: an old promise is none for "
       "it.",
       {{Rule::EP14_RoundsNameTheStart, Checker::membership}},
       &ballotUsedTwice},
  };
}

}  // namespace holdfast::scenarios
