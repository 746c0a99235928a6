// Keys that nobody holds, recovery behind a backlog, repeats under a delegation, writes without locks.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "measure/experiments.hpp"
#include "measure/lone_node.hpp"

namespace holdfast::measure {
namespace {

std::string nameOf(protocol::LockAlgorithm algorithm) {
  return algorithm == protocol::LockAlgorithm::delegation ? "delegation" : "Ricart-Agrawala";
}

// ---- Cold keys --------------------------------------------------------------------------------------------

/// The time in which node 0 locks `keys` cold keys, `atOnce` of them under way at any time.
Duration lockColdKeys(const Settings& settings, protocol::LockAlgorithm algorithm, std::uint16_t p,
                      std::uint32_t keys, std::uint32_t atOnce) {
  RigOptions options;
  options.nodes = p;
  options.keys = keys;
  options.algorithm = algorithm;
  options.adjust = [](protocol::ProtocolOptions& o) { o.everDelegatedBits = 1U << 16; };
  Rig rig(settings, options);
  const sim::TrueInstant begun = rig.now();
  std::uint32_t next = 0;
  std::uint32_t done = 0;
  std::function<void()> lockNext = [&] {
    if (next == keys) return;
    rig.ask(NodeId{0}, KeyId{next++}, sim::minutes(10), sim::seconds(60), [&](const Lock& lock) {
      rig.unlock(lock);
      ++done;
      lockNext();
    });
  };
  for (std::uint32_t i = 0; i < atOnce; ++i) lockNext();
  while (done < keys) rig.run(sim::microseconds(100));
  const Duration time = rig.now() - begun;
  rig.close();
  return time;
}

// ---- Backlog ----------------------------------------------------------------------------------------------

/// How long recovery takes while the acquirer has `backlog` entries of another node to apply, a millisecond
/// each.
Duration recoverBehind(const Settings& settings, std::uint32_t backlog) {
  RigOptions options;
  options.nodes = 5;
  Rig rig(settings, options);
  const NodeId holder{0};
  const NodeId acquirer{1};
  const NodeId writer{3};
  const KeyId key = rig.keyOf(NodeId{2}).value_or(KeyId{0});
  rig.unlock(rig.lock(holder, key));
  rig.cluster().crash(holder);
  rig.run(sim::seconds(1));
  rig.cluster().restart(holder);
  rig.run(rig.protocol().maxDelegation + rig.protocol().skew + sim::seconds(1));
  rig.cluster().setApplyDelay(acquirer, writer, sim::milliseconds(1));
  std::uint32_t settled = 0;
  for (std::uint32_t i = 0; i < backlog; ++i) {
    rig.submit(writer, KeyId{60}, obs::CallId{}, i, [&](bool) { ++settled; });
  }
  while (settled < backlog) rig.run(sim::microseconds(100));
  const Lock lock = rig.lock(acquirer, key);
  rig.close();
  if (lock.path != obs::Path::recovery) throw std::runtime_error("the acquisition was no recovery");
  return lock.waited;
}

// ---- Repeated locks ---------------------------------------------------------------------------------------

/// How many allocations one node alone makes while it locks and unlocks a key `locks` times under one
/// delegation; before that it has done so a thousand times.
std::uint64_t allocationsOf(std::uint64_t locks, std::uint64_t (*allocations)()) {
  LoneNode node;
  for (int i = 0; i < 1'000; ++i) node.lockAndUnlock();
  const std::uint64_t before = allocations();
  for (std::uint64_t i = 0; i < locks; ++i) node.lockAndUnlock();
  return allocations() - before;
}

// ---- Unlocked writes --------------------------------------------------------------------------------------

struct Unlocked {
  Duration time;
  Spent spent;
  Cause lockCause = Cause::none;
};

constexpr std::uint32_t kWrites = 1'000;

Unlocked writeUnlocked(const Settings& settings, protocol::LockAlgorithm algorithm, bool enabled) {
  RigOptions options;
  options.nodes = 5;
  options.algorithm = algorithm;
  options.adjust = [=](protocol::ProtocolOptions& o) { o.enabled = enabled; };
  Rig rig(settings, options);
  Unlocked result;
  const Spent before = rig.spent();
  const sim::TrueInstant begun = rig.now();
  for (std::uint32_t i = 0; i < kWrites; ++i) {
    (void)rig.writeUnlocked(NodeId{static_cast<std::uint16_t>(i % 5)}, KeyId{i % 64}, i);
  }
  result.time = rig.now() - begun;
  rig.run(sim::seconds(1));
  result.spent = rig.spent().since(before);
  result.lockCause = rig.lock(NodeId{0}, KeyId{0}).cause;
  rig.close();
  return result;
}

}  // namespace

Measurement measureColdKeys(const Settings& settings) {
  Table table{"One node locks keys that nobody has locked before",
              {"P", "protocol", "keys", "1 at a time", "8 at a time", "64 at a time"},
              {}};
  Plot plot{"Cold keys that one node locks in a second, 8 at a time",
            {"participants", Value::Kind::count, true},
            {"keys a second", Value::Kind::milli, true},
            {}};
  for (const auto algorithm :
       {protocol::LockAlgorithm::delegation, protocol::LockAlgorithm::ricartAgrawala}) {
    plot.series.push_back({nameOf(algorithm), {}});
    for (const std::uint16_t p : settings.nodes) {
      const std::uint32_t keys = p <= 12 ? 256 : 64;
      std::vector<Value> row{Value::count(p), Value::text(nameOf(algorithm)), Value::count(keys)};
      for (const std::uint32_t atOnce : {1U, 8U, 64U}) {
        row.push_back(Value::perSecond(keys, lockColdKeys(settings, algorithm, p, keys, atOnce)));
        if (atOnce == 8) plot.series.back().points.emplace_back(p, row.back().number);
      }
      table.rows.push_back(std::move(row));
    }
  }
  table.title += ", keys a second";
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.plots.push_back(std::move(plot));
  return measurement;
}

Measurement measureBacklog(const Settings& settings) {
  Table table{
      "P = 5: recovery of a key behind entries of another node that are still to be applied, 1 ms each",
      {"backlog", "waited"},
      {}};
  Plot plot{"Recovery behind a backlog",
            {"entries to apply", Value::Kind::count, true},
            {"wait", Value::Kind::duration, true},
            {{"recovery", {}}}};
  for (const std::uint32_t backlog : {0U, 10U, 100U, 1'000U}) {
    const Duration waited = recoverBehind(settings, backlog);
    table.rows.push_back({Value::count(backlog), Value::duration(waited)});
    plot.series[0].points.emplace_back(backlog, waited.ns);
  }
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.plots.push_back(std::move(plot));
  measurement.remarks.emplace_back(
      "The barrier's own entry is behind the backlog in the writer's log, and the acquirer waits until that "
      "entry is visible (FR-9): recovery takes as long as applying what is ahead of it.");
  return measurement;
}

Measurement measureCached(const Settings& settings) {
  constexpr std::uint64_t kLocks = 10'000;
  RigOptions options;
  options.nodes = 5;
  options.adjust = [](protocol::ProtocolOptions& o) { o.maxDelegation = sim::seconds(60); };
  Rig rig(settings, options);
  const KeyId key = rig.keyOf(NodeId{2}).value_or(KeyId{0});
  rig.unlock(rig.lock(NodeId{0}, key));
  const Spent before = rig.spent();
  const std::uint64_t events = rig.cluster().statistics().events;
  const sim::TrueInstant begun = rig.now();
  std::uint64_t cached = 0;
  for (std::uint64_t i = 0; i < kLocks; ++i) {
    const Lock lock = rig.lock(NodeId{0}, key);
    cached += lock.path == obs::Path::cached ? 1U : 0U;
    rig.unlock(lock);
  }
  const Spent spent = rig.spent().since(before);
  Table table{"Repeated locks of one node under one delegation",
              {"locks", "cached", "simulated time", "commits", "deliveries", "messages", "inputs a lock",
               "allocations of the node"},
              {}};
  table.rows.push_back({Value::count(kLocks), Value::count(cached), Value::duration(rig.now() - begun),
                        Value::count(spent.commits), Value::count(spent.deliveries),
                        Value::count(spent.unicast + spent.barrier),
                        Value::ratio(rig.cluster().statistics().events - events, kLocks),
                        settings.allocations == nullptr
                            ? Value::text("not counted")
                            : Value::count(allocationsOf(kLocks, settings.allocations))});
  rig.close();
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.remarks.emplace_back(
      "Allocations are those of a node alone, without a simulator and checkers around it; the benchmark "
      "cachedLock counts those of the whole (./dev bench, docs/benchmarks.md).");
  return measurement;
}

Measurement measureDisabled(const Settings& settings) {
  Table table{fmt::format("P = 5: {} writes without a lock, one after the other", kWrites),
              {"feature", "time", "writes a second", "commits", "deliveries", "messages about locks",
               "what lock() answers"},
              {}};
  using protocol::LockAlgorithm;
  const std::array<std::pair<LockAlgorithm, bool>, 3> kinds{{{LockAlgorithm::delegation, false},
                                                             {LockAlgorithm::delegation, true},
                                                             {LockAlgorithm::ricartAgrawala, true}}};
  for (const auto& [algorithm, enabled] : kinds) {
    const Unlocked seen = writeUnlocked(settings, algorithm, enabled);
    const bool admitted = seen.lockCause == Cause::none;
    table.rows.push_back({Value::text(enabled ? nameOf(algorithm) : "off"), Value::duration(seen.time),
                          Value::perSecond(kWrites, seen.time), Value::count(seen.spent.commits),
                          Value::count(seen.spent.deliveries),
                          Value::count(seen.spent.unicast + seen.spent.barrier),
                          Value::text(admitted ? "admitted" : std::string(obs::nameOf(seen.lockCause)))});
  }
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  return measurement;
}

}  // namespace holdfast::measure
