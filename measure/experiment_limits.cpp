// What a membership costs, what happens at the caps, and what is left while a node is down.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "measure/experiments.hpp"

namespace holdfast::measure {
namespace {

// ---- Renewal ----------------------------------------------------------------------------------------------

Spent tenQuietMinutes(const Settings& settings, std::uint16_t p, Duration renewEvery) {
  RigOptions options;
  options.nodes = p;
  options.keys = 1;
  options.adjust = [=](protocol::ProtocolOptions& o) {
    o.renewEvery = renewEvery;
    o.epochLease = renewEvery * 3 + sim::seconds(10);
  };
  Rig rig(settings, options);
  const Spent before = rig.spent();
  rig.run(sim::minutes(10));
  rig.close();
  return rig.spent().since(before);
}

// ---- Caps -------------------------------------------------------------------------------------------------

struct Asked {
  std::uint64_t asked = 0;
  std::uint64_t admitted = 0;
  std::uint64_t capacity = 0;
};

/// `node` asks for the first `count` keys of `home`, waits a second for each, and leaves it again.
Asked askForKeys(Rig& rig, NodeId node, NodeId home, std::uint32_t from, std::uint32_t count) {
  Asked seen;
  for (std::uint32_t i = from; i < from + count; ++i) {
    const auto key = rig.keyOf(home, i);
    if (!key) throw std::runtime_error("the home has too few keys");
    const Lock lock = rig.lock(node, *key, sim::milliseconds(300), sim::seconds(1));
    ++seen.asked;
    seen.admitted += lock.admitted() ? 1U : 0U;
    seen.capacity += lock.cause == Cause::capacity ? 1U : 0U;
    if (lock.admitted()) rig.unlock(lock);
  }
  return seen;
}

// ---- One node down ----------------------------------------------------------------------------------------

struct Availability {
  std::uint64_t asked = 0;
  std::uint64_t admitted = 0;
};

/// The last node dies; each key is asked for by one of the others.
Availability withOneDown(const Settings& settings, protocol::LockAlgorithm algorithm, std::uint16_t p,
                         std::uint32_t keys) {
  RigOptions options;
  options.nodes = p;
  options.keys = keys;
  options.algorithm = algorithm;
  Rig rig(settings, options);
  rig.cluster().crash(NodeId{static_cast<std::uint16_t>(p - 1)});
  Availability seen;
  for (std::uint32_t i = 0; i < keys; ++i) {
    const NodeId node{static_cast<std::uint16_t>(i % (p - 1U))};
    rig.ask(node, KeyId{i}, sim::seconds(5), sim::seconds(1), [&](const Lock& lock) {
      ++seen.asked;
      seen.admitted += lock.admitted() ? 1U : 0U;
      if (lock.admitted()) rig.unlock(lock);
    });
  }
  rig.run(sim::seconds(10));
  rig.close();
  return seen;
}

}  // namespace

Measurement measureRenewal(const Settings& settings) {
  Table table{"Ten quiet minutes of a membership",
              {"P", "renewed every", "messages a second", "a node", "records made durable"},
              {}};
  Plot plot{"Renewals of a membership",
            {"participants", Value::Kind::count, true},
            {"messages a second", Value::Kind::milli, true},
            {}};
  for (const Duration every : {sim::seconds(2), sim::seconds(10), sim::seconds(30)}) {
    plot.series.push_back({fmt::format("every {} s", every.ns / 1'000'000'000), {}});
    for (const std::uint16_t p : settings.nodes) {
      // The shortest period is measured where it stays affordable.
      if (p > 63 && every < sim::seconds(10)) continue;
      const Spent spent = tenQuietMinutes(settings, p, every);
      const Value rate = Value::perSecond(spent.renewals, sim::minutes(10));
      table.rows.push_back({Value::count(p), Value::duration(every), rate,
                            Value::perSecond(spent.renewals / p, sim::minutes(10)),
                            Value::count(spent.records)});
      plot.series.back().points.emplace_back(p, rate.number);
    }
  }
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.plots.push_back(std::move(plot));
  measurement.remarks.emplace_back(
      "Each node asks every other one and is answered: 2 P (P-1) messages a period, and nothing durable. "
      "Ricart-Agrawala has no membership to renew.");
  return measurement;
}

Measurement measureCaps(const Settings& settings) {
  RigOptions options;
  options.nodes = 3;
  options.adjust = [](protocol::ProtocolOptions& o) {
    o.grantsPerTable = 8;
    o.grantsPerRequester = 6;
    o.everDelegatedBits = 1U << 16;
  };
  Rig rig(settings, options);
  const NodeId home{2};
  Table table{"A home that may have 8 grants a table and 6 a requester",
              {"what", "asked", "admitted", "refused: capacity"},
              {}};
  const auto add = [&](const char* what, const Asked& seen) {
    table.rows.push_back({Value::text(what), Value::count(seen.asked), Value::count(seen.admitted),
                          Value::count(seen.capacity)});
  };
  add("A asks for ten keys", askForKeys(rig, NodeId{0}, home, 0, 10));
  add("A asks again for the first six", askForKeys(rig, NodeId{0}, home, 0, 6));
  add("B asks for five others", askForKeys(rig, NodeId{1}, home, 10, 5));
  rig.run(rig.protocol().maxDelegation + rig.protocol().skew + sim::seconds(1));
  add("B asks for these once the delegations have ended", askForKeys(rig, NodeId{1}, home, 10, 5));
  rig.close();
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.remarks.emplace_back(
      "A refusal is a retryable 503; no grant is forgotten to make room, and delegates go on meanwhile.");
  return measurement;
}

Measurement measureOneDown(const Settings& settings) {
  Table table{"One node is down: locks of keys that nobody holds, asked for by the others",
              {"P", "protocol", "asked", "admitted", "share"},
              {}};
  Plot plot{"Locks admitted while one node is down",
            {"participants", Value::Kind::count, true},
            {"admitted", Value::Kind::permille, false},
            {}};
  using protocol::LockAlgorithm;
  for (const LockAlgorithm algorithm : {LockAlgorithm::delegation, LockAlgorithm::ricartAgrawala}) {
    const std::string name = algorithm == LockAlgorithm::delegation ? "delegation" : "Ricart-Agrawala";
    plot.series.push_back({name, {}});
    for (const std::uint16_t p : settings.nodes) {
      const Availability seen = withOneDown(settings, algorithm, p, p <= 48 ? 192 : 48);
      const Value share = Value::share(seen.admitted, seen.asked);
      table.rows.push_back(
          {Value::count(p), Value::text(name), Value::count(seen.asked), Value::count(seen.admitted), share});
      plot.series.back().points.emplace_back(p, share.number);
    }
  }
  Measurement measurement;
  measurement.tables.push_back(std::move(table));
  measurement.plots.push_back(std::move(plot));
  measurement.remarks.emplace_back(
      "The delegation protocol loses the keys that are homed at the node, one in P on average, and with "
      "agreed "
      "epochs only until the members have gone on without it. Ricart-Agrawala loses every key (RA-6).");
  return measurement;
}

}  // namespace holdfast::measure
