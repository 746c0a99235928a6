#include "pictures/space_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "explain/words.hpp"
#include "observations/kinds.hpp"
#include "traces/text.hpp"

namespace holdfast::pictures {
namespace {

using explain::SpanKind;

// What stands between two rows is worth a remark when it is longer.
constexpr std::int64_t kRemarkableGapNs = 100'000'000;

/// The first `most` characters, with a sign that more follow; UTF-8 characters are not cut.
std::string clipped(std::string_view text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (++characters > most) return std::string(text.substr(0, i)) + "\u2026";
  }
  return std::string(text);
}

/// `text` in lines of at most `length` characters, broken at blanks; what does not fit is cut off.
std::vector<std::string> lines(std::string_view text, std::size_t length, int most) {
  std::vector<std::string> result;
  while (!text.empty() && static_cast<int>(result.size()) + 1 < most && text.size() > length) {
    const std::size_t blank = text.rfind(' ', length);
    if (blank == std::string_view::npos || blank == 0) break;
    result.emplace_back(text.substr(0, blank));
    text.remove_prefix(blank + 1);
  }
  result.push_back(clipped(text, length));
  return result;
}

/// The sign of an event at 0,0: its shape tells its category.
std::string shapeOf(Category category) {
  switch (category) {
    case Category::caller:
      return R"x(<circle class="sign" r="5"/>)x";
    case Category::write:
      return R"x(<path class="sign" d="M0-6L6 5H-6Z"/>)x";
    case Category::authority:
      return R"x(<rect class="sign" x="-5" y="-5" width="10" height="10"/>)x";
    case Category::freshness:
      return R"x(<path class="sign" d="M-5-5H5L0 5Z"/>)x";
    case Category::membership:
      return R"x(<path class="sign" d="M-6 0L-3-5H3L6 0L3 5H-3Z"/>)x";
    case Category::fault:
      return R"x(<path class="sign" d="M0-7L7 0L0 7L-7 0Z"/>)x";
    case Category::message:
    case Category::traffic:
      return R"x(<circle class="sign" r="3"/>)x";
    default:
      return R"x(<rect class="sign" x="-3" y="-3" width="6" height="6"/>)x";
  }
}

/// The label of a bar that is `length` pixels long: again and again on a long one, so that it is in view, and
/// nothing on one that is too short.
std::string barText(const std::string& label, int length) {
  constexpr int kCharacter = 5;
  constexpr int kAgain = 700;
  if (length < 30) return "";
  std::string text = clipped(label, static_cast<std::size_t>((length - 6) / kCharacter));
  std::string all = text;
  const std::string gap(
      static_cast<std::size_t>(kAgain) / kCharacter - std::min(label.size(), std::size_t{100}), ' ');
  for (int at = kAgain; at + 150 < length; at += kAgain) all += gap + label;
  return escaped(all);
}

std::string barElement(const Scene& scene, const Geometry& g, std::size_t index) {
  const Bar& bar = g.bars()[index];
  const int top = g.y(bar.from);
  const int length = std::max(g.y(bar.to) - top, 3);
  const std::string label = explain::describe(bar.span, scene.names());
  const std::string title = fmt::format(
      "<title>{}: {}</title>", escaped(traces::describe(bar.span.node, scene.names())), escaped(label));
  const std::string common =
      fmt::format("data-i=\"{}\" data-a=\"{}\" data-b=\"{}\"", index, bar.from, bar.to);
  if (bar.span.isFault()) {
    const int left = g.laneLeft(bar.lane) + 2;
    // A cut link is a narrow band, because the node itself goes on.
    const int width = bar.span.kind == SpanKind::cut ? 8 : g.laneWidth(bar.lane) - 4;
    return fmt::format(R"x(<g class="bar {}" {}><rect x="{}" y="{}" width="{}" height="{}"/>{}</g>)x",
                       obs::nameOf(bar.span.kind), common, left, top, width, length, title);
  }
  const int left = g.laneLeft(bar.lane) + 12 + static_cast<int>(bar.track) * Geometry::kTrack;
  const std::string text = barText(label, length);
  return fmt::format(
      R"x(<g class="bar {}{}" {} data-l="{}"><rect x="{}" y="{}" width="{}" height="{}" rx="2"/>)x"
      R"x(<text transform="translate({},{}) rotate(90)">{}</text>{}</g>)x",
      obs::nameOf(bar.span.kind),
      bar.closing                                    ? " closing"
      : bar.span.ended == explain::SpanEnd::deadline ? " ranout"
                                                     : "",
      common, escaped(label), left, top, Geometry::kTrack - 3, length, left + 3, top + 3, text, title);
}

/// An arrow runs between rows, so that it strikes no label of its own two: down beside the sender's lane,
/// across, and down beside the receiver's.
std::string arrowElement(const Geometry& g, const Arrow& arrow) {
  const int side = arrow.toLane > arrow.fromLane ? 1 : -1;
  const bool gone = arrow.lost || !arrow.to;
  const Place from = 2 * arrow.from + 1;
  const Place to = arrow.to ? 2 * *arrow.to + 1 : from + 2;
  const int x1 = g.axis(arrow.fromLane);
  const int x2 = g.axis(arrow.toLane);
  const int bend = side * 14;
  std::string path = fmt::format("M{} {}L{} {}", x1, g.y(from), x1 + bend, g.y(from + 1));
  if (gone) {
    // A message that was lost ends on its way.
    path += fmt::format("L{} {}", x1 + (x2 - x1) / 3, g.y(from + 1));
  } else {
    path += fmt::format("L{} {}L{} {}", x2 - bend, g.y(to - 1), x2 - side * 5, g.y(to) - 4);
  }
  return fmt::format(R"x(<g class="arrow{}" data-a="{}" data-b="{}" data-x="{}" data-z="{}" data-s="{}">)x"
                     R"x(<path d="{}" marker-end="url(#{})"/><title>{} {}{}</title></g>)x",
                     gone ? " lost" : "", from, to, x1, x2, side, path, gone ? "cross" : "head",
                     obs::nameOf(arrow.kind), arrow.id,
                     arrow.lost ? ", lost"
                     : arrow.to ? ""
                                : ", not delivered here");
}

std::string rowElement(const Scene& scene, const Geometry& g, std::size_t row) {
  const obs::Stamped& event = scene.at(row);
  const Category category = categoryOf(event.what);
  const auto lane = scene.laneOf(event.node);
  const int axis = lane ? g.axis(*lane) : Geometry::kGutter;
  const int middle = g.rowHeight() / 2;
  const std::string text = explain::tell(event, scene.names());
  const bool incident = scene.isIncident(row);
  std::string out = fmt::format(
      R"x(<g class="row c-{}{}{}" data-r="{}" transform="translate(0,{})" tabindex="0" role="listitem">)x",
      obs::nameOf(category), scene.steps[row] > 0 ? " step" : "", incident ? " incident" : "", row,
      g.y(2 * row));
  out += fmt::format(R"x(<rect class="hit" x="0" y="0" width="{}" height="{}"/>)x", g.width(), g.rowHeight());
  out += fmt::format(R"x(<text class="time" x="{}" y="{}">{}</text>)x", Geometry::kGutter - 10,
                     middle + (incident ? 9 : 4), traces::describe(event.at));
  out += fmt::format(R"x(<g transform="translate({},{})">{}</g>)x", axis, middle, shapeOf(category));
  const int x = axis + 12;
  const std::vector<std::string> label = lines(text, g.labelLength(), g.labelLines());
  int y = middle - 1 - 6 * (static_cast<int>(label.size()) - 1);
  for (std::size_t i = 0; i < label.size(); ++i) {
    const std::string badge = i == 0 && scene.opensStep[row]
                                  ? fmt::format(R"x(<tspan class="number">{}. </tspan>)x", scene.steps[row])
                                  : "";
    out += fmt::format(R"x(<text class="label" x="{}" y="{}">{}{}</text>)x", x, y, badge, escaped(label[i]));
    y += 12;
  }
  if (lane) {
    const explain::Clocks& clocks = scene.source.material.clocks;
    out += fmt::format(R"x(<text class="clock" x="{}" y="{}">monotonic {}  wall {}</text>)x", x, y,
                       explain::shortTime(clocks.monotonic(event.node, event.at).ns),
                       explain::shortTime(clocks.wall(event.node, event.at).ns));
  }
  if (incident) {
    out += fmt::format(R"x(<text class="verdict" x="8" y="11">{}</text>)x",
                       scene.source.incident->violation ? "VIOLATION" : "EXPLAINED");
  }
  return out + fmt::format("<title>{}</title></g>\n", escaped(text));
}

}  // namespace

std::string headerElements(const Scene& scene, const Geometry& g) {
  std::string out = R"x(<text class="time" x="118" y="22">true time</text>)x";
  for (std::size_t lane = 0; lane < scene.lanes.size(); ++lane) {
    out += fmt::format(R"x(<rect class="name" x="{}" y="4" width="{}" height="26" rx="4"/>)x"
                       R"x(<text class="name" x="{}" y="22">{}</text>)x",
                       g.laneLeft(lane) + 4, g.laneWidth(lane) - 8, g.axis(lane),
                       escaped(clipped(traces::describe(scene.lanes[lane], scene.names()), 40)));
  }
  return out + "\n";
}

std::string bodyElements(const Scene& scene, const Geometry& g) {
  const int bottom = g.y(2 * scene.events.size());
  std::string out = "<g id=\"faults\">\n";
  for (std::size_t i = 0; i < g.bars().size(); ++i) {
    if (g.bars()[i].span.isFault()) out += barElement(scene, g, i) + "\n";
  }
  out += "</g>\n<g id=\"lanes\">\n";
  for (std::size_t lane = 0; lane < scene.lanes.size(); ++lane) {
    out += fmt::format(R"x(<line class="axis" x1="{0}" y1="0" x2="{0}" y2="{1}"/>)x", g.axis(lane), bottom);
    out +=
        fmt::format(R"x(<line class="edge" x1="{0}" y1="0" x2="{0}" y2="{1}"/>)x", g.laneLeft(lane), bottom);
  }
  out += "\n</g>\n<g id=\"bars\">\n";
  for (std::size_t i = 0; i < g.bars().size(); ++i) {
    if (!g.bars()[i].span.isFault()) out += barElement(scene, g, i) + "\n";
  }
  out += "</g>\n<g id=\"arrows\">\n";
  for (const Arrow& arrow : arrowsOf(scene)) out += arrowElement(g, arrow) + "\n";
  out += "</g>\n<g id=\"rows\" role=\"list\">\n";
  for (std::size_t row = 0; row < scene.events.size(); ++row) out += rowElement(scene, g, row);
  out += "</g>\n<g id=\"gaps\">\n";
  for (std::size_t row = 1; row < scene.events.size(); ++row) {
    const obs::Duration gap = scene.at(row).at - scene.at(row - 1).at;
    if (gap.ns < kRemarkableGapNs) continue;
    out += fmt::format(R"x(<text class="gap" data-a="{}" x="{}" y="{}">+ {}.{:03} s</text>)x", 2 * row,
                       Geometry::kGutter - 10, g.y(2 * row) + 3, gap.ns / 1'000'000'000,
                       gap.ns / 1'000'000 % 1000);
  }
  return out + "\n</g>\n";
}

std::string legendElements() {
  struct Sign {
    std::string_view words;
    Category category;
  };
  constexpr std::array<Sign, 7> kSigns = {{{"caller", Category::caller},
                                           {"write", Category::write},
                                           {"home or delegate", Category::authority},
                                           {"fence or barrier", Category::freshness},
                                           {"membership", Category::membership},
                                           {"fault or clock", Category::fault},
                                           {"message or log", Category::message}}};
  struct Kind {
    std::string_view words;
    SpanKind kind;
  };
  constexpr std::array<Kind, 12> kKinds = {{{"membership", SpanKind::membership},
                                            {"quarantine", SpanKind::quarantine},
                                            {"not active", SpanKind::activation},
                                            {"stopped for a map", SpanKind::stopped},
                                            {"grant at the home", SpanKind::grant},
                                            {"delegation", SpanKind::delegation},
                                            {"caller inside", SpanKind::section},
                                            {"caller waits", SpanKind::waiting},
                                            {"commit", SpanKind::commit},
                                            {"down", SpanKind::down},
                                            {"suspended", SpanKind::paused},
                                            {"link cut", SpanKind::cut}}};
  std::string out = R"x(<g class="legend">)x";
  int x = 14;
  const auto advance = [&](std::string_view words) { x += 34 + static_cast<int>(words.size() * 13) / 2; };
  for (const Sign& sign : kSigns) {
    out += fmt::format(
        R"x(<g class="c-{}" transform="translate({},10)">{}</g><text class="label" x="{}" y="14">{}</text>)x",
        obs::nameOf(sign.category), x, shapeOf(sign.category), x + 11, sign.words);
    advance(sign.words);
  }
  out +=
      fmt::format(R"x(<g class="arrow"><line x1="{}" y1="10" x2="{}" y2="10" marker-end="url(#head)"/></g>)x"
                  R"x(<text class="label" x="{}" y="14">message</text>)x",
                  x, x + 22, x + 32);
  x += 104;
  out += fmt::format(
      R"x(<g class="arrow lost"><line x1="{}" y1="10" x2="{}" y2="10" marker-end="url(#cross)"/></g>)x"
      R"x(<text class="label" x="{}" y="14">lost message</text>)x",
      x, x + 22, x + 36);
  x = 8;
  for (const Kind& kind : kKinds) {
    out += fmt::format(R"x(<g class="bar {}"><rect x="{}" y="25" width="12" height="14" rx="2"/></g>)x"
                       R"x(<text class="label" x="{}" y="36">{}</text>)x",
                       obs::nameOf(kind.kind), x, x + 17, kind.words);
    advance(kind.words);
  }
  return out + "</g>\n";
}

std::string definitions() {
  return R"x(<defs>
<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7"
 orient="auto"><path d="M0 0L10 5L0 10Z" fill="#00614a"/></marker>
<marker id="cross" viewBox="-6 -6 12 12" markerWidth="12" markerHeight="12" markerUnits="userSpaceOnUse">
 <path d="M-5-5L5 5M5-5L-5 5" stroke="#b34700" stroke-width="2.5"/></marker>
<pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
 <rect width="8" height="8" fill="#e2e2e2"/>
 <line x1="0" y1="0" x2="0" y2="8" stroke="#8a8a8a" stroke-width="3"/></pattern>
<pattern id="dots" width="8" height="8" patternUnits="userSpaceOnUse">
 <rect width="8" height="8" fill="#f1f1f1"/><circle cx="4" cy="4" r="1.5" fill="#777"/></pattern>
<pattern id="steps" width="8" height="8" patternUnits="userSpaceOnUse">
 <rect width="8" height="8" fill="#f6cdb0"/><path d="M0 4H8" stroke="#b34700" stroke-width="2"/></pattern>
</defs>
)x";
}

std::string_view diagramStyle() {
  return R"x(
text { font: 11px "DejaVu Sans", "Segoe UI", Helvetica, Arial, sans-serif; fill: #111; }
.time { font: 11px "DejaVu Sans Mono", Menlo, Consolas, monospace; text-anchor: end; }
.gap { font-size: 9px; fill: #666; text-anchor: end; }
.clock { font-size: 9px; fill: #555; white-space: pre; }
.label, .clock { paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round; }
.number { font-weight: bold; }
rect.name { fill: #22313f; } text.name { fill: #fff; font-weight: bold; font-size: 13px; }
.axis { stroke: #333; stroke-width: 1.5; } .edge { stroke: #ddd; }
.hit { fill: transparent; }
.row.incident .hit { fill: #ffd9c7; fill-opacity: .75; stroke: #d55e00; stroke-width: 2; }
.row.incident .label { font-weight: bold; stroke: #ffe9df; }
.verdict { font-size: 10px; font-weight: bold; fill: #a33c00; }
.sign { fill: #fff; stroke: #111; stroke-width: 1.5; }
.c-caller .sign { fill: #e69f00; } .c-write .sign { fill: #cc79a7; } .c-authority .sign { fill: #0072b2; }
.c-freshness .sign { fill: #56b4e9; } .c-membership .sign { fill: #999; } .c-fault .sign { fill: #d55e00; }
.c-message .sign { fill: #009e73; }
.arrow path, .arrow line { fill: none; stroke: #009e73; stroke-width: 1.6; }
.arrow.lost path, .arrow.lost line { stroke: #d55e00; stroke-dasharray: 5 3; }
.bar rect { stroke: #333; stroke-width: .7; fill: #fff; } .bar text { font-size: 9px; white-space: pre; }
.bar.ranout rect { stroke-dasharray: 3 2; stroke-width: 1.2; }
.membership rect { fill: #d0d0d0; } .quarantine rect { fill: #f0e442; }
.activation rect { fill: #f7d98b; } .stopped rect { fill: #d9b3c9; } .grant rect { fill: #b9def5; }
.delegation rect { fill: #0072b2; } .delegation text { fill: #fff; } .section rect { fill: #e69f00; }
.delegation.closing rect { fill: #a9cbe4; } .delegation.closing text { fill: #111; }
.waiting rect { fill: #fff; stroke-dasharray: 2 2; } .commit rect { fill: #e3b4cd; }
.down rect { fill: url(#hatch); opacity: .55; } .paused rect { fill: url(#dots); opacity: .8; }
.cut rect { fill: url(#steps); }
)x";
}

std::string svg(const Scene& scene) {
  const Geometry g(scene);
  const int top = 46 + kLegendHeight;
  const int width = std::max(g.width(), 1260);
  const int height = top + Geometry::kHeader + g.height(scene.events.size());
  std::string out = fmt::format(
      R"x(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" )x"
      R"x(role="img">)x"
      "\n<title>{2}</title>\n<style>{3}</style>\n{4}<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      width, height, escaped(scene.source.title), escaped(diagramStyle()), definitions());
  const std::string heading =
      scene.source.incident == nullptr
          ? scene.source.title
          : fmt::format("{}: {}", scene.source.incident->violation ? "VIOLATION" : "Explained",
                        scene.source.incident->title);
  out += fmt::format(R"x(<text x="8" y="18" style="font-size:15px;font-weight:bold">{}</text>)x"
                     R"x(<text x="8" y="35">{}: {}</text>)x",
                     escaped(heading), escaped(scene.source.title), escaped(scene.subtitle));
  out += fmt::format(R"x(<g transform="translate(0,46)">{}</g>)x", legendElements());
  out += fmt::format(R"x(<g transform="translate(0,{})">{}</g>)x", top, headerElements(scene, g));
  out += fmt::format("<g transform=\"translate(0,{})\">\n{}</g>\n</svg>\n", top + Geometry::kHeader,
                     bodyElements(scene, g));
  return out;
}

}  // namespace holdfast::pictures
