// Writes and their handles: stamps that do not go back (LW-2), unlocking (LH-4), writes without a lock
// (LH-5).
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

ScenarioResult unlockIsNoRevocation(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "k", 100);
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 3_s));
    const TxnOutcome staged = co_await b.stage(b.begin(), ofB, put(150));
    story.expect(staged.staged, "B stages a write");
    const std::uint64_t messages = story.lockMessages();
    const std::uint64_t commits = story.cluster().statistics().durableCommits;
    b.unlock(ofB);
    story.expectEqual(story.lockMessages() - messages, 0U, "messages of the unlock");
    story.expectEqual(story.cluster().statistics().durableCommits - commits, 0U, "its durable commits");
    co_await story.sleep(1_s);
    const TxnOutcome submitted = co_await b.submit(staged.txn);
    story.expect(submitted.committed, "B submits inside the lease, long after it unlocked");
    story.expectEqual(submitted.error, obs::ErrorClass::none, "the error of that");

    const TxnOutcome afterwards = co_await b.stage(b.begin(), ofB, put(160));
    story.expectEqual(afterwards.cause, Cause::unknownHandle,
                      "nothing new is staged under what was unlocked");
    const LockOutcome ofC = co_await c.lock("k");
    const auto read = co_await c.read(ofC);
    story.expectEqual(read.values[0], 150, "what C reads");
    c.unlock(ofC);
    expectEverywhere(story, "k", 150);
  });
}

ScenarioResult unlockedWrites(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    co_await preset(story, "A", "k", 100);
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 5_s, true));
    const std::uint64_t messages = story.lockMessages();
    for (const std::string& name : story.options().nodes) {
      const TrueInstant begun = story.now();
      const TxnOutcome written = co_await story.node(name).writeUnlocked("k", increment(1, 1));
      story.expect(written.committed, "an unlocked write at " + name + " commits while B is inside");
      story.expectEqual(written.at - begun, story.options().commitDelay, "what it takes: the commit alone");
    }
    story.expectEqual(story.lockMessages() - messages, 0U, "lock messages for the three of them");
    const TxnOutcome locked = co_await b.write(ofB, patch(0, 150));
    story.expect(locked.committed, "B's own write commits");
    b.unlock(ofB);
    co_await story.sleep(200_ms);
    expectEverywhere(story, "k", 150);
    story.expectEqual(valueAt(story, "C", "k", 1), 3, "what the unlocked writes add up to");
  });
}

ScenarioResult handleFloor(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    co_await preset(story, "A", "k", 100);
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 5_s, true));
    const TxnOutcome first = co_await b.write(ofB, put(150));
    story.cluster().jumpWall(b.id(), -Duration(1_h));
    const TxnOutcome second = co_await b.write(ofB, put(140));
    story.expect(first.committed && second.committed,
                 "B writes twice, and its wall clock is set back between");
    const auto stampOf = [&](const TxnOutcome& txn) {
      const auto staged =
          story.first<obs::Staged>([&](const obs::Staged& s, NodeId) { return s.txn == txn.txn; });
      return staged ? staged->second.stamp.ns : 0;
    };
    story.expectEqual(stampOf(second) - stampOf(first), 1, "by how much the second stamp is the greater one");
    b.unlock(ofB);
    co_await story.sleep(200_ms);
    expectEverywhere(story, "k", 140);
  });
}

}  // namespace

std::vector<Scenario> writeScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"R-LH-4-unlock-is-no-revocation",
       "LH-4, LH-3",
       "B stages, unlocks, and submits later inside its lease: nothing came between, so it commits.",
       {{Rule::LH4_UnlockIsNoRevocation, Checker::errorClass}},
       &unlockIsNoRevocation},
      {"R-LH-5-unlocked-writes",
       "LH-5, LW-3",
       "Every node writes the record without a lock while B holds it; nobody waits and nobody is refused.",
       {{Rule::LH5_UnlockedWritesFree, Checker::errorClass}, {Rule::LH5_NothingChecked, Checker::cost}},
       &unlockedWrites},
      {"R-LW-2-handle-floor",
       "LW-2, CK-5",
       "B's wall clock is set back between two writes under one handle; the second still wins.",
       {{Rule::LW2_HandleFloor, Checker::serial}},
       &handleFloor},
  };
}

}  // namespace holdfast::scenarios
