#include "scenarios/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scenarios/reflected_json.hpp"
#include "sim/clock.hpp"

namespace holdfast::scenarios {
namespace {

using Problem = std::optional<std::string>;

Problem judgeNode(const std::string& path, NodeId node, const RunOptions& options, bool mayBeNone) {
  if (!node.valid() && mayBeNone) return std::nullopt;
  if (node.valid() && node.value < options.nodes) return std::nullopt;
  const std::string found = node.valid() ? std::to_string(node.value) : "null";
  return fmt::format("{} is {}; expected 0 to {}{}", path, found, options.nodes - 1,
                     mayBeNone ? ", or null for every node" : "");
}

Problem judgeKey(const std::string& path, KeyId key, const RunOptions& options) {
  if (key.valid() && key.value < options.keys) return std::nullopt;
  const std::string found = key.valid() ? std::to_string(key.value) : "null";
  return fmt::format("{} is {}; expected 0 to {}", path, found, options.keys - 1);
}

Problem judgeInstant(const std::string& path, TrueInstant at, const Plan& plan) {
  if (at.ns >= 0 && at <= plan.endAt) return std::nullopt;
  return fmt::format("{} is {} ns; expected 0 to endAt, which is {} ns", path, at.ns, plan.endAt.ns);
}

// Longer than any run, and short enough for sums of a few of them.
constexpr Duration kLongest = sim::hours(24 * 365);

Problem judgeDuration(const std::string& path, Duration duration, Duration least = {}) {
  if (duration >= least && duration <= kLongest) return std::nullopt;
  return fmt::format("{} is {} ns; expected {} to {} ns", path, duration.ns, least.ns, kLongest.ns);
}

Problem judge(const Operation& operation, const std::string& path, const Plan& plan,
              const RunOptions& options) {
  if (auto wrong = judgeInstant(path + ".at", operation.at, plan)) return wrong;
  if (auto wrong = judgeNode(path + ".node", operation.node, options, false)) return wrong;
  if (auto wrong = judgeKey(path + ".key", operation.key, options)) return wrong;
  if (operation.kind == OperationKind::transfer) {
    if (auto wrong = judgeKey(path + ".secondKey", operation.secondKey, options)) return wrong;
    if (operation.secondKey == operation.key) {
      return fmt::format("{0}.secondKey is {1}, the same as {0}.key; expected another key", path,
                         operation.key.value);
    }
  }
  if (auto wrong = judgeDuration(path + ".wait", operation.wait)) return wrong;
  if (auto wrong = judgeDuration(path + ".lease", operation.lease)) return wrong;
  if (auto wrong = judgeDuration(path + ".think", operation.think)) return wrong;
  return judgeDuration(path + ".stampAhead", operation.stampAhead, -kLongest);
}

bool isShare(FaultKind kind) {
  switch (kind) {
    case FaultKind::loss:
    case FaultKind::duplication:
    case FaultKind::reordering:
    case FaultKind::commitAbort:
    case FaultKind::commitFailure:
    case FaultKind::sendFailure:
      return true;
    default:
      return false;
  }
}

bool isForAllNodes(FaultKind kind) {
  return kind == FaultKind::partition || kind == FaultKind::loss || kind == FaultKind::duplication ||
         kind == FaultKind::reordering;
}

bool hasPeer(FaultKind kind) {
  return kind == FaultKind::cutOneWay || kind == FaultKind::latencySpike || kind == FaultKind::applyFailure ||
         kind == FaultKind::replaceMember;
}

Problem judge(const Fault& fault, const std::string& path, const Plan& plan, const RunOptions& options) {
  if (auto wrong = judgeInstant(path + ".at", fault.at, plan)) return wrong;
  // A fault of all nodes may leave out the node; one that it has must exist even so.
  if (auto wrong = judgeNode(path + ".node", fault.node, options, isForAllNodes(fault.kind))) return wrong;
  if (hasPeer(fault.kind)) {
    if (auto wrong = judgeNode(path + ".peer", fault.peer, options, false)) return wrong;
    if (fault.peer == fault.node) {
      return fmt::format("{}.peer is {}, the node itself; expected another node", path, fault.peer.value);
    }
  }
  if (auto wrong = judgeDuration(path + ".duration", fault.duration)) return wrong;
  std::int64_t least = INT64_MIN;
  std::int64_t most = INT64_MAX;
  if (isShare(fault.kind)) {
    least = 0;
    most = sim::kPpmOne;
  } else if (fault.kind == FaultKind::rateChange || fault.kind == FaultKind::wallRate) {
    least = -sim::kMaxRatePpb;
    most = sim::kMaxRatePpb;
  } else if (fault.kind == FaultKind::latencySpike || fault.kind == FaultKind::slowApply ||
             fault.kind == FaultKind::slowCommit) {
    least = 0;
    most = kLongest.ns;
  } else if (fault.kind == FaultKind::wallJump) {
    least = -kLongest.ns;
    most = kLongest.ns;
  }
  if (fault.amount >= least && fault.amount <= most) return std::nullopt;
  return fmt::format("{}.amount is {}; expected {} to {} for {}", path, fault.amount, least, most,
                     obs::nameOf(fault.kind));
}

Problem judgeIds(const Plan& plan) {
  std::vector<std::uint64_t> ids;
  ids.reserve(plan.operations.size() + plan.faults.size());
  for (const Operation& operation : plan.operations) ids.push_back(operation.id);
  for (const Fault& fault : plan.faults) ids.push_back(fault.id);
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice == ids.end()) return std::nullopt;
  return fmt::format("the id {} is used twice; expected an id of its own for each operation and fault",
                     *twice);
}

Problem judge(const Plan& plan, const RunOptions& options) {
  if (plan.healAt.ns < 0 || plan.endAt < plan.healAt || plan.endAt.ns > kLongest.ns) {
    return fmt::format("healAt is {} ns and endAt {} ns; expected 0 <= healAt <= endAt <= {} ns",
                       plan.healAt.ns, plan.endAt.ns, kLongest.ns);
  }
  if (plan.clocks.size() > options.nodes) {
    return fmt::format("clocks has {} entries; expected at most {}, one a node", plan.clocks.size(),
                       options.nodes);
  }
  for (std::size_t i = 0; i < plan.clocks.size(); ++i) {
    for (const std::int64_t rate : {plan.clocks[i].ratePpb, plan.clocks[i].wallRatePpb}) {
      if (rate < -sim::kMaxRatePpb || rate > sim::kMaxRatePpb) {
        return fmt::format("clocks[{}] has a rate of {} ppb; expected {} to {}", i, rate, -sim::kMaxRatePpb,
                           sim::kMaxRatePpb);
      }
    }
    for (const std::int64_t start : {plan.clocks[i].monotonic.ns, plan.clocks[i].wallOffset.ns}) {
      if (start < -kLongest.ns || start > kLongest.ns) {
        return fmt::format("clocks[{}] starts {} ns off; expected {} to {}", i, start, -kLongest.ns,
                           kLongest.ns);
      }
    }
  }
  for (std::size_t i = 0; i < plan.operations.size(); ++i) {
    if (auto wrong = judge(plan.operations[i], fmt::format("operations[{}]", i), plan, options)) return wrong;
  }
  for (std::size_t i = 0; i < plan.faults.size(); ++i) {
    if (auto wrong = judge(plan.faults[i], fmt::format("faults[{}]", i), plan, options)) return wrong;
  }
  return judgeIds(plan);
}

}  // namespace

std::expected<void, std::string> validate(const Plan& plan, const RunOptions& options) {
  if (auto wrong = judge(plan, options)) return std::unexpected("plan: " + *wrong);
  return {};
}

nlohmann::json toJson(const Plan& plan) { return nlohmann::json(writeJson(plan)); }
nlohmann::json toJson(const RunOptions& options) { return nlohmann::json(writeJson(options)); }

std::expected<Plan, std::string> planFromJson(const nlohmann::json& json) {
  Plan plan;
  if (auto wrong = readJson(json, plan, "plan", Missing::refused)) return std::unexpected(std::move(*wrong));
  return plan;
}

std::expected<RunOptions, std::string> optionsFromJson(const nlohmann::json& json) {
  RunOptions options;
  if (auto wrong = readJson(json, options, "options", Missing::kept))
    return std::unexpected(std::move(*wrong));
  return options;
}

}  // namespace holdfast::scenarios
