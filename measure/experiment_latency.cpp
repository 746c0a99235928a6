// How long a caller waits, by the path that its acquisition takes.
#include <fmt/format.h>

#include <algorithm>

#include "measure/experiments.hpp"

namespace holdfast::measure {
namespace {

constexpr std::uint32_t kSamples = 100;
constexpr std::uint32_t kRecoveries = 20;  // each takes a delegation's time

using Waits = std::vector<Duration>;

void addWaits(std::uint16_t p, const std::string& path, Waits waits, Table& table, Plot* plot) {
  std::sort(waits.begin(), waits.end());
  table.rows.push_back({Value::count(p), Value::text(path), Value::count(waits.size()),
                        Value::duration(percentile(waits, 50)), Value::duration(percentile(waits, 90)),
                        Value::duration(percentile(waits, 99)), Value::duration(percentile(waits, 100))});
  if (plot == nullptr || waits.empty()) return;
  Series series{path, {}};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    series.points.emplace_back(std::max<std::int64_t>(waits[i].ns, 1'000),
                               static_cast<std::int64_t>((i + 1) * 1'000 / waits.size()));
  }
  plot->series.push_back(std::move(series));
}

/// Keeps the wait if the acquisition took the path it is meant for.
void keep(const Lock& lock, obs::Path path, Waits& waits) {
  if (lock.admitted() && lock.path == path) waits.push_back(lock.waited);
}

void latencyOfDelegation(const Settings& settings, std::uint16_t p, Table& table, Plot* plot) {
  RigOptions options;
  options.nodes = p;
  options.keys = kSamples + 8;
  options.adjust = [](protocol::ProtocolOptions& o) { o.everDelegatedBits = 1U << 16; };
  Rig rig(settings, options);
  const NodeId a{0};
  const NodeId b{1};
  Waits virgin;
  Waits cached;
  Waits clean;
  Waits recovery;
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    const KeyId key{i};
    if (rig.cluster().homeOf(key) == a) continue;
    for (Waits* const waits : {&virgin, &cached}) {
      const Lock lock = rig.lock(a, key);
      keep(lock, waits == &virgin ? obs::Path::virgin : obs::Path::cached, *waits);
      rig.unlock(lock);
    }
  }
  const KeyId key{kSamples};
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    const Lock lock = rig.lock(i % 2 == 0 ? a : b, key);
    keep(lock, obs::Path::clean, clean);
    (void)rig.write(lock, i);
    rig.unlock(lock);
    rig.run(sim::milliseconds(500));
  }
  const KeyId lost{kSamples + 1};
  for (std::uint32_t i = 0; i < kRecoveries; ++i) {
    const NodeId holder = i % 2 == 0 ? a : b;
    const Lock lock = rig.lock(holder, lost);
    keep(lock, obs::Path::recovery, recovery);
    rig.unlock(lock);
    rig.cluster().crash(holder);
    rig.run(sim::seconds(1));
    rig.cluster().restart(holder);
    rig.run(rig.protocol().maxDelegation + rig.protocol().skew + sim::seconds(2));
  }
  addWaits(p, "cached", std::move(cached), table, plot);
  addWaits(p, "virgin", std::move(virgin), table, plot);
  addWaits(p, "clean handoff", std::move(clean), table, plot);
  addWaits(p, "recovery", std::move(recovery), table, plot);
  rig.close();
}

void latencyOfRicartAgrawala(const Settings& settings, std::uint16_t p, Table& table, Plot* plot) {
  RigOptions options;
  options.nodes = p;
  options.keys = 1;
  options.algorithm = protocol::LockAlgorithm::ricartAgrawala;
  Rig rig(settings, options);
  Waits waits;
  const std::uint32_t samples = p <= 12 ? kSamples : kSamples / 5;
  for (std::uint32_t i = 0; i < samples; ++i) {
    const Lock lock = rig.lock(NodeId{static_cast<std::uint16_t>(i % 2)}, KeyId{0});
    keep(lock, obs::Path::clean, waits);
    rig.unlock(lock);
    rig.run(sim::milliseconds(500));
  }
  addWaits(p, "Ricart-Agrawala", std::move(waits), table, plot);
  rig.close();
}

}  // namespace

Measurement measureLatency(const Settings& settings) {
  Table table{"Waits from call to admission", {"P", "path", "locks", "50 %", "90 %", "99 %", "longest"}, {}};
  Measurement measurement;
  for (const std::uint16_t p : settings.nodes) {
    Plot plot{fmt::format("Waits at P = {}", p),
              {"wait", Value::Kind::duration, true},
              {"locks that waited no longer", Value::Kind::permille, false},
              {}};
    latencyOfDelegation(settings, p, table, &plot);
    latencyOfRicartAgrawala(settings, p, table, &plot);
    measurement.plots.push_back(std::move(plot));
  }
  measurement.tables.push_back(std::move(table));
  return measurement;
}

}  // namespace holdfast::measure
