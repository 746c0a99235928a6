// Sweeps: the same report for any number of threads, and codes that say what became of it.
#include "scenarios/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/swarm.hpp"

namespace holdfast::scenarios {
namespace {

SweepOptions shortSweep(std::uint64_t count) {
  SweepOptions options;
  options.count = count;
  options.firstSeed = 100;
  options.run.faultPhase = sim::seconds(10);
  options.run.healedPhase = sim::seconds(15);
  options.run.workload.intoHealedPhase = sim::seconds(2);
  return options;
}

TEST(Sweep, OneAndTwoWorkersReportTheSame) {
  SweepOptions options = shortSweep(24);
  const SweepReport one = sweep(options);
  options.jobs = 2;
  const SweepReport two = sweep(options);
  EXPECT_EQ(one.ran, 24U);
  EXPECT_GT(one.events, 10'000U);
  EXPECT_EQ(one.hash, two.hash);
  EXPECT_EQ(one.coverage, two.coverage);
  EXPECT_EQ(one.missed, two.missed);
  EXPECT_EQ(one.events, two.events);
  for (std::size_t i = 0; i < kMilestones; ++i) {
    EXPECT_EQ(one.milestones[i].seeds, two.milestones[i].seeds);
    EXPECT_EQ(one.milestones[i].firstSeed, two.milestones[i].firstSeed);
  }
}

TEST(Sweep, IsMadeOfTheRunsOfItsSeeds) {
  const SweepOptions options = shortSweep(5);
  const SweepReport all = sweep(options);
  std::uint64_t hash = 0;
  std::uint64_t admissions = 0;
  for (std::uint64_t i = 0; i < 5; ++i) {
    RunOptions run = options.run;
    run.seed = sweepSeed(options.firstSeed, i);
    const RunReport report = runSeed(run, {});
    EXPECT_EQ(report.seed, 100 + i);
    hash += sim::mix(report.seed, report.hash);
    admissions += report.coverage.admissions();
  }
  EXPECT_EQ(all.hash, hash);
  EXPECT_EQ(all.coverage.admissions(), admissions);
  EXPECT_GT(admissions, 0U);
}

TEST(Sweep, AHealedPhaseInWhichNobodyCouldAskShowsNothing) {
  RunOptions options;
  options.nodes = 3;
  Plan plan;
  plan.healAt = TrueInstant{} + sim::seconds(10);
  plan.endAt = plan.healAt + sim::seconds(40);
  Operation operation;
  operation.key = KeyId{0};
  operation.node = NodeId{1};
  operation.wait = operation.lease = sim::seconds(1);
  for (const std::int64_t at : {3, 30}) {
    ++operation.id;
    operation.at = TrueInstant{} + sim::seconds(at);
    plan.operations.push_back(operation);
  }
  EXPECT_EQ(runPlan(options, {}, plan).verdict, checkers::Verdict::held);
  Fault crash;
  crash.kind = FaultKind::crash;
  crash.at = plan.healAt + sim::seconds(5);
  crash.duration = sim::minutes(1);
  crash.node = NodeId{1};
  plan.faults.push_back(crash);
  const RunReport silent = runPlan(options, {}, plan);
  EXPECT_EQ(silent.coverage.admissions(), 1U);
  EXPECT_TRUE(silent.healedInVain) << "the one client that was to ask found its node down";
  EXPECT_EQ(silent.verdict, checkers::Verdict::inconclusive);
  plan.operations.pop_back();
  EXPECT_EQ(runPlan(options, {}, plan).verdict, checkers::Verdict::held) << "nobody was to ask";
  for (const std::uint16_t other : {0, 2}) {
    crash.node = NodeId{other};
    ++crash.id;
    plan.faults.push_back(crash);
  }
  EXPECT_EQ(runPlan(options, {}, plan).verdict, checkers::Verdict::inconclusive) << "no node runs";
}

TEST(Sweep, ReclaimsTombstonesWhereTheRetentionIsBrief) {
  RunOptions options;
  options.faults.briefRetentionPpm = sim::kPpmOne;
  std::uint64_t reclaimed = 0;
  for (options.seed = 1; options.seed <= 8; ++options.seed) {
    const RunReport report = runSeed(options, {});
    EXPECT_EQ(report.verdict, checkers::Verdict::held) << options.seed;
    reclaimed += report.coverage.kind<obs::TombstoneReclaimed>();
  }
  EXPECT_GT(reclaimed, 0U);
  options.seed = 1;
  options.faults.briefRetentionPpm = 0;
  EXPECT_EQ(runSeed(options, {}).coverage.kind<obs::TombstoneReclaimed>(), 0U);
}

TEST(Sweep, SaysWhatItMissed) {
  SweepOptions options = shortSweep(100);
  options.run.faults.swarmOnPpm = 0;
  const SweepReport report = sweep(options);
  EXPECT_THAT(report.missed, testing::Contains("crashed"));
  EXPECT_THAT(report.missed, testing::Not(testing::Contains("L-2a"))) << "its budget is larger";
  EXPECT_EQ(report.milestones[static_cast<std::size_t>(Milestone::crashed)].seeds, 0U);
  EXPECT_EQ(report.exitCode(), 3);
  options.mustReach = false;
  EXPECT_TRUE(sweep(options).missed.empty());
}

TEST(Sweep, WithoutSeedsProvesNothing) {
  const SweepReport report = sweep(shortSweep(0));
  EXPECT_EQ(report.ran, 0U);
  EXPECT_EQ(report.exitCode(), 3);
}

TEST(Sweep, EndsWhenItIsToldTo) {
  struct Stopper : SweepProgress {
    bool merged(const SweepReport& soFar) override { return soFar.ran < 3; }
  } stopper;
  SweepOptions options = shortSweep(1'000);
  options.progress = &stopper;
  options.jobs = 2;
  const SweepReport report = sweep(options);
  EXPECT_EQ(report.ran, 3U);
  EXPECT_TRUE(report.stoppedEarly);
  EXPECT_EQ(report.exitCode(), 3) << "nobody asked for so few seeds";

  SweepOptions limited = shortSweep(1'000'000);
  limited.timeLimitNs = 50'000'000;
  const SweepReport part = sweep(limited);
  EXPECT_LT(part.ran, 1'000'000U);
  EXPECT_TRUE(part.stoppedEarly);
}

TEST(Sweep, BreaksOffWhatRunsAtTheTimeLimit) {
  SweepOptions options = shortSweep(2);
  // Minutes of real time, with little to be drawn beforehand.
  options.run.faultPhase = sim::hours(24 * 30);
  options.run.workload.gap = sim::hours(1);
  options.run.faults.swarmOnPpm = 0;
  options.timeLimitNs = 50'000'000;
  const SweepReport report = sweep(options);
  EXPECT_EQ(report.ran, 0U);
  EXPECT_TRUE(report.stoppedEarly);
  EXPECT_EQ(report.exitCode(), 3);
  EXPECT_EQ(report.events, 0U) << "nothing of it counts";
}

TEST(Sweep, KeepsTheGravestFailuresWhoeverAddsThemUp) {
  const auto failing = [](std::uint64_t seed, checkers::Verdict verdict) {
    SweepReport report;
    report.failures.push_back({seed, verdict, 0, {}, "", false});
    return report;
  };
  SweepReport sum;
  for (std::uint64_t seed = 1; seed <= 2 * SweepReport::kMaxFailures; ++seed) {
    sum += failing(seed, checkers::Verdict::inconclusive);
  }
  sum += failing(70, checkers::Verdict::livenessViolation);
  sum += failing(90, checkers::Verdict::safetyViolation);
  sum += failing(80, checkers::Verdict::safetyViolation);
  ASSERT_EQ(sum.failures.size(), SweepReport::kMaxFailures);
  std::vector<std::uint64_t> seeds;
  for (const FailedSeed& failed : sum.failures) seeds.push_back(failed.seed);
  EXPECT_EQ(std::vector(seeds.begin(), seeds.begin() + 5), (std::vector<std::uint64_t>{80, 90, 70, 1, 2}));
}

TEST(Sweep, StopsAtABrokenPromiseAndNotWhereNothingWasShown) {
  SweepOptions options = shortSweep(3);
  options.run.workload.gap = sim::hours(10);  // Nobody asks for anything.
  options.stopOnFirst = true;
  const SweepReport report = sweep(options);
  EXPECT_EQ(report.inconclusive, 3U);
  EXPECT_FALSE(report.stoppedEarly);
}

TEST(Sweep, AMutantIsFoundAndTheSeedRepeatsIt) {
  SweepOptions options = shortSweep(40);
  options.rules.switchOff(protocol::Rule::DG3_OneDelegate);
  options.stopOnFirst = true;
  const SweepReport report = sweep(options);
  ASSERT_EQ(report.safetyViolations, 1U);
  EXPECT_EQ(report.exitCode(), 1);
  ASSERT_EQ(report.failures.size(), 1U);
  const FailedSeed& failed = report.failures.front();
  EXPECT_EQ(failed.seed, options.firstSeed + report.ran - 1) << "the sweep ended with it";
  ASSERT_FALSE(failed.violations.empty());
  RunOptions run = options.run;
  run.seed = failed.seed;
  const RunReport again = runSeed(run, options.rules);
  EXPECT_EQ(again.hash, failed.hash);
  EXPECT_EQ(again.exitCode(), 1);
  EXPECT_GT(again.findings.count(checkers::Checker::exclusion), 0U);
}

}  // namespace
}  // namespace holdfast::scenarios
