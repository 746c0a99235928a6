// Directed scenarios: stories with an end that is known, each about a few rules.
//
// Contract: a scenario is a function from a context (seed, rules, sink) to a result, and the result follows
// from them alone. With all rules on it must hold and meet every expectation. A twin is the same story with
// one rule switched off, in which the bad thing does happen: its run must end in a violation that the named
// checker found, or the scenario proves nothing.
//
// To add scenarios: write a file scenarios/s_<family>.cpp with one function that returns the family, declare
// it in families.hpp, and add its line to registry.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/finding.hpp"
#include "protocol/rules.hpp"
#include "scenarios/run.hpp"
#include "scenarios/sink.hpp"

namespace holdfast::scenarios {

/// What a scenario is run with.
struct ScenarioContext {
  std::uint64_t seed = 1;
  protocol::Rules rules;
  ObservationSink* sink = nullptr;  ///< May be null.
  RunProgress* progress = nullptr;  ///< May be null.
};

struct ScenarioResult {
  RunReport report;
  /// Expectations that were not met, each with what was observed and what was expected.
  std::vector<std::string> unmet;
  /// How many expectations were checked; 0 makes the result inconclusive, because it proves nothing.
  std::uint64_t expectations = 0;
  /// Lines for people: figures that the scenario reports.
  std::vector<std::string> notes;
  /// A promise was broken, as it had to be, in a run beside this one that leaves what the promise assumes.
  bool brokenOutside = false;

  /// 1 or 2 with a violation, else 3 with an unmet expectation, without any, or without an admission; else 0.
  int exitCode() const;
};

/// The rule without which the story goes wrong, and the checker that must say so.
struct Twin {
  protocol::Rule rule{};
  checkers::Checker checker = checkers::Checker::exclusion;
};

struct Scenario {
  std::string_view name;   ///< "S-22-recall-in-flight-commit"; starts with the id of the specification.
  std::string_view rules;  ///< Ids of the rules it is about: "DR-3, DR-4".
  std::string_view story;  ///< One sentence.
  std::vector<Twin> twins;
  ScenarioResult (*run)(ScenarioContext& context) = nullptr;
};

/// All scenarios in the order of their ids.
const std::vector<Scenario>& allScenarios();

/// The scenario of that name, or the only one whose name starts with `name` ("S-22" finds
/// "S-22-recall-in-flight-commit" unless there are several); null otherwise.
const Scenario* findScenario(std::string_view name);

/// The scenarios whose names start with `prefix`.
std::vector<const Scenario*> scenariosNamed(std::string_view prefix);

/// Runs it; an exception that leaves the story becomes an unmet expectation.
ScenarioResult runScenario(const Scenario& scenario, ScenarioContext& context);

/// Whether the twin went wrong as it must.
struct TwinResult {
  ScenarioResult result;
  bool reached = false;     ///< The named checker found a violation.
  std::string explanation;  ///< What was found instead, when it was not reached.

  /// 0 when reached, 3 otherwise.
  int exitCode() const { return reached ? 0 : 3; }
};

/// Runs the story with `twin.rule` switched off.
TwinResult runTwin(const Scenario& scenario, const Twin& twin, ScenarioContext context = {});

}  // namespace holdfast::scenarios
