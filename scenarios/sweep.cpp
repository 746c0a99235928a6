#include "scenarios/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "scenarios/in_order.hpp"
#include "scenarios/must_reach.hpp"
#include "scenarios/swarm.hpp"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kViolationsKept = 4;

// Of the draws that choose the seeds which are run twice.
constexpr std::uint64_t kRecheckStream = 0x7377702e72636865ULL;  // "swp.rche"

void addRoutes(const RunReport& report, SweepReport& sum) {
  for (std::size_t i = 0; i < checkers::kRoutes; ++i) {
    const std::uint64_t count = report.findings.count(static_cast<checkers::Route>(i));
    if (count == 0 || static_cast<checkers::Route>(i) == checkers::Route::none) continue;
    RouteReached& route = sum.routes[i];
    if (route.count == 0) route.firstSeed = report.seed;
    route.count += count;
    ++route.seeds;
  }
}

void addMilestones(const RunReport& report, SweepReport& sum) {
  for (std::size_t i = 0; i < kMilestones; ++i) {
    if (report.coverage.count(static_cast<Milestone>(i)) == 0) continue;
    MilestoneReached& milestone = sum.milestones[i];
    if (milestone.seeds == 0) milestone.firstSeed = report.seed;
    ++milestone.seeds;
  }
}

/// Their sum, or the greatest length there is.
Duration together(Duration one, Duration other) {
  return other.ns > INT64_MAX - one.ns ? Duration{INT64_MAX} : one + other;
}

/// What a worker hands over: the report of a seed, or why there is none.
struct SeedRun {
  RunReport report;
  std::string died;
  bool rechecked = false;
  bool diverged = false;
};

/// Gravest first, and of these in the order of the seeds: what is kept does not depend on who adds up what.
void keepGravest(std::vector<FailedSeed>& failures) {
  std::ranges::sort(failures, {}, [](const FailedSeed& f) { return std::pair(f.rank(), f.seed); });
  if (failures.size() > SweepReport::kMaxFailures) failures.resize(SweepReport::kMaxFailures);
}

void countVerdict(const SeedRun& run, SweepReport& sum) {
  const RunReport& report = run.report;
  if (!run.died.empty()) ++sum.died;
  if (run.diverged) ++sum.diverged;
  switch (report.verdict) {
    case checkers::Verdict::held:
      if (!run.diverged) ++sum.held;
      if (!run.diverged) return;
      break;
    case checkers::Verdict::safetyViolation:
      ++sum.safetyViolations;
      break;
    case checkers::Verdict::livenessViolation:
      ++sum.livenessViolations;
      break;
    case checkers::Verdict::inconclusive:
      if (run.died.empty()) ++sum.inconclusive;
      break;
  }
  FailedSeed failed{report.seed, report.verdict, report.hash, {}, run.died, run.diverged};
  const auto violations = report.findings.violations();
  failed.violations.assign(violations.begin(), violations.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                        violations.size(), kViolationsKept)));
  sum.failures.push_back(std::move(failed));
  keepGravest(sum.failures);
}

/// Adds the next seed; reports come in the order of the seeds.
void merge(const SeedRun& run, SweepReport& sum) {
  const RunReport& report = run.report;
  ++sum.ran;
  ++sum.ranges.back().ran;
  sum.rechecked += run.rechecked ? 1 : 0;
  sum.coverage += report.coverage;
  sum.costs.merge(report.costs);
  addRoutes(report, sum);
  addMilestones(report, sum);
  countVerdict(run, sum);
  sum.hash += sim::mix(report.seed, report.hash);
  sum.events += report.events;
  sum.messages += report.messages;
  sum.observations += report.observations;
  sum.simulated = together(sum.simulated, report.simulated);
}

/// Breaks off the seeds that are running when the sweep ends.
class EndOfSweep : public RunProgress {
 public:
  void comes() { come_ = true; }
  bool reached(TrueInstant, std::uint64_t) override { return !come_; }

 private:
  std::atomic<bool> come_ = false;
};

/// Runs a seed, and once more if it is one of those that are; an exception ends the run but not the sweep.
SeedRun runOne(const SweepOptions& sweeping, std::uint64_t seed, RunProgress& end) {
  SeedRun run;
  RunOptions options = sweeping.run;
  options.seed = seed;
  try {
    run.report = runSeed(options, sweeping.rules, nullptr, &end);
    if (sim::KeyedRandom{seed}.chance(sweeping.recheckPpm, kRecheckStream, 0, 0)) {
      run.rechecked = true;
      run.diverged = runSeed(options, sweeping.rules, nullptr, &end).hash != run.report.hash;
    }
    if (!sweeping.judgeLiveness && run.report.verdict == checkers::Verdict::livenessViolation) {
      run.report.verdict = checkers::Verdict::held;
    }
  } catch (const std::exception& failure) {
    run.report = {};
    run.report.seed = seed;
    run.died = *failure.what() != '\0' ? failure.what() : "an exception without a text";
  }
  return run;
}

