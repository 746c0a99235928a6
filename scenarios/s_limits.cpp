// The limits of the contract as executable expectations (S-60 to S-67, LH-4; section 10 of the
// specification).
//
// The fixture is a bank account that holds 100. B deposits 50 under the lock, so that 150 is what it stores;
// C, who comes after B, withdraws 20. Run one after the other, in either order, the two leave 130. Each story
// ends elsewhere, by one documented route: no caller is told, the record is the same everywhere, and the
// checkers lay the damage to exactly that route and find nothing wrong beside it. A story that reaches 130
// fails: then the limitation is gone, and the documents are stale. Without the recovery barrier the same
// damage has no excuse, which is what the twins show.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;
using checkers::Anomaly;
using checkers::Route;

constexpr std::int64_t kSerialEnd = 130;

/// What the two callers saw.
struct Bank {
  LockOutcome first;
  TxnOutcome deposit;
  LockOutcome second;
  std::int64_t seen = 0;  // what C read
  TxnOutcome withdrawal;
};

/// B's section but for its submission; the account holds 100 before it.
Task<obs::TxnId> stageDeposit(Story& story, Bank& bank, WriteSpec write = put(150)) {
  const StoryNode b = story.node("B");
  co_await preset(story, "A", "k", 100);
  bank.first = co_await b.lock("k");
  const auto read = co_await b.read(bank.first);
  story.expectEqual(read.values[0], 100, "what B reads");
  const TxnOutcome staged = co_await b.stage(b.begin(), bank.first, write);
  story.expect(staged.staged, "B stages its write");
  co_return staged.txn;
}

Task<> deposit(Story& story, Bank& bank, WriteSpec write = put(150)) {
  const obs::TxnId txn = co_await stageDeposit(story, bank, write);
  bank.deposit = co_await story.node("B").submit(txn);
}

/// C's whole section, which computes from what it reads.
Task<> withdraw(Story& story, Bank& bank) {
  const StoryNode c = story.node("C");
  bank.second = co_await c.lock("k");
  const auto read = co_await c.read(bank.second);
  bank.seen = read.values[0];
  bank.withdrawal = co_await c.write(bank.second, put(bank.seen - 20));
  c.unlock(bank.second);
}

/// Nobody saw an error, and the account ends as `end` on every node, which no serial execution yields.
void expectSilentDamage(Story& story, const Bank& bank, obs::Path path, std::int64_t seen, std::int64_t end) {
  story.expect(bank.first.admitted() && bank.second.admitted(), "both callers were admitted");
  story.expect(bank.deposit.committed, "B was told that its deposit is committed");
  story.expect(bank.withdrawal.committed, "C was told that its withdrawal is committed");
  story.expectEqual(story.count<obs::LockRefused>() + story.count<obs::WriteRefused>(), 0U,
                    "errors that reached anyone");
  story.expectEqual(bank.second.path, path, "C's path");
  story.expectEqual(bank.seen, seen, "what C reads");
  expectEverywhere(story, "k", end);
  story.expect(end != kSerialEnd, "the end differs from both serial executions");
}

std::string routesIn(const checkers::Findings& findings) {
  std::string names;
  for (std::size_t i = 1; i < checkers::kRoutes; ++i) {
    const auto route = static_cast<Route>(i);
    if (findings.count(route) > 0) names += (names.empty() ? "" : " ") + std::string(obs::nameOf(route));
  }
  return names;
}

/// Judges the whole run, its end included: it held, and reached these routes and no others.
ScenarioResult reachedOnly(ScenarioResult result, std::initializer_list<Route> routes) {
  const checkers::Findings& findings = result.report.findings;
  std::string expected;
  for (const Route route : routes) {
    expected += (expected.empty() ? "" : " ") + std::string(obs::nameOf(route));
  }
  const std::string observed = routesIn(findings);
  result.expectations += 2;
  if (observed != expected) {
    result.unmet.push_back(
        fmt::format("the routes that the run reached: observed '{}', expected '{}'", observed, expected));
  }
  if (result.report.verdict != checkers::Verdict::held) {
    result.unmet.push_back(
        fmt::format("the verdict: observed {}, expected held", obs::nameOf(result.report.verdict)));
  }
  for (const checkers::Finding& finding : findings.limitations()) {
    result.notes.push_back(checkers::describe(finding, {result.report.nodeNames, result.report.keyNames}));
  }
  return result;
}

