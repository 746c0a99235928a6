// The shipped configurations, and what makes one impossible to explore.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

/// Requests are repeated each tick, for what is lost must be asked for again.
Configuration faulty(Configuration c, std::uint8_t losses, std::uint8_t crashes) {
  c.budgets.losses = losses;
  c.budgets.crashes = crashes;
  c.ticks.retry = 1;
  return c;
}

Configuration withClients(Configuration c, std::uint8_t nodes, std::uint8_t keys,
                          std::vector<Client> clients) {
  c.nodes = nodes;
  c.keys = keys;
  c.clients = std::move(clients);
  return c;
}

/// One key, handed on by the shortest programs.
void addHandoffs(std::vector<Configuration>& all) {
  all.push_back(
      brief(twoNodes("brief", "2 nodes, 1 key; home and another lock once each; the shortest waits")));
  all.push_back(
      twoNodes("handoff", "2 nodes, 1 key; home and another lock once each; waits outlast a delegation"));

  Configuration lease = twoNodes("lease", "as handoff; waits and leases a tick longer");
  lease.ticks.wait = 4;
  lease.ticks.lease = 2;
  all.push_back(lease);

  Configuration longLease =
      brief(twoNodes("long-lease", "as brief; callers want a lease that outlasts a delegation"));
  longLease.ticks.lease = 4;
  longLease.ticks.wait = 5;
  longLease.late = 1;
  all.push_back(longLease);

  Configuration local = brief(twoNodes("local", "as brief; the node that is not the home has two callers"));
  local.clients.push_back({1, section(0)});
  local.late = 0;
  all.push_back(local);

  Configuration again = local;
  again.name = "again";
  again.summary = "as brief; the node that is not the home locks again when its first section is over";
  again.clients.back().after = 1;
  again.late = 1;
  all.push_back(again);

  Configuration drift = brief(twoNodes("drift", "as brief; clocks drift a tick apart, timers fire late"));
  drift.drift = 1;
  drift.ticks.skew = 2;
  drift.punctual = false;
  all.push_back(drift);

  Configuration loss = faulty(
      brief(twoNodes("loss", "as brief; one message is lost, another duplicated; requests are repeated")), 1,
      0);
  loss.budgets.duplicates = 1;
  all.push_back(loss);

  Configuration drain = brief(twoNodes("drain", "both write; a commit may abort once or stay in flight"));
  drain.clients = {{1, section(0, true)}, {0, section(0, true)}};
  drain.budgets.aborts = 1;
  all.push_back(drain);

  Configuration crash = brief(twoNodes("crash", "as brief; either node crashes once and restarts"));
  crash.budgets.crashes = 1;
  all.push_back(crash);
}

/// Clients that begin one after the other, so that a long way of a key from hand to hand stays small.
std::vector<Client> inTurn(std::vector<Client> clients) {
  for (std::size_t i = 1; i < clients.size(); ++i) clients[i].after = static_cast<std::uint8_t>(i - 1);
  return clients;
}

/// What is written under a lock, and who must see it.
void addLineages(std::vector<Configuration>& all) {
  const auto add = [&](const char* name, const char* summary, std::uint8_t nodes,
                       std::vector<Client> clients) -> Configuration& {
    all.push_back(withClients(brief(twoNodes(name, summary)), nodes, 1, inTurn(std::move(clients))));
    return all.back();
  };
  const Client homeWrites{0, section(0, true)};
  const Client otherWrites{1, section(0, true)};
  add("relay", "3 nodes; the home writes, then another locks, then the third (FR-2)", 3,
      {homeWrites, {1, section(0)}, {2, section(0)}})
      .late = 0;
  add("lineage", "2 nodes; another than the home writes twice, then the home locks (FR-7)", 2,
      {otherWrites, otherWrites, {0, section(0)}})
      .late = 1;
  Configuration& cold =
      add("cold-home", "another than the home writes, then the home locks, which crashes once (FR-6)", 2,
          {otherWrites, {0, section(0)}});
  cold.budgets.crashes = 1;
  cold.mayCrash = 1;
  cold.late = 1;
}

