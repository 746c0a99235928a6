// The operator's home map (S-49): a change from staging to activation, and what may go wrong on the way.
//
// A map names the homes; the operator changes it by a console that runs on some node. Keys k0, k1, ... are
// all homed at one node of the first map; a story takes one that the second map gives to whom it wants.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/home_map_story.hpp"

namespace holdfast::scenarios {
namespace {

using parts::callFor;
using Names = std::vector<std::string>;

// ---- The whole change -------------------------------------------------------------------------------------

/// A leaves and D, where the operator's console is, joins. D's clocks are far from all others'.
ScenarioResult change(ScenarioContext& context) {
  StoryOptions options = maps::options({"A", "B", "C", "D"}, {"A", "B", "C"}, "A");
  options.checkers.livenessBound = 1_ms;
  options.clocks.resize(4);
  options.clocks[3].monotonic = MonotonicInstant{Duration(1_h).ns};
  Story story(context, options);
  const Names next{"B", "C", "D"};
  const std::string key = maps::movedKey(story, next, "C");
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const StoryNode d = story.node("D");
    const LockOutcome stranger = co_await d.lock(key, callFor(1_s, 5_s));
    story.expectEqual(stranger.cause, Cause::notMember, "D's lock while no map names it");
    story.cluster().injectMessage(a.id(), c.id(), protocol::HomeMapHello{9'999, 1, 0, 0});

    const LockOutcome ofB = co_await b.lock(key, callFor(5_s, 7_s, true));
    story.expectEqual(ofB.token.membership, 1U, "the generation of B's token");
    const TrueInstant staged = story.now();
    maps::stage(story, "D", 2, next);
    co_await maps::untilAcknowledged(story, 4);
    co_await story.sleep(100_ms);
    story.cluster().jumpWall(d.id(), 1_h);
    const Pending<LockOutcome> ofC = c.lock(key, callFor(20_s, 5_s));
    const LockOutcome early = co_await a.lock(key, callFor(1_s, 5_s));
    story.expectEqual(early.cause, Cause::noMembership, "A's lock: it has stopped");
    co_await story.sleep(4_s);
    const TxnOutcome written = co_await b.write(ofB, put(7));
    story.expect(written.committed, "B, inside all the while, writes");

    const LockOutcome lockOfC = co_await ofC.answer();
    const Duration drain = maps::drain(story);
    const TrueInstant last = maps::lastAcknowledgement(story, 2);
    const auto activated = story.first<obs::HomeMapActivated>();
    const TrueInstant active = activated ? activated->first.at : TrueInstant::never();
    story.expectAtLeast(active, last + drain, "the activation, after the last acknowledgement");
    story.expectAtMost(active, last + drain + story.options().latency * 4, "the activation");
    story.expectAtLeast(lockOfC.at, active, "C's admission");
    story.expectEqual(lockOfC.path, obs::Path::recovery, "C's path: it knows nothing of its predecessors");
    story.expect(lockOfC.token > ofB.token, "tokens of the new generation order above the old ones");
    const ReadOutcome read = co_await c.read(lockOfC);
    story.expectEqual(read.values[0], 7, "what C reads");
    c.unlock(lockOfC);
    story.note(fmt::format("keys could not be had for {:.1f} s, of which {:.1f} s are the drain",
                           static_cast<double>((active - staged).ns) / 1e9,
                           static_cast<double>(drain.ns) / 1e9));

    story.cluster().healEverything();
    co_await story.sleep(100_ms);
    const LockOutcome ofD = co_await d.lock(key, callFor(5_s, 5_s));
    story.expect(ofD.admitted(), "D, named now, locks");
    d.unlock(ofD);
    const LockOutcome again = co_await c.lock(key, callFor(5_s, 5_s));
    story.expect(again.admitted(), "and C after it");
    c.unlock(again);
    const LockOutcome left = co_await a.lock(key, callFor(1_s, 5_s));
    story.expectEqual(left.cause, Cause::notMember, "A's lock: it has left");
    story.expectEqual(maps::activations(story, 2), 4U, "nodes that hold the activation record");
  });
}

// ---- Who stops, and for how long --------------------------------------------------------------------------

/// A and D have acknowledged and are cut off, together, before they hear of the activation.
ScenarioResult cutOff(ScenarioContext& context) {
  Story story(context, maps::options({"A", "B", "C", "D"}, {"A", "B", "C", "D"}, "A"));
  const Names next{"B", "C"};
  const std::string key = maps::movedKey(story, next, "C");
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode c = story.node("C");
    maps::stage(story, "B", 2, next);
    co_await story.untilSeen<obs::HomeMapActivated>();
    const std::vector<NodeId> side{a.id(), story.id("D")};
    story.cluster().partition(side);
    const LockOutcome ofC = co_await c.lock(key, callFor(5_s, 6_s));
    story.expectEqual(ofC.token.membership, 2U, "the generation of C's token");
    const LockOutcome ofA = co_await a.lock(key, callFor(4_s, 1_s));
    story.expectEqual(ofA.cause, Cause::noMembership,
                      "A's lock: it stays stopped, although D agrees with it");
    c.unlock(ofC);
    story.cluster().healAll();
    story.expect(co_await maps::untilActing(story, "A", 2), "A learns what it has missed");
    const LockOutcome left = co_await a.lock(key, callFor(1_s, 1_s));
    story.expectEqual(left.cause, Cause::notMember, "A's lock: it has left");
  });
}

