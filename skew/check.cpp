#include "skew/check.hpp"

#include <algorithm>

#include "shrink/first_of.hpp"

namespace holdfast::skew {
namespace {

// How many cases are judged between two calls of the progress callback.
constexpr std::uint64_t kBatch = 32;

struct CaseResult {
  Distribution distribution;
  std::vector<Broken> broken;
};

}  // namespace

CheckReport check(const CheckOptions& options) {
  CheckReport report;
  std::vector<CaseResult> results;
  while (report.judged < options.cases && !report.failed && !report.stopped) {
    const std::uint64_t first = options.firstCase + report.judged;
    const std::uint64_t size = std::min(kBatch, options.cases - report.judged);
    results.assign(size, {});
    const auto failing = shrink::firstOf(size, options.jobs, [&](std::size_t i) {
      const Generated made = generate(options.generator, first + i);
      Judgement judgement = judge(made.whole, options.rules, options.properties);
      results[i].distribution.add(made, judgement.report);
      results[i].broken = std::move(judgement.broken);
      return !results[i].broken.empty();
    });
    // What other threads have judged beyond the first failure is left out, so that no number of jobs shows.
    const std::uint64_t judged = failing ? *failing + 1 : size;
    for (std::uint64_t i = 0; i < judged; ++i) report.distribution += results[i].distribution;
    report.judged += judged;
    if (failing) {
      report.failed = FailedCase{generate(options.generator, first + *failing), results[*failing].broken};
    } else if (options.progress != nullptr) {
      report.stopped =
          !options.progress->judged(report.judged, options.cases) && report.judged < options.cases;
    }
  }
  return report;
}

}  // namespace holdfast::skew
