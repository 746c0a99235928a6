// Ricart-Agrawala under the same checkers (RA-1 to RA-6): exclusion, order, freshness, withdrawal, and what
// one silent participant does.
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/ricart_agrawala_parts.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

StoryOptions threeParticipants() { return ricartAgrawala({"A", "B", "C"}); }

// ---- RA-1, RA-3: exclusion --------------------------------------------------------------------------------

struct Turns {
  std::vector<std::int64_t> read;
  std::size_t done = 0;
};

Task<> takeTurns(Story& story, StoryNode node, int times, Turns& turns) {
  for (int i = 0; i < times; ++i) {
    const LockOutcome lock = co_await node.lock("k", callFor(60_s, 3_s, true));
    story.expect(lock.admitted(), "every lock is admitted");
    const auto read = co_await node.read(lock);
    turns.read.push_back(read.values[0]);
    co_await story.sleep(20_ms);
    const TxnOutcome txn = co_await node.write(lock, put(read.values[0] + 1));
    story.expect(txn.committed, "every write commits");
    node.unlock(lock);
    co_await story.sleep(sim::milliseconds(1 + node.id().value));
  }
  ++turns.done;
}

ScenarioResult everyParticipant(ScenarioContext& context) {
  constexpr std::size_t kTimes = 6;
  Turns turns;
  Story story(context, threeParticipants());
  return story.run([&]() -> Task<> {
    for (const std::string& name : story.options().nodes) {
      story.also([&story, &turns, node = story.node(name)]() -> Task<> {
        co_await takeTurns(story, node, kTimes, turns);
      });
    }
    const auto allDone = [&] { return turns.done == 3; };
    story.expect(co_await story.until(allDone, 10_min), "all participants come to an end");
    co_await story.sleep(1_s);
    std::vector<std::int64_t> inOrder;
    for (std::int64_t i = 0; i < 3 * static_cast<std::int64_t>(kTimes); ++i) inOrder.push_back(i);
    story.expectEqual(turns.read, inOrder, "the values read, section by section: each exactly once");
    expectEverywhere(story, "k", 3 * kTimes);
    story.expectEqual(controlEntries(story, EntryKind::request), 3 * kTimes, "requests in all logs (RA-1)");
    story.expectEqual(controlEntries(story, EntryKind::grant), 3 * 3 * kTimes, "grants: every participant's");
  });
}

// ---- RA-2: order ------------------------------------------------------------------------------------------

ScenarioResult equalStamps(ScenarioContext& context) {
  Story story(context, threeParticipants());
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const Pending<LockOutcome> ofB = b.lock("k", callFor(10_s, 1_s));
    const Pending<LockOutcome> ofA = a.lock("k", callFor(10_s, 1_s));
    const LockOutcome first = co_await ofA.answer();
    story.expect(first.admitted() && !ofB.answered(), "of two equal stamps the lesser name goes first");
    co_await story.sleep(100_ms);
    a.unlock(first);
    const LockOutcome second = co_await ofB.answer();
    story.expect(second.admitted(), "the other one follows");
    story.expectEqual(second.token.incarnation, first.token.incarnation, "their stamps, which were equal");
    story.expect(second.token > first.token, "the later section has the greater token (TK-1)");
    b.unlock(second);
  });
}

/// B's requests of key j, so that its stamps are ahead of what A has asked for itself.
Task<> runAhead(Story& story, StoryNode b) {
  for (int i = 0; i < 5; ++i) {
    const LockOutcome lock = co_await b.lock("j", callFor(5_s, 1_s));
    story.expect(lock.admitted(), "B gets j");
    b.unlock(lock);
  }
}

/// B asks for k, A grants, and C's grant takes its time. A asks for k meanwhile, after `between`: it must
/// come behind what it has granted.
ScenarioResult behindWhatWasGranted(ScenarioContext& context, bool restarts) {
  StoryOptions options = threeParticipants();
  options.keys = {{"k", ""}, {"j", ""}};
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    co_await runAhead(story, b);
    story.cluster().setApplyDelay(story.id("C"), b.id(), 2_s);
    const Pending<LockOutcome> ofB = b.lock("k", callFor(10_s, 4_s));
    co_await story.sleep(300_ms);
    if (restarts) {
      a.crash();
      co_await story.sleep(100_ms);
      a.restart();
      co_await story.sleep(300_ms);
    }
    const Pending<LockOutcome> ofA = a.lock("k", callFor(10_s, 4_s));
    const LockOutcome first = co_await ofB.answer();
    story.expect(first.admitted() && !ofA.answered(), "B, whom A has granted, comes before A");
    co_await story.sleep(500_ms);
    story.expect(!ofA.answered(), "A waits for B to leave");
    b.unlock(first);
    const LockOutcome second = co_await ofA.answer();
    story.expect(second.admitted(), "A follows");
    story.expect(second.token.incarnation > first.token.incarnation, "A's stamp has passed what A had seen");
    a.unlock(second);
  });
}

