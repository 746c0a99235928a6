// holdfast replay: executes again what a trace describes, and compares.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "cli/recording.hpp"
#include "cli/run_report.hpp"
#include "cli/trace_sink.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "cli/version.hpp"
#include "traces/json.hpp"
#include "traces/kinds.hpp"
#include "traces/text.hpp"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kPlanLine = Recording::kPlanLine;

struct ReplayArguments {
  std::string trace;
  bool verify = false;
  bool printOptions = false;
};

/// Reads the rest of the trace, which checks it. `kept` gets the observations, unless it is null.
std::expected<traces::Ending, Failure> readRest(traces::TraceReader& reader,
                                                std::vector<obs::Stamped>* kept) {
  obs::Stamped stamped;
  while (true) {
    const auto more = reader.next(stamped);
    if (!more) return std::unexpected(Failure{more.error().text()});
    if (!*more) return reader.ending();
    if (kept != nullptr) kept->push_back(stamped);
  }
}

void noteOrigin(Session& session, const traces::Header& header) {
  const auto note = [&](const std::string& text) {
    session.out.say("note        " + text);
    session.out.object({{"is", "note"}, {"text", text}});
  };
  if (header.tool != traces::toolVersion()) {
    note(fmt::format(
        "the trace was written by version {}, this is version {}; what differs may be due to that",
        header.tool, traces::toolVersion()));
  }
  if (header.vocabulary != traces::vocabularyHash()) {
    note("the trace was written by a build that observes other things, so that its hash can not be met");
  }
  if (header.compiler != traces::compilerName()) {
    session.out.say(fmt::format("note        recorded by a build of {}", header.compiler));
  }
}

Json stampedJson(const traces::ObservationWriter& writer, const obs::Stamped& stamped) {
  Json json = Json::object();
  for (const auto& [name, value] : writer.members(stamped)) json[name] = Json::parse(value);
  return json;
}

