// Faults that look as if the contract excused them. Each twin does damage beside something that is an excuse
// in other circumstances (an early unlock, a crashed author, a silent member, a set that a home may lose),
// and must be found all the same, because here it is none.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;
using checkers::Route;

std::uint64_t damageByRecovery(Story& story) {
  const checkers::Findings& findings = story.cluster().checkers().findings();
  return findings.count(Route::l2a) + findings.count(Route::l2b) + findings.count(Route::l2c);
}

/// B's first caller has submitted and left; its commit takes two seconds.
ScenarioResult settlesBeforeNext(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    co_await preset(story, "A", "k", 100);
    const LockOutcome first = co_await b.lock("k");
    const TxnOutcome staged = co_await b.stage(b.begin(), first, put(150));
    story.cluster().setCommitDelay(b.id(), 2_s);
    const Pending<TxnOutcome> deposit = b.submit(staged.txn);
    b.unlock(first);
    const LockOutcome second = co_await b.lock("k");
    story.expect(second.admitted() && deposit.answered(), "the next caller is admitted behind the commit");
    const auto read = co_await b.read(second);
    story.expectEqual(read.values[0], 150, "what the next caller reads");
    b.unlock(second);
    co_await story.sleep(3_s);
    story.expectEqual(story.cluster().checkers().findings().count(Route::lh4), 0U, "damage by an unlock");
  });
}

/// B's first caller has left with a write still to be submitted, and the second one is inside.
ScenarioResult ownHandle(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const LockOutcome first = co_await b.lock("k");
    const TxnOutcome staged = co_await b.stage(b.begin(), first, put(1));
    b.unlock(first);
    const LockOutcome second = co_await b.lock("k");
    story.expect(second.admitted(), "the second caller is inside");
    const LockOutcome again = co_await b.reenter(first, 5_s);
    story.expectEqual(again.cause, Cause::unknownHandle, "the first caller's re-entry, who is not");
    b.abandon(staged.txn);
    b.unlock(second);
  });
}

/// C's grant arrives after C's caller has given up, and is handed back.
ScenarioResult handBackKeepsSet(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write commits");
    story.expect(co_await giveBack(story, b, "k"), "B's release is clean, and the home knows");
    story.cluster().holdMessages(story.id("A"), c.id(), MessageKind::lockGrant);
    const LockOutcome gaveUp = co_await c.lock("k", callFor(200_ms, 1_s));
    story.expect(!gaveUp.admitted(), "C's first caller gives up");
    story.expectEqual(story.cluster().releaseHeld(story.id("A"), c.id(), MessageKind::lockGrant), 1U,
                      "grants that come now");
    co_await story.sleep(100_ms);
    story.expectEqual(story.count<obs::HandBackSeen>(), 1U, "grants that C hands back");
    const LockOutcome lock = co_await c.lock("k");
    story.expectEqual(lock.path, obs::Path::clean, "C's path: nothing was lost");
    story.expectEqual(story.count<obs::BarrierStarted>(), 0U, "barriers");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    c.unlock(lock);
  });
}

/// B's deposit, the end of its grant, and C's recovery, which has just asked.
Task<Pending<LockOutcome>> recoveryAfterDeposit(Story& story) {
  const StoryNode b = story.node("B");
  co_await preset(story, "A", "k", 100);
  const auto deposit = co_await b.update("k", put(150));
  story.expect(deposit.write.committed, "B's write commits");
  co_await story.sleep(untilExpired(story));
  const Pending<LockOutcome> asked = story.node("C").lock("k", callFor(20_s, 5_s));
  (void)co_await story.untilSeen<obs::BarrierStarted>();
  co_return asked;
}

Task<> expectDeposit(Story& story, Pending<LockOutcome> asked) {
  const StoryNode c = story.node("C");
  const LockOutcome lock = co_await asked.answer();
  story.expectEqual(lock.path, obs::Path::recovery, "C's path");
  const auto read = co_await c.read(lock);
  story.expectEqual(read.values[0], 150, "what C reads");
  c.unlock(lock);
  story.expectEqual(story.count<obs::BarrierSkipped>(), 0U, "members that the barrier left out");
  story.expectEqual(damageByRecovery(story), 0U, "damage by recovery");
}

/// B answers C's barrier and goes down, while all that it has sent of its log is still under way.
ScenarioResult answerIsEnough(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    story.cluster().holdMessages(b.id(), c.id(), MessageKind::logFrame);
    const Pending<LockOutcome> asked = co_await recoveryAfterDeposit(story);
    co_await story.sleep(barrierRound(story) + 50_ms);
    b.crash();
    co_await story.sleep(story.options().protocol.barrierTimeout + 100_ms);
    story.expect(!asked.answered(), "C waits for the entry that B told of");
    story.cluster().releaseHeld(b.id(), c.id(), MessageKind::logFrame);
    co_await expectDeposit(story, asked);
    b.restart();
  });
}

/// B's answer takes a tenth of a second longer than the others', and what it sends of its log takes longer.
ScenarioResult waitsForMembers(ScenarioContext& context) {
  Story story(context, calmOptions({"A", "B", "C"}, "A"));
  return story.run([&]() -> Task<> {
    story.cluster().setApplyDelay(story.id("C"), story.id("B"), 12_s);
    const Pending<LockOutcome> asked = co_await recoveryAfterDeposit(story);
    story.cluster().setCommitDelay(story.id("B"), 100_ms);
    story.cluster().setApplyDelay(story.id("C"), story.id("B"), story.options().applyDelay);
    co_await expectDeposit(story, asked);
  });
}

}  // namespace

std::vector<Scenario> evidenceScenarios() {
  using protocol::Rule;
  constexpr auto kFreshness = checkers::Checker::freshness;
  return {
      {"R-DR-3-settles-before-next",
       "DR-3, LH-4, LH-3",
       "B's first caller submits, unlocks and is gone; B's next caller is let in when the commit has "
       "settled.",
       {{Rule::LH4_SettlesBeforeNext, kFreshness}},
       &settlesBeforeNext},
      {"R-LH-1-own-handle",
       "LH-1, LH-2",
       "B's first caller has unlocked and the second one is inside; the first can not come in beside it.",
       {{Rule::LH1_OwnHandle, checkers::Checker::exclusion}},
       &ownHandle},
      {"R-FR-6-hand-back-keeps-set",
       "FR-6, DG-5",
       "C hands a grant back unused; the set of B's clean release is still there for the next one.",
       {{Rule::FR6_HandBackKeepsSet, kFreshness}},
       &handBackKeepsSet},
      {"R-FR-8-answer-is-enough",
       "FR-8, FR-9",
       "B answers C's barrier in time and crashes; C waits for the entry, and does not leave B out.",
       {{Rule::FR8_AnswerIsEnough, kFreshness}},
       &answerIsEnough},
      {"R-FR-8-waits-for-members",
       "FR-8",
       "B's answer takes longer than the others', and comes in time: C waits for it.",
       {{Rule::FR8_WaitsForMembers, kFreshness}},
       &waitsForMembers},
  };
}

}  // namespace holdfast::scenarios
