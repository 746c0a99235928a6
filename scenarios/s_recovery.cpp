// Recovery (S-36 to S-38, and the rules of FR-4 to FR-9): how a key without a lineage becomes fresh again,
// and what that costs.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;
using checkers::Route;

std::uint64_t reached(Story& story, Route route) {
  return story.cluster().checkers().findings().count(route);
}

std::uint64_t barrierMessages(const Story& story) {
  return story.messages(MessageKind::barrierRequest) + story.messages(MessageKind::barrierReply);
}

/// B adds 50 to the account of 100 and leaves the key alone; what C gets of B's log it applies `late`.
Task<LockOutcome> lateDeposit(Story& story, Duration late) {
  co_await preset(story, "A", "k", 100);
  story.cluster().setApplyDelay(story.id("C"), story.id("B"), late);
  const auto deposit = co_await story.node("B").update("k", put(150));
  story.expect(deposit.write.committed, "B's write commits");
  co_return deposit.lock;
}

/// C asks, and from then on applies what B sends without delay; only what is under way keeps its time.
Pending<LockOutcome> askAndCatchUp(Story& story, LockCall call = {}) {
  Pending<LockOutcome> asked = story.node("C").lock("k", call);
  story.cluster().setApplyDelay(story.id("C"), story.id("B"), story.options().applyDelay);
  return asked;
}

// ---- S-36 -------------------------------------------------------------------------------------------------

std::vector<StoryKey> keysAt(std::string home, int count) {
  std::vector<StoryKey> keys;
  for (int i = 0; i < count; ++i) keys.push_back({fmt::format("k{}", i), home, "accounts"});
  return keys;
}

ScenarioResult evictedSet(ScenarioContext& context) {
  StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  options.keys = keysAt("A", 4);
  options.protocol.lineageSets = 2;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "k0", 100);
    const std::uint64_t commits = story.cluster().statistics().durableCommits;
    const LockOutcome virgin = co_await c.lock("k3");
    story.expectEqual(virgin.path, obs::Path::virgin, "the path of a key that nobody ever locked");
    story.expectEqual(story.lockMessages(), 2U, "its messages: no barrier");
    story.expectEqual(story.cluster().statistics().durableCommits - commits, 0U, "its durable commits");
    c.unlock(virgin);

    story.cluster().setApplyDelay(c.id(), b.id(), 2_s);
    for (int i = 0; i < 3; ++i) {
      const std::string key = fmt::format("k{}", i);
      const auto written = co_await b.update(key, put(150 + i));
      story.expect(written.write.committed, "B's write commits");
      story.expect(co_await giveBack(story, b, key), "B gives the key back");
    }
    story.expectEqual(barrierMessages(story), 0U, "barrier messages so far");
    const Pending<LockOutcome> asked = c.lock("k0");
    story.cluster().setApplyDelay(c.id(), b.id(), story.options().applyDelay);
    const LockOutcome evicted = co_await asked.answer();
    story.expectEqual(evicted.path, obs::Path::recovery, "the path of the key whose set was evicted");
    const auto read = co_await c.read(evicted);
    story.expectEqual(read.values[0], 150, "what C reads");
    story.expectEqual(story.count<obs::BarrierStarted>(), 1U, "barriers for it");
    story.expectEqual(controlEntries(story, EntryKind::barrier), 2U,
                      "barrier entries: one a reachable member");
    story.expectEqual(barrierMessages(story), 4U, "barrier messages: there and back");
    c.unlock(evicted);
    const LockOutcome kept = co_await c.lock("k2");
    story.expectEqual(kept.path, obs::Path::clean, "the path of a key whose set was kept");
    story.expectEqual(story.count<obs::BarrierStarted>(), 1U, "barriers in the end");
    c.unlock(kept);
    story.expectEqual(reached(story, Route::l2Eviction), 1U, "recoveries that the report lays to eviction");
  });
}

