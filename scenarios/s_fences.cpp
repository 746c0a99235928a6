// Stand-ins for a rule that look as good and are not: what is dropped because nobody asked for it any more,
// and a fence by timestamps.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

/// B's request reaches the home after B's caller has given up.
ScenarioResult abandonedGrant(ScenarioContext& context) {
  StoryOptions options = longEpochs();
  options.checkers.livenessBound = 1_ms;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    story.cluster().holdMessages(b.id(), story.id("A"), MessageKind::lockRequest);
    const LockOutcome gaveUp = co_await b.lock("k", callFor(1_s, 1_s));
    story.expectEqual(gaveUp.cause, Cause::homeUnreachable, "B's lock, of which the home knows nothing");
    story.expectEqual(story.cluster().releaseHeld(b.id(), story.id("A"), MessageKind::lockRequest), 2U,
                      "requests of B that arrive now: it had asked once more before its caller gave up");
    story.cluster().healEverything();
    co_await story.sleep(200_ms);
    story.expectEqual(story.count<obs::Granted>(), 2U, "grants to B, whose caller is gone");
    story.expectEqual(story.count<obs::HandedBack>(), 2U, "grants that B hands back");
    const TrueInstant asked = story.now();
    const LockOutcome ofC = co_await c.lock("k", callFor(3_s, 1_s));
    story.expect(ofC.admitted(), "C's lock");
    story.expectEqual(ofC.path, obs::Path::recovery, "C's path: a renewed grant leaves no lineage");
    story.expectEqual(ofC.at - asked,
                      story.options().latency * 4 + story.options().commitDelay + story.options().applyDelay,
                      "C's wait: the key is free, and one barrier is all it takes");
    if (ofC.admitted()) c.unlock(ofC);
  });
}

/// B's log has an entry of the day after tomorrow before that of today; C has applied the first only.
ScenarioResult timestampsAreNoOrder(ScenarioContext& context) {
  StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  options.keys.push_back({"other", "", "accounts"});
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "k", 100);
    const obs::Timestamp ahead{b.wallNow().ns + Duration(48_h).ns};
    const TxnOutcome early = co_await b.writeUnlocked("other", put(1).stamped(ahead));
    story.expect(early.committed, "B's write to another key, whose caller gives a time to come");
    co_await story.sleep(200_ms);
    story.cluster().setApplyDelay(c.id(), b.id(), 30_s);
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write under the lock commits");
    co_await story.sleep(untilExpired(story));
    const Pending<LockOutcome> asked = c.lock("k", callFor(60_s, 5_s));
    co_await story.sleep(500_ms);
    story.expect(!asked.answered(), "C waits for B's barrier entry");
    story.cluster().setApplyDelay(c.id(), b.id(), story.options().applyDelay);
    const LockOutcome lock = co_await asked.answer();
    story.expectEqual(lock.path, obs::Path::recovery, "C's path");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    if (lock.admitted()) c.unlock(lock);
  });
}

}  // namespace

std::vector<Scenario> fenceScenarios() {
  using protocol::Rule;
  return {
      {"R-DG-5-abandoned-grant",
       "DG-5, DG-8",
       "A grant reaches B after its caller has given up; B hands it back, and C has the key at once.",
       {{Rule::DG5_HandBack, checkers::Checker::liveness}},
       &abandonedGrant},
      {"R-FR-9-timestamps-are-no-order",
       "FR-8, FR-9, LW-2",
       "B's log has its highest timestamp before the write that C must see: only the barrier's place counts.",
       {{Rule::FR9_AppendOrder, checkers::Checker::freshness}},
       &timestampsAreNoOrder},
  };
}

}  // namespace holdfast::scenarios
