// The plan's faults: how each begins and ends, and the healing of them all.
#include <algorithm>

#include "scenarios/cluster.hpp"
#include "scenarios/cluster_draws.hpp"
#include "scenarios/cluster_observe.hpp"

namespace holdfast::scenarios {
namespace {

// How long a gap, or a hole that no fault accounts for, waits for its repair.
constexpr Duration kRepairAfter = sim::seconds(2);
// How long a repair waits for a node that is down.
constexpr Duration kRepairAgain = sim::milliseconds(500);

constexpr Duration kAtOnce = sim::milliseconds(1);

std::uint32_t ppmOf(const Fault& fault) { return static_cast<std::uint32_t>(fault.amount); }

}  // namespace

void Cluster::beginFault(std::uint32_t index) {
  const Fault& fault = plan_.faults[index];
  Machine& m = machine(fault.node.valid() ? fault.node : NodeId{0});
  switch (fault.kind) {
    case FaultKind::crash:
      if (m.process.crashed()) return;
      crash(fault.node);
      m.downBy = fault.id;
      break;
    case FaultKind::pause:
      if (!m.process.running()) return;
      pause(fault.node);
      m.pausedBy = fault.id;
      break;
    case FaultKind::suspend:
      if (!m.process.running()) return;
      suspend(fault.node);
      m.pausedBy = fault.id;
      break;
    case FaultKind::replaceCoordinator:
      replaceCoordinator(fault.node);
      return;
    case FaultKind::applyFailure:
      m.applyFailureOf = fault.peer;
      m.applyRepair = fault.duration;
      return;
    case FaultKind::logPurge:
      m.gapRepair = fault.duration;
      if (const protocol::OwnLog* const log = logOf(fault.node)) purgeLog(fault.node, log->head());
      return;
    case FaultKind::rateChange:
      setClockRate(fault.node, fault.amount);
      return;
    case FaultKind::wallJump:
      jumpWall(fault.node, Duration{fault.amount});
      return;
    case FaultKind::wallRate:
      setWallRate(fault.node, fault.amount);
      return;
    case FaultKind::admitMember:
      letIn(fault.node);
      return;
    case FaultKind::dismissMember:
    case FaultKind::replaceMember:
      beginChange(fault);
      break;
    case FaultKind::replaceDisk:
    case FaultKind::corruptDisk:
      if (m.process.crashed() || !canDoWithout(fault.node)) return;
      if (fault.kind == FaultKind::corruptDisk) {
        (void)corruptRecord(fault.node, protocol::RecordKind::acceptor);
        (void)corruptRecord(fault.node, protocol::RecordKind::certificate);
      }
      crash(fault.node);
      if (fault.kind == FaultKind::replaceDisk) (void)replaceDisk(fault.node);
      m.downBy = fault.id;
      break;
    default:
      break;
  }
  activeFaults_.push_back(index);
  bend(fault.kind);
  queue_.pushKeyed(now_ + fault.duration, draws::tie(draws::kPlanTie, 2, fault.id),
                   {EventKind::faultEnd, NodeId{0}, NodeId::none(), 0, index, 0});
}

void Cluster::endFault(std::uint32_t index) {
  // Gone already when everything was healed before.
  if (std::erase(activeFaults_, index) == 0) return;
  const Fault& fault = plan_.faults[index];
  const bool downs = fault.kind == FaultKind::crash || fault.kind == FaultKind::replaceDisk ||
                     fault.kind == FaultKind::corruptDisk;
  if (fault.kind == FaultKind::dismissMember || fault.kind == FaultKind::replaceMember) {
    endChange(fault);
  } else if (downs) {
    // Whoever crashed the process restarts it: another crash's end must not.
    const bool reboots = fault.kind == FaultKind::crash && fault.amount == 1;
    if (machine(fault.node).downBy == fault.id) restart(fault.node, reboots);
  } else if (fault.kind == FaultKind::pause || fault.kind == FaultKind::suspend) {
    if (machine(fault.node).pausedBy == fault.id) resume(fault.node);
  } else {
    bend(fault.kind);
  }
}

void Cluster::bend(FaultKind kind) {
  switch (kind) {
    case FaultKind::cutOneWay:
    case FaultKind::partition:
    case FaultKind::isolate:
      applyCuts();
      return;
    case FaultKind::loss:
    case FaultKind::duplication:
    case FaultKind::reordering:
    case FaultKind::latencySpike:
      bendNetwork();
      return;
    default:
      bendMachines();
      return;
  }
}

void Cluster::bendMachines() {
  for (Machine& m : machines_) m.bent = Bent{};
  for (const std::uint32_t index : activeFaults_) {
    const Fault& fault = plan_.faults[index];
    if (!fault.node.valid()) continue;
    Bent& bent = machine(fault.node).bent;
    switch (fault.kind) {
      case FaultKind::slowApply:
        bent.slowApply = std::max(bent.slowApply, Duration{fault.amount});
        break;
      case FaultKind::slowCommit:
        bent.slowCommit = std::max(bent.slowCommit, Duration{fault.amount});
        break;
      case FaultKind::commitAbort:
        bent.commitAbortPpm = std::max(bent.commitAbortPpm, ppmOf(fault));
        break;
      case FaultKind::commitFailure:
        bent.commitFailurePpm = std::max(bent.commitFailurePpm, ppmOf(fault));
        break;
      case FaultKind::sendFailure:
        bent.sendFailurePpm = std::max(bent.sendFailurePpm, ppmOf(fault));
        break;
      default:
        break;
    }
  }
}

void Cluster::bendNetwork() {
  sim::LinkOptions options;
  options.latency = setup_.options.delays.link;
  options.retransmit = setup_.options.delays.retransmit;
  options.reorderExtra = setup_.options.faults.reorderExtra;
  std::vector<Duration> extra = manualDelays_;
  for (const std::uint32_t index : activeFaults_) {
    const Fault& fault = plan_.faults[index];
    if (fault.kind == FaultKind::loss) {
      options.lossPpm = std::max(options.lossPpm, ppmOf(fault));
    } else if (fault.kind == FaultKind::duplication) {
      options.duplicatePpm = std::max(options.duplicatePpm, ppmOf(fault));
    } else if (fault.kind == FaultKind::reordering) {
      options.reorderPpm = std::max(options.reorderPpm, ppmOf(fault));
    } else if (fault.kind == FaultKind::latencySpike) {
      Duration& sum = extra[link(fault.node, fault.peer)];
      sum = sum + Duration{fault.amount};
    }
  }
  network_.setAllLinks(options);
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    for (std::uint16_t j = 0; j < nodeCount(); ++j) {
      network_.addDelay(NodeId{i}, NodeId{j}, extra[link(NodeId{i}, NodeId{j})]);
    }
  }
}

