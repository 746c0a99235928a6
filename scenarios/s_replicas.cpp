// What reaches a replica, and what a successor may take for that: stamps, copies of rows, malformed entries,
// and an order that is none.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

/// B stages under the lock, writes elsewhere, and commits what it has staged after that.
ScenarioResult stampsAreNoPositions(ScenarioContext& context) {
  StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  options.keys.push_back({"other", "", "accounts"});
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "k", 100);
    const LockOutcome ofB = co_await b.lock("k");
    const TxnOutcome staged = co_await b.stage(b.begin(), ofB, put(150));
    story.expect(staged.staged, "B stages a write under the lock");
    co_await story.sleep(50_ms);
    const TxnOutcome later = co_await b.writeUnlocked("other", put(1));
    story.expect(later.committed, "B's later write to another key commits first");
    co_await story.sleep(200_ms);
    story.cluster().setApplyDelay(c.id(), b.id(), 3_s);
    const TxnOutcome submitted = co_await b.submit(staged.txn);
    story.expect(submitted.committed, "B's write under the lock commits");
    co_await story.sleep(100_ms);

    const LockOutcome lock = co_await c.lock("k");
    story.expectEqual(lock.path, obs::Path::clean, "C's path");
    story.expectEqual(lock.at, appliedAt(story, c.id(), b.id(), 3),
                      "when C is admitted: a later stamp of B's log stands for nothing");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    if (lock.admitted()) c.unlock(lock);
  });
}

/// B's deletion fails to apply at C, who is then given a copy of A's rows.
ScenarioResult copyIsNoRepair(ScenarioContext& context) {
  StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  options.keys.push_back({"other", "", "accounts"});
  Story story(context, options);
  return story.run([&]() -> Task<> {
    Cluster& cluster = story.cluster();
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "k", 100);
    co_await preset(story, "A", "other", 7);
    cluster.failNextApply(c.id(), b.id());
    const auto deletion = co_await b.update("k", erase());
    story.expect(deletion.write.committed, "B deletes the record");
    story.expect(co_await giveBack(story, b, "k"), "B gives the key back");
    story.expect(co_await untilApplied(story, c.id(), b.id(), 2), "C applies B's release behind the hole");
    story.expect(cluster.copyRows(story.id("A"), c.id()), "C is given all rows that A has");
    story.expectEqual(valueAt(story, "C", "other"), 7, "a row of the copy, at C");
    story.expectEqual(valueAt(story, "C", "k"), 100, "the deleted row, at C: no copy takes it away");

    const LockOutcome refused = co_await c.lock("k", callFor(1_s, 1_s));
    story.expectEqual(refused.error, obs::ErrorClass::lockUnavailable503, "C's lock");
    story.expectEqual(refused.cause, Cause::unsatisfiable, "why: the hole is there still");
    if (refused.admitted()) c.unlock(refused);
    story.expect(cluster.repairHole(c.id(), b.id(), 1), "C is given the entry that failed");
    const LockOutcome repaired = co_await c.lock("k");
    story.expectEqual(repaired.path, obs::Path::clean, "C's path after the repair");
    const auto read = co_await c.read(repaired);
    story.expectEqual(int{read.present}, 0, "fields that C sees: the record is deleted");
    if (repaired.admitted()) c.unlock(repaired);
  });
}

/// A frame of B's stream that makes no sense, and then what B has really written.
ScenarioResult malformedEntry(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const NodeId c = story.id("C");
    const protocol::ReleaseEntry entry{
        KeyId{9'999}, b.id(), obs::Token{1, 1, 1}, protocol::ReleaseEntry::kCurrentForm, {}};
    story.cluster().injectMessage(b.id(), c, protocol::LogFrame{1, entry});
    co_await story.sleep(100_ms);
    const auto refused = [](const obs::MessageRefused& message, NodeId) {
      return message.message == MessageKind::logFrame && message.cause == Cause::malformed;
    };
    story.expectEqual(story.count<obs::MessageRefused>(refused), 1U, "entries that C refuses, and counts");
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write commits");
    co_await story.sleep(1_s);
    expectEverywhere(story, "k", 150);
    const LockOutcome ofC = co_await story.node("C").lock("k");
    const auto read = co_await story.node("C").read(ofC);
    story.expectEqual(read.values[0], 150, "what C reads");
    if (ofC.admitted()) story.node("C").unlock(ofC);
  });
}

/// B finds an entry in its log, behind which it writes under the lock and releases.
ScenarioResult malformedInLog(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    b.crash();
    protocol::ReleaseEntry entry{
        story.key("k"), b.id(), obs::Token{1, 1, 1}, protocol::ReleaseEntry::kCurrentForm, {}};
    entry.dependencies.require(NodeId{700}, 1);
    story.expect(story.cluster().injectEntry(b.id(), entry),
                 "a release that names no node stands in B's log");
    b.restart();
    co_await story.sleep(12_s);
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write behind it commits");
    story.expect(co_await giveBack(story, b, "k"), "A sees B's own release behind it");
    const LockOutcome ofC = co_await c.lock("k");
    story.expectEqual(ofC.path, obs::Path::clean, "C's path");
    const auto read = co_await c.read(ofC);
    story.expectEqual(read.values[0], 150, "what C reads");
    if (ofC.admitted()) c.unlock(ofC);
    expectEverywhere(story, "k", 150);
    for (const StoryNode reader : {story.node("A"), c}) {
      const auto refused = [&](const obs::MessageRefused& message, NodeId at) {
        return at == reader.id() && message.message == MessageKind::logFrame &&
               message.cause == Cause::malformed;
      };
      story.expectEqual(story.count<obs::MessageRefused>(refused), 1U,
                        "frames that a reader of B's log doubts");
    }
  });
}

