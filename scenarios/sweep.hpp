// Running many seeds.
//
// Contract: sweep() runs seeds first, first + 1, ... on several threads and merges the reports in the order
// of the seeds, so that the result is the same for any number of threads, to the byte; only the time limit
// and a request to stop depend on real time, and both leave the report of a shorter sweep: a seed that is
// running by then is broken off and does not count. Reports of disjoint seeds add up to the report of all of
// them. A run that ends in an exception is reported with its seed, and the sweep goes on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkers/cost.hpp"
#include "checkers/finding.hpp"
#include "checkers/outcome.hpp"
#include "protocol/rules.hpp"
#include "scenarios/coverage.hpp"
#include "scenarios/options.hpp"
#include "scenarios/run.hpp"

namespace holdfast::scenarios {

struct SweepReport;

/// Called on the thread that called sweep(), after each seed was merged and about ten times a second.
class SweepProgress {
 public:
  virtual ~SweepProgress() = default;
  /// `soFar` holds the merged seeds. Returns whether to go on.
  virtual bool merged(const SweepReport& soFar) = 0;
};

/// The seeds that workers are running right now, for whoever has to name them when the process dies.
class SeedsInFlight {
 public:
  static constexpr std::size_t kMost = 64;  ///< Workers beyond this many are not noted.
  struct Place {
    std::atomic<bool> taken = false;
    std::atomic<std::uint64_t> seed = 0;
  };
  std::array<Place, kMost> places;
};

struct SweepOptions {
  RunOptions run;  ///< `run.seed` is ignored.
  protocol::Rules rules;
  std::uint64_t firstSeed = 1;
  std::uint64_t count = 1'000;
  unsigned jobs = 1;                         ///< Threads; 0 counts as 1.
  std::optional<std::uint64_t> timeLimitNs;  ///< Of real time.
  bool stopOnFirst = false;                  ///< End with the first seed (in order) that is violated.
  bool mustReach = true;                     ///< Points that were missed end in code 3: see must_reach.hpp.
  bool judgeLiveness = true;                 ///< A seed that only violates liveness counts as held, if false.
  std::uint32_t recheckPpm = 0;  ///< The share of seeds that is run twice to compare their hashes.
  SweepProgress* progress = nullptr;
  SeedsInFlight* inFlight = nullptr;
};

/// A seed that did not hold.
struct FailedSeed {
  std::uint64_t seed = 0;
  checkers::Verdict verdict = checkers::Verdict::inconclusive;
  std::uint64_t hash = 0;
  std::vector<checkers::Finding> violations;  ///< The first few.
  std::string died;                           ///< What ended the run instead of a verdict; "" if it has one.
  bool diverged = false;                      ///< It was run twice, and the second run was another.

  /// 0 is gravest: as SweepReport::exitCode() takes them.
  int rank() const;
};
BOOST_DESCRIBE_STRUCT(FailedSeed, (), (seed, verdict, hash, violations, died, diverged))

/// How often a limitation's route was reached, and where first.
struct RouteReached {
  std::uint64_t count = 0;      ///< Findings.
  std::uint64_t seeds = 0;      ///< Seeds with at least one.
  std::uint64_t firstSeed = 0;  ///< Meaningful when count > 0.
};
BOOST_DESCRIBE_STRUCT(RouteReached, (), (count, seeds, firstSeed))

/// Where a milestone was reached first.
struct MilestoneReached {
  std::uint64_t seeds = 0;
  std::uint64_t firstSeed = 0;
};
BOOST_DESCRIBE_STRUCT(MilestoneReached, (), (seeds, firstSeed))

/// Seeds that follow each other, and how many of them were run.
struct SeedsRun {
  std::uint64_t first = 0;
  std::uint64_t asked = 0;
  std::uint64_t ran = 0;

  friend bool operator==(const SeedsRun&, const SeedsRun&) = default;
};
BOOST_DESCRIBE_STRUCT(SeedsRun, (), (first, asked, ran))

struct SweepReport {
  std::vector<SeedsRun> ranges;  ///< Ascending; one, unless shards were merged.
  std::uint64_t asked = 0;       ///< Seeds asked for.
  std::uint64_t ran = 0;         ///< Seeds merged.
  std::uint64_t held = 0;
  std::uint64_t safetyViolations = 0;    ///< Seeds.
  std::uint64_t livenessViolations = 0;  ///< Seeds.
  std::uint64_t inconclusive = 0;        ///< Seeds.
  std::uint64_t died = 0;                ///< Seeds whose run ended in an exception.
  std::uint64_t rechecked = 0;           ///< Seeds that were run twice.
  std::uint64_t diverged = 0;            ///< Of these, the ones whose second run was another.
  Coverage coverage;
  checkers::CostTable costs;
  std::array<RouteReached, checkers::kRoutes> routes{};
  std::array<MilestoneReached, kMilestones> milestones{};
  std::vector<FailedSeed> failures;  ///< The gravest, and of these the first, at most kMaxFailures.
  std::uint64_t hash = 0;            ///< The sum of hashes over (seed, hash of its run), so of any order.
  std::uint64_t events = 0;
  std::uint64_t messages = 0;
  std::uint64_t observations = 0;
  Duration simulated;
  bool stoppedEarly = false;        ///< By the time limit, the progress callback, or stopOnFirst.
  std::vector<std::string> missed;  ///< What had to be reached and was not, by name.

  static constexpr std::size_t kMaxFailures = 20;

  std::uint64_t firstSeed() const { return ranges.empty() ? 0 : ranges.front().first; }

  /// Seeds that violate a promise, died or diverged; an inconclusive one has shown nothing.
  std::uint64_t broken() const { return safetyViolations + livenessViolations + died + diverged; }

  /// Adds the seeds of another sweep of the same options, which must be others. Points that were missed have
  /// to be judged anew.
  SweepReport& operator+=(const SweepReport& other);

  /// 1 with a safety violation, else 70 with a seed that died, else 4 with one that diverged, else 2 with a
  /// liveness violation, else 3 with an inconclusive seed, without any seed, with something missed, or if it
  /// was cut short; else 0.
  int exitCode() const;
};
// All but the coverage, which has numbers().
BOOST_DESCRIBE_STRUCT(SweepReport, (),
                      (ranges, asked, ran, held, safetyViolations, livenessViolations, inconclusive, died,
                       rechecked, diverged, costs, routes, milestones, failures, hash, events, messages,
                       observations, simulated, stoppedEarly, missed))

SweepReport sweep(const SweepOptions& options);

}  // namespace holdfast::scenarios
