// holdfast bugs: known defects of record-lock protocols, each run until it is caught.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>

#include "ablation/ablation.hpp"
#include "ablation/known_bugs.hpp"
#include "cli/arguments.hpp"
#include "cli/catalogue.hpp"
#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/target_file.hpp"
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
  SearchArguments search;
  std::string output;
  bool force = false;
};

constexpr QuickBounds kQuickBugs{20'000, 200};

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
  bool shares = false;      ///< The searches of an earlier bug, which has the same rule.
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
  const auto search = readSearch(arguments.search, kQuickBugs);
  if (!search) return std::unexpected(search.error());
  request.bounds = search->bounds;
  request.command += search->options;
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
  std::size_t asserted =
      0;  ///< Of these, the ones for which no buggy code is run: a story asserts what is right.
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
    summary.asserted += verdict.bug->expression == Expression::outcome && verdict.caught() ? 1 : 0;
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
  const std::string asserted =
      s.asserted == 0 ? ""
                      : fmt::format(" ({} by no more than a story that asserts what is right)", s.asserted);
  return fmt::format(
      "{} of {} expressible bugs are caught{}, and {} of the {} that break safety. Of these the random "
      "workload "
      "meets {} within {} (median of all: {}), the explorer {}.",
      s.caught, s.expressible, asserted, s.safetyCaught, s.safety, s.bySweep, counted(bounds.seeds, "seed"),
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
  const std::string command = request.command + " --output docs/bugs.md --force";
  if (!missing.empty()) {
    missing = "\n## Not expressible\n\n| bug | what | it would take |\n|---|---|---|\n" + missing;
  }
  std::string sentence = sentenceOf(summaryOf(verdicts), request.bounds);
  if (verdicts.size() < request.bugs.size()) {
    sentence += fmt::format("\n\n**Part of a page:** an interrupt came after {} of {}.", verdicts.size(),
                            counted(request.bugs.size(), "bug"));
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
      command, sentence, rows, missing);
}

/// Tells the story of the bug and searches without its rule, unless it `shares` an earlier one's searches.
BugVerdict judge(const KnownBug& bug, bool shares, const ablation::Bounds& bounds) {
  BugVerdict verdict;
  verdict.bug = &bug;
  verdict.shares = shares;
  if (!verdict.expressible()) return verdict;
  tellStory(bug, verdict);
  if (!bug.rule || shares) return verdict;
  const protocol::Rules rules = protocol::Rules{}.without(*bug.rule);
  if (ablation::canBeExplored(*bug.rule)) {
    verdict.searched.explored = ablation::explore(*bug.rule, rules, bounds);
  }
  verdict.searched.swept = ablation::sweep(rules, ablation::workloadFor(*bug.rule), bounds);
  return verdict;
}

/// The verdicts of all bugs that were done, in their order; each is reported as soon as it is there.
std::vector<BugVerdict> judgeAll(Session& session, const BugsRequest& request) {
  const auto& bugs = request.bugs;
  const auto shares = [&](std::size_t entry) {
    const auto earlier = std::span(bugs).first(entry);
    return bugs[entry]->rule &&
           std::ranges::find(earlier, bugs[entry]->rule, &KnownBug::rule) != earlier.end();
  };
  const auto search = [&](std::size_t entry, const ablation::Bounds& bounds, const auto& show) {
    show(fmt::format("number {}, {}", bugs[entry]->number, bugs[entry]->what));
    return judge(*bugs[entry], shares(entry), bounds);
  };
  std::vector<BugVerdict> verdicts;
  const auto take = [&](BugVerdict verdict) -> std::expected<void, Failure> {
    if (verdict.shares) {
      const auto first = std::ranges::find(verdicts, verdict.bug->rule,
                                           [](const BugVerdict& earlier) { return earlier.bug->rule; });
      if (first == verdicts.end()) return {};  // It was interrupted, and so was this one.
      verdict.searched = first->searched;
    }
    report(session, verdict);
    verdicts.push_back(std::move(verdict));
    return {};
  };
  // Nothing fails: what is taken goes into memory.
  (void)searchEach(session, "bugs", bugs.size(), request.bounds, search, take);
  return verdicts;
}

/// Writes the page; after an interrupt the part that was done, beside the file and not in its place.
std::expected<void, Failure> writePage(Session& session, const BugsArguments& arguments,
                                       const std::vector<BugVerdict>& verdicts, const BugsRequest& request) {
  const bool whole = verdicts.size() == request.bugs.size();
  const std::string file = whole ? arguments.output : partialOf(arguments.output);
  if (file.empty()) return {};
  const bool replace = !whole || arguments.force;
  if (auto written = writeTarget({"--output", file}, pageOfBugs(verdicts, request), replace); !written) {
    return written;
  }
  session.out.say("written     " + file);
  if (whole) removePartial(file);
  return {};
}

Result runBugs(Session& session, const BugsArguments& arguments) {
  const auto request = requestOf(arguments);
  if (!request) return std::unexpected(request.error());
  if (arguments.force && arguments.output.empty()) {
    return std::unexpected(Failure{"--force replaces a page; expected --output FILE with it"});
  }
  if (auto fit = checkTargets({{"--output", arguments.output}}, arguments.force); !fit) {
    return std::unexpected(fit.error());
  }
  const InterruptGuard guard;
  const std::vector<BugVerdict> verdicts = judgeAll(session, *request);
  const bool whole = verdicts.size() == request->bugs.size();
  if (!whole) session.out.say(fmt::format("interrupted after {}", counted(verdicts.size(), "bug")));
  const auto written = writePage(session, arguments, verdicts, *request);
  const Summary summary = summaryOf(verdicts);
  const int exitCode = whole && summary.caught == summary.expressible ? kExitHeld : kExitInconclusive;
  session.out.say(sentenceOf(summary, request->bounds));
  session.out.object({{"is", "bugs"},
                      {"bugs", verdicts.size()},
                      {"expressible", summary.expressible},
                      {"caught", summary.caught},
                      {"asserted", summary.asserted},
                      {"safety", summary.safety},
                      {"safetyCaught", summary.safetyCaught},
                      {"bySweep", summary.bySweep},
                      {"byExplorer", summary.byExplorer},
                      {"medianSeed", summary.median ? Json(*summary.median) : Json()},
                      {"partial", !whole},
                      {"exitCode", exitCode}});
  return written ? exitCode : reportUnwritten(session.out, written.error(), exitCode);
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
  addSearchOptions(app, arguments->search, kQuickBugs);
  app.add_option("--output", arguments->output,
                 "write them as a page to this file; after an interrupt those that were done to FILE.partial")
      ->type_name("FILE");
  addForceOption(app, arguments->force, "--output");
  app.footer(
      "Exit code: 0 every bug that can be expressed is caught, 3 one is not or was not reached, 64 bad usage "
      "or\na file that can not be written. After Ctrl-C those that were done are told.\n\n"
      "Example:\n  holdfast bugs 1 34 52 --quick");
  return [arguments](Session& session) { return runBugs(session, *arguments); };
}

}  // namespace holdfast::cli
