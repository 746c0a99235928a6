// holdfast sweep: the random workload over many seeds, on several threads, with a report of what it met.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "cli/crash_note.hpp"
#include "cli/interrupt.hpp"
#include "cli/option_list.hpp"
#include "cli/run_report.hpp"
#include "cli/saved_run.hpp"
#include "cli/suggest.hpp"
#include "cli/sweep_outputs.hpp"
#include "cli/sweep_report.hpp"
#include "cli/target_file.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "scenarios/must_reach.hpp"
#include "scenarios/profiles.hpp"

namespace holdfast::cli {
namespace {

struct SweepArguments {
  std::string seeds = "1000";
  std::string commit;
  std::string shard;
  std::string profile = "ci";
  std::string recheck = "16";
  std::string jobs;
  std::string timeLimit;
  bool stopOnFirst = false;
  bool noMustReach = false;
  SubjectArguments subject;
  SweepOutputArguments outputs;
  SaveArguments save;
};

// So many of the failing seeds are saved.
constexpr std::size_t kFailuresSaved = 5;
constexpr std::chrono::seconds kCheckpointEvery{2};

/// Shows how far the sweep has come, ends it after an interrupt, and now and then hands on what is done so
/// far.
class Progress : public scenarios::SweepProgress {
 public:
  using Checkpoint = std::function<void(const scenarios::SweepReport&)>;

  Progress(Output& out, Checkpoint checkpoint) : out_(out), checkpoint_(std::move(checkpoint)) {}
  bool merged(const scenarios::SweepReport& soFar) override {
    if (out_.wantsProgress()) out_.progress(sweepProgressText(soFar, watch_.elapsed()));
    if (watch_.elapsed() >= next_) {
      checkpoint_(soFar);
      next_ = watch_.elapsed() + kCheckpointEvery;
    }
    return !InterruptGuard::requested();
  }
  std::chrono::nanoseconds elapsed() const { return watch_.elapsed(); }

 private:
  Output& out_;
  Checkpoint checkpoint_;
  Stopwatch watch_;
  std::chrono::nanoseconds next_ = kCheckpointEvery;
};

/// Ends a run that takes longer than somebody waits who has interrupted the sweep.
class Hurry : public scenarios::RunProgress {
 public:
  explicit Hurry(const Stopwatch& watch) : watch_(watch) {}
  bool reached(obs::TrueInstant, std::uint64_t) override {
    return !InterruptGuard::requested() || watch_.elapsed() < std::chrono::milliseconds(300);
  }