/// Ends of a delegation that no release tells of, and what they take.
void addRecoveries(std::vector<Configuration>& all) {
  Configuration faults =
      brief(twoNodes("faults", "2 nodes, 1 key; another than the home locks; one loss, either crashes once"));
  all.push_back(faulty(withClients(faults, 2, 1, {{1, section(0)}}), 1, 1));

  Configuration barrier = brief(
      twoNodes("barrier", "a node writes, the home restarts or its grant expires, and recovers (FR-8)"));
  barrier.budgets.crashes = 1;
  barrier.clients = {{1, section(0, true)}, {0, section(0)}};
  barrier.mayCrash = 1;
  barrier.late = 1;
  all.push_back(barrier);

  Configuration partition =
      brief(twoNodes("partition", "as brief; the link is cut once and healed; requests are repeated"));
  partition.budgets.cuts = 1;
  partition.ticks.retry = 1;
  all.push_back(partition);

  Configuration patient = brief(
      twoNodes("patient", "the home's caller waits without end for a holder that may crash; recalls go on"));
  patient.clients = {{0, section(0), true}, {1, {{Act::lock, 0}}}};
  patient.budgets.crashes = 1;
  patient.mayCrash = 2;
  patient.ticks.recall = 1;
  patient.late = 0;
  all.push_back(patient);

  Configuration handBack = brief(twoNodes(
      "hand-back", "grants have no end; who asks gives up, and asks twice; the home's caller waits"));
  handBack.clients = {{0, section(0), true}, {1, section(0)}};
  handBack.budgets.duplicates = 1;
  handBack.ticks.delegation = 0;
  handBack.ticks.wait = 1;
  handBack.ticks.recall = 1;
  handBack.late = 1;
  all.push_back(handBack);
}

/// A section of one key, then one of another.
std::vector<ClientStep> bothInTurn(std::uint8_t first, std::uint8_t then) {
  std::vector<ClientStep> steps = section(first);
  std::ranges::copy(section(then), std::back_inserter(steps));
  return steps;
}

/// More nodes and more keys.
void addLarger(std::vector<Configuration>& all) {
  const auto add = [&](const char* name, const char* summary, std::uint8_t nodes, std::uint8_t keys,
                       std::vector<Client> clients) -> Configuration& {
    all.push_back(withClients(brief(twoNodes(name, summary)), nodes, keys, std::move(clients)));
    return all.back();
  };
  const std::vector<Client> homeAndOther = {{0, section(0)}, {1, section(1)}};
  const std::vector<Client> homeAndOtherMeet = {{0, bothInTurn(0, 1)}, {1, bothInTurn(1, 0)}};
  const std::vector<Client> others = {{1, section(0)}, {2, section(0)}};
  const std::vector<Client> othersApart = {{1, section(0)}, {2, section(1)}};
  const std::vector<Client> othersMeet = {{1, bothInTurn(0, 1)}, {2, bothInTurn(0, 1)}};
  const auto late = [](Configuration& c, std::uint8_t things) { c.late = things; };

  late(add("two-keys", "2 keys of one home; home and another lock both in turn, in opposite orders", 2, 2,
           homeAndOtherMeet),
       0);
  Configuration& two =
      add("two-keys-faults", "2 keys of one home; each node locks its own; one loss, either crashes once", 2,
          2, homeAndOther);
  two = faulty(two, 1, 1);
  late(two, 1);

  add("three", "3 nodes; two that are not the home lock once each", 3, 1, others);
  Configuration& lost = add("three-loss", "as three; one message is lost", 3, 1, others);
  lost = faulty(lost, 1, 0);
  late(lost, 1);
  Configuration& crashed = add("three-crash", "3 nodes; another than the home locks, the home crashes once",
                               3, 1, {{1, section(0)}});
  crashed = faulty(crashed, 0, 1);
  crashed.mayCrash = 1;
  Configuration& both =
      add("three-faults", "as three-crash; and one message is lost", 3, 1, {{1, section(0)}});
  both = faulty(both, 1, 1);
  both.mayCrash = 1;
  late(both, 1);
  Configuration& cut = add("three-partition", "as three; one link is cut once and healed", 3, 1, others);
  cut.budgets.cuts = 1;

  late(add("three-two-keys", "3 nodes, 2 keys of one home; the others lock both in turn, in the same order",
           3, 2, othersMeet),
       0);
  Configuration& keysLost =
      add("three-two-keys-loss", "3 nodes, 2 keys of one home; the others lock one each; one message is lost",
          3, 2, othersApart);
  keysLost = faulty(keysLost, 1, 0);
  Configuration& keysBoth =
      add("three-two-keys-faults", "as three-two-keys-loss; and one of the others crashes once", 3, 2,
          othersApart);
  keysBoth = faulty(keysBoth, 1, 1);
  keysBoth.mayCrash = 2;
  late(keysBoth, 0);
}

