// A few nodes without a simulator: messages are delivered at once in the order they were sent, commits and
// applies are done at once, and all clocks are one clock that the test moves. For tests of a node's behaviour
// step by step.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/canonical_key.hpp"
#include "protocol/node.hpp"

namespace holdfast::protocol {

inline std::shared_ptr<const Directory> makeDirectory(std::size_t nodes, std::size_t keys) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < nodes; ++i) names.push_back("n" + std::to_string(i));
  std::vector<KeyInfo> infos;
  for (std::size_t i = 0; i < keys; ++i) {
    const std::string name = "k" + std::to_string(i);
    infos.push_back({name, *canonicalKey("db", "t", KeyPart{name}), 0});
  }
  return std::make_shared<const Directory>(names, infos);
}

class NodeDriver {
 public:
  NodeDriver(std::size_t nodes, std::size_t keys, Rules rules = {},
             MonotonicInstant start = MonotonicInstant{sim::seconds(1'000).ns},
             const ProtocolOptions& options = {})
      : now(start), directory_(makeDirectory(nodes, keys)) {
    for (std::size_t i = 0; i < nodes; ++i) members_.push_back({static_cast<std::uint16_t>(i)});
    for (const NodeId id : members_) {
      NodeSetup setup;
      setup.self = id;
      setup.directory = directory_.get();
      setup.rules = rules;
      setup.options = options;
      setup.members = members_;
      nodes_.emplace_back(setup, Durable{});
    }
    for (const NodeId id : members_) give(id, Boot{});
    run();
  }

  /// A key whose home is `home`.
  KeyId keyAt(NodeId home) const {
    for (std::uint32_t i = 0; i < directory_->keyCount(); ++i) {
      if (homeOf(*directory_, members_, KeyId{i}, 1) == home) return KeyId{i};
    }
    return KeyId::none();
  }

  /// One input, and everything that follows from it unless messages are held.
  void input(NodeId node, const Input& in) {
    give(node, in);
    run();
  }

  void give(NodeId node, const Input& in) {
    effects_.clear();
    const Context context{now, WallInstant{now.ns}, effects_};
    nodes_[node.value].handle(in, context);
    for (Send& send : effects_.sends) {
      ++sent;
      pending_.push_back({node, send.to, std::move(send.message)});
    }
    for (const Commit& commit : effects_.commits)
      todo_.push_back({node, CommitDone{commit.commit, nextCommit}});
    for (const Persist& persist : effects_.persists)
      todo_.push_back({node, PersistDone{persist.sequence, false, kindOf(persist.record)}});
    for (const Apply& apply : effects_.applies) todo_.push_back({node, ApplyReady{apply.origin}});
    for (const Reply& reply : effects_.replies) replies.push_back(reply);
    for (const obs::Observation& what : effects_.observations) seen.push_back({{now.ns}, node, what});
  }

  /// Carries out completions and deliveries until nothing is left to do.
  void run() {
    while (!todo_.empty() || (!hold && !pending_.empty())) {
      if (!todo_.empty()) {
        const auto [node, in] = todo_.front();
        todo_.pop_front();
        give(node, in);
      } else {
        deliver();
      }
    }
  }

  /// Delivers the oldest message that is under way.
  void deliver() {
    const Letter letter = std::move(pending_.front());
    pending_.pop_front();
    give(letter.to, Deliver{letter.from, letter.message});
  }

  /// Moves the clock on, waking nodes as they asked.
  void advance(Duration by) {
    const MonotonicInstant end = now + by;
    while (true) {
      MonotonicInstant next = end;
      for (const Node& node : nodes_) next = std::min(next, node.nextWake());
      now = std::max(now, next);
      bool woke = false;
      for (const NodeId id : members_) {
        if (nodes_[id.value].nextWake() > now) continue;
        input(id, Wake{});
        woke = true;
      }
      if (!woke) break;
    }
    now = end;
  }

  const LockReply* lockReply(CallId call) const {
    for (const Reply& reply : replies) {
      const auto* lock = std::get_if<LockReply>(&reply);
      if (lock != nullptr && lock->call == call) return lock;
    }
    return nullptr;
  }

  template <class T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const obs::Stamped& stamped : seen) {
      if (const auto* what = std::get_if<T>(&stamped.what)) found.push_back(*what);
    }
    return found;
  }

  Node& node(NodeId id) { return nodes_[id.value]; }
  const Directory& directory() const { return *directory_; }

  struct Letter {
    NodeId from;
    NodeId to;
    Message message;
  };
  std::deque<Letter>& underWay() { return pending_; }

  MonotonicInstant now;
  bool hold = false;  // messages stay under way until deliver()
  CommitOutcome nextCommit = CommitOutcome::committed;
  std::size_t sent = 0;
  std::vector<Reply> replies;
  std::vector<obs::Stamped> seen;

 private:
  std::shared_ptr<const Directory> directory_;
  std::vector<NodeId> members_;
  std::vector<Node> nodes_;
  Effects effects_;
  std::deque<Letter> pending_;
  std::deque<std::pair<NodeId, Input>> todo_;
};

}  // namespace holdfast::protocol
