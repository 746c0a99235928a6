#include "scenarios/swarm.hpp"

#include <algorithm>
#include <array>

namespace holdfast::scenarios {
namespace {

// Streams of the draws made here. They are arbitrary but fixed: changing one changes every recorded run.
constexpr std::uint64_t kSwarmStream = 0x73776d2e6f6e6f66ULL;      // "swm.onof"
constexpr std::uint64_t kFaultStream = 0x73776d2e666c7473ULL;      // "swm.flts"
constexpr std::uint64_t kOperationStream = 0x73776d2e6f707273ULL;  // "swm.oprs"
constexpr std::uint64_t kClockStream = 0x73776d2e636c636bULL;      // "swm.clck"

// Swarm draws beyond those of the kinds of faults.
constexpr std::uint64_t kWallOffsets = 1'000;
constexpr std::uint64_t kDrifts = 1'001;
constexpr std::uint64_t kScarceLineage = 1'003;
constexpr std::uint64_t kSpare = 1'004;
constexpr std::uint64_t kBriefRetention = 1'005;

// Ids in decimal tell what they are: node and number of an operation, kind and number of a fault.
constexpr std::uint64_t kOperationNodes = 10'000'000'000;
constexpr std::uint64_t kOperationNumbers = 1'000;
constexpr std::uint64_t kFaults = 1'000'000'000'000;
constexpr std::uint64_t kFaultKinds = 100'000'000;

/// The draws of one operation or fault: independent words, each with a purpose of its own.
struct Draws {
  std::uint64_t word = 0;

