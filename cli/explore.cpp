// holdfast explore: every schedule of a small configuration, or of all that are shipped.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/plan_source.hpp"
#include "cli/run_report.hpp"
#include "cli/suggest.hpp"
#include "cli/target_file.hpp"
#include "cli/tracing.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "cli/version.hpp"
#include "explore/fingerprint_set.hpp"
#include "explore/replay.hpp"
#include "explore/searches.hpp"
#include "traces/whole_file.hpp"

namespace holdfast::cli {
namespace {

struct ExploreArguments {
  std::string configuration;
  std::vector<std::string> without;
  std::string strategy = "breadth";
  std::string jobs;
  std::string memory;
  std::string depth;
  std::string states;
  std::string timeLimit;
  std::string seed;
  std::string schedules;
  std::string checkpoint;
  std::string checkpointEvery;
  std::string resume;
  std::string trace;
  std::string savePlan;
  bool liveness = false;
  bool noReduction = false;
  bool symmetry = false;
  bool force = false;
};

/// What the arguments mean.
struct Exploration {
  std::vector<explore::Configuration> configurations;
  explore::Limits limits;
  explore::WalkOptions walks;
  explore::Checkpoints checkpoints;
  std::vector<std::string> off;
};

constexpr std::uint64_t kMostMebibytes = std::uint64_t{1} << 24;

std::vector<std::string> namesOfAll() {
  std::vector<std::string> names;
  for (const auto& shipped : explore::configurations()) names.push_back(shipped.name);
  return names;
}

/// Whether schedules are sampled: steps are counted then, and no states are stored.
bool samples(const ExploreArguments& a) { return a.strategy == "random" || a.strategy == "priorities"; }

std::unexpected<Failure> refuse(std::string_view what) { return std::unexpected(Failure{std::string(what)}); }

/// An option that would have no say in how schedules are chosen or states are told apart.
std::expected<void, Failure> checkStrategy(const ExploreArguments& a) {
  if (!a.schedules.empty() && !samples(a)) {
    return refuse("--schedules is how many are sampled; expected it with --strategy random or priorities");
  }
  if (!a.seed.empty() && !samples(a)) {
    return refuse("--seed is what samples are drawn by; expected it with --strategy random or priorities");
  }
  if (!a.states.empty() && samples(a)) {
    return refuse(
        "--states bounds how many are stored, and sampling stores none; expected --schedules and --depth "
        "instead, or --strategy breadth or depth");
  }
  if (!a.jobs.empty() && (a.liveness || a.strategy != "breadth")) {
    return refuse(
        "--jobs divides breadth-first search, all others run on one thread; expected it with --strategy "
        "breadth, and without --liveness");
  }
  if (a.noReduction && (a.liveness || samples(a))) {
    return refuse(
        "--no-reduction takes what reduction leaves out, and nothing is reduced here; expected it with "
        "--strategy breadth or depth, and without --liveness");
  }
  if (a.symmetry && (a.liveness || samples(a))) {
    return refuse(
        "--symmetry merges states, which is sound for what is judged in a state; expected it with "
        "--strategy breadth or depth, and without --liveness");
  }
  return {};
}

/// An option that would have no say in the search.
std::expected<void, Failure> checkCombination(const ExploreArguments& a) {
  if (a.liveness && a.strategy != "breadth") {
    return refuse(
        "--liveness looks at the whole graph, in an order of its own; expected it without --strategy");
  }
  if (a.liveness && !a.depth.empty()) {
    return refuse("--liveness looks at the whole graph; expected it without --depth");
  }
  if ((!a.checkpoint.empty() || !a.resume.empty()) && (a.liveness || a.strategy != "breadth")) {
    return refuse(
        "--checkpoint and --resume are about breadth-first searches; expected them with "
        "--strategy breadth, and without --liveness");
  }
  if (!a.checkpointEvery.empty() && a.checkpoint.empty()) {
    return refuse("--checkpoint-every is how often a file is written; expected it with --checkpoint FILE");
  }
  if (a.force && a.trace.empty() && a.savePlan.empty() && a.checkpoint.empty()) {
    return refuse("--force replaces files; expected --trace, --save-plan or --checkpoint with it");
  }
  return checkStrategy(a);
}

std::expected<void, Failure> readConfigurations(const ExploreArguments& arguments, Exploration& e) {
  const auto rules = parseRules(arguments.without);
  if (!rules) return std::unexpected(badValue("--without", rules.error()));
  e.off = rulesOff(*rules);
  if (arguments.configuration.empty()) {
    e.configurations = explore::configurations();
  } else if (const auto* known = explore::findConfiguration(arguments.configuration)) {
    e.configurations = {*known};
  } else {
    const std::vector<std::string> names = namesOfAll();
    return std::unexpected(
        Failure{fmt::format("there is no configuration '{}'{}; expected one of {}", arguments.configuration,
                            didYouMean(arguments.configuration, names), fmt::join(names, ", "))});
  }
  const bool one = e.configurations.size() == 1;
  const bool files = !arguments.checkpoint.empty() || !arguments.resume.empty() || !arguments.trace.empty() ||
                     !arguments.savePlan.empty();
  if (files && !one) {
    return std::unexpected(
        Failure{"--checkpoint, --resume, --trace and --save-plan are about one search; expected the name "
                "of a configuration with them"});
  }
  for (auto& configuration : e.configurations) configuration.rules = *rules;
  return {};
}

/// 4 GiB, or half of what the machine has where that is less: a search that swaps comes to no end.
std::uint64_t memoryWithoutLimit() {
  constexpr std::uint64_t kUsual = std::uint64_t{4096} << 20;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long pageBytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageBytes <= 0) return kUsual;
  return std::min(kUsual, static_cast<std::uint64_t>(pages) / 2 * static_cast<std::uint64_t>(pageBytes));
}

std::expected<Exploration, Failure> readExploration(const ExploreArguments& arguments) {
  Exploration e;
  if (auto fits = checkCombination(arguments); !fits) return std::unexpected(fits.error());
  if (auto read = readConfigurations(arguments, e); !read) return std::unexpected(read.error());
  const auto jobs = readJobs(arguments.jobs);
  if (!jobs) return std::unexpected(jobs.error());
  e.limits.jobs = *jobs;
  e.limits.memoryBytes = memoryWithoutLimit();
  e.limits.reduce = !arguments.noReduction;
  std::expected<void, Failure> read;
  const auto count = [&](std::string_view option, const std::string& text, std::uint64_t most, auto&& take) {
    if (!read || text.empty()) return;
    const auto value = parseCount(option.substr(2), text, 1, most);
    if (!value) {
      read = std::unexpected(badValue(option, value.error()));
    } else {
      take(*value);
    }
  };
  count("--memory", arguments.memory, kMostMebibytes,
        [&](std::uint64_t mebibytes) { e.limits.memoryBytes = mebibytes << 20; });
  count("--depth", arguments.depth, 1'000'000,
        [&](std::uint64_t depth) { e.limits.depth = static_cast<std::uint32_t>(depth); });
  count("--states", arguments.states, UINT32_MAX, [&](std::uint64_t states) { e.limits.states = states; });
  count("--schedules", arguments.schedules, std::uint64_t{1} << 40,
        [&](std::uint64_t schedules) { e.walks.schedules = schedules; });
  const auto time = [&](std::string_view option, const std::string& text, double& seconds) {
    if (!read || text.empty()) return;
    const auto value = parseRealTime(text);
    if (!value) {
      read = std::unexpected(badValue(option, value.error()));
    } else {
      seconds = static_cast<double>(*value) * 1e-9;
    }
  };
  time("--time-limit", arguments.timeLimit, e.limits.seconds);
  time("--checkpoint-every", arguments.checkpointEvery, e.checkpoints.every);
  if (!read) return std::unexpected(read.error());
  // What a link leads to is replaced, and not the link.
  e.checkpoints.file = traces::behindLinks(arguments.checkpoint).string();
  e.checkpoints.resumeFrom = arguments.resume;
  if (!arguments.seed.empty()) {
    const auto seed = parseSeed(arguments.seed);
    if (!seed) return std::unexpected(badValue("--seed", seed.error()));
    e.walks.seed = *seed;
  }
  if (e.limits.depth != 0) e.walks.length = e.limits.depth;
  const bool priorities = arguments.strategy == "priorities";
  e.walks.strategy = priorities ? explore::Strategy::priorities : explore::Strategy::uniform;
  return e;
}

std::expected<explore::Result, Failure> searchWorld(const explore::World& world,
                                                    const ExploreArguments& arguments,
                                                    const explore::Limits& limits,
                                                    const Exploration& exploration) {
  if (arguments.liveness) return explore::fairCycles(world, limits);
  if (arguments.strategy == "depth") return explore::depthFirst(world, limits);
  if (arguments.strategy != "breadth") return explore::walks(world, limits, exploration.walks);
  auto result = explore::breadthFirst(world, limits, exploration.checkpoints);
  if (!result) return std::unexpected(Failure{result.error()});
  return *result;
}

/// What became of a path that was told.
struct ToldPath {
  int exitCode = kExitSafety;
  std::vector<Failure> unwritten;  ///< Files that were wanted of it.
};

/// Takes the path as an ordinary run, writes what is wanted of it, and says what happened.
std::expected<ToldPath, Failure> tellPath(Session& session, const explore::World& world,
                                          const explore::Result& result, const ExploreArguments& arguments) {
  const std::vector<std::string> steps = explore::describe(world, result.path);
  Subject subject;
  subject.rules = world.configuration().rules;
  auto schedule =
      scheduleOf(fmt::format("{}{}", kExplored, world.configuration().name), steps, subject.rules);
  if (!schedule) return std::unexpected(Failure{schedule.error(), kExitInternal});
  subject.schedule = std::move(*schedule);
  const auto run = [&](scenarios::ObservationSink* sink) { return execute(subject, sink); };
  ToldPath told;
  auto traced = runTraced({arguments.trace, arguments.force}, subject, run);
  if (!traced) {
    traced = Traced{run(nullptr), traced.error(), ""};
  }
  if (traced->unwritten) told.unwritten.push_back(*traced->unwritten);
  const Outcome& outcome = traced->outcome;
  for (std::size_t i = 0; i < steps.size(); ++i) session.out.say(fmt::format("  {:>3}  {}", i + 1, steps[i]));
  for (const std::string& note : outcome.notes) {
    session.out.say(fmt::format("{:<11} {}", result.cycle > 0 ? "livelock" : "stuck", note));
    session.out.object({{"is", "note"}, {"text", note}});
  }
  if (result.cycle > 0) {
    session.out.say(fmt::format("            a caller can wait for ever in {} that lead to each other",
                                counted(result.cycle, "state")));
  }
  reportViolations(session, outcome.report);
  if (!arguments.trace.empty() && !traced->unwritten) session.out.say("trace       " + arguments.trace);
  if (!arguments.savePlan.empty()) {
    const std::string text = textOf(planFileOf(subject, &outcome.report));
    if (auto written = writeTarget({"--save-plan", arguments.savePlan}, text, arguments.force); written) {
      session.out.say("plan        " + arguments.savePlan);
    } else {
      told.unwritten.push_back(written.error());
    }
  }
  const auto breach = static_cast<explore::Breach>(result.judgement.violation);
  if (breach == explore::Breach::none) {
    told.exitCode = kExitLiveness;
    return told;
  }
  const auto shows = [&](const checkers::Finding& finding) {
    return finding.severity == checkers::Severity::safety &&
           obs::nameOf(finding.anomaly) == explore::nameOf(breach);
  };
  const bool confirmed = std::ranges::any_of(outcome.report.findings.violations(), shows);
  if (confirmed && outcome.unmet.empty()) return told;
  return std::unexpected(
      Failure{fmt::format("the replayed path does not show {}: the explorer took different states for equal",
                          explore::nameOf(breach)),
              kExitInternal});
}

double perSecond(std::uint64_t count, const explore::Result& r) {
  return r.seconds > 0 ? static_cast<double>(count) / r.seconds : 0;
}

/// What was done, in figures. Sampled schedules have steps alone: how many states these met is not known.
void sayFigures(Session& session, const explore::World& world, const explore::Result& r, bool sampled) {
  const std::string memory = fmt::format("            {} MiB at most, {} node states, {} local steps",
                                         r.bytes >> 20, world.table().nodes(), world.table().steps());
  if (sampled) {
    session.out.say(fmt::format("            {} steps, depth {}, {:.2f} s, {:.0f} steps/s", r.transitions,
                                r.depth, r.seconds, perSecond(r.transitions, r)));
    session.out.say(memory);
    return;
  }
  const std::string taken = r.asleep == 0 ? "" : fmt::format(" ({} taken)", r.transitions);
  session.out.say(fmt::format("            {} states, {} transitions{}, depth {}, {:.2f} s, {:.0f} states/s",
                              r.states, r.transitions + r.asleep, taken, r.depth, r.seconds,
                              perSecond(r.states, r)));
  session.out.say(fmt::format("{}; omitted by collision: {:.1e} states expected", memory,
                              explore::expectedOmissions(r.states)));
}

/// What the search for fair cycles was asked, and what it has looked at.
void sayLiveness(Session& session, const explore::Result& r) {
  const explore::CyclesSeen& seen = r.cycles;
  if (seen.waiters == 0) {
    session.out.say("            nobody waits in any of these states, so there was nothing to ask for");
    return;
  }
  session.out.say(fmt::format("            looked for waits without end of {}",
                              fmt::join(explore::World::describeWaiters(seen.waiters), ", ")));
  const std::string components = counted(seen.components, "strongly connected component");
  const std::string cycles = seen.cyclic == 0
                                 ? fmt::format("none of their {} has a cycle", components)
                                 : fmt::format("of their {} those that have a cycle are {}, and {} is fair",
                                               components, seen.cyclic, r.cycle > 0 ? "one" : "none");
  session.out.say(
      fmt::format("            in {} in which one of them waits; {}", counted(seen.states, "state"), cycles));
}

/// A verdict says what was judged: with `liveness` also what can become of those who wait.
std::string verdictOf(const explore::Result& r, bool liveness) {
  if (r.cut != explore::Cut::none) return fmt::format("incomplete ({})", explore::reason(r.cut));
  if (liveness && r.verdict == explore::Verdict::verified) {
    return "verified: whoever waits is served or refused on every schedule on which everybody gets its turn";
  }
  return std::string(explore::nameOf(r.verdict));
}

void sayExploration(Session& session, const explore::World& world, const explore::Result& r,
                    const ExploreArguments& arguments) {
  const std::string& name = world.configuration().name;
  session.out.say(fmt::format("{:<11} {}", name, verdictOf(r, arguments.liveness)));
  sayFigures(session, world, r, samples(arguments));
  if (arguments.liveness && !r.judgement.bad() && r.cut != explore::Cut::interrupted) sayLiveness(session, r);
  if (r.beyond != 0) {
    session.out.say(fmt::format("            {} beyond the bounds of {} ({}), and not gone on from",
                                counted(r.beyond, "state"), name, explore::boundsOf(world.configuration())));
  }
  if (world.symmetries() != 0) {
    session.out.say(
        fmt::format("            states are told apart up to {}", counted(world.symmetries(), "renaming")));
  }
  if (const std::string wrong = world.whatBreaksSymmetry(); !wrong.empty()) {
    session.out.say("            not symmetric: " + wrong);
  }
}

/// `again`: the command that finds what violates a promise once more; "" if nothing does.
Json explorationJson(const explore::World& world, const explore::Result& r, const ExploreArguments& arguments,
                     const std::vector<std::string>& off, const std::string& again) {
  const bool sampled = samples(arguments);
  Json liveness;
  if (arguments.liveness) {
    liveness = {{"waiters", explore::World::describeWaiters(r.cycles.waiters)},
                {"waitingStates", r.cycles.states},
                {"components", r.cycles.components},
                {"cyclic", r.cycles.cyclic}};
  }
  const auto ofStates = [&](auto figure) { return sampled ? Json(nullptr) : Json(figure); };
  return {{"is", "exploration"},
          {"configuration", world.configuration().name},
          {"identity", explore::identityOf(world.configuration())},
          {"rulesOff", off},
          {"verdict", explore::nameOf(r.verdict)},
          {"reason", r.cut == explore::Cut::none ? "" : explore::reason(r.cut)},
          {"states", ofStates(r.states)},
          {"beyond", ofStates(r.beyond)},
          {"transitions", r.transitions + r.asleep},
          {"taken", r.transitions},
          {"renamings", world.symmetries()},
          {"depth", r.depth},
          {"breach", explore::nameOf(static_cast<explore::Breach>(r.judgement.violation))},
          {"stuck", r.judgement.stuck},
          {"cycle", r.cycle},
          {"liveness", liveness},
          {"path", explore::describe(world, r.path)},
          {"bytes", r.bytes},
          {"nodeStates", world.table().nodes()},
          {"localSteps", world.table().steps()},
          {"expectedOmissions", ofStates(explore::expectedOmissions(r.states))},
          {"seconds", r.seconds},
          {"statesPerSecond", ofStates(perSecond(r.states, r))},
          {"reproduce", again}};
}

/// The row of docs/explore.md.
std::string explorationRow(const explore::Configuration& configuration, const explore::Result& r,
                           bool sampled) {
  const std::string states = sampled ? "|" : fmt::format("{} | {}", r.states, r.beyond);
  return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |", configuration.name, configuration.summary,
                     explore::nameOf(r.verdict), states, r.transitions + r.asleep, r.transitions, r.depth);
}

