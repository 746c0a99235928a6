// holdfast run: one run of the random workload, or of a directed scenario, or of a scenario's rule-off twin.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/plan_source.hpp"
#include "cli/run_report.hpp"
#include "cli/saved_run.hpp"
#include "cli/target_file.hpp"
#include "cli/tracing.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "traces/json.hpp"

namespace holdfast::cli {
namespace {

using scenarios::Scenario;
using scenarios::Twin;

struct RunArguments {
  std::string scenario;
  std::string seed;
  std::string plan;
  std::string timeLimit;
  SubjectArguments subject;
  std::string trace;
  std::string savePlan;
  std::string story;
  bool force = false;
  bool twin = false;
  SaveArguments save;
};

/// The subject that a plan file describes, with another seed if one is asked for.
std::expected<Subject, Failure> plannedSubject(const RunArguments& arguments) {
  if (!arguments.scenario.empty()) {
    return std::unexpected(Failure{fmt::format(
        "--plan: the plan file names what is run; expected no '{}' with it", arguments.scenario)});
  }
  if (arguments.twin) {
    return std::unexpected(
        Failure{"--twin: a plan file has no twin; expected the name of a directed scenario"});
  }
  auto source = readPlanSource(arguments.plan);
  if (!source) return std::unexpected(source.error());
  return std::move(source->subject);
}

std::expected<void, Failure> refuseIdleOptions(const CLI::App& verb, const RunArguments& a) {
  const bool noFile = a.trace.empty() && a.savePlan.empty();
  return refuseIdle(
      verb,
      {{{"--save-plan"}, a.twin, "keeps a run, and --twin judges one; expected --without RULE instead of it"},
       {{"--time-limit"}, a.twin, "cuts a run, and --twin judges a whole one; expected one of them"},
       {{"--force"}, noFile, "replaces the file of --trace or --save-plan; expected --trace FILE with it"},
       {{"--story"}, a.savePlan.empty(), "goes into a plan file; expected --save-plan FILE with it"},
       {{"--out"}, a.save.off, kNothingIsSaved}});
}

std::expected<Subject, Failure> subjectOf(const RunArguments& arguments) {
  Subject subject;
  if (!arguments.plan.empty()) {
    auto planned = plannedSubject(arguments);
    if (!planned) return std::unexpected(planned.error());
    subject = std::move(*planned);
  } else {
    const auto scenario = findSubject(arguments.scenario);
    if (!scenario) return std::unexpected(Failure{scenario.error()});
    subject.directed = *scenario;
  }
  if (!arguments.seed.empty()) {
    if (subject.schedule) return std::unexpected(noSeedOf(subject));
    const auto seed = parseSeed(arguments.seed);
    if (!seed) return std::unexpected(badValue("--seed", seed.error()));
    subject.seed = *seed;
    if (!subject.source.empty()) subject.source += fmt::format(" --seed {}", *seed);
  }
  if (auto read = readSubject(arguments.subject, subject); !read) return std::unexpected(read.error());
  const std::vector<Target> targets{{"--trace", arguments.trace}, {"--save-plan", arguments.savePlan}};
  if (auto fit = checkTargets(targets, arguments.force); !fit) return std::unexpected(fit.error());
  return subject;
}

std::string seedText(const Subject& subject) { return fmt::format("seed {}", subject.seed); }

/// How to do it again, the trace included if one was asked for.
std::string reproduction(const Session& session, const Subject& subject, const std::string& trace) {
  std::string command = commandOf(session.program, subject);
  if (!trace.empty()) {
    command += fmt::format("   (or: {} replay {} --verify)", shellWord(session.program), shellWord(trace));
  }
  return command;
}

/// Writes the plan: of a run that was cut, without what it ends in, beside the file.
std::optional<Failure> savePlan(const RunArguments& arguments, const Subject& subject, const Outcome& outcome,
                                RunFacts& facts) {
  if (arguments.savePlan.empty()) return std::nullopt;
  const bool whole = !outcome.report.stopped;
  const std::string partial = whole ? "" : partialOf(arguments.savePlan);
  const std::string& file = partial.empty() ? arguments.savePlan : partial;
  const std::string text = textOf(planFileOf(subject, whole ? &outcome.report : nullptr, arguments.story));
  const auto written = writeTarget({"--save-plan", file}, text, arguments.force || !partial.empty());
  if (!written) return written.error();
  facts.plan = file;
  return std::nullopt;
}

Result runOnce(Session& session, const RunArguments& arguments, const Subject& subject) {
  std::optional<std::uint64_t> limitNs;
  if (!arguments.timeLimit.empty()) {
    const auto limit = parseRealTime(arguments.timeLimit);
    if (!limit) return std::unexpected(badValue("--time-limit", limit.error()));
    if (!subject.isWorkload()) {
      return std::unexpected(Failure{fmt::format(
          "--time-limit: {} is no random workload and runs to its end; expected it with '{}' only",
          subject.name(), kMixed)});
    }
    limitNs = *limit;
  }
  // A story is short, and is not asked whether to go on: a signal ends the process.
  std::optional<InterruptGuard> guard;
  if (subject.isWorkload()) guard.emplace();
  const Stopwatch watch;
  RunProgressLine progress(session.out, endOf(subject), limitNs);
  // Announced only once the trace could be opened, so that a refused command prints nothing but the reason.
  const auto run = [&](scenarios::ObservationSink* sink) {
    announce(session, "run", subject, seedText(subject), arguments.subject.printOptions);
    return execute(subject, sink, &progress);
  };
  auto traced = runTraced({arguments.trace, arguments.force}, subject, run);
  if (!traced) return std::unexpected(traced.error());
  Outcome outcome = std::move(traced->outcome);
  std::vector<Failure> unwritten;
  RunFacts facts;
  if (traced->unwritten) unwritten.push_back(*traced->unwritten);
  facts.trace = traced->path;
  facts.real = watch.elapsed();
  const bool whole = !outcome.report.stopped;
  facts.reproduce = reproduction(session, subject, whole ? facts.trace : "");
  if (auto failure = savePlan(arguments, subject, outcome, facts)) unwritten.push_back(*failure);
  // What is saved is run again, to its end.
  if (outcome.exitCode != kExitHeld && whole)
    facts.saved = savedOrWhyNot(session, arguments.save, subject, outcome, facts);
  reportOutcome(session, outcome, facts);
  int exitCode = outcome.exitCode;
  for (const Failure& failure : unwritten) exitCode = reportUnwritten(session.out, failure, exitCode);
  return exitCode;
}

/// The twins that are meant: those of the rules that --without names, or all.
std::expected<std::vector<Twin>, Failure> chosenTwins(const RunArguments& arguments, const Subject& subject) {
  if (subject.directed == nullptr) {
    return std::unexpected(
        Failure{"--twin: the random workload has no twin; expected the name of a directed scenario"});
  }
  const Scenario& scenario = *subject.directed;
  if (scenario.twins.empty()) {
    return std::unexpected(
        Failure{fmt::format("--twin: {} has no twin ('holdfast list' shows which have)", scenario.name)});
  }
  std::vector<Twin> chosen;
  std::vector<std::string_view> known;
  for (const Twin& twin : scenario.twins) {
    const std::string_view name = protocol::nameOf(twin.rule);
    if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    if (subject.rules.allOn() || !subject.rules.on(twin.rule)) chosen.push_back(twin);
  }
  if (chosen.empty() || (!subject.rules.allOn() && chosen.size() != rulesOff(subject.rules).size())) {
    return std::unexpected(Failure{
        fmt::format("--twin: {} has a twin without {} only", scenario.name, fmt::join(known, " or "))});
  }
  if (!arguments.trace.empty() && chosen.size() > 1) {
    return std::unexpected(Failure{fmt::format("--trace: {} has {} twins; expected --without with one of {}",
                                               scenario.name, chosen.size(), fmt::join(known, ", "))});
  }
  return chosen;
}

/// Runs one twin; its story must go wrong, and the named checker must say so.
Result runOneTwin(Session& session, const RunArguments& arguments, const Subject& mutant, const Twin& twin) {
  const Stopwatch watch;
  scenarios::TwinResult judged;
  const auto run = [&](scenarios::ObservationSink* sink) {
    announce(session, "run", mutant, seedText(mutant), arguments.subject.printOptions);
    scenarios::ScenarioContext context;
    context.seed = mutant.seed;
    context.sink = sink;
    judged = scenarios::runTwin(*mutant.directed, twin, context);
    return outcomeOf(judged.result);
  };
  auto traced = runTraced({arguments.trace, arguments.force}, mutant, run);
  if (!traced) return std::unexpected(traced.error());
  Outcome outcome = std::move(traced->outcome);
  RunFacts facts;
  facts.trace = traced->path;
  facts.real = watch.elapsed();
  facts.reproduce = commandOf(session.program, mutant) + " --twin";
  if (!judged.reached) {
    outcome.ending = Ending::expectationNotReached;
    outcome.exitCode = judged.exitCode();
    outcome.unmet.push_back(judged.explanation);
    facts.saved = savedOrWhyNot(session, arguments.save, mutant, outcome, facts);
  }

  const std::string_view checker = obs::nameOf(twin.checker);
  reportViolations(session, outcome.report);
  session.out.say(
      judged.reached ? fmt::format("verdict     the twin went wrong as it must: checker {} found it", checker)
                     : fmt::format("verdict     expectation not reached: checker {} found nothing; {}",
                                   checker, judged.explanation));
  session.out.say(timeLine(outcome.report, facts));
  session.out.say(fmt::format("trace hash  {} over {}", traces::hexHash(outcome.report.hash),
                              counted(outcome.report.observations, "observation")));
  if (!facts.trace.empty()) session.out.say("trace       " + facts.trace);
  if (!facts.saved.empty()) session.out.say("saved       " + facts.saved);
  if (!judged.reached) session.out.say("reproduce   " + facts.reproduce);
  Json json{{"is", "twin"},
            {"scenario", mutant.directed->name},
            {"rule", protocol::nameOf(twin.rule)},
            {"checker", checker},
            {"reached", judged.reached},
            {"exitCode", judged.exitCode()},
            {"explanation", judged.explanation},
            {"traceHash", traces::hexHash(outcome.report.hash)},
            {"reproduce", facts.reproduce}};
  if (!facts.trace.empty()) json["trace"] = facts.trace;
  if (!facts.saved.empty()) json["saved"] = facts.saved;
  session.out.object(json);
  if (traced->unwritten) return reportUnwritten(session.out, *traced->unwritten, judged.exitCode());
  return judged.exitCode();
}

Result runTwins(Session& session, const RunArguments& arguments, Subject subject) {
  const auto twins = chosenTwins(arguments, subject);
  if (!twins) return std::unexpected(twins.error());
  int worst = kExitHeld;
  for (const Twin& twin : *twins) {
    Subject mutant = subject;
    mutant.rules = protocol::Rules().without(twin.rule);
    const Result result = runOneTwin(session, arguments, mutant, twin);
    if (!result) return result;
    worst = std::max(worst, *result);
  }
  return worst;
}

}  // namespace

Action declareRun(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  app.description(
      "Run one seed of the random workload, or a directed scenario, with all checkers on, and say what "
      "became of every promise.");
  app.add_option("scenario", arguments->scenario,
                 "a directed scenario or the beginning of its name (S-22), or 'mixed', the random workload, "
                 "which is the default; 'holdfast list' names them")
      ->type_name("SCENARIO");
  app.add_option(
         "--seed", arguments->seed,
         "the seed: decimal, hexadecimal after 0x, or the 40 digits of a commit; 1, or the plan file's, "
         "by default")
      ->type_name("N");
  app.add_option("--plan", arguments->plan,
                 "run what the plan file FILE says; --seed, --without and --set change it. "
                 "docs/schemas/plan.schema.json describes such files")
      ->type_name("FILE");
  app.add_option("--time-limit", arguments->timeLimit,
                 "end the run after this much real time (500ms, 30s, 10min); no limit by default")
      ->type_name("TIME");
  addSubjectOptions(app, arguments->subject);
  addPrintOptions(app, arguments->subject.printOptions);
  app.add_option("--trace,--save-trace", arguments->trace,
                 "write the run's trace to FILE; see docs/trace-format.md")
      ->type_name("FILE");
  app.add_option("--save-plan", arguments->savePlan,
                 "write the plan, with all that determines the run and how it ended, to FILE")
      ->type_name("FILE");
  app.add_option("--story", arguments->story, "the line for people that --save-plan puts into its file")
      ->type_name("TEXT");
  addForceOption(app, arguments->force, "--trace and --save-plan");
  addSaveOptions(app, arguments->save);
  app.add_flag("--twin", arguments->twin,
               "run the scenario's twins, each with one rule off, and expect the violation that the named "
               "checker must find; --without picks one");
  app.footer(
      "Exit code: 0 held, 1 safety violation, 2 liveness violation, 3 inconclusive or expectation not "
      "reached,\n64 bad usage or a file that can not be written, 70 internal error. A twin's code is 0 when "
      "its violation was found, else "
      "3.\nCtrl-C and the time limit cut a run of the random workload, in code 3 if it kept its promises; "
      "the files are FILE.partial then.\n\n"
      "Examples:\n  holdfast run mixed --seed 7 --set nodes=3 --set protocol.maxDelegation=6s\n"
      "  holdfast run --seed 7 --save-plan p.json && holdfast run --plan p.json");
  return [arguments, &app](Session& session) -> Result {
    if (auto idle = refuseIdleOptions(app, *arguments); !idle) return std::unexpected(idle.error());
    const auto subject = subjectOf(*arguments);
    if (!subject) return std::unexpected(subject.error());
    if (arguments->twin) return runTwins(session, *arguments, *subject);
    return runOnce(session, *arguments, *subject);
  };
}

}  // namespace holdfast::cli
