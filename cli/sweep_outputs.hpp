// The files that a sweep leaves for machines: sweep.json, JUnit, a page of HTML, the history of its points;
// and what GitHub shows of it when it runs there.
//
// Contract: each file is written whole, and in place of one before only with --force; of a sweep that was
// interrupted FILE.partial is written instead. A file that can not be written is said, and takes nothing from
// the others.
#pragma once

#include <expected>
#include <string>

#include "cli/sweep_record.hpp"
#include "cli/verb.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

struct SweepOutputArguments {
  std::string report;
  std::string junit;
  std::string html;
  std::string history;
  bool force = false;
};

/// Adds --report, --junit, --html, --history and --force. `arguments` must outlive `app`.
void addSweepOutputOptions(CLI::App& app, SweepOutputArguments& arguments);

/// Tells before the work what can be told of it: files of one name, or one that can not be written, and a
/// --force that has no say.
std::expected<void, Failure> checkSweepOutputs(const SweepOutputArguments& arguments);

/// Writes what is asked for. Gives the exit code of a sweep that would end in `exitCode` otherwise.
int writeSweepOutputs(Session& session, const SweepOutputArguments& arguments, const SweepRecord& record,
                      const SweepFacts& facts, int exitCode);

/// The sweep as JUnit has it: a test for each point that must be reached, each seed that failed, and all
/// others.
std::string junitText(const Session& session, const SweepRecord& record);

/// A page for people that needs no network: counts, points, routes, refusals, waits and costs.
std::string htmlText(const Session& session, const SweepRecord& record, const SweepFacts& facts);

}  // namespace holdfast::cli
