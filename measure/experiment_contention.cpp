// A key that many nodes want at once: throughput, and who waits for how long (DG-10, RA-3).
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "measure/experiments.hpp"

namespace holdfast::measure {
namespace {

constexpr Duration kInside = sim::milliseconds(5);
constexpr Duration kOutside = sim::milliseconds(1);
constexpr Duration kTime = sim::seconds(20);
constexpr std::uint16_t kMostContenders = 12;

/// Nodes that each lock, write, unlock and come again.
struct Contenders {
  Rig& rig;
  KeyId key;
  std::vector<std::uint64_t> served;
  std::uint64_t sections = 0;
  std::uint64_t handoffs = 0;
  Duration longest;
  NodeId last = NodeId::none();

  Contenders(Rig& where, KeyId wanted, std::uint16_t contenders)
      : rig(where), key(wanted), served(contenders, 0) {}

  void contend(NodeId node) {
    rig.ask(node, key, sim::hours(1), sim::seconds(5), [this, node](const Lock& lock) {
      if (!lock.admitted()) {
        rig.after(kOutside, [this, node] { contend(node); });
        return;
      }
      ++sections;
      ++served[node.value];
      if (node != last) ++handoffs;
      last = node;
      longest = std::max(longest, lock.waited);
      rig.after(kInside, [this, lock] { write(lock); });
    });
  }

  void write(const Lock& lock) {
    rig.submit(lock.node, key, lock.call, static_cast<std::int64_t>(sections), [this, lock](bool) {
      rig.unlock(lock);
      rig.after(kOutside, [this, lock] { contend(lock.node); });
    });
  }
};

struct Contention {
  std::uint64_t sections = 0;
  std::uint64_t handoffs = 0;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  Duration longest;
};

Contention contend(const Settings& settings, protocol::LockAlgorithm algorithm, std::uint16_t contenders) {
  RigOptions options;
  options.nodes = kMostContenders + 1;
  options.algorithm = algorithm;
  Rig rig(settings, options);
  // The last node is the key's home and does not contend.
  const KeyId key = rig.keyOf(NodeId{kMostContenders}).value_or(KeyId{0});
  Contenders all(rig, key, contenders);
  for (std::uint16_t i = 0; i < contenders; ++i) all.contend(NodeId{i});
  rig.run(kTime);
  const auto [least, most] = std::ranges::minmax(all.served);
  rig.close();
  return {all.sections, all.handoffs, least, most, all.longest};
}

}  // namespace

Measurement measureHotKey(const Settings& settings) {
  Table table{fmt::format("P = {}: contenders of one key for 20 s, each inside for 5 ms and a commit",
                          kMostContenders + 1),
              {"protocol", "contenders", "locks a second", "handoffs", "locks a handoff", "longest wait",
               "served least", "served most"},
              {}};
  Plot throughput{"Locks a second on one hot key",
                  {"contenders", Value::Kind::count, false},
                  {"locks a second", Value::Kind::milli, false},
                  {}};
  Plot waits{"Longest wait on one hot key",
             {"contenders", Value::Kind::count, false},
             {"longest wait", Value::Kind::duration, true},
             {}};
  for (const auto algorithm :
       {protocol::LockAlgorithm::delegation, protocol::LockAlgorithm::ricartAgrawala}) {
    const std::string name =
        algorithm == protocol::LockAlgorithm::delegation ? "delegation" : "Ricart-Agrawala";
    throughput.series.push_back({name, {}});
    waits.series.push_back({name, {}});
    for (std::uint16_t contenders = 2; contenders <= kMostContenders; ++contenders) {
      const Contention seen = contend(settings, algorithm, contenders);
      const Value rate = Value::perSecond(seen.sections, kTime);
      table.rows.push_back({Value::text(name), Value::count(contenders), rate, Value::count(seen.handoffs),
                            Value::ratio(seen.sections, seen.handoffs), Value::duration(seen.longest),
                            Value::count(seen.least), Value::count(seen.most)});
      throughput.series.back().points.emplace_back(contenders, rate.number);
      waits.series.back().points.emplace_back(contenders, seen.longest.ns);
    }
  }
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.plots.push_back(std::move(throughput));
  measurement.plots.push_back(std::move(waits));
  return measurement;
}

}  // namespace holdfast::measure
