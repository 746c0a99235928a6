#include "cli/diagram.hpp"

#include <sstream>
#include <utility>

#include "cli/study.hpp"
#include "cli/verb.hpp"
#include "pictures/space_time.hpp"

namespace holdfast::cli {

std::expected<std::string, Failure> pageOf(const std::string& trace) {
  std::ostringstream unread;
  Output out(unread, unread, {false, true, false});
  Session session{out, "holdfast"};
  StudyArguments arguments;
  arguments.what = trace;
  const auto studied = study(session, "show", arguments);
  if (!studied) return std::unexpected(studied.error());
  const explain::HappensBefore order(studied->run);
  const explain::Clocks clocks(studied->run);
  const std::vector<explain::Span> spans = explain::spansOf(studied->run, clocks);
  pictures::Source source{
      {studied->run, order, clocks, spans, studied->names}, studied->title, nullptr, nullptr};
  const std::vector<explain::Incident> incidents = incidentsOf(*studied);
  explain::Slice slice;
  if (!incidents.empty() && incidents.front().violation) {
    slice = explain::sliceOf(studied->run, order, incidents.front());
    source.incident = &incidents.front();
    source.slice = &slice;
  }
  return pictures::page(pictures::sceneOf(source, pictures::SceneOptions{}));
}

}  // namespace holdfast::cli
