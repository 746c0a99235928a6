#include "scenarios/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "scenarios/cluster.hpp"
#include "scenarios/swarm.hpp"

namespace holdfast::scenarios {
namespace {

// How many events pass between two looks at the progress callback.
constexpr std::uint64_t kProgressEvery = 65'536;

// How far ahead of the oldest unfinished seed workers may run, so that reports do not pile up.
constexpr std::uint64_t kLookahead = 256;

constexpr std::size_t kViolationsKept = 4;

/// Limitation routes that runs of plans must reach: all but the one of a membership that changes.
constexpr std::array kRoutesToReach = {
    checkers::Route::l1a, checkers::Route::l1b, checkers::Route::l2a,           checkers::Route::l2b,
    checkers::Route::l2c, checkers::Route::lh4, checkers::Route::l2HomeRestart, checkers::Route::l2Eviction};

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

void countVerdict(const RunReport& report, SweepReport& sum) {
  switch (report.verdict) {
    case checkers::Verdict::held:
      ++sum.held;
      return;
    case checkers::Verdict::safetyViolation:
      ++sum.safetyViolations;
      break;
    case checkers::Verdict::livenessViolation:
      ++sum.livenessViolations;
      break;
    case checkers::Verdict::inconclusive:
      ++sum.inconclusive;
      break;
  }
  if (sum.failures.size() >= SweepReport::kMaxFailures) return;
  FailedSeed failed{report.seed, report.verdict, report.hash, {}};
  const auto violations = report.findings.violations();
  failed.violations.assign(violations.begin(), violations.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                        violations.size(), kViolationsKept)));
  sum.failures.push_back(std::move(failed));
}

/// Adds the next seed; reports come in the order of the seeds.
void merge(const RunReport& report, SweepReport& sum) {
  ++sum.ran;
  sum.coverage += report.coverage;
  addRoutes(report, sum);
  addMilestones(report, sum);
  countVerdict(report, sum);
  sum.hash = sim::mix(sim::mix(sum.hash, report.seed), report.hash);
  sum.events += report.events;
  sum.messages += report.messages;
  sum.observations += report.observations;
  sum.simulated = sum.simulated + report.simulated;
}

/// The seeds of a sweep on their way from the workers to the one that merges them.
class Pipeline {
 public:
  explicit Pipeline(const SweepOptions& options) : options_(options) {}

  /// A worker's life: takes the next seed, runs it, hands the report over.
  void work() {
    for (;;) {
      std::uint64_t index = 0;
      {
        std::unique_lock lock(mutex_);
        room_.wait(lock, [&] { return stopped_ || next_ >= options_.count || next_ < merged_ + kLookahead; });
        if (stopped_ || next_ >= options_.count) return;
        index = next_++;
      }
      RunOptions run = options_.run;
      run.seed = sweepSeed(options_.firstSeed, index);
      RunReport report = runSeed(run, options_.rules);
      const std::lock_guard lock(mutex_);
      done_.emplace(index, std::move(report));
      arrived_.notify_one();
    }
  }

  /// Waits for the report of the next seed in order, at most until `until`; false when it is not there yet.
  bool take(std::uint64_t index, RunReport& report, std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_until(lock, until, [&] { return done_.contains(index); })) return false;
    report = std::move(done_.extract(index).mapped());
    merged_ = index + 1;
    room_.notify_all();
    return true;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    room_.notify_all();
  }

 private:
  const SweepOptions& options_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable arrived_;
  std::map<std::uint64_t, RunReport> done_;
  std::uint64_t next_ = 0;
  std::uint64_t merged_ = 0;
  bool stopped_ = false;
};

}  // namespace

RunReport reportOf(const Cluster& cluster, std::uint64_t seed) {
  RunReport report;
  report.seed = seed;
  report.verdict = cluster.checkers().verdict();
  report.findings = cluster.checkers().findings();
  report.coverage = cluster.coverage();
  report.hash = cluster.chain().value();
  report.observations = cluster.chain().count();
  report.events = cluster.statistics().events;
  report.messages = cluster.statistics().messages;
  report.simulated = cluster.now() - TrueInstant{};
  report.nodeNames = cluster.directory().names();
  for (const protocol::KeyInfo& key : cluster.directory().keys()) report.keyNames.push_back(key.printable);
  return report;
}

