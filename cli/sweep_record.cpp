#include "cli/sweep_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cli/json_source.hpp"
#include "cli/run_report.hpp"
#include "cli/sweep_consistency.hpp"
#include "cli/version.hpp"
#include "scenarios/must_reach.hpp"
#include "scenarios/plan_file.hpp"
#include "scenarios/reflected_json.hpp"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kSweepFileVersion = 1;

/// Whether both have run a seed, or one was to begin amid what the other has run.
bool overlap(const scenarios::SeedsRun& one, const scenarios::SeedsRun& two) {
  if (one.first == two.first) return one.ran > 0 && two.ran > 0;
  const auto& [earlier, later] = one.first < two.first ? std::pair(one, two) : std::pair(two, one);
  return later.first - earlier.first < earlier.ran;
}

/// What a sweep was cut before it came to, another report may have.
void giveUpWhatOthersHave(scenarios::SweepReport& report) {
  std::vector<scenarios::SeedsRun>& ranges = report.ranges;
  std::ranges::sort(ranges, {}, [](const scenarios::SeedsRun& one) { return std::pair(one.first, one.ran); });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    ranges[i - 1].asked = std::min(ranges[i - 1].asked, ranges[i].first - ranges[i - 1].first);
  }
  std::erase_if(ranges, [](const scenarios::SeedsRun& range) { return range.asked == 0; });
  report.asked = 0;
  for (const scenarios::SeedsRun& range : ranges) report.asked += range.asked;
  report.stoppedEarly = report.ran < report.asked;
}

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

std::expected<SweepRecord, Failure> sweepRecordOf(const JsonSource& source) {
  const auto json = source.parsed();
  if (!json) return std::unexpected(json.error());
  if (!json->is_object() || !json->contains("holdfastSweep") || !json->contains("exact")) {
    return std::unexpected(
        source.at(1, "this is no sweep.json; expected what 'holdfast sweep --report' writes"));
  }
  if ((*json)["holdfastSweep"] != kSweepFileVersion) {
    return std::unexpected(source.about(
        "holdfastSweep", fmt::format("holdfastSweep: expected version {}, which is what this build reads",
                                     kSweepFileVersion)));
  }
  SweepRecord record;
  if (auto wrong = scenarios::readJson((*json)["exact"], record, "exact", scenarios::Missing::refused)) {
    return std::unexpected(source.about(*wrong, *wrong));
  }
  const auto coverage = scenarios::Coverage::numbered(record.coverage);
  if (!coverage) {
    return std::unexpected(
        source.about("exact.coverage",
                     fmt::format("exact.coverage: has {} numbers; expected {}, as this build's sweeps have",
                                 record.coverage.size(), scenarios::Coverage{}.numbers().size())));
  }
  record.report.coverage = *coverage;
  if (const auto wrong = whatCanNotBe(record)) return std::unexpected(source.about(*wrong, *wrong));
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
  bool beyondTheLast = false;  // there is no seed behind the greatest number
  const auto lack = [&](std::uint64_t last) { gaps.push_back(fmt::format("{}..{}", next, last)); };
  for (const scenarios::SeedsRun& range : record.report.ranges) {
    if (range.first > next) lack(range.first - 1);
    const std::uint64_t last = range.first + (range.asked - 1);
    beyondTheLast = last == std::numeric_limits<std::uint64_t>::max();
    next = last + 1;
  }
  const std::uint64_t wholeLast = record.wholeFirst + (record.wholeCount - 1);
  if (!beyondTheLast && next <= wholeLast) lack(wholeLast);
  return gaps.empty() ? "" : fmt::format("seeds {}", fmt::join(gaps, ", "));
}

std::expected<void, std::string> add(SweepRecord& sum, const SweepRecord& other) {
  if (sum.tool != other.tool) {
    return std::unexpected(
        fmt::format("exact.tool: it is of build {}, the first is of {}", other.tool, sum.tool));
  }
  if (sum.options != other.options) {
    return std::unexpected("exact.options: its options are others than those of the first");
  }
  if (sum.rulesOff != other.rulesOff) {
    return std::unexpected("exact.rulesOff: its rules are others than those of the first");
  }
  if (sum.mustReach != other.mustReach || sum.judgeLiveness != other.judgeLiveness) {
    return std::unexpected(fmt::format("exact.{}: it is judged in another way than the first",
                                       sum.mustReach != other.mustReach ? "mustReach" : "judgeLiveness"));
  }
  for (const scenarios::SeedsRun& one : sum.report.ranges) {
    for (const scenarios::SeedsRun& two : other.report.ranges) {
      if (!overlap(one, two)) continue;
      return std::unexpected(
          fmt::format("exact.report.ranges: the seeds from {} on are in more than one of the files",
                      std::max(one.first, two.first)));
    }
  }
  if (auto tooLarge = whatOverflows(sum, other)) return std::unexpected(std::move(*tooLarge));
  const std::uint64_t last =
      std::max(sum.wholeFirst + (sum.wholeCount - 1), other.wholeFirst + (other.wholeCount - 1));
  if (last - std::min(sum.wholeFirst, other.wholeFirst) == std::numeric_limits<std::uint64_t>::max()) {
    return std::unexpected("exact.wholeCount: both are of more seeds than can be counted");
  }
  sum.report += other.report;
  giveUpWhatOthersHave(sum.report);
  sum.report.missed = sum.mustReach ? scenarios::missedBy(sum.report) : std::vector<std::string>{};
  sum.coverage = sum.report.coverage.numbers();
  sum.realNs += other.realNs;
  sum.jobs = std::max(sum.jobs, other.jobs);
  sum.wholeFirst = std::min(sum.wholeFirst, other.wholeFirst);
  sum.wholeCount = last - sum.wholeFirst + 1;
  return {};
}

}  // namespace holdfast::cli
