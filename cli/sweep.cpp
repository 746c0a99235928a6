// holdfast sweep: the random workload over many seeds, on several threads, with a report of what it met.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>

#include "cli/interrupt.hpp"
#include "cli/run_report.hpp"
#include "cli/sweep_report.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kMostJobs = 1'024;

struct SweepArguments {
  std::string seeds = "1000";
  std::string jobs;
  std::string timeLimit;
  bool stopOnFirst = false;
  bool noMustReach = false;
  SubjectArguments subject;
};

unsigned hardwareJobs() { return std::max(1U, std::thread::hardware_concurrency()); }

/// Shows how far the sweep has come, and ends it after an interrupt.
class Progress : public scenarios::SweepProgress {
 public:
  explicit Progress(Output& out) : out_(out) {}
  bool merged(const scenarios::SweepReport& soFar) override {
    if (out_.wantsProgress()) out_.progress(sweepProgressText(soFar, watch_.elapsed()));
    return !InterruptGuard::requested();
  }
  std::chrono::nanoseconds elapsed() const { return watch_.elapsed(); }

 private:
  Output& out_;
  Stopwatch watch_;
};

struct Request {
  Subject subject;
  scenarios::SweepOptions options;
  std::string command;  ///< That sweeps the same, but for jobs and time, which have no say in the result.
};

std::expected<Request, Failure> requestOf(const Session& session, const SweepArguments& arguments) {
  Request request;
  if (auto read = readSubject(arguments.subject, request.subject); !read)
    return std::unexpected(read.error());
  const auto seeds = parseSeeds(arguments.seeds);
  if (!seeds) return std::unexpected(badValue("--seeds", seeds.error()));
  std::uint64_t jobs = hardwareJobs();
  if (!arguments.jobs.empty()) {
    const auto parsed = parseCount("the number of jobs", arguments.jobs, 1, kMostJobs);
    if (!parsed) return std::unexpected(badValue("--jobs", parsed.error()));
    jobs = *parsed;
  }
  scenarios::SweepOptions& options = request.options;
  if (!arguments.timeLimit.empty()) {
    const auto limit = parseRealTime(arguments.timeLimit);
    if (!limit) return std::unexpected(badValue("--time-limit", limit.error()));
    options.timeLimitNs = *limit;
  }
  options.run = request.subject.options;
  options.rules = request.subject.rules;
  options.firstSeed = seeds->first;
  options.count = seeds->count;
  options.jobs = static_cast<unsigned>(std::min(jobs, seeds->count));
  options.stopOnFirst = arguments.stopOnFirst;
  options.mustReach = !arguments.noMustReach;

  request.subject.seed = seeds->first;
  request.command = fmt::format("{} sweep --seeds {}..{}", shellWord(session.program), seeds->first,
                                seeds->first + (seeds->count - 1));
  for (const std::string& rule : rulesOff(options.rules)) request.command += " --without " + rule;
  for (const std::string& setting : arguments.subject.settings) {
    request.command += " --set " + shellWord(setting);
  }
  if (arguments.stopOnFirst) request.command += " --stop-on-first";
  if (arguments.noMustReach) request.command += " --no-must-reach";
  return request;
}

Result runSweep(Session& session, const SweepArguments& arguments) {
  auto request = requestOf(session, arguments);
  if (!request) return std::unexpected(request.error());
  const std::uint64_t last = request->options.firstSeed + (request->options.count - 1);
  announce(session, "sweep", request->subject, fmt::format("seeds {}..{}", request->options.firstSeed, last),
           arguments.subject.printOptions);

  const InterruptGuard guard;
  Progress progress(session.out);
  request->options.progress = &progress;
  const scenarios::SweepReport report = scenarios::sweep(request->options);

  SweepFacts facts;
  facts.real = progress.elapsed();
  facts.jobs = request->options.jobs;
  facts.interrupted = InterruptGuard::requested();
  facts.reproduce = request->command;
  reportSweep(session, request->subject, report, facts);
  return report.exitCode();
}

}  // namespace

Action declareSweep(CLI::App& app) {
  auto arguments = std::make_shared<SweepArguments>();
  app.description(
      "Run the random workload over many seeds with all checkers on, and report what was exercised, which "
      "limitations were reached, what was missed, and how to run each failing seed again.");
  app.add_option("--seeds", arguments->seeds, "how many seeds, from 1 on, or the first and the last")
      ->type_name("N|A..B")
      ->capture_default_str();
  app.add_option("--jobs", arguments->jobs,
                 fmt::format("worker threads; they have no say in the result (default: one for each "
                             "processor, here {})",
                             hardwareJobs()))
      ->type_name("N");
  addSubjectOptions(app, arguments->subject);
  app.add_option("--time-limit", arguments->timeLimit,
                 "end after this much real time (500ms, 30s, 10min), with the report of a shorter sweep; no "
                 "limit by default")
      ->type_name("TIME");
  app.add_flag("--stop-on-first", arguments->stopOnFirst, "end with the first seed that is violated");
  app.add_flag("--no-must-reach", arguments->noMustReach,
               "let a sweep hold although it missed a milestone or limitation that it must reach");
  app.footer(
      "Exit code: 0 held, 1 safety violation, 2 liveness violation, 3 inconclusive or something that must "
      "be\n"
      "reached was missed, 64 bad usage, 70 internal error. Ctrl-C ends it after the running seeds.\n\n"
      "Example:\n  holdfast sweep --seeds 1..200 --time-limit 1min");
  return [arguments](Session& session) { return runSweep(session, *arguments); };
}

}  // namespace holdfast::cli