/// The command that finds the same schedule again.
std::string commandOf(const Session& session, const ExploreArguments& arguments,
                      const explore::Configuration& configuration, const std::vector<std::string>& off) {
  std::string command = fmt::format("{} explore {}", shellWord(session.program), configuration.name);
  for (const std::string& rule : off) command += " --without " + rule;
  if (arguments.liveness) command += " --liveness";
  if (arguments.noReduction) command += " --no-reduction";
  if (arguments.symmetry) command += " --symmetry";
  if (arguments.strategy != "breadth") command += " --strategy " + arguments.strategy;
  if (samples(arguments)) {
    if (!arguments.seed.empty()) command += " --seed " + arguments.seed;
    if (!arguments.schedules.empty()) command += " --schedules " + arguments.schedules;
  }
  if (!arguments.depth.empty()) command += " --depth " + arguments.depth;
  return command;
}

/// Says how the search ended, and tells what it found; the exit code of that.
std::expected<int, Failure> conclude(Session& session, const explore::World& world,
                                     const explore::Result& result, const ExploreArguments& arguments,
                                     const std::vector<std::string>& off) {
  sayExploration(session, world, result, arguments);
  if (result.verdict != explore::Verdict::violated) {
    session.out.object(explorationJson(world, result, arguments, off, ""));
    return result.verdict == explore::Verdict::verified ? kExitHeld : kExitInconclusive;
  }
  const auto told = tellPath(session, world, result, arguments);
  const std::string again = commandOf(session, arguments, world.configuration(), off);
  if (told) session.out.say("reproduce   " + again);
  session.out.object(explorationJson(world, result, arguments, off, again));
  if (!told) return std::unexpected(told.error());
  int exitCode = told->exitCode;
  for (const Failure& failure : told->unwritten) exitCode = reportUnwritten(session.out, failure, exitCode);
  return exitCode;
}

