// What is printed about a sweep: what it exercised, what it missed, what failed, and how to run that again.
#pragma once

#include <chrono>
#include <string>

#include "cli/subject.hpp"
#include "cli/verb.hpp"
#include "scenarios/sweep.hpp"

namespace holdfast::cli {

/// How a sweep went beside its report.
struct SweepFacts {
  std::chrono::nanoseconds real{};
  unsigned jobs = 1;
  bool interrupted = false;  ///< By a signal.
  std::string reproduce;     ///< The complete command that sweeps the same seeds again.
};

/// Prints everything; `subject` is what each seed ran, whatever its seed.
void reportSweep(Session& session, const Subject& subject, const scenarios::SweepReport& report,
                 const SweepFacts& facts);

/// The progress line: seeds done, rate, time left, violations.
std::string sweepProgressText(const scenarios::SweepReport& soFar, std::chrono::nanoseconds real);

}  // namespace holdfast::cli
