// Running plans, and running many seeds.
//
// Contract: runPlan() is a pure function of its arguments. sweep() runs seeds first, first + 1, ... on
// several threads and merges the reports in the order of the seeds, so that the result is the same for any
// number of threads, to the byte; only the time limit and a request to stop depend on real time, and both
// end the sweep after a seed, leaving the report of a shorter sweep.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkers/finding.hpp"
#include "checkers/outcome.hpp"
#include "protocol/rules.hpp"
#include "scenarios/coverage.hpp"
#include "scenarios/options.hpp"
#include "scenarios/plan.hpp"
#include "scenarios/sink.hpp"

namespace holdfast::scenarios {

/// What became of one run.
struct RunReport {
  std::uint64_t seed = 0;
  checkers::Verdict verdict = checkers::Verdict::inconclusive;
  checkers::Findings findings;
  Coverage coverage;
  std::uint64_t hash = 0;          ///< The hash chain over all observations.
  std::uint64_t observations = 0;  ///< How many there were.
  std::uint64_t events = 0;        ///< Inputs handled by nodes.
  std::uint64_t messages = 0;      ///< Messages sent.
  Duration simulated;              ///< True time from start to end.
  /// Names of the run's nodes and keys by id, for describe() and for a trace.
  std::vector<std::string> nodeNames;
  std::vector<std::string> keyNames;

  int exitCode() const { return checkers::exitCodeOf(verdict); }
};

/// Called now and then while a run is going on, with the true time reached.
class RunProgress {
 public:
  virtual ~RunProgress() = default;
  virtual void reached(TrueInstant now, std::uint64_t events) = 0;
};

/// Runs a plan from start to end with all checkers on. Options and plan must be valid: see validate().
/// `sink` and `progress` may be null.
RunReport runPlan(const RunOptions& options, const protocol::Rules& rules, const Plan& plan,
                  ObservationSink* sink = nullptr, RunProgress* progress = nullptr);

/// Draws the plan of `options.seed` and runs it.
RunReport runSeed(const RunOptions& options, const protocol::Rules& rules, ObservationSink* sink = nullptr,
                  RunProgress* progress = nullptr);

class Cluster;

/// The report of a cluster whose run has ended.
RunReport reportOf(const Cluster& cluster, std::uint64_t seed);

struct SweepReport;

/// Called on the thread that called sweep(), after each seed was merged and about ten times a second.
class SweepProgress {
 public:
  virtual ~SweepProgress() = default;
  /// `soFar` holds the merged seeds. Returns whether to go on.
  virtual bool merged(const SweepReport& soFar) = 0;
};

struct SweepOptions {
  RunOptions run;  ///< `run.seed` is ignored.
  protocol::Rules rules;
  std::uint64_t firstSeed = 1;
  std::uint64_t count = 1'000;
  unsigned jobs = 1;                         ///< Threads; 0 counts as 1.
  std::optional<std::uint64_t> timeLimitNs;  ///< Of real time.
  bool stopOnFirst = false;                  ///< End with the first seed (in order) that is violated.
  bool mustReach = true;                     ///< Milestones and routes that were missed end in code 3.
  SweepProgress* progress = nullptr;
};

/// A seed that did not hold.
struct FailedSeed {
  std::uint64_t seed = 0;
  checkers::Verdict verdict = checkers::Verdict::inconclusive;
  std::uint64_t hash = 0;
  std::vector<checkers::Finding> violations;  ///< The first few.
};

/// How often a limitation's route was reached, and where first.
struct RouteReached {
  std::uint64_t count = 0;      ///< Findings.
  std::uint64_t seeds = 0;      ///< Seeds with at least one.
  std::uint64_t firstSeed = 0;  ///< Meaningful when count > 0.
};

/// Where a milestone was reached first.
struct MilestoneReached {
  std::uint64_t seeds = 0;
  std::uint64_t firstSeed = 0;
};

struct SweepReport {
  std::uint64_t firstSeed = 0;
  std::uint64_t asked = 0;  ///< Seeds asked for.
  std::uint64_t ran = 0;    ///< Seeds merged.
  std::uint64_t held = 0;
  std::uint64_t safetyViolations = 0;    ///< Seeds.
  std::uint64_t livenessViolations = 0;  ///< Seeds.
  std::uint64_t inconclusive = 0;        ///< Seeds.
  Coverage coverage;
  std::array<RouteReached, checkers::kRoutes> routes{};
  std::array<MilestoneReached, kMilestones> milestones{};
  std::vector<FailedSeed> failures;  ///< In the order of the seeds, at most kMaxFailures.
  std::uint64_t hash = 0;            ///< Over (seed, hash of its run) in order.
  std::uint64_t events = 0;
  std::uint64_t messages = 0;
  std::uint64_t observations = 0;
  Duration simulated;
  bool stoppedEarly = false;        ///< By the time limit, the progress callback, or stopOnFirst.
  std::vector<std::string> missed;  ///< What had to be reached and was not, by name.

  static constexpr std::size_t kMaxFailures = 20;

  /// 1 with a safety violation, else 2 with a liveness violation, else 3 with an inconclusive seed, without
  /// any seed, or with something missed; else 0.
  int exitCode() const;
};

SweepReport sweep(const SweepOptions& options);

/// The milestones and routes that the default sweep must reach.
std::vector<std::string> missedBy(const SweepReport& report);

}  // namespace holdfast::scenarios
