// What the length of a delegation decides: how often a lock is acquired anew, and how long keys are
// unavailable when a holder or a home restarts.
#include <fmt/format.h>

#include <array>

#include "measure/experiments.hpp"

namespace holdfast::measure {
namespace {

constexpr std::array kCandidates = {sim::seconds(2),  sim::seconds(5),  sim::seconds(10),
                                    sim::seconds(20), sim::seconds(30), sim::seconds(60)};
constexpr std::array kGaps = {sim::milliseconds(500), sim::seconds(2), sim::seconds(10)};

RigOptions withDelegation(Duration maxDelegation) {
  RigOptions options;
  options.nodes = 5;
  options.adjust = [=](protocol::ProtocolOptions& o) { o.maxDelegation = maxDelegation; };
  return options;
}

/// The locks of ten minutes by one node with `gap` between them, and the share of those that sent a message:
/// for a delegation, or for its renewal.
Value acquiredAnew(const Settings& settings, Duration maxDelegation, Duration gap) {
  Rig rig(settings, withDelegation(maxDelegation));
  const KeyId key = rig.keyOf(NodeId{2}).value_or(KeyId{0});
  std::uint64_t locks = 0;
  std::uint64_t anew = 0;
  const sim::TrueInstant end = rig.now() + sim::minutes(10);
  while (rig.now() < end) {
    const Spent before = rig.spent();
    const Lock lock = rig.lock(NodeId{0}, key, sim::seconds(60), sim::seconds(1));
    ++locks;
    anew += rig.spent().since(before).unicast == 0 ? 0U : 1U;
    rig.unlock(lock);
    rig.run(gap);
  }
  rig.close();
  return Value::share(anew, locks);
}

/// How long another node waits for a key whose holder dies just after it was admitted.
Duration afterACrash(const Settings& settings, Duration maxDelegation) {
  Rig rig(settings, withDelegation(maxDelegation));
  const KeyId key = rig.keyOf(NodeId{2}).value_or(KeyId{0});
  (void)rig.lock(NodeId{0}, key);
  rig.cluster().crash(NodeId{0});
  const Lock next = rig.lock(NodeId{1}, key, sim::minutes(10));
  rig.close();
  return next.waited;
}

struct Restarted {
  Duration unavailable;      // of a key that nobody holds
  std::uint64_t cached = 0;  // admissions of a live delegate meanwhile
};

/// The home dies and is back at once; a node wants a key of it that nobody holds.
Restarted restartOfHome(const Settings& settings, Duration maxDelegation) {
  Rig rig(settings, withDelegation(maxDelegation));
  const NodeId home{2};
  const KeyId held = rig.keyOf(home, 0).value_or(KeyId{0});
  const KeyId wanted = rig.keyOf(home, 1).value_or(KeyId{1});
  rig.unlock(rig.lock(NodeId{0}, held));
  rig.cluster().crash(home);
  rig.cluster().restart(home);
  Restarted restarted;
  bool done = false;
  rig.ask(NodeId{1}, wanted, sim::minutes(10), sim::seconds(1), [&](const Lock& lock) {
    restarted.unavailable = lock.waited;
    done = true;
  });
  while (!done) {
    rig.ask(NodeId{0}, held, sim::milliseconds(50), sim::milliseconds(50), [&](const Lock& lock) {
      if (!lock.admitted()) return;
      ++restarted.cached;
      rig.unlock(lock);
    });
    rig.run(sim::milliseconds(100));
  }
  rig.close();
  return restarted;
}

}  // namespace

Measurement measureReacquisition(const Settings& settings) {
  Table table{"Locks of one node in ten minutes that took a message, by the pause between them",
              {"delegation", "every 0.5 s", "every 2 s", "every 10 s", "wait after a holder's crash"},
              {}};
  Plot plot{"Share of locks that took a message",
            {"delegation", Value::Kind::duration, true},
            {"took a message", Value::Kind::permille, false},
            {{"every 0.5 s", {}}, {"every 2 s", {}}, {"every 10 s", {}}}};
  for (const Duration maxDelegation : kCandidates) {
    std::vector<Value> row{Value::duration(maxDelegation)};
    for (std::size_t i = 0; i < kGaps.size(); ++i) {
      row.push_back(acquiredAnew(settings, maxDelegation, kGaps[i]));
      plot.series[i].points.emplace_back(maxDelegation.ns, row.back().number);
    }
    row.push_back(Value::duration(afterACrash(settings, maxDelegation)));
    table.rows.push_back(std::move(row));
  }
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.plots.push_back(std::move(plot));
  measurement.remarks.emplace_back(
      "A longer delegation saves acquisitions only as long as it is the delegation that ends, and costs its "
      "whole length and skew when a holder dies (DG-3).");
  return measurement;
}

Measurement measureQuarantine(const Settings& settings) {
  Table table{"A home restarts: how long a key of it that nobody holds is unavailable",
              {"delegation", "delegation and skew", "unavailable", "a restart a day",
               "admissions of a live delegate meanwhile"},
              {}};
  Plot plot{"Unavailable after a home's restart",
            {"delegation", Value::Kind::duration, true},
            {"unavailable", Value::Kind::duration, true},
            {{"a key that nobody holds", {}}}};
  for (const Duration maxDelegation : kCandidates) {
    const Restarted restarted = restartOfHome(settings, maxDelegation);
    const auto parts = static_cast<std::uint64_t>(restarted.unavailable.ns / 1'000'000);
    table.rows.push_back({Value::duration(maxDelegation), Value::duration(maxDelegation + sim::seconds(1)),
                          Value::duration(restarted.unavailable),
                          Value::text(fmt::format("{} ppm of the day", parts * 1'000 / 86'400)),
                          Value::count(restarted.cached)});
    plot.series[0].points.emplace_back(maxDelegation.ns, restarted.unavailable.ns);
  }
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.plots.push_back(std::move(plot));
  measurement.remarks.emplace_back(
      "Only keys that are homed at the restarted node, and that nobody holds, are concerned: a delegate that "
      "has its delegation goes on until that ends. Under Ricart-Agrawala there is no quarantine, because a "
      "holder itself grants its successor; a restart blocks every key for as long as the node is away.");
  return measurement;
}

}  // namespace holdfast::measure
