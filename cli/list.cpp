// holdfast list: what can be run, switched off, set, and must be reached.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "cli/coverage_report.hpp"
#include "cli/option_list.hpp"
#include "cli/run_report.hpp"
#include "cli/suggest.hpp"
#include "cli/verb.hpp"
#include "protocol/rules.hpp"
#include "scenarios/must_reach.hpp"
#include "scenarios/scenario.hpp"

namespace holdfast::cli {
namespace {

struct ListArguments {
  std::string what;
  std::string prefix;
};

/// One line of a list: its name, its text for people, and its object.
struct Entry {
  std::string name;
  std::vector<std::string> lines;
  Json object;
};

std::vector<Entry> scenarioEntries() {
  std::vector<Entry> entries;
  entries.push_back({std::string(kMixed),
                     {std::string(kMixed),
                      "    The random workload: every seed draws its own operations and "
                      "faults, then all is healed and liveness is judged."},
                     {{"is", "scenario"},
                      {"name", kMixed},
                      {"story", "The random workload."},
                      {"rules", ""},
                      {"twins", Json::array()}}});
  for (const scenarios::Scenario& scenario : scenarios::allScenarios()) {
    Entry entry{std::string(scenario.name), {std::string(scenario.name)}, {}};
    entry.lines.push_back(fmt::format("    {}", scenario.story));
    entry.lines.push_back(fmt::format("    rules {}", scenario.rules));
    Json twins = Json::array();
    for (const scenarios::Twin& twin : scenario.twins) {
      entry.lines.push_back(fmt::format("    twin without {}: checker {} must find a violation",
                                        protocol::nameOf(twin.rule), obs::nameOf(twin.checker)));
      twins.push_back({{"rule", protocol::nameOf(twin.rule)}, {"checker", obs::nameOf(twin.checker)}});
    }
    entry.object = {{"is", "scenario"},
                    {"name", scenario.name},
                    {"story", scenario.story},
                    {"rules", scenario.rules},
                    {"twins", std::move(twins)}};
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Entry> ruleEntries() {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < protocol::kRuleCount; ++i) {
    const auto rule = static_cast<protocol::Rule>(i);
    const std::string name(protocol::nameOf(rule));
    entries.push_back({name,
                       {fmt::format("{:<28} without it: {}", name, protocol::withoutRule(rule))},
                       {{"is", "rule"}, {"name", name}, {"without", protocol::withoutRule(rule)}}});
  }
  return entries;
}

std::vector<Entry> optionEntries() {
  std::vector<Entry> entries;
  for (const OptionValue& option : optionValues({})) {
    entries.push_back(
        {option.path,
         {fmt::format("{:<34} {:>12}  {}", option.path, option.value, option.unit)},
         {{"is", "option"}, {"name", option.path}, {"default", option.value}, {"unit", option.unit}}});
  }
  return entries;
}

/// The seeds within which a default sweep must reach it, by the name that the sweep gives it; 0: it may miss
/// it.
std::uint64_t budgetOf(std::string_view name) {
  static const std::vector<scenarios::MustReachPoint> all = scenarios::mustReachPoints({});
  const auto found = std::ranges::find(all, name, &scenarios::MustReachPoint::name);
  return found == all.end() ? 0 : found->budget;
}

std::string budgetText(std::uint64_t budget) {
  return budget == 0 ? "may be missed" : fmt::format("a sweep of {} seeds must reach it", budget);
}

std::vector<Entry> routeEntries() {
  std::vector<Entry> entries;
  for (const checkers::Route route : allRoutes()) {
    const std::string_view limitation = checkers::limitationOf(route);
    const std::uint64_t budget = std::max(budgetOf(limitation), budgetOf(routeTitle(route)));
    entries.push_back({std::string(obs::nameOf(route)),
                       {fmt::format("{:<20} {:<6} {}; {}", obs::nameOf(route), limitation, meaningOf(route),
                                    budgetText(budget))},
                       {{"is", "route"},
                        {"name", obs::nameOf(route)},
                        {"limitation", limitation},
                        {"meaning", meaningOf(route)},
                        {"mustReach", budget > 0},
                        {"budget", budget}}});
  }
  return entries;
}

std::vector<Entry> milestoneEntries() {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < scenarios::kMilestones; ++i) {
    const std::string name(obs::nameOf(static_cast<scenarios::Milestone>(i)));
    const std::uint64_t budget = budgetOf(name);
    entries.push_back({name,
                       {fmt::format("{:<28} {}", name, budgetText(budget))},
                       {{"is", "milestone"}, {"name", name}, {"mustReach", budget > 0}, {"budget", budget}}});
  }
  return entries;
}

struct Kind {
  std::string_view name;
  std::vector<Entry> (*entries)();
};
constexpr Kind kKinds[] = {{"scenarios", scenarioEntries},
                           {"rules", ruleEntries},
                           {"options", optionEntries},
                           {"routes", routeEntries},
                           {"milestones", milestoneEntries}};

std::string kindNames() {
  std::string names;
  for (const Kind& kind : kKinds) names += fmt::format("{}{}", names.empty() ? "" : ", ", kind.name);
  return names;
}

std::vector<std::string> namesOf(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

Result list(Session& session, ListArguments arguments) {
  const Kind* kind = std::ranges::find(kKinds, std::string_view(arguments.what), &Kind::name);
  if (arguments.what.empty()) kind = &kKinds[0];
  if (kind == std::end(kKinds)) {
    // A single word that is no kind may be the beginning of a scenario's name.
    std::vector<std::string> known;
    for (const Kind& each : kKinds) known.emplace_back(each.name);
    const std::vector<std::string> scenarioNames = namesOf(scenarioEntries());
    const bool isPrefix = std::ranges::any_of(
        scenarioNames, [&](const std::string& name) { return name.starts_with(arguments.what); });
    if (!isPrefix || !arguments.prefix.empty()) {
      return std::unexpected(
          Failure{fmt::format("there is no list '{}'{} expected {}, or the beginning of a "
                              "scenario's name",
                              arguments.what, didYouMean(arguments.what, known) + ";", kindNames())});
    }
    arguments.prefix = std::exchange(arguments.what, {});
    kind = &kKinds[0];
  }
  const std::vector<Entry> entries = kind->entries();
  std::size_t shown = 0;
  for (const Entry& entry : entries) {
    if (!entry.name.starts_with(arguments.prefix)) continue;
    ++shown;
    for (const std::string& line : entry.lines) session.out.print(line);
    session.out.object(entry.object);
  }
  if (shown == 0) {
    return std::unexpected(
        Failure{fmt::format("none of the {} begins with '{}'{}", kind->name, arguments.prefix,
                            didYouMean(arguments.prefix, namesOf(entries)))});
  }
  return kExitHeld;
}

}  // namespace

Action declareList(CLI::App& app) {
  auto arguments = std::make_shared<ListArguments>();
  app.description(
      "List the scenarios with their stories and twins, the safety rules with what goes wrong without each, "
      "the options with their defaults, the limitations' routes, or the milestones of a sweep.");
  app.add_option("what", arguments->what, fmt::format("{}; scenarios by default", kindNames()))
      ->type_name("WHAT");
  app.add_option("prefix", arguments->prefix, "only what begins with this")->type_name("PREFIX");
  app.footer(
      "The list goes to standard output; with --json it is an object a line.\n\n"
      "Examples:\n  holdfast list\n  holdfast list rules DG\n  holdfast list options faults.crash");
  return [arguments](Session& session) { return list(session, *arguments); };
}

}  // namespace holdfast::cli