/// Epochs that the members agree on (EP). Leases last two ticks and are renewed each tick.
Configuration agreed(std::string name, std::string summary, std::uint8_t nodes) {
  Configuration c = brief(twoNodes(std::move(name), std::move(summary)));
  c.nodes = nodes;
  c.membership = protocol::MembershipKind::epoch;
  c.ticks.membership = 2;
  c.ticks.renew = 1;
  c.ticks.delegation = 1;
  c.ticks.skew = 0;
  c.late = 0;
  c.timersFirst = true;
  c.epochs = 2;
  c.ballots = 1;
  return c;
}

Client operatorAt(std::uint8_t node, std::uint8_t add, std::uint8_t remove) {
  return {node, {{Act::propose, 0, add, remove}}};
}

/// Nobody dies for good.
void addEpochs(std::vector<Configuration>& all) {
  Configuration change =
      agreed("epoch", "3 members agree on an epoch without one of them, as an operator wishes", 3);
  change.clients = {operatorAt(0, kNobody, 2)};
  all.push_back(change);

  Configuration lock = change;
  lock.name = "epoch-lock";
  lock.summary = "as epoch; the member that goes locks a key of one that stays";
  lock.clients.push_back({2, section(0)});
  all.push_back(lock);

  Configuration minority = change;
  minority.name = "epoch-minority";
  minority.summary = "a member hears nobody; it and another lock a key whose home it is";
  minority.clients = {{2, section(0)}, {0, section(0)}};
  minority.home = 2;
  minority.apart = 0b110;
  all.push_back(minority);

  Configuration duel = change;
  duel.name = "duel";
  duel.summary =
      "as epoch; two operators wish at once for different epochs; what is written is durable at once";
  duel.clients.push_back(operatorAt(1, kNobody, 0));
  duel.ballots = 2;
  duel.operatorsFirst = true;
  duel.promptDisk = true;
  all.push_back(duel);

  Configuration duelCrash = duel;
  duelCrash.name = "duel-crash";
  duelCrash.summary =
      "as duel; the two do not hear each other, the third crashes once and restarts within the tick";
  duelCrash.promptDisk = false;
  duelCrash.apart = 0b001;
  duelCrash.budgets.crashes = 1;
  duelCrash.mayCrash = 0b0100;
  duelCrash.outage = Outage::brief;
  all.push_back(duelCrash);

  Configuration loss = change;
  loss.name = "epoch-loss";
  loss.summary = "as epoch; one message is lost, a renewal or another";
  loss.budgets.losses = 1;
  all.push_back(loss);

  Configuration crash = change;
  crash.name = "epoch-crash";
  crash.summary = "as epoch; a member that stays crashes once and restarts within the tick";
  crash.budgets.crashes = 1;
  crash.mayCrash = 2;
  crash.outage = Outage::brief;
  all.push_back(crash);
}

