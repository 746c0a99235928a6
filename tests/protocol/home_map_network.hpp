// A few HomeMaps without nodes around them: messages, records and the one clock are the test's to move. For
// tests of a change step by step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/membership/home_map.hpp"
#include "protocol/membership/published_map.hpp"

namespace holdfast::protocol {

class MapNetwork {
 public:
  struct Letter {
    NodeId from;
    NodeId to;
    Message message;
  };

  /// `nodes` names A, B, ... of which the first `founders` are the homes of generation 1.
  MapNetwork(std::size_t nodes, std::size_t founders, Rules switches = {})
      : rules(switches), directory_(names(nodes), {}), machines_(nodes) {
    for (std::uint16_t i = 0; i < founders; ++i) founders_.push_back({i});
  }

  void startAll() {
    for (std::uint16_t i = 0; i < machines_.size(); ++i) start({i});
    settle();
  }
  void start(NodeId node) {
    Machine& m = machines_[node.value];
    m.map.emplace(setupOf(node), m.disk);
    m.disk.corrupted = false;
    ++m.incarnation;
    apply(node, [](HomeMap& map, const MembershipEnv& env) { return map.boot(env); });
  }
  /// Loses what is not durable.
  void crash(NodeId node) {
    Machine& m = machines_[node.value];
    m.writing.clear();
    m.timers = {};
    m.map.reset();
  }
  bool up(NodeId node) const { return machines_[node.value].map.has_value(); }
  HomeMap& at(NodeId node) { return *machines_[node.value].map; }
  DurableMembership& disk(NodeId node) { return machines_[node.value].disk; }
  bool live(NodeId node) { return now < at(node).deadline(); }
  std::size_t writesUnderWay(NodeId node) const { return machines_[node.value].writing.size(); }

  void receive(NodeId to, NodeId from, const Message& message) {
    if (!up(to)) return;
    apply(to, [&](HomeMap& map, const MembershipEnv& env) { return map.onMessage(from, message, env); });
  }
  void stage(NodeId console, std::uint32_t generation, std::vector<NodeId> homes,
             std::vector<NodeId> earlier = {}) {
    const AdminStageHomeMap input{generation, std::move(homes), std::move(earlier)};
    apply(console, [&](HomeMap& map, const MembershipEnv& env) { return map.stage(input, env); });
  }
  void fence(NodeId console, std::uint32_t generation, NodeId member, bool stopped = true) {
    const AdminFenceHome input{generation, member, stopped};
    apply(console, [&](HomeMap& map, const MembershipEnv& env) { return map.fence(input, env); });
  }

  /// Completes the oldest write of the node; false when there is none.
  bool persistOne(NodeId node, bool failed = false) {
    Machine& m = machines_[node.value];
    if (m.writing.empty()) return false;
    const Persist write = m.writing.front();
    m.writing.erase(m.writing.begin());
    if (!failed) store(m.disk, write.record);
    const PersistDone done{write.sequence, failed, RecordKind::homeMap};
    apply(node, [&](HomeMap& map, const MembershipEnv& env) { return map.onPersisted(done, env); });
    return true;
  }
  /// Writes and deliveries until nothing is under way.
  void settle() {
    for (bool busy = true; busy;) {
      busy = false;
      for (std::uint16_t i = 0; i < machines_.size(); ++i) {
        while (up({i}) && persistOne({i})) busy = true;
      }
      if (letters.empty()) continue;
      busy = true;
      const Letter letter = std::move(letters.front());
      letters.pop_front();
      if (letter.from != silent && letter.to != silent) receive(letter.to, letter.from, letter.message);
    }
  }
  /// Moves the clock on; timers, writes and messages are carried out as they come.
  void advance(Duration by) {
    const MonotonicInstant end = now + by;
    for (;;) {
      MonotonicInstant next = end;
      for (const Machine& m : machines_) {
        if (m.map) next = std::min(next, std::max(now, m.timers.next()));
      }
      now = next;
      bool fired = false;
      for (std::uint16_t i = 0; i < machines_.size(); ++i) {
        Machine& m = machines_[i];
        Timer due;
        while (m.map && m.timers.takeDue(now, due)) {
          fired = true;
          apply({i}, [&](HomeMap& map, const MembershipEnv& env) { return map.onTimer(due.kind, env); });
        }
      }
      settle();
      if (!fired && now == end) return;
    }
  }

  std::uint64_t hashOf(NodeId node) const {
    StateHash hash{now};
    hash.add(*machines_[node.value].map);
    return hash.value();
  }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const obs::Stamped& stamped : seen) {
      if (const auto* what = std::get_if<T>(&stamped.what)) found.push_back(*what);
    }
    return found;
  }
  std::size_t refusals(MessageKind kind, Cause cause) const {
    const auto refused = all<obs::MessageRefused>();
    return static_cast<std::size_t>(std::count_if(refused.begin(), refused.end(), [&](const auto& one) {
      return one.message == kind && one.cause == cause;
    }));
  }
  const Directory& directory() const { return directory_; }

  Rules rules;
  ProtocolOptions options;
  MonotonicInstant now{sim::seconds(1'000).ns};
  NodeId silent = NodeId::none();  // neither heard nor hearing
  std::deque<Letter> letters;
  std::vector<obs::Stamped> seen;

 private:
  struct Machine {
    std::optional<HomeMap> map;
    DurableMembership disk;
    TimerSet timers;
    std::vector<Persist> writing;
    std::uint32_t incarnation = 0;
  };

  static std::vector<std::string> names(std::size_t nodes) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < nodes; ++i) names.emplace_back(1, static_cast<char>('A' + i));
    return names;
  }
  NodeSetup setupOf(NodeId node) const {
    NodeSetup setup;
    setup.self = node;
    setup.directory = &directory_;
    setup.options = options;
    setup.options.membership = MembershipKind::homeMap;
    setup.rules = rules;
    setup.members = founders_;
    return setup;
  }
  template <class Step>
  void apply(NodeId node, Step&& step) {
    Machine& m = machines_[node.value];
    Effects effects;
    const NodeSetup setup = setupOf(node);
    const Context context{now, sim::WallInstant{now.ns}, effects};
    (void)step(*m.map, MembershipEnv{setup, context, m.timers, m.incarnation});
    for (Send& send : effects.sends) letters.push_back({node, send.to, std::move(send.message)});
    for (Persist& write : effects.persists) m.writing.push_back(std::move(write));
    for (const obs::Observation& what : effects.observations) seen.push_back({{now.ns}, node, what});
  }

  Directory directory_;
  std::vector<NodeId> founders_;
  std::vector<Machine> machines_;
};

}  // namespace holdfast::protocol
