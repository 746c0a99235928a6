// Which points the sweeps before this one have reached: a file to which each sweep adds a line.
//
// Contract: a line is a JSON object with the build, the first seed, the number of seeds and for each point
// the seeds that reached it. Lines that are not of this form, such as one whose end was not written, are
// passed over and kept; a line that can not be written whole is not begun. A device or a pipe is written to,
// and has no sweeps before.
#pragma once

#include <expected>
#include <string>

#include "cli/sweep_record.hpp"
#include "cli/verb.hpp"

namespace holdfast::cli {

/// Says of each point that this sweep missed, or had too few seeds for, when it was reached last; then adds
/// this sweep to the file.
std::expected<void, Failure> keepPointHistory(Session& session, const std::string& path,
                                              const SweepRecord& record);

}  // namespace holdfast::cli
