#include "skew/families.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "protocol/routing.hpp"
#include "scenarios/cluster.hpp"
#include "scenarios/swarm.hpp"

namespace holdfast::skew {
namespace {

using obs::KeyId;
using obs::NodeId;
using obs::TrueInstant;
using protocol::MembershipKind;
using protocol::ProtocolOptions;
using scenarios::Fault;
using scenarios::FaultKind;
using scenarios::Operation;
using scenarios::OperationKind;
using scenarios::Plan;
using scenarios::RunOptions;

// Ids of scripted faults, beyond all that plans draw.
constexpr std::uint64_t kScripted = 3'000'000'000'000;

enum ScriptDraw : std::uint64_t {
  leaseLength = 100,
  marginShare,
  renewals,
  kindOfMembership,
  howManyNodes,
  howManyKeys,
  whichHolder,
  whichContender,
  firstAsk,
  replyTakes,
  replyIsLate,
  recallsLost,
  patience,
  adversaries,
  thinks,
  comesBack,
  contends,
  disturbed,
  phase,
  cutFrom,
  victims,
  wayOfLeaving,
  slowPrepares,
  restarts,
  delays
};

std::vector<NodeId> nodesOf(const RunOptions& options) {
  std::vector<NodeId> nodes;
  for (std::uint16_t i = 0; i < options.nodes; ++i) nodes.push_back(NodeId{i});
  return nodes;
}

void withoutFaults(scenarios::FaultOptions& faults) {
  obs::forEachField(faults, [](std::string_view, auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, scenarios::FaultRate>) field = {};
  });
}

/// Adds faults with ids of their own.
class FaultWriter {
 public:
  explicit FaultWriter(Plan& plan) : plan_(plan) {}

  Fault& add(FaultKind kind, TrueInstant at, Duration lasts, std::int64_t amount = 0) {
    Fault fault;
    fault.id = kScripted + plan_.faults.size();
    fault.at = at;
    fault.kind = kind;
    fault.duration = std::min(lasts, plan_.endAt - at);
    fault.amount = amount;
    return plan_.faults.emplace_back(fault);
  }

  void between(FaultKind kind, NodeId from, NodeId to, TrueInstant at, Duration lasts,
               std::int64_t amount = 0) {
    Fault& fault = add(kind, at, lasts, amount);
    fault.node = from;
    fault.peer = to;
  }

  void of(FaultKind kind, NodeId node, TrueInstant at, Duration lasts, std::int64_t amount = 0) {
    add(kind, at, lasts, amount).node = node;
  }

 private:
  Plan& plan_;
};

void addOperation(Plan& plan, OperationKind kind, NodeId node, TrueInstant at, Duration wait, Duration lease,
                  Duration think) {
  Operation operation;
  operation.id = plan.operations.size() + 1;
  operation.at = at;
  operation.node = node;
  operation.kind = kind;
  operation.key = KeyId{0};
  operation.wait = wait;
  operation.lease = lease;
  operation.think = think;
  plan.operations.push_back(operation);
}

}  // namespace

