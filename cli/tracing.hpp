// Running something while its trace is written.
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>

#include "cli/output.hpp"
#include "cli/subject.hpp"

namespace holdfast::cli {

/// Where a trace goes.
struct TraceTarget {
  std::string path;      ///< Empty: no trace is written.
  bool replace = false;  ///< An existing file is replaced.
};

struct Traced {
  Outcome outcome;
  std::optional<Failure> unwritten;  ///< Why there is no trace all the same.
  std::string path;  ///< Where it is: of a run that was cut, beside the target; "" for nowhere.
};

/// Calls `run` with a sink that writes the trace of `subject` to the target, and gives what `run` gave.
/// `run` must do what execute(subject) does. Nothing runs if the file can not be made. A file that exists is
/// left as it is unless it is to be replaced, and the final name never holds half a trace: what was recorded
/// of a run that was cut is in FILE.partial.
std::expected<Traced, Failure> runTraced(const TraceTarget& target, const Subject& subject,
                                         const std::function<Outcome(scenarios::ObservationSink*)>& run);

}  // namespace holdfast::cli
