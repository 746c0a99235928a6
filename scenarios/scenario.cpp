#include "scenarios/scenario.hpp"

#include <fmt/format.h>

#include <exception>

namespace holdfast::scenarios {

int ScenarioResult::exitCode() const {
  const int judged = report.exitCode();
  if (judged == checkers::exitCodeOf(checkers::Verdict::safetyViolation) ||
      judged == checkers::exitCodeOf(checkers::Verdict::livenessViolation)) {
    return judged;
  }
  if (!unmet.empty() || expectations == 0) return checkers::exitCodeOf(checkers::Verdict::inconclusive);
  return judged;
}

const Scenario* findScenario(std::string_view name) {
  const Scenario* only = nullptr;
  for (const Scenario& scenario : allScenarios()) {
    if (scenario.name == name) return &scenario;
    if (!scenario.name.starts_with(name)) continue;
    // "S-1" is no abbreviation of "S-11-...": an id ends where its name begins.
    if (!scenario.name.substr(name.size()).starts_with('-')) continue;
    if (only != nullptr) return nullptr;
    only = &scenario;
  }
  return only;
}

std::vector<const Scenario*> scenariosNamed(std::string_view prefix) {
  std::vector<const Scenario*> found;
  for (const Scenario& scenario : allScenarios()) {
    if (scenario.name.starts_with(prefix)) found.push_back(&scenario);
  }
  return found;
}

ScenarioResult runScenario(const Scenario& scenario, ScenarioContext& context) {
  try {
    return scenario.run(context);
  } catch (const std::exception& failure) {
    ScenarioResult result;
    result.report.seed = context.seed;
    result.unmet.push_back(fmt::format("{} ended with an exception: {}", scenario.name, failure.what()));
    return result;
  }
}

TwinResult runTwin(const Scenario& scenario, const Twin& twin, ScenarioContext context) {
  context.rules.switchOff(twin.rule);
  TwinResult judged;
  judged.result = runScenario(scenario, context);
  judged.reached = judged.result.report.findings.count(twin.checker) > 0;
  if (judged.reached) return judged;
  const auto violations = judged.result.report.findings.violations();
  const auto rule = protocol::nameOf(twin.rule);
  const auto checker = obs::nameOf(twin.checker);
  if (violations.empty()) {
    judged.explanation =
        fmt::format("without {} the checker '{}' must find a violation; no checker found any", rule, checker);
  } else {
    judged.explanation =
        fmt::format("without {} the checker '{}' must find a violation; only '{}' did: {}", rule, checker,
                    obs::nameOf(violations.front().checker), checkers::describe(violations.front()));
  }
  return judged;
}

}  // namespace holdfast::scenarios
