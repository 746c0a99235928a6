#include "skew/boundary.hpp"

#include <algorithm>

#include "protocol/routing.hpp"
#include "scenarios/cluster.hpp"
#include "shrink/first_of.hpp"
#include "sim/clock.hpp"
#include "skew/generate.hpp"
#include "skew/property.hpp"

namespace holdfast::skew {
namespace {

using obs::KeyId;
using obs::NodeId;
using obs::TrueInstant;
using scenarios::FaultKind;
using scenarios::OperationKind;

constexpr TrueInstant kAsks{1'000'000'000};
constexpr Duration kInstant = sim::nanoseconds(1);

scenarios::Operation edgeOperation(std::uint64_t id, NodeId node, TrueInstant at, Duration length) {
  scenarios::Operation operation;
  operation.id = id;
  operation.at = at;
  operation.node = node;
  operation.key = KeyId{0};
  operation.wait = operation.lease = length;
  return operation;
}

/// Plans of handoffs with the clocks of the adversary's bound, and delays and faults of all kinds.
bool randomPlanBreaks(const BoundaryOptions& options, const protocol::ProtocolOptions& protocol,
                      std::int64_t driftPpb, std::uint64_t& runs) {
  GeneratorOptions generator;
  generator.seed = options.seed;
  generator.maxDriftPpb = driftPpb;
  generator.protocol = protocol;
  std::uint32_t plans = 0;
  for (std::uint64_t index = 0; plans < options.randomPlans; ++index) {
    const Generated made = generate(generator, index, Family::handoff);
    ++plans;
    ++runs;
    if (breaksExclusion(made.whole, options.rules)) return true;
  }
  return false;
}

BoundaryCell searchCell(const BoundaryOptions& options, Duration lease, Duration skew) {
  BoundaryCell cell{lease, skew, closedFormPpb(lease, skew), {}, false, 0};
  const protocol::ProtocolOptions protocol = edgeProtocol(lease, skew);
  cell.foundPpb = bisect(0, sim::kMaxRatePpb, [&](std::int64_t drift) {
    ++cell.runs;
    return breaksExclusion(edgeCase(protocol, drift), options.rules);
  });
  const std::int64_t inside = cell.foundPpb.value_or(sim::kMaxRatePpb + 1) - 1;
  if (!randomPlanBreaks(options, protocol, inside, cell.runs)) return cell;
  cell.byRandomPlan = true;
  cell.foundPpb = bisect(
      -1, inside, [&](std::int64_t drift) { return randomPlanBreaks(options, protocol, drift, cell.runs); });
  return cell;
}

}  // namespace

std::int64_t closedFormPpb(Duration lease, Duration skew) {
  protocol::ProtocolOptions options;
  options.maxDelegation = lease;
  options.skew = skew;
  return scenarios::driftCovered(options);
}

std::optional<std::int64_t> bisect(std::int64_t lo, std::int64_t hi,
                                   const std::function<bool(std::int64_t)>& breaks) {
  if (!breaks(hi)) return std::nullopt;
  while (hi - lo > 1) {
    const std::int64_t middle = lo + (hi - lo) / 2;
    (breaks(middle) ? hi : lo) = middle;
  }
  return hi;
}

protocol::ProtocolOptions edgeProtocol(Duration lease, Duration skew) {
  protocol::ProtocolOptions options;
  options.maxDelegation = lease;
  options.skew = skew;
  options.minUseful = lease / 8;
  options.retryEvery = lease * 4;
  // Memberships outlast the handoff, so that the delegation alone is what ends.
  options.epochLease = lease * 8 + skew * 4;
  options.renewEvery = options.epochLease / 4;
  return options;
}

shrink::Case edgeCase(const protocol::ProtocolOptions& protocol, std::int64_t driftPpb) {
  shrink::Case edge;
  scenarios::RunOptions& options = edge.options;
  options.nodes = 3;
  options.keys = 1;
  options.protocol = protocol;
  options.faults.maxDriftPpb = 0;
  options.delays = {sim::LatencyDistribution::constant(kInstant), {}, {}, {}, kInstant, {}};

  const auto directory = scenarios::makeDirectory(options);
  const std::vector<NodeId> nodes{NodeId{0}, NodeId{1}, NodeId{2}};
  const NodeId home = protocol::homeOf(*directory, nodes, KeyId{0}, protocol.ringVersion);
  const NodeId holder{static_cast<std::uint16_t>((home.value + 1) % 3)};
  const NodeId waiter{static_cast<std::uint16_t>((home.value + 2) % 3)};
  scenarios::Plan& plan = edge.plan;
  plan.clocks.resize(3);
  plan.clocks[home.value].ratePpb = driftPpb;
  plan.clocks[holder.value].ratePpb = -driftPpb;

  const Duration lease = protocol.maxDelegation;
  plan.endAt = plan.healAt = kAsks + lease * 4 + protocol.skew * 2;
  plan.operations.push_back(edgeOperation(1, holder, kAsks, lease * 2));
  scenarios::Operation next = edgeOperation(2, waiter, kAsks + lease / 4, lease * 4 + protocol.skew * 2);
  next.think = lease;
  plan.operations.push_back(next);
  scenarios::Operation last = edgeOperation(3, holder, kAsks + lease * 3 / 4, lease * 2);
  last.kind = OperationKind::readOnlySection;
  last.think = lease * 2;
  plan.operations.push_back(last);
  scenarios::Fault deaf;
  deaf.id = 4;
  deaf.at = kAsks + lease / 8;
  deaf.kind = FaultKind::cutOneWay;
  deaf.node = home;
  deaf.peer = holder;
  deaf.duration = plan.endAt - deaf.at;
  plan.faults.push_back(deaf);
  return edge;
}

bool breaksExclusion(const shrink::Case& whole, const protocol::Rules& rules) {
  Properties exclusion;
  exclusion.insert(Property::exclusion);
  return !judge(whole, rules, exclusion).broken.empty();
}

std::vector<BoundaryCell> searchBoundary(const BoundaryOptions& options) {
  const std::size_t columns = options.skews.size();
  const std::size_t cells = options.leases.size() * columns;
  std::vector<BoundaryCell> found(cells);
  // Cells are independent, so those of a batch are searched side by side.
  const std::size_t batch = std::max(1U, options.jobs) * std::size_t{2};
  for (std::size_t first = 0; first < cells; first += batch) {
    const std::size_t size = std::min(batch, cells - first);
    shrink::firstOf(size, options.jobs, [&](std::size_t i) {
      const std::size_t cell = first + i;
      found[cell] = searchCell(options, options.leases[cell / columns], options.skews[cell % columns]);
      return false;
    });
    if (options.progress && !options.progress(first + size, cells)) {
      found.resize(first + size);
      break;
    }
  }
  return found;
}

}  // namespace holdfast::skew
