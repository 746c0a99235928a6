#include "cli/tracing.hpp"

#include <fmt/format.h>

#include "cli/run_report.hpp"
#include "cli/trace_sink.hpp"
#include "traces/trace.hpp"

namespace holdfast::cli {

std::expected<Outcome, Failure> runTraced(const TraceTarget& target, const Subject& subject,
                                          const std::function<Outcome(scenarios::ObservationSink*)>& run) {
  const auto fail = [](const traces::WriteError& error) {
    return std::unexpected(Failure{fmt::format("--trace: {}", error.what)});
  };
  const auto ifExists = target.replace ? traces::IfExists::replace : traces::IfExists::refuse;
  auto writer = traces::TraceWriter::create(target.path, headerOf(subject, namesOf(subject)),
                                            planJson(subject), ifExists);
  if (!writer) {
    std::string hint;
    if (!target.replace && writer.error().what.ends_with("exists already")) {
      hint = "; expected another name, or --force to replace it";
    }
    return fail({writer.error().what + hint});
  }
  WritingSink sink(*writer);
  Outcome outcome = run(&sink);
  const obs::TrueInstant end{std::max(outcome.report.simulated.ns, sink.last().ns)};
  if (auto finished = writer->finish(verdictJson(outcome), end); !finished) return fail(finished.error());
  return outcome;
}

}  // namespace holdfast::cli