/// A checkpoint may take the place of an earlier one, and of nothing else unless that is forced.
std::expected<void, Failure> checkCheckpoint(const ExploreArguments& arguments) {
  const std::string& file = arguments.checkpoint;
  if (file.empty()) return {};
  std::error_code ignored;
  const bool exists = std::filesystem::exists(file, ignored);
  if (exists && !std::filesystem::is_regular_file(file, ignored)) {
    // A device or a folder would be written beside, and then be replaced.
    return std::unexpected(
        badValue("--checkpoint",
                 fmt::format("'{}' is no regular file; expected a new name, or a checkpoint's", file)));
  }
  if (!arguments.force && exists && !explore::isCheckpoint(file)) {
    return std::unexpected(
        badValue("--checkpoint", fmt::format("'{}' exists and is no checkpoint; expected another name, or "
                                             "--force",
                                             file)));
  }
  return checkTargets({{"--checkpoint", file}}, true);
}

Result exploreAll(Session& session, const ExploreArguments& arguments) {
  auto read = readExploration(arguments);
  if (!read) return std::unexpected(read.error());
  const std::vector<Target> targets{{"--trace", arguments.trace}, {"--save-plan", arguments.savePlan}};
  if (auto fit = checkTargets(targets, arguments.force); !fit) return std::unexpected(fit.error());
  if (auto fits = checkCheckpoint(arguments); !fits) return std::unexpected(fits.error());

  const std::string chosen = arguments.configuration.empty() ? "all configurations" : arguments.configuration;
  session.out.say(fmt::format("{} explore {}, {}", toolLine(), chosen, arguments.strategy));
  for (const std::string& rule : read->off) {
    session.out.say(
        fmt::format("rule off    {}: {}", rule, protocol::withoutRule(*protocol::ruleFromName(rule))));
  }
  read->checkpoints.failed = [&](const std::string& why) { session.out.say("no checkpoint " + why); };
  const InterruptGuard guard;
  std::atomic<bool> interrupted = false;
  std::vector<std::string> rows;
  int worst = kExitHeld;
  for (const explore::Configuration& configuration : read->configurations) {
    if (const std::string wrong = explore::whatIsWrong(configuration); !wrong.empty()) {
      return std::unexpected(Failure{fmt::format("{}: {}", configuration.name, wrong)});
    }
    const explore::World world(configuration, arguments.symmetry);
    explore::Limits limits = read->limits;
    limits.interrupted = &interrupted;
    limits.progress = [&](const explore::Progress& p) {
      interrupted = InterruptGuard::requested();
      if (samples(arguments)) {
        session.out.progress(fmt::format("{}: {} steps, depth {}, {:.0f} steps/s", configuration.name,
                                         p.transitions, p.depth,
                                         static_cast<double>(p.transitions) / p.seconds));
        return;
      }
      session.out.progress(fmt::format("{}: {} states, depth {}, queue {}, {:.0f} states/s, {} MiB",
                                       configuration.name, p.states, p.depth, p.queue,
                                       static_cast<double>(p.states) / p.seconds, p.bytes >> 20));
    };
    const auto result = searchWorld(world, arguments, limits, *read);
    if (!result) return std::unexpected(result.error());
    auto code = conclude(session, world, *result, arguments, read->off);
    if (!code) return std::unexpected(code.error());
    if (!result->unsaved.empty()) {
      code = reportUnwritten(session.out, badValue("--checkpoint", result->unsaved), *code);
    }
    rows.push_back(explorationRow(configuration, *result, samples(arguments)));
    // A violation outweighs what could not be written, and that what was not finished.
    const auto rank = [](int exitCode) {
      const int order[] = {kExitHeld, kExitInconclusive, kExitUsage, kExitLiveness, kExitSafety};
      return std::ranges::find(order, exitCode) - std::begin(order);
    };
    if (rank(*code) > rank(worst)) worst = *code;
    if (interrupted) break;
  }
  if (rows.size() > 1) {
    session.out.print("| configuration | what | verdict | states | beyond | transitions | taken | depth |");
    session.out.print("|---|---|---|---|---|---|---|---|");
    for (const std::string& row : rows) session.out.print(row);
  }
  return worst;
}

}  // namespace

