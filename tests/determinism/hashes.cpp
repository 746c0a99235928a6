// Prints the hash chain of every directed scenario, and of a short sweep of each membership with one worker
// and with two: what has to be the same whoever compiled it. It links no more than it has to, so that each
// compiler and each kind of build can have it.
#include <fmt/format.h>

#include <cstdio>

#include "scenarios/scenarios.hpp"

namespace holdfast {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::uint64_t kSeeds = 8;

void printScenarios() {
  for (const scenarios::Scenario& scenario : scenarios::allScenarios()) {
    scenarios::ScenarioContext context;
    context.seed = kSeed;
    const scenarios::ScenarioResult result = scenario.run(context);
    fmt::print("{} ends in {} with {:016x}\n", scenario.name, result.exitCode(), result.report.hash);
  }
}

void printSweeps() {
  using protocol::MembershipKind;
  for (const auto kind : {MembershipKind::epoch, MembershipKind::homeMap, MembershipKind::fixed}) {
    for (const unsigned jobs : {1U, 2U}) {
      scenarios::SweepOptions options;
      options.run.protocol.membership = kind;
      options.count = kSeeds;
      options.jobs = jobs;
      options.mustReach = false;
      const scenarios::SweepReport report = scenarios::sweep(options);
      fmt::print("{} seeds of {}, {} at a time: {} held, {} events, {:016x}\n", report.ran, obs::nameOf(kind),
                 jobs, report.held, report.events, report.hash);
    }
  }
}

}  // namespace
}  // namespace holdfast

int main() {
  holdfast::printScenarios();
  holdfast::printSweeps();
  return std::fflush(stdout) == 0 ? 0 : 1;
}