/// Expects both effects of L-2 on the one record: B's deposit was missed, and C computed without it.
ScenarioResult bothEffects(ScenarioResult result, Route route) {
  result.expectations += 2;
  const checkers::Finding* const missed = result.report.findings.first(route, Anomaly::staleRead);
  if (missed == nullptr || missed->expected != 150 || missed->observed != 100) {
    result.unmet.push_back("the report says that C read 100 where 150 stood");
  }
  const checkers::Finding* const derived = result.report.findings.first(route, Anomaly::derivedFromStaleRead);
  if (derived == nullptr || derived->written != 80) {
    result.unmet.push_back("the report says that C wrote 80, computed from its stale read");
  }
  return result;
}

StoryOptions bankOptions() { return calmOptions({"A", "B", "C"}, "A"); }

// ---- S-60: L-1a -------------------------------------------------------------------------------------------

ScenarioResult skewedInFlight(ScenarioContext& context) {
  StoryOptions options = bankOptions();
  options.clocks.resize(3);
  options.clocks[1].wallOffset = 1_min;  // B's
  Story story(context, options);
  const ScenarioResult result = story.run([&]() -> Task<> {
    Bank bank;
    const obs::TxnId txn = co_await stageDeposit(story, bank);
    story.cluster().delayNextCommit(story.id("B"), EntryKind::transaction, 12_s);
    const Pending<TxnOutcome> submission = story.node("B").submit(txn);
    co_await story.sleep(untilExpired(story));
    co_await withdraw(story, bank);
    story.expectEqual(valueAt(story, "C", "k"), 80, "the record while B's write is in flight");
    bank.deposit = co_await submission.answer();
    co_await story.sleep(1_s);
    expectSilentDamage(story, bank, obs::Path::recovery, 100, 150);
  });
  return reachedOnly(result, {Route::l1a, Route::l2c});
}

/// On a clean handoff C knows of the deposit, and its write is overtaken all the same: at D, where B's write
/// is still in flight, the record goes from 130 back to 150.
ScenarioResult skewedCleanHandoff(ScenarioContext& context) {
  StoryOptions options = calmOptions({"A", "B", "C", "D"}, "A");
  options.clocks.resize(4);
  options.clocks[1].wallOffset = 5_s;  // B's
  Story story(context, options);
  const ScenarioResult result = story.run([&]() -> Task<> {
    Bank bank;
    story.cluster().setApplyDelay(story.id("D"), story.id("B"), 2_s);
    co_await deposit(story, bank);
    co_await story.sleep(500_ms);
    co_await withdraw(story, bank);
    co_await story.sleep(500_ms);
    story.expectEqual(valueAt(story, "D", "k"), 130, "the record at D before B's write arrives");
    co_await story.sleep(5_s);
    expectSilentDamage(story, bank, obs::Path::clean, 150, 150);
  });
  return reachedOnly(result, {Route::l1a});
}

// ---- S-61: L-1b -------------------------------------------------------------------------------------------

ScenarioResult futureTimestamp(ScenarioContext& context) {
  Story story(context, bankOptions());
  const ScenarioResult result = story.run([&]() -> Task<> {
    Bank bank;
    const obs::Timestamp future{story.node("B").wallNow().ns + Duration(1_h).ns};
    co_await deposit(story, bank, put(150).stamped(future));
    co_await story.sleep(1_s);
    story.expectEqual(valueAt(story, "C", "k"), 150, "nothing is in flight any more when C asks");
    co_await withdraw(story, bank);
    co_await story.sleep(1_s);
    expectSilentDamage(story, bank, obs::Path::clean, 150, 150);
  });
  return reachedOnly(result, {Route::l1b});
}

