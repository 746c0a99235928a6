// The HTML page around a space-time diagram.
#include <fmt/format.h>

#include <array>
#include <set>

#include "explain/words.hpp"
#include "observations/kinds.hpp"
#include "pictures/page_assets.hpp"
#include "pictures/space_time.hpp"
#include "traces/text.hpp"

namespace holdfast::pictures {
namespace {

/// JSON may stand in a script element if it has no "</".
std::string forScript(std::string json) {
  for (std::size_t at = json.find("</"); at != std::string::npos; at = json.find("</", at + 3)) {
    json.replace(at, 2, "<\\/");
  }
  return json;
}

std::string nodeName(const Scene& scene, obs::NodeId node) {
  return node.valid() ? traces::describe(node, scene.names()) : "";
}

std::string eventData(const Scene& scene, std::size_t row) {
  const obs::Stamped& event = scene.at(row);
  const explain::Clocks& clocks = scene.source.material.clocks;
  return fmt::format(R"x({{"n":{},"time":"{}","node":{},"kind":"{}","category":"{}","text":{},)x"
                     R"x("monotonic":"{}","wall":"{}",)x"
                     R"x("step":{},"incident":{}}})x",
                     scene.events[row] + 1, traces::describe(event.at),
                     jsonString(nodeName(scene, event.node)), obs::kindName(event.what),
                     obs::nameOf(categoryOf(event.what)), jsonString(explain::tell(event, scene.names())),
                     explain::shortTime(clocks.monotonic(event.node, event.at).ns),
                     explain::shortTime(clocks.wall(event.node, event.at).ns), scene.steps[row],
                     scene.isIncident(row));
}

std::string pageData(const Scene& scene, const Geometry& g) {
  const explain::Incident* const incident = scene.source.incident;
  std::string out = fmt::format(R"x({{"rowHeight":{},"width":{},"violation":{},"incident":{},"events":[)x",
                                g.rowHeight(), g.width(), incident != nullptr && incident->violation,
                                jsonString(incident != nullptr ? incident->title : ""));
  for (std::size_t row = 0; row < scene.events.size(); ++row) {
    out += fmt::format("{}\n{}", row > 0 ? "," : "", eventData(scene, row));
  }
  out += "],\"spans\":[";
  for (std::size_t i = 0; i < g.bars().size(); ++i) {
    const Bar& bar = g.bars()[i];
    out += fmt::format("{}\n{{\"node\":{},\"text\":{},\"from\":{},\"to\":{}}}", i > 0 ? "," : "",
                       jsonString(nodeName(scene, bar.span.node)),
                       jsonString(explain::describe(bar.span, scene.names())), bar.from, bar.to);
  }
  return forScript(out + "]}");
}

/// A checkbox for each of `values`; those in `off` are not ticked.
std::string boxes(std::string_view name, std::string_view title, const std::vector<std::string>& values,
                  const std::set<std::string>& off) {
  std::string out = fmt::format("<fieldset><legend>{}</legend>", title);
  for (const std::string& value : values) {
    out += fmt::format(R"x(<label><input type="checkbox" name="{}" value="{}"{}>{}</label>)x", name,
                       escaped(value), off.contains(value) ? "" : " checked", escaped(value));
  }
  return out + "</fieldset>";
}

std::string tools(const Scene& scene) {
  std::vector<std::string> kinds;
  std::vector<std::string> nodes;
  for (std::size_t i = 0; i < obs::kEnumeratorCount<Category>; ++i) {
    kinds.emplace_back(obs::nameOf(static_cast<Category>(i)));
  }
  for (const obs::NodeId node : scene.lanes) nodes.push_back(nodeName(scene, node));
  const bool slice = scene.source.slice != nullptr;
  std::string out = R"x(<div class="tools"><label>Find )x"
                    R"x(<input type="search" id="find" placeholder="words; / comes here"></label>)x";
  out += fmt::format(R"x(<label><input type="checkbox" id="slice"{}> only what led to it (s)</label>)x",
                     slice ? "" : " disabled");
  out += R"x(<label><input type="checkbox" id="clocks" checked> clocks</label>)x";
  out += fmt::format(
      R"x(<button id="goto"{0}>{1} (v)</button><button id="previous"{0}>previous step (p)</button>)x"
      R"x(<button id="next"{0}>next step (n)</button><output id="count"></output></div>)x",
      slice ? "" : " disabled",
      scene.source.incident != nullptr && scene.source.incident->violation ? "violation" : "explained");
  out += R"x(<div class="tools">)x" + boxes("kind", "show", kinds, {"traffic", "bookkeeping"});
  out += boxes("node", "nodes", nodes, {}) + "</div>";
  return out;
}

}  // namespace

std::string page(const Scene& scene) {
  const Geometry g(scene);
  const explain::Incident* const incident = scene.source.incident;
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  // Nothing may be loaded, whatever a name in the run contains.
  out += R"x(<meta http-equiv="Content-Security-Policy" )x"
         R"x(content="default-src 'none'; style-src 'unsafe-inline'; )x"
         R"x(script-src 'unsafe-inline'">)x";
  out += fmt::format("\n<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n",
                     escaped(scene.source.title), diagramStyle(), pageStyle());
  out += fmt::format("<header>\n<h1>{} <small>{}</small></h1>\n", escaped(scene.source.title),
                     escaped(scene.subtitle));
  if (incident != nullptr) {
    out += fmt::format("<p class=\"incident\"><strong>{}: {}.</strong> {}</p>\n",
                       incident->violation ? "Violation" : "Explained", escaped(incident->title),
                       escaped(incident->text));
  }
  out += tools(scene);
  out += fmt::format(
      "<svg width=\"1260\" height=\"{}\" role=\"img\" aria-label=\"legend\">{}{}</svg>\n</header>\n",
      kLegendHeight, definitions(), legendElements());
  out += fmt::format(
      "<main id=\"frame\">\n<div class=\"strip\" style=\"width:{0}px\"><svg width=\"{0}\" "
      "height=\"{1}\">{2}</svg></div>\n",
      g.width(), Geometry::kHeader, headerElements(scene, g));
  out += fmt::format(
      "<svg id=\"diagram\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n{2}</svg>\n</main>\n",
      g.width(), g.height(scene.events.size()), bodyElements(scene, g));
  out +=
      "<aside aria-live=\"polite\"><div id=\"detail\"><p>Point at an event, or move with <kbd>\u2191</kbd> "
      "<kbd>\u2193</kbd>.</p></div></aside>\n";
  out += fmt::format(
      "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
      pageData(scene, g), pageScript());
  return out;
}

}  // namespace holdfast::pictures