void addDeaths(std::vector<Configuration>& all) {
  Configuration dead = agreed(
      "epoch-dead", "a member dies; the others agree without it, by themselves or as an operator wishes", 3);
  dead.budgets.crashes = 1;
  dead.mayCrash = 2;
  dead.outage = Outage::endless;
  dead.clients = {operatorAt(0, kNobody, 1)};
  all.push_back(dead);

  Configuration deadLock = dead;
  deadLock.name = "epoch-dead-lock";
  deadLock.summary = "as epoch-dead without an operator; a member locks a key whose home it is and stays";
  deadLock.clients = {{0, section(0)}};
  all.push_back(deadLock);

  Configuration outbid = dead;
  outbid.name = "outbid";
  outbid.summary =
      "a member dies; both others agree without it, by themselves and with any number of ballots";
  outbid.clients = {};
  outbid.mayCrash = 0b0100;
  outbid.promptDisk = true;
  outbid.ballots = kAnyNumber;
  outbid.outbids = true;
  all.push_back(outbid);

  Configuration replacement = dead;
  replacement.name = "replacement";
  replacement.summary = "as epoch-dead, of 4 identities; the fourth takes the place of the one that dies";
  replacement.nodes = 4;
  replacement.members = 0b0111;
  replacement.mayCrash = 4;
  replacement.clients = {operatorAt(0, 3, 2)};
  all.push_back(replacement);
}

/// Home maps that an operator publishes (HM). A console asks again each tick.
void addHomeMaps(std::vector<Configuration>& all) {
  Configuration map =
      agreed("home-map", "3 homes; a map without one of them is published, one crashes once and restarts", 3);
  map.membership = protocol::MembershipKind::homeMap;
  map.clients = {{0, {{Act::publish, 0, kNobody, kNobody, 0b0011}}}};
  map.budgets.crashes = 1;
  all.push_back(map);

  Configuration lock = map;
  lock.name = "home-map-lock";
  lock.summary = "as home-map; the home that goes locks a key of one that stays";
  lock.clients.push_back({2, section(0)});
  all.push_back(lock);

  Configuration own = lock;
  own.name = "home-map-own";
  own.summary = "as home-map; the home that goes locks a key of its own";
  own.home = 2;
  all.push_back(own);

  Configuration fence = lock;
  fence.name = "home-map-fence";
  fence.summary = "as home-map-lock; the home that goes dies and is fenced";
  fence.mayCrash = 0b0100;
  fence.outage = Outage::endless;
  fence.clients.push_back({0, {{Act::fence, 0, kNobody, 2}}});
  all.push_back(fence);

  Configuration removed = lock;
  removed.name = "home-map-removed";
  removed.summary = "as home-map-lock without a crash; the home that goes is declared removed";
  removed.budgets.crashes = 0;
  removed.clients.push_back({0, {{Act::declareRemoved, 0, kNobody, 2}}});
  all.push_back(removed);
}

