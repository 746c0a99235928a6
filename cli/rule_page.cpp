#include "cli/rule_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "ablation/statements.hpp"
#include "cli/figures.hpp"
#include "cli/study.hpp"
#include "explore/replay.hpp"
#include "explore/world.hpp"
#include "pictures/diagrams.hpp"

namespace holdfast::cli {
namespace {

using ablation::Breakage;
using ablation::Method;

/// A run that went wrong, as far as a page tells of it.
struct Told {
  std::size_t steps = 0;
  std::string picture;
  std::string sentence;
  std::size_t finding = 1;  // its number, as `explain` counts
};

/// The causal slice of what `breakage` names in the run, drawn.
Told tell(const Study& study, const Breakage& breakage) {
  Told told;
  const std::vector<explain::Incident> incidents = incidentsOf(study);
  const auto incident = std::ranges::find_if(
      incidents, [&](const explain::Incident& each) { return each.title.starts_with(breakage.anomaly); });
  if (incident == incidents.end()) return told;
  const explain::HappensBefore order(study.run);
  const explain::Clocks clocks(study.run);
  const std::vector<explain::Span> spans = explain::spansOf(study.run, clocks);
  const explain::Slice slice = explain::sliceOf(study.run, order, *incident);
  pictures::SceneOptions options;
  options.sliceOnly = true;
  const pictures::Source source{
      {study.run, order, clocks, spans, study.names}, study.title, &*incident, &slice};
  told.steps = slice.steps.empty() ? 0 : std::ranges::max(slice.steps);
  told.picture = pictures::mermaid(pictures::sceneOf(source, options));
  told.sentence = incident->text;
  told.finding = static_cast<std::size_t>(incident - incidents.begin()) + 1;
  return told;
}

/// Runs it without telling anybody.
Told tell(const Subject& subject, const Breakage& breakage) {
  std::ostringstream unread;
  Output out(unread, unread, {false, true, false});
  Session quiet{out, "holdfast"};
  return tell(studyRun(quiet, subject, "run"), breakage);
}

std::vector<std::string> stepsOf(const Breakage& explored, const protocol::Rules& rules) {
  explore::Configuration configuration = *explore::findConfiguration(explored.where);
  configuration.rules = rules;
  return explore::describe(explore::World(configuration), explored.path);
}

/// Of stories that go wrong, the one whose violation takes the fewest steps to tell; the first of equals.
std::optional<Breakage> shortest(const std::vector<Breakage>& stories, const protocol::Rules& rules,
                                 const scenarios::RunOptions& workload, Told& told) {
  std::optional<Breakage> best;
  for (const Breakage& story : stories) {
    Told one = tell(subjectOf(story, rules, workload), story);
    if (best && one.steps >= told.steps) continue;
    best = story;
    told = std::move(one);
  }
  return best;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

/// Where it was met, as a phrase with the number that says how soon.
std::string foundBy(const Ablation& a) {
  const Breakage& shown = *a.shown();
  switch (shown.method) {
    case Method::explorer:
      return fmt::format("`explore {}` meets it after {} and {}", shown.where, counted(a.steps, "step"),
                         counted(shown.effort, "state"));
    case Method::story:
      return fmt::format("The story `{}` goes wrong; {} of it led there", shown.where,
                         counted(a.steps, "step"));
    case Method::sweep:
      return fmt::format("Seed {} of the random workload meets it; {} led there", shown.seed,
                         counted(a.steps, "step"));
  }
  return "";
}

/// The name without the id: "OneDelegate".
std::string_view shortName(protocol::Rule rule) {
  const std::string_view name = protocol::nameOf(rule);
  return name.substr(name.find('_') + 1);
}

}  // namespace

const Breakage* Ablation::shown() const {
  if (explored) return &*explored;
  if (told) return &*told;
  return swept ? &*swept : nullptr;
}

std::string idOf(protocol::Rule rule) {
  const std::string_view name = protocol::nameOf(rule);
  const std::string_view id = name.substr(0, name.find('_'));
  const std::size_t digit = id.find_first_of("0123456789");
  return fmt::format("{}-{}", id.substr(0, digit), id.substr(digit));
}

Subject subjectOf(const Breakage& breakage, const protocol::Rules& rules,
                  const scenarios::RunOptions& workload) {
  Subject subject;
  subject.rules = rules;
  subject.seed = breakage.seed;
  switch (breakage.method) {
    case Method::explorer:
      if (auto schedule =
              scheduleOf(fmt::format("{}{}", kExplored, breakage.where), stepsOf(breakage, rules), rules)) {
        subject.schedule = std::move(*schedule);
      }
      break;
    case Method::story:
      subject.directed = scenarios::findScenario(breakage.where);
      break;
    case Method::sweep:
      subject.options = workload;
      break;
  }
  return subject;
}

Ablation ablate(protocol::Rule rule, const ablation::Bounds& bounds,
                const std::function<void(std::string)>& show) {
  Ablation result;
  result.rule = rule;
  const protocol::Rules rules = protocol::Rules{}.without(rule);
  const scenarios::RunOptions workload = ablation::workloadFor(rule);
  show(fmt::format("exploring without {}", protocol::nameOf(rule)));
  if (ablation::canBeExplored(rule)) result.explored = ablation::explore(rule, rules, bounds);
  show(fmt::format("telling the stories without {}", protocol::nameOf(rule)));
  Told told;
  result.told = shortest(ablation::tellStories(rule), rules, workload, told);
  show(fmt::format("sweeping without {}", protocol::nameOf(rule)));
  result.swept = ablation::sweep(rules, workload, bounds);

  const Breakage* const shown = result.shown();
  if (shown == nullptr) {
    result.unproven =
        fmt::format("{}no story is about it, and no seed up to {} broke a promise",
                    ablation::canBeExplored(rule)
                        ? fmt::format("no configuration broke a promise within {} states, ", bounds.states)
                        : "the explorer's configurations leave it idle, ",
                    bounds.seeds);
    return result;
  }
  const Subject subject = subjectOf(*shown, rules, workload);
  if (shown->method != Method::story) told = tell(subject, *shown);
  result.steps = told.steps;
  result.picture = std::move(told.picture);
  result.sentence = std::move(told.sentence);
  result.finding = told.finding;
  result.reproduce = commandOf("holdfast", subject);
  if (subject.schedule) {
    result.schedule = subject.schedule->steps;
    result.steps = result.schedule.size();
  }
  return result;
}

std::string rulePage(const Ablation& a) {
  const std::string name(protocol::nameOf(a.rule));
  std::string page = fmt::format("# {} {}\n\n<!-- Written by `holdfast ablate`; README.md says how. -->\n\n",
                                 idOf(a.rule), shortName(a.rule));
  if (const std::string_view statement = ablation::statementOf(a.rule); !statement.empty()) {
    page += fmt::format("**The rule:** {}\n\n", statement);
  }
  page += fmt::format("**Without it:** {}.\n", protocol::withoutRule(a.rule));
  const Breakage* const shown = a.shown();
  if (shown == nullptr) {
    return page + fmt::format("\n**Unproven:** {}.\n", a.unproven);
  }
  page += fmt::format("\n## A schedule that it prevents\n\n{}", foundBy(a));
  page += shown->checker.empty()
              ? std::string(": a caller waits, and nothing can happen any more.\n")
              : fmt::format(", found by the checker `{}` as `{}`.\n", shown->checker, shown->anomaly);
  if (!a.schedule.empty()) {
    page += '\n';
    for (std::size_t i = 0; i < a.schedule.size(); ++i) page += fmt::format("{}. {}\n", i + 1, a.schedule[i]);
  }
  if (!a.sentence.empty()) page += fmt::format("\n> {}\n", a.sentence);
  if (!a.picture.empty()) page += fmt::format("\n```mermaid\n{}```\n", a.picture);
  page += fmt::format("\n## Again\n\n```\n{}", a.reproduce);
  const std::string trace = lower(name) + ".jsonl";
  const std::string which = a.finding == 1 ? "" : fmt::format(" --finding {}", a.finding);
  page +=
      fmt::format(" --trace {0}\nholdfast replay {0} --verify\nholdfast explain {0}{1}\n```\n", trace, which);
  if (a.explored && a.told) {
    page += fmt::format("\nThe story `{}` goes wrong too (`{}`).", a.told->where, a.told->checker);
  }
  if (a.swept) {
    page += fmt::format("\nThe random workload meets a violation at seed {} (`{}`: `{}`).", a.swept->seed,
                        a.swept->checker, a.swept->anomaly);
  }
  return page.ends_with('\n') ? page : page + '\n';
}

std::string rulesTable(const std::vector<Ablation>& ablations, const std::string& again) {
  std::string unproven;
  std::string rows;
  for (const Ablation& a : ablations) {
    const Breakage* const shown = a.shown();
    if (shown == nullptr) {
      unproven += fmt::format("- `{}`: {}\n", protocol::nameOf(a.rule), a.unproven);
      continue;
    }
    rows += fmt::format(
        "| [{} {}]({}.md) | {} `{}` | {} | {} | {} | {} |\n", idOf(a.rule), shortName(a.rule),
        protocol::nameOf(a.rule), ablation::nameOf(shown->method), shown->where,
        shown->checker.empty() ? "waits for ever" : fmt::format("{}: {}", shown->checker, shown->anomaly),
        a.steps, a.explored ? fmt::to_string(a.explored->effort) : "",
        a.swept ? fmt::to_string(a.swept->seed) : "");
  }
  return fmt::format(
      "# What each rule buys\n\n<!-- Written by `{0}`. -->\n\n"
      "Each rule was switched off, and the protocol without it was searched until a promise broke: first "
      "every "
      "schedule of those\nof the explorer's configurations that are quick to search, then the stories about "
      "the rule, then the random workload. A page a\nrule has the schedule as a picture, and the command "
      "that runs it again. `{0}` writes all this.\n\n"
      "*Steps* are those of a shortest path of the explorer, or those that led to the violation in a story. "
      "*States* says how\nmany states the explorer had met by then, *seed* which is the first seed of the "
      "random workload that meets a violation\n(empty: none did, or it was not asked).\n\n"
      "| rule | shown by | what breaks | steps | states | seed |\n|---|---|---|---|---|---|\n{1}\n"
      "## Unproven\n\n{2}",
      again, rows, unproven.empty() ? "None: without any of them a promise breaks.\n" : unproven);
}

}  // namespace holdfast::cli
