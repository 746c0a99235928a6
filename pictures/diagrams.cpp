#include "pictures/diagrams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "explain/words.hpp"
#include "observations/kinds.hpp"
#include "traces/text.hpp"

namespace holdfast::pictures {
namespace {

using explain::Span;
using explain::SpanKind;

std::string laneName(const Scene& scene, obs::NodeId node) {
  return node.valid() ? traces::describe(node, scene.names()) : "harness";
}

/// What a node is at an event, in one character; the strongest holds.
char markOf(const Scene& scene, obs::NodeId node, std::size_t row) {
  constexpr std::string_view kRank = "|=#zx";
  char mark = '|';
  const auto raise = [&](char to) {
    if (kRank.find(to) > kRank.find(mark)) mark = to;
  };
  for (const Span& span : scene.spans) {
    if (span.node != node || !span.activeAt(scene.events[row], scene.at(row).at)) continue;
    if (span.kind == SpanKind::delegation) raise('=');
    if (span.kind == SpanKind::section) raise('#');
    if (span.kind == SpanKind::paused) raise('z');
    if (span.kind == SpanKind::down) raise('x');
  }
  return mark;
}

/// A word that Mermaid takes for a participant and ShiViz for a host, unique by the node's id.
std::string identifier(const Scene& scene, obs::NodeId node) {
  const std::string name = laneName(scene, node);
  const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  return plain ? name : fmt::format("node_{}", node.value);
}

/// `text` without what ends a statement in Mermaid.
std::string mermaidText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ';' || c == '#') {
      out += c == ';' ? "," : "no. ";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> textTimeline(const Scene& scene) {
  std::vector<std::string> lines;
  std::size_t width = 2;  // a mark, and the star of the node that the line is about
  for (const obs::NodeId node : scene.lanes) width = std::max(width, laneName(scene, node).size());
  std::string head = fmt::format("{:>15} ", "true time");
  for (const obs::NodeId node : scene.lanes) head += fmt::format(" {:^{}}", laneName(scene, node), width);
  lines.push_back(head + "   | up  = delegate  # caller inside  z suspended  x down  * here");
  for (std::size_t row = 0; row < scene.events.size(); ++row) {
    const obs::Stamped& event = scene.at(row);
    std::string line = fmt::format("{:>15} ", traces::describe(event.at));
    for (const obs::NodeId node : scene.lanes) {
      const char mark = markOf(scene, node, row);
      const std::string cell = node == event.node ? fmt::format("{}*", mark) : std::string(1, mark);
      line += fmt::format(" {:^{}}", cell, width);
    }
    const std::size_t step = scene.steps[row];
    line += fmt::format("  {:>4} {}: {}", scene.opensStep[row] ? fmt::format("[{}]", step) : "",
                        laneName(scene, event.node), explain::tell(event, scene.names()));
    if (scene.isIncident(row)) line += fmt::format("   <== {}", scene.source.incident->title);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string mermaid(const Scene& scene) {
  std::string out = "sequenceDiagram\n";
  for (const obs::NodeId node : scene.lanes) {
    out +=
        fmt::format("  participant {} as {}\n", identifier(scene, node), mermaidText(laneName(scene, node)));
  }
  std::map<std::size_t, const Arrow*> bySending;
  std::map<std::size_t, bool> ends;  // rows that are told by their arrow
  const std::vector<Arrow> arrows = arrowsOf(scene);
  for (const Arrow& arrow : arrows) {
    bySending[arrow.from] = &arrow;
    if (arrow.to) ends[*arrow.to] = true;
  }
  for (std::size_t row = 0; row < scene.events.size(); ++row) {
    const obs::Stamped& event = scene.at(row);
    const std::string time = explain::shortTime(event.at.ns);
    if (const auto found = bySending.find(row); found != bySending.end()) {
      const Arrow& arrow = *found->second;
      const std::string fate = arrow.lost ? "-x" : "->>";
      out += fmt::format("  {}{}{}: {} {}{}\n", identifier(scene, scene.lanes[arrow.fromLane]), fate,
                         identifier(scene, scene.lanes[arrow.toLane]), time, obs::nameOf(arrow.kind),
                         arrow.lost ? " (lost)" : "");
      continue;
    }
    if (ends.contains(row) && !scene.isIncident(row)) continue;
    const std::string text = fmt::format("{} {}", time, explain::tell(event, scene.names()));
    const auto over = scene.laneOf(event.node);
    const std::string where = over ? identifier(scene, event.node)
                                   : fmt::format("{},{}", identifier(scene, scene.lanes.front()),
                                                 identifier(scene, scene.lanes.back()));
    if (scene.lanes.empty()) continue;
    if (scene.isIncident(row)) {
      out += fmt::format("  rect rgb(255, 214, 204)\n    Note over {}: {}\n    Note over {}: {}: {}\n  end\n",
                         where, mermaidText(text), where,
                         scene.source.incident->violation ? "VIOLATION" : "REACHED",
                         mermaidText(scene.source.incident->title));
    } else {
      out += fmt::format("  Note over {}: {}\n", where, mermaidText(text));
    }
  }
  return out;
}

std::string graphviz(const Scene& scene) {
  std::string out =
      "digraph happens_before {\n  rankdir=TB;\n  node [shape=box, fontname=\"Helvetica\", fontsize=10];\n";
  out += fmt::format("  label={};\n", jsonString(scene.source.title + ": " + scene.subtitle));
  for (std::size_t lane = 0; lane < scene.lanes.size(); ++lane) {
    out += fmt::format("  subgraph cluster_{} {{\n    label={};\n    color=gray70;\n", lane,
                       jsonString(laneName(scene, scene.lanes[lane])));
    for (std::size_t row = 0; row < scene.events.size(); ++row) {
      const obs::Stamped& event = scene.at(row);
      if (event.node != scene.lanes[lane]) continue;
      const std::string text =
          fmt::format("{}{}\n{}", scene.steps[row] > 0 ? fmt::format("{}. ", scene.steps[row]) : "",
                      explain::shortTime(event.at.ns), explain::tell(event, scene.names()));
      out += fmt::format("    e{} [label={}{}];\n", scene.events[row] + 1, jsonString(text),
                         scene.isIncident(row)
                             ? ", style=filled, fillcolor=\"#ffd6cc\", color=\"#d55e00\", penwidth=3"
                             : "");
    }
    out += "  }\n";
  }
  for (const explain::Edge& edge : scene.source.material.order.reduced(scene.events)) {
    std::string_view style;
    switch (edge.kind) {
      case explain::EdgeKind::message:
        style = " [color=\"#0072b2\", label=\"message\", fontsize=9]";
        break;
      case explain::EdgeKind::logEntry:
        style = " [color=\"#009e73\", label=\"log\", fontsize=9]";
        break;
      case explain::EdgeKind::path:
        style = " [style=dashed]";
        break;
      default:
        break;
    }
    out += fmt::format("  e{} -> e{}{};\n", edge.from + 1, edge.to + 1, style);
  }
  return out + "}\n";
}

namespace {

/// Nanoseconds as the microseconds of the trace-event format, exact.
std::string microseconds(std::int64_t ns) {
  const std::uint64_t magnitude =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", magnitude / 1000, magnitude % 1000);
}

/// Thread numbers within a node's process: one a kind of span, and the node's own events first.
std::size_t threadOf(SpanKind kind) { return 2 + static_cast<std::size_t>(kind); }

}  // namespace

std::string chromeTrace(const Scene& scene) {
  std::vector<std::string> items;
  const auto process = [&](obs::NodeId node) { return node.valid() ? node.value + 1 : 0; };
  for (const obs::NodeId node : scene.lanes) {
    items.push_back(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})",
                                process(node), jsonString(laneName(scene, node))));
    items.push_back(fmt::format(
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":1,"args":{{"name":"events"}}}})", process(node)));
    for (std::size_t kind = 0; kind < obs::kEnumeratorCount<SpanKind>; ++kind) {
      items.push_back(fmt::format(
          R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", process(node),
          threadOf(static_cast<SpanKind>(kind)), obs::nameOf(static_cast<SpanKind>(kind))));
    }
  }
  for (std::size_t i = 0; i < scene.spans.size(); ++i) {
    const Span& span = scene.spans[i];
    // Spans of one kind may overlap without nesting, which only the asynchronous form may.
    const std::string common = fmt::format(
        R"("cat":"{}","name":{},"id":{},"pid":{},"tid":{})", obs::nameOf(span.kind),
        jsonString(explain::describe(span, scene.names())), i + 1, process(span.node), threadOf(span.kind));
    items.push_back(fmt::format(R"({{"ph":"b",{},"ts":{}}})", common, microseconds(span.from.ns)));
    items.push_back(fmt::format(R"({{"ph":"e",{},"ts":{}}})", common, microseconds(span.to.ns)));
  }
  for (std::size_t row = 0; row < scene.events.size(); ++row) {
    const obs::Stamped& event = scene.at(row);
    const obs::MonotonicInstant local = scene.source.material.clocks.monotonic(event.node, event.at);
    // A slice of no length, because a flow begins and ends in slices only.
    items.push_back(fmt::format(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":1,"ts":{},"dur":0,)"
                                R"("args":{{"event":{},"text":{},"monotonicNs":"{}"}}}})",
                                obs::nameOf(categoryOf(event.what)), jsonString(obs::kindName(event.what)),
                                process(event.node), microseconds(event.at.ns), scene.events[row] + 1,
                                jsonString(explain::tell(event, scene.names())), local.ns));
    if (scene.isIncident(row)) {
      items.push_back(fmt::format(R"({{"ph":"i","s":"g","name":{},"pid":{},"tid":1,"ts":{}}})",
                                  jsonString(scene.source.incident->title), process(event.node),
                                  microseconds(event.at.ns)));
    }
  }
  std::size_t flow = 0;
  for (const Arrow& arrow : arrowsOf(scene)) {
    ++flow;
    if (!arrow.to || arrow.lost) continue;
    const auto end = [&](std::string_view phase, std::size_t row) {
      items.push_back(
          fmt::format(R"({{"ph":"{}","cat":"message","name":"{}","id":{},"pid":{},"tid":1,"ts":{}{}}})",
                      phase, obs::nameOf(arrow.kind), flow, process(scene.at(row).node),
                      microseconds(scene.at(row).at.ns), phase == "f" ? R"(,"bp":"e")" : ""));
    };
    end("s", arrow.from);
    end("f", *arrow.to);
  }
  return fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"run\":{}}},\"traceEvents\":[\n{}\n]}}\n",
                     jsonString(scene.source.title), fmt::join(items, ",\n"));
}

