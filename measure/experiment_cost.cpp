// The cost table of section 13, measured: commits, deliveries and unicast messages of an acquisition (RA-5).
#include <fmt/format.h>

#include "measure/experiments.hpp"

namespace holdfast::measure {
namespace {

/// What section 13 says, and why it is not what is measured, if it is not.
struct Stated {
  std::uint64_t commits = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t unicast = 0;
  std::string why;
};

std::vector<Value> costRow(std::uint16_t p, const std::string& what, const Spent& spent, const Stated& stated,
                           Duration waited) {
  const std::uint64_t unicast = spent.unicast + spent.barrier;
  const bool same =
      spent.commits == stated.commits && spent.deliveries == stated.deliveries && unicast == stated.unicast;
  return {Value::count(p),
          Value::text(what),
          Value::count(spent.commits),
          Value::count(stated.commits),
          Value::count(spent.deliveries),
          Value::count(stated.deliveries),
          Value::count(unicast),
          Value::count(stated.unicast),
          Value::duration(waited),
          Value::text(same ? "as stated" : stated.why)};
}

/// Everything that one lock brings about, what follows its admission included.
Lock lockCounting(Rig& rig, NodeId node, KeyId key, Spent& spent) {
  const Spent before = rig.spent();
  const Lock lock = rig.lock(node, key);
  rig.unlock(lock);
  rig.run(sim::seconds(2));
  spent = rig.spent().since(before);
  return lock;
}

void costOfRicartAgrawala(const Settings& settings, std::uint16_t p, Table& table) {
  RigOptions options;
  options.nodes = p;
  options.keys = 1;
  options.algorithm = protocol::LockAlgorithm::ricartAgrawala;
  Rig rig(settings, options);
  const std::uint64_t n = p;
  Spent spent;
  for (const char* const what : {"Ricart-Agrawala, first", "Ricart-Agrawala, repeated"}) {
    const Lock lock = lockCounting(rig, NodeId{0}, KeyId{0}, spent);
    table.rows.push_back(costRow(p, what, spent, {n + 1, n * n - 1, 0, {}}, lock.waited));
  }
  rig.close();
}

void costOfDelegation(const Settings& settings, std::uint16_t p, Table& table) {
  RigOptions options;
  options.nodes = p;
  options.keys = 4 * std::uint32_t{p} + 16;
  Rig rig(settings, options);
  const NodeId a{0};
  const NodeId b{1};
  const std::uint64_t n = p;
  const auto remote = rig.keyOf(NodeId{2});
  const auto local = rig.keyOf(a);
  if (!remote || !local) throw std::runtime_error("a node is the home of no key");
  Spent spent;
  Lock lock = lockCounting(rig, a, *remote, spent);
  table.rows.push_back(costRow(p, "delegation, cold key", spent, {0, 0, 2, {}}, lock.waited));
  lock = lockCounting(rig, a, *remote, spent);
  table.rows.push_back(costRow(p, "delegation, repeated", spent, {0, 0, 0, {}}, lock.waited));
  lock = rig.lock(a, *remote);
  (void)rig.write(lock, 1);
  rig.unlock(lock);
  rig.run(sim::seconds(1));
  lock = lockCounting(rig, b, *remote, spent);
  table.rows.push_back(costRow(p, "delegation, handoff", spent, {1, n - 1, 3, {}}, lock.waited));
  lock = lockCounting(rig, a, *local, spent);
  table.rows.push_back(costRow(
      p, "delegation, cold key, own home", spent,
      {0, 0, 2, "the home is the requester, and a node talks to itself without the network"}, lock.waited));
  // B dies while its delegation runs; once that has expired A has to recover.
  rig.cluster().crash(b);
  rig.run(rig.protocol().maxDelegation + rig.protocol().skew + sim::seconds(1));
  lock = lockCounting(rig, a, *remote, spent);
  table.rows.push_back(costRow(
      p, "delegation, recovery", spent,
      {n - 1, 0, n - 1,
       "the acquirer needs no barrier in its own log, and the node that is down appends none: P-2 entries, "
       "each delivered to the P-2 peers that are up; of the messages P-1 are queries, P-2 are answers, and 2 "
       "are request and grant"},
      lock.waited));
  rig.close();
}

}  // namespace

Measurement measureCost(const Settings& settings) {
  Table table{"One uncontended acquisition, measured beside section 13",
              {"P", "acquisition", "commits", "stated", "deliveries", "stated", "unicast", "stated", "waited",
               "if they differ"},
              {}};
  for (const std::uint16_t p : settings.nodes) {
    costOfRicartAgrawala(settings, p, table);
    costOfDelegation(settings, p, table);
  }
  Plot plot{"Deliveries of one acquisition",
            {"participants", Value::Kind::count, true},
            {"deliveries", Value::Kind::count, true},
            {}};
  for (const char* const what : {"Ricart-Agrawala, repeated", "delegation, cold key", "delegation, repeated",
                                 "delegation, handoff", "delegation, recovery"}) {
    Series series{what, {}};
    for (const std::vector<Value>& row : table.rows) {
      if (row[1].words == what) series.points.emplace_back(row[0].number, row[4].number);
    }
    plot.series.push_back(std::move(series));
  }
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.plots.push_back(std::move(plot));
  measurement.remarks.emplace_back(
      "Of the P+1 commits under Ricart-Agrawala one is the request and P are grants, the requester's own "
      "among them: RA-1 asks every participant. Each is delivered to P-1 peers, which makes P*P-1. An "
      "implementation that leaves the requester's own grant out needs P commits and P*(P-1) deliveries.");
  measurement.remarks.emplace_back(
      "The recovery waits for the node that is down until it counts as unreachable (FR-8).");
  return measurement;
}

}  // namespace holdfast::measure
