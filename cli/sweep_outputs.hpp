// The files that a sweep leaves for machines: sweep.json, JUnit, a page of HTML, the history of its points;
// and what GitHub shows of it when it runs there.
//
// Contract: each file is written whole, in place of the one before. A file that can not be written is said,
// and takes nothing from the others.
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
};

/// Adds --report, --junit, --html and --history. `arguments` must outlive `app`.
void addSweepOutputOptions(CLI::App& app, SweepOutputArguments& arguments);

/// Tells before the work what can be told of it: files of one name, or one that can not be written.
std::expected<void, Failure> checkSweepOutputs(const SweepOutputArguments& arguments);

/// Writes what is asked for. Gives whether all of it could be written.
bool writeSweepOutputs(Session& session, const SweepOutputArguments& arguments, const SweepRecord& record,
                       const SweepFacts& facts);

/// The sweep as JUnit has it: a test for each point that must be reached, each seed that failed, and all
/// others.
std::string junitText(const Session& session, const SweepRecord& record);

/// A page for people that needs no network: counts, points, routes, refusals, waits and costs.
std::string htmlText(const Session& session, const SweepRecord& record, const SweepFacts& facts);

}  // namespace holdfast::cli
