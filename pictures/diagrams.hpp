// A scene as text in the languages of other tools.
//
// Contract: each function gives a complete document that the named tool takes as it is, the same bytes for
// the same scene.
#pragma once

#include <string>
#include <vector>

#include "pictures/scene.hpp"

namespace holdfast::pictures {

/// A line an event, with a column a node that shows who is inside, who is delegate, and who is down.
std::vector<std::string> textTimeline(const Scene& scene);

/// A Mermaid sequence diagram, as review tools render it in Markdown.
std::string mermaid(const Scene& scene);

/// The happens-before order of the scene's events for Graphviz, without edges that follow from others.
std::string graphviz(const Scene& scene);

/// Chrome's trace-event format, which Perfetto opens: a process a node, spans as slices, messages as flows.
std::string chromeTrace(const Scene& scene);

/// A log to upload to ShiViz: kShivizParser, an empty line because there is one execution, and two lines an
/// event, the first with its vector clock. Events of the harness itself belong to no host and are left out.
std::string shiviz(const Scene& scene);

/// The expression by which ShiViz parses the events.
inline constexpr std::string_view kShivizParser = R"((?<host>\S+) (?<clock>{.*})\n(?<event>.*))";

}  // namespace holdfast::pictures
