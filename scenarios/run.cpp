#include "scenarios/run.hpp"

#include <fmt/format.h>

#include "scenarios/cluster.hpp"
#include "scenarios/swarm.hpp"

namespace holdfast::scenarios {
namespace {

// How many events pass between two looks at the progress callback: some milliseconds at most.
constexpr std::uint64_t kProgressEvery = 1'024;

/// The options of a run with what its seed draws of them.
RunOptions asDrawn(RunOptions options) {
  const Duration retention = retentionOf(options);
  if (lineageIsScarce(options)) options.protocol.lineageSets = 1;
  options.protocol.tombstoneRetention = retention;
  return options;
}

}  // namespace

RunReport reportOf(const Cluster& cluster, std::uint64_t seed) {
  RunReport report;
  report.seed = seed;
  report.verdict = cluster.checkers().verdict();
  report.healedInVain = cluster.healedInVain();
  report.stillWaiting = cluster.checkers().stillWaiting();
  const bool unsettled = report.healedInVain || report.stillWaiting > 0;
  if (report.verdict == checkers::Verdict::held && unsettled) {
    report.verdict = checkers::Verdict::inconclusive;
  }
  report.findings = cluster.checkers().findings();
  report.coverage = cluster.coverage();
  report.costs = cluster.checkers().costs();
  report.hash = cluster.chain().value();
  report.observations = cluster.chain().count();
  report.events = cluster.statistics().events;
  report.messages = cluster.statistics().messages;
  report.simulated = cluster.now() - TrueInstant{};
  report.nodeNames = cluster.directory().names();
  for (const protocol::KeyInfo& key : cluster.directory().keys()) report.keyNames.push_back(key.printable);
  return report;
}

namespace {

/// The report of a cluster whose run goes on no more.
RunReport cutReportOf(const Cluster& cluster, std::uint64_t seed) {
  RunReport report = reportOf(cluster, seed);
  report.stopped = true;
  if (report.verdict == checkers::Verdict::held) report.verdict = checkers::Verdict::inconclusive;
  return report;
}

}  // namespace

checkers::CheckerOptions checkerOptionsOfRun(const RunOptions& options) {
  return checkerOptionsFor(asDrawn(options));
}

RunReport runPlan(const RunOptions& options, const protocol::Rules& rules, const Plan& plan,
                  ObservationSink* sink, RunProgress* progress) {
  ClusterSetup setup;
  setup.directory = makeDirectory(options);
  if (hasSpare(options)) {
    for (std::uint16_t i = 0; i + 1 < options.nodes; ++i) setup.members.push_back(NodeId{i});
  }
  setup.options = asDrawn(options);
  setup.rules = rules;
  setup.clocks = plan.clocks;
  setup.checkers = checkerOptionsFor(setup.options);
  Cluster cluster(std::move(setup));
  cluster.setSink(sink);
  cluster.load(plan);
  cluster.start();
  std::uint64_t nextLook = 0;
  while (cluster.nextTime() <= plan.endAt && cluster.step()) {
    if (progress == nullptr || cluster.statistics().events < nextLook) continue;
    nextLook = cluster.statistics().events + kProgressEvery;
    if (!progress->reached(cluster.now(), cluster.statistics().events))
      return cutReportOf(cluster, options.seed);
  }
  cluster.advanceTo(plan.endAt);
  if (!cluster.finish(progress)) return cutReportOf(cluster, options.seed);
  return reportOf(cluster, options.seed);
}

RunReport runSeed(const RunOptions& options, const protocol::Rules& rules, ObservationSink* sink,
                  RunProgress* progress) {
  return runPlan(options, rules, drawPlan(options), sink, progress);
}

KnownEnd knownEndOf(const RunReport& report) {
  KnownEnd known;
  known.verdict = report.verdict;
  known.violations = checkers::signaturesOf(report.findings);
  for (std::size_t i = 1; i < checkers::kRoutes; ++i) {
    const auto route = static_cast<checkers::Route>(i);
    if (report.findings.count(route) > 0) known.limitations.push_back(route);
  }
  known.traceHash = fmt::format("{:016x}", report.hash);
  return known;
}

}  // namespace holdfast::scenarios
