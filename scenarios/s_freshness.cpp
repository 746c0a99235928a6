// What a successor must have seen (S-30 to S-35): the fence, what it waits for, and what it never accepts.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

/// Whether some delegate had to wait for `origin` to reach `position`.
bool waitedFor(const Story& story, NodeId origin, Position position) {
  return story.count<obs::FenceWaiting>([=](const obs::FenceWaiting& waiting, NodeId) {
    return waiting.origin == origin && waiting.position == position;
  }) > 0;
}

// ---- S-30 -------------------------------------------------------------------------------------------------

ScenarioResult appliedAndVisible(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "k", 100);
    story.cluster().setApplyDelay(c.id(), b.id(), 3_s);  // C gets B's entries at once and applies them late
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write commits");
    co_await story.sleep(1_s);

    const Pending<LockOutcome> asked = c.lock("k");
    co_await story.sleep(500_ms);
    const protocol::Replication& replica = story.cluster().node(c.id())->replication();
    story.expectEqual(replica.received(b.id()), 2U, "entries of B, write and release, that C has received");
    story.expectEqual(replica.visible(b.id()), 0U, "entries of B that show at C");
    story.expect(!asked.answered(), "received but queued does not count");
    const LockOutcome lock = co_await asked.answer();
    story.expectEqual(lock.path, obs::Path::clean, "C's path");
    story.expect(waitedFor(story, b.id(), 2), "C waited for B's release, which stands behind B's write");
    story.expectEqual(lock.at, appliedAt(story, c.id(), b.id(), 2), "when C is admitted");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    const TxnOutcome withdrawal = co_await c.write(lock, put(read.values[0] - 20));
    story.expect(withdrawal.committed, "C's write commits");
    co_await story.sleep(200_ms);
    expectEverywhere(story, "k", 130);
  });
}

ScenarioResult outlastsCaller(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    story.cluster().setApplyDelay(c.id(), b.id(), 3_s);
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write commits");
    co_await story.sleep(1_s);
    const TrueInstant asked = story.now();
    const LockOutcome gaveUp = co_await c.lock("k", callFor(1_s, 5_s));
    story.expectEqual(gaveUp.error, obs::ErrorClass::lockUnavailable503, "C's first lock");
    story.expectEqual(gaveUp.cause, Cause::fence, "why: nobody holds the key, C is not up to date");
    story.expectEqual(gaveUp.at - asked, Duration(1_s), "how long C waited");
    if (gaveUp.admitted()) c.unlock(gaveUp);

    const LockOutcome lock = co_await c.lock("k");
    story.expectEqual(lock.path, obs::Path::clean, "C's path when it has more patience");
    story.expectEqual(lock.at, appliedAt(story, c.id(), b.id(), 2), "when C is admitted");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    story.expectEqual(controlEntries(story, EntryKind::barrier), 0U, "barriers");
    c.unlock(lock);
  });
}

// ---- S-31 -------------------------------------------------------------------------------------------------

ScenarioResult transitive(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C", "D"}, "D"));
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "D", "k", 100);
    story.cluster().setApplyDelay(c.id(), a.id(), 3_s);
    const auto deposit = co_await a.update("k", put(150));
    story.expect(deposit.write.committed, "A's write commits");
    co_await story.sleep(1_s);
    const LockOutcome ofB = co_await b.lock("k");
    const auto seenByB = co_await b.read(ofB);
    story.expectEqual(seenByB.values[0], 150, "what B reads");
    b.unlock(ofB);  // and writes nothing
    co_await story.sleep(1_s);

    const LockOutcome ofC = co_await c.lock("k");
    story.expectEqual(ofC.path, obs::Path::clean, "C's path");
    story.expectEqual(story.cluster().node(b.id())->replication().head(), 1U, "B's log: its release alone");
    story.expect(waitedFor(story, a.id(), 2), "C waits for A, who was not its immediate predecessor");
    story.expectEqual(ofC.at, appliedAt(story, c.id(), a.id(), 2), "when C is admitted");
    const auto read = co_await c.read(ofC);
    story.expectEqual(read.values[0], 150, "what C reads");
    const TxnOutcome withdrawal = co_await c.write(ofC, put(read.values[0] - 20));
    story.expect(withdrawal.committed, "C's write commits");
    co_await story.sleep(200_ms);
    expectEverywhere(story, "k", 130);
  });
}

// ---- S-32 -------------------------------------------------------------------------------------------------