std::string shiviz(const Scene& scene) {
  // ShiViz counts the events that it sees, so that clocks are counted anew over the scene's own events.
  const explain::HappensBefore& order = scene.source.material.order;
  std::map<obs::NodeId, std::vector<EventIndex>> shown;
  std::string out = fmt::format("{}\n\n", kShivizParser);
  for (std::size_t row = 0; row < scene.events.size(); ++row) {
    const obs::Stamped& event = scene.at(row);
    if (!event.node.valid()) continue;
    shown[event.node].push_back(scene.events[row]);
    std::string clock;
    for (const auto& [node, events] : shown) {
      const std::size_t lane = order.lane(events.front());
      const std::uint32_t known = order.clock(scene.events[row])[lane];
      const auto later = std::ranges::partition_point(
          events, [&](EventIndex other) { return order.clock(other)[lane] <= known; });
      if (later == events.begin()) continue;
      clock += fmt::format("{}\"{}\": {}", clock.empty() ? "" : ", ", identifier(scene, node),
                           later - events.begin());
    }
    out += fmt::format("{} {{{}}}\n{} {}\n", identifier(scene, event.node), clock,
                       explain::shortTime(event.at.ns), explain::tell(event, scene.names()));
  }
  return out;
}

}  // namespace holdfast::pictures