// ---- S-62 to S-64: L-2a, L-2b, L-2c -----------------------------------------------------------------------

ScenarioResult crashedAuthor(ScenarioContext& context) {
  Story story(context, bankOptions());
  const ScenarioResult result = story.run([&]() -> Task<> {
    Bank bank;
    co_await deposit(story, bank);
    story.node("B").crash();  // its caller has the answer; the frames of its log are lost on the way
    co_await story.sleep(untilExpired(story));
    co_await withdraw(story, bank);
    story.node("B").restart();
    co_await story.sleep(1_s);
    expectSilentDamage(story, bank, obs::Path::recovery, 100, 80);
  });
  return bothEffects(reachedOnly(result, {Route::l2a}), Route::l2a);
}

ScenarioResult unreachableAuthor(ScenarioContext& context) {
  Story story(context, bankOptions());
  const ScenarioResult result = story.run([&]() -> Task<> {
    Bank bank;
    const obs::TxnId txn = co_await stageDeposit(story, bank);
    story.cluster().isolate(story.id("B"));
    bank.deposit = co_await story.node("B").submit(txn);
    co_await story.sleep(untilExpired(story));
    co_await withdraw(story, bank);
    story.cluster().healAll();
    co_await story.sleep(1_s);
    expectSilentDamage(story, bank, obs::Path::recovery, 100, 80);
  });
  return bothEffects(reachedOnly(result, {Route::l2b}), Route::l2b);
}

ScenarioResult lateSettlement(ScenarioContext& context) {
  Story story(context, bankOptions());
  const ScenarioResult result = story.run([&]() -> Task<> {
    Bank bank;
    const obs::TxnId txn = co_await stageDeposit(story, bank);
    story.cluster().delayNextCommit(story.id("B"), EntryKind::transaction, 12_s);
    const Pending<TxnOutcome> submission = story.node("B").submit(txn);
    co_await story.sleep(untilExpired(story));
    co_await withdraw(story, bank);
    story.expectEqual(story.count<obs::BarrierSkipped>(), 0U, "members left out: nothing failed anywhere");
    bank.deposit = co_await submission.answer();
    story.expect(bank.withdrawal.at < bank.deposit.at, "B's commit settles after C has come and gone");
    co_await story.sleep(1_s);
    expectSilentDamage(story, bank, obs::Path::recovery, 100, 80);
  });
  return bothEffects(reachedOnly(result, {Route::l2c}), Route::l2c);
}

// ---- S-65, S-67: L-2 after a clean release ----------------------------------------------------------------

ScenarioResult homeRestart(ScenarioContext& context) {
  Story story(context, bankOptions());
  const ScenarioResult result = story.run([&]() -> Task<> {
    Bank bank;
    story.cluster().cut(story.id("B"), story.id("C"));
    story.cluster().cut(story.id("C"), story.id("B"));
    co_await deposit(story, bank);
    story.expect(co_await giveBack(story, story.node("B"), "k"), "B's release is clean, and the home knows");
    story.node("A").crash();
    co_await story.sleep(100_ms);
    story.node("A").restart();
    co_await story.sleep(untilExpired(story) + 100_ms);
    co_await withdraw(story, bank);
    story.cluster().healAll();
    co_await story.sleep(1_s);
    expectSilentDamage(story, bank, obs::Path::recovery, 100, 80);
  });
  return bothEffects(reachedOnly(result, {Route::l2b, Route::l2HomeRestart}), Route::l2b);
}

