// The shipped configurations, and what makes one impossible to explore.
#include <fmt/format.h>

#include <algorithm>

#include "explore/configuration.hpp"
#include "sim/random.hpp"

namespace holdfast::explore {
namespace {

Configuration twoNodes(std::string name, std::string summary) {
  Configuration c;
  c.name = std::move(name);
  c.summary = std::move(summary);
  c.clients = {{0, section(0)}, {1, section(0)}};
  return c;
}

Configuration brief(Configuration c) {
  c.ticks.wait = 2;
  c.ticks.grace = 0;
  return c;
}

std::vector<Configuration> shipped() {
  std::vector<Configuration> all;
  all.push_back(
      brief(twoNodes("brief", "2 nodes, 1 key; home and another lock once each; the shortest waits")));
  all.push_back(
      twoNodes("handoff", "2 nodes, 1 key; home and another lock once each; waits outlast a delegation"));

  Configuration lease = twoNodes("lease", "as handoff; waits and leases a tick longer");
  lease.ticks.wait = 4;
  lease.ticks.lease = 2;
  all.push_back(lease);

  Configuration drift = brief(twoNodes("drift", "as brief; clocks drift a tick apart, timers fire late"));
  drift.drift = 1;
  drift.ticks.skew = 2;
  drift.punctual = false;
  all.push_back(drift);

  Configuration loss =
      brief(twoNodes("loss", "as brief; one message is lost, another duplicated; requests are repeated"));
  loss.budgets.losses = 1;
  loss.budgets.duplicates = 1;
  loss.ticks.retry = 1;
  all.push_back(loss);

  Configuration drain = brief(twoNodes("drain", "both write; a commit may abort once or stay in flight"));
  drain.clients = {{1, section(0, true)}, {0, section(0, true)}};
  drain.budgets.aborts = 1;
  all.push_back(drain);

  Configuration crash = brief(twoNodes("crash", "as brief; either node crashes once and restarts"));
  crash.budgets.crashes = 1;
  all.push_back(crash);

  Configuration keys = brief(twoNodes("two-keys", "2 keys of one home; each node locks one of them"));
  keys.keys = 2;
  keys.clients = {{0, section(0)}, {1, section(1)}};
  all.push_back(keys);

  Configuration three = brief(twoNodes("three", "3 nodes; two that are not the home lock once each"));
  three.nodes = 3;
  three.clients = {{1, section(0)}, {2, section(0)}};
  all.push_back(three);
  return all;
}

}  // namespace

std::vector<ClientStep> section(std::uint8_t key, bool write) {
  std::vector<ClientStep> steps{{Act::lock, key}};
  if (write) {
    steps.push_back({Act::stage, key});
    steps.push_back({Act::submit, key});
  }
  steps.push_back({Act::unlock, key});
  return steps;
}

std::string whatIsWrong(const Configuration& c) {
  std::size_t calls = 0;
  std::size_t txns = 0;
  for (const Client& client : c.clients) {
    if (client.node >= c.nodes)
      return fmt::format("a client belongs to node {}, and there are {}", client.node, c.nodes);
    if (client.steps.empty() || client.steps.front().act != Act::lock)
      return "a client does not begin with a lock";
    for (const ClientStep& step : client.steps) {
      if (step.key >= c.keys) return fmt::format("a client uses key {}, and there are {}", step.key, c.keys);
      calls += step.act == Act::lock ? 1 : 0;
      txns += step.act == Act::stage ? 1 : 0;
    }
  }
  if (c.nodes < 2 || c.nodes > kMaxNodes)
    return fmt::format("{} nodes; 2 to {} can be explored", c.nodes, kMaxNodes);
  if (c.keys < 1 || c.keys > kMaxKeys)
    return fmt::format("{} keys; 1 to {} can be explored", c.keys, kMaxKeys);
  if (c.home >= c.nodes) return fmt::format("home {} is none of {} nodes", c.home, c.nodes);
  if (c.clients.empty() || c.clients.size() > kMaxClients) {
    return fmt::format("{} clients; 1 to {} can be explored", c.clients.size(), kMaxClients);
  }
  if (calls > kMaxCalls) return fmt::format("{} lock calls; at most {} can be explored", calls, kMaxCalls);
  if (txns > kMaxTxns) return fmt::format("{} transactions; at most {} can be explored", txns, kMaxTxns);
  const Ticks& t = c.ticks;
  if (t.delegation == 0 || t.wait == 0 || t.lease == 0 || t.barrier == 0) {
    return "delegation, wait, lease and barrier last at least a tick";
  }
  if (std::max({t.delegation + t.skew, int{t.wait}, int{t.lease}}) > 200)
    return "durations are at most 200 ticks";
  if (2 * c.drift > t.skew) {
    return fmt::format("clocks drift {} ticks apart either way, and a skew of {} does not cover that (CK-3)",
                       c.drift, t.skew);
  }
  return {};
}

std::string identityOf(const Configuration& c) {
  const Ticks& t = c.ticks;
  std::string text = fmt::format("{} nodes={} keys={} home={} drift={} punctual={}", c.name, c.nodes, c.keys,
                                 c.home, c.drift, c.punctual);
  text += fmt::format(" ticks={},{},{},{},{},{},{},{},{},{},{}", t.delegation, t.skew, t.minUseful, t.wait,
                      t.lease, t.retry, t.recall, t.tenure, t.grace, t.barrier, t.margin);
  text += fmt::format(" budgets={},{},{},{},{}", c.budgets.losses, c.budgets.duplicates, c.budgets.crashes,
                      c.budgets.cuts, c.budgets.aborts);
  for (const Client& client : c.clients) {
    text += fmt::format(" client={}:", client.node);
    for (const ClientStep& step : client.steps) {
      text += fmt::format("{}{}", static_cast<int>(step.act), step.key);
    }
  }
  for (std::size_t i = 0; i < protocol::kRuleCount; ++i) {
    const auto rule = static_cast<protocol::Rule>(i);
    if (!c.rules.on(rule)) text += fmt::format(" without={}", protocol::nameOf(rule));
  }
  return text;
}

const std::vector<Configuration>& configurations() {
  static const std::vector<Configuration> all = shipped();
  return all;
}

const Configuration* findConfiguration(const std::string& name) {
  for (const Configuration& configuration : configurations()) {
    if (configuration.name == name) return &configuration;
  }
  return nullptr;
}

}  // namespace holdfast::explore
