// Recall and drain (S-20 to S-23): what becomes of handles and transactions when a key has to be given back.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using parts::callFor;

/// Key k at home A, which holds 100 everywhere. Memberships and leases outlast what happens to them.
StoryOptions accountOptions() {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.protocol.epochLease = 60_s;
  options.protocol.renewEvery = 10_s;
  return options;
}

Task<> deposit100(Story& story) {
  const TxnOutcome written = co_await story.node("A").writeUnlocked("k", put(100));
  story.expect(written.committed, "the record is 100 to begin with");
  co_await story.sleep(200_ms);
}

/// From C's request to C's admission when B has nothing to wait for: request, recall, release, grant.
Duration undisturbed(const Story& story) {
  return story.options().latency * 4 + story.options().commitDelay + story.options().applyDelay;
}

std::size_t releases(const Story& story) {
  return story.count<obs::ControlAppended>(
      [](const obs::ControlAppended& entry, NodeId) { return entry.entry == EntryKind::release; });
}

std::int64_t balance(Story& story, std::string_view node) {
  return story.cluster().record(story.id(node), story.key("k")).values[0];
}

// ---- S-20 -------------------------------------------------------------------------------------------------

ScenarioResult liveHandle(ScenarioContext& context) {
  Story story(context, accountOptions());
  return story.run([&]() -> Task<> {
    co_await deposit100(story);
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 7_s, true));
    co_await story.sleep(1_s);
    const TrueInstant asked = story.now();
    const LockOutcome ofC = co_await c.lock("k", callFor(5_s, 5_s));
    story.expectEqual(ofC.at - asked, undisturbed(story) + story.options().protocol.recallGrace,
                      "C's wait: the grace, and the round");
    story.expectEqual(ofC.path, obs::Path::clean, "C's path");
    const auto read = co_await c.read(ofC);
    story.expectEqual(read.values[0], 100, "what C reads");

    const TxnOutcome ofTheOld = co_await b.write(ofB, put(150));
    story.expectEqual(ofTheOld.error, obs::ErrorClass::conflict409, "B's write through the recalled handle");
    story.expectEqual(ofTheOld.cause, Cause::revoked, "why it is refused");
    const TxnOutcome bystander = co_await story.node("A").writeUnlocked("k", patch(1, 3));
    story.expect(bystander.committed, "an unlocked write elsewhere is nobody's business");
    const TxnOutcome ofTheNew = co_await c.write(ofC, patch(0, 80));
    story.expect(ofTheNew.committed, "C's write commits");
    story.expectEqual(story.count<obs::WriteRefused>(), 1U, "writes refused in all");
    co_await story.sleep(200_ms);
    story.expectEqual(balance(story, "A"), 80, "the record in the end");
  });
}

// ---- S-21 -------------------------------------------------------------------------------------------------

ScenarioResult unlockedButStaged(ScenarioContext& context) {
  Story story(context, accountOptions());
  return story.run([&]() -> Task<> {
    co_await deposit100(story);
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 7_s));
    const TxnOutcome staged = co_await b.stage(b.begin(), ofB, put(150));
    story.expect(staged.staged, "B stages a write");
    b.unlock(ofB);  // its transaction stays open
    co_await story.sleep(1_s);
    const LockOutcome ofC = co_await c.lock("k", callFor(5_s, 5_s));
    story.expectEqual(ofC.path, obs::Path::clean, "C's path");
    const auto read = co_await c.read(ofC);
    story.expectEqual(read.values[0], 100, "what C reads");

    const TxnOutcome submitted = co_await b.submit(staged.txn);
    story.expectEqual(submitted.error, obs::ErrorClass::conflict409, "B's submission after the release");
    story.expectEqual(submitted.cause, Cause::revoked, "why it is refused");
    story.expectEqual(story.count<obs::Revoked>([](const obs::Revoked& r, NodeId) { return r.unlocked; }), 1U,
                      "handles revoked after they were unlocked");
    const TxnOutcome written = co_await c.write(ofC, put(80));
    story.expect(written.committed, "C's write commits");
    co_await story.sleep(200_ms);
    story.expectEqual(balance(story, "A"), 80, "the record in the end");
  });
}

// ---- S-22 -------------------------------------------------------------------------------------------------

/// B's deposit of 50 goes to a native commit that takes `commit`; C asks meanwhile and withdraws 20.
struct InFlight {
  TxnOutcome deposit;
  LockOutcome next;
  TrueInstant granted;
  std::int64_t read = 0;
};

Task<> inFlight(Story& story, Duration commit, InFlight& seen) {
  co_await deposit100(story);
  const StoryNode b = story.node("B");
  const StoryNode c = story.node("C");
  const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 5_s));
  seen.granted = story.now();
  const TxnOutcome staged = co_await b.stage(b.begin(), ofB, put(150));
  story.cluster().delayNextCommit(b.id(), EntryKind::transaction, commit);
  const Pending<TxnOutcome> submission = b.submit(staged.txn);
  co_await story.sleep(1_s);
  seen.next = co_await c.lock("k", callFor(15_s, 5_s));
  const auto read = co_await c.read(seen.next);
  seen.read = read.values[0];
  const TxnOutcome withdrawal = co_await c.write(seen.next, put(seen.read - 20));
  story.expect(withdrawal.committed, "C's write commits");
  seen.deposit = co_await submission.answer();
  story.expect(seen.deposit.committed, "B's submitted write commits, recall or not");
  co_await story.sleep(200_ms);
}

