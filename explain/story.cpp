#include "explain/story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "explain/words.hpp"
#include "traces/text.hpp"

namespace holdfast::explain {
namespace {

/// What became of the message that `event` sent, as far as the run tells.
std::string arrivalOf(const Material& m, EventIndex event) {
  const auto* sent = std::get_if<obs::MessageSent>(&m.run[event].what);
  if (sent == nullptr) return "";
  for (EventIndex i = event; i < m.run.size(); ++i) {
    const auto* delivered = std::get_if<obs::MessageDelivered>(&m.run[i].what);
    if (delivered != nullptr && delivered->id == sent->id) {
      return fmt::format("; it arrived after {}", traces::describe(m.run[i].at - m.run[event].at));
    }
    const auto* lost = std::get_if<obs::MessageLost>(&m.run[i].what);
    if (lost != nullptr && lost->id == sent->id)
      return fmt::format("; it was LOST ({})", obs::nameOf(lost->why));
  }
  return "; it never arrived";
}

bool authorityOn(const Span& span, const Incident& incident) {
  switch (span.kind) {
    case SpanKind::grant:
    case SpanKind::delegation:
    case SpanKind::section:
      return std::ranges::find(incident.keys, span.key) != incident.keys.end();
    case SpanKind::membership:
    case SpanKind::quarantine:
    case SpanKind::activation:
    case SpanKind::stopped:
      return true;
    default:
      return false;
  }
}

/// ", until A:20.1s" or ", LAPSED at A:20.1s", on the node's own clock.
std::string remaining(const Material& m, const Span& span, obs::TrueInstant at) {
  if (span.deadline == obs::MonotonicInstant::never()) return "";
  const obs::MonotonicInstant now = m.clocks.monotonic(span.node, at);
  const std::string deadline =
      fmt::format("{}:{}", traces::describe(span.node, m.names), shortTime(span.deadline.ns));
  if (now >= span.deadline) return fmt::format(", LAPSED at {}", deadline);
  return fmt::format(", until {}", deadline);
}

/// A belief in words, as the node had it right after the step.
std::string beliefIn(const Material& m, const Span& span, const Step& step) {
  const Span known = asKnownAt(span, step.event);
  return describe(known, m.names) + remaining(m, known, step.at);
}

void addBeliefs(const Material& m, const Incident& incident, Step& step) {
  const auto lets = [](const Span& span) {
    return span.kind == SpanKind::delegation || span.kind == SpanKind::section;
  };
  bool admits = false;
  std::vector<std::string> others;
  for (const Span& span : m.spans) {
    if (!span.activeAt(step.event, step.at) || !authorityOn(span, incident)) continue;
    if (span.node == step.node) {
      step.authority.push_back(beliefIn(m, span, step));
      admits = admits || lets(span);
    } else if (lets(span)) {
      others.push_back(fmt::format("{}: {}", traces::describe(span.node, m.names), beliefIn(m, span, step)));
    }
  }
  if (admits) step.conflicts = std::move(others);
}

/// Makes the steps and gives each event its own. The fate of a message is told with its sending.
std::map<EventIndex, std::size_t> makeSteps(const Material& m, const Slice& slice, Story& story) {
  std::map<EventIndex, std::size_t> number;
  for (std::size_t i = 0; i < slice.events.size(); ++i) {
    const EventIndex event = slice.events[i];
    const obs::Stamped& stamped = m.run[event];
    number[event] = slice.steps[i];
    if (slice.steps[i] <= story.steps.size()) continue;
    Step& step = story.steps.emplace_back();
    step.number = story.steps.size();
    step.event = event;
    step.at = stamped.at;
    step.node = stamped.node;
    step.monotonic = m.clocks.monotonic(stamped.node, stamped.at);
    step.wall = m.clocks.wall(stamped.node, stamped.at);
    step.text = tell(stamped, m.names) + arrivalOf(m, event);
  }
  return number;
}

void addRemarks(const Material& m, const Slice& slice, const std::map<EventIndex, std::size_t>& number,
                Story& story) {
  std::map<obs::NodeId, EventIndex> apart;  // by node its last part that was concurrent with the incident
  for (const EventIndex party : slice.parties) {
    if (number.contains(party) && m.order.concurrent(party, story.incident.event))
      apart[m.run[party].node] = party;
  }
  for (const auto& [node, party] : apart) {
    story.remarks.push_back(
        fmt::format("Steps {} and {} are concurrent: nothing that {} did by then had reached {}, nor the "
                    "other way round.",
                    number.at(party), number.at(story.incident.event), traces::describe(node, m.names),
                    traces::describe(m.run[story.incident.event].node, m.names)));
  }
  if (!slice.events.empty()) {
    const EventIndex begin = slice.events.front();
    std::vector<WaitCycle> cycles;
    for (const Span& span : m.spans) {
      if (span.kind != SpanKind::waiting || span.first < begin || span.first > story.incident.event) continue;
      for (WaitCycle& cycle : waitCycles(m.spans, span.first, span.from)) {
        if (std::ranges::find(cycles, cycle) == cycles.end()) cycles.push_back(std::move(cycle));
      }
    }
    for (const WaitCycle& cycle : cycles) {
      story.remarks.push_back(fmt::format("Wait-for cycle: {}.", describe(cycle, m.names)));
    }
  }
  if (slice.lastOutside != kNoEvent && number.contains(slice.lastOutside)) {
    story.inevitableFrom = number.at(slice.lastOutside);
    const Step& step = story.steps[story.inevitableFrom - 1];
    story.remarks.push_back(
        fmt::format("Step {} ({}, {}) is the last in which a caller or a fault had a hand: from there on the "
                    "rest followed "
                    "from the protocol and the delays that were drawn.",
                    step.number, shortTime(step.at.ns), traces::describe(step.node, m.names)));
  }
}

std::string clockText(const Step& step, const traces::Names& names) {
  return fmt::format("{}:{}, wall {}", traces::describe(step.node, names), shortTime(step.monotonic.ns),
                     shortTime(step.wall.ns));
}

}  // namespace

std::string shortTime(std::int64_t ns) {
  const std::uint64_t magnitude =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string text =
      fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", magnitude / 1'000'000'000, magnitude % 1'000'000'000);
  for (int cut = 0; cut < 6 && text.ends_with('0'); ++cut) text.pop_back();
  return text + "s";
}

Story storyOf(const Material& material, const Incident& incident, const Slice& slice) {
  Story story;
  story.incident = incident;
  story.leftOut = slice.leftOut;
  const std::map<EventIndex, std::size_t> number = makeSteps(material, slice, story);
  for (const Edge& edge : slice.edges) {
    const std::size_t from = number.at(edge.from);
    const std::size_t to = number.at(edge.to);
    if (from == to) continue;
    std::vector<std::size_t>& follows = story.steps[to - 1].follows;
    if (std::ranges::find(follows, from) == follows.end()) follows.push_back(from);
  }
  for (Step& step : story.steps) {
    std::ranges::sort(step.follows);
    addBeliefs(material, incident, step);
  }
  addRemarks(material, slice, number, story);
  return story;
}

std::vector<std::string> linesOf(const Story& story, const traces::Names& names) {
  std::vector<std::string> lines;
  std::map<obs::NodeId, std::pair<std::string, std::size_t>> believed;  // at which step it was told
  std::map<obs::NodeId, std::string> conflicts;
  const std::size_t width = fmt::formatted_size("{}", story.steps.size());
  const std::string indent(width + 2, ' ');
  for (const Step& step : story.steps) {
    std::string follows;
    for (const std::size_t from : step.follows) {
      // The step right before needs no mention.
      if (step.follows.size() == 1 && from + 1 == step.number) continue;
      follows += fmt::format("{}{}", follows.empty() ? "" : ", ", from);
    }
    lines.push_back(fmt::format("{:>{}}. {}  {} {}{}", step.number, width, traces::describe(step.at),
                                step.node.valid() ? traces::describe(step.node, names) : "harness", step.text,
                                follows.empty() ? "" : fmt::format("  [after {}]", follows)));
    if (!step.node.valid()) continue;
    lines.push_back(fmt::format("{}clocks    {}", indent, clockText(step, names)));
    auto& [last, where] = believed[step.node];
    std::string all = fmt::format("{}", fmt::join(step.authority, "\n"));
    if (where != 0 && all == last) {
      if (!all.empty()) lines.push_back(fmt::format("{}believes  the same as at step {}", indent, where));
    } else {
      for (const std::string& belief : step.authority) {
        lines.push_back(fmt::format("{}believes  {}", indent, belief));
      }
      if (all.empty()) lines.push_back(fmt::format("{}believes  that it has no authority", indent));
      last = std::move(all);
      where = step.number;
    }
    std::string& known = conflicts[step.node];
    std::string against = fmt::format("{}", fmt::join(step.conflicts, "\n"));
    if (against == known) continue;
    for (const std::string& conflict : step.conflicts) {
      lines.push_back(fmt::format("{}CONFLICT  {}", indent, conflict));
    }
    known = std::move(against);
  }
  if (story.leftOut > 0) {
    lines.push_back(
        fmt::format("({} less important events are left out; --steps tells more)", story.leftOut));
  }
  return lines;
}

}  // namespace holdfast::explain
