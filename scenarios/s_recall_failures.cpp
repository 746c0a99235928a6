// A recall that fails (S-24): six ways, each at once and a while later.
//
// One story for all of them. B is inside k and has committed 150; a second transaction of B is open. C asks,
// and the recall, or what it sets off, goes wrong. However it does, callers get their answers, B admits
// nobody under the old delegation, no release is made up, and C is served within the bound: by the repeated
// recall, by B's real release, or when the home has waited the grant out. Where it is B that fails, C will
// not have applied the 150 for five seconds, which a made-up release would show. Nothing in this model
// throws; a settlement that fails for good stands for the callback that does.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

enum class Failure { rejectedSend, disconnectedPeer, droppedTable, failedAppend, failedSettlement, shutdown };

constexpr bool onTheDelegate(Failure failure) {
  return failure == Failure::droppedTable || failure == Failure::failedAppend || failure == Failure::shutdown;
}
constexpr bool keyExpires(Failure failure) {
  return onTheDelegate(failure) || failure == Failure::disconnectedPeer;
}

using parts::callFor;

/// What the run showed.
struct Course {
  LockOutcome b;
  LockOutcome c;
  LockOutcome anotherOfB;  // a caller at B after the failure; asked for only where B itself failed
  TxnOutcome openOne;      // B's second transaction
  TrueInstant granted;
  TrueInstant asked;
  std::int64_t read = 0;
};

/// What goes wrong before C asks: everything that is arranged, or happens at once.
void arrange(Story& story, Failure failure, bool later) {
  Cluster& cluster = story.cluster();
  const NodeId a = story.id("A");
  const NodeId b = story.id("B");
  switch (failure) {
    case Failure::rejectedSend:
      cluster.failNextSend(a, MessageKind::lockRecall, later ? Duration(50_ms) : Duration{});
      break;
    case Failure::disconnectedPeer:
      if (!later) cluster.cut(a, b);
      break;
    case Failure::droppedTable:
      if (!later) cluster.call(b, protocol::AdminDropTable{0});
      break;
    case Failure::failedAppend:
      cluster.failNextCommit(b, EntryKind::release);
      cluster.delayNextCommit(b, EntryKind::release, later ? Duration(500_ms) : Duration{});
      break;
    case Failure::failedSettlement:
      cluster.failNextCommit(b, EntryKind::transaction);
      cluster.delayNextCommit(b, EntryKind::transaction, later ? Duration(700_ms) : Duration{});
      break;
    case Failure::shutdown:
      if (!later) cluster.call(b, protocol::AdminShutdown{});
      break;
  }
}

/// What goes wrong while the recall is under way, or while B drains.
Task<> strikeLater(Story& story, Failure failure) {
  const NodeId b = story.id("B");
  if (failure == Failure::disconnectedPeer) {
    co_await story.sleep(story.options().latency * 3 / 2);
    story.cluster().cut(story.id("A"), b);
  } else if (failure == Failure::droppedTable) {
    co_await story.sleep(100_ms);
    story.cluster().call(b, protocol::AdminDropTable{0});
  } else if (failure == Failure::shutdown) {
    co_await story.sleep(100_ms);
    story.cluster().call(b, protocol::AdminShutdown{});
  }
}

