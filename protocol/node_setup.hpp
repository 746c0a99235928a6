// What a node is told when it is made: who it is, whom it knows, and which protocol it runs.
#pragma once

#include <vector>

#include "protocol/directory.hpp"
#include "protocol/options.hpp"
#include "protocol/rules.hpp"
#include "sim/ids.hpp"

namespace holdfast::protocol {

struct NodeSetup {
  sim::NodeId self;
  const Directory* directory = nullptr;  // shared by all nodes of a run; outlives them
  ProtocolOptions options;
  Rules rules;
  /// Of the fixed membership, of the first epoch, or of the first home map; sorted. May leave the node out.
  std::vector<sim::NodeId> members;
  std::uint64_t seed = 0;        // keys what a node draws for itself: the back-off of duelling proposers
  std::uint8_t ownerWorker = 0;  // the worker thread that coordinates (BD-5)
  /// What a node without a live membership would route by if it were let (rule RT4_NamesIdentify off): the
  /// node's private numbering of its peers. Index: NodeId, value: short id.
  std::vector<std::uint16_t> shortIds;
  /// Other nodes that were given this node's name as well (RT-4): it must not take part.
  std::vector<sim::NodeId> namesakes;
};

}  // namespace holdfast::protocol
