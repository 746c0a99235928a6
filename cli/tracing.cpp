#include "cli/tracing.hpp"

#include <fmt/format.h>

#include "cli/run_report.hpp"
#include "cli/target_file.hpp"
#include "cli/trace_sink.hpp"
#include "traces/trace.hpp"

namespace holdfast::cli {

std::expected<Traced, Failure> runTraced(const TraceTarget& target, const Subject& subject,
                                         const std::function<Outcome(scenarios::ObservationSink*)>& run) {
  if (target.path.empty()) return Traced{run(nullptr), std::nullopt, ""};
  const auto failure = [](const traces::WriteError& error) {
    return Failure{fmt::format("--trace: {}", error.what)};
  };
  const auto ifExists = target.replace ? traces::IfExists::replace : traces::IfExists::refuse;
  auto writer = traces::TraceWriter::create(target.path, headerOf(subject, namesOf(subject)),
                                            planJson(subject), ifExists);
  if (!writer) return std::unexpected(failure(writer.error()));
  WritingSink sink(*writer);
  Traced traced{run(&sink), std::nullopt, target.path};
  if (traced.outcome.report.stopped) {
    const std::string partial = partialOf(traces::behindLinks(target.path).string());
    if (!partial.empty()) traced.path = partial;
    if (auto flushed = writer->flush(); !flushed) traced.unwritten = failure(flushed.error());
    return traced;
  }
  const obs::TrueInstant end{std::max(traced.outcome.report.simulated.ns, sink.last().ns)};
  if (auto finished = writer->finish(verdictJson(traced.outcome), end); !finished) {
    traced.unwritten = failure(finished.error());
    traced.path.clear();
  }
  return traced;
}

}  // namespace holdfast::cli