ScenarioResult stampsAdvance(ScenarioContext& context) { return behindWhatWasGranted(context, false); }
ScenarioResult stampsSurvive(ScenarioContext& context) { return behindWhatWasGranted(context, true); }

// ---- RA-3: freshness --------------------------------------------------------------------------------------

ScenarioResult freshnessForFree(ScenarioContext& context) {
  Story story(context, threeParticipants());
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const auto written = co_await b.update("k", put(150), callFor(5_s, 2_s));
    story.expect(written.write.committed, "B's write commits");
    co_await story.sleep(200_ms);
    const LockOutcome inside = co_await b.lock("k", callFor(5_s, 2_s, true));
    // From here on A takes its time to apply what B writes; nothing tells it that it lags.
    story.cluster().setApplyDelay(a.id(), b.id(), 3_s);
    const TxnOutcome again = co_await b.write(inside, put(100));
    story.expect(again.committed, "B's second write commits");
    b.unlock(inside);
    const TrueInstant left = story.now();
    const LockOutcome lock = co_await a.lock("k", callFor(30_s, 2_s));
    story.expect(lock.admitted(), "A is admitted");
    story.expectAtLeast(lock.at - left, Duration(2_s), "how long A waits for B's grant to be applied");
    const auto read = co_await a.read(lock);
    story.expectEqual(read.values[0], 100, "what A reads: B's grant is behind B's write in B's log");
    story.expectEqual(story.count<obs::BarrierStarted>(), 0U, "barriers: none is needed");
    story.expectEqual(story.count<obs::FenceWaiting>(), 0U, "fences: none is needed");
    a.unlock(lock);
  });
}

// ---- RA-4: withdrawal and leases --------------------------------------------------------------------------

ScenarioResult withdrawnRequest(ScenarioContext& context) {
  Story story(context, threeParticipants());
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome ofC = co_await c.lock("k", callFor(5_s, 10_s, true));
    const LockOutcome tired = co_await a.lock("k", callFor(1_s, 5_s));
    story.expectEqual(tired.error, obs::ErrorClass::locked423, "A waited for its whole timeout");
    const std::size_t grants = controlEntries(story, EntryKind::grant);
    c.unlock(ofC);
    co_await story.sleep(200_ms);
    story.expectEqual(controlEntries(story, EntryKind::grant), grants + 1,
                      "C, who can not know, grants what was withdrawn");
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 10_s, true));
    story.expect(ofB.admitted(), "B is admitted: A wants nothing any more");
    // A has seen a grant of everybody by now, but of two requests.
    const LockOutcome again = co_await a.lock("k", callFor(1_s, 5_s));
    story.expectEqual(again.cause, Cause::contended, "why A is refused while B is inside");
    b.unlock(ofB);
    const LockOutcome last = co_await a.lock("k", callFor(5_s, 1_s));
    story.expect(last.admitted(), "A is admitted once B has left");
    a.unlock(last);
  });
}

ScenarioResult leaseBounds(ScenarioContext& context) {
  StoryOptions options = threeParticipants();
  options.checkers.livenessBound = 4_s;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    story.cluster().healEverything();
    const LockOutcome forgotten = co_await story.node("B").lock("k", callFor(5_s, 8_s, true));
    story.expect(forgotten.admitted(), "B is admitted, and its caller never comes back");
    const TrueInstant admitted = story.now();
    co_await story.sleep(5_s);
    const LockOutcome next = co_await story.node("A").lock("k", callFor(5_s, 1_s));
    story.expect(next.admitted(), "A is admitted all the same");
    story.expectAtLeast(next.at - admitted, Duration(8_s), "not before B's lease has run out");
    story.expectAtMost(next.at - admitted, Duration(8_s) + grantRound(story), "as soon as B's grant is here");
  });
}

