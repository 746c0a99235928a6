// A sweep as a file, sweep.json: what people and dashboards read of it, and everything that is needed to add
// it to another one.
//
// Contract: `summary` and `failures` have the members of docs/json-output.md; `exact` is read back unchanged.
// Records add up if they are of one build and of the same options, rules and judgement, and of other seeds.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/json_source.hpp"
#include "cli/output.hpp"
#include "cli/subject.hpp"
#include "cli/sweep_report.hpp"
#include "scenarios/sweep.hpp"

namespace holdfast::cli {

/// What has to be equal in records that are to be added, and what is added.
struct SweepRecord {
  std::string tool;                   ///< Version and commit.
  std::vector<std::string> rulesOff;  ///< Names.
  scenarios::RunOptions options;      ///< Their seed is not used.
  bool mustReach = true;
  bool judgeLiveness = true;
  scenarios::SweepReport report;
  std::vector<std::uint64_t> coverage;  ///< scenarios::Coverage::numbers() of the report's.
  std::int64_t realNs = 0;              ///< Summed up over shards.
  std::uint64_t jobs = 1;
  std::uint64_t wholeFirst = 0;  ///< The seeds of the whole sweep, of which a shard has its part.
  std::uint64_t wholeCount = 0;
};
BOOST_DESCRIBE_STRUCT(SweepRecord, (),
                      (tool, rulesOff, options, mustReach, judgeLiveness, report, coverage, realNs, jobs,
                       wholeFirst, wholeCount))

/// `whole` are the seeds of the sweep before it was parted into shards.
SweepRecord recordOf(const Subject& subject, const scenarios::SweepOptions& options, const SeedRange& whole,
                     const scenarios::SweepReport& report, const SweepFacts& facts);

/// The text of sweep.json.
std::string textOf(const Session& session, const SweepRecord& record, const SweepFacts& facts);

/// Reads a record that can be: see sweep_consistency.hpp.
std::expected<SweepRecord, Failure> sweepRecordOf(const JsonSource& source);

/// What each seed of the record ran.
Subject subjectOf(const SweepRecord& record);

/// The seeds of the whole sweep that no report asked for, in words: "seeds 7..12, 20..20"; empty if none
/// lack.
std::string seedsThatLack(const SweepRecord& record);

/// Adds `other` to `sum`; the error says in what they differ, which seeds both have, or what is too large,
/// and begins with the path of the member that it is about.
std::expected<void, std::string> add(SweepRecord& sum, const SweepRecord& other);

}  // namespace holdfast::cli