/// Says which seed the worker is at.
void note(const SweepOptions& sweeping, std::size_t worker, std::uint64_t seed, bool running) {
  if (sweeping.inFlight == nullptr || worker >= SeedsInFlight::kMost) return;
  SeedsInFlight::Place& place = sweeping.inFlight->places[worker];
  place.seed = seed;
  place.taken = running;
}

}  // namespace

SweepReport sweep(const SweepOptions& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  const Clock::time_point latest =
      options.timeLimitNs ? begun + std::chrono::nanoseconds(*options.timeLimitNs) : Clock::time_point::max();

  SweepReport sum;
  sum.ranges.push_back({options.firstSeed, options.count, 0});
  sum.asked = options.count;
  EndOfSweep end;
  {
    InOrder<SeedRun> runs(options.count, options.jobs, [&](std::size_t worker, std::uint64_t index) {
      const std::uint64_t seed = sweepSeed(options.firstSeed, index);
      note(options, worker, seed, true);
      SeedRun run = runOne(options, seed, end);
      note(options, worker, seed, false);
      return run;
    });
    while (!runs.exhausted() && !sum.stoppedEarly) {
      const auto run = runs.take(std::min(latest, Clock::now() + std::chrono::milliseconds(100)));
      if (run) merge(*run, sum);
      if (options.progress != nullptr && !options.progress->merged(sum)) sum.stoppedEarly = true;
      if (run && options.stopOnFirst && sum.broken() > 0) sum.stoppedEarly = true;
      if (Clock::now() >= latest) sum.stoppedEarly = true;
    }
    // Nothing is merged any more, so that what is broken off now is not counted.
    end.comes();
    sum.stoppedEarly = sum.stoppedEarly && sum.ran < options.count;
  }
  if (options.mustReach) sum.missed = missedBy(sum);
  return sum;
}

int FailedSeed::rank() const {
  if (verdict == checkers::Verdict::safetyViolation) return 0;
  if (!died.empty()) return 1;
  if (diverged) return 2;
  return verdict == checkers::Verdict::livenessViolation ? 3 : 4;
}

SweepReport& SweepReport::operator+=(const SweepReport& other) {
  ranges.insert(ranges.end(), other.ranges.begin(), other.ranges.end());
  std::ranges::sort(ranges, {}, &SeedsRun::first);
  asked += other.asked;
  ran += other.ran;
  held += other.held;
  safetyViolations += other.safetyViolations;
  livenessViolations += other.livenessViolations;
  inconclusive += other.inconclusive;
  died += other.died;
  rechecked += other.rechecked;
  diverged += other.diverged;
  coverage += other.coverage;
  costs.merge(other.costs);
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const bool first = other.routes[i].count > 0 &&
                       (routes[i].count == 0 || other.routes[i].firstSeed < routes[i].firstSeed);
    if (first) routes[i].firstSeed = other.routes[i].firstSeed;
    routes[i].count += other.routes[i].count;
    routes[i].seeds += other.routes[i].seeds;
  }
  for (std::size_t i = 0; i < milestones.size(); ++i) {
    const bool first = other.milestones[i].seeds > 0 &&
                       (milestones[i].seeds == 0 || other.milestones[i].firstSeed < milestones[i].firstSeed);
    if (first) milestones[i].firstSeed = other.milestones[i].firstSeed;
    milestones[i].seeds += other.milestones[i].seeds;
  }
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
  keepGravest(failures);
  hash += other.hash;
  events += other.events;
  messages += other.messages;
  observations += other.observations;
  simulated = together(simulated, other.simulated);
  stoppedEarly = stoppedEarly || other.stoppedEarly;
  return *this;
}

int SweepReport::exitCode() const {
  constexpr int kInternalError = 70;
  constexpr int kDiverged = 4;
  if (safetyViolations > 0) return checkers::exitCodeOf(checkers::Verdict::safetyViolation);
  if (died > 0) return kInternalError;
  if (diverged > 0) return kDiverged;
  if (livenessViolations > 0) return checkers::exitCodeOf(checkers::Verdict::livenessViolation);
  if (inconclusive > 0 || ran == 0 || !missed.empty() || stoppedEarly) {
    return checkers::exitCodeOf(checkers::Verdict::inconclusive);
  }
  return 0;
}

}  // namespace holdfast::scenarios
