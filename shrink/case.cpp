#include "shrink/case.hpp"

#include <algorithm>
#include <set>

namespace holdfast::shrink {

using scenarios::ClockSettings;
using scenarios::Fault;
using scenarios::FaultKind;
using scenarios::Operation;
using scenarios::OperationKind;
using scenarios::Plan;

Size sizeOf(const Case& whole) {
  Size size;
  size.operations = whole.plan.operations.size();
  size.faults = whole.plan.faults.size();
  size.clocks = static_cast<std::size_t>(std::ranges::count_if(
      whole.plan.clocks, [](const ClockSettings& clock) { return clock != ClockSettings{}; }));
  size.nodes = whole.options.nodes;
  size.keys = whole.options.keys;
  size.simulated = whole.plan.endAt - obs::TrueInstant{};
  return size;
}

Steps::Steps(const Case& whole) : whole_(whole) {
  const Plan& plan = whole.plan;
  for (std::size_t i = 0; i < plan.clocks.size(); ++i) {
    if (plan.clocks[i] != ClockSettings{}) steps_.push_back({Kind::clock, i, {-1}});
  }
  for (std::size_t i = 0; i < plan.operations.size(); ++i) {
    steps_.push_back({Kind::operation, i, plan.operations[i].at});
  }
  for (std::size_t i = 0; i < plan.faults.size(); ++i) steps_.push_back({Kind::fault, i, plan.faults[i].at});
  std::ranges::stable_sort(steps_, {}, &Step::at);
}

Case Steps::only(const Subset& kept) const {
  Case part = whole_;
  part.plan.operations.clear();
  part.plan.faults.clear();
  std::ranges::fill(part.plan.clocks, ClockSettings{});
  for (const std::size_t index : kept) {
    const Step& step = steps_[index];
    switch (step.kind) {
      case Kind::clock:
        part.plan.clocks[step.index] = whole_.plan.clocks[step.index];
        break;
      case Kind::operation:
        part.plan.operations.push_back(whole_.plan.operations[step.index]);
        break;
      case Kind::fault:
        part.plan.faults.push_back(whole_.plan.faults[step.index]);
        break;
    }
  }
  return part;
}

Case withNodes(const Case& whole, std::span<const std::uint16_t> to, std::uint16_t nodes) {
  Case mapped = whole;
  mapped.options.nodes = nodes;
  const auto move = [&](obs::NodeId& node) {
    if (node.valid() && node.value < to.size()) node.value = to[node.value];
  };
  mapped.plan.clocks.assign(nodes, {});
  for (std::size_t i = 0; i < whole.plan.clocks.size() && i < to.size(); ++i) {
    if (to[i] < nodes && whole.plan.clocks[i] != ClockSettings{}) {
      mapped.plan.clocks[to[i]] = whole.plan.clocks[i];
    }
  }
  for (Operation& operation : mapped.plan.operations) move(operation.node);
  for (Fault& fault : mapped.plan.faults) {
    move(fault.node);
    move(fault.peer);
    if (fault.kind != FaultKind::partition) continue;
    std::int64_t side = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if ((fault.amount >> i & 1) != 0) side |= std::int64_t{1} << to[i];
    }
    fault.amount = side;
  }
  return mapped;
}

Case withKeys(const Case& whole, std::span<const std::uint32_t> to, std::uint32_t keys) {
  Case mapped = whole;
  mapped.options.keys = keys;
  const auto move = [&](obs::KeyId& key) {
    if (key.valid() && key.value < to.size()) key.value = to[key.value];
  };
  for (Operation& operation : mapped.plan.operations) {
    move(operation.key);
    move(operation.secondKey);
    if (operation.kind == OperationKind::transfer && operation.secondKey == operation.key) {
      operation.kind = OperationKind::lockedUpdate;
      operation.secondKey = obs::KeyId::none();
    }
  }
  return mapped;
}

Case cutAt(const Case& whole, obs::TrueInstant end) {
  Case part = whole;
  part.plan.endAt = end;
  part.plan.healAt = std::min(part.plan.healAt, end);
  std::erase_if(part.plan.operations, [&](const Operation& operation) { return operation.at > end; });
  std::erase_if(part.plan.faults, [&](const Fault& fault) { return fault.at > end; });
  return part;
}

std::vector<std::uint16_t> nodesIn(const Case& whole) {
  std::set<std::uint16_t> nodes;
  const auto add = [&](obs::NodeId node) {
    if (node.valid()) nodes.insert(node.value);
  };
  for (const Operation& operation : whole.plan.operations) add(operation.node);
  for (const Fault& fault : whole.plan.faults) {
    add(fault.node);
    add(fault.peer);
    for (std::uint16_t i = 0; fault.kind == FaultKind::partition && i < whole.options.nodes; ++i) {
      if ((fault.amount >> i & 1) != 0) nodes.insert(i);
    }
  }
  for (std::size_t i = 0; i < whole.plan.clocks.size(); ++i) {
    if (whole.plan.clocks[i] != ClockSettings{}) nodes.insert(static_cast<std::uint16_t>(i));
  }
  return {nodes.begin(), nodes.end()};
}

std::vector<std::uint32_t> keysIn(const Case& whole) {
  std::set<std::uint32_t> keys;
  for (const Operation& operation : whole.plan.operations) {
    if (operation.key.valid()) keys.insert(operation.key.value);
    if (operation.secondKey.valid()) keys.insert(operation.secondKey.value);
  }
  return {keys.begin(), keys.end()};
}

}  // namespace holdfast::shrink
