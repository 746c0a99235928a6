// What is run: the random workload of a seed, a directed scenario, or a schedule of the explorer. Every verb
// that runs something runs it through here, so that a run, its trace and its replay can not differ in how
// they were set up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/schedule.hpp"
#include "protocol/rules.hpp"
#include "scenarios/options.hpp"
#include "scenarios/plan.hpp"
#include "scenarios/plan_file.hpp"
#include "scenarios/run.hpp"
#include "scenarios/scenario.hpp"
#include "traces/trace.hpp"

namespace holdfast::cli {

/// The name of the random workload, which is what runs without another name.
inline constexpr std::string_view kMixed = scenarios::kRandomWorkload;

struct Subject {
  const scenarios::Scenario* directed = nullptr;  ///< Null: the random workload.
  std::uint64_t seed = 1;
  protocol::Rules rules;
  scenarios::RunOptions options;  ///< Of the random workload; a story has its own. Its seed is not used.
  std::optional<scenarios::Plan> plan;  ///< Runs in place of the plan of the seed. Random workload only.
  std::optional<Schedule> schedule;     ///< Of the explorer, and neither of the others.
  std::string source;  ///< What follows "run" to run it, if that is not name and seed: "--plan p.json".

  std::string_view name() const {
    if (schedule) return schedule->scenario;
    return directed != nullptr ? directed->name : kMixed;
  }
  bool isWorkload() const { return directed == nullptr && !schedule; }
};

/// The scenario that is meant by a name or the beginning of one ("S-22"), null for the random workload.
Parsed<const scenarios::Scenario*> findSubject(std::string_view name);

/// How a run ended, in the words of the report.
enum class Ending : std::uint8_t {
  held,
  safetyViolation,
  livenessViolation,
  inconclusive,
  expectationNotReached
};
BOOST_DESCRIBE_ENUM(Ending, held, safetyViolation, livenessViolation, inconclusive, expectationNotReached)

/// "held", "safety violation" ...
std::string_view wordsOf(Ending ending);
Ending endingOf(checkers::Verdict verdict);

struct Outcome {
  scenarios::RunReport report;
  std::vector<std::string> unmet;
  std::uint64_t expectations = 0;
  std::vector<std::string> notes;
  bool brokenOutside = false;  ///< By a run beside it that leaves the assumptions; see ScenarioResult.
  Ending ending = Ending::inconclusive;
  int exitCode = kExitInconclusive;
};

Outcome outcomeOf(scenarios::RunReport report);
Outcome outcomeOf(scenarios::ScenarioResult result);

/// The plan that execute() runs; an empty one unless it is of the random workload.
scenarios::Plan planOf(const Subject& subject);

/// When its run ends, if that is known beforehand; else zero.
obs::TrueInstant endOf(const Subject& subject);

/// Runs it. `sink` and `progress` may be null.
Outcome execute(const Subject& subject, scenarios::ObservationSink* sink = nullptr,
                scenarios::RunProgress* progress = nullptr);

/// Names of the nodes and keys of a run, which is made for them beforehand: of the random workload with a
/// plan in which nothing happens, else in full.
traces::Names namesOf(const Subject& subject);

/// The header of its trace. `names`: of nodes and keys.
traces::Header headerOf(const Subject& subject, traces::Names names = {});

/// The plan as a trace holds it.
nlohmann::json planJson(const Subject& subject);

/// The complete command that runs it again, ready to be pasted.
std::string commandOf(std::string_view program, const Subject& subject);

}  // namespace holdfast::cli
