#include "cli/counterfactual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <variant>
#include <vector>

#include "explain/story.hpp"
#include "traces/text.hpp"

namespace holdfast::cli {
namespace {

using checkers::Finding;
using PlanStep = std::variant<scenarios::Operation, scenarios::Fault>;

obs::TrueInstant instantOf(const PlanStep& step) {
  return std::visit([](const auto& one) { return one.at; }, step);
}

std::vector<PlanStep> stepsOf(const scenarios::Plan& plan) {
  std::vector<PlanStep> steps(plan.operations.begin(), plan.operations.end());
  steps.insert(steps.end(), plan.faults.begin(), plan.faults.end());
  std::ranges::sort(steps, {}, [](const PlanStep& step) {
    const auto id = std::visit([](const auto& one) { return one.id; }, step);
    return std::tuple(instantOf(step), step.index(), id);
  });
  return steps;
}

scenarios::Plan firstOf(const scenarios::Plan& plan, const std::vector<PlanStep>& steps, std::size_t count) {
  scenarios::Plan cut = plan;
  cut.operations.clear();
  cut.faults.clear();
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto* operation = std::get_if<scenarios::Operation>(&steps[i])) {
      cut.operations.push_back(*operation);
    } else {
      cut.faults.push_back(std::get<scenarios::Fault>(steps[i]));
    }
  }
  return cut;
}

/// Whether a run of `subject` breaks the same promise on the same key.
bool breaksAgain(const Subject& subject, const Finding& finding) {
  const scenarios::RunReport report = execute(subject).report;
  return std::ranges::any_of(report.findings.violations(), [&](const Finding& again) {
    return again.anomaly == finding.anomaly && again.key == finding.key;
  });
}

}  // namespace

std::optional<NoReturn> pointOfNoReturn(Session& session, const Study& study,
                                        const explain::Incident& incident) {
  if (!study.subject || !study.subject->isWorkload()) return std::nullopt;
  // Incidents stand in the order of the findings that they were made of, violations first.
  const std::vector<explain::Incident> incidents = incidentsOf(study);
  const auto same = std::ranges::find_if(incidents, [&](const explain::Incident& one) {
    return one.event == incident.event && one.title == incident.title;
  });
  const auto index = static_cast<std::size_t>(same - incidents.begin());
  if (index >= study.violations.size()) return std::nullopt;
  const Finding& finding = study.violations[index];
  Subject subject = *study.subject;
  const scenarios::Plan plan = planOf(subject);
  const std::vector<PlanStep> steps = stepsOf(plan);
  const auto breaks = [&](std::size_t count) {
    session.out.progress(
        fmt::format("explain: running the first {} of {} steps of the plan", count, steps.size()));
    subject.plan = firstOf(plan, steps, count);
    return breaksAgain(subject, finding);
  };
  // A plan's beginning runs as it does in the whole plan, so that what is planned behind the violation is
  // idle.
  std::size_t most = static_cast<std::size_t>(
      std::ranges::upper_bound(steps, study.run[incident.event].at, {}, instantOf) - steps.begin());
  if (!breaks(most)) {
    // It was found later than it happened, say by replicas that differ at the end.
    if (most == steps.size() || !breaks(steps.size())) return std::nullopt;
    most = steps.size();
  }
  std::size_t least = 0;
  while (least < most) {
    const std::size_t middle = least + (most - least) / 2;
    if (breaks(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  if (most == 0) return std::nullopt;
  NoReturn turn;
  turn.kept = most;
  turn.planned = steps.size();
  turn.at = instantOf(steps[most - 1]);
  if (const auto* operation = std::get_if<scenarios::Operation>(&steps[most - 1])) {
    turn.step = fmt::format("operation {}, {}", operation->id, obs::nameOf(operation->kind));
    turn.node = operation->node;
  } else {
    const auto& fault = std::get<scenarios::Fault>(steps[most - 1]);
    turn.step = fmt::format("fault {}, {}", fault.id, obs::nameOf(fault.kind));
    turn.node = fault.node;
  }
  return turn;
}

std::string describe(const NoReturn& turn, const traces::Names& names) {
  return fmt::format(
      "Inevitable under the plan from {} on: that is step {} of {} of the plan ({}{}). With everything "
      "planned "
      "later taken away the same promise is broken all the same; without this step it is not.",
      explain::shortTime(turn.at.ns), turn.kept, turn.planned, turn.step,
      turn.node.valid() ? fmt::format(" at {}", traces::describe(turn.node, names)) : "");
}

}  // namespace holdfast::cli
