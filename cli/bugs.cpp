// holdfast bugs: known defects of record-lock protocols, each run until it is caught.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "ablation/ablation.hpp"
#include "ablation/known_bugs.hpp"
#include "cli/arguments.hpp"
#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_source.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "scenarios/scenario.hpp"

namespace holdfast::cli {
namespace {

using ablation::Breakage;
using ablation::Expression;
using ablation::KnownBug;

struct BugsArguments {
  std::vector<std::string> numbers;
  std::string jobs;
  std::string seeds;
  std::string output;
  bool quick = false;
};

constexpr std::uint64_t kQuickBugStates = 20'000;
constexpr std::uint64_t kQuickBugSeeds = 200;

struct BugsRequest {
  std::vector<const KnownBug*> bugs;
  ablation::Bounds bounds;
  std::string command;
};

/// What became of the searches without a rule; several bugs may share it.
struct Searched {
  std::optional<Breakage> explored;
  std::optional<Breakage> swept;
};

/// What became of one bug.
struct BugVerdict {
  const KnownBug* bug = nullptr;
  bool story = false;       ///< The story ended as it must.
  std::string explanation;  ///< Why it did not.
  Searched searched;        ///< Of a rule that is off.
  bool caught() const { return story || searched.explored || searched.swept; }
  bool expressible() const { return bug->expression != Expression::missing; }
};

std::expected<BugsRequest, Failure> requestOf(const BugsArguments& arguments) {
  BugsRequest request;
  request.command = "holdfast bugs";
  const auto all = ablation::knownBugs();
  for (const std::string& text : arguments.numbers) {
    const auto number = parseCount("the number of a bug", text, 1, 9'999);
    if (!number) return std::unexpected(Failure{number.error()});
    const auto found = std::ranges::find(all, *number, &KnownBug::number);
    if (found == all.end()) {
      return std::unexpected(Failure{fmt::format(
          "there is no bug {} in the catalogue, which has gaps ('holdfast bugs --quick' lists all)",
          *number)});
    }
    request.bugs.push_back(&*found);
    request.command += fmt::format(" {}", *number);
  }
  if (request.bugs.empty()) {
    for (const KnownBug& bug : all) request.bugs.push_back(&bug);
  }
  const auto jobs = readJobs(arguments.jobs);
  if (!jobs) return std::unexpected(jobs.error());
  request.bounds.jobs = *jobs;
  request.bounds.endsEarly = InterruptGuard::requested;
  if (arguments.quick) {
    request.bounds.states = kQuickBugStates;
    request.bounds.seeds = kQuickBugSeeds;
    request.command += " --quick";
  }
  if (!arguments.seeds.empty()) {
    const auto seeds = parseCount("seeds", arguments.seeds, 1, 100'000'000);
    if (!seeds) return std::unexpected(badValue("--seeds", seeds.error()));
    request.bounds.seeds = *seeds;
    request.command += fmt::format(" --seeds {}", *seeds);
  }
  return request;
}

/// Tells the story of the bug; whether it ended as it must.
void tellStory(const KnownBug& bug, BugVerdict& verdict) {
  const scenarios::Scenario& scenario = *scenarios::findScenario(bug.story);
  if (bug.expression == Expression::ruleOff) {
    const scenarios::TwinResult told = scenarios::runTwin(scenario, {*bug.rule, bug.checker});
    verdict.story = told.reached;
    verdict.explanation = told.explanation;
    return;
  }
  scenarios::ScenarioContext context;
  const scenarios::ScenarioResult told = scenarios::runScenario(scenario, context);
  verdict.story = told.exitCode() == kExitHeld;
  if (!told.unmet.empty()) verdict.explanation = told.unmet.front();
  if (bug.expression == Expression::limitation && told.report.findings.count(bug.route) == 0) {
    verdict.story = false;
    verdict.explanation =
        fmt::format("the story does not reach the limitation by {}", obs::nameOf(bug.route));
  }
}

std::string_view wordOf(Expression expression) {
  switch (expression) {
    case Expression::ruleOff:
      return "ruleOff";
    case Expression::outcome:
      return "outcome";
    case Expression::limitation:
      return "limitation";
    case Expression::missing:
      return "missing";
  }
  return "?";
}

/// How the bug is expressed here: the rule that is off, or the end that its story asserts.
std::string expressedBy(const KnownBug& bug) {
  switch (bug.expression) {
    case Expression::ruleOff:
      return fmt::format("without {}", protocol::nameOf(*bug.rule));
    case Expression::outcome:
      return "asserted";
    case Expression::limitation:
      return fmt::format("{} reached", checkers::limitationOf(bug.route));
    case Expression::missing:
      return "";
  }
  return "";
}

void report(Session& session, const BugVerdict& verdict) {
  const KnownBug& bug = *verdict.bug;
  std::string end;
  if (!verdict.expressible()) {
    end = fmt::format("not expressible; it would take {}", bug.missing);
  } else if (!verdict.caught()) {
    end = fmt::format("NOT CAUGHT: {}", verdict.explanation);
  } else {
    end = fmt::format("{}, {}", expressedBy(bug), verdict.story ? bug.story : "not by its story");
    if (bug.expression == Expression::ruleOff) end += fmt::format(", {}", obs::nameOf(bug.checker));
    if (verdict.searched.swept) end += fmt::format("; seed {}", verdict.searched.swept->seed);
    if (verdict.searched.explored) {
      end += fmt::format("; {}", counted(verdict.searched.explored->effort, "state"));
    }
  }
  session.out.print(fmt::format("{:>4}  {}", bug.number, bug.what));
  session.out.print(fmt::format("      {}", end));
  const auto& [explored, swept] = verdict.searched;
  session.out.object({{"is", "bug"},
                      {"number", bug.number},
                      {"what", bug.what},
                      {"expression", wordOf(bug.expression)},
                      {"rule", bug.rule ? protocol::nameOf(*bug.rule) : ""},
                      {"story", bug.story},
                      {"checker", bug.expression == Expression::ruleOff ? obs::nameOf(bug.checker) : ""},
                      {"safety", bug.isSafety()},
                      {"caught", verdict.caught()},
                      {"failedSeed", swept ? Json(fmt::to_string(swept->seed)) : Json()},
                      {"states", explored ? Json(explored->effort) : Json()},
                      {"steps", explored ? Json(explored->path.size()) : Json()},
                      {"missing", bug.missing},
                      {"explanation", verdict.explanation}});
}

/// Figures over all of them.
struct Summary {
  std::size_t expressible = 0;
  std::size_t caught = 0;
  std::size_t safety = 0;
  std::size_t safetyCaught = 0;
  std::size_t bySweep = 0;              ///< Safety bugs that the random workload meets.
  std::size_t byExplorer = 0;           ///< Safety bugs that the explorer meets.
  std::optional<std::uint64_t> median;  ///< First seeds of all safety bugs; none if it lies beyond the bound.
};

Summary summaryOf(const std::vector<BugVerdict>& verdicts) {
  Summary summary;
  std::vector<std::uint64_t> seeds;
  for (const BugVerdict& verdict : verdicts) {
    summary.expressible += verdict.expressible() ? 1 : 0;
    summary.caught += verdict.expressible() && verdict.caught() ? 1 : 0;
    if (!verdict.bug->isSafety()) continue;
    ++summary.safety;
    summary.safetyCaught += verdict.caught() ? 1 : 0;
    summary.byExplorer += verdict.searched.explored ? 1 : 0;
    summary.bySweep += verdict.searched.swept ? 1 : 0;
    seeds.push_back(verdict.searched.swept ? verdict.searched.swept->seed : UINT64_MAX);
  }
  if (seeds.empty()) return summary;
  std::ranges::sort(seeds);
  const std::uint64_t median = seeds[(seeds.size() - 1) / 2];
  if (median != UINT64_MAX) summary.median = median;
  return summary;
}

std::string sentenceOf(const Summary& s, const ablation::Bounds& bounds) {
  return fmt::format(
      "{} of {} expressible bugs are caught, and {} of the {} that break safety. Of these the random "
      "workload "
      "meets {} within {} (median of all: {}), the explorer {}.",
      s.caught, s.expressible, s.safetyCaught, s.safety, s.bySweep, counted(bounds.seeds, "seed"),
      s.median ? fmt::format("seed {}", *s.median) : fmt::format("beyond seed {}", bounds.seeds),
      s.byExplorer);
}

/// docs/bugs.md.
std::string pageOfBugs(const std::vector<BugVerdict>& verdicts, const BugsRequest& request) {
  std::string rows;
  std::string missing;
  for (const BugVerdict& verdict : verdicts) {
    const KnownBug& bug = *verdict.bug;
    if (!verdict.expressible()) {
      missing += fmt::format("| {} | {} | {} |\n", bug.number, bug.what, bug.missing);
      continue;
    }
    const auto& [explored, swept] = verdict.searched;
    std::string by = bug.expression == Expression::ruleOff
                         ? fmt::format("[{0}](rules/{0}.md)", protocol::nameOf(*bug.rule))
                         : expressedBy(bug);
    rows += fmt::format("| {} | {} | {} | `{}` {} | {} | {} |\n", bug.number, bug.what, by, bug.story,
                        !verdict.story                          ? "**no**"
                        : bug.expression == Expression::ruleOff ? obs::nameOf(bug.checker)
                                                                : std::string_view("held"),
                        swept ? fmt::to_string(swept->seed) : "",
                        explored ? fmt::to_string(explored->effort) : "");
  }
  const std::string command = request.command + " --output docs/bugs.md";
  if (!missing.empty()) {
    missing = "\n## Not expressible\n\n| bug | what | it would take |\n|---|---|---|\n" + missing;
  }
  return fmt::format(
      "# Known bugs\n\n<!-- Written by `{0}`. -->\n\n"
      "Defects, abandoned designs and limits of record-lock protocols, each run here until it is caught. "
      "`{0}` "
      "writes this page.\nThe numbers are those of a catalogue, which has gaps.\n\n"
      "*Expressed by* names the rule without which the protocol has the bug; `asserted` if a story asserts "
      "what is "
      "right instead, and\na limitation if the contract allows it. *Story* is the directed scenario, and the "
      "checker "
      "that finds the bug there. *Seed* is the\nfirst of the random workload that meets a violation, "
      "*states* how many "
      "the explorer has met by then (empty: it does not).\n\n{1}\n\n"
      "| bug | what | expressed by | story | seed | states |\n|---|---|---|---|---|---|\n{2}"
      "{3}",
      command, sentenceOf(summaryOf(verdicts), request.bounds), rows, missing);
}

BugVerdict judge(Session& session, const KnownBug& bug, const ablation::Bounds& bounds,
                 std::map<protocol::Rule, Searched>& known) {
  BugVerdict verdict;
  verdict.bug = &bug;
  if (!verdict.expressible()) return verdict;
  session.out.progress(fmt::format("bugs: number {}, {}", bug.number, bug.what));
  tellStory(bug, verdict);
  if (!bug.rule) return verdict;
  auto found = known.find(*bug.rule);
  if (found == known.end()) {
    const protocol::Rules rules = protocol::Rules{}.without(*bug.rule);
    Searched searched;
    if (ablation::canBeExplored(*bug.rule)) searched.explored = ablation::explore(*bug.rule, rules, bounds);
    searched.swept = ablation::sweep(rules, ablation::workloadFor(*bug.rule), bounds);
    found = known.emplace(*bug.rule, std::move(searched)).first;
  }
  verdict.searched = found->second;
  return verdict;
}

Result runBugs(Session& session, const BugsArguments& arguments) {
  const auto request = requestOf(arguments);
  if (!request) return std::unexpected(request.error());
  if (!arguments.output.empty()) {
    if (auto fits = checkWritable(arguments.output); !fits) {
      return std::unexpected(badValue("--output", fits.error().text));
    }
  }
  const InterruptGuard guard;
  std::map<protocol::Rule, Searched> known;
  std::vector<BugVerdict> verdicts;
  for (const KnownBug* bug : request->bugs) {
    BugVerdict verdict = judge(session, *bug, request->bounds, known);
    if (InterruptGuard::requested()) {
      session.out.say(fmt::format("interrupted after {}", counted(verdicts.size(), "bug")));
      return kExitInconclusive;
    }
    report(session, verdict);
    verdicts.push_back(std::move(verdict));
  }
  if (!arguments.output.empty()) {
    if (auto written = writeNewFile(arguments.output, pageOfBugs(verdicts, *request), true); !written) {
      return std::unexpected(badValue("--output", written.error().text));
    }
    session.out.say("written     " + arguments.output);
  }
  const Summary summary = summaryOf(verdicts);
  const int exitCode = summary.caught == summary.expressible ? kExitHeld : kExitInconclusive;
  session.out.say(sentenceOf(summary, request->bounds));
  session.out.object({{"is", "bugs"},
                      {"bugs", verdicts.size()},
                      {"expressible", summary.expressible},
                      {"caught", summary.caught},
                      {"safety", summary.safety},
                      {"safetyCaught", summary.safetyCaught},
                      {"bySweep", summary.bySweep},
                      {"byExplorer", summary.byExplorer},
                      {"medianSeed", summary.median ? Json(*summary.median) : Json()},
                      {"exitCode", exitCode}});
  return exitCode;
}

}  // namespace

Action declareBugs(CLI::App& app) {
  auto arguments = std::make_shared<BugsArguments>();
  app.description(
      "Run the catalogue of known bugs of record-lock protocols: each as a rule that is off, a story that "
      "asserts "
      "what is right, or a limitation that must be reached. Says which story, which seed of the random "
      "workload, "
      "and how many states of the explorer it takes to catch it, and what those that can not be expressed "
      "would "
      "take.");
  app.add_option("numbers", arguments->numbers, "numbers of bugs; all without any")->type_name("NUMBER");
  app.add_flag(
      "--quick", arguments->quick,
      fmt::format("explore {} states a configuration instead of {}, and sweep {} seeds instead of {}",
                  kQuickBugStates, ablation::Bounds{}.states, kQuickBugSeeds, ablation::Bounds{}.seeds));
  app.add_option("--seeds", arguments->seeds, "sweep so many seeds for each")->type_name("N");
  addJobsOption(app, arguments->jobs);
  app.add_option("--output", arguments->output,
                 "write them as a page to this file; what is there is replaced")
      ->type_name("FILE");
  app.footer(
      "Exit code: 0 every bug that can be expressed is caught, 3 one is not, 64 bad usage.\n\n"
      "Example:\n  holdfast bugs 1 34 52 --quick");
  return [arguments](Session& session) { return runBugs(session, *arguments); };
}

}  // namespace holdfast::cli