ScenarioResult equalTimestamps(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "H"}, "H"));
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const obs::Timestamp tie = a.wallNow();
    story.cluster().setApplyDelay(b.id(), a.id(), 2_s);
    story.cluster().setApplyDelay(a.id(), b.id(), 3_s);
    const TxnOutcome loser = co_await a.writeUnlocked("k", put(70).stamped(tie));
    story.expect(loser.committed, "A's unlocked write commits");
    const LockOutcome ofB = co_await b.lock("k");
    const TxnOutcome winner = co_await b.write(ofB, put(150).stamped(tie));
    story.expect(winner.committed, "B's write with the same timestamp commits");
    co_await story.sleep(1_s);

    const Pending<LockOutcome> asked = a.lock("k");
    co_await story.sleep(500_ms);
    const auto versionAt = [&](StoryNode node) {
      return story.cluster().node(node.id())->record(story.key("k"))->field(0).version.stamp.ns;
    };
    story.expectEqual(versionAt(a), versionAt(b), "the record's version at A: a version check would pass");
    story.expectEqual(valueAt(story, "A", "k"), 70, "but the value there is the one that loses");
    const LockOutcome ofA = co_await asked.answer();
    story.expectEqual(ofA.path, obs::Path::clean, "A's path");
    story.expectEqual(ofA.at, appliedAt(story, a.id(), b.id(), 2), "when A is admitted");
    const auto read = co_await a.read(ofA);
    story.expectEqual(read.values[0], 150, "what A reads: the greater name wins");
    const TxnOutcome beside = co_await a.write(ofA, patch(1, 7));
    story.expect(beside.committed, "A's write to another field commits");
    co_await story.sleep(1_s);
    expectEverywhere(story, "k", 150);
  });
}

// ---- S-33 -------------------------------------------------------------------------------------------------

ScenarioResult dependentPatch(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C", "D"}, "D"));
  return story.run([&]() -> Task<> {
    const StoryNode c = story.node("C");
    co_await preset(story, "D", "k", 100);
    story.cluster().setApplyDelay(c.id(), story.id("A"), 3_s);
    const auto ofA = co_await story.node("A").update("k", patch(0, 150));
    co_await story.sleep(1_s);
    const auto ofB = co_await story.node("B").update("k", patch(1, 7));
    story.expect(ofA.write.committed && ofB.write.committed, "A patches x, and B after it patches y");
    co_await story.sleep(1_s);

    const Pending<LockOutcome> asked = c.lock("k");
    co_await story.sleep(500_ms);
    story.expectEqual(valueAt(story, "C", "k", 1), 7, "y at C, which has the newest writer's patch");
    story.expectEqual(valueAt(story, "C", "k", 0), 100, "x at C, which has not the one before");
    story.expect(!asked.answered(), "B's patch of y does not stand for A's write of x");
    const LockOutcome lock = co_await asked.answer();
    story.expectEqual(lock.path, obs::Path::clean, "C's path");
    story.expectEqual(lock.at, appliedAt(story, c.id(), story.id("A"), 2), "when C is admitted");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "x as C reads it");
    story.expectEqual(read.values[1], 7, "y as C reads it");
    c.unlock(lock);
  });
}

// ---- S-34 -------------------------------------------------------------------------------------------------

ScenarioResult delayedBehindDelete(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C", "D"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const StoryNode d = story.node("D");
    story.cluster().setApplyDelay(d.id(), b.id(), 3_s);
    const auto created = co_await b.update("k", put(100));
    story.expect(created.write.committed, "B creates the record");
    co_await story.sleep(1_s);
    const auto erased = co_await c.update("k", erase());
    story.expectEqual(erased.lock.path, obs::Path::clean, "C's path");
    story.expect(erased.write.committed, "C deletes the record");
    co_await story.sleep(500_ms);
    story.expectEqual(appliedAt(story, d.id(), b.id(), 1), TrueInstant::never(), "when D applied B's write");

    const LockOutcome lock = co_await d.lock("k");
    story.expectEqual(lock.path, obs::Path::clean, "D's path");
    story.expect(appliedAt(story, d.id(), b.id(), 1) < lock.at, "B's older write arrived at D meanwhile");
    const auto read = co_await d.read(lock);
    story.expectEqual(int{read.present}, 0, "fields that D sees: the record stays deleted");
    d.unlock(lock);
    co_await story.sleep(200_ms);
    for (const std::string& name : story.options().nodes) {
      const obs::FinalRecord record = story.cluster().record(story.id(name), story.key("k"));
      story.expectEqual(int{record.present}, 0, "fields of the record at " + name + " in the end");
    }
  });
}

