#include "scenarios/run.hpp"

#include <fmt/format.h>

#include "scenarios/cluster.hpp"
#include "scenarios/swarm.hpp"

namespace holdfast::scenarios {
namespace {

// How many events pass between two looks at the progress callback.
constexpr std::uint64_t kProgressEvery = 65'536;

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

RunReport runPlan(const RunOptions& options, const protocol::Rules& rules, const Plan& plan,
                  ObservationSink* sink, RunProgress* progress) {
  ClusterSetup setup;
  setup.directory = makeDirectory(options);
  if (hasSpare(options)) {
    for (std::uint16_t i = 0; i + 1 < options.nodes; ++i) setup.members.push_back(NodeId{i});
  }
  setup.options = options;
  if (lineageIsScarce(options)) setup.options.protocol.lineageSets = 1;
  setup.options.protocol.tombstoneRetention = retentionOf(options);
  setup.rules = rules;
  setup.clocks = plan.clocks;
  setup.checkers = checkerOptionsFor(setup.options);
  Cluster cluster(std::move(setup));
  cluster.setSink(sink);
  cluster.load(plan);
  cluster.start();
  std::uint64_t nextLook = kProgressEvery;
  while (cluster.nextTime() <= plan.endAt && cluster.step()) {
    if (progress != nullptr && cluster.statistics().events >= nextLook) {
      nextLook = cluster.statistics().events + kProgressEvery;
      progress->reached(cluster.now(), cluster.statistics().events);
    }
  }
  cluster.advanceTo(plan.endAt);
  cluster.finish();
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
