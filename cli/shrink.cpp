// holdfast shrink: the fewest steps that still fail in the same way.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>

#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/plan_source.hpp"
#include "cli/run_report.hpp"
#include "cli/saved_run.hpp"
#include "cli/step_list.hpp"
#include "cli/target_file.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "shrink/schedule.hpp"
#include "shrink/shrink.hpp"

namespace holdfast::cli {
namespace {

struct ShrinkArguments {
  std::string plan;
  std::string seed;
  std::string route;
  std::string jobs;
  std::string timeLimit;
  std::string savePlan;
  std::string story;
  bool force = false;
  SubjectArguments subject;
  SaveArguments save;
};

constexpr std::string_view kStuck = "in the end a caller waits, and nothing can happen any more";

/// Shows how small it is by now, and ends the search after an interrupt.
class ShrinkProgressLine : public shrink::ShrinkProgress {
 public:
  explicit ShrinkProgressLine(Output& out) : out_(out) {}
  bool reached(std::string_view stage, const shrink::Size& size, std::uint64_t runs) override {
    if (out_.wantsProgress()) {
      out_.progress(fmt::format("{}: {} on {}, {}", stage, counted(size.steps(), "step"),
                                counted(size.nodes, "node"), counted(runs, "run")));
    }
    return !ends();
  }
  bool ends() const override { return InterruptGuard::requested(); }