/// A locked write with a late stamp, then another with an early one, and an unlocked write between the two.
ScenarioResult oneOrder(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C", "D", "H"}, "H"));
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode d = story.node("D");
    const auto ahead = [&](Duration by) { return obs::Timestamp{a.wallNow().ns + by.ns}; };
    story.cluster().setApplyDelay(d.id(), a.id(), 5_s);
    const auto first = co_await a.update("k", put(1).stamped(ahead(2_h)));
    co_await story.sleep(1_s);
    const auto second = co_await b.update("k", put(2));
    co_await story.sleep(1_s);
    const TxnOutcome plain = co_await story.node("C").writeUnlocked("k", put(3).stamped(ahead(1_h)));
    story.expect(first.write.committed && second.write.committed && plain.committed, "all three commit");
    story.expect(second.lock.token > first.lock.token, "the second lock's token is the greater one");
    co_await story.sleep(1_s);
    story.expectEqual(appliedAt(story, d.id(), a.id(), 1), TrueInstant::never(), "when D applied A's write");
    co_await story.sleep(5_s);
    expectEverywhere(story, "k", 1);
  });
}

/// C erases the record; B, whose link to A is cut, writes it with an older stamp before the retention is
/// over, and A gets that write after its own retention.
ScenarioResult lateWithinRetention(ScenarioContext& context) {
  StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  options.protocol.tombstoneRetention = 5_s;
  options.protocol.sweepEvery = 1_s;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    Cluster& cluster = story.cluster();
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const auto created = co_await b.update("k", put(100));
    story.expect(created.write.committed, "B creates the record");
    co_await story.sleep(1_s);
    const obs::Timestamp before = b.wallNow();
    const TxnOutcome erased = co_await story.node("C").writeUnlocked("k", erase());
    co_await story.sleep(1_s);
    cluster.cut(a.id(), b.id());
    cluster.cut(b.id(), a.id());
    const TxnOutcome written = co_await b.writeUnlocked("k", put(70).stamped(before));
    const obs::Position late = story.cluster().node(b.id())->replication().head();
    story.expect(erased.committed && written.committed, "C's erase and B's older write commit");
    co_await story.sleep(9_s);
    const auto reclaimedAt = [&](StoryNode node) {
      return story.count<obs::TombstoneReclaimed>(
          [&](const obs::TombstoneReclaimed&, NodeId at) { return at == node.id(); });
    };
    story.expectEqual(reclaimedAt(a), 0U, "tombstones that A reclaims while it does not know what B logged");
    cluster.heal(a.id(), b.id());
    cluster.heal(b.id(), a.id());
    const auto everywhere = [&] { return story.count<obs::TombstoneReclaimed>() == 3; };
    story.expect(co_await story.until(everywhere), "all three reclaim the tombstone once they have met");
    story.expect(appliedAt(story, a.id(), b.id(), late) != TrueInstant::never(), "A has applied B's write");
    for (const std::string& name : story.options().nodes) {
      const obs::FinalRecord record = cluster.record(story.id(name), story.key("k"));
      story.expectEqual(int{record.present}, 0, "fields of the record at " + name + " in the end");
    }
  });
}

}  // namespace

std::vector<Scenario> replicaScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"R-FR-3-stamps-are-no-positions",
       "FR-3, LW-1",
       "B's log shows a later stamp before the write that C must see: only the release's place counts.",
       {{Rule::FR3_PositionsNotStamps, Checker::freshness}},
       &stampsAreNoPositions},
      {"R-FR-8-copy-is-no-repair",
       "FR-8, FR-5",
       "B's deletion fails to apply at C; a copy of A's rows does not bring it, and the hole stays.",
       {{Rule::FR8_CopyIsNoRepair, Checker::freshness}},
       &copyIsNoRepair},
      {"R-BD-3-malformed-entry",
       "BD-3, LW-1",
       "A release of a key that there is none of arrives on B's stream; it is refused, and B's write "
       "arrives.",
       {{Rule::BD3_MalformedContained, Checker::freshness}},
       &malformedEntry},
      {"R-BD-3-malformed-in-log",
       "BD-3, FR-4, LW-1",
       "A release that names an unknown node stands in B's log: it is passed over, and what B writes behind "
       "it "
       "arrives.",
       {{Rule::BD3_MalformedPassed, Checker::convergence}},
       &malformedInLog},
      {"R-LW-3-one-order",
       "LW-3",
       "Two locked writes and an unlocked one between them in time: one order for all, wherever they arrive.",
       {{Rule::LW3_OneOrder, Checker::convergence}},
       &oneOrder},
      {"R-LW-3-late-within-retention",
       "LW-3",
       "B's write from before an erase reaches A after the retention: A asks B before it forgets the erase.",
       {{Rule::LW3_ReclaimBehindLogs, Checker::convergence}},
       &lateWithinRetention},
  };
}

}  // namespace holdfast::scenarios
