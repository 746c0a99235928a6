// A schedule of the explorer as something to run: a shipped configuration, and its steps in words.
//
// Contract: scheduleOf() gives only what can be executed with the same rules, so that executing it takes
// exactly these steps, by nodes of its own, under the checkers' eyes.
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/finding.hpp"
#include "protocol/rules.hpp"
#include "scenarios/sink.hpp"

namespace holdfast::explore {
class World;
}

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

/// Plays schedules of one configuration that may have steps in them which can not happen.
class SchedulePlayer {
 public:
  /// `schedule`: as scheduleOf() gives it with the same rules.
  SchedulePlayer(const Schedule& schedule, const protocol::Rules& rules);
  SchedulePlayer(const SchedulePlayer&) = delete;
  SchedulePlayer& operator=(const SchedulePlayer&) = delete;
  ~SchedulePlayer();

  struct Played {
    std::vector<std::string> steps;  ///< Those that happened.
    checkers::Findings findings;
    bool stuck = false;  ///< In the end a caller waits, and nothing can happen any more, or all is as it was.
  };
  /// May be called from several threads at once.
  Played play(std::span<const std::string> steps) const;

 private:
  std::unique_ptr<explore::World> world_;
};

}  // namespace holdfast::cli
