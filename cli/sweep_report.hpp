// What is printed about a sweep: what it exercised, what it missed, what failed, and how to run that again.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/subject.hpp"
#include "cli/verb.hpp"
#include "scenarios/sweep.hpp"

namespace holdfast::cli {

/// How a sweep went beside its report.
struct SweepFacts {
  std::chrono::nanoseconds real{};
  unsigned jobs = 1;
  bool interrupted = false;        ///< By a signal, before its last seed.
  std::string reproduce;           ///< The complete command that sweeps the same seeds again.
  std::vector<std::string> saved;  ///< Folders that failing seeds were saved to.
};

/// The verdict in a line: "held: 1,000 seeds, 102,334 admissions, every promise kept".
std::string sweepVerdict(const scenarios::SweepReport& report);

/// Why the sweep did not run all its seeds; "" if it did.
std::string partiality(const scenarios::SweepReport& report, const SweepFacts& facts);

/// The verdict for machines, without its "is".
Json sweepJson(const scenarios::SweepReport& report, const SweepFacts& facts);

/// What went wrong with a seed, in a sentence or two.
std::string failureText(const scenarios::FailedSeed& failure, const checkers::Names& names);

/// The failing seeds for machines, without their "is".
std::vector<Json> failureObjects(const Session& session, Subject subject,
                                 const scenarios::SweepReport& report);

/// Prints everything; `subject` is what each seed ran, whatever its seed.
void reportSweep(Session& session, const Subject& subject, const scenarios::SweepReport& report,
                 const SweepFacts& facts);

/// The progress line: seeds done, rate, time left, violations.
std::string sweepProgressText(const scenarios::SweepReport& soFar, std::chrono::nanoseconds real);

}  // namespace holdfast::cli
