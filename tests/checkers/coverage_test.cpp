// What a run exercised, and that the sum over runs does not depend on the order.
#include <map>

#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

/// A handoff, a refusal, a recall, an expiry and an L-2b recovery.
Story eventful(std::uint64_t seed) {
  CheckerOptions options;
  options.seed = seed;
  Story story(options);
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
  story.tell(D, obs::RecallSent{K, A, story.token()}).release(A).grant(C, Path::clean).apply(C, A);
  story.lock(C, 2, Path::clean).unlock(C, 2).lock(C, 3).unlock(C, 3);
  story.at(2_s).cut(A, B).at(80_s).expire(C).grant(B, Path::recovery).startBarrier(B, 9).measure(B, 9, C);
  story.ask(B, 4).at(81_s).skip(B, 9, A).barrierDone(B, 9).admit(B, 4, Path::recovery);
  story.ask(A, 5, K, 1_s).at(82_s).refuse(A, 5, ErrorClass::locked423, Cause::contended).unlock(B, 4);
  return story;
}

std::map<std::string, std::uint64_t> countersOf(const Coverage& coverage) {
  std::map<std::string, std::uint64_t> counters;
  forEachCounter(coverage, [&](std::string_view name, std::uint64_t n) { counters[std::string(name)] = n; });
  return counters;
}

TEST(Coverage, CountsWhatHappened) {
  Story story = eventful(7);
  expectHeld(story);
  const auto counters = countersOf(story.checkers().coverage());
  const std::pair<const char*, std::uint64_t> expected[] = {
      {"runs", 1},
      {"callers.lockRequests", 5},
      {"callers.admissions.virgin", 1},
      {"callers.admissions.clean", 1},
      {"callers.admissions.cached", 1},
      {"callers.admissions.recovery", 1},
      {"callers.handoffs", 2},
      {"callers.unlocks", 4},
      {"callers.lockErrors.locked423", 1},
      {"callers.lockCauses.contended", 1},
      {"writes.staged", 1},
      {"writes.commits", 1},
      {"delegations.grants.clean", 1},
      {"delegations.recalls", 1},
      {"delegations.releases", 1},
      {"delegations.releasesCleared", 1},
      {"delegations.expiries", 1},
      {"delegations.lineageLost.expired", 1},
      {"freshness.barriersStarted", 1},
      {"freshness.barriersSatisfied", 1},
      {"freshness.membersSkipped", 1},
      {"replication.applied", 2},
      {"faults.linkCuts", 2},
      {"findings.routes.l2b", 1},
      {"findings.routes.l1a", 0},
      {"findings.violations.exclusion", 0},
  };
  for (const auto& [name, count] : expected) {
    ASSERT_TRUE(counters.contains(name)) << name;
    EXPECT_EQ(counters.at(name), count) << name;
  }
  EXPECT_EQ(story.checkers().coverage().findings.firstSeeds[Route::l2b], 7U);
  EXPECT_EQ(story.checkers().coverage().findings.firstSeeds[Route::l1a], FirstSeed<Route>::kNever);
}

TEST(Coverage, MergingIsCommutativeAndKeepsTheFirstSeed) {
  Story one = eventful(9);
  Story two = eventful(4);
  one.finish();
  two.finish();
  Coverage forward = one.checkers().coverage();
  forward.merge(two.checkers().coverage());
  Coverage backward = two.checkers().coverage();
  backward.merge(one.checkers().coverage());
  EXPECT_EQ(forward, backward);
  EXPECT_EQ(forward.runs, 2U);
  EXPECT_EQ(forward.callers.handoffs, 4U);
  EXPECT_EQ(forward.findings.routes[Route::l2b], 2U);
  EXPECT_EQ(forward.findings.firstSeeds[Route::l2b], 4U);
}

TEST(Coverage, CountsWaitersThatSawAnotherServedTwice) {
  Story story;
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).ask(B, 2).tell(D, obs::Queued{K, B});
  story.unlock(A, 1).release(A).grant(C, Path::clean).apply(C, A).lock(C, 3, Path::clean).unlock(C, 3);
  EXPECT_EQ(story.checkers().coverage().callers.overtaken, 0U);
  story.release(C).grant(A, Path::clean).apply(A, C).lock(A, 4, Path::clean).unlock(A, 4).release(A);
  EXPECT_EQ(story.checkers().coverage().callers.overtaken, 0U) << "twice by one node, not once by two";
  story.grant(C, Path::clean).apply(C, A).lock(C, 5, Path::clean).unlock(C, 5).release(C);
  EXPECT_EQ(story.checkers().coverage().callers.overtaken, 1U);
  story.grant(C, Path::clean).apply(C, A).lock(C, 6, Path::clean).unlock(C, 6).release(C);
  story.grant(B, Path::clean).apply(B, A).apply(B, C).admit(B, 2, Path::clean);
  expectHeld(story);
  EXPECT_EQ(story.checkers().coverage().callers.overtaken, 1U);
}