/// B locks five keys in turn and gives each back; then C does.
template <std::uint32_t kCap>
ScenarioResult cycle(ScenarioContext& context) {
  constexpr int kKeys = 5;
  StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  options.keys = keysAt("A", kKeys);
  options.protocol.lineageSets = kCap;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    std::vector<int> recoveries;
    for (const char* const name : {"B", "C"}) {
      const StoryNode node = story.node(name);
      int recovered = 0;
      for (int i = 0; i < kKeys; ++i) {
        const std::string key = fmt::format("k{}", i);
        const auto section = co_await node.update(key, increment(0, 1));
        story.expect(section.write.committed, "the section's write commits");
        recovered += section.lock.path == obs::Path::recovery ? 1 : 0;
        story.expect(co_await giveBack(story, node, key), "the key is given back");
      }
      recoveries.push_back(recovered);
    }
    const int expected = kCap < kKeys ? kKeys : 0;
    story.expectEqual(recoveries, std::vector<int>{0, expected}, "recoveries of B's round and of C's");
    const auto barriers = static_cast<int>(story.count<obs::BarrierStarted>());
    story.expectEqual(barriers, expected, "barriers: one a key, or none");
    story.expectEqual(controlEntries(story, EntryKind::barrier), std::size_t{2} * expected,
                      "barrier entries: one a key and reachable member");
    const checkers::PathCost& cost = story.cluster().checkers().costs().recovery;
    story.expectEqual(cost.acquisitions, static_cast<std::uint64_t>(expected), "recoveries in the report");
    story.expectEqual(cost.barrierEntries.sum, std::uint64_t{2} * expected, "barrier entries in the report");
    story.expectEqual(reached(story, Route::l2Eviction), static_cast<std::uint64_t>(expected),
                      "recoveries that the report lays to eviction");
    for (int i = 0; i < kKeys; ++i) {
      story.expectEqual(valueAt(story, "A", fmt::format("k{}", i)), 2, "each key was counted up twice");
    }
    story.note(fmt::format("a cycle through {} keys with {} sets kept: {} barriers with {} entries", kKeys,
                           kCap, barriers, cost.barrierEntries.sum));
  });
}

// ---- S-37 -------------------------------------------------------------------------------------------------

/// C locks 100 keys whose home has restarted, `kGapUs` apart. Barriers follow each other, and each takes at
/// least a round; a recovery shares the next one to start. So there are at most two, and one more for each
/// round in the time over which the calls come.
template <std::int64_t kGapUs>
ScenarioResult sharedBarriers(ScenarioContext& context) {
  constexpr int kKeys = 100;
  StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  options.keys = keysAt("A", kKeys);
  options.protocol.everDelegatedBits =
      1U << 16;  // so many that none of B's first locks is taken for a later one
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    story.cluster().setApplyDelay(c.id(), b.id(), 130_ms);  // 13 s for all that B writes
    for (int i = 0; i < kKeys; ++i) {
      const auto written = co_await b.update(fmt::format("k{}", i), put(i + 1));
      story.expect(written.write.committed, "B's write commits");
    }
    story.node("A").crash();
    co_await story.sleep(100_ms);
    story.node("A").restart();
    co_await story.sleep(untilExpired(story) + 1_s);

    std::vector<Pending<LockOutcome>> asked;
    for (int i = 0; i < kKeys; ++i) {
      asked.push_back(c.lock(fmt::format("k{}", i)));
      if (kGapUs > 0) co_await story.sleep(sim::microseconds(kGapUs));
    }
    int recovered = 0;
    int fresh = 0;
    for (int i = 0; i < kKeys; ++i) {
      const LockOutcome lock = co_await asked[static_cast<std::size_t>(i)].answer();
      recovered += lock.admitted() && lock.path == obs::Path::recovery ? 1 : 0;
      const auto read = co_await c.read(lock);
      fresh += read.values[0] == i + 1 ? 1 : 0;
      c.unlock(lock);
    }
    story.expectEqual(recovered, kKeys, "keys that C obtains by recovery");
    story.expectEqual(fresh, kKeys, "keys that show B's write");
    const std::size_t barriers = story.count<obs::BarrierStarted>();
    const Duration window = sim::microseconds(kGapUs) * (kKeys - 1);
    const auto most = 2 + static_cast<std::size_t>(window.ns / barrierRound(story).ns);
    story.expectAtLeast(barriers, 1U, "barriers for all of them");
    story.expectAtMost(barriers, most, "barriers for all of them: 2 + window / (2 latency + commit)");
    story.expectEqual(controlEntries(story, EntryKind::barrier), 2 * barriers,
                      "barrier entries: one a barrier and reachable member");
    story.note(fmt::format("100 recoveries within {} ms: {} barriers (bound {}), {} entries instead of 200",
                           window.ns / 1'000'000, barriers, most, 2 * barriers));
  });
}

