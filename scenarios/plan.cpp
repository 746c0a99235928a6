#include "scenarios/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "scenarios/reflected_json.hpp"
#include "sim/clock.hpp"

namespace holdfast::scenarios {
namespace {

using Problem = std::optional<std::string>;

Problem judgeNode(const std::string& path, NodeId node, const RunOptions& options, std::string_view none) {
  const bool mayBeNone = !none.empty();
  if (!node.valid() && mayBeNone) return std::nullopt;
  if (node.valid() && node.value < options.nodes) return std::nullopt;
  const std::string found = node.valid() ? std::to_string(node.value) : "null";
  return fmt::format("{} is {}; expected 0 to {}{}{}", path, found, options.nodes - 1,
                     mayBeNone ? ", or null for " : "", none);
}

Problem judgeKey(const std::string& path, KeyId key, const RunOptions& options, bool mayBeNone) {
  if (!key.valid() && mayBeNone) return std::nullopt;
  if (key.valid() && key.value < options.keys) return std::nullopt;
  const std::string found = key.valid() ? std::to_string(key.value) : "null";
  return fmt::format("{} is {}; expected 0 to {}{}", path, found, options.keys - 1,
                     mayBeNone ? ", or null for none" : "");
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
  if (auto wrong = judgeNode(path + ".node", operation.node, options, "")) return wrong;
  if (auto wrong = judgeKey(path + ".key", operation.key, options, false)) return wrong;
  // A key that nobody uses must exist even so: who makes a plan smaller renumbers all keys of its steps.
  const bool transfer = operation.kind == OperationKind::transfer;
  if (auto wrong = judgeKey(path + ".secondKey", operation.secondKey, options, !transfer)) return wrong;
  if (transfer && operation.secondKey == operation.key) {
    return fmt::format("{0}.secondKey is {1}, the same as {0}.key; expected another key", path,
                       operation.key.value);
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
  // What a kind does not use may be left out; a node that is named must exist even so.
  const std::string_view noNode = isForAllNodes(fault.kind) ? "every node" : "";
  if (auto wrong = judgeNode(path + ".node", fault.node, options, noNode)) return wrong;
  const std::string_view noPeer = hasPeer(fault.kind) ? "" : "none";
  if (auto wrong = judgeNode(path + ".peer", fault.peer, options, noPeer)) return wrong;
  if (hasPeer(fault.kind) && fault.peer == fault.node) {
    return fmt::format("{}.peer is {}, the node itself; expected another node", path, fault.peer.value);
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
  struct Use {
    std::uint64_t id;
    bool fault;
    std::size_t index;
    std::string path() const { return fmt::format("{}[{}]", fault ? "faults" : "operations", index); }
  };
  std::vector<Use> uses;
  uses.reserve(plan.operations.size() + plan.faults.size());
  for (std::size_t i = 0; i < plan.operations.size(); ++i) uses.push_back({plan.operations[i].id, false, i});
  for (std::size_t i = 0; i < plan.faults.size(); ++i) uses.push_back({plan.faults[i].id, true, i});
  std::ranges::sort(uses, {}, [](const Use& use) { return std::tuple(use.id, use.fault, use.index); });
  const auto twice = std::ranges::adjacent_find(uses, {}, &Use::id);
  if (twice == uses.end()) return std::nullopt;
  return fmt::format("{}.id is {}, as that of {} is; expected an id of its own for each", twice[1].path(),
                     twice->id, twice->path());
}

Problem judge(const ClockSettings& clock, const std::string& path) {
  const std::pair<std::string_view, std::int64_t> rates[] = {{"ratePpb", clock.ratePpb},
                                                             {"wallRatePpb", clock.wallRatePpb}};
  for (const auto& [name, rate] : rates) {
    if (rate >= -sim::kMaxRatePpb && rate <= sim::kMaxRatePpb) continue;
    return fmt::format("{}.{} is {} ppb; expected {} to {}", path, name, rate, -sim::kMaxRatePpb,
                       sim::kMaxRatePpb);
  }
  const std::pair<std::string_view, std::int64_t> starts[] = {{"monotonic", clock.monotonic.ns},
                                                              {"wallOffset", clock.wallOffset.ns}};
  for (const auto& [name, start] : starts) {
    if (start >= -kLongest.ns && start <= kLongest.ns) continue;
    return fmt::format("{}.{} is {} ns; expected {} to {}", path, name, start, -kLongest.ns, kLongest.ns);
  }
  return std::nullopt;
}

Problem judge(const Plan& plan, const RunOptions& options) {
  if (plan.endAt.ns < 0 || plan.endAt.ns > kLongest.ns) {
    return fmt::format("endAt is {} ns; expected 0 to {} ns", plan.endAt.ns, kLongest.ns);
  }
  if (auto wrong = judgeInstant("healAt", plan.healAt, plan)) return wrong;
  if (plan.clocks.size() > options.nodes) {
    return fmt::format("clocks has {} entries; expected at most {}, one a node", plan.clocks.size(),
                       options.nodes);
  }
  for (std::size_t i = 0; i < plan.clocks.size(); ++i) {
    if (auto wrong = judge(plan.clocks[i], fmt::format("clocks[{}]", i))) return wrong;
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
