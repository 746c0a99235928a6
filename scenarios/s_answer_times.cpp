// Answers that no longer count, or come from the wrong hand: a denial of an older membership, a renewal of
// what was recalled, and recalls that meet no coordinator or another worker's.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/membership_parts.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

/// B asks for a renewal when the home has recalled its grant, and has not heard of that.
ScenarioResult recallStands(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const NodeId a = story.id("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const TrueInstant begun = story.now();
    const LockOutcome first = co_await b.lock("k", callFor(5_s, 1_s));
    b.unlock(first);
    co_await story.sleep(6'500_ms);
    story.cluster().holdMessages(a, b.id(), MessageKind::lockRecall);
    const Pending<LockOutcome> ofC = c.lock("k", callFor(5_s, 1_s));
    co_await story.sleep(begun + 7'300_ms - story.now());
    const Pending<LockOutcome> ofB = b.lock("k", callFor(5_s, 1_s));  // too little is left: B asks to renew
    co_await story.sleep(200_ms);
    story.expect(!ofB.answered(), "what was recalled is not renewed: B waits for its turn");
    const std::size_t recalls = story.cluster().releaseHeld(a, b.id(), MessageKind::lockRecall);
    story.expectEqual(recalls, 2U, "recalls that reach B now");
    const TrueInstant told = story.now();
    const LockOutcome next = co_await ofC.answer();
    story.expectEqual(next.at - told,
                      story.options().latency * 2 + story.options().commitDelay + story.options().applyDelay,
                      "from B's being told to C's admission");
    if (next.admitted()) c.unlock(next);
    const LockOutcome last = co_await ofB.answer();
    story.expect(last.admitted(), "B's caller is served after C");
    if (last.admitted()) b.unlock(last);
    const auto renewal = [](const obs::Granted& granted, NodeId) { return granted.renewal; };
    story.expectEqual(story.count<obs::Granted>(renewal), 0U, "renewals");
  });
}

/// A caller hears that the key is held; then the members change, and the next home answers nothing.
ScenarioResult denialLapses(ScenarioContext& context) {
  Story story(context, epochOptions({"A", "B", "C", "D"}, {}, {"kA"}));
  return story.run([&]() -> Task<> {
    const std::string next = homeUnder(story, "kA", {"B", "C", "D"});
    const StoryNode holder = story.node(next == "B" ? "C" : "B");
    const StoryNode caller = story.node(next == "D" ? "C" : "D");
    const LockOutcome held = co_await holder.lock("kA", callFor(5_s, 1_s));
    holder.unlock(held);
    co_await story.sleep(500_ms);
    story.cluster().dropNext(story.id("A"), holder.id(), MessageKind::lockRecall, 100);
    story.cluster().dropNext(caller.id(), story.id(next), MessageKind::lockRequest, 100);
    const Pending<LockOutcome> waiting = caller.lock("kA", callFor(6_s, 1_s));
    co_await story.sleep(2_s);
    const auto contended = [](const obs::Denied& denied, NodeId) { return denied.cause == Cause::contended; };
    story.expectAtLeast(story.count<obs::Denied>(contended), 1U, "times that A has said so to the caller");
    propose(story, "B", "", "A");
    story.expect(co_await untilLive(story, caller.id() == story.id("D") ? "D" : "C", 2), "A leaves");
    const LockOutcome refused = co_await waiting.answer();
    story.expectEqual(refused.error, obs::ErrorClass::lockUnavailable503,
                      "what the caller is told in the end");
    story.expectEqual(refused.cause, Cause::homeUnreachable,
                      "why: the home that now counts has said nothing");
  });
}

/// A's recall reaches B while B's coordinator is being re-created.
ScenarioResult noCoordinator(ScenarioContext& context) {
  StoryOptions options = longEpochs();
  options.persistDelay = 300_ms;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    co_await preset(story, "A", "k", 100);
    story.cluster().setApplyDelay(c.id(), b.id(), 3_s);
    const TrueInstant granted = story.now();
    const auto deposit = co_await b.update("k", put(150));
    story.expect(deposit.write.committed, "B's write commits");
    co_await story.sleep(500_ms);
    story.cluster().replaceCoordinator(b.id());
    const Pending<LockOutcome> asked = c.lock("k", callFor(20_s, 2_s));
    co_await story.sleep(200_ms);
    const auto met = [](const obs::MessageRefused& refused, NodeId) {
      return refused.message == MessageKind::lockRecall;
    };
    story.expectEqual(story.count<obs::MessageRefused>(met), 1U, "recalls that met no coordinator");
    story.expectEqual(story.count<obs::HandBackSeen>(), 0U, "hand-backs that the home has met");
    const LockOutcome lock = co_await asked.answer();
    story.expectEqual(lock.path, obs::Path::recovery, "C's path: B's grant was waited out");
    story.expectAtLeast(lock.at - granted, untilExpired(story), "C's admission");
    const auto read = co_await c.read(lock);
    story.expectEqual(read.values[0], 150, "what C reads");
    if (lock.admitted()) c.unlock(lock);
  });
}

/// At B the coordinator is worker 1's, and what the transport brings comes to worker 0.
ScenarioResult recallOnAWorker(ScenarioContext& context) {
  StoryOptions options = longEpochs();
  options.overrides.push_back({NodeId{1}, {}, {}, {}, 1, {}});
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode c = story.node("C");
    LockCall call = callFor(5_s, 5_s, true);
    call.worker = 1;
    const LockOutcome ofB = co_await story.node("B").lock("k", call);
    story.expect(ofB.admitted(), "B is inside");
    co_await story.sleep(1_s);
    const TrueInstant asked = story.now();
    const LockOutcome ofC = co_await c.lock("k", callFor(5_s, 2_s));
    story.expectAtLeast(ofC.at - asked, story.options().protocol.recallGrace,
                        "C's wait: the recall is relayed to the coordinator, and B is inside");
    story.expectEqual(story.count<obs::HandBackSeen>(), 0U, "hand-backs that the home has met");
    story.expectEqual(ofC.path, obs::Path::clean, "C's path, after B's release");
    if (ofC.admitted()) c.unlock(ofC);
  });
}

}  // namespace

std::vector<Scenario> answerTimeScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"R-DG-10-recall-stands",
       "DG-10, DR-1",
       "B asks to renew what the home has recalled without its knowing; it is C's turn, and B's after that.",
       {{Rule::DG10_RecallStands, Checker::callers}},
       &recallStands},
      {"R-DG-7-denial-lapses",
       "DG-7, DG-1",
       "A caller was told that the key is held; then another home counts, which is silent: 503, and not 423.",
       {{Rule::DG7_DenialsLapse, Checker::errorClass}},
       &denialLapses},
      {"R-DR-6-no-coordinator",
       "DR-6, BD-4, FR-7",
       "A recall arrives while B's coordinator is re-created; nobody answers it, and the grant is waited "
       "out.",
       {{Rule::DR6_UndeliveredIsNotDrained, Checker::freshness}},
       &noCoordinator},
      {"R-BD-5-recall-on-a-worker",
       "BD-5, DR-2",
       "A recall arrives on a worker that does not coordinate; it is relayed, and not answered there.",
       {{Rule::BD5_OwnerAnswers, Checker::exclusion}},
       &recallOnAWorker},
  };
}

}  // namespace holdfast::scenarios