ScenarioResult tokenOutlivesRecord(ScenarioContext& context) {
  StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  options.protocol.tombstoneRetention = 5_s;
  options.protocol.sweepEvery = 1_s;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const auto created = co_await b.update("k", put(100));
    co_await story.sleep(1_s);
    const auto erased = co_await c.update("k", erase());
    story.expect(erased.lock.token > created.lock.token, "the token of the deleter is the greater one");
    story.expect(co_await giveBack(story, c, "k"), "C gives the key back");
    const auto everywhere = [&] { return story.count<obs::TombstoneReclaimed>() == 3; };
    story.expect(co_await story.until(everywhere), "all three reclaim the tombstone");
    story.expect(story.cluster().node(story.id("A"))->record(story.key("k")) == nullptr,
                 "the home knows of no record any more");

    const auto recreated = co_await b.update("k", put(7));
    story.expectEqual(recreated.lock.path, obs::Path::clean, "B's path");
    story.expect(recreated.lock.token > erased.lock.token, "the token of the one who creates it again");
    story.expectEqual(recreated.lock.token.counter, erased.lock.token.counter + 1, "its counter");
    story.expect(recreated.write.committed, "B's write commits");
    co_await story.sleep(1_s);
    const LockOutcome last = co_await c.lock("k");
    story.expect(last.token > recreated.lock.token, "the token after that");
    const auto read = co_await c.read(last);
    story.expectEqual(read.values[0], 7, "what C reads");
    c.unlock(last);
    expectEverywhere(story, "k", 7);
  });
}

// ---- S-35 -------------------------------------------------------------------------------------------------

void expectUnsatisfiable(Story& story, const LockOutcome& refused, Duration within) {
  story.expectEqual(refused.error, obs::ErrorClass::lockUnavailable503, "C's lock");
  story.expectEqual(refused.cause, Cause::unsatisfiable, "why it is refused");
  story.expectEqual(within, roundTrip(story), "how long C was kept waiting: no longer than it took to know");
  if (refused.admitted()) story.node("C").unlock(refused);
}

ScenarioResult purgedOrigin(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C", "D"}, "A"));
  return story.run([&]() -> Task<> {
    Cluster& cluster = story.cluster();
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const StoryNode d = story.node("D");
    co_await preset(story, "A", "k", 100);
    cluster.cut(b.id(), c.id());
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write commits");
    story.expect(co_await giveBack(story, b, "k"), "B gives the key back");
    cluster.purgeLog(b.id(), 2);
    cluster.heal(b.id(), c.id());
    story.expect(co_await story.untilSeen<obs::GapFound>(), "C learns that B's entries are gone");

    TrueInstant asked = story.now();
    const LockOutcome refused = co_await c.lock("k");
    expectUnsatisfiable(story, refused, story.now() - asked);
    co_await story.sleep(1_s);
    const LockOutcome elsewhere = co_await d.lock("k");
    story.expectEqual(elsewhere.path, obs::Path::clean, "D's path: the lineage is kept, not demoted");
    const auto seenByD = co_await d.read(elsewhere);
    story.expectEqual(seenByD.values[0], 150, "what D reads");
    d.unlock(elsewhere);
    story.expect(co_await giveBack(story, d, "k"), "D gives the key back");
    asked = story.now();
    const LockOutcome again = co_await c.lock("k");
    expectUnsatisfiable(story, again, story.now() - asked);

    story.expect(cluster.repairHole(c.id(), b.id(), 1), "C is given B's first entry");
    story.expect(cluster.repairHole(c.id(), b.id(), 2), "and the second");
    const LockOutcome repaired = co_await c.lock("k");
    story.expectEqual(repaired.path, obs::Path::clean, "C's path after the repair");
    const auto read = co_await c.read(repaired);
    story.expectEqual(read.values[0], 150, "what C reads");
    story.expectEqual(controlEntries(story, EntryKind::barrier), 0U, "barriers: nothing was recovered");
    c.unlock(repaired);
  });
}

ScenarioResult applyHole(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "k", 100);
    story.cluster().failNextApply(c.id(), b.id());
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write commits");
    story.expect(co_await giveBack(story, b, "k"), "B gives the key back");
    story.expect(co_await untilApplied(story, c.id(), b.id(), 2), "C applies B's release behind the hole");

    const TrueInstant asked = story.now();
    const LockOutcome refused = co_await c.lock("k");
    expectUnsatisfiable(story, refused, story.now() - asked);
    story.expect(story.cluster().repairHole(c.id(), b.id(), 1), "C is given the entry that failed");
    const LockOutcome repaired = co_await c.lock("k");
    story.expectEqual(repaired.path, obs::Path::clean, "C's path after the repair");
    const auto read = co_await c.read(repaired);
    story.expectEqual(read.values[0], 150, "what C reads");
    story.expectEqual(controlEntries(story, EntryKind::barrier), 0U, "barriers: nothing was recovered");
    c.unlock(repaired);
  });
}