/// A restarts in the drain, and nobody hears of it for a while.
ScenarioResult acknowledgerRestarts(ScenarioContext& context) {
  Story story(context, maps::options({"A", "B", "C"}, {"A", "B", "C"}, "A"));
  const Names next{"B", "C"};
  const std::string key = maps::movedKey(story, next, "C");
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode c = story.node("C");
    maps::stage(story, "B", 2, next);
    co_await maps::untilAcknowledged(story, 3);
    co_await story.sleep(1_s);
    a.crash();
    a.restart();
    co_await story.sleep(100_ms);  // in which it meets its peers
    story.cluster().isolate(a.id());
    const Pending<LockOutcome> waiting = c.lock(key, callFor(60_s, 7_s, true));
    const LockOutcome ofA = co_await a.lock(key, callFor(18_s, 1_s));
    story.expectEqual(ofA.cause, Cause::noMembership, "A's lock after its restart: it stays stopped");
    story.expectEqual(maps::activations(story, 2), 0U, "activations on an acknowledgement that has died");
    story.cluster().healAll();
    const LockOutcome ofC = co_await waiting.answer();
    const auto again = story.last<obs::HomeMapAcknowledged>(
        [](const obs::HomeMapAcknowledged& given, NodeId) { return !given.again; });
    story.expectEqual(again.value().second.incarnation, 2U, "the incarnation in the last acknowledgement");
    story.expectAtLeast(ofC.at, again.value().first.at + maps::drain(story), "C's admission: a drain anew");
    c.unlock(ofC);
  });
}

/// A never hears of the change. Declaring it removed does not help; stopping it does.
ScenarioResult removedButRunning(ScenarioContext& context) {
  Story story(context, maps::options({"A", "B", "C"}, {"A", "B", "C"}, "A"));
  const Names next{"B", "C"};
  const std::string key = maps::movedKey(story, next, "C");
  std::size_t entered = 0;
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode c = story.node("C");
    story.cluster().isolate(a.id());
    maps::stage(story, "B", 2, next);
    story.also([&]() -> Task<> { co_await maps::keepEntering(story, "A", key, 16_s, entered); });
    co_await story.sleep(1_s);
    maps::fence(story, "B", 2, "A", false);
    const LockOutcome early = co_await c.lock(key, callFor(14_s, 5_s));
    story.expectEqual(early.cause, Cause::noMembership, "C's lock, while A may serve its callers");
    story.expectAtLeast(entered, 4U, "sections of A's caller, which nobody has told to stop");
    story.expectEqual(story.count<obs::HomeMapRefused>(), 1U, "refusals of a fence that is none");
    if (early.admitted()) c.unlock(early);

    co_await story.sleep(2_s);
    a.crash();
    maps::fence(story, "B", 2, "A", true);
    const TrueInstant fenced = story.now();
    const LockOutcome ofC = co_await c.lock(key, callFor(14_s, 5_s));
    story.expectAtLeast(ofC.at, fenced + maps::drain(story), "C's admission, after the fence");
    const auto fence = story.first<obs::HomeMapFenced>();
    story.expectEqual(fence.value().second.member, a.id(), "the node that is fenced");
    c.unlock(ofC);
    story.cluster().healAll();
    a.restart();
    story.expect(co_await maps::untilActing(story, "A", 2), "A learns of it before it may grant (DG-9)");
    const LockOutcome left = co_await a.lock(key, callFor(1_s, 1_s));
    story.expectEqual(left.cause, Cause::notMember, "A's lock: it has left");
  });
}