Task<> meetFailure(Story& story, Failure failure, bool later, Course& seen) {
  const StoryNode b = story.node("B");
  const StoryNode c = story.node("C");
  seen.granted = story.now();
  seen.b = co_await b.lock("k", callFor(5_s, 5_s, true));
  if (onTheDelegate(failure)) story.cluster().setApplyDelay(c.id(), b.id(), 5_s);
  const TxnOutcome first = co_await b.write(seen.b, put(150));
  story.expect(first.committed, "B's first write commits");
  co_await story.sleep(100_ms);
  story.cluster().setApplyDelay(c.id(), b.id(), Duration{-1});
  const TxnOutcome open = co_await b.stage(b.begin(), seen.b, patch(1, 1));
  story.expect(open.staged, "B stages a second write");
  co_await story.sleep(1_s);

  arrange(story, failure, later);
  seen.asked = story.now();
  const Pending<LockOutcome> ofC = c.lock("k", callFor(20_s, 3_s));
  if (later) co_await strikeLater(story, failure);
  co_await story.sleep(seen.asked + 200_ms - story.now());
  if (failure == Failure::failedSettlement) {
    seen.openOne = co_await b.submit(open.txn);
  } else {
    co_await story.sleep(1_s);
    if (onTheDelegate(failure)) seen.anotherOfB = co_await b.lock("k", callFor(1_s, 1_s));
    if (seen.anotherOfB.admitted()) b.unlock(seen.anotherOfB);
    seen.openOne = co_await b.submit(open.txn);
  }
  seen.c = co_await ofC.answer();
  const auto read = co_await c.read(seen.c);
  seen.read = read.values[0];
  const TxnOutcome written = co_await c.write(seen.c, patch(0, 130));
  story.expect(written.committed, "C's write commits");
  story.cluster().healAll();
}

void expectOpenTransaction(Story& story, Failure failure, const Course& seen) {
  if (failure == Failure::failedSettlement) {
    story.expect(!seen.openOne.committed, "B's transaction fails for good");
    story.expectEqual(seen.openOne.error, obs::ErrorClass::none, "which is no error of the lock");
    story.expectEqual(seen.openOne.cause, Cause::aborted, "what B's caller is told");
  } else if (failure == Failure::disconnectedPeer) {
    story.expect(seen.openOne.committed, "B, who never heard of the recall, commits inside its lease");
  } else {
    story.expectEqual(seen.openOne.error, obs::ErrorClass::conflict409, "B's submission after the recall");
    story.expectEqual(seen.openOne.cause, Cause::revoked, "why it is refused");
  }
}

void expectCourse(Story& story, Failure failure, const Course& seen) {
  const protocol::ProtocolOptions& protocol = story.options().protocol;
  const auto isRelease = [](const obs::ControlAppended& e, NodeId) { return e.entry == EntryKind::release; };
  const bool expires = keyExpires(failure);
  story.expectEqual(story.count<obs::ControlAppended>(isRelease), expires ? 0U : 1U, "releases in the logs");
  story.expectEqual(story.count<obs::HandBackSeen>(), 0U, "hand-backs");
  story.expectEqual(story.count<obs::GrantExpired>(), expires ? 1U : 0U, "grants that were waited out");
  const bool known = onTheDelegate(failure) || failure == Failure::rejectedSend;
  story.expectEqual(story.count<obs::RecallFailed>(), known ? 1U : 0U, "recalls reported as failed");
  story.expectEqual(seen.c.path, expires ? obs::Path::recovery : obs::Path::clean, "C's path");
  story.expectEqual(seen.read, 150, "what C reads");
  if (expires) {
    const TrueInstant expiry =
        seen.granted + story.options().latency + protocol.maxDelegation + protocol.skew;
    story.expectAtLeast(seen.c.at, expiry, "C's admission, not before the grant's end at the home");
    story.expectAtMost(seen.c.at, expiry + 100_ms, "C's admission, within the bound");
  } else {
    // The grace is over by then, or B's settlement came later still.
    const Duration round =
        story.options().latency * 4 + story.options().commitDelay + story.options().applyDelay;
    const Duration again = failure == Failure::rejectedSend ? protocol.recallEvery : Duration{};
    story.expectAtLeast(seen.c.at - seen.asked, round + again, "C's wait");
    story.expectAtMost(seen.c.at - seen.asked, round + again + 1_s, "C's wait");
  }
  if (onTheDelegate(failure)) {
    story.expectEqual(seen.anotherOfB.error, obs::ErrorClass::lockUnavailable503, "another caller at B");
    const Cause why = failure == Failure::failedAppend ? Cause::ownGrant : Cause::shutdown;
    story.expectEqual(seen.anotherOfB.cause, why, "what that caller is told");
  }
  if (failure == Failure::rejectedSend) {
    story.expectEqual(story.count<obs::RecallSent>(), 2U, "recalls, the rejected one included");
  }
  story.note(fmt::format("the key is C's {} ms after it asked", (seen.c.at - seen.asked).ns / 1'000'000));
}