ScenarioResult holeBelowBarrier(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "k", 100);
    story.cluster().failNextApply(c.id(), b.id());
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write commits");
    co_await story.sleep(untilExpired(story));

    const TrueInstant asked = story.now();
    const LockOutcome refused = co_await c.lock("k");
    story.expectEqual(refused.error, obs::ErrorClass::lockUnavailable503, "C's lock");
    story.expectEqual(refused.cause, Cause::barrier, "why: something below B's barrier is missing");
    story.expectEqual(refused.at - asked, roundTrip(story) + barrierRound(story), "how soon C knows");
    if (refused.admitted()) c.unlock(refused);
    story.expect(co_await untilApplied(story, c.id(), b.id(), 2), "C applies B's barrier behind the hole");
    const LockOutcome again = co_await c.lock("k");
    story.expectEqual(again.cause, Cause::barrier, "why C is refused with the barrier applied");
    if (again.admitted()) c.unlock(again);
    story.expect(story.cluster().repairHole(c.id(), b.id(), 1), "C is given the entry that failed");
    const LockOutcome repaired = co_await c.lock("k");
    story.expectEqual(repaired.path, obs::Path::recovery, "C's path after the repair");
    const auto read = co_await c.read(repaired);
    story.expectEqual(read.values[0], 150, "what C reads");
    c.unlock(repaired);
  });
}

using enum checkers::Checker;
using protocol::Rule;

std::vector<Scenario> handoffScenarios() {
  return {
      {"S-30-applied-and-visible",
       "FR-1, FR-3, LW-1",
       "After a clean handoff C has received B's entries and must still wait until it has applied them.",
       {{Rule::FR3_AppliedAndVisible, freshness},
        {Rule::FR1_ReleaseCarriesPosition, freshness},
        {Rule::FR1_ReleaseCarriesPosition, serial},
        {Rule::LW1_OrderedApply, freshness}},
       &appliedAndVisible},
      {"S-30-fence-outlasts-caller",
       "FR-3, FR-5",
       "C's first caller gives up before the fence is satisfied: 503, and the lineage stands for the next.",
       {{Rule::FR3_AppliedAndVisible, freshness}},
       &outlastsCaller},
      {"S-31-transitive",
       "FR-2, FR-3",
       "A writes, B holds the key and writes nothing, and C must have A's write.",
       {{Rule::FR2_InheritDependencies, freshness}, {Rule::FR2_InheritDependencies, serial}},
       &transitive},
      {"S-32-equal-timestamps",
       "FR-3, LW-3",
       "A holds the losing value of a tie, under the version of the winner; only the fence makes it wait.",
       {{Rule::FR1_ReleaseCarriesPosition, freshness},
        {Rule::FR3_PositionsNotVersions, freshness},
        {Rule::LW3_TotalOrder, checkers::Checker::convergence}},
       &equalTimestamps},
      {"S-33-dependent-patch",
       "FR-2, FR-3, LW-3",
       "A patches x, then B patches y; C has B's patch and must wait for A's.",
       {{Rule::FR2_EveryOrigin, serial},
        {Rule::FR2_EveryOrigin, freshness},
        {Rule::FR2_InheritDependencies, serial},
        {Rule::FR2_InheritDependencies, freshness}},
       &dependentPatch},
  };
}

std::vector<Scenario> damagedScenarios() {
  return {
      {"S-34-write-behind-its-delete",
       "LW-3, FR-2",
       "C deletes what B wrote; at D the deletion arrives first, and its tombstone stops the write.",
       {{Rule::LW3_TombstoneRetention, serial},
        {Rule::LW3_TombstoneRetention, checkers::Checker::convergence}},
       &delayedBehindDelete},
      {"S-34-token-outlives-record",
       "TK-1, TK-3, LW-3",
       "The record is deleted, its tombstone reclaimed, and it is created again; tokens go on increasing.",
       {{Rule::TK3_TokenOutlivesRecord, checkers::Checker::exclusion}},
       &tokenOutlivesRecord},
      {"S-35-purged-origin",
       "FR-5",
       "What C must have was purged before it got there: 503, until the entries are made good.",
       {{Rule::FR5_FailClosed, freshness}},
       &purgedOrigin},
      {"S-35-apply-hole",
       "FR-5, FR-8",
       "B's write fails to apply at C although B's release does: 503, until the hole is repaired.",
       {{Rule::FR8_HolesRefuse, freshness}},
       &applyHole},
      {"S-35-hole-below-barrier",
       "FR-8",
       "The same, and the lineage is lost: a later barrier does not paper over the hole.",
       {{Rule::FR8_HolesRefuse, freshness}},
       &holeBelowBarrier},
  };
}

}  // namespace

std::vector<Scenario> freshnessScenarios() {
  std::vector<Scenario> all = handoffScenarios();
  for (Scenario& scenario : damagedScenarios()) all.push_back(std::move(scenario));
  return all;
}

}  // namespace holdfast::scenarios