ScenarioResult capEviction(ScenarioContext& context) {
  StoryOptions options = bankOptions();
  options.keys.push_back({"other", "A", "accounts"});
  options.protocol.lineageSets = 1;
  Story story(context, options);
  const ScenarioResult result = story.run([&]() -> Task<> {
    Bank bank;
    const StoryNode b = story.node("B");
    story.cluster().cut(b.id(), story.id("C"));
    story.cluster().cut(story.id("C"), b.id());
    co_await deposit(story, bank);
    story.expect(co_await giveBack(story, b, "k"), "B's release is clean, and the home knows");
    const auto other = co_await b.update("other", put(1));
    story.expect(other.write.committed, "B uses another key");
    story.expect(co_await giveBack(story, b, "other"), "and gives it back");
    const auto evicted = story.first<obs::LineageLost>();
    story.expect(evicted && evicted->second.key == story.key("k"), "the set of the account is evicted");
    co_await withdraw(story, bank);
    story.cluster().healAll();
    co_await story.sleep(1_s);
    expectSilentDamage(story, bank, obs::Path::recovery, 100, 80);
  });
  return bothEffects(reachedOnly(result, {Route::l2b, Route::l2Eviction}), Route::l2b);
}

// ---- LH-4 -------------------------------------------------------------------------------------------------

/// B's next caller is let in by the unlock, before the deposit that was staged under it is submitted.
ScenarioResult unlockBeforeCommit(ScenarioContext& context) {
  Story story(context, bankOptions());
  const ScenarioResult result = story.run([&]() -> Task<> {
    Bank bank;
    const StoryNode b = story.node("B");
    const obs::TxnId txn = co_await stageDeposit(story, bank);
    const std::uint64_t messages = story.lockMessages();
    b.unlock(bank.first);
    bank.second = co_await b.lock("k");
    const auto read = co_await b.read(bank.second);
    bank.seen = read.values[0];
    bank.deposit = co_await b.submit(txn);
    bank.withdrawal = co_await b.write(bank.second, put(bank.seen - 20));
    b.unlock(bank.second);
    story.expectEqual(story.lockMessages() - messages, 0U, "messages of all that");
    co_await story.sleep(1_s);
    expectSilentDamage(story, bank, obs::Path::cached, 100, 80);
  });
  return bothEffects(reachedOnly(result, {Route::lh4}), Route::lh4);
}

}  // namespace

std::vector<Scenario> limitScenarios() {
  // The same damage without a barrier fits no documented route: then it is a violation.
  const std::vector<Twin> noBarrier{{protocol::Rule::FR8_Barrier, checkers::Checker::freshness}};
  return {
      {"S-60-skewed-clock-in-flight", "L-1a, L-2c, LW-2",
       "B's wall clock is ahead and its commit in flight: it outranks C's write when it lands.", noBarrier,
       &skewedInFlight},
      {"S-60-skewed-clock-clean-handoff",
       "L-1a, X-2, LW-2",
       "B's wall clock is ahead: C reads B's deposit, and C's own write loses against it everywhere.",
       {},
       &skewedCleanHandoff},
      {"S-61-future-timestamp",
       "L-1b, X-2, LW-2",
       "No skew and nothing in flight: B's caller gives a future timestamp, and C's write loses silently.",
       {},
       &futureTimestamp},
      {"S-62-crashed-author", "L-2a, FR-8", "B crashes before its deposit leaves it; C recovers without B.",
       noBarrier, &crashedAuthor},
      {"S-63-unreachable-author", "L-2b, FR-8",
       "B is cut off from everyone when its deposit commits; C recovers without B.", noBarrier,
       &unreachableAuthor},
      {"S-64-late-settlement", "L-2c, FR-8, LH-3",
       "Nothing fails: B's commit settles after C's barrier was measured.", noBarrier, &lateSettlement},
      {"S-65-home-restart", "L-2, FR-6",
       "B releases cleanly, the home restarts, and C, who can not reach B, recovers without its deposit.",
       noBarrier, &homeRestart},
      {"S-67-cap-eviction", "L-2, FR-6, BD-1",
       "B releases cleanly, the home evicts the key's set, and C, who can not reach B, recovers.", noBarrier,
       &capEviction},
      {"R-LH-4-unlock-is-no-commit",
       "LH-4",
       "B's first caller unlocks before it submits its deposit, and B's next caller computes without it.",
       {},
       &unlockBeforeCommit},
  };
}

}  // namespace holdfast::scenarios
