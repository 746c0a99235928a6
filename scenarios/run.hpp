// Running one plan from start to end.
//
// Contract: runPlan() is a pure function of its arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkers/cost.hpp"
#include "checkers/finding.hpp"
#include "checkers/options.hpp"
#include "checkers/outcome.hpp"
#include "protocol/rules.hpp"
#include "scenarios/coverage.hpp"
#include "scenarios/options.hpp"
#include "scenarios/plan.hpp"
#include "scenarios/plan_file.hpp"
#include "scenarios/sink.hpp"

namespace holdfast::scenarios {

/// What became of one run.
struct RunReport {
  std::uint64_t seed = 0;
  checkers::Verdict verdict = checkers::Verdict::inconclusive;
  checkers::Findings findings;
  Coverage coverage;
  checkers::CostTable costs;
  std::uint64_t hash = 0;          ///< The hash chain over all observations.
  std::uint64_t observations = 0;  ///< How many there were.
  std::uint64_t events = 0;        ///< Inputs handled by nodes.
  std::uint64_t messages = 0;      ///< Messages sent.
  Duration simulated;              ///< True time from start to end.
  bool healedInVain = false;       ///< See Cluster::healedInVain(); what would have held is inconclusive.
  /// Callers that still waited, within their limits, when the run ended; what would have held is
  /// inconclusive.
  std::uint64_t stillWaiting = 0;
  bool stopped = false;  ///< RunProgress has ended it; what would have held is inconclusive.
  /// Names of the run's nodes and keys by id, for describe() and for a trace.
  std::vector<std::string> nodeNames;
  std::vector<std::string> keyNames;

  int exitCode() const { return checkers::exitCodeOf(verdict); }
};

/// Called often while a run is going on, with the true time reached and how many events there were.
class RunProgress {
 public:
  virtual ~RunProgress() = default;
  /// Whether to go on. A directed scenario goes on all the same.
  virtual bool reached(TrueInstant now, std::uint64_t events) = 0;
};

/// Runs a plan from start to end with all checkers on. Options and plan must be valid: see validate().
/// `sink` and `progress` may be null.
RunReport runPlan(const RunOptions& options, const protocol::Rules& rules, const Plan& plan,
                  ObservationSink* sink = nullptr, RunProgress* progress = nullptr);

/// Draws the plan of `options.seed` and runs it.
RunReport runSeed(const RunOptions& options, const protocol::Rules& rules, ObservationSink* sink = nullptr,
                  RunProgress* progress = nullptr);

/// What judges a run of these options and this seed: what the seed draws is in it.
checkers::CheckerOptions checkerOptionsOfRun(const RunOptions& options);

class Cluster;

/// The report of a cluster whose run has ended.
RunReport reportOf(const Cluster& cluster, std::uint64_t seed);

/// What the report says of a run, as a plan file keeps it.
KnownEnd knownEndOf(const RunReport& report);

}  // namespace holdfast::scenarios
