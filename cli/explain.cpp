// holdfast explain: the causal slice of a violation, told as numbered steps.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/counterfactual.hpp"
#include "cli/run_report.hpp"
#include "cli/study.hpp"
#include "cli/verb.hpp"
#include "explain/story.hpp"

namespace holdfast::cli {
namespace {

using explain::Incident;
using explain::Story;

struct ExplainArguments {
  StudyArguments study;
  std::string finding;
  std::string event;
  std::string steps = "60";
  bool noRerun = false;
};

/// The incident that is meant: the event that --event names, else a finding, the first by default.
std::expected<Incident, Failure> chosenIncident(const ExplainArguments& arguments, const Study& study) {
  if (!arguments.event.empty()) {
    const auto number = parseCount("--event", arguments.event, 1, study.run.size());
    if (!number) return std::unexpected(Failure{number.error()});
    Incident incident = explain::incidentAt(study.run, *number - 1);
    incident.title = fmt::format("event {}", *number);
    return incident;
  }
  std::vector<Incident> incidents = incidentsOf(study);
  std::uint64_t number = 1;
  if (!arguments.finding.empty()) {
    if (incidents.empty()) {
      return std::unexpected(Failure{"--finding: nothing was found in this run; expected --event N instead"});
    }
    const auto parsed = parseCount("--finding", arguments.finding, 1, incidents.size());
    if (!parsed) return std::unexpected(Failure{parsed.error()});
    number = *parsed;
  }
  if (incidents.empty()) {
    return std::unexpected(Failure{
        "nothing went wrong in this run, and no documented limitation was reached; expected --event N "
        "to explain one event",
        kExitInconclusive});
  }
  return std::move(incidents[number - 1]);
}

/// Everything else that could be explained, a line each.
void listOthers(Session& session, const std::vector<Incident>& incidents, const Incident& chosen) {
  constexpr std::size_t kMost = 8;
  if (incidents.size() < 2) return;
  session.out.say("findings    --finding N explains another of these:");
  for (std::size_t i = 0; i < std::min(incidents.size(), kMost); ++i) {
    const Incident& one = incidents[i];
    session.out.say(fmt::format("  {}{}. {}{}",
                                one.title == chosen.title && one.event == chosen.event ? "*" : " ", i + 1,
                                one.title, one.violation ? "" : ", a documented limitation"));
  }
  if (incidents.size() > kMost) session.out.say(fmt::format("   and {} more", incidents.size() - kMost));
}

Json stepJson(const explain::Step& step, const traces::Names& names) {
  const auto nameOf = [&](obs::NodeId node) {
    return node.value < names.nodes.size() ? Json(names.nodes[node.value]) : Json();
  };
  return {{"is", "step"},
          {"number", step.number},
          {"event", step.event + 1},
          {"t", step.at.ns},
          {"node", nameOf(step.node)},
          {"monotonic", step.monotonic.ns},
          {"wall", step.wall.ns},
          {"text", step.text},
          {"after", step.follows},
          {"believes", step.authority},
          {"conflicts", step.conflicts}};
}

/// Prints `text` with `title` before its first line, broken at blanks.
void printParagraph(Output& out, std::string_view title, std::string_view text) {
  std::string line = fmt::format("{:<12}", title);
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (used > 0 && line.size() + 1 + end > kWidth) {
      out.print(line);
      line = std::string(12, ' ');
      used = 0;
    }
    line += fmt::format("{}{}", used++ > 0 ? " " : "", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out.print(line);
}

void report(Session& session, const Study& study, const Story& story) {
  Output& out = session.out;
  printParagraph(out, "run", study.title);
  printParagraph(out, story.incident.violation ? "violation" : "explained",
                 story.incident.text.empty()
                     ? story.incident.title
                     : fmt::format("{}: {}", story.incident.title, story.incident.text));
  out.print("");
  for (const explain::Step& step : story.steps) out.object(stepJson(step, study.names));
  for (const std::string& line : explain::linesOf(story, study.names)) out.print(line);
  out.print("");
  for (const std::string& remark : story.remarks) printParagraph(out, "remark", remark);
  out.say("reproduce   " + study.reproduce);
  out.object({{"is", "story"},
              {"run", study.title},
              {"incident", story.incident.title},
              {"text", story.incident.text},
              {"violation", story.incident.violation},
              {"event", story.incident.event + 1},
              {"steps", story.steps.size()},
              {"leftOut", story.leftOut},
              {"lastOutside", story.inevitableFrom},
              {"remarks", story.remarks},
              {"reproduce", study.reproduce}});
}

std::expected<void, Failure> checkExplainOptions(const ExplainArguments& arguments) {
  if (arguments.event.empty()) return {};
  if (!arguments.finding.empty()) {
    return std::unexpected(Failure{"--event and --finding exclude each other; expected one of them"});
  }
  if (arguments.noRerun) {
    return std::unexpected(
        Failure{"--no-rerun is about a finding, and for one event nothing is run again; expected it without "
                "--event"});
  }
  return {};
}

Result explainRun(Session& session, const ExplainArguments& arguments) {
  if (auto fits = checkExplainOptions(arguments); !fits) return std::unexpected(fits.error());
  const auto most = parseCount("--steps", arguments.steps, 1, 100'000);
  if (!most) return std::unexpected(Failure{most.error()});
  const auto studied = study(session, "explain", arguments.study);
  if (!studied) return std::unexpected(studied.error());
  const auto incident = chosenIncident(arguments, *studied);
  if (!incident) return std::unexpected(incident.error());

  const explain::HappensBefore order(studied->run);
  const explain::Clocks clocks(studied->run);
  const std::vector<explain::Span> spans = explain::spansOf(studied->run, clocks);
  const explain::Slice slice = explain::sliceOf(studied->run, order, *incident, *most, explain::Change::told);
  Story story = explain::storyOf({studied->run, order, clocks, spans, studied->names}, *incident, slice);
  if (incident->violation && !arguments.noRerun && studied->subject) {
    if (const auto turn = pointOfNoReturn(session, *studied, *incident)) {
      story.remarks.push_back(describe(*turn, studied->names));
    }
  }
  report(session, *studied, story);
  listOthers(session, incidentsOf(*studied), *incident);
  return kExitHeld;
}

}  // namespace

Action declareExplain(CLI::App& app) {
  auto arguments = std::make_shared<ExplainArguments>();
  app.description(
      "Tell why a promise was broken: the causal slice of the violation as numbered steps, with true time, "
      "each node's own clocks, the authority that each node believed it had, and the moment from which the "
      "violation was inevitable. Of a run without a violation it tells how a documented limitation was "
      "reached.");
  addStudyOptions(app, arguments->study);
  app.add_option("--finding", arguments->finding, "explain the N-th finding instead of the first")
      ->type_name("N");
  app.add_option("--event", arguments->event, "explain event number N of the trace instead of a finding")
      ->type_name("N");
  app.add_option("--steps", arguments->steps, "tell at most about N steps")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--no-rerun", arguments->noRerun,
               "do not run shortened plans to find the moment from which the violation was inevitable");
  app.footer(
      "The story goes to standard output. Exit code: 0 when something was explained, 3 when there is nothing "
      "to explain,\n64 bad usage, 70 internal error.\n\n"
      "Example:\n  holdfast explain S-31 --without FR2_InheritDependencies");
  return [arguments](Session& session) { return explainRun(session, *arguments); };
}

}  // namespace holdfast::cli