void reportDivergence(Session& session, const traces::Divergence& divergence, const traces::Names& names) {
  const std::string text = traces::describe(divergence, names);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    session.out.say(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  if (!session.out.settings().json) return;
  const traces::ObservationWriter writer(names);
  const auto listed = [&](const std::vector<obs::Stamped>& side) {
    Json array = Json::array();
    for (const obs::Stamped& stamped : side) array.push_back(stampedJson(writer, stamped));
    return array;
  };
  session.out.object({{"is", "divergence"},
                      {"event", divergence.event},
                      {"fields", divergence.fields},
                      {"before", listed(divergence.before)},
                      {"recorded", listed(divergence.recorded)},
                      {"reexecuted", listed(divergence.reexecuted)}});
}

/// In what the recorded judgement differs from the new one, which is the same if the events are and the
/// checkers have not changed; the words of findings do not count.
/// Of sentences like "exclusion: ..." the checkers and rules alone: the words may be those of another
/// version.
nlohmann::json headsOf(const nlohmann::json& sentences) {
  if (!sentences.is_array()) return sentences;
  nlohmann::json heads = nlohmann::json::array();
  for (const nlohmann::json& sentence : sentences) {
    if (!sentence.is_string()) return sentences;
    const auto& text = sentence.get_ref<const std::string&>();
    heads.push_back(text.substr(0, text.find(": ")));
  }
  return heads;
}

std::vector<std::string> changesOfVerdict(const traces::Ending& recorded, const Outcome& outcome) {
  std::vector<std::string> changes;
  const auto compare = [&](std::string_view what, const nlohmann::json& before, const nlohmann::json& after) {
    if (before == after) return;
    changes.push_back(fmt::format("{}: recorded {}, now {}", what, before.dump(), after.dump()));
  };
  const nlohmann::json now = verdictJson(outcome);
  const auto was = [&](const char* member) { return recorded.verdict.value(member, nlohmann::json()); };
  for (const char* const member : {"verdict", "safetyViolations", "livenessViolations", "unmet"}) {
    compare(member, was(member), now.at(member));
  }
  compare("violations", headsOf(was("violations")), headsOf(now.at("violations")));
  compare("simulatedNs", recorded.simulatedNs, outcome.report.simulated.ns);
  return changes;
}

/// Says how the new run compares with the recorded one; gives the exit code.
int reportComparison(Session& session, const ReplayArguments& arguments, const Outcome& outcome,
                     const traces::Ending& recorded, const ComparingSink& sink) {
  const bool sameEvents = sink.hash() == recorded.hash && sink.count() == recorded.events;
  const std::vector<std::string> changes = changesOfVerdict(recorded, outcome);
  const std::string recordedHash = traces::hexHash(recorded.hash);
  const std::string hash = traces::hexHash(sink.hash());
  if (sameEvents) {
    session.out.say(fmt::format("compared    the same {} events as recorded, hash {}", sink.count(), hash));
  } else {
    session.out.say(
        fmt::format("compared    not the run that was recorded: {} events with hash {}, in the "
                    "trace {} with hash {}{}",
                    sink.count(), hash, recorded.events, recordedHash,
                    arguments.verify ? "" : "; --verify names the first that differs"));
  }
  if (!changes.empty()) {
    session.out.say(
        fmt::format("compared    not the verdict that was recorded; {}", fmt::join(changes, "; ")));
  }
  const bool same = sameEvents && changes.empty();
  const int exitCode = arguments.verify && !same ? kExitDiverged : outcome.exitCode;
  session.out.object({{"is", "comparison"},
                      {"same", same},
                      {"verdictChanges", changes},
                      {"verified", arguments.verify},
                      {"exitCode", exitCode},
                      {"events", sink.count()},
                      {"traceHash", hash},
                      {"recordedEvents", recorded.events},
                      {"recordedHash", recordedHash},
                      {"recordedVerdict", recorded.verdict}});
  return exitCode;
}

Result replay(Session& session, const ReplayArguments& arguments) {
  auto recording = Recording::open(arguments.trace);
  if (!recording) return std::unexpected(recording.error());
  auto subject = subjectOf(*recording);
  if (!subject) return std::unexpected(subject.error());
  if (arguments.printOptions && !subject->isWorkload()) return std::unexpected(noOptionsToPrint(*subject));
  std::vector<obs::Stamped> recorded;
  auto ending = readRest(recording->reader(), arguments.verify ? &recorded : nullptr);
  if (!ending) return std::unexpected(ending.error());

  announce(session, "replay", *subject, fmt::format("seed {}", subject->seed), arguments.printOptions);
  noteOrigin(session, recording->header());
  traces::Verifier verifier(recorded);
  ComparingSink sink(arguments.verify ? &verifier : nullptr);
  RunProgressLine progress(session.out, endOf(*subject));
  const Stopwatch watch;
  const Outcome outcome = execute(*subject, &sink, &progress);
  verifier.finish();

  RunFacts facts;
  facts.real = watch.elapsed();
  facts.reproduce = fmt::format("{} replay {}{}", shellWord(session.program), shellWord(arguments.trace),
                                arguments.verify ? " --verify" : "");
  if (arguments.verify && verifier.divergence()) {
    // Events stand behind the header and the plan, one a line.
    session.out.say(fmt::format("{}:{}: differs from the run now:", arguments.trace,
                                verifier.divergence()->event + kPlanLine));
    reportDivergence(session, *verifier.divergence(), recording->header().names);
  }
  reportOutcome(session, outcome, facts);
  const int exitCode = reportComparison(session, arguments, outcome, *ending, sink);
  if (exitCode == kExitDiverged && outcome.exitCode == kExitHeld) {
    session.out.say("reproduce   " + facts.reproduce);
  }
  return exitCode;
}

}  // namespace

Action declareReplay(CLI::App& app) {
  auto arguments = std::make_shared<ReplayArguments>();
  app.description(
      "Execute again what a trace describes, and compare the new run with the recorded one. Of the random "
      "workload the plan in the trace is executed, so that an edited plan can be run; of a directed scenario "
      "the story of that name.");
  app.add_option("trace", arguments->trace, "a trace that --trace wrote; see docs/trace-format.md")
      ->type_name("TRACE")
      ->required();
  app.add_flag(
      "--verify", arguments->verify,
      "compare event by event, and name the first that differs with what happened around it; compare "
      "the verdicts, too");
  addPrintOptions(app, arguments->printOptions);
  app.footer(
      "Exit code: that of the run (0 held, 1 safety violation, 2 liveness violation, 3 inconclusive), or 4 "
      "if\n"
      "--verify met a difference, 64 for a trace that is malformed, cut or of another build's scenarios.\n\n"
      "Example:\n  holdfast run S-31 --trace s31.jsonl && holdfast replay s31.jsonl --verify");
  return [arguments](Session& session) { return replay(session, *arguments); };
}

}  // namespace holdfast::cli