Action declareExplore(CLI::App& app) {
  auto arguments = std::make_shared<ExploreArguments>();
  app.description(
      "Try every schedule of a small configuration of the real protocol, within its budgets of faults, and "
      "say "
      "verified, violated with a shortest schedule, or incomplete with the reason. Without a name: all "
      "configurations that are shipped, and a table of them.");
  app.add_option("configuration", arguments->configuration, fmt::format("{}", fmt::join(namesOfAll(), ", ")))
      ->type_name("NAME");
  app.add_option("--without", arguments->without, "switch a safety rule off, by name or id; may be repeated")
      ->type_name("RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--strategy", arguments->strategy,
                 "breadth (shortest schedule first), depth (iterative bounds), random, or priorities")
      ->check(CLI::IsMember({"breadth", "depth", "random", "priorities"}));
  app.add_flag("--liveness", arguments->liveness,
               "keep the whole graph and look for cycles in which a caller waits for ever although timers, "
               "clocks and messages get their turn; on one thread");
  app.add_flag("--no-reduction", arguments->noReduction,
               "take both orders of steps that commute; states, depths and verdicts are the same "
               "(breadth and depth)");
  app.add_flag(
      "--symmetry", arguments->symmetry,
      "take states for one that differ only in the names of interchangeable nodes, keys and clients");
  addJobsOption(app, arguments->jobs);
  app.add_option("--memory", arguments->memory,
                 "stop before more is used; without it 4096, or half of the machine's memory if that is less")
      ->type_name("MIB");
  app.add_option("--depth", arguments->depth, "do not go further from the first state")->type_name("STEPS");
  app.add_option("--states", arguments->states,
                 "stop once so many states were met (breadth, depth, --liveness)")
      ->type_name("COUNT");
  app.add_option("--time-limit", arguments->timeLimit,
                 "stop each search after so long (10s, 5min); with --resume, from when the states of the "
                 "checkpoint are made again, and not before one more level is complete")
      ->type_name("TIME");
  app.add_option("--seed", arguments->seed, "of random and priorities; 1 without it")->type_name("SEED");
  app.add_option("--schedules", arguments->schedules,
                 "how many schedules random and priorities try; 10000 without it")
      ->type_name("COUNT");
  app.add_option(
         "--checkpoint", arguments->checkpoint,
         "write what was done there when cut short, and meanwhile, over an earlier checkpoint if there "
         "is one")
      ->type_name("FILE");
  app.add_option("--checkpoint-every", arguments->checkpointEvery,
                 "how often meanwhile, each time with a level more, so that a search that is killed can be "
                 "resumed (10s, 5min); 60s without it")
      ->type_name("TIME");
  app.add_option("--resume", arguments->resume, "go on from a checkpoint of the same search")
      ->type_name("FILE");
  app.add_option("--trace", arguments->trace, "write the schedule that violates a promise as a trace")
      ->type_name("FILE");
  app.add_option("--save-plan", arguments->savePlan,
                 "write that schedule as a plan file, which 'holdfast run --plan' executes")
      ->type_name("FILE");
  addForceOption(app, arguments->force, "--trace, --save-plan and --checkpoint");
  app.footer(
      "Exit code: 0 verified, 1 a safety violation, 2 a caller waits for ever, 3 incomplete, 64 bad usage or "
      "a\n"
      "file that can not be written, 70 internal error. Of several configurations: the gravest, in the order "
      "1, 2, 3.\n\n"
      "Example:\n  holdfast explore brief");
  return [arguments](Session& session) { return exploreAll(session, *arguments); };
}

}  // namespace holdfast::cli