// ---- Holes ------------------------------------------------------------------------------------------------

void Cluster::noteHole(NodeId node, NodeId origin, Position from, Position to) {
  const bool gap = from != to || entryIsPurged(origin, from);
  for (Position position = from; position <= to; ++position) {
    holes_.push_back({node, origin, position});
    if (!autoRepair_) continue;
    Duration after = gap ? machine(origin).gapRepair : machine(node).applyRepair;
    if (after <= Duration{}) after = kRepairAfter;
    scheduleRepair(holes_.back(), after);
  }
}

bool Cluster::entryIsPurged(NodeId origin, Position position) const {
  const protocol::OwnLog* const log = logOf(origin);
  return log != nullptr && position < log->first;
}

void Cluster::scheduleRepair(const Hole& hole, Duration after) {
  queue_.pushKeyed(
      now_ + after,
      draws::tie(draws::kRepairTie, draws::pair(hole.node.value, hole.origin.value), hole.position),
      {EventKind::repair, hole.node, hole.origin, 0, 0, hole.position});
}

void Cluster::repair(const Event& event) {
  const auto position = static_cast<Position>(event.argument);
  const auto hole = std::find_if(holes_.begin(), holes_.end(), [&](const Hole& h) {
    return h.node == event.node && h.origin == event.peer && h.position == position;
  });
  if (hole == holes_.end()) return;
  if (!machine(event.node).process.running()) {
    scheduleRepair(*hole, kRepairAgain);
    return;
  }
  repairHole(event.node, event.peer, position);
}

// ---- Healing ----------------------------------------------------------------------------------------------

void Cluster::healEverything() {
  observe(NodeId{0}, obs::PhaseChanged{obs::Phase::healed});
  for (const std::uint32_t index : activeFaults_) endChange(plan_.faults[index]);
  activeFaults_.clear();
  directives_.clear();
  releaseAllHeld();
  std::fill(manualCuts_.begin(), manualCuts_.end(), false);
  std::fill(manualDelays_.begin(), manualDelays_.end(), Duration{});
  for (Machine& m : machines_) {
    m.commitDelay = Duration{-1};
    m.applyFailureOf = NodeId::none();
    m.applyRepair = m.gapRepair = kAtOnce;
  }
  bendMachines();
  bendNetwork();
  applyCuts();
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    resume(NodeId{i});
    restart(NodeId{i});
  }
  // Holes that are found later, by a node that was away, are repaired at once as well.
  autoRepair_ = true;
  for (const Hole& hole : holes_) scheduleRepair(hole, kAtOnce);
}

}  // namespace holdfast::scenarios