// ---- S-38 -------------------------------------------------------------------------------------------------

/// The home goes down and comes back, and its quarantine passes.
Task<> restartHome(Story& story) {
  story.node("A").crash();
  co_await story.sleep(100_ms);
  story.node("A").restart();
  co_await story.sleep(untilExpired(story) + 100_ms);
}

ScenarioResult coldHome(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode c = story.node("C");
    (void)co_await lateDeposit(story, 12_s);
    story.expect(co_await giveBack(story, story.node("B"), "k"), "B's release is clean, and the home knows");
    co_await restartHome(story);
    const LockOutcome lock = co_await askAndCatchUp(story);
    story.expectEqual(lock.path, obs::Path::recovery, "C's path: the home's empty filter is no evidence");
    story.expectEqual(story.count<obs::BarrierStarted>(), 1U, "barriers");
    story.expect(appliedAt(story, c.id(), story.id("B"), 1) <= lock.at, "B's write is applied at C by then");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    const TxnOutcome withdrawal = co_await c.write(lock, put(130));
    story.expect(withdrawal.committed, "C's write commits");
    co_await story.sleep(200_ms);
    expectEverywhere(story, "k", 130);
    story.expectEqual(reached(story, Route::l2HomeRestart), 1U, "recoveries laid to the restart of a home");
    story.expectEqual(reached(story, Route::l2a) + reached(story, Route::l2b) + reached(story, Route::l2c),
                      0U, "damage by recovery");
  });
}

ScenarioResult coldHomeUnreachableAuthor(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    story.cluster().cut(b.id(), c.id());
    (void)co_await lateDeposit(story, 1_ms);
    story.expect(co_await giveBack(story, b, "k"), "B's release is clean, and the home knows");
    b.crash();
    co_await restartHome(story);
    const LockOutcome lock = co_await c.lock("k");
    story.expectEqual(lock.path, obs::Path::recovery, "C's path");
    story.expectEqual(story.count<obs::BarrierSkipped>(), 1U, "members that the barrier left out: B");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 100, "what C reads: B's write is on no machine that C can ask");
    const TxnOutcome withdrawal = co_await c.write(lock, put(80));
    story.expect(withdrawal.committed, "C's write commits, and nobody is told");
    story.cluster().healAll();
    b.restart();
    co_await story.sleep(1_s);
    expectEverywhere(story, "k", 80);
    story.expectEqual(reached(story, Route::l2HomeRestart), 1U, "recoveries laid to the restart of a home");
    const auto* const stale =
        story.cluster().checkers().findings().first(Route::l2a, checkers::Anomaly::derivedFromStaleRead);
    story.expect(stale != nullptr && stale->expected == 150 && stale->observed == 100 && stale->written == 80,
                 "the report says: 150 stood, 100 was read, 80 was written, and B had crashed");
  });
}

// ---- FR-7, FR-8, FR-9 -------------------------------------------------------------------------------------

ScenarioResult expiredHolder(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C", "D"}, "D"));
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const auto ofA = co_await a.update("k", put(100));
    story.expect(ofA.write.committed, "A's write commits");
    story.expect(co_await giveBack(story, a, "k"), "A releases, and the home keeps its set");
    story.cluster().setApplyDelay(c.id(), b.id(), 12_s);
    const auto ofB = co_await b.update("k", put(150));
    story.expectEqual(ofB.lock.path, obs::Path::clean, "B's path");
    story.expect(ofB.write.committed, "B's write commits");
    co_await story.sleep(untilExpired(story));
    story.expectEqual(story.count<obs::GrantExpired>(), 1U, "grants that ended without a release: B's");

    const LockOutcome lock = co_await askAndCatchUp(story);
    story.expectEqual(lock.path, obs::Path::recovery, "C's path: A's set does not know what B wrote");
    story.expect(appliedAt(story, c.id(), b.id(), 1) <= lock.at, "B's write is applied at C by then");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    const TxnOutcome withdrawal = co_await c.write(lock, put(130));
    story.expect(withdrawal.committed, "C's write commits");
    co_await story.sleep(200_ms);
    expectEverywhere(story, "k", 130);
  });
}