RunReport runPlan(const RunOptions& options, const protocol::Rules& rules, const Plan& plan,
                  ObservationSink* sink, RunProgress* progress) {
  ClusterSetup setup;
  setup.directory = makeDirectory(options);
  setup.options = options;
  if (lineageIsScarce(options)) setup.options.protocol.lineageSets = 1;
  setup.rules = rules;
  setup.clocks = plan.clocks;
  setup.checkers = checkerOptionsFor(options);
  Cluster cluster(std::move(setup));
  cluster.setSink(sink);
  cluster.load(plan);
  cluster.start();
  std::uint64_t nextLook = kProgressEvery;
  while (cluster.nextTime() <= plan.endAt && cluster.step()) {
    if (progress != nullptr && cluster.statistics().events >= nextLook) {
      nextLook = cluster.statistics().events + kProgressEvery;
      progress->reached(cluster.now(), cluster.statistics().events);
    }
  }
  cluster.advanceTo(plan.endAt);
  cluster.finish();
  return reportOf(cluster, options.seed);
}

RunReport runSeed(const RunOptions& options, const protocol::Rules& rules, ObservationSink* sink,
                  RunProgress* progress) {
  return runPlan(options, rules, drawPlan(options), sink, progress);
}

SweepReport sweep(const SweepOptions& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  const Clock::time_point latest =
      options.timeLimitNs ? begun + std::chrono::nanoseconds(*options.timeLimitNs) : Clock::time_point::max();

  SweepReport sum;
  sum.firstSeed = options.firstSeed;
  sum.asked = options.count;
  Pipeline pipeline(options);
  std::vector<std::jthread> workers;
  const unsigned jobs = std::max(1U, options.jobs);
  for (unsigned i = 0; i < jobs; ++i) workers.emplace_back([&] { pipeline.work(); });

  RunReport report;
  while (sum.ran < options.count && !sum.stoppedEarly) {
    const Clock::time_point look = std::min(latest, Clock::now() + std::chrono::milliseconds(100));
    const bool here = pipeline.take(sum.ran, report, look);
    if (here) merge(report, sum);
    if (options.progress != nullptr && !options.progress->merged(sum)) sum.stoppedEarly = true;
    if (here && options.stopOnFirst && report.verdict != checkers::Verdict::held) sum.stoppedEarly = true;
    if (Clock::now() >= latest) sum.stoppedEarly = true;
  }
  sum.stoppedEarly = sum.stoppedEarly && sum.ran < options.count;
  pipeline.stop();
  workers.clear();
  if (options.mustReach) sum.missed = missedBy(sum);
  return sum;
}

std::vector<std::string> missedBy(const SweepReport& report) {
  std::vector<std::string> missed;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Milestone>>([&](auto milestone) {
    if (report.milestones[static_cast<std::size_t>(milestone.value)].seeds == 0) {
      missed.emplace_back(milestone.name);
    }
  });
  for (const checkers::Route route : kRoutesToReach) {
    if (report.routes[static_cast<std::size_t>(route)].count == 0) {
      const std::string_view limitation = checkers::limitationOf(route);
      missed.push_back(limitation == "L-2" ? fmt::format("L-2 ({})", obs::nameOf(route))
                                           : std::string(limitation));
    }
  }
  return missed;
}

int SweepReport::exitCode() const {
  if (safetyViolations > 0) return checkers::exitCodeOf(checkers::Verdict::safetyViolation);
  if (livenessViolations > 0) return checkers::exitCodeOf(checkers::Verdict::livenessViolation);
  if (inconclusive > 0 || ran == 0 || !missed.empty()) {
    return checkers::exitCodeOf(checkers::Verdict::inconclusive);
  }
  return 0;
}

}  // namespace holdfast::scenarios
