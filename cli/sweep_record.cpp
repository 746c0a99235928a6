#include "cli/sweep_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/json_source.hpp"
#include "cli/run_report.hpp"
#include "cli/version.hpp"
#include "scenarios/must_reach.hpp"
#include "scenarios/plan_file.hpp"
#include "scenarios/reflected_json.hpp"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kSweepFileVersion = 1;

std::string commitLine() { return fmt::format("{} ({})", traces::toolVersion(), commitName()); }

}  // namespace

SweepRecord recordOf(const Subject& subject, const scenarios::SweepOptions& options, const SeedRange& whole,
                     const scenarios::SweepReport& report, const SweepFacts& facts) {
  SweepRecord record;
  record.tool = commitLine();
  record.rulesOff = rulesOff(subject.rules);
  record.options = subject.options;
  record.mustReach = options.mustReach;
  record.judgeLiveness = options.judgeLiveness;
  record.report = report;
  record.coverage = report.coverage.numbers();
  record.realNs = facts.real.count();
  record.jobs = facts.jobs;
  record.wholeFirst = whole.first;
  record.wholeCount = whole.count;
  return record;
}

std::string textOf(const Session& session, const SweepRecord& record, const SweepFacts& facts) {
  const Subject subject = subjectOf(record);
  Json summary = sweepJson(record.report, facts);
  Json json{{"holdfastSweep", kSweepFileVersion}, {"tool", record.tool}};
  json.update(subjectJson(subject));
  json.erase("seed");
  json["summary"] = std::move(summary);
  json["failures"] = Json::array();
  for (Json& failure : failureObjects(session, subject, record.report))
    json["failures"].push_back(std::move(failure));
  json["exact"] = scenarios::writeJson(record);
  return scenarios::indented(json) + "\n";
}

std::expected<SweepRecord, Failure> readSweepRecord(const std::string& path) {
  const auto source = JsonSource::read(path, "a sweep.json, which 'holdfast sweep --report' writes");
  if (!source) return std::unexpected(source.error());
  const auto json = source->parsed();
  if (!json) return std::unexpected(json.error());
  if (!json->is_object() || !json->contains("holdfastSweep") || !json->contains("exact")) {
    return std::unexpected(
        source->at(1, "this is no sweep.json; expected what 'holdfast sweep --report' writes"));
  }
  if ((*json)["holdfastSweep"] != kSweepFileVersion) {
    return std::unexpected(source->about(
        "holdfastSweep", fmt::format("holdfastSweep: expected version {}, which is what this build reads",
                                     kSweepFileVersion)));
  }
  SweepRecord record;
  if (auto wrong = scenarios::readJson((*json)["exact"], record, "exact", scenarios::Missing::refused)) {
    return std::unexpected(source->about(*wrong, *wrong));
  }
  const auto coverage = scenarios::Coverage::numbered(record.coverage);
  if (!coverage || record.report.ranges.empty()) {
    return std::unexpected(
        source->about("exact.coverage", "exact.coverage: is not that of this build's sweeps"));
  }
  record.report.coverage = *coverage;
  return record;
}

Subject subjectOf(const SweepRecord& record) {
  Subject subject;
  subject.options = record.options;
  subject.seed = record.report.firstSeed();
  for (const std::string& name : record.rulesOff) {
    if (const auto rule = protocol::ruleFromName(name)) subject.rules.switchOff(*rule);
  }
  return subject;
}

std::string seedsThatLack(const SweepRecord& record) {
  std::vector<std::string> gaps;
  std::uint64_t next = record.wholeFirst;
  const auto lack = [&](std::uint64_t first) {
    if (first > next) gaps.push_back(fmt::format("{}..{}", next, first - 1));
  };
  for (const scenarios::SeedsRun& range : record.report.ranges) {
    lack(range.first);
    next = std::max(next, range.first + range.asked);
  }
  lack(record.wholeFirst + record.wholeCount);
  return gaps.empty() ? "" : fmt::format("seeds {}", fmt::join(gaps, ", "));
}

std::expected<void, std::string> add(SweepRecord& sum, const SweepRecord& other) {
  if (sum.tool != other.tool) {
    return std::unexpected(fmt::format("it is of build {}, the first is of {}", other.tool, sum.tool));
  }
  if (sum.options != other.options || sum.rulesOff != other.rulesOff) {
    return std::unexpected("its options or rules are others than those of the first");
  }
  if (sum.mustReach != other.mustReach || sum.judgeLiveness != other.judgeLiveness) {
    return std::unexpected("it is judged in another way than the first");
  }
  for (const scenarios::SeedsRun& one : sum.report.ranges) {
    for (const scenarios::SeedsRun& two : other.report.ranges) {
      if (one.first < two.first + two.ran && two.first < one.first + one.ran) {
        return std::unexpected(fmt::format("the seeds from {} on are in more than one of the files",
                                           std::max(one.first, two.first)));
      }
    }
  }
  sum.report += other.report;
  sum.report.missed = sum.mustReach ? scenarios::missedBy(sum.report) : std::vector<std::string>{};
  sum.coverage = sum.report.coverage.numbers();
  sum.realNs += other.realNs;
  sum.jobs = std::max(sum.jobs, other.jobs);
  const std::uint64_t end = std::max(sum.wholeFirst + sum.wholeCount, other.wholeFirst + other.wholeCount);
  sum.wholeFirst = std::min(sum.wholeFirst, other.wholeFirst);
  sum.wholeCount = end - sum.wholeFirst;
  return {};
}

}  // namespace holdfast::cli