 private:
  const Stopwatch& watch_;
};

struct Request {
  Subject subject;
  scenarios::SweepOptions options;
  SeedRange whole;      ///< What the shard is a part of.
  std::string command;  ///< That sweeps the same, but for jobs and time, which have no say in the result.
};

/// "safety-only" is Profile::safetyOnly.
std::expected<scenarios::Profile, Failure> profileOf(const std::string& text) {
  std::string name = text == "safety-only" ? "safetyOnly" : text;
  scenarios::Profile profile = scenarios::Profile::ci;
  if (text != "safetyOnly" && obs::enumFromName(name, profile)) return profile;
  const std::vector<std::string> known{"calm", "ci", "chaos", "safety-only"};
  return std::unexpected(
      badValue("--profile", fmt::format("there is no profile '{}'{}; expected one of {}", text.substr(0, 60),
                                        didYouMean(text, known), fmt::join(known, ", "))));
}

/// The seeds that --seeds and --from-commit mean together.
std::expected<SeedRange, Failure> wholeOf(const SweepArguments& arguments) {
  auto seeds = parseSeeds(arguments.seeds);
  if (!seeds) return std::unexpected(badValue("--seeds", seeds.error()));
  if (!arguments.commit.empty()) {
    if (arguments.seeds.find("..") != std::string::npos) {
      return std::unexpected(
          badValue("--from-commit",
                   fmt::format("the commit says which seed is first; expected --seeds with a number instead "
                               "of {}",
                               arguments.seeds)));
    }
    seeds = seedsOfCommit(arguments.commit, seeds->count);
    if (!seeds) return std::unexpected(badValue("--from-commit", seeds.error()));
  }
  return *seeds;
}

/// The part of them that --shard means.
std::expected<SeedRange, Failure> shardOfWhole(const SweepArguments& arguments, const SeedRange& whole) {
  if (arguments.shard.empty()) return whole;
  const auto seeds = shardOf(arguments.shard, whole);
  if (!seeds) return std::unexpected(badValue("--shard", seeds.error()));
  return *seeds;
}

std::expected<Request, Failure> requestOf(const Session& session, const SweepArguments& arguments) {
  Request request;
  const auto profile = profileOf(arguments.profile);
  if (!profile) return std::unexpected(profile.error());
  request.subject.options = scenarios::optionsOf(*profile);
  if (auto read = readSubject(arguments.subject, request.subject); !read)
    return std::unexpected(read.error());
  const auto whole = wholeOf(arguments);
  if (!whole) return std::unexpected(whole.error());
  request.whole = *whole;
  const auto seeds = shardOfWhole(arguments, *whole);
  if (!seeds) return std::unexpected(seeds.error());
  const auto recheck = parseCount("one seed of how many is run twice", arguments.recheck, 0, sim::kPpmOne);
  if (!recheck) return std::unexpected(badValue("--recheck", recheck.error()));
  const auto jobs = readJobs(arguments.jobs);
  if (!jobs) return std::unexpected(jobs.error());
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
  options.jobs = static_cast<unsigned>(std::min<std::uint64_t>(*jobs, seeds->count));
  options.stopOnFirst = arguments.stopOnFirst;
  options.mustReach = !arguments.noMustReach && scenarios::hasMustReach(*profile);
  options.judgeLiveness = scenarios::judgesLiveness(*profile);
  options.recheckPpm = *recheck == 0 ? 0 : static_cast<std::uint32_t>(sim::kPpmOne / *recheck);

  request.subject.seed = seeds->first;
  request.command = fmt::format("{} sweep --seeds {}..{}", shellWord(session.program), seeds->first,
                                seeds->first + (seeds->count - 1));
  if (*profile != scenarios::Profile::ci) request.command += " --profile " + arguments.profile;
  for (const std::string& rule : rulesOff(options.rules)) request.command += " --without " + rule;
  if (const std::string& kind = arguments.subject.membership; !kind.empty()) {
    request.command += " --membership " + kind;
  }
  for (const std::string& setting : arguments.subject.settings) {
    request.command += " --set " + shellWord(setting);
  }
  if (arguments.stopOnFirst) request.command += " --stop-on-first";
  if (arguments.noMustReach) request.command += " --no-must-reach";
  return request;
}

/// Saves the first failing seeds, each as `run` would: for a sweep that was interrupted those that are done
/// in a moment.
std::vector<std::string> saveFailures(Session& session, const SweepArguments& arguments, Subject subject,
                                      const scenarios::SweepReport& report) {
  std::vector<std::string> folders;
  const Stopwatch watch;
  Hurry hurry(watch);
  for (const scenarios::FailedSeed& failure : report.failures) {
    if (folders.size() == kFailuresSaved || arguments.save.off) break;
    if (!failure.died.empty()) continue;
    subject.seed = failure.seed;
    const Outcome outcome = execute(subject, nullptr, &hurry);
    if (outcome.report.stopped) {
      session.out.say(fmt::format("not saved   seed {}: interrupted", subject.seed));
      break;
    }
    RunFacts facts;
    facts.reproduce = commandOf(session.program, subject);
    const std::string folder = savedOrWhyNot(session, arguments.save, subject, outcome, facts);
    if (folder.empty()) break;
    folders.push_back(folder);
  }
  return folders;
}

std::expected<void, Failure> refuseIdleOptions(const CLI::App& verb, const SweepArguments& arguments) {
  return refuseIdle(verb, {{{"--out"}, arguments.save.off, kNothingIsSaved}});
}

Result runSweep(Session& session, const SweepArguments& arguments) {
  auto request = requestOf(session, arguments);
  if (!request) return std::unexpected(request.error());
  if (auto fits = checkSweepOutputs(arguments.outputs); !fits) return std::unexpected(fits.error());
  const std::uint64_t last = request->options.firstSeed + (request->options.count - 1);
  announce(session, "sweep", request->subject, fmt::format("seeds {}..{}", request->options.firstSeed, last),
           arguments.subject.printOptions);

  SweepFacts facts;
  facts.jobs = request->options.jobs;
  facts.reproduce = request->command;
  const std::string partial = partialOf(arguments.outputs.report);
  const auto checkpoint = [&](scenarios::SweepReport soFar) {
    if (partial.empty()) return;
    soFar.stoppedEarly = soFar.ran < soFar.asked;
    if (request->options.mustReach) soFar.missed = scenarios::missedBy(soFar);
    // What can not be written now is said at the end, if it still can not be written then.
    (void)writeTarget(
        {"--report", partial},
        textOf(session, recordOf(request->subject, request->options, request->whole, soFar, facts), facts),
        true);
  };
  const InterruptGuard guard;
  Progress progress(session.out, checkpoint);
  scenarios::SeedsInFlight inFlight;
  request->options.progress = &progress;
  request->options.inFlight = &inFlight;
  const scenarios::SweepReport report = [&] {
    const CrashNote note(inFlight, partial);
    return scenarios::sweep(request->options);
  }();
  facts.real = progress.elapsed();
  facts.interrupted = report.stoppedEarly && InterruptGuard::requested();
  facts.saved = saveFailures(session, arguments, request->subject, report);
  reportSweep(session, request->subject, report, facts);
  const SweepRecord record = recordOf(request->subject, request->options, request->whole, report, facts);
  return writeSweepOutputs(session, arguments.outputs, record, facts, report.exitCode());
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
  app.add_option(
         "--from-commit", arguments->commit,
         "take the first seed from the digits of this commit, so that every commit runs seeds of its own")
      ->type_name("HASH");
  app.add_option("--shard", arguments->shard,
                 "run only part i of n of the seeds; 'holdfast merge' adds the reports up")
      ->type_name("I/N");
  app.add_option(
         "--profile", arguments->profile,
         "the mixture of faults: calm, ci, chaos, or safety-only, where nothing is ever healed for good and "
         "liveness is not judged; --set changes it")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option(
         "--recheck", arguments->recheck,
         "run one seed of so many twice, chosen by the seed, and fail if the second run differs; 0 for none")
      ->type_name("N")
      ->capture_default_str();
  addJobsOption(app, arguments->jobs);
  addSubjectOptions(app, arguments->subject);
  addPrintOptions(app, arguments->subject.printOptions);
  app.add_option("--time-limit", arguments->timeLimit,
                 "end after this much real time (500ms, 30s, 10min), with the report of a shorter sweep, "
                 "which is inconclusive if it held; no limit by default")
      ->type_name("TIME");
  app.add_flag("--stop-on-first", arguments->stopOnFirst, "end with the first seed that violates a promise");
  app.add_flag("--no-must-reach", arguments->noMustReach,
               "let a sweep hold although it missed a milestone or limitation that it must reach");
  addSweepOutputOptions(app, arguments->outputs);
  addSaveOptions(app, arguments->save);
  app.footer(
      "Exit code: 0 held, 1 safety violation, 2 liveness violation, 3 inconclusive or something that must "
      "be\n"
      "reached was missed, 4 a seed was not the same run twice, 64 bad usage or a file that can not be\n"
      "written, 70 internal error. Ctrl-C and the time limit cut it in the midst of the running seeds, which "
      "do "
      "not count, in code 3\n"
      "if the others held; after Ctrl-C the files are FILE.partial, and FILE is as it was. In a workflow of "
      "GitHub it adds annotations and a summary of the step.\n\n"
      "Examples:\n  holdfast sweep --seeds 1..200 --time-limit 1min --report sweep.json --junit sweep.xml\n"
      "  holdfast sweep --seeds 100 --from-commit 2f1c0de94b7a5d6e8c3f1a0b9d8e7c6f5a4b3c2d --shard 1/4");
  return [arguments, &app](Session& session) -> Result {
    if (auto idle = refuseIdleOptions(app, *arguments); !idle) return std::unexpected(idle.error());
    return runSweep(session, *arguments);
  };
}

}  // namespace holdfast::cli