// ---- RA-6: one participant down ---------------------------------------------------------------------------

ScenarioResult oneDownBlocksAll(ScenarioContext& context) {
  StoryOptions options = ricartAgrawala({"A", "B", "C", "D", "E"});
  options.keys = {{"k", ""}, {"j", ""}};
  Story story(context, options);
  return story.run([&]() -> Task<> {
    story.cluster().isolate(story.id("E"));
    const LockCall call = callFor(2_s, 1_s);
    std::vector<Pending<LockOutcome>> asked;
    asked.push_back(story.node("A").lock("k", call));
    asked.push_back(story.node("B").lock("k", call));
    asked.push_back(story.node("C").lock("j", call));
    for (const Pending<LockOutcome>& each : asked) {
      const LockOutcome refused = co_await each.answer();
      story.expectEqual(refused.error, obs::ErrorClass::lockUnavailable503, "every lock is refused");
      story.expectEqual(refused.cause, Cause::participant, "because one participant is silent");
    }
    story.expectEqual(story.count<obs::Admitted>(), 0U, "admissions while E is silent, to any key");
    const TxnOutcome free = co_await story.node("A").writeUnlocked("j", put(7));
    story.expect(free.committed, "a write without a lock is not concerned (LH-5)");
    story.cluster().healAll();
    co_await story.sleep(1_s);
    const LockOutcome healed = co_await story.node("B").lock("k", call);
    story.expect(healed.admitted(), "E is back, and so are the locks");
    story.node("B").unlock(healed);
  });
}

ScenarioResult localCapacityOfParticipant(ScenarioContext& context) {
  StoryOptions options = threeParticipants();
  options.protocol.waitersPerKey = 1;
  Story story(context, options);
  return story.run([&]() -> Task<> { co_await oneLocalWaiter(story); });
}

}  // namespace

std::vector<Scenario> ricartAgrawalaScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"R-RA-1-every-participant",
       "RA-1, RA-3, X-1, X-2",
       "Three participants contend to count a record up; each enters with the grants of all, itself "
       "included.",
       {{Rule::RA3_HolderDefers, Checker::exclusion}, {Rule::RA3_EarlierDefers, Checker::exclusion}},
       &everyParticipant},
      {"R-RA-2-equal-stamps",
       "RA-2, TK-1",
       "A and B ask at one instant under one stamp; everybody orders them by their names.",
       {{Rule::RA2_NamesBreakTies, Checker::exclusion}},
       &equalStamps},
      {"R-RA-2-stamps-advance",
       "RA-2",
       "A has granted B, who still waits for C; when A asks now it comes behind B.",
       {{Rule::RA2_StampsAdvance, Checker::exclusion}},
       &stampsAdvance},
      {"R-RA-2-stamps-survive",
       "RA-2",
       "A has granted B and restarts; when A asks now it still comes behind B.",
       {{Rule::RA2_StampsSurvive, Checker::exclusion}},
       &stampsSurvive},
      {"R-RA-3-freshness-for-free",
       "RA-3, X-2",
       "A applies B's log three seconds late and is admitted no earlier, because B's grant is in that log.",
       {{Rule::RA3_GrantInLog, Checker::freshness}},
       &freshnessForFree},
      {"R-RA-4-withdrawn-request",
       "RA-4",
       "A gives up waiting and asks again; what was granted to its first request is void.",
       {{Rule::RA4_WithdrawnIsVoid, Checker::exclusion}},
       &withdrawnRequest},
      {"R-RA-4-lease-bounds",
       "RA-4, LH-2",
       "A holder's caller never comes back; its lease ends, and the deferred grant is given.",
       {{Rule::RA4_LeaseBounds, Checker::liveness}},
       &leaseBounds},
      {"R-RA-6-one-down",
       "RA-6, RA-1",
       "One participant of five can not be reached, and every lock of the database is refused until it is "
       "back.",
       {{Rule::RA1_EveryParticipant, Checker::exclusion}},
       &oneDownBlocksAll},
      {"R-RA-local-capacity",
       "BD-1, LH-1",
       "One caller of C waits, which is all that a key may have; C's next one is refused at once.",
       {},
       &localCapacityOfParticipant},
  };
}

}  // namespace holdfast::scenarios
