// The whole stack: protocol nodes on the simulated cluster with all checkers on and no trace.

#include <benchmark/benchmark.h>

#include <memory>

#include "measure/allocations.hpp"
#include "measure/lone_node.hpp"
#include "protocol/canonical_key.hpp"
#include "scenarios/cluster.hpp"
#include "scenarios/run.hpp"

namespace holdfast::bench {
namespace {

using measure::allocationsSoFar;
using scenarios::RunOptions;
using scenarios::RunReport;

/// Seeds of the default sweep, one after the other on one core: events/s is `items_per_second` (the bar is 3
/// M), `simulated/real` how much faster than real time they ran (the bar is 20,000), `seeds/min` the sweep's
/// rate.
void defaultSeeds(benchmark::State& state) {
  RunOptions options;
  options.seed = 1;
  std::uint64_t events = 0;
  std::int64_t simulatedNs = 0;
  std::uint64_t observations = 0;
  for (auto _ : state) {
    const RunReport report = scenarios::runSeed(options, protocol::Rules{});
    events += report.events;
    observations += report.observations;
    simulatedNs += report.simulated.ns;
    ++options.seed;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.counters["simulated/real"] =
      benchmark::Counter(static_cast<double>(simulatedNs) * 1e-9, benchmark::Counter::kIsRate);
  state.counters["seeds/min"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 60.0, benchmark::Counter::kIsRate);
  state.counters["events/seed"] = static_cast<double>(events) / static_cast<double>(state.iterations());
  state.counters["observations/event"] = static_cast<double>(observations) / static_cast<double>(events);
}
BENCHMARK(defaultSeeds)->Unit(benchmark::kMillisecond);

/// A cluster of three nodes in which nothing goes wrong, started and settled.
std::unique_ptr<scenarios::Cluster> quietCluster() {
  scenarios::ClusterSetup setup;
  const auto bytes = protocol::canonicalKey("db", "accounts", protocol::KeyPart{std::string("k")});
  setup.directory = std::make_shared<const protocol::Directory>(
      std::vector<std::string>{"A", "B", "C"}, std::vector<protocol::KeyInfo>{{"accounts/k", *bytes, 0}});
  setup.options.nodes = 3;
  setup.options.keys = 1;
  // The cached path alone: one delegation for the whole benchmark, and no traffic beside it.
  setup.options.protocol.maxDelegation = sim::hours(1'000'000);
  setup.options.protocol.epochLease = sim::hours(1'000'000);
  setup.options.protocol.renewEvery = sim::hours(900'000);
  auto cluster = std::make_unique<scenarios::Cluster>(std::move(setup));
  cluster->start();
  cluster->runUntil(sim::TrueInstant{} + sim::seconds(1));
  return cluster;
}

/// lock() and unlock() under a live delegation: no message, no commit, and no allocation in steady state.
void cachedLock(benchmark::State& state) {
  const auto cluster = quietCluster();
  const obs::NodeId node{1};
  std::uint64_t locked = 0;
  const auto lockOnce = [&] {
    const obs::CallId call = cluster->newCall();
    cluster->call(node, protocol::CallLock{call, obs::KeyId{0}, sim::seconds(5), sim::seconds(5), true, 0});
    cluster->runUntil(cluster->now() + sim::milliseconds(1));
    cluster->call(node, protocol::CallUnlock{call});
    cluster->runUntil(cluster->now() + sim::milliseconds(1));
    ++locked;
  };
  for (int i = 0; i < 1'000; ++i) lockOnce();
  cluster->runUntil(cluster->now() + sim::seconds(1));
  const std::uint64_t messages = cluster->statistics().messages;
  const std::uint64_t before = allocationsSoFar();
  locked = 0;
  for (auto _ : state) lockOnce();
  state.SetItemsProcessed(static_cast<std::int64_t>(2 * locked));
  state.counters["allocations/event"] =
      static_cast<double>(allocationsSoFar() - before) / static_cast<double>(2 * locked);
  state.counters["messages/lock"] =
      static_cast<double>(cluster->statistics().messages - messages) / static_cast<double>(locked);
}
BENCHMARK(cachedLock);

/// One node's handle() and nothing else: what the protocol itself costs on the cached path.
void nodeCachedLock(benchmark::State& state) {
  measure::LoneNode node;
  for (int i = 0; i < 1'000; ++i) node.lockAndUnlock();
  const std::uint64_t before = allocationsSoFar();
  for (auto _ : state) node.lockAndUnlock();
  state.SetItemsProcessed(2 * state.iterations());
  state.counters["allocations/event"] =
      static_cast<double>(allocationsSoFar() - before) / static_cast<double>(2 * state.iterations());
}
BENCHMARK(nodeCachedLock);

}  // namespace
}  // namespace holdfast::bench
