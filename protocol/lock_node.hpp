// A node of whichever protocol gives the locks (ProtocolOptions::algorithm), behind the one entry of a node.
//
// A further protocol is a further alternative with the same functions.
#pragma once

#include <utility>
#include <variant>

#include "protocol/node.hpp"
#include "protocol/ricart_agrawala/node.hpp"

namespace holdfast::protocol {

class LockNode {
 public:
  LockNode(const NodeSetup& setup, Durable durable) : node_(make(setup, std::move(durable))) {}

  void handle(const Input& input, const Context& context) {
    std::visit([&](auto& node) { node.handle(input, context); }, node_);
  }
  MonotonicInstant nextWake() const {
    return std::visit([](const auto& node) { return node.nextWake(); }, node_);
  }
  Durable takeDurable() {
    return std::visit([](auto& node) { return node.takeDurable(); }, node_);
  }
  void reportRetained(const Context& context) const {
    std::visit([&](const auto& node) { node.reportRetained(context); }, node_);
  }
  const Replication& replication() const {
    return std::visit([](const auto& node) -> const Replication& { return node.replication(); }, node_);
  }

  /// The node of the delegation protocol; nullptr when another one gives the locks.
  const Node* delegation() const { return std::get_if<Node>(&node_); }

  /// Appends an entry that had reached the disk before the crash although nobody was told.
  static Position recover(const NodeSetup& setup, Durable& durable, const LogEntry& entry) {
    return setup.options.algorithm == LockAlgorithm::ricartAgrawala
               ? RicartAgrawalaNode::recover(durable, setup, entry)
               : Node::recover(durable, setup, entry);
  }

 private:
  using Kind = std::variant<Node, RicartAgrawalaNode>;

  static Kind make(const NodeSetup& setup, Durable durable) {
    if (setup.options.algorithm == LockAlgorithm::ricartAgrawala) {
      return Kind(std::in_place_type<RicartAgrawalaNode>, setup, std::move(durable));
    }
    return Kind(std::in_place_type<Node>, setup, std::move(durable));
  }

  Kind node_;
};

}  // namespace holdfast::protocol
