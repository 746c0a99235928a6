#include "cli/sweep_outputs.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "cli/figures.hpp"
#include "cli/point_history.hpp"
#include "cli/run_report.hpp"
#include "cli/target_file.hpp"
#include "cli/verb_options.hpp"
#include "pictures/scene.hpp"
#include "scenarios/must_reach.hpp"

namespace holdfast::cli {
namespace {

using scenarios::FailedSeed;
using scenarios::SweepReport;

// GitHub shows ten annotations of a step.
constexpr std::size_t kMostAnnotations = 10;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Escaped as the runner's commands want it.
std::string commandText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\n') {
      out += "%0A";
    } else if (c == '\r') {
      out += "%0D";
    } else {
      out += c;
    }
  }
  return out;
}

/// Writes annotations to standard error, which the runner reads too and which --json leaves alone.
void annotate(Session& session, const SweepRecord& record, const checkers::Names& names) {
  Subject subject = subjectOf(record);
  std::size_t shown = 0;
  for (const FailedSeed& failure : record.report.failures) {
    if (shown++ == kMostAnnotations) return;
    subject.seed = failure.seed;
    session.out.say(fmt::format(
        "::error title=holdfast seed {}::{}", failure.seed,
        commandText(failureText(failure, names) + "\nreproduce: " + commandOf(session.program, subject))));
  }
  if (!record.report.missed.empty() && shown < kMostAnnotations) {
    session.out.say(fmt::format("::warning title=holdfast sweep::never reached: {}",
                                commandText(fmt::format("{}", fmt::join(record.report.missed, ", ")))));
  }
}

std::string summaryText(const Session& session, const SweepRecord& record, const checkers::Names& names) {
  const SweepReport& report = record.report;
  std::string text = fmt::format("### holdfast sweep: {}\n\n", sweepVerdict(report));
  text += "| seeds | held | safety | liveness | inconclusive | died | not deterministic | events |\n";
  text += "|---|---|---|---|---|---|---|---|\n";
  text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n\n", grouped(report.ran),
                      grouped(report.held), grouped(report.safetyViolations),
                      grouped(report.livenessViolations), grouped(report.inconclusive), grouped(report.died),
                      grouped(report.diverged), grouped(report.events));
  Subject subject = subjectOf(record);
  for (const FailedSeed& failure : report.failures) {
    subject.seed = failure.seed;
    text += fmt::format("- seed {}: {}\n\n      {}\n", failure.seed, failureText(failure, names),
                        commandOf(session.program, subject));
  }
  if (!report.missed.empty()) text += fmt::format("\nNever reached: {}\n", fmt::join(report.missed, ", "));
  return text;
}

void tellGithub(Session& session, const SweepRecord& record, const checkers::Names& names) {
  if (environment("GITHUB_ACTIONS") == "true") annotate(session, record, names);
  if (const std::string path = environment("GITHUB_STEP_SUMMARY"); !path.empty()) {
    std::ofstream file(path, std::ios::app | std::ios::binary);
    if (!(file << summaryText(session, record, names) << std::flush)) {
      session.out.say(fmt::format("not written {}: the step's summary", path));
    }
  }
}

std::string caseText(const std::string& name, std::string_view child = {}) {
  return fmt::format("    <testcase classname=\"holdfast.sweep\" name=\"{}\"{}\n", pictures::escaped(name),
                     child.empty() ? std::string("/>") : fmt::format(">{}</testcase>", child));
}

}  // namespace