std::vector<Configuration> shipped() {
  std::vector<Configuration> all;
  addHandoffs(all);
  addLineages(all);
  addRecoveries(all);
  addLarger(all);
  addEpochs(all);
  addDeaths(all);
  addHomeMaps(all);
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
    if (client.after != kNobody && client.after >= static_cast<std::size_t>(&client - c.clients.data())) {
      return "a client may wait for the end of an earlier one alone";
    }
    if (client.steps.empty() ||
        (client.steps.front().act != Act::lock && !isOperators(client.steps.front().act))) {
      return "a client does not begin with a lock";
    }
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
  const bool changes = c.membership != protocol::MembershipKind::fixed;
  if ((c.clients.empty() && !changes) || c.clients.size() > kMaxClients) {
    return fmt::format("{} clients; 1 to {} can be explored", c.clients.size(), kMaxClients);
  }
  if (c.outbids && (c.membership != protocol::MembershipKind::epoch || !c.promptDisk ||
                    (c.budgets.crashes != 0 && c.outage != Outage::endless))) {
    return "ballots count by their order where members agree, nobody restarts, and what is written is "
           "durable";
  }
  if (calls > kMaxCalls) return fmt::format("{} lock calls; at most {} can be explored", calls, kMaxCalls);
  if (txns > kMaxTxns) return fmt::format("{} transactions; at most {} can be explored", txns, kMaxTxns);
  const Ticks& t = c.ticks;
  if (t.wait == 0 || t.lease == 0 || t.barrier == 0) return "wait, lease and barrier last at least a tick";
  if (std::max({t.delegation + t.skew, int{t.wait}, int{t.lease}}) > 200)
    return "durations are at most 200 ticks";
  if (changes && (c.late != 0 || c.ticks.renew == 0)) {
    return "a membership that changes is renewed, and nothing is slower than a tick";
  }
  if (c.operatorsFirst && c.drift != 0) return "clocks that drift tick whatever an operator wishes";
  if (c.timersFirst && (c.drift != 0 || !c.punctual)) {
    return "timers that are late, or clocks that drift, are not first";
  }
  if (c.late != kAnyNumber && c.drift != 0) {
    return "clocks that drift tick whatever is under way, so no bound of what is late can be kept";
  }
  if (2 * c.drift > t.skew) {
    return fmt::format("clocks drift {} ticks apart either way, and a skew of {} does not cover that (CK-3)",
                       c.drift, t.skew);
  }
  return {};
}

std::string boundsOf(const Configuration& c) {
  if (c.membership == protocol::MembershipKind::fixed) return {};
  if (c.membership == protocol::MembershipKind::homeMap) return "the published map acts everywhere";
  if (c.ballots == kAnyNumber) {
    return fmt::format("epoch {} acts everywhere, or a ballot for epoch {}", c.epochs, c.epochs + 1);
  }
  return fmt::format("epoch {} acts everywhere, or a ballot of counter {} or for epoch {}", c.epochs,
                     c.ballots + 1, c.epochs + 1);
}

std::string identityOf(const Configuration& c) {
  const Ticks& t = c.ticks;
  std::string text = fmt::format("{} nodes={} keys={} home={} drift={} punctual={}", c.name, c.nodes, c.keys,
                                 c.home, c.drift, c.punctual);
  if (c.outage != Outage::any) text += fmt::format(" outage={}", static_cast<int>(c.outage));
  if (c.apart != 0) text += fmt::format(" apart={}", c.apart);
  if (c.seed != 0) text += fmt::format(" seed={}", c.seed);
  if (c.outbids) text += " ballots=ordered";
  if (c.operatorsFirst) text += " operators=first";
  if (c.promptDisk) text += " disk=prompt";
  if (c.timersFirst) text += " timers=first";
  text += fmt::format(" ticks={},{},{},{},{},{},{},{},{},{},{}", t.delegation, t.skew, t.minUseful, t.wait,
                      t.lease, t.retry, t.recall, t.tenure, t.grace, t.barrier, t.margin);
  text += fmt::format(" budgets={},{},{},{},{} crash={} late={}", c.budgets.losses, c.budgets.duplicates,
                      c.budgets.crashes, c.budgets.cuts, c.budgets.aborts, c.mayCrash, c.late);
  for (const Client& client : c.clients) {
    text += fmt::format(" client={}{}:", client.node, (client.patient ? "*" : client.again ? "+" : ""));
    if (client.after != kNobody) text += fmt::format("after{}:", client.after);
    for (const ClientStep& step : client.steps) {
      text += fmt::format("{}{}", static_cast<int>(step.act), step.key);
      if (isOperators(step.act)) text += fmt::format("+{}-{}={}", step.add, step.remove, step.homes);
    }
  }
  if (c.membership != protocol::MembershipKind::fixed) {
    text += fmt::format(" membership={} members={} epochs={} ballots={} lease={},{},{},{},{}",
                        obs::nameOf(c.membership), c.members, c.epochs, c.ballots, t.membership, t.renew,
                        t.missed, t.round, t.backoff);
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