  std::uint64_t bits(std::uint64_t purpose) const { return sim::mix(word, purpose); }
  std::uint64_t below(std::uint64_t bound, std::uint64_t purpose) const {
    return sim::scaleBelow(bits(purpose), bound);
  }
  Duration between(Duration lo, Duration hi, std::uint64_t purpose) const {
    return sim::scaleBetween(bits(purpose), lo, hi);
  }
  bool chance(std::uint32_t ppm, std::uint64_t purpose) const { return sim::scaleChance(bits(purpose), ppm); }
  /// Uniform in [-bound, bound].
  std::int64_t either(std::int64_t bound, std::uint64_t purpose) const {
    return between({-bound}, {bound}, purpose).ns;
  }
};

enum Purpose : std::uint64_t {
  when,
  howLong,
  who,
  whom,
  howMuch,
  what,
  how,
  where,
  aside,
  wait,
  lease,
  think,
  ahead,
  burst,
  wide
};

/// Half to one and a half of `typical`.
Duration around(const Draws& draws, Duration typical, std::uint64_t purpose) {
  return draws.between(typical / 2, typical + typical / 2, purpose);
}

const FaultRate& rateOf(const FaultOptions& f, FaultKind kind) {
  switch (kind) {
    case FaultKind::crash:
      return f.crash;
    case FaultKind::replaceCoordinator:
      return f.replaceCoordinator;
    case FaultKind::pause:
      return f.pause;
    case FaultKind::cutOneWay:
      return f.cutOneWay;
    case FaultKind::partition:
      return f.partition;
    case FaultKind::isolate:
      return f.isolate;
    case FaultKind::loss:
      return f.loss;
    case FaultKind::duplication:
      return f.duplication;
    case FaultKind::reordering:
      return f.reordering;
    case FaultKind::latencySpike:
      return f.latencySpike;
    case FaultKind::slowApply:
      return f.slowApply;
    case FaultKind::slowCommit:
      return f.slowCommit;
    case FaultKind::commitAbort:
      return f.commitAbort;
    case FaultKind::commitFailure:
      return f.commitFailure;
    case FaultKind::applyFailure:
      return f.applyFailure;
    case FaultKind::sendFailure:
      return f.sendFailure;
    case FaultKind::logPurge:
      return f.logPurge;
    case FaultKind::rateChange:
      return f.rateChange;
    case FaultKind::wallJump:
      return f.wallJump;
    case FaultKind::admitMember:
      return f.admitMember;
    case FaultKind::dismissMember:
      return f.dismissMember;
    case FaultKind::replaceMember:
      return f.replaceMember;
    case FaultKind::replaceDisk:
      return f.replaceDisk;
    case FaultKind::corruptDisk:
      return f.corruptDisk;
    case FaultKind::wallRate:
    case FaultKind::suspend:
      break;  // of clock histories only
  }
  static constexpr FaultRate kNever{};
  return kNever;
}

std::int64_t amountOf(const RunOptions& options, FaultKind kind, const Draws& draws) {
  const FaultOptions& f = options.faults;
  switch (kind) {
    case FaultKind::crash:
      return draws.chance(f.rebootPpm, howMuch) ? 1 : 0;
    case FaultKind::partition:
      // Neither side is empty: 1 to 2^n - 2.
      return static_cast<std::int64_t>(1 + draws.below((std::uint64_t{1} << options.nodes) - 2, howMuch));
    case FaultKind::loss:
      return f.lossPpm;
    case FaultKind::duplication:
      return f.duplicationPpm;
    case FaultKind::reordering:
      return f.reorderingPpm;
    case FaultKind::latencySpike:
      return draws.between({}, f.spikeExtra, howMuch).ns;
    case FaultKind::slowApply:
      return draws.between({}, f.slowApplyExtra, howMuch).ns;
    case FaultKind::slowCommit:
      return draws.between({}, f.slowCommitExtra, howMuch).ns;
    case FaultKind::commitAbort:
      return f.commitAbortPpm;
    case FaultKind::commitFailure:
      return f.commitFailurePpm;
    case FaultKind::sendFailure:
      return f.sendFailurePpm;
    case FaultKind::rateChange:
      return draws.either(f.maxDriftPpb, howMuch);
    case FaultKind::wallJump:
      return draws.either(f.wallJumpBy.ns, howMuch);
    default:
      return 0;
  }
}

bool needsTwoNodes(FaultKind kind) {
  switch (kind) {
    case FaultKind::cutOneWay:
    case FaultKind::partition:
    case FaultKind::isolate:
    case FaultKind::latencySpike:
    case FaultKind::applyFailure:
    case FaultKind::replaceMember:
      return true;
    default:
      return false;
  }
}

/// Whether the members of this run can be changed in that way.
bool fitsMembership(const RunOptions& options, FaultKind kind) {
  switch (kind) {
    case FaultKind::admitMember:
    case FaultKind::replaceMember:
      return hasSpare(options);
    case FaultKind::dismissMember:
      return options.nodes > 2 && options.protocol.membership != protocol::MembershipKind::fixed;
    case FaultKind::replaceDisk:
    case FaultKind::corruptDisk:
      return options.nodes > 2 && options.protocol.membership == protocol::MembershipKind::epoch;
    default:
      return true;
  }
}

bool hasNode(FaultKind kind) {
  return kind != FaultKind::partition && kind != FaultKind::loss && kind != FaultKind::duplication &&
         kind != FaultKind::reordering;
}

/// A node other than `node`.
NodeId otherNode(const RunOptions& options, NodeId node, const Draws& draws) {
  const auto step = 1 + draws.below(options.nodes - 1U, whom);
  return NodeId{static_cast<std::uint16_t>((node.value + step) % options.nodes)};
}

void drawFaults(const RunOptions& options, FaultKind kind, Plan& plan) {
  const FaultRate& rate = rateOf(options.faults, kind);
  if (rate.meanGap.ns <= 0 || !swarmHas(options, kind)) return;
  if (needsTwoNodes(kind) && options.nodes < 2) return;
  if (!fitsMembership(options, kind)) return;
  const sim::KeyedRandom random{options.seed};
  const auto kindNumber = static_cast<std::uint64_t>(kind);
  const std::uint64_t windows = static_cast<std::uint64_t>(options.faultPhase.ns / rate.meanGap.ns) + 1;
  for (std::uint64_t n = 0; n < windows; ++n) {
    const Draws draws{random.bits(kFaultStream, kindNumber, n)};
    Fault fault;
    fault.id = kFaults + kindNumber * kFaultKinds + n;
    fault.at =
        TrueInstant{} + rate.meanGap * static_cast<std::int64_t>(n) + draws.between({}, rate.meanGap, when);
    if (fault.at >= plan.healAt) continue;
    fault.kind = kind;
    fault.duration = std::min(draws.between(rate.shortest, rate.longest, howLong), plan.healAt - fault.at);
    if (hasNode(kind)) fault.node = NodeId{static_cast<std::uint16_t>(draws.below(options.nodes, who))};
    if (kind == FaultKind::cutOneWay || kind == FaultKind::latencySpike || kind == FaultKind::applyFailure) {
      fault.peer = otherNode(options, fault.node, draws);
    }
    const NodeId last{static_cast<std::uint16_t>(options.nodes - 1)};
    if (kind == FaultKind::admitMember) fault.node = last;
    if (kind == FaultKind::replaceMember) {
      fault.node = NodeId{static_cast<std::uint16_t>(draws.below(options.nodes - 1U, who))};
      fault.peer = last;
    }
    fault.amount = amountOf(options, kind, draws);
    plan.faults.push_back(fault);
  }
}

OperationKind drawKind(const WorkloadOptions& w, const Draws& draws) {
  using enum OperationKind;
  constexpr std::array unlocked{unlockedPut, unlockedPatch, unlockedIncrement, unlockedErase};
  const std::array<std::pair<std::uint32_t, OperationKind>, 10> shares{{
      {w.lockedUpdate, lockedUpdate},
      {w.earlyUnlock, earlyUnlock},
      {w.holdAndReenter, holdAndReenter},
      {w.readOnlySection, readOnlySection},
      {w.unlockedWrite, unlocked[draws.below(unlocked.size(), how)]},
      {w.futureStamp, futureStamp},
      {w.lockedErase, lockedErase},
      {w.transfer, transfer},
      {w.abandon, abandon},
      {w.dropDelegation, dropDelegation},
  }};
  std::uint64_t sum = 0;
  for (const auto& share : shares) sum += share.first;
  std::uint64_t left = draws.below(sum, what);
  for (const auto& share : shares) {
    if (left < share.first) return share.second;
    left -= share.first;
  }
  return lockedUpdate;
}

KeyId drawKey(const RunOptions& options, const Draws& draws) {
  if (draws.chance(options.workload.hotKeyPpm, aside)) return KeyId{0};
  return KeyId{static_cast<std::uint32_t>(draws.below(options.keys, where))};
}

void drawOperations(const RunOptions& options, NodeId node, Plan& plan) {
  const WorkloadOptions& w = options.workload;
  const sim::KeyedRandom random{options.seed};
  const TrueInstant last = plan.healAt + w.intoHealedPhase;
  for (std::uint64_t n = 0;; ++n) {
    const TrueInstant window = TrueInstant{} + w.gap * static_cast<std::int64_t>(n);
    if (window >= last) return;
    const Draws draws{random.bits(kOperationStream, node.value, n)};
    Operation operation;
    operation.id = (node.value + std::uint64_t{1}) * kOperationNodes + n * kOperationNumbers;
    operation.at = window + draws.between({}, w.gap, when);
    if (operation.at >= last) continue;
    operation.node = node;
    operation.kind = drawKind(w, draws);
    operation.key = drawKey(options, draws);
    if (operation.kind == OperationKind::transfer) {
      if (options.keys < 2) {
        operation.kind = OperationKind::lockedUpdate;
      } else {
        const auto step = 1 + draws.below(options.keys - 1U, whom);
        operation.secondKey = KeyId{static_cast<std::uint32_t>((operation.key.value + step) % options.keys)};
      }
    }
    operation.wait = around(draws, w.wait, wait);
    operation.lease = around(draws, w.lease, lease);
    operation.think = w.think.sample(draws.bits(think));
    if (operation.kind == OperationKind::futureStamp) {
      operation.stampAhead = draws.between(sim::nanoseconds(1), w.futureStampBy, ahead);
    }
    if (!draws.chance(w.burstPpm, burst)) {
      plan.operations.push_back(operation);
      continue;
    }
    operation.kind = OperationKind::lockedUpdate;
    operation.secondKey = KeyId::none();
    operation.stampAhead = {};
    const bool spread = draws.chance(sim::kPpmOne / 2, wide);
    for (std::uint32_t caller = 0; caller < w.burstCallers; ++caller) {
      operation.key = KeyId{spread ? caller % options.keys : 0};
      plan.operations.push_back(operation);
      ++operation.id;
    }
  }
}

ClockSettings drawClock(const RunOptions& options, NodeId node) {
  const sim::KeyedRandom random{options.seed};
  const Draws draws{random.bits(kClockStream, node.value, 0)};
  const auto on = [&](std::uint64_t which) {
    return random.chance(options.faults.swarmOnPpm, kSwarmStream, which, 0);
  };
  ClockSettings clock;
  // Offsets of monotonic clocks mean nothing (CK-3), so every run has them.
  clock.monotonic = {draws.between({}, sim::hours(1'000), who).ns};
  if (on(kDrifts)) {
    clock.ratePpb = draws.either(options.faults.maxDriftPpb, howMuch);
    clock.wallRatePpb = draws.either(options.faults.wallDriftPpb, how);
  }
  if (on(kWallOffsets)) clock.wallOffset = {draws.either(options.faults.wallOffsetUpTo.ns, where)};
  return clock;
}

}  // namespace

bool swarmHas(const RunOptions& options, FaultKind kind) {
  return sim::KeyedRandom{options.seed}.chance(options.faults.swarmOnPpm, kSwarmStream,
                                               static_cast<std::uint64_t>(kind), 0);
}

bool lineageIsScarce(const RunOptions& options) {
  return sim::KeyedRandom{options.seed}.chance(options.faults.scarceLineagePpm, kSwarmStream, kScarceLineage,
                                               0);
}

Duration retentionOf(const RunOptions& options) {
  const Draws draws{sim::KeyedRandom{options.seed}.bits(kSwarmStream, kBriefRetention, 0)};
  if (!draws.chance(options.faults.briefRetentionPpm, what)) return options.protocol.tombstoneRetention;
  return std::min(options.protocol.tombstoneRetention,
                  draws.between(sim::seconds(5), sim::seconds(30), howLong));
}

bool hasSpare(const RunOptions& options) {
  const bool changes = options.protocol.membership != protocol::MembershipKind::fixed;
  return changes && options.nodes > 2 &&
         sim::KeyedRandom{options.seed}.chance(options.faults.sparePpm, kSwarmStream, kSpare, 0);
}

Plan drawPlan(const RunOptions& options) {
  Plan plan;
  plan.healAt = TrueInstant{} + options.faultPhase;
  plan.endAt = plan.healAt + options.healedPhase;
  for (std::uint16_t i = 0; i < options.nodes; ++i) {
    plan.clocks.push_back(drawClock(options, NodeId{i}));
    drawOperations(options, NodeId{i}, plan);
  }
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<FaultKind>>(
      [&](auto kind) { drawFaults(options, kind.value, plan); });
  return plan;
}

}  // namespace holdfast::scenarios