std::string junitText(const Session& session, const SweepRecord& record) {
  const SweepReport& report = record.report;
  Subject subject = subjectOf(record);
  const traces::Names known = namesOf(subject);
  std::string cases;
  std::size_t tests = 1;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  cases += caseText(fmt::format("{} that held", counted(report.held, "seed")));
  for (const FailedSeed& failure : report.failures) {
    subject.seed = failure.seed;
    ++tests;
    ++failures;
    const std::string what = failureText(failure, {known.nodes, known.keys});
    cases += caseText(fmt::format("seed {}", failure.seed),
                      fmt::format("<failure message=\"{}\">reproduce: {}</failure>", pictures::escaped(what),
                                  pictures::escaped(commandOf(session.program, subject))));
  }
  if (report.stoppedEarly) {
    ++tests;
    ++failures;
    cases += caseText("runs all its seeds", fmt::format("<failure message=\"cut after {} of {}\"/>",
                                                        grouped(report.ran), counted(report.asked, "seed")));
  }
  for (const scenarios::MustReachPoint& point : scenarios::mustReachPoints(report)) {
    if (!record.mustReach) break;
    ++tests;
    const std::string name = "reaches " + point.name;
    if (point.seeds > 0) {
      cases += caseText(name);
    } else if (point.judgedAfter(report.ran)) {
      ++failures;
      cases += caseText(name,
                        fmt::format("<failure message=\"not reached in {}\"/>", counted(report.ran, "seed")));
    } else {
      ++skipped;
      cases += caseText(name, fmt::format("<skipped message=\"its budget is {} seeds\"/>", point.budget));
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"holdfast sweep\" "
      "tests=\"{}\" "
      "failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{}.{:03}\">\n{}  </testsuite>\n</testsuites>\n",
      tests, failures, skipped, record.realNs / 1'000'000'000, record.realNs / 1'000'000 % 1'000, cases);
}

void addSweepOutputOptions(CLI::App& app, SweepOutputArguments& arguments) {
  app.add_option(
         "--report", arguments.report,
         "write the report for machines, which 'holdfast merge' adds up, to FILE (sweep.json by custom)")
      ->type_name("FILE");
  app.add_option("--junit", arguments.junit, "write the report as JUnit XML to FILE")->type_name("FILE");
  app.add_option("--html", arguments.html,
                 "write the report as a page with plots, which needs no network, to FILE")
      ->type_name("FILE");
  app.add_option(
         "--history", arguments.history,
         "add which points were reached to FILE, a line a sweep, and say when a missed one was reached last")
      ->type_name("FILE");
  addForceOption(app, arguments.force, "--report, --junit and --html");
}

std::expected<void, Failure> checkSweepOutputs(const SweepOutputArguments& arguments) {
  const std::vector<Target> files{
      {"--report", arguments.report}, {"--junit", arguments.junit}, {"--html", arguments.html}};
  const auto given = [](const Target& target) { return !target.path.empty(); };
  if (arguments.force && std::ranges::none_of(files, given)) {
    return std::unexpected(Failure{"--force replaces files; expected --report, --junit or --html with it"});
  }
  if (auto fit = checkTargets(files, arguments.force); !fit) return fit;
  // To the history a line is added, whether or not it exists.
  std::vector<Target> all = files;
  all.push_back({"--history", arguments.history});
  return checkTargets(all, true);
}

int writeSweepOutputs(Session& session, const SweepOutputArguments& arguments, const SweepRecord& record,
                      const SweepFacts& facts, int exitCode) {
  const auto write = [&](std::string_view option, const std::string& path, auto&& text) {
    if (path.empty()) return;
    const std::string partial = facts.interrupted ? partialOf(path) : "";
    const std::string& file = partial.empty() ? path : partial;
    const auto written = writeTarget({option, file}, text(), arguments.force || !partial.empty());
    if (!written) {
      exitCode = reportUnwritten(session.out, written.error(), exitCode);
      return;
    }
    session.out.say("written     " + file);
    if (partial.empty()) removePartial(path);
  };
  write("--report", arguments.report, [&] { return textOf(session, record, facts); });
  write("--junit", arguments.junit, [&] { return junitText(session, record); });
  write("--html", arguments.html, [&] { return htmlText(session, record, facts); });
  if (!arguments.history.empty()) {
    if (auto kept = keepPointHistory(session, arguments.history, record); !kept) {
      exitCode = reportUnwritten(session.out, badValue("--history", kept.error().text), exitCode);
    }
  }
  const traces::Names known = namesOf(subjectOf(record));
  tellGithub(session, record, {known.nodes, known.keys});
  return exitCode;
}

}  // namespace holdfast::cli
