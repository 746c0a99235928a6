// A few EpochMemberships without nodes around them: messages, records and clocks are the test's to move. For
// tests of the agreement step by step; all clocks are one clock unless a test says otherwise.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/membership/epoch_membership.hpp"

namespace holdfast::protocol {

class EpochNetwork {
 public:
  struct Letter {
    NodeId from;
    NodeId to;
    Message message;
  };

  /// `nodes` names A, B, ... of which the first `founders` are the first configuration.
  EpochNetwork(std::size_t nodes, std::size_t founders, Rules rules = {}, ProtocolOptions options = exact())
      : rules_(rules), options_(options), directory_(names(nodes), {}) {
    options_.membership = MembershipKind::epoch;
    for (std::uint16_t i = 0; i < founders; ++i) founders_.push_back({i});
    machines_.resize(nodes);
  }

  /// The numbers of EP-8: clocks agree, so that nothing is added for their rates.
  static ProtocolOptions exact() {
    ProtocolOptions options;
    options.rateErrorPpb = 0;
    return options;
  }

  void start(NodeId node) {
    Machine& m = machines_[node.value];
    ++m.disk.start;
    m.epoch = std::make_unique<EpochMembership>(setupOf(node), m.disk);
    m.disk.corrupted = false;
    apply(node, [](EpochMembership& epoch, const MembershipEnv& env) { return epoch.boot(env); });
  }
  void startAll() {
    for (std::uint16_t i = 0; i < machines_.size(); ++i) start({i});
    settle();
  }
  /// Loses what is not durable; of what is being written, `survivors` records had reached the disk.
  void crash(NodeId node, std::size_t survivors = 0) {
    Machine& m = machines_[node.value];
    for (std::size_t i = 0; i < std::min(survivors, m.writing.size()); ++i)
      store(m.disk, m.writing[i].record);
    m.writing.clear();
    m.timers = {};
    m.epoch.reset();
  }
  bool up(NodeId node) const { return machines_[node.value].epoch != nullptr; }
  EpochMembership& at(NodeId node) { return *machines_[node.value].epoch; }
  DurableMembership& disk(NodeId node) { return machines_[node.value].disk; }

  void receive(NodeId to, NodeId from, const Message& message) {
    if (!up(to)) return;
    apply(to, [&](EpochMembership& epoch, const MembershipEnv& env) {
      return epoch.onMessage(from, message, env);
    });
  }
  void propose(NodeId node, NodeId add, NodeId remove) {
    apply(node, [&](EpochMembership& epoch, const MembershipEnv& env) {
      return epoch.propose({add, remove}, env);
    });
  }
  /// Completes the oldest write of the node; false when there is none.
  bool persistOne(NodeId node, bool failed = false) {
    Machine& m = machines_[node.value];
    if (m.writing.empty()) return false;
    const Persist write = m.writing.front();
    m.writing.erase(m.writing.begin());
    if (!failed) store(m.disk, write.record);
    apply(node, [&](EpochMembership& epoch, const MembershipEnv& env) {
      return epoch.onPersisted({write.sequence, failed, kindOf(write.record)}, env);
    });
    return true;
  }
  bool deliverOne(std::size_t index = 0) {
    if (index >= letters.size()) return false;
    const Letter letter = letters[index];
    letters.erase(letters.begin() + static_cast<std::ptrdiff_t>(index));
    if (cut(letter.from, letter.to)) return true;
    receive(letter.to, letter.from, letter.message);
    return true;
  }
  /// Writes and deliveries until nothing is under way.
  void settle() {
    for (bool busy = true; busy;) {
      busy = false;
      for (std::uint16_t i = 0; i < machines_.size(); ++i) {
        while (up({i}) && persistOne({i})) busy = true;
      }
      if (!letters.empty()) busy = deliverOne();
    }
  }
  void fireTimers(NodeId node) {
    Machine& m = machines_[node.value];
    Timer due;
    while (up(node) && m.timers.takeDue(now, due)) {
      apply(node,
            [&](EpochMembership& epoch, const MembershipEnv& env) { return epoch.onTimer(due.kind, env); });
    }
  }
  /// Moves the clock on; timers, writes and messages are carried out as they come.
  void advance(Duration by) {
    const MonotonicInstant end = now + by;
    while (true) {
      MonotonicInstant next = end;
      for (const Machine& m : machines_) {
        if (m.epoch) next = std::min(next, std::max(now, m.timers.next()));
      }
      now = next;
      for (std::uint16_t i = 0; i < machines_.size(); ++i) fireTimers({i});
      settle();
      if (now >= end) return;
    }
  }
  void isolate(NodeId node, bool on = true) { machines_[node.value].isolated = on; }
  bool cut(NodeId a, NodeId b) const { return machines_[a.value].isolated || machines_[b.value].isolated; }

  template <class T>
  std::vector<std::pair<NodeId, T>> all() const {
    std::vector<std::pair<NodeId, T>> found;
    for (const obs::Stamped& stamped : seen) {
      if (const auto* what = std::get_if<T>(&stamped.what)) found.emplace_back(stamped.node, *what);
    }
    return found;
  }
  /// The first message of the kind under way from one node to another; its index in `letters`.
  template <class T>
  std::size_t find(NodeId from, NodeId to) const {
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (letters[i].from == from && letters[i].to == to && std::holds_alternative<T>(letters[i].message)) {
        return i;
      }
    }
    return letters.size();
  }
  template <class T>
  bool pass(NodeId from, NodeId to) {
    return deliverOne(find<T>(from, to));
  }

  NodeSetup setupOf(NodeId node) const {
    NodeSetup setup;
    setup.self = node;
    setup.directory = &directory_;
    setup.options = options_;
    setup.rules = rules_;
    setup.members = founders_;
    setup.seed = seed;
    return setup;
  }
  const Directory& directory() const { return directory_; }
  std::size_t size() const { return machines_.size(); }

  MonotonicInstant now{sim::seconds(1'000).ns};
  std::uint64_t seed = 1;
  std::deque<Letter> letters;  // under way, oldest first
  std::vector<obs::Stamped> seen;
  std::vector<MembershipChange> changes;

 private:
  struct Machine {
    DurableMembership disk;
    std::unique_ptr<EpochMembership> epoch;
    TimerSet timers;
    std::vector<Persist> writing;
    bool isolated = false;
  };

  static std::vector<std::string> names(std::size_t count) {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(std::string(1, static_cast<char>('A' + i)));
    return list;
  }

  template <class Act>
  void apply(NodeId node, Act&& act) {
    Machine& m = machines_[node.value];
    Effects effects;
    const Context context{now, WallInstant{now.ns}, effects};
    const NodeSetup setup = setupOf(node);
    changes.push_back(act(*m.epoch, MembershipEnv{setup, context, m.timers, 1}));
    for (Send& send : effects.sends) letters.push_back({node, send.to, std::move(send.message)});
    for (Persist& persist : effects.persists) m.writing.push_back(std::move(persist));
    for (const obs::Observation& what : effects.observations) seen.push_back({{now.ns}, node, what});
  }

  Rules rules_;
  ProtocolOptions options_;
  Directory directory_;
  std::vector<NodeId> founders_;
  std::vector<Machine> machines_;
};

}  // namespace holdfast::protocol
