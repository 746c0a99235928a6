#include "cli/sweep_consistency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "observations/hash_chain.hpp"
#include "scenarios/must_reach.hpp"
#include "sim/wide_integer.hpp"
#include "traces/json_cursor.hpp"

namespace holdfast::cli {
namespace {

using Problem = std::optional<std::string>;
using scenarios::FailedSeed;
using scenarios::SeedsRun;
using scenarios::SweepReport;

constexpr std::uint64_t kMostNumber = std::numeric_limits<std::uint64_t>::max();

template <class Value>
Problem wrong(std::string_view path, const Value& is, const std::string& expected) {
  return fmt::format("exact.{}: is {}; expected {}", path, is, expected);
}

/// Judges `value`, which must be at most `most`; `why` says what that is.
Problem atMost(std::string_view path, std::uint64_t value, std::uint64_t most, std::string_view why) {
  if (value <= most) return std::nullopt;
  return wrong(path, value, fmt::format("at most {}, {}", most, why));
}

Problem equal(std::string_view path, std::uint64_t value, std::uint64_t wanted, std::string_view why) {
  if (value == wanted) return std::nullopt;
  return wrong(path, value, fmt::format("{}, {}", wanted, why));
}

/// The last of `count` seeds from `first` on; nothing if there is none, or it would be beyond the last seed.
std::optional<std::uint64_t> lastSeed(std::uint64_t first, std::uint64_t count) {
  if (count == 0 || count - 1 > kMostNumber - first) return std::nullopt;
  return first + (count - 1);
}

bool wasRun(const SweepReport& report, std::uint64_t seed) {
  return std::ranges::any_of(report.ranges, [&](const SeedsRun& range) {
    return seed >= range.first && seed - range.first < range.ran;
  });
}

// ---- What was run -----------------------------------------------------------------------------------------

Problem judgeSubject(const SweepRecord& record) {
  if (auto valid = scenarios::validate(record.options); !valid) {
    constexpr std::string_view kRoot = "options: ";
    const std::string& what = valid.error();
    return "exact.options." + (what.starts_with(kRoot) ? what.substr(kRoot.size()) : what);
  }
  for (std::size_t i = 0; i < record.rulesOff.size(); ++i) {
    const std::string& name = record.rulesOff[i];
    const bool again =
        std::find(record.rulesOff.begin(), record.rulesOff.begin() + static_cast<std::ptrdiff_t>(i), name) !=
        record.rulesOff.begin() + static_cast<std::ptrdiff_t>(i);
    if (protocol::ruleFromName(name) && !again) continue;
    return wrong(fmt::format("rulesOff[{}]", i), traces::shown(name),
                 "names of rules, each once ('holdfast list rules' names them all)");
  }
  if (record.jobs == 0 || record.jobs > kMostJobs) {
    return wrong("jobs", record.jobs, fmt::format("1 to {}", kMostJobs));
  }
  if (record.realNs < 0) return wrong("realNs", record.realNs, "at least 0");
  if (record.report.simulated.ns < 0) {
    return wrong("report.simulated", record.report.simulated.ns, "at least 0");
  }
  return std::nullopt;
}

Problem judgeRanges(const SweepRecord& record) {
  const SweepReport& report = record.report;
  const auto wholeLast = lastSeed(record.wholeFirst, record.wholeCount);
  if (!wholeLast) {
    return wrong("wholeCount", record.wholeCount,
                 fmt::format("as many seeds as there are from {} on, at least one", record.wholeFirst));
  }
  if (report.ranges.empty()) return "exact.report.ranges: is empty; expected the seeds that were run";
  sim::Uint128 asked = 0;
  sim::Uint128 ran = 0;
  std::optional<std::uint64_t> before;
  for (std::size_t i = 0; i < report.ranges.size(); ++i) {
    const SeedsRun& range = report.ranges[i];
    const std::string path = fmt::format("report.ranges[{}]", i);
    const auto last = lastSeed(range.first, range.asked);
    if (!last || range.first < record.wholeFirst || *last > *wholeLast) {
      return wrong(path + ".asked", fmt::format("{} from seed {} on", range.asked, range.first),
                   fmt::format("seeds of {}..{}", record.wholeFirst, *wholeLast));
    }
    if (before && range.first <= *before) {
      return wrong(path + ".first", range.first, fmt::format("more than {}, the last before it", *before));
    }
    if (auto bad = atMost(path + ".ran", range.ran, range.asked, "which were asked for")) return bad;
    asked += range.asked;
    ran += range.ran;
    before = last;
  }
  // The ranges are apart, so that both sums are below the number of seeds.
  if (auto bad =
          equal("report.asked", report.asked, static_cast<std::uint64_t>(asked), "the sum of ranges")) {
    return bad;
  }
  if (auto bad = equal("report.ran", report.ran, static_cast<std::uint64_t>(ran), "the sum of ranges")) {
    return bad;
  }
  if (report.stoppedEarly == (report.ran < report.asked)) return std::nullopt;
  return wrong("report.stoppedEarly", report.stoppedEarly,
               fmt::format("{}: {} of {} seeds were run", !report.stoppedEarly, report.ran, report.asked));
}

// ---- How the seeds ended ----------------------------------------------------------------------------------

Problem judgeEndings(const SweepReport& report) {
  const std::string_view seeds = "as many seeds as were run";
  const std::pair<std::string_view, std::uint64_t> endings[] = {
      {"report.held", report.held},
      {"report.safetyViolations", report.safetyViolations},
      {"report.livenessViolations", report.livenessViolations},
      {"report.inconclusive", report.inconclusive},
      {"report.died", report.died}};
  sim::Uint128 sum = 0;
  for (const auto& [path, count] : endings) {
    if (auto bad = atMost(path, count, report.ran, seeds)) return bad;
    sum += count;
  }
  if (auto bad = atMost("report.rechecked", report.rechecked, report.ran, seeds)) return bad;
  if (auto bad = atMost("report.diverged", report.diverged, report.rechecked, "which were run twice"))
    return bad;
  // A seed that diverged counts as such, and with what it ended in unless that is that it held.
  if (sum > report.ran || sum + report.diverged < report.ran) {
    return wrong("report.held", report.held,
                 fmt::format("with violated, inconclusive and dead seeds {}, which were run", report.ran));
  }
  return std::nullopt;
}

Problem judgeFailure(const FailedSeed& failure, const std::string& path, const SweepReport& report) {
  if (!wasRun(report, failure.seed)) return wrong(path + ".seed", failure.seed, "a seed that was run");
  const bool died = !failure.died.empty();
  if (died && (failure.verdict != checkers::Verdict::inconclusive || failure.diverged)) {
    return wrong(path + ".died", traces::shown(failure.died), "none of a seed that has a verdict");
  }
  if (failure.verdict == checkers::Verdict::held && !failure.diverged) {
    return wrong(path + ".verdict", "held", "one that is no success");
  }
  for (std::size_t i = 0; i < failure.violations.size(); ++i) {
    const std::size_t evidence = failure.violations[i].evidenceCount;
    if (auto bad = atMost(fmt::format("{}.violations[{}].evidenceCount", path, i), evidence,
                          checkers::kMaxEvidence, "which a finding has room for")) {
      return bad;
    }
  }
  return std::nullopt;
}

/// The gravest are listed, and of these the first: their numbers follow from the counts.
Problem judgeFailures(const SweepReport& report) {
  std::uint64_t room = SweepReport::kMaxFailures;
  const auto listed = [&](std::uint64_t count) {
    const std::uint64_t taken = std::min(room, count);
    room -= taken;
    return taken;
  };
  const std::array<std::uint64_t, 2> wanted{listed(report.safetyViolations), listed(report.died)};
  const std::uint64_t failed = std::min<std::uint64_t>(SweepReport::kMaxFailures, report.ran - report.held);
  if (auto bad = equal("report.failures", report.failures.size(), failed,
                       fmt::format("the gravest of {} seeds that did not hold", report.ran - report.held))) {
    return bad;
  }
  std::array<std::uint64_t, 2> found{};
  for (std::size_t i = 0; i < report.failures.size(); ++i) {
    const FailedSeed& failure = report.failures[i];
    const std::string path = fmt::format("report.failures[{}]", i);
    if (auto bad = judgeFailure(failure, path, report)) return bad;
    const auto order = [](const FailedSeed& one) { return std::pair(one.rank(), one.seed); };
    if (i > 0 && order(report.failures[i - 1]) >= order(failure)) {
      return wrong(path + ".seed", failure.seed, "the gravest first, and of these the smallest, each once");
    }
    if (static_cast<std::size_t>(failure.rank()) < found.size()) {
      ++found[static_cast<std::size_t>(failure.rank())];
    }
  }
  if (found == wanted) return std::nullopt;
  return fmt::format(
      "exact.report.failures: {} with a violation of safety and {} dead; expected {} and {} by the counts",
      found[0], found[1], wanted[0], wanted[1]);
}

// ---- What they met ----------------------------------------------------------------------------------------

/// Something that was met so often, in so many seeds, and in which first.
Problem judgeReached(const std::string& path, const SweepReport& report, std::uint64_t count,
                     std::uint64_t seeds, std::uint64_t firstSeed) {
  if (auto bad =
          atMost(path + ".seeds", seeds, std::min(count, report.ran), "for each was met once or more")) {
    return bad;
  }
  if ((count > 0) != (seeds > 0)) {
    return wrong(path + ".seeds", seeds, fmt::format("some, as it was met {} times", count));
  }
  const bool fits = seeds > 0 ? wasRun(report, firstSeed) : firstSeed == 0;
  if (fits) return std::nullopt;
  return wrong(path + ".firstSeed", firstSeed, seeds > 0 ? "a seed that was run" : "0 where there is none");
}

Problem judgeCoverage(const SweepReport& report) {
  const scenarios::Coverage& coverage = report.coverage;
  sim::Uint128 kinds = 0;
  for (std::size_t i = 0; i < scenarios::kObservationKinds; ++i) kinds += coverage.kind(i);
  if (kinds != report.observations) {
    return wrong("report.observations", report.observations, "the sum of observations of each kind");
  }
  // No part of a sum that has no overflow has one.
  sim::Uint128 admitted = 0;
  for (std::size_t i = 0; i < scenarios::kPaths; ++i)
    admitted += coverage.admissions(static_cast<obs::Path>(i));
  sim::Uint128 refused = 0;
  for (std::size_t error = 0; error < scenarios::kErrorClasses; ++error) {
    for (std::size_t cause = 0; cause < scenarios::kCauses; ++cause) {
      refused += coverage.refusals(static_cast<obs::ErrorClass>(error), static_cast<obs::Cause>(cause));
    }
  }
  const sim::Uint128 refusals =
      sim::Uint128{coverage.kind<obs::LockRefused>()} + coverage.kind<obs::WriteRefused>();
  if (admitted != coverage.kind<obs::Admitted>() || refused != refusals) {
    return "exact.coverage: its admissions or refusals are more or fewer than were observed; expected the "
           "numbers that 'holdfast sweep --report' wrote";
  }
  for (std::size_t i = 0; i < scenarios::kMilestones; ++i) {
    const scenarios::MilestoneReached& reached = report.milestones[i];
    if (auto bad = judgeReached(fmt::format("report.milestones[{}]", i), report,
                                coverage.count(static_cast<scenarios::Milestone>(i)), reached.seeds,
                                reached.firstSeed)) {
      return bad;
    }
  }
  for (std::size_t i = 0; i < report.routes.size(); ++i) {
    const scenarios::RouteReached& reached = report.routes[i];
    const std::string path = fmt::format("report.routes[{}]", i);
    if (auto bad = judgeReached(path, report, reached.count, reached.seeds, reached.firstSeed)) return bad;
    if (i != static_cast<std::size_t>(checkers::Route::none)) continue;
    if (auto bad = equal(path + ".count", reached.count, 0, "for it stands for no route")) return bad;
  }
  return std::nullopt;
}

template <std::size_t n>
Problem judgeHistogram(const std::string& path, const std::array<std::uint64_t, n>& histogram,
                       std::uint64_t cases) {
  sim::Uint128 sum = 0;
  for (const std::uint64_t count : histogram) sum += count;
  if (sum <= cases) return std::nullopt;
  return fmt::format("exact.{}.histogram: has more than {} cases, which there are acquisitions", path, cases);
}

Problem judgeCosts(const SweepReport& report) {
  Problem found;
  obs::forEachField(report.costs, [&]<class Field>(std::string_view name, const Field& path) {
    if constexpr (std::is_same_v<Field, checkers::PathCost>) {
      const std::string stem = fmt::format("report.costs.{}", name);
      if (!found) {
        found =
            atMost(stem + ".acquisitions", path.acquisitions, report.coverage.admissions(), "all admissions");
      }
      obs::forEachField(path, [&]<class Part>(std::string_view partName, const Part& part) {
        const std::string at = fmt::format("{}.{}", stem, partName);
        if constexpr (std::is_same_v<Part, checkers::Amount>) {
          if (!found) found = judgeHistogram(at, part.histogram, path.acquisitions);
        } else if constexpr (std::is_same_v<Part, checkers::WaitTimes>) {
          if (!found) found = judgeHistogram(at, part.histogram, path.acquisitions);
          if (!found && (part.mostNs < 0 || part.sumNs < part.mostNs)) {
            found = wrong(at + ".sumNs", part.sumNs,
                          fmt::format("at least mostNs, {}, and that at least 0", part.mostNs));
          }
        }
      });
    }
  });
  return found;
}

// ---- Sums -------------------------------------------------------------------------------------------------

/// Extremes and seeds are chosen from two reports, and hashes go round: these are not added up.
bool isAdded(std::string_view name) {
  constexpr std::array<std::string_view, 5> kChosen{"least", "most", "mostNs", "firstSeed", "hash"};
  return std::ranges::find(kChosen, name) == kChosen.end();
}

template <class T>
Problem overflowOf(const std::string& path, const T& one, const T& other) {
  if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
    if (other <= std::numeric_limits<T>::max() - one) return std::nullopt;
    return fmt::format("{}: is {}, to which {} is to be added; expected a sum of at most {}", path, other,
                       one, std::numeric_limits<T>::max());
  } else if constexpr (obs::kIsArray<T> || std::is_same_v<T, std::vector<std::uint64_t>>) {
    Problem found;
    for (std::size_t i = 0; i < std::min(one.size(), other.size()) && !found; ++i) {
      found = overflowOf(fmt::format("{}[{}]", path, i), one[i], other[i]);
    }
    return found;
  } else if constexpr (obs::Described<T>) {
    Problem found;
    boost::mp11::mp_for_each<obs::FieldsOf<T>>([&](auto field) {
      if (found || !isAdded(field.name)) return;
      const std::string name = obs::kFieldCountOf<T> == 1 ? path : fmt::format("{}.{}", path, field.name);
      found = overflowOf(name, one.*field.pointer, other.*field.pointer);
    });
    return found;
  } else {
    return std::nullopt;
  }
}

}  // namespace

Problem whatCanNotBe(const SweepRecord& record) {
  const SweepReport& report = record.report;
  if (auto bad = judgeSubject(record)) return bad;
  if (auto bad = judgeRanges(record)) return bad;
  if (auto bad = judgeEndings(report)) return bad;
  if (auto bad = judgeFailures(report)) return bad;
  if (auto bad = judgeCoverage(report)) return bad;
  if (auto bad = judgeCosts(report)) return bad;
  const auto missed = record.mustReach ? scenarios::missedBy(report) : std::vector<std::string>{};
  if (report.missed == missed) return std::nullopt;
  return fmt::format("exact.report.missed: is not what follows from the counts; expected [{}]",
                     fmt::join(missed, ", "));
}

Problem whatOverflows(const SweepRecord& sum, const SweepRecord& other) {
  if (auto bad = overflowOf("exact.report", sum.report, other.report)) return bad;
  if (auto bad = overflowOf("exact.coverage", sum.coverage, other.coverage)) return bad;
  return overflowOf("exact.realNs", sum.realNs, other.realNs);
}

}  // namespace holdfast::cli
