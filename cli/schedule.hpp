// A schedule of the explorer as something to run: a shipped configuration, and its steps in words.
//
// Contract: scheduleOf() gives only what can be executed with the same rules, so that executing it takes
// exactly these steps, by nodes of its own, under the checkers' eyes.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/rules.hpp"
#include "scenarios/sink.hpp"

namespace holdfast::cli {

struct Outcome;

/// What the name of each schedule's scenario begins with, before that of its configuration.
inline constexpr std::string_view kExplored = "explore/";

struct Schedule {
  std::string scenario;      ///< "explore/brief"
  std::string identity;      ///< Everything that shapes the configuration, in one line.
  std::string announcement;  ///< What goes on in the configuration.
  std::vector<std::string> steps;
};

/// The error begins with the member that it is about: "scenario: ..." or "steps[3]: ...".
std::expected<Schedule, std::string> scheduleOf(std::string_view scenario, std::vector<std::string> steps,
                                                const protocol::Rules& rules);

/// Takes the steps and judges what was observed. `sink` may be null.
Outcome execute(const Schedule& schedule, const protocol::Rules& rules, scenarios::ObservationSink* sink);

}  // namespace holdfast::cli