ScenarioResult memberWithoutBarrier(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    (void)co_await lateDeposit(story, 12_s);
    co_await story.sleep(untilExpired(story));
    story.cluster().failNextCommit(b.id(), EntryKind::barrier);
    const TrueInstant asked = story.now();
    const LockOutcome refused = co_await c.lock("k");
    story.expectEqual(refused.error, obs::ErrorClass::lockUnavailable503, "C's lock");
    story.expectEqual(refused.cause, Cause::barrier, "why: B answers, and has no barrier to show");
    story.expectEqual(refused.at - asked, roundTrip(story) + barrierRound(story), "how soon C knows");
    if (refused.admitted()) c.unlock(refused);
    story.expectEqual(story.count<obs::BarrierSkipped>(), 0U, "members that the barrier left out");

    const LockOutcome lock = co_await askAndCatchUp(story);
    story.expectEqual(lock.path, obs::Path::recovery, "C's path when it asks again");
    story.expectEqual(story.count<obs::BarrierStarted>(), 2U, "barriers");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    c.unlock(lock);
  });
}

ScenarioResult entryIsTheFence(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    story.cluster().holdMessages(b.id(), c.id(), MessageKind::logFrame);
    (void)co_await lateDeposit(story, 1_ms);
    co_await story.sleep(untilExpired(story));
    const TrueInstant asked = story.now();
    const LockOutcome gaveUp = co_await c.lock("k", callFor(1_s, 5_s));
    story.expectEqual(gaveUp.error, obs::ErrorClass::lockUnavailable503, "C's first lock");
    story.expectEqual(gaveUp.cause, Cause::barrier, "why: B's barrier entry has not come");
    story.expectEqual(gaveUp.at - asked, Duration(1_s), "how long C waited");
    if (gaveUp.admitted()) c.unlock(gaveUp);
    story.expectEqual(story.count<obs::BarrierMeasured>(), 2U, "members whose entries C knows of: A and B");
    story.expectEqual(story.cluster().node(c.id())->replication().received(b.id()), 0U,
                      "entries of B that C has received: its received tail would be satisfied");

    const Pending<LockOutcome> again = c.lock("k");
    co_await story.sleep(500_ms);
    story.expect(!again.answered(), "C waits on");
    story.expectEqual(story.cluster().releaseHeld(b.id(), c.id(), MessageKind::logFrame), 2U,
                      "what arrives now: B's write and B's barrier");
    const LockOutcome lock = co_await again.answer();
    story.expectEqual(lock.path, obs::Path::recovery, "C's path");
    story.expectEqual(lock.at, appliedAt(story, c.id(), b.id(), 2), "when C is admitted");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    c.unlock(lock);
  });
}

// ---- FR-4 -------------------------------------------------------------------------------------------------

ScenarioResult otherForms(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C", "D"}, "D"));
  return story.run([&]() -> Task<> {
    Cluster& cluster = story.cluster();
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const NodeId a = story.id("A");
    const NodeId d = story.id("D");
    const auto cleared = [](const obs::ReleaseSeen& seen, NodeId) { return seen.cleared; };
    co_await preset(story, "D", "k", 100);
    cluster.setApplyDelay(c.id(), a, 4_s);
    cluster.setApplyDelay(d, b.id(), 500_ms);
    const auto deposit = co_await story.node("A").update("k", put(150));
    story.expect(deposit.write.committed, "A's write commits");
    story.expect(co_await giveBack(story, story.node("A"), "k"), "A gives the key back");
    const LockOutcome ofB = co_await b.lock("k");
    story.expectEqual(ofB.path, obs::Path::clean, "B's path");
    b.unlock(ofB);
    // B goes on as another version of the software, which leaves releases of two other forms in its log.
    protocol::ReleaseEntry entry{story.key("k"), b.id(), ofB.token, protocol::ReleaseEntry::kOldForm, {}};
    b.crash();
    for (const int form : {protocol::ReleaseEntry::kCurrentForm + 1, int{protocol::ReleaseEntry::kOldForm}}) {
      entry.form = static_cast<std::uint8_t>(form);
      story.expect(cluster.injectEntry(b.id(), entry), "B's disk holds the entry");
    }
    b.restart();
    story.expect(co_await untilApplied(story, d, b.id(), 1), "the home applies the one of a future form");
    story.expectEqual(story.count<obs::ReleaseSeen>(cleared), 1U, "grants cleared so far: A's");
    story.expect(co_await untilApplied(story, d, b.id(), 2), "the home applies the one of the old form");
    story.expectEqual(story.count<obs::ReleaseSeen>(cleared), 2U, "grants cleared by then: A's and B's");

    const Pending<LockOutcome> asked = c.lock("k");
    cluster.setApplyDelay(c.id(), a, story.options().applyDelay);
    const LockOutcome lock = co_await asked.answer();
    story.expectEqual(lock.path, obs::Path::recovery, "C's path: the old form says nothing about A");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    c.unlock(lock);
  });
}

