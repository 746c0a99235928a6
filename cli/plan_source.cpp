#include "cli/plan_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/json_source.hpp"
#include "cli/suggest.hpp"
#include "traces/json.hpp"

namespace holdfast::cli {
namespace {

/// "plan: faults[2].node is 9 ..." is about the member plan.faults[2].node.
std::string placeOf(std::string_view root, std::string_view what) {
  const std::string prefix = fmt::format("{}: ", root);
  return what.starts_with(prefix) ? fmt::format("{}.{}", root, what.substr(prefix.size()))
                                  : std::string(what);
}

/// A story and a schedule have options and steps of their own: what a file says of others would be ignored.
std::optional<Failure> moreThanItsName(const JsonSource& source, const scenarios::PlanFile& file,
                                       std::string_view what) {
  scenarios::RunOptions options = file.options;
  options.seed = scenarios::RunOptions{}.seed;
  if (options != scenarios::RunOptions{}) {
    return source.about("options",
                        fmt::format("options: {} is {} and has options of its own; expected the seed "
                                    "alone, or the scenario {}",
                                    file.scenario, what, kMixed));
  }
  if (file.plan != scenarios::Plan{}) {
    return source.about("plan",
                        fmt::format("plan: {} is {} and has no plan of operations and faults; expected "
                                    "none, or the scenario {}",
                                    file.scenario, what, kMixed));
  }
  return std::nullopt;
}

std::expected<Subject, Failure> judged(const JsonSource& source, const scenarios::PlanFile& file) {
  Subject subject;
  subject.source = fmt::format("--plan {}", shellWord(source.name()));
  subject.seed = file.options.seed;
  for (std::size_t i = 0; i < file.rulesOff.size(); ++i) {
    const auto rule = parseRule(file.rulesOff[i]);
    if (!rule) return std::unexpected(source.about(fmt::format("rulesOff[{}]", i), rule.error()));
    subject.rules.switchOff(*rule);
  }
  if (file.scenario.starts_with(kExplored)) {
    if (auto more = moreThanItsName(source, file, "a schedule of the explorer"))
      return std::unexpected(*more);
    if (file.steps.empty()) {
      return std::unexpected(
          source.about("steps", "steps: is missing or empty; expected the steps of a schedule, in words"));
    }
    auto schedule = scheduleOf(file.scenario, file.steps, subject.rules);
    if (!schedule) return std::unexpected(source.about(schedule.error(), schedule.error()));
    subject.schedule = std::move(*schedule);
    return subject;
  }
  if (!file.steps.empty()) {
    return std::unexpected(source.about(
        "steps", fmt::format("{} has no steps; expected them with a configuration of the explorer ({}...)",
                             traces::quoted(file.scenario), kExplored)));
  }
  if (file.scenario != kMixed) {
    const auto& all = scenarios::allScenarios();
    const auto found = std::ranges::find(all, file.scenario, &scenarios::Scenario::name);
    if (found == all.end()) {
      std::vector<std::string> known{std::string(kMixed)};
      for (const scenarios::Scenario& scenario : all) known.emplace_back(scenario.name);
      return std::unexpected(source.about(
          "scenario", fmt::format("there is no scenario {}{} ('holdfast list' names them all)",
                                  traces::quoted(file.scenario), didYouMean(file.scenario, known))));
    }
    if (auto more = moreThanItsName(source, file, "a directed scenario")) return std::unexpected(*more);
    subject.directed = &*found;
    return subject;
  }
  if (auto valid = scenarios::validate(file.options); !valid) {
    return std::unexpected(source.about(placeOf("options", valid.error()), valid.error()));
  }
  if (auto valid = scenarios::validate(file.plan, file.options); !valid) {
    return std::unexpected(source.about(placeOf("plan", valid.error()), valid.error()));
  }
  subject.options = file.options;
  subject.options.seed = scenarios::RunOptions{}.seed;
  subject.plan = file.plan;
  return subject;
}

}  // namespace

std::expected<PlanSource, Failure> planSourceOf(std::string_view text, const std::string& name) {
  const JsonSource source(std::string(text), name);
  const auto json = source.parsed();
  if (!json) return std::unexpected(json.error());
  auto file = scenarios::planFileFromJson(*json);
  if (!file) return std::unexpected(source.about(file.error(), file.error()));
  auto subject = judged(source, *file);
  if (!subject) return std::unexpected(subject.error());
  return PlanSource{std::move(*file), std::move(*subject)};
}

std::expected<PlanSource, Failure> readPlanSource(const std::string& path) {
  const auto source = JsonSource::read(path, "a plan file");
  if (!source) return std::unexpected(source.error());
  if (source->text().starts_with("{\"holdfast-trace\"")) {
    return std::unexpected(source->at(1,
                                      "this is a trace; expected a plan file, which --save-plan writes "
                                      "('holdfast replay' executes a trace)"));
  }
  return planSourceOf(source->text(), path);
}

scenarios::PlanFile planFileOf(const Subject& subject, const scenarios::RunReport* report,
                               std::string story) {
  scenarios::PlanFile file;
  file.story = std::move(story);
  file.scenario = std::string(subject.name());
  file.rulesOff = rulesOff(subject.rules);
  file.options = subject.options;
  file.options.seed = subject.seed;
  file.plan = planOf(subject);
  if (subject.schedule) file.steps = subject.schedule->steps;
  if (report != nullptr) file.known = scenarios::knownEndOf(*report);
  return file;
}

}  // namespace holdfast::cli
