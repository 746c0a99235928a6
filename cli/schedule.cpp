#include "cli/schedule.hpp"

#include <fmt/format.h>

#include <variant>

#include "cli/subject.hpp"
#include "cli/suggest.hpp"
#include "explore/replay.hpp"
#include "observations/hash_chain.hpp"
#include "scenarios/coverage.hpp"

namespace holdfast::cli {
namespace {

/// Writes the report of a run as it goes on.
class Witness {
 public:
  explicit Witness(scenarios::ObservationSink* sink) : sink_(sink) {}

  void on(const obs::Stamped& stamped) {
    const std::uint64_t chain = chain_.add(stamped);
    std::visit([&](const auto& what) { report_.coverage.add(what, stamped.node); }, stamped.what);
    if (std::holds_alternative<obs::MessageSent>(stamped.what)) ++report_.messages;
    if (sink_ != nullptr) sink_->observe(stamped, chain);
  }

  scenarios::RunReport report(const explore::Replayed& run, std::size_t steps) {
    report_.findings = run.findings;
    using checkers::Severity;
    report_.verdict =
        checkers::verdictOf(run.findings.count(Severity::safety),
                            run.findings.count(Severity::liveness) + (run.stuck || run.loop ? 1 : 0),
                            report_.coverage.admissions(), 0);
    report_.hash = chain_.value();
    report_.observations = chain_.count();
    report_.events = steps;
    report_.simulated = run.end - obs::TrueInstant{};
    return std::move(report_);
  }

 private:
  scenarios::ObservationSink* sink_;
  obs::HashChain chain_;
  scenarios::RunReport report_;
};

explore::Configuration configurationOf(std::string_view scenario, const protocol::Rules& rules) {
  explore::Configuration configuration =
      *explore::findConfiguration(std::string(scenario.substr(kExplored.size())));
  configuration.rules = rules;
  return configuration;
}

}  // namespace

std::expected<Schedule, std::string> scheduleOf(std::string_view scenario, std::vector<std::string> steps,
                                                const protocol::Rules& rules) {
  const std::string name(scenario.substr(std::min(scenario.size(), kExplored.size())));
  if (!scenario.starts_with(kExplored) || explore::findConfiguration(name) == nullptr) {
    std::vector<std::string> known;
    for (const explore::Configuration& shipped : explore::configurations()) known.push_back(shipped.name);
    return std::unexpected(
        fmt::format("scenario: the explorer has no configuration '{}'{}; expected {} and "
                    "one of {}",
                    name.substr(0, 60), didYouMean(name, known), kExplored, fmt::join(known, ", ")));
  }
  const explore::World world(configurationOf(scenario, rules));
  if (auto path = explore::pathOf(world, steps); !path) return std::unexpected(path.error());
  return Schedule{std::string(scenario), explore::identityOf(world.configuration()),
                  world.configuration().summary, std::move(steps)};
}

Outcome execute(const Schedule& schedule, const protocol::Rules& rules, scenarios::ObservationSink* sink) {
  const explore::World world(configurationOf(schedule.scenario, rules));
  Witness witness(sink);
  Outcome outcome;
  const auto path = explore::pathOf(world, schedule.steps);
  if (!path) {
    outcome.unmet.push_back(path.error());
    return outcome;
  }
  const explore::Replayed run =
      explore::replay(world, *path, [&](const obs::Stamped& stamped) { witness.on(stamped); });
  outcome = outcomeOf(witness.report(run, path->size()));
  outcome.report.nodeNames = world.table().directory().names();
  for (const protocol::KeyInfo& key : world.table().directory().keys()) {
    outcome.report.keyNames.push_back(key.printable);
  }
  if (run.stuck) outcome.notes.emplace_back("in the end a caller waits, and nothing can happen any more");
  if (run.loop) {
    outcome.notes.push_back(
        fmt::format("steps {} to {} lead back to where they began, and a caller waits all the while",
                    *run.loop + 1, path->size()));
  }
  if (!run.faithful) outcome.unmet.emplace_back("the nodes did otherwise than the explorer's");
  return outcome;
}

SchedulePlayer::SchedulePlayer(const Schedule& schedule, const protocol::Rules& rules)
    : world_(std::make_unique<explore::World>(configurationOf(schedule.scenario, rules))) {}

SchedulePlayer::~SchedulePlayer() = default;

SchedulePlayer::Played SchedulePlayer::play(std::span<const std::string> steps) const {
  explore::Possible possible = explore::possibleOf(*world_, steps);
  explore::Replayed run = explore::replay(*world_, possible.path);
  return {std::move(possible.steps), std::move(run.findings), run.stuck || run.loop};
}

}  // namespace holdfast::cli