/// C leaves; it must be told, although the new map does not name it.
ScenarioResult leaver(ScenarioContext& context) {
  Story story(context, maps::options({"A", "B", "C"}, {"A", "B", "C"}, "C"));
  const Names next{"A", "B"};
  const std::string key = maps::movedKey(story, next, "A");
  std::size_t entered = 0;
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    story.also([&]() -> Task<> { co_await maps::keepEntering(story, "C", key, 12_s, entered); });
    co_await story.sleep(500_ms);
    maps::stage(story, "A", 2, next);
    const LockOutcome ofB = co_await b.lock(key, callFor(15_s, 3_s));
    story.expect(ofB.admitted(), "B's lock, in the end");
    story.expectEqual(maps::acknowledgements(story), 3U, "acknowledgements: C's is one of them");
    story.expectEqual(entered, 1U, "sections of C's caller: the one before C stopped");
    b.unlock(ofB);
    co_await story.sleep(3_s);
    const LockOutcome left = co_await story.node("C").lock(key, callFor(1_s, 1_s));
    story.expectEqual(left.cause, Cause::notMember, "C's lock: it has left");
  });
}

/// The change is half done when the console restarts; the operator tries again with another generation.
ScenarioResult secondTry(ScenarioContext& context) {
  Story story(context, maps::options({"A", "B", "C"}, {"A", "B", "C"}, "C"));
  const Names next{"A", "B"};
  const std::string key = maps::movedKey(story, next, "A");
  std::size_t entered = 0;
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    story.cluster().isolate(c.id());
    story.also([&]() -> Task<> { co_await maps::keepEntering(story, "C", key, 18_s, entered); });
    maps::stage(story, "A", 2, next);
    co_await maps::untilAcknowledged(story, 2);
    a.crash();
    a.restart();
    co_await maps::untilAcknowledged(story, 3);  // A's again: it has taken the change up
    maps::stage(story, "A", 3, next);
    const LockOutcome early = co_await b.lock(key, callFor(14_s, 4_s));
    story.expectEqual(early.cause, Cause::noMembership, "B's lock, while C may serve its callers");
    if (early.admitted()) b.unlock(early);
    story.cluster().healAll();
    const LockOutcome ofB = co_await b.lock(key, callFor(20_s, 4_s));
    story.expectEqual(ofB.token.membership, 3U, "the generation of B's token");
    story.expectAtLeast(ofB.at, maps::lastAcknowledgement(story, 3) + maps::drain(story), "B's admission");
    story.expectEqual(maps::activations(story, 2), 0U, "activations of the change that was replaced");
    b.unlock(ofB);
  });
}

}  // namespace

std::vector<Scenario> homeMapScenarios() {
  using protocol::Rule;
  constexpr auto kExclusion = checkers::Checker::exclusion;
  return {
      {"S-49-home-map-change",
       "HM-1, HM-2, HM-3, HM-6, CK-2, CK-5",
       "Stage, stop, acknowledge, drain, activate: A leaves, D joins, and B is inside all the while.",
       {{Rule::HM3_WaitsOut, kExclusion},
        {Rule::HM3_MonotonicDrain, kExclusion},
        {Rule::HM3_RelativeWait, kExclusion},
        {Rule::HM3_ActiveOnly, kExclusion},
        {Rule::HM2_NoStickyVerdict, checkers::Checker::liveness},
        {Rule::HM6_ReadingRaisesNothing, checkers::Checker::liveness}},
       &change},
      {"S-49-cut-off-acknowledger",
       "HM-2, HM-3",
       "A is cut off after its acknowledgement, with a peer that agrees with it, and stays stopped.",
       {{Rule::HM3_StopBeforeAcknowledging, kExclusion}, {Rule::HM2_DigestIsNoFreshness, kExclusion}},
       &cutOff},
      {"S-49-acknowledger-restarts",
       "HM-4, HM-3, DG-9",
       "A restarts in the drain: its acknowledgement has died, and the activation waits for another.",
       {{Rule::HM4_AcknowledgementDies, kExclusion}},
       &acknowledgerRestarts},
      {"S-49-removed-but-running",
       "HM-5, HM-3, DG-9",
       "A never heard of the change and serves on; declaring it removed does not end that, stopping it does.",
       {{Rule::HM5_RemovalIsNoFence, kExclusion}, {Rule::HM3_WaitsForAll, kExclusion}},
       &removedButRunning},
      {"S-49-leaver",
       "HM-3, HM-5",
       "A map without C is staged to C as well, which stops before the others begin.",
       {{Rule::HM3_StageUnion, kExclusion}},
       &leaver},
      {"S-49-second-try",
       "HM-3, HM-5",
       "A change is replaced when it is half done, and its participants are not forgotten.",
       {{Rule::HM3_ParticipantsPersist, kExclusion}},
       &secondTry},
  };
}

}  // namespace holdfast::scenarios
