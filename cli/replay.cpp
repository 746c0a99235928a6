// holdfast replay: executes again what a trace describes, and compares.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "cli/locate.hpp"
#include "cli/run_report.hpp"
#include "cli/suggest.hpp"
#include "cli/trace_sink.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "cli/version.hpp"
#include "traces/json.hpp"
#include "traces/kinds.hpp"
#include "traces/text.hpp"

namespace holdfast::cli {
namespace {

struct ReplayArguments {
  std::string trace;
  bool verify = false;
  bool printOptions = false;
};

constexpr std::uint64_t kHeaderLine = 1;
constexpr std::uint64_t kPlanLine = 2;

/// A trace that is read up to its plan, and the places of what it says.
class Recording {
 public:
  Recording(std::string path, traces::TraceReader reader)
      : path_(std::move(path)), reader_(std::move(reader)) {}

  static std::expected<Recording, Failure> open(const std::string& path) {
    auto reader = traces::TraceReader::open(path);
    if (!reader) return std::unexpected(Failure{reader.error().text()});
    return Recording(path, std::move(*reader));
  }

  traces::TraceReader& reader() { return reader_; }
  const traces::Header& header() const { return reader_.header(); }

  /// A failure about what `place` names in the given line: the path of a member, from the line's root.
  Failure wrong(std::uint64_t line, std::string_view place, const std::string& what) const {
    return Failure{fmt::format("{}:{}:{}: {}", path_, line, columnOf(textOf(line), place), what)};
  }

 private:
  std::string textOf(std::uint64_t line) const {
    std::ifstream file(path_, std::ios::binary);
    std::string text;
    for (std::uint64_t i = 0; i < line; ++i) std::getline(file, text);
    return text;
  }

  std::string path_;
  traces::TraceReader reader_;
};

/// "plan: faults[2].node is 9 ..." names the member plan.faults[2].node of its line.
std::string placeIn(std::string_view root, std::string_view what) {
  const std::string prefix = fmt::format("{}: ", root);
  if (what.starts_with(prefix)) return fmt::format("{}.{}", root, what.substr(prefix.size()));
  return std::string(what);
}

std::expected<protocol::Rules, Failure> rulesOf(const Recording& recording) {
  protocol::Rules rules;
  for (std::size_t i = 0; i < recording.header().rulesOff.size(); ++i) {
    const auto rule = parseRule(recording.header().rulesOff[i]);
    if (!rule)
      return std::unexpected(recording.wrong(kHeaderLine, fmt::format("rules.off[{}]", i), rule.error()));
    rules.switchOff(*rule);
  }
  return rules;
}

/// The random workload as the trace has it: its options, and the plan, whatever plan the seed would give.
std::expected<void, Failure> readWorkload(const Recording& recording, const nlohmann::json& plan,
                                          Subject& subject) {
  const auto wrongOption = [&](const std::string& what) {
    return std::unexpected(recording.wrong(kHeaderLine, placeIn("options", what), what));
  };
  const auto wrongPlan = [&](const std::string& what) {
    return std::unexpected(recording.wrong(kPlanLine, placeIn("plan", what), what));
  };
  auto options = scenarios::optionsFromJson(recording.header().options);
  if (!options) return wrongOption(options.error());
  if (auto valid = scenarios::validate(*options); !valid) return wrongOption(valid.error());
  auto parsed = scenarios::planFromJson(plan);
  if (!parsed) return wrongPlan(parsed.error());
  if (auto valid = scenarios::validate(*parsed, *options); !valid) return wrongPlan(valid.error());
  subject.options = *options;
  subject.options.seed = 1;
  subject.plan = std::move(*parsed);
  return {};
}

std::expected<Subject, Failure> subjectOf(Recording& recording) {
  const traces::Header& header = recording.header();
  Subject subject;
  subject.seed = header.seed;
  auto rules = rulesOf(recording);
  if (!rules) return std::unexpected(rules.error());
  subject.rules = *rules;
  if (header.scenario == kMixed) {
    if (auto read = readWorkload(recording, recording.reader().plan(), subject); !read) {
      return std::unexpected(read.error());
    }
    return subject;
  }
  // The whole name is meant here: a beginning that is unique today may not be so tomorrow.
  std::vector<std::string> known{std::string(kMixed)};
  for (const scenarios::Scenario& scenario : scenarios::allScenarios()) {
    if (scenario.name == header.scenario) subject.directed = &scenario;
    known.emplace_back(scenario.name);
  }
  if (subject.directed == nullptr) {
    return std::unexpected(
        recording.wrong(kHeaderLine, "scenario",
                        fmt::format("this build has no scenario {}{} ('holdfast list' names them all)",
                                    traces::quoted(header.scenario), didYouMean(header.scenario, known))));
  }
  return subject;
}

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

/// Says how the new run compares with the recorded one; gives the exit code.
int reportComparison(Session& session, const ReplayArguments& arguments, const Outcome& outcome,
                     const traces::Ending& recorded, const ComparingSink& sink) {
  const bool same = sink.hash() == recorded.hash && sink.count() == recorded.events;
  std::string before = "?";
  if (const auto found = recorded.verdict.find("verdict");
      found != recorded.verdict.end() && found->is_string()) {
    before = found->get<std::string>();
  }
  const std::string recordedHash = traces::hexHash(recorded.hash);
  const std::string hash = traces::hexHash(sink.hash());
  if (same) {
    session.out.say(fmt::format("compared    the same {} events as recorded, hash {}", sink.count(), hash));
  } else {
    session.out.say(
        fmt::format("compared    not the run that was recorded: {} events with hash {}, in the "
                    "trace {} with hash {}{}",
                    sink.count(), hash, recorded.events, recordedHash,
                    arguments.verify ? "" : "; --verify names the first that differs"));
  }
  if (before != obs::nameOf(outcome.ending)) {
    session.out.say(fmt::format("note        the recorded verdict is {}, now it is {}", before,
                                obs::nameOf(outcome.ending)));
  }
  const int exitCode = arguments.verify && !same ? kExitDiverged : outcome.exitCode;
  session.out.object({{"is", "comparison"},
                      {"same", same},
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
  std::vector<obs::Stamped> recorded;
  auto ending = readRest(recording->reader(), arguments.verify ? &recorded : nullptr);
  if (!ending) return std::unexpected(ending.error());

  announce(session, "replay", *subject, fmt::format("seed {}", subject->seed), arguments.printOptions);
  noteOrigin(session, recording->header());
  traces::Verifier verifier(recorded);
  ComparingSink sink(arguments.verify ? &verifier : nullptr);
  RunProgressLine progress(session.out, subject->plan ? subject->plan->endAt : obs::TrueInstant{});
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
  app.add_flag("--verify", arguments->verify,
               "compare event by event, and name the first that differs with what happened around it");
  app.add_flag("--print-options", arguments->printOptions,
               "print every option on a line of its own instead of in groups");
  app.footer(
      "Exit code: that of the run (0 held, 1 safety violation, 2 liveness violation, 3 inconclusive), or 4 "
      "if\n"
      "--verify met a difference, 64 for a trace that is malformed, cut or of another build's scenarios.\n\n"
      "Example:\n  holdfast run S-31 --trace s31.jsonl && holdfast replay s31.jsonl --verify");
  return [arguments](Session& session) { return replay(session, *arguments); };
}

}  // namespace holdfast::cli