ProtocolOptions drawProtocol(const Draws& draws, Family family) {
  ProtocolOptions p = scenarios::epochs();
  if (family == Family::succession) {
    // Short delegations under long membership leases: what is reserved is longer than what is waited besides.
    p.epochLease = draws.between(sim::seconds(4), sim::seconds(8), renewals);
    p.maxDelegation = draws.between(p.epochLease / 5, p.epochLease / 2, leaseLength);
    p.renewEvery = p.epochLease / 6;
    p.missedRenewals = 2;
    // Half of the proposers are patient enough for messages that take most of a lease (EP-8).
    p.proposalTimeout = draws.percent(50, patience) ? p.epochLease * 3 / 2 : sim::milliseconds(700);
    p.proposalBackoff = sim::milliseconds(300);
  } else {
    p.maxDelegation = draws.between(sim::milliseconds(1'500), sim::seconds(10), leaseLength);
    if (family == Family::handoff && draws.percent(50, kindOfMembership))
      p.membership = MembershipKind::fixed;
    // Memberships outlast the handoff, so that the delegation alone is what ends.
    p.epochLease = family == Family::handoff ? p.maxDelegation : sim::seconds(4);
    p.renewEvery = p.epochLease / 4;
  }
  p.minUseful = p.maxDelegation / 8;
  const Duration longest =
      p.membership == MembershipKind::fixed ? p.maxDelegation : std::max(p.maxDelegation, p.epochLease);
  p.skew = draws.between(longest / 200, longest / 12, marginShare);
  // Two clocks that are off by as much as the margin covers, one each way (EP-8).
  const std::int64_t drift = scenarios::driftCovered(p);
  p.rateErrorPpb =
      static_cast<std::uint32_t>(sim::Int128{drift} * 2'000'000'000 / (1'000'000'000 - drift)) + 1;
  return p;
}

Script writeHandoff(RunOptions options, const Draws& draws) {
  options.nodes = 3;
  options.keys = 1;
  const Duration lease = options.protocol.maxDelegation;
  if (draws.percent(70, patience)) options.protocol.retryEvery = lease * 4;
  withoutFaults(options.faults);

  const auto directory = scenarios::makeDirectory(options);
  const NodeId home = protocol::homeOf(*directory, nodesOf(options), KeyId{0}, options.protocol.ringVersion);
  const auto other = [&](std::uint64_t step) {
    return NodeId{static_cast<std::uint16_t>((home.value + step) % options.nodes)};
  };
  const std::uint64_t step = 1 + draws.below(2, whichHolder);
  const NodeId holder = other(step);
  const NodeId contender = draws.percent(70, whichContender) ? other(3 - step) : home;

  Script script{options, {}, std::vector<ClockWish>(options.nodes), lease * 2};
  if (draws.percent(60, adversaries)) {
    script.wishes[holder.value] = {true, false};
    script.wishes[home.value] = {true, true};
  }
  Plan& plan = script.plan;
  const TrueInstant asks = TrueInstant{} + draws.between(sim::milliseconds(800), sim::seconds(2), firstAsk);
  plan.endAt = plan.healAt = asks + lease * 3 + sim::seconds(2);
  const Duration late = draws.percent(50, replyIsLate)
                            ? draws.between({}, lease + options.protocol.skew + sim::seconds(1), replyTakes)
                            : Duration{};
  FaultWriter faults(plan);
  if (late > Duration{}) {
    faults.between(FaultKind::latencySpike, home, holder, asks - sim::milliseconds(5), sim::milliseconds(60),
                   late.ns);
  }
  if (draws.percent(70, recallsLost)) {
    faults.between(FaultKind::cutOneWay, home, holder, asks + late + sim::milliseconds(80), lease * 4);
  }
  if (draws.percent(20, disturbed)) {
    faults.add(FaultKind::duplication, asks - sim::milliseconds(5), lease * 3, 300'000);
    faults.add(FaultKind::reordering, asks - sim::milliseconds(5), lease * 3, 300'000);
  }

  // The holder stays inside, or comes back to its delegation as late as it may, and holds on to the end of
  // it.
  const bool stays = late > Duration{} || draws.percent(30, thinks);
  addOperation(plan, OperationKind::lockedUpdate, holder, asks, lease * 3, lease * 2,
               stays ? draws.between(lease / 4, lease, thinks) : sim::milliseconds(20));
  for (std::uint64_t n = 0; n < 2; ++n) {
    const Duration after = draws.of(n).between(lease / 2, lease, comesBack);
    addOperation(plan, n == 0 ? OperationKind::lockedUpdate : OperationKind::readOnlySection, holder,
                 asks + after, lease, lease * 2, lease);
  }
  for (std::uint64_t n = 0; n < 3; ++n) {
    const Draws own = draws.of(10 + n);
    addOperation(plan, OperationKind::lockedUpdate, n == 2 ? home : contender,
                 asks + own.between(sim::milliseconds(30), lease, contends), lease * 3, lease,
                 own.between(sim::milliseconds(10), lease / 2, thinks));
  }
  return script;
}

namespace {

/// The worked example of EP-8 with any figures. An operator has two of three members leave out the third,
/// from whom the proposer is cut off. The prepare takes most of a lease or more to the acceptor on which the
/// majority depends, and meanwhile that one goes on acknowledging the third.
void writeLatePrepare(Script& script, const Draws& draws, TrueInstant at) {
  ProtocolOptions& p = script.options.protocol;
  p.missedRenewals = 50;  // nobody is proposed away for being silent
  p.proposalTimeout = p.epochLease * 2;
  const std::uint64_t leaver = draws.below(3, victims);
  // The operator talks to the first member that is not to leave.
  const NodeId holder{static_cast<std::uint16_t>(leaver)};
  const NodeId proposer{static_cast<std::uint16_t>(leaver == 0 ? 1 : 0)};
  const NodeId acceptor{static_cast<std::uint16_t>(leaver == 2 ? 1 : 2)};
  const Duration late = draws.between(p.epochLease / 2, p.epochLease * 5 / 4, replyTakes);
  const Duration away = p.epochLease * 4;
  FaultWriter faults(script.plan);
  faults.of(FaultKind::dismissMember, holder, at, away);
  faults.between(FaultKind::latencySpike, proposer, acceptor, at - sim::milliseconds(1),
                 sim::milliseconds(20), late.ns);
  const TrueInstant promised = at + late + draws.between({}, sim::milliseconds(5), delays);
  for (const auto& [other, from] : {std::pair(proposer, at), std::pair(acceptor, promised)}) {
    faults.between(FaultKind::cutOneWay, holder, other, from, away);
    faults.between(FaultKind::cutOneWay, other, holder, from, away);
  }
}

/// Some nodes leave the others, who make a membership without them; some of those restart meanwhile.
void writeDeparture(Script& script, const Draws& draws, TrueInstant at) {
  const ProtocolOptions& p = script.options.protocol;
  const std::uint16_t nodes = script.options.nodes;
  FaultWriter faults(script.plan);
  const std::uint64_t first = draws.below(nodes, victims);
  const auto node = [&](std::uint64_t step) {
    return NodeId{static_cast<std::uint16_t>((first + step) % nodes)};
  };
  const Duration away = p.epochLease * 2 + p.maxDelegation * 2;
  switch (draws.below(4, wayOfLeaving)) {
    case 0:
      faults.of(FaultKind::isolate, node(0), at, away);
      break;
    case 1:
      faults.add(FaultKind::partition, at, away,
                 (std::int64_t{1} << node(0).value) | (std::int64_t{1} << node(1).value));
      break;
    case 2:
      faults.of(FaultKind::dismissMember, node(0), at, away);
      break;
    default:
      // It still hears the others, and they do not hear it.
      for (std::uint64_t step = 1; step < nodes; ++step) {
        faults.between(FaultKind::cutOneWay, node(0), node(step), at, away);
      }
      break;
  }
  for (std::uint64_t step = 2; step < nodes; ++step) {
    const Draws own = draws.of(step);
    if (own.percent(50, restarts)) {
      // Before or while the members agree on who stays (EP-10).
      const TrueInstant down = at - sim::milliseconds(600) + own.between({}, p.epochLease / 2, cutFrom);
      faults.of(FaultKind::crash, node(step), down,
                own.between(sim::milliseconds(20), sim::milliseconds(400), howManyKeys),
                own.percent(30, wayOfLeaving) ? 1 : 0);
    }
    if (own.percent(25, delays)) {
      faults.between(FaultKind::latencySpike, node(step), node(own.below(2, victims) == 0 ? step + 1 : 0), at,
                     p.epochLease, own.between({}, p.epochLease / 2, delays).ns);
    }
  }
}

}  // namespace

Script writeSuccession(RunOptions options, const Draws& draws) {
  const ProtocolOptions& p = options.protocol;
  options.nodes = static_cast<std::uint16_t>(3 + draws.below(3, howManyNodes));
  options.keys = 2;
  withoutFaults(options.faults);
  options.faults.sparePpm = 0;
  options.faultPhase = p.epochLease * 4 + p.maxDelegation * 2;
  options.healedPhase = options.workload.intoHealedPhase = {};
  options.workload.gap = p.maxDelegation;
  options.workload.wait = p.maxDelegation * 2;
  options.workload.lease = p.maxDelegation;
  options.workload.think = {sim::milliseconds(5), p.maxDelegation / 3, p.maxDelegation, 100'000};

  Script script{options, scenarios::drawPlan(options), std::vector<ClockWish>(options.nodes),
                p.epochLease * 2};
  if (draws.percent(50, adversaries)) {
    for (std::size_t i = 0; i < script.wishes.size(); ++i) {
      script.wishes[i] = {true, draws.of(100 + i).percent(50, adversaries)};
    }
  }
  const TrueInstant at = TrueInstant{} + draws.between(sim::seconds(1), p.epochLease, cutFrom);
  if (options.nodes == 3 && draws.percent(70, slowPrepares)) {
    writeLatePrepare(script, draws.of(1), at);
    return script;
  }
  writeDeparture(script, draws.of(1), at);
  if (draws.percent(40, phase)) {
    writeDeparture(script, draws.of(2), at + draws.between({}, p.epochLease * 2, phase));
  }
  return script;
}

Script writeEveryday(RunOptions options, const Draws& draws, bool heals) {
  options.nodes = static_cast<std::uint16_t>(3 + draws.below(3, howManyNodes));
  options.keys = static_cast<std::uint32_t>(2 + draws.below(3, howManyKeys));
  options.faultPhase = draws.between(sim::seconds(12), sim::seconds(25), phase);
  options.workload.gap = sim::milliseconds(1'600);
  options.workload.hotKeyPpm = 400'000;
  options.healedPhase = options.workload.intoHealedPhase = {};
  if (heals) {
    // Long enough for every key to be asked for after the bound within which it must be obtainable.
    const Duration bound = scenarios::checkerOptionsFor(options).livenessBound;
    options.workload.intoHealedPhase = bound + sim::seconds(6);
    options.healedPhase = options.workload.intoHealedPhase + sim::seconds(8);
    options.workload.gap = sim::milliseconds(3'200);
  }
  // Of three members one is too many to lose for good: who comes back with a blank disk is another (EP-11).
  if (options.nodes == 3) options.faults.replaceDisk = options.faults.corruptDisk = {};
  // Clocks and stalls come from the histories.
  options.faults.pause = options.faults.rateChange = options.faults.wallJump = {};
  return {options, scenarios::drawPlan(options), {}, options.protocol.maxDelegation * 3};
}

}  // namespace holdfast::skew