 private:
  Output& out_;
};

std::expected<Subject, Failure> failingSubject(const ShrinkArguments& arguments) {
  Subject subject;
  if (!arguments.plan.empty()) {
    auto source = readPlanSource(arguments.plan);
    if (!source) return std::unexpected(source.error());
    subject = std::move(source->subject);
  } else if (arguments.seed.empty()) {
    return std::unexpected(
        Failure{"shrink: what is to be made small is missing; expected a plan file, or --seed N "
                "for a seed of the random workload"});
  }
  if (subject.schedule && !arguments.seed.empty()) return std::unexpected(noSeedOf(subject));
  if (subject.directed != nullptr) {
    return std::unexpected(
        Failure{fmt::format("{}:1:1: {} is a directed scenario, whose story is as short as it can be; "
                            "expected a plan of the random workload",
                            arguments.plan, subject.directed->name)});
  }
  if (!arguments.seed.empty()) {
    const auto seed = parseSeed(arguments.seed);
    if (!seed) return std::unexpected(badValue("--seed", seed.error()));
    subject.seed = *seed;
  }
  if (auto read = readSubject(arguments.subject, subject); !read) return std::unexpected(read.error());
  if (auto fit = checkTargets({{"--save-plan", arguments.savePlan}}, arguments.force); !fit) {
    return std::unexpected(fit.error());
  }
  return subject;
}

std::expected<shrink::ShrinkOptions, Failure> shrinkOptionsOf(const ShrinkArguments& arguments,
                                                              const Subject& subject) {
  shrink::ShrinkOptions options;
  options.rules = subject.rules;
  const auto jobs = readJobs(arguments.jobs);
  if (!jobs) return std::unexpected(jobs.error());
  options.jobs = *jobs;
  if (!arguments.timeLimit.empty()) {
    const auto limit = parseRealTime(arguments.timeLimit);
    if (!limit) return std::unexpected(badValue("--time-limit", limit.error()));
    options.timeLimitNs = *limit;
  }
  return options;
}

/// The first finding by a route, which is to be kept.
std::expected<checkers::Signature, Failure> signatureOfRoute(const std::string& name,
                                                             const Subject& subject) {
  checkers::Route route{};
  if (!obs::enumFromName(name, route) || route == checkers::Route::none) {
    return std::unexpected(badValue(
        "--route",
        fmt::format("there is no route '{}' ('holdfast list routes' names them all)", name.substr(0, 60))));
  }
  const Outcome outcome = execute(subject);
  if (const checkers::Finding* const found = outcome.report.findings.first(route)) {
    return checkers::signatureOf(*found);
  }
  return std::unexpected(
      Failure{fmt::format("the run reaches no limitation by route {}", name), kExitInconclusive});
}

std::string sizeText(const shrink::Size& size) {
  return fmt::format("{} ({}, {}, {}), {}, {}, {} simulated", counted(size.steps(), "step"),
                     counted(size.operations, "operation"), counted(size.faults, "fault"),
                     counted(size.clocks, "clock setting"), counted(size.nodes, "node"),
                     counted(size.keys, "key"), elapsed(std::chrono::nanoseconds(size.simulated.ns)));
}

Json sizeJson(const shrink::Size& size) {
  return {{"steps", size.steps()},           {"operations", size.operations}, {"faults", size.faults},
          {"clocks", size.clocks},           {"nodes", size.nodes},           {"keys", size.keys},
          {"simulatedNs", size.simulated.ns}};
}

/// What is reported of a search, whatever it has made small.
struct ShrinkFacts {
  std::optional<checkers::Signature>
      signature;  ///< Nothing: a caller waits, and nothing can happen any more.
  std::uint64_t runs = 0;
  bool complete = true;
  std::chrono::nanoseconds real{};
  unsigned jobs = 1;
  std::vector<std::string> steps;  ///< A line each.
  std::string before;
  std::string after;
  Json beforeJson;
  Json afterJson;
  RunFacts run;
};

void reportShrunk(Session& session, const scenarios::RunReport& report, const ShrinkFacts& facts) {
  Output& out = session.out;
  out.say("failure     " + (facts.signature ? checkers::describe(*facts.signature) : std::string(kStuck)));
  out.say("before      " + facts.before);
  out.say("after       " + facts.after);
  for (const std::string& line : facts.steps) out.say(line);
  reportViolations(session, report);
  if (!facts.complete) out.say("partial: ended before nothing more could be left out");
  out.say(fmt::format("time        {} in {} on {}", counted(facts.runs, "run"), elapsed(facts.real),
                      counted(facts.jobs, "job")));
  if (!facts.run.plan.empty()) out.say("plan        " + facts.run.plan);
  if (!facts.run.saved.empty()) out.say("saved       " + facts.run.saved);
  if (!facts.run.reproduce.empty()) out.say("reproduce   " + facts.run.reproduce);
  Json json{{"is", "shrunk"}};
  if (facts.signature) {
    json["checker"] = obs::nameOf(facts.signature->checker);
    json["rule"] = checkers::ruleOf(facts.signature->anomaly);
    json["anomaly"] = obs::nameOf(facts.signature->anomaly);
    json["route"] = obs::nameOf(facts.signature->route);
  } else {
    json["stuck"] = true;
  }
  json["before"] = facts.beforeJson;
  json["after"] = facts.afterJson;
  json["runs"] = facts.runs;
  json["partial"] = !facts.complete;
  json["realNs"] = facts.real.count();
  json["jobs"] = facts.jobs;
  if (!facts.run.plan.empty()) json["plan"] = facts.run.plan;
  if (!facts.run.saved.empty()) json["saved"] = facts.run.saved;
  json["reproduce"] = facts.run.reproduce;
  out.object(json);
}

/// Writes the smallest case where it is wanted, and finds the command that runs it. `name`: of a folder for
/// it.
std::expected<void, Failure> keep(Session& session, const ShrinkArguments& arguments, Subject smallest,
                                  std::string_view name, const Outcome& outcome, RunFacts& facts) {
  if (!arguments.savePlan.empty()) {
    const std::string text = textOf(planFileOf(smallest, &outcome.report, arguments.story));
    if (auto written = writeTarget({"--save-plan", arguments.savePlan}, text, arguments.force); !written) {
      return written;
    }
    facts.plan = arguments.savePlan;
  } else if (!arguments.save.off) {
    const auto saved = saveRun(arguments.save.out, smallest, outcome, facts, name);
    if (!saved) return std::unexpected(saved.error());
    facts.saved = *saved;
  }
  const std::string plan = facts.plan.empty() ? facts.saved + "/plan.json" : facts.plan;
  if (!facts.plan.empty() || !facts.saved.empty()) {
    smallest.source = "--plan " + shellWord(plan);
    facts.reproduce = commandOf(session.program, smallest);
  }
  return {};
}

Result shrinkPlan(Session& session, const ShrinkArguments& arguments, const Subject& subject,
                  shrink::ShrinkOptions options) {
  ShrinkProgressLine progress(session.out);
  options.progress = &progress;
  shrink::Case whole{subject.options, planOf(subject)};
  whole.options.seed = subject.seed;
  const Stopwatch watch;
  const auto result = shrink::shrink(whole, options);
  if (!result) return std::unexpected(Failure{result.error(), kExitInconclusive});

  ShrinkFacts facts{result->signature,
                    result->runs,
                    result->complete,
                    watch.elapsed(),
                    options.jobs,
                    stepLines(result->smallest.plan, namesIn(result->report)),
                    sizeText(result->before),
                    sizeText(result->after),
                    sizeJson(result->before),
                    sizeJson(result->after),
                    {}};
  // Named by the seed that failed; the small plan may have another.
  const std::string name = fmt::format("{}-{}-shrunk", subject.name(), subject.seed);
  Subject smallest = subject;
  smallest.seed = result->smallest.options.seed;
  smallest.options = result->smallest.options;
  smallest.plan = result->smallest.plan;
  const auto kept = keep(session, arguments, smallest, name, outcomeOf(result->report), facts.run);
  reportShrunk(session, result->report, facts);
  return kept ? kExitHeld : reportUnwritten(session.out, kept.error(), kExitHeld);
}

/// What is to stay of a schedule's failure: a kind of finding, or that it gets stuck.
std::expected<std::optional<checkers::Signature>, Failure> failureOf(const SchedulePlayer::Played& whole,
                                                                     const ShrinkArguments& arguments) {
  if (!arguments.route.empty()) {
    return std::unexpected(badValue("--route",
                                    "a schedule of the explorer is kept by what it violates; "
                                    "expected a plan of the random workload with it"));
  }
  const std::vector<checkers::Signature> kinds = checkers::signaturesOf(whole.findings);
  if (!kinds.empty()) return kinds.front();
  if (whole.stuck) return std::nullopt;
  return std::unexpected(
      Failure{"the schedule breaks no promise, so there is nothing to shrink", kExitInconclusive});
}

Result shrinkSteps(Session& session, const ShrinkArguments& arguments, const Subject& subject,
                   const shrink::ShrinkOptions& options) {
  const Schedule& whole = *subject.schedule;
  const SchedulePlayer player(whole, subject.rules);
  const auto failure = failureOf(player.play(whole.steps), arguments);
  if (!failure) return std::unexpected(failure.error());
  const auto play = [&](std::span<const std::string> steps) -> std::optional<shrink::ScheduleSteps> {
    SchedulePlayer::Played played = player.play(steps);
    const bool same = *failure ? checkers::firstOf(played.findings, **failure) != nullptr
                               : played.stuck && checkers::signaturesOf(played.findings).empty();
    if (!same) return std::nullopt;
    return std::move(played.steps);
  };
  const auto progress = [&](std::size_t steps, std::uint64_t runs) {
    if (session.out.wantsProgress()) {
      session.out.progress(fmt::format("{}, {}", counted(steps, "step"), counted(runs, "run")));
    }
    return !InterruptGuard::requested();
  };
  const Stopwatch watch;
  auto result = shrink::shrinkSchedule(whole.steps, play, {options.jobs, options.timeLimitNs, progress});
  if (!result) return std::unexpected(Failure{"the schedule fails only once", kExitInternal});

  Subject smallest = subject;
  smallest.schedule->steps = std::move(result->steps);
  const std::size_t left = smallest.schedule->steps.size();
  ShrinkFacts facts{*failure,
                    result->runs,
                    result->complete,
                    watch.elapsed(),
                    options.jobs,
                    {},
                    counted(whole.steps.size(), "step"),
                    counted(left, "step"),
                    {{"steps", whole.steps.size()}},
                    {{"steps", left}},
                    {}};
  for (std::size_t i = 0; i < left; ++i) {
    facts.steps.push_back(fmt::format("  {:>3}  {}", i + 1, smallest.schedule->steps[i]));
  }
  const Outcome outcome = execute(smallest);
  const std::string name = fmt::format("{}-shrunk", subject.name());
  const auto kept = keep(session, arguments, smallest, name, outcome, facts.run);
  reportShrunk(session, outcome.report, facts);
  return kept ? kExitHeld : reportUnwritten(session.out, kept.error(), kExitHeld);
}

std::expected<void, Failure> refuseIdleOptions(const CLI::App& verb, const ShrinkArguments& a) {
  return refuseIdle(
      verb, {{{"--force"},
              a.savePlan.empty(),
              "replaces the file of --save-plan; expected --save-plan FILE with it"},
             {{"--story"}, a.savePlan.empty(), "goes into a plan file; expected --save-plan FILE with it"},
             {{"--out"},
              !a.savePlan.empty(),
              "is where a small plan goes without --save-plan; expected one of them"},
             {{"--out"}, a.save.off, kNothingIsSaved}});
}

Result runShrink(Session& session, const ShrinkArguments& arguments) {
  const auto subject = failingSubject(arguments);
  if (!subject) return std::unexpected(subject.error());
  auto options = shrinkOptionsOf(arguments, *subject);
  if (!options) return std::unexpected(options.error());
  if (subject->isWorkload() && !arguments.route.empty()) {
    const auto signature = signatureOfRoute(arguments.route, *subject);
    if (!signature) return std::unexpected(signature.error());
    options->signature = *signature;
  }
  announce(session, "shrink", *subject, fmt::format("seed {}", subject->seed),
           arguments.subject.printOptions);
  const InterruptGuard guard;
  return subject->schedule ? shrinkSteps(session, arguments, *subject, *options)
                           : shrinkPlan(session, arguments, *subject, std::move(*options));
}

}  // namespace

Action declareShrink(CLI::App& app) {
  auto arguments = std::make_shared<ShrinkArguments>();
  app.description(
      "Make a failing run small: leave out operations, faults, clock settings, nodes and keys, and round "
      "what is left, as long as it fails in the same way (checker, rule, anomaly and route of the first "
      "violation). Of a schedule of the explorer steps are left out, and with them those that can not happen "
      "any more.");
  app.add_option("plan", arguments->plan,
                 "a plan file, such as holdfast-out/latest/plan.json, or one of 'explore --save-plan'")
      ->type_name("PLAN");
  app.add_option("--seed", arguments->seed,
                 "shrink this seed of the random workload, or give the plan another seed")
      ->type_name("N");
  addSubjectOptions(app, arguments->subject);
  addPrintOptions(app, arguments->subject.printOptions);
  app.add_option("--route", arguments->route,
                 "keep the documented limitation that is reached by this route instead of a violation")
      ->type_name("NAME");
  addJobsOption(app, arguments->jobs);
  app.add_option("--time-limit", arguments->timeLimit,
                 "end after this much real time (500ms, 30s, 10min) with what is smallest by then")
      ->type_name("TIME");
  app.add_option("--save-plan", arguments->savePlan,
                 "write the small plan to FILE instead of a folder of its own")
      ->type_name("FILE");
  app.add_option("--story", arguments->story, "the line for people that goes into the plan file")
      ->type_name("TEXT");
  addForceOption(app, arguments->force, "--save-plan");
  addSaveOptions(app, arguments->save);
  app.footer(
      "Exit code: 0 a small plan that fails, 3 the run does not fail, 64 bad usage or a file that can not be "
      "written, 70 internal error. "
      "Ctrl-C ends\n"
      "it with what is smallest by then.\n\n"
      "Example:\n  holdfast shrink --seed 3 --without DG3_OneDelegate --save-plan small.json");
  return [arguments, &app](Session& session) -> Result {
    if (auto idle = refuseIdleOptions(app, *arguments); !idle) return std::unexpected(idle.error());
    return runShrink(session, *arguments);
  };
}

}  // namespace holdfast::cli