TEST(Coverage, CountsWhatIsRareApart) {
  Story story;
  story.at(1_s).grant(A, Path::virgin).ask(A, 1).admit(A, 1, Path::virgin, K, 10_s, true);
  story.grant(A, Path::virgin, K, D, true).put(A, 1, 1, 5).abort(A, 1).put(A, 2, 0, 6);
  story.revoke(A, 1).revoke(A, 1, K, true);
  story.tell(A, obs::AdmissionClosed{K, story.token(), true})
      .tell(A, obs::AdmissionClosed{K, story.token(), false});
  story.tell(A, obs::Drained{K, story.token(), true}).tell(A, obs::Drained{K, story.token(), false});
  story.startBarrier(A, 9).barrierDone(A, 9, false);
  story.tell(A, obs::NodeStarted{1}).tell(A, obs::NodeStarted{2}).tell(B, obs::NodeCrashed{3});
  story.tell(A, obs::DurableWrite{EntryKind::release, true})
      .tell(A, obs::DurableWrite{EntryKind::release, false});
  story.clock(A, 0_s)
      .clock(B, 0_s)
      .clock(B, 1_s, 5)
      .tell(A, obs::WallSet{})
      .tell(B, obs::WallSet{})
      .tell(B, obs::WallSet{});
  const auto counters = countersOf(story.checkers().coverage());
  const std::pair<const char*, std::uint64_t> expected[] = {
      {"callers.holds", 1},
      {"callers.handoffs", 0},
      {"callers.revocations", 2},
      {"callers.revokedUnlocked", 1},
      {"writes.staged", 2},
      {"writes.unlocked", 1},
      {"writes.commits", 0},
      {"writes.aborts", 1},
      {"delegations.grants.virgin", 1},
      {"delegations.renewals", 1},
      {"delegations.earlyDrops", 1},
      {"delegations.drains", 1},
      {"delegations.drainsCutShort", 1},
      {"freshness.barriersSatisfied", 0},
      {"freshness.barriersFailed", 1},
      {"replication.durableMetadata", 1},
      {"replication.durableEntries.release", 1},
      {"faults.restarts", 1},
      {"faults.crashes", 1},
      {"faults.commitsLost", 3},
      {"faults.clockRateChanges", 1},
      {"faults.wallChanges", 1},
  };
  for (const auto& [name, count] : expected) {
    ASSERT_TRUE(counters.contains(name)) << name;
    EXPECT_EQ(counters.at(name), count) << name;
  }
}

TEST(Coverage, SealsTheCountsOfFindings) {
  Findings findings;
  Finding finding;
  finding.checker = Checker::cost;
  findings.add(finding);
  finding.severity = Severity::limitation;
  finding.route = Route::l2c;
  findings.add(finding);
  findings.add(finding);
  Coverage coverage;
  coverage.seal(findings, 3);
  EXPECT_EQ(coverage.findings.violations[Checker::cost], 1U);
  EXPECT_EQ(coverage.findings.violations.total(), 1U);
  EXPECT_EQ(coverage.findings.routes[Route::l2c], 2U);
  EXPECT_EQ(coverage.findings.firstSeeds[Route::l2c], 3U);
}

/// B and C wait for the key in the queue of D; `between` happens; A is served twice. How many it overtook.
std::uint64_t overtakenAfter(const std::function<void(Story&)>& between) {
  Story story;
  story.at(1_s).ask(B, 1).ask(B, 2).ask(C, 3).tell(D, obs::Queued{K, B}).tell(D, obs::Queued{K, C});
  between(story);
  story.grant(A, Path::virgin).release(A).grant(A, Path::clean).release(A);
  return story.checkers().coverage().callers.overtaken;
}

TEST(Coverage, OvertakenIsWhoStillWaits) {
  const auto denied = [](Cause cause) {
    return [=](Story& story) { story.tell(D, obs::Denied{K, B, cause}); };
  };
  const auto refused = [](Story& story, std::uint32_t call) {
    story.refuse(B, call, ErrorClass::locked423, Cause::contended);
  };
  EXPECT_EQ(overtakenAfter([](Story&) {}), 2U);
  EXPECT_EQ(overtakenAfter(denied(Cause::contended)), 2U);
  EXPECT_EQ(overtakenAfter(denied(Cause::ownGrant)), 2U);
  EXPECT_EQ(overtakenAfter(denied(Cause::capacity)), 1U);
  EXPECT_EQ(overtakenAfter([&](Story& story) { refused(story, 1); }), 2U) << "another of its callers waits";
  EXPECT_EQ(overtakenAfter([&](Story& story) {
              refused(story, 1);
              refused(story, 2);
            }),
            1U);
  EXPECT_EQ(overtakenAfter([](Story& story) { story.tell(D, obs::Queued{K, B}); }), 2U);
  EXPECT_EQ(overtakenAfter([](Story& story) { story.crash(B); }), 1U);
  EXPECT_EQ(overtakenAfter([](Story& story) { story.crash(D); }), 0U);
  EXPECT_EQ(overtakenAfter([](Story& story) { story.tell(D, obs::CoordinatorReplaced{}); }), 0U);
  EXPECT_EQ(overtakenAfter([](Story& story) { story.grant(B, Path::virgin).release(B); }), 1U);
}

TEST(Coverage, CanBeSwitchedOff) {
  CheckerOptions options;
  options.countCoverage = false;
  Story story(options);
  story.at(1_s).lock(A, 1, Path::virgin);
  expectHeld(story);
  EXPECT_EQ(story.checkers().coverage().callers.admissions.total(), 0U);
}

}  // namespace
}  // namespace holdfast::checkers::testing
