#include "cli/study.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "checkers/checker_set.hpp"
#include "cli/recording.hpp"
#include "cli/run_report.hpp"
#include "cli/verb.hpp"
#include "explore/replay.hpp"
#include "observations/hash_chain.hpp"
#include "scenarios/cluster.hpp"

namespace holdfast::cli {
namespace {

using checkers::Finding;

/// Keeps what is observed.
class KeepingSink : public scenarios::ObservationSink {
 public:
  explicit KeepingSink(std::vector<obs::Stamped>& kept) : kept_(kept) {}
  void observe(const obs::Stamped& stamped, std::uint64_t) override { kept_.push_back(stamped); }

 private:
  std::vector<obs::Stamped>& kept_;
};

void keepFindings(const checkers::Findings& findings, Study& into) {
  into.violations.assign(findings.violations().begin(), findings.violations().end());
  into.limitations.assign(findings.limitations().begin(), findings.limitations().end());
}

std::string titleOf(std::string_view scenario, std::uint64_t seed, const std::vector<std::string>& off) {
  return fmt::format("{} seed {}{}", scenario, seed,
                     off.empty() ? "" : fmt::format(", without {}", fmt::join(off, ", ")));
}

/// Whether the last line of a trace says that a promise was broken.
bool recordsViolation(const traces::Ending& ending) {
  const auto found = ending.verdict.find("violations");
  return found != ending.verdict.end() && found->is_array() && !found->empty();
}

/// Judges the run again, event by event, to learn at which of them each finding is made.
void judge(const checkers::CheckerOptions& options, obs::TrueInstant end, Study& result) {
  checkers::CheckerSet checkers(options);
  std::size_t violations = 0;
  std::size_t limitations = 0;
  const auto noteNew = [&](explain::EventIndex event) {
    const checkers::Findings& found = checkers.findings();
    for (; violations < found.violations().size(); ++violations) {
      result.seen.emplace_back(found.violations()[violations], event);
    }
    for (; limitations < found.limitations().size(); ++limitations) {
      result.seen.emplace_back(found.limitations()[limitations], event);
    }
  };
  for (explain::EventIndex i = 0; i < result.run.size(); ++i) {
    checkers.on(result.run[i]);
    noteNew(i);
  }
  checkers.finish(end);
  noteNew(result.run.empty() ? 0 : result.run.size() - 1);
}

/// The options of the checkers that judged a run, as far as they are known.
checkers::CheckerOptions checkerOptions(std::string_view scenario, std::uint64_t seed,
                                        scenarios::RunOptions options) {
  if (scenario.starts_with(kExplored)) {
    const auto* known = explore::findConfiguration(std::string(scenario.substr(kExplored.size())));
    return known != nullptr ? explore::checkerOptionsOf(*known) : checkers::CheckerOptions{};
  }
  if (scenario != kMixed) return {};
  options.seed = seed;
  return scenarios::checkerOptionsOfRun(options);
}

}  // namespace

Study studyRun(Session& session, Subject subject, std::string_view verb) {
  Study result;
  KeepingSink sink(result.run);
  RunProgressLine progress(session.out, endOf(subject));
  Outcome outcome = execute(subject, &sink, &progress);
  keepFindings(outcome.report.findings, result);
  result.names = {std::move(outcome.report.nodeNames), std::move(outcome.report.keyNames)};
  result.rulesOff = rulesOff(subject.rules);
  result.title = titleOf(subject.name(), subject.seed, result.rulesOff);
  result.reproduce = commandOf(session.program, subject);
  if (const auto at = result.reproduce.find(" run "); at != std::string::npos) {
    result.reproduce.replace(at, 5, fmt::format(" {} ", verb));
  }
  judge(checkerOptions(subject.name(), subject.seed, subject.options), {outcome.report.simulated.ns}, result);
  result.subject = std::move(subject);
  return result;
}

namespace {

// No run is as long, and differences of two instants stay within 64 bits.
constexpr std::int64_t kMostNs = std::int64_t{1} << 61;
// What stands for never is within it.
constexpr std::int64_t kMostReading = std::int64_t{1} << 62;

/// What is wrong with the times of the next event; a reader of traces takes any.
std::optional<Failure> whatCanNotBeReckonedWith(const Recording& recording,
                                                const std::vector<obs::Stamped>& before,
                                                const obs::Stamped& next) {
  const auto wrong = [&](std::string_view member, const std::string& what) {
    // Events stand behind the header and the plan, one a line.
    return recording.wrong(Recording::kPlanLine + before.size() + 1, member, what);
  };
  const std::int64_t earliest = before.empty() ? 0 : before.back().at.ns;
  if (next.at.ns < earliest || next.at.ns > kMostNs) {
    return wrong("t", fmt::format("\"t\" is {}; expected {} to {}, in the order of time", next.at.ns,
                                  earliest, kMostNs));
  }
  std::optional<Failure> found;
  std::visit(
      [&](const auto& event) {
        obs::forEachField(event, [&](std::string_view name, const auto& field) {
          if constexpr (requires { field.ns; }) {
            if (found || (field.ns >= -kMostReading && field.ns <= kMostReading)) return;
            found = wrong(name, fmt::format("\"{}\" is {}; expected {} to {}", name, field.ns, -kMostReading,
                                            kMostReading));
          }
        });
      },
      next.what);
  return found;
}

std::expected<Study, Failure> studyTrace(Session& session, const std::string& path, std::string_view verb) {
  auto recording = Recording::open(path);
  if (!recording) return std::unexpected(recording.error());
  Study result;
  obs::Stamped stamped;
  while (true) {
    const auto more = recording->reader().next(stamped);
    if (!more) return std::unexpected(Failure{more.error().text()});
    if (!*more) break;
    if (auto wrong = whatCanNotBeReckonedWith(*recording, result.run, stamped))
      return std::unexpected(*wrong);
    result.run.push_back(stamped);
  }
  const traces::Header& header = recording->header();
  const traces::Ending& ending = recording->reader().ending();
  result.names = header.names;
  result.rulesOff = header.rulesOff;
  result.title = titleOf(header.scenario, header.seed, header.rulesOff);
  result.reproduce = fmt::format("{} {} {}", shellWord(session.program), verb, shellWord(path));
  auto subject = subjectOf(*recording);
  const scenarios::RunOptions options = subject ? subject->options : scenarios::RunOptions{};
  judge(checkerOptions(header.scenario, header.seed, options), {ending.simulatedNs}, result);
  for (const auto& [finding, event] : result.seen) {
    const bool limitation = finding.severity == checkers::Severity::limitation;
    (limitation ? result.limitations : result.violations).push_back(finding);
  }
  if (!subject) return result;
  result.subject = std::move(*subject);
  // A story may tell its checkers more than its trace does. Of the very run that this build makes of it, what
  // was found then stands.
  const bool silent = recordsViolation(ending) && result.violations.empty();
  if (result.subject->directed != nullptr || silent) {
    const Outcome again = execute(*result.subject);
    if (again.report.hash == ending.hash) keepFindings(again.report.findings, result);
  }
  return result;
}

/// How well `event` fits what the finding speaks of.
int likeness(const obs::Stamped& event, const Finding& finding) {
  const explain::Mentions m = explain::mentionsOf(event.what);
  int score = event.node == finding.node ? 1 : 0;
  if (finding.key.valid() && m.key == finding.key) score += 2;
  if (finding.call.valid() && m.call == finding.call) score += 4;
  if (finding.txn.valid() && m.txn == finding.txn) score += 4;
  return score;
}

/// The event at which the finding was made. If checkers do not find the same again, because a story told them
/// more: of the events at its instant the one that fits best; the last before it if there is none.
explain::EventIndex eventOf(const Study& study, const Finding& finding) {
  const auto identity = [](const Finding& one) {
    return std::tuple(one.anomaly, one.at, one.node, one.key, one.call, one.txn, one.otherCall, one.otherTxn);
  };
  const auto seen = std::ranges::find_if(
      study.seen, [&](const auto& each) { return identity(each.first) == identity(finding); });
  if (seen != study.seen.end()) return seen->second;
  const std::vector<obs::Stamped>& run = study.run;
  const auto end = std::ranges::upper_bound(run, finding.at, {}, &obs::Stamped::at);
  if (end == run.begin()) return 0;
  const auto begin = std::ranges::lower_bound(run.begin(), end, std::prev(end)->at, {}, &obs::Stamped::at);
  auto best = begin;
  for (auto event = begin; event != end; ++event) {
    if (likeness(*event, finding) > likeness(*best, finding)) best = event;
  }
  return static_cast<explain::EventIndex>(best - run.begin());
}

explain::Incident incidentOf(const Study& study, const Finding& finding) {
  explain::Incident incident;
  incident.event = eventOf(study, finding);
  incident.violation = finding.severity != checkers::Severity::limitation;
  const std::string_view limitation = checkers::limitationOf(finding.route);
  incident.title =
      fmt::format("{} ({})", obs::nameOf(finding.anomaly), limitation.empty() ? finding.rule() : limitation);
  incident.text = checkers::describe(finding, checkers::Names{study.names.nodes, study.names.keys});
  const auto addTo = [](auto& list, auto id) {
    if (id.valid() && std::ranges::find(list, id) == list.end()) list.push_back(id);
  };
  addTo(incident.keys, finding.key);
  addTo(incident.calls, finding.call);
  addTo(incident.calls, finding.otherCall);
  addTo(incident.txns, finding.txn);
  addTo(incident.txns, finding.otherTxn);
  addTo(incident.nodes, finding.node);
  addTo(incident.nodes, finding.other);
  for (std::size_t i = 0; i < finding.evidenceCount; ++i) {
    addTo(incident.nodes, finding.evidence[i].node);
    incident.witnesses.push_back({finding.evidence[i].at, finding.evidence[i].node});
  }
  return incident;
}

/// The study, unless it is too large to be looked into.
std::expected<Study, Failure> sized(std::expected<Study, Failure> result) {
  if (!result) return result;
  // Explaining keeps a clock of a number a node for each event.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 28;
  std::set<obs::NodeId> nodes;
  for (const obs::Stamped& stamped : result->run) nodes.insert(stamped.node);
  if (nodes.size() * result->run.size() <= kMost) return result;
  return std::unexpected(
      Failure{fmt::format("the run has {} events at {} nodes; expected a product of at most {}",
                          result->run.size(), nodes.size(), kMost)});
}

}  // namespace

void addStudyOptions(CLI::App& app, StudyArguments& arguments) {
  app.add_option(
         "what", arguments.what,
         "a trace file, or a directed scenario, or 'mixed', the random workload, which is the default")
      ->type_name("TRACE|SCENARIO");
  app.add_option("--scenario", arguments.scenario, "the scenario, where a file has the same name")
      ->type_name("SCENARIO");
  app.add_option("--seed", arguments.seed,
                 "the seed: decimal, hexadecimal after 0x, or the 40 digits of a commit; 1 by default")
      ->type_name("N");
  addSubjectOptions(app, arguments.subject);
}

std::expected<Study, Failure> study(Session& session, std::string_view verb,
                                    const StudyArguments& arguments) {
  if (!arguments.what.empty() && !arguments.scenario.empty()) {
    return std::unexpected(
        Failure{fmt::format("'{}' and --scenario {} exclude each other; expected one of them", arguments.what,
                            arguments.scenario)});
  }
  std::error_code ignored;
  const auto scenario = findSubject(arguments.scenario.empty() ? arguments.what : arguments.scenario);
  if (arguments.scenario.empty() && std::filesystem::is_regular_file(arguments.what, ignored)) {
    const SubjectArguments& shape = arguments.subject;
    if (!arguments.seed.empty() || !shape.without.empty() || !shape.settings.empty() ||
        !shape.membership.empty()) {
      return std::unexpected(Failure{
          "--seed, --without, --set and --membership shape a new run, not a trace; expected a scenario"});
    }
    return sized(studyTrace(session, arguments.what, verb));
  }
  if (!scenario) {
    const bool looksLikeFile = arguments.what.find_first_of("./") != std::string::npos;
    return std::unexpected(Failure{looksLikeFile
                                       ? fmt::format("there is no trace file '{}'", arguments.what)
                                       : scenario.error() + "; nor is there a trace file of that name"});
  }
  Subject subject;
  subject.directed = *scenario;
  if (!arguments.seed.empty()) {
    const auto seed = parseSeed(arguments.seed);
    if (!seed) return std::unexpected(badValue("--seed", seed.error()));
    subject.seed = *seed;
  }
  if (auto read = readSubject(arguments.subject, subject); !read) return std::unexpected(read.error());
  return sized(studyRun(session, std::move(subject), verb));
}

std::vector<explain::Incident> incidentsOf(const Study& study) {
  std::vector<explain::Incident> incidents;
  if (study.run.empty()) return incidents;
  for (const Finding& finding : study.violations) incidents.push_back(incidentOf(study, finding));
  for (const Finding& finding : study.limitations) incidents.push_back(incidentOf(study, finding));
  return incidents;
}

}  // namespace holdfast::cli
