#include "cli/subject.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/option_list.hpp"
#include "cli/suggest.hpp"
#include "scenarios/swarm.hpp"

namespace holdfast::cli {
namespace {

scenarios::RunOptions seeded(const Subject& subject) {
  scenarios::RunOptions options = subject.options;
  options.seed = subject.seed;
  return options;
}

}  // namespace

Parsed<const scenarios::Scenario*> findSubject(std::string_view name) {
  if (name.empty() || name == kMixed) return nullptr;
  if (const scenarios::Scenario* const found = scenarios::findScenario(name)) return found;
  const std::vector<const scenarios::Scenario*> several = scenarios::scenariosNamed(name);
  if (several.size() > 1) {
    std::string names;
    for (const scenarios::Scenario* scenario : several) names += fmt::format("\n  {}", scenario->name);
    return std::unexpected(
        fmt::format("'{}' is the beginning of {} scenarios; expected one of{}", name, several.size(), names));
  }
  std::vector<std::string> known{std::string(kMixed)};
  for (const scenarios::Scenario& scenario : scenarios::allScenarios()) known.emplace_back(scenario.name);
  return std::unexpected(fmt::format("there is no scenario '{}'{} ('holdfast list' names them all)",
                                     name.substr(0, 80), didYouMean(name, known)));
}

std::string_view wordsOf(Ending ending) {
  switch (ending) {
    case Ending::held:
      return "held";
    case Ending::safetyViolation:
      return "safety violation";
    case Ending::livenessViolation:
      return "liveness violation";
    case Ending::inconclusive:
      return "inconclusive";
    case Ending::expectationNotReached:
      return "expectation not reached";
  }
  return "?";
}

Ending endingOf(checkers::Verdict verdict) {
  switch (verdict) {
    case checkers::Verdict::held:
      return Ending::held;
    case checkers::Verdict::safetyViolation:
      return Ending::safetyViolation;
    case checkers::Verdict::livenessViolation:
      return Ending::livenessViolation;
    case checkers::Verdict::inconclusive:
      return Ending::inconclusive;
  }
  return Ending::inconclusive;
}

Outcome outcomeOf(scenarios::RunReport report) {
  Outcome outcome;
  outcome.report = std::move(report);
  outcome.ending = endingOf(outcome.report.verdict);
  outcome.exitCode = outcome.report.exitCode();
  return outcome;
}

Outcome outcomeOf(scenarios::ScenarioResult result) {
  Outcome outcome;
  outcome.exitCode = result.exitCode();
  switch (outcome.exitCode) {
    case kExitHeld:
      outcome.ending = Ending::held;
      break;
    case kExitSafety:
      outcome.ending = Ending::safetyViolation;
      break;
    case kExitLiveness:
      outcome.ending = Ending::livenessViolation;
      break;
    default:
      outcome.ending = result.unmet.empty() ? Ending::inconclusive : Ending::expectationNotReached;
  }
  outcome.report = std::move(result.report);
  outcome.unmet = std::move(result.unmet);
  outcome.expectations = result.expectations;
  outcome.notes = std::move(result.notes);
  outcome.brokenOutside = result.brokenOutside;
  return outcome;
}

scenarios::Plan planOf(const Subject& subject) {
  if (!subject.isWorkload()) return {};
  return subject.plan ? *subject.plan : scenarios::drawPlan(seeded(subject));
}

obs::TrueInstant endOf(const Subject& subject) {
  if (!subject.isWorkload()) return {};
  if (subject.plan) return subject.plan->endAt;
  return obs::TrueInstant{} + subject.options.faultPhase + subject.options.healedPhase;
}

Outcome execute(const Subject& subject, scenarios::ObservationSink* sink, scenarios::RunProgress* progress) {
  if (subject.schedule) return execute(*subject.schedule, subject.rules, sink);
  if (subject.directed != nullptr) {
    scenarios::ScenarioContext context;
    context.seed = subject.seed;
    context.rules = subject.rules;
    context.sink = sink;
    context.progress = progress;
    return outcomeOf(scenarios::runScenario(*subject.directed, context));
  }
  return outcomeOf(scenarios::runPlan(seeded(subject), subject.rules, planOf(subject), sink, progress));
}

traces::Names namesOf(const Subject& subject) {
  scenarios::RunReport report;
  if (!subject.isWorkload()) {
    report = execute(subject).report;
  } else {
    report = scenarios::runPlan(seeded(subject), subject.rules, scenarios::Plan{});
  }
  return {std::move(report.nodeNames), std::move(report.keyNames)};
}

traces::Header headerOf(const Subject& subject, traces::Names names) {
  traces::Header header;
  header.scenario = std::string(subject.name());
  header.seed = subject.seed;
  if (subject.schedule) {
    header.options = {{"identity", subject.schedule->identity}};
  } else if (subject.directed == nullptr) {
    // The seed is a member of the header; options that differ in it alone have one hash.
    header.options = scenarios::toJson(subject.options);
    header.options.erase("seed");
  }
  header.rulesOff = rulesOff(subject.rules);
  header.names = std::move(names);
  header.optionHash = traces::optionHashOf(header);
  return header;
}

nlohmann::json planJson(const Subject& subject) {
  if (subject.schedule) return {{"steps", subject.schedule->steps}};
  if (subject.directed != nullptr) return nlohmann::json::object();
  return scenarios::toJson(planOf(subject));
}

std::string commandOf(std::string_view program, const Subject& subject) {
  if (!subject.source.empty()) return fmt::format("{} run {}", shellWord(program), subject.source);
  std::string command =
      subject.schedule
          ? fmt::format("{} explore {}", shellWord(program), subject.name().substr(kExplored.size()))
          : fmt::format("{} run {} --seed {}", shellWord(program), shellWord(subject.name()), subject.seed);
  for (const std::string& rule : rulesOff(subject.rules)) command += " --without " + rule;
  if (subject.isWorkload()) {
    for (const std::string& setting : changedOptions(subject.options)) {
      command += " --set " + shellWord(setting);
    }
  }
  return command;
}

}  // namespace holdfast::cli
