#include "cli/step_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace holdfast::cli {
namespace {

using scenarios::Fault;
using scenarios::FaultKind;
using scenarios::Operation;

std::string seconds(std::int64_t ns) {
  const std::int64_t ms = std::abs(ns) / 1'000'000;
  const std::int64_t rest = std::abs(ns) % 1'000'000;
  const std::string fine = rest == 0 ? "" : fmt::format("{:06}", rest);
  return fmt::format("{}{}.{:03}{} s", ns < 0 ? "-" : "", ms / 1'000, ms % 1'000, fine);
}

std::string nameAt(std::span<const std::string> names, std::size_t id, bool valid) {
  if (!valid) return "all";
  return id < names.size() ? names[id] : fmt::to_string(id);
}

class StepWriter {
 public:
  explicit StepWriter(const checkers::Names& names) : names_(names) {}

  std::string text(const Operation& o) const {
    std::string line = fmt::format("node {}: {} of {}", node(o.node), obs::nameOf(o.kind), key(o.key));
    if (o.secondKey.valid()) line += fmt::format(" and {}", key(o.secondKey));
    line += fmt::format(", wait {}, lease {}", seconds(o.wait.ns), seconds(o.lease.ns));
    if (o.think.ns != 0) line += fmt::format(", think {}", seconds(o.think.ns));
    if (o.stampAhead.ns != 0) line += fmt::format(", stamp {} ahead", seconds(o.stampAhead.ns));
    return line;
  }

  std::string text(const Fault& f) const {
    std::string line = fmt::format("fault: {}", obs::nameOf(f.kind));
    if (f.kind == FaultKind::partition) return line + fmt::format(" of {}{}", side(f), during(f));
    if (f.node.valid()) line += fmt::format(" of {}", node(f.node));
    if (f.peer.valid()) line += fmt::format(" to {}", node(f.peer));
    switch (f.kind) {
      case FaultKind::crash:
        return line + (f.amount == 1 ? " with its machine" : "") + during(f);
      case FaultKind::latencySpike:
      case FaultKind::slowApply:
      case FaultKind::slowCommit:
        return line + fmt::format(" by {}{}", seconds(f.amount), during(f));
      case FaultKind::rateChange:
      case FaultKind::wallRate:
        return line + fmt::format(" to {} ppb", f.amount);
      case FaultKind::wallJump:
        return line + fmt::format(" by {}", seconds(f.amount));
      default:
        return line + (f.amount != 0 ? fmt::format(" of {} ppm", f.amount) : "") + during(f);
    }
  }

  std::string clock(std::size_t i, const scenarios::ClockSettings& c) const {
    std::string line = fmt::format("clocks of node {}:", nameAt(names_.nodes, i, true));
    if (c.monotonic.ns != 0) line += fmt::format(" monotonic from {}", seconds(c.monotonic.ns));
    if (c.ratePpb != 0) line += fmt::format(" rate {} ppb", c.ratePpb);
    if (c.wallOffset.ns != 0) line += fmt::format(" wall off by {}", seconds(c.wallOffset.ns));
    if (c.wallRatePpb != 0) line += fmt::format(" wall rate {} ppb", c.wallRatePpb);
    return line;
  }

 private:
  std::string node(obs::NodeId id) const { return nameAt(names_.nodes, id.value, id.valid()); }
  std::string key(obs::KeyId id) const { return nameAt(names_.keys, id.value, id.valid()); }
  static std::string during(const Fault& f) { return fmt::format(" for {}", seconds(f.duration.ns)); }
  std::string side(const Fault& f) const {
    std::string members;
    for (std::size_t i = 0; i < names_.nodes.size() && i < 63; ++i) {
      if ((f.amount >> i & 1) != 0) members += (members.empty() ? "" : ", ") + names_.nodes[i];
    }
    return members;
  }

  checkers::Names names_;
};

}  // namespace

std::vector<std::string> stepLines(const scenarios::Plan& plan, const checkers::Names& names) {
  const StepWriter writer(names);
  std::vector<std::pair<std::int64_t, std::string>> steps;
  for (std::size_t i = 0; i < plan.clocks.size(); ++i) {
    if (plan.clocks[i] != scenarios::ClockSettings{}) steps.emplace_back(0, writer.clock(i, plan.clocks[i]));
  }
  for (const Operation& operation : plan.operations) {
    steps.emplace_back(operation.at.ns, writer.text(operation));
  }
  for (const Fault& fault : plan.faults) steps.emplace_back(fault.at.ns, writer.text(fault));
  std::ranges::stable_sort(steps, {}, &std::pair<std::int64_t, std::string>::first);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    lines.push_back(fmt::format("step {:<6} {}: {}", i + 1, seconds(steps[i].first), steps[i].second));
  }
  return lines;
}

}  // namespace holdfast::cli