template <Failure kFailure, bool kLater>
ScenarioResult recallMeets(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.protocol.epochLease = 60_s;
  options.protocol.renewEvery = 10_s;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    Course seen;
    co_await meetFailure(story, kFailure, kLater, seen);
    expectOpenTransaction(story, kFailure, seen);
    expectCourse(story, kFailure, seen);
    co_await story.sleep(1_s);
    const auto record = story.cluster().record(story.id("A"), story.key("k"));
    story.expectEqual(record.values[0], 130, "the record in the end");
  });
}

using checkers::Checker;
using protocol::Rule;

template <Failure kFailure, bool kLater>
Scenario failureScenario(std::string_view name, std::string_view rules, std::string_view story,
                         std::vector<Twin> twins) {
  return {name, rules, story, std::move(twins), &recallMeets<kFailure, kLater>};
}

}  // namespace

std::vector<Scenario> recallFailureScenarios() {
  const Twin takenForRelease{Rule::DR6_NoFabricatedRelease, Checker::exclusion};
  const Twin staleSuccessor{Rule::DR6_NoFabricatedRelease, Checker::freshness};
  const Twin forgotten{Rule::DR5_HomeNeverForgets, Checker::exclusion};
  return {
      failureScenario<Failure::rejectedSend, false>(
          "S-24-rejected-send-sync", "DR-6, DG-3",
          "The home's transport refuses the recall at once; the home recalls again.", {takenForRelease}),
      failureScenario<Failure::rejectedSend, true>(
          "S-24-rejected-send-async", "DR-6, DG-3",
          "The home learns a while later that its recall was not sent; it recalls again.", {takenForRelease}),
      failureScenario<Failure::disconnectedPeer, false>(
          "S-24-disconnected-peer-sync", "DR-5, DR-6, DG-3",
          "The home can not reach the delegate when it recalls; the grant is waited out.", {forgotten}),
      failureScenario<Failure::disconnectedPeer, true>(
          "S-24-disconnected-peer-async", "DR-5, DR-6, DG-3",
          "The link breaks while the recall is under way; the grant is waited out.", {forgotten}),
      failureScenario<Failure::droppedTable, false>(
          "S-24-dropped-table-sync", "DR-6, FR-7",
          "The delegate has dropped the table before the recall arrives.", {staleSuccessor}),
      failureScenario<Failure::droppedTable, true>("S-24-dropped-table-async", "DR-6, FR-7",
                                                   "The delegate drops the table while it drains the key.",
                                                   {staleSuccessor}),
      failureScenario<Failure::failedAppend, false>("S-24-failed-append-sync", "DR-6, DR-4, FR-7",
                                                    "The delegate's log refuses the release at once.",
                                                    {staleSuccessor}),
      failureScenario<Failure::failedAppend, true>(
          "S-24-failed-append-async", "DR-6, DR-4, FR-7",
          "The delegate's log fails to make the release durable, a while later.", {staleSuccessor}),
      failureScenario<Failure::failedSettlement, false>(
          "S-24-failed-settlement-sync", "DR-6, DR-3",
          "A write that is submitted during the drain fails at once; the release is real and says so.", {}),
      failureScenario<Failure::failedSettlement, true>(
          "S-24-failed-settlement-async", "DR-6, DR-3",
          "A write that is submitted during the drain fails a while later; the release waits for that.", {}),
      failureScenario<Failure::shutdown, false>("S-24-shutdown-sync", "DR-6, FR-7",
                                                "The delegate shuts down before the recall arrives.",
                                                {staleSuccessor}),
      failureScenario<Failure::shutdown, true>("S-24-shutdown-async", "DR-6, FR-7",
                                               "The delegate shuts down while it drains the key.",
                                               {staleSuccessor}),
  };
}

}  // namespace holdfast::scenarios
