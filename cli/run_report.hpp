// What is printed about one run: its first lines, its findings, its end, and how to run it again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "checkers/finding.hpp"
#include "cli/output.hpp"
#include "cli/subject.hpp"
#include "cli/verb.hpp"
#include "scenarios/run.hpp"

namespace holdfast::cli {

/// The columns that text for people keeps to where it can.
inline constexpr std::size_t kWidth = 110;

/// The first line, then everything that shapes the run. `every`: each option on a line of its own. `seeds`
/// stands for the seed in the first line: "seed 7", "seeds 1..1000".
void announce(Session& session, std::string_view verb, const Subject& subject, std::string_view seeds,
              bool every);

/// The members that describe a subject, for objects of several kinds.
Json subjectJson(const Subject& subject);

/// One finding as JSON; `is` tells what it is in the stream.
Json findingJson(const checkers::Finding& finding, const checkers::Names& names);

/// The names in a report, for checkers::describe(). They refer to the report.
checkers::Names namesIn(const scenarios::RunReport& report);

/// How a run went beside its outcome.
struct RunFacts {
  std::chrono::nanoseconds real{};
  std::string trace;      ///< The trace file that was written; "" for none.
  std::string plan;       ///< The plan file that was written; "" for none.
  std::string saved;      ///< The folder that the run was saved to because it failed; "" for none.
  std::string reproduce;  ///< The complete command that does it again.
};

/// How much was simulated in which time.
std::string timeLine(const scenarios::RunReport& report, const RunFacts& facts);

/// Prints findings, unmet expectations, notes, figures, the verdict, and on failure how to run it again.
void reportOutcome(Session& session, const Outcome& outcome, const RunFacts& facts);

/// Prints violations, a sentence each: all that are kept, and how many are not.
void reportViolations(Session& session, const scenarios::RunReport& report);

/// The verdict for machines, without its "is".
Json outcomeJson(const Outcome& outcome, const RunFacts& facts);

/// The verdict as a trace keeps it.
nlohmann::json verdictJson(const Outcome& outcome);

/// Measures real time from its construction on.
class Stopwatch {
 public:
  std::chrono::nanoseconds elapsed() const { return Clock::now() - start_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Shows how far a single long run has come, and ends it when it is asked to.
class RunProgressLine : public scenarios::RunProgress {
 public:
  /// `end`: the run's last instant, or zero if it is not known.
  /// `limitNs`: of real time.
  RunProgressLine(Output& out, obs::TrueInstant end, std::optional<std::uint64_t> limitNs = std::nullopt)
      : out_(out), end_(end), limitNs_(limitNs) {}
  bool reached(obs::TrueInstant now, std::uint64_t events) override;

 private:
  Output& out_;
  obs::TrueInstant end_;
  std::optional<std::uint64_t> limitNs_;
  Stopwatch watch_;
};

}  // namespace holdfast::cli
