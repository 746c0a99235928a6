#include "ablation/ablation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <span>

#include "explore/replay.hpp"
#include "explore/searches.hpp"
#include "scenarios/plan_file.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/sweep.hpp"

namespace holdfast::ablation {
namespace {

/// The finding by which checkers confirm the end of a path; nothing when they do not.
std::optional<Breakage> confirmed(const explore::World& world, const explore::Result& found) {
  Breakage breakage{Method::explorer, world.configuration().name, "", "", found.states, 1, found.path};
  const auto breach = static_cast<explore::Breach>(found.judgement.violation);
  const explore::Replayed run = explore::replay(world, found.path);
  if (!run.faithful) return std::nullopt;
  breakage.anomaly = breach == explore::Breach::none ? "stuck" : explore::nameOf(breach);
  for (const checkers::Finding& finding : run.findings.violations()) {
    if (obs::nameOf(finding.anomaly) == breakage.anomaly) breakage.checker = obs::nameOf(finding.checker);
  }
  if (breakage.checker.empty() && breach != explore::Breach::none) return std::nullopt;
  return breakage;
}

/// The shipped configurations that a rule is looked for in, from the quickest to search to the slowest. To
/// search the others as well, for each rule, would take many times as long.
std::vector<const explore::Configuration*> configurationsFor(protocol::Rule rule) {
  constexpr std::array kOfEpochs = {"epoch",       "epoch-minority",  "duel-crash",
                                    "epoch-dead",  "epoch-dead-lock", "epoch-loss",
                                    "epoch-crash", "epoch-lock",      "duel"};
  constexpr std::array kOfMaps = {"home-map", "home-map-removed", "home-map-fence", "home-map-lock",
                                  "home-map-own"};
  constexpr std::array kOthers = {"brief",   "relay", "lineage",    "cold-home", "drain", "local",
                                  "handoff", "drift", "long-lease", "again",     "crash", "loss"};
  const std::string_view name = protocol::nameOf(rule);
  std::span<const char* const> names = kOthers;
  if (name.starts_with("EP")) names = kOfEpochs;
  if (name.starts_with("HM")) names = kOfMaps;
  std::vector<const explore::Configuration*> ordered;
  std::ranges::transform(names, std::back_inserter(ordered), explore::findConfiguration);
  return ordered;
}

}  // namespace

std::string_view nameOf(Method method) {
  switch (method) {
    case Method::explorer:
      return "explorer";
    case Method::story:
      return "story";
    case Method::sweep:
      return "sweep";
  }
  return "?";
}

bool canBeExplored(protocol::Rule rule) {
  using protocol::Rule;
  // Nobody there re-creates a coordinator, fails to write, copies rows, calls on another worker, sends what
  // makes no sense, hears an answer late that another start was owed, has more than a table, leaves the
  // feature off, or judges what an unlocked write costs.
  constexpr std::array kIdle = {
      Rule::TK2_AdvanceOnReplacement, Rule::TK2_RetryAdvances,      Rule::DG7_DenialsLapse,
      Rule::LH5_NothingChecked,       Rule::LH5_OffIsUnavailable,   Rule::FR8_CopyIsNoRepair,
      Rule::BD1_CapsOverTables,       Rule::BD3_MalformedContained, Rule::BD3_MalformedPassed,
      Rule::EP14_NameTheStart,        Rule::BD5_OneCoordinator,     Rule::BD5_OwnerAnswers};
  if (std::ranges::find(kIdle, rule) != kIdle.end()) return false;
  const std::string_view name = protocol::nameOf(rule);
  return !name.starts_with("RT") && !name.starts_with("RA");
}

std::optional<Breakage> explore(protocol::Rule about, const protocol::Rules& rules, const Bounds& bounds) {
  std::optional<Breakage> shortest;
  for (const explore::Configuration* shipped : configurationsFor(about)) {
    explore::Configuration configuration = *shipped;
    configuration.rules = rules;
    const explore::World world(configuration);
    explore::Limits limits;
    limits.states = bounds.states;
    limits.reduce = true;
    limits.memoryBytes = std::uint64_t{1} << 30;
    limits.jobs = bounds.jobs;
    std::atomic<bool> interrupted = false;
    limits.interrupted = &interrupted;
    limits.progress = [&](const explore::Progress&) { interrupted = bounds.endsEarly && bounds.endsEarly(); };
    if (shortest) {
      // Only what is shorter is of interest now.
      if (shortest->path.size() <= 1) break;
      limits.depth = static_cast<std::uint32_t>(shortest->path.size() - 1);
    }
    const explore::Result result = explore::breadthFirst(world, limits);
    if (result.verdict != explore::Verdict::violated) continue;
    if (auto found = confirmed(world, result)) shortest = std::move(found);
  }
  return shortest;
}

std::vector<Breakage> tellStories(protocol::Rule rule) {
  std::vector<Breakage> breakages;
  for (const scenarios::Scenario& scenario : scenarios::allScenarios()) {
    for (const scenarios::Twin& twin : scenario.twins) {
      if (twin.rule != rule) continue;
      const scenarios::TwinResult told = scenarios::runTwin(scenario, twin);
      if (!told.reached) continue;
      for (const checkers::Finding& finding : told.result.report.findings.violations()) {
        if (finding.checker != twin.checker) continue;
        breakages.push_back({Method::story,
                             std::string(scenario.name),
                             std::string(obs::nameOf(finding.checker)),
                             std::string(obs::nameOf(finding.anomaly)),
                             1,
                             1,
                             {}});
        break;
      }
      break;
    }
  }
  return breakages;
}

scenarios::RunOptions workloadFor(protocol::Rule rule) {
  scenarios::RunOptions options;
  const std::string_view name = protocol::nameOf(rule);
  if (name.starts_with("HM")) options.protocol.membership = protocol::MembershipKind::homeMap;
  if (name.starts_with("RA")) {
    options.protocol.membership = protocol::MembershipKind::fixed;
    options.protocol.algorithm = protocol::LockAlgorithm::ricartAgrawala;
  }
  return options;
}

std::optional<Breakage> sweep(const protocol::Rules& rules, const scenarios::RunOptions& workload,
                              const Bounds& bounds) {
  /// Ends the sweep when it is asked to.
  class Stop : public scenarios::SweepProgress {
   public:
    explicit Stop(const Bounds& asked) : bounds_(asked) {}
    bool merged(const scenarios::SweepReport&) override { return !bounds_.endsEarly || !bounds_.endsEarly(); }

   private:
    const Bounds& bounds_;
  };
  Stop stop(bounds);
  scenarios::SweepOptions options;
  options.run = workload;
  options.rules = rules;
  options.count = bounds.seeds;
  options.jobs = bounds.jobs;
  options.stopOnFirst = true;
  options.mustReach = false;
  options.progress = &stop;
  const scenarios::SweepReport report = scenarios::sweep(options);
  for (const scenarios::FailedSeed& failed : report.failures) {
    if (failed.violations.empty()) continue;
    scenarios::RunOptions same = workload;
    same.seed = failed.seed;
    if (!scenarios::runSeed(same, {}).findings.violations().empty()) continue;
    const checkers::Finding& first = failed.violations.front();
    return Breakage{Method::sweep,
                    std::string(scenarios::kRandomWorkload),
                    std::string(obs::nameOf(first.checker)),
                    std::string(obs::nameOf(first.anomaly)),
                    failed.seed,
                    failed.seed,
                    {}};
  }
  return std::nullopt;
}

}  // namespace holdfast::ablation