ScenarioResult recallInFlight(ScenarioContext& context) {
  Story story(context, accountOptions());
  return story.run([&]() -> Task<> {
    InFlight seen;
    co_await inFlight(story, 3_s, seen);
    story.expectEqual(seen.next.path, obs::Path::clean, "C's path");
    const Duration afterSettlement = undisturbed(story) - story.options().latency * 2;
    story.expectEqual(seen.next.at - seen.deposit.at, afterSettlement, "C's admission after B's settlement");
    story.expectEqual(seen.read, 150, "what C reads");
    story.expectEqual(balance(story, "A"), 130, "the record in the end");
    const auto release = story.first<obs::ControlAppended>();
    const auto settled =
        story.first<obs::Settled>([](const obs::Settled& s, NodeId) { return s.position > 0; });
    story.expect(release && settled, "B settled its write and released the key");
    story.expectEqual(releases(story), 1U, "releases");
  });
}

ScenarioResult settlementOutlasts(ScenarioContext& context) {
  Story story(context, accountOptions());
  return story.run([&]() -> Task<> {
    const protocol::ProtocolOptions& protocol = story.options().protocol;
    InFlight seen;
    co_await inFlight(story, 12_s, seen);
    story.expectEqual(releases(story), 0U, "releases: settlement came after the delegation's end");
    const auto unsettled = [](const obs::Drained& drained, NodeId) { return !drained.settled; };
    story.expectEqual(story.count<obs::Drained>(unsettled), 1U, "drains that the deadline cut short");
    story.expectEqual(story.count<obs::GrantExpired>(), 1U, "grants that the home waited out");
    story.expectEqual(seen.next.path, obs::Path::recovery, "C's path");
    story.expectAtLeast(seen.next.at - seen.granted,
                        protocol.maxDelegation + protocol.skew - story.options().latency, "C's admission");
    story.expectEqual(seen.read, 100, "what C reads: B's commit is still in flight");
    const checkers::Findings& findings = story.cluster().checkers().findings();
    story.expect(findings.first(checkers::Route::l2c, checkers::Anomaly::staleRead) != nullptr,
                 "that is reported as limitation L-2c");
    story.expectEqual(balance(story, "A"), 80, "the record in the end");
  });
}

// ---- S-23 -------------------------------------------------------------------------------------------------

ScenarioResult retriedTransaction(ScenarioContext& context) {
  Story story(context, accountOptions());
  return story.run([&]() -> Task<> {
    co_await deposit100(story);
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 5_s));
    co_await story.sleep(1_s);
    const TxnOutcome staged = co_await b.stage(b.begin(), ofB, put(150));
    story.cluster().abortNextCommit(b.id(), EntryKind::transaction);
    story.cluster().delayNextCommit(b.id(), EntryKind::transaction, 100_ms);
    story.cluster().delayNextCommit(b.id(), EntryKind::transaction, 800_ms);
    const Pending<TxnOutcome> submission = b.submit(staged.txn);
    const LockOutcome ofC = co_await c.lock("k", callFor(5_s, 5_s));
    const auto read = co_await c.read(ofC);
    const TxnOutcome settled = co_await submission.answer();
    story.expect(settled.committed, "the logical transaction commits");
    story.expectEqual(story.count<obs::AttemptAborted>(), 1U, "native attempts that aborted");
    const auto ofTheTxn = [&](const auto& what, NodeId) { return what.txn == staged.txn; };
    story.expectEqual(story.count<obs::Submitted>(ofTheTxn), 2U, "native attempts");
    story.expectEqual(story.count<obs::Settled>(ofTheTxn), 1U, "settlements");
    story.expectEqual(ofC.path, obs::Path::clean, "C's path");
    story.expectEqual(ofC.at - settled.at, undisturbed(story) - story.options().latency * 2,
                      "C's admission after the settlement, and not after the aborted attempt");
    story.expectEqual(read.values[0], 150, "what C reads");
    const TxnOutcome written = co_await c.write(ofC, put(130));
    story.expect(written.committed, "C's write commits");
    co_await story.sleep(200_ms);
    story.expectEqual(balance(story, "A"), 130, "the record in the end");
  });
}

}  // namespace

std::vector<Scenario> recallScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"S-20-recall-live-handle",
       "DR-1, DR-2, LH-5",
       "B holds the key and has staged nothing; the recall ends its write capability, and nobody else's.",
       {{Rule::DR2_RevokeHandles, Checker::exclusion}},
       &liveHandle},
      {"S-21-recall-unlocked-staged",
       "DR-2, LH-4",
       "B staged a write and unlocked; the recall comes first, so the submission is refused.",
       {{Rule::DR2_RevokeUnlockedStaged, Checker::freshness}},
       &unlockedButStaged},
      {"S-22-recall-in-flight-commit",
       "DR-3, DR-4, FR-1",
       "B's write is in native commit when the key is recalled: the release waits until it has settled.",
       {{Rule::DR3_AwaitSettlement, Checker::freshness}, {Rule::DR3_AwaitSettlement, Checker::serial}},
       &recallInFlight},
      {"S-22-settlement-outlasts-deadline",
       "DR-4, FR-7",
       "B's commit takes longer than its delegation: no release is ever written, and C recovers.",
       {{Rule::DR4_NoLateRelease, Checker::freshness}},
       &settlementOutlasts},
      {"S-23-retried-transaction",
       "DR-3",
       "The first native attempt aborts, the second commits: one settlement, for which the release waits.",
       {{Rule::DR3_AwaitSettlement, Checker::freshness}},
       &retriedTransaction},
  };
}

}  // namespace holdfast::scenarios