using enum checkers::Checker;
using protocol::Rule;

std::vector<Scenario> costScenarios() {
  constexpr auto kCycleStory =
      "Two nodes take turns through five keys; a home that keeps too few sets recovers.";
  constexpr auto kSharedStory =
      "A restarted home sends a node to recovery for 100 keys; they share barriers.";
  return {
      {"S-36-evicted-set",
       "FR-6, FR-8, BD-1",
       "A virgin key costs no barrier; the key whose dependency set was evicted costs one.",
       {{Rule::FR6_EverDelegatedFilter, freshness}, {Rule::FR8_Barrier, freshness}},
       &evictedSet},
      {"S-36-cycle-within-cap", "FR-6", kCycleStory, {}, &cycle<8>},
      {"S-36-cycle-beyond-cap", "FR-6, FR-8", kCycleStory, {{Rule::FR8_Barrier, freshness}}, &cycle<3>},
      {"S-37-recoveries-at-once", "FR-8", kSharedStory, {{Rule::FR8_Barrier, freshness}}, &sharedBarriers<0>},
      {"S-37-recoveries-in-a-row",
       "FR-8",
       kSharedStory,
       {{Rule::FR8_Barrier, freshness}},
       &sharedBarriers<20'000>},
  };
}

std::vector<Scenario> lossScenarios() {
  return {
      {"S-38-home-restart-after-release",
       "FR-6, FR-8, DG-9",
       "The home restarts after a clean release: the next delegate recovers, and sees everything.",
       {{Rule::FR6_ColdHomeDistrusts, freshness}, {Rule::FR6_ColdHomeDistrusts, serial}},
       &coldHome},
      {"S-38-home-restart-author-gone",
       "FR-6, FR-8, L-2",
       "The same, but the last author is down and its write unreplicated: the documented limitation.",
       {{Rule::FR8_Barrier, freshness}},
       &coldHomeUnreachableAuthor},
      {"R-FR-4-other-forms",
       "FR-4",
       "A release of the old form clears the grant and loses the lineage; one of a future form means "
       "nothing.",
       {{Rule::FR4_OldFormRecovers, freshness}},
       &otherForms},
      {"R-FR-7-expired-holder",
       "FR-7, FR-8, DG-3",
       "B's delegation expires without a release: the set that A left does not know what B wrote.",
       {{Rule::FR7_ExpiryVoidsLineage, freshness},
        {Rule::FR7_ExpiryVoidsLineage, serial},
        {Rule::FR8_Barrier, freshness}},
       &expiredHolder},
      {"R-FR-8-member-without-barrier",
       "FR-8",
       "B answers C's barrier request without a barrier; C is refused instead of leaving B out.",
       {{Rule::FR8_FailClosed, freshness}},
       &memberWithoutBarrier},
      {"R-FR-9-entry-is-the-fence",
       "FR-8, FR-9",
       "Nothing of B's log has reached C: what C has received is no fence, only B's barrier entry is.",
       {{Rule::FR9_EntryIsTheFence, freshness}},
       &entryIsTheFence},
  };
}

}  // namespace

std::vector<Scenario> recoveryScenarios() {
  std::vector<Scenario> all = costScenarios();
  for (Scenario& scenario : lossScenarios()) all.push_back(std::move(scenario));
  return all;
}

}  // namespace holdfast::scenarios
