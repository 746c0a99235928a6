#include "tests/fuzz/targets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/json_source.hpp"
#include "cli/locate.hpp"
#include "cli/plan_source.hpp"
#include "cli/point_history.hpp"
#include "cli/sweep_outputs.hpp"
#include "cli/sweep_record.hpp"
#include "explore/search_tree.hpp"
#include "scenarios/run.hpp"
#include "scenarios/sweep.hpp"
#include "shrink/shrink.hpp"
#include "traces/trace.hpp"

namespace holdfast::fuzz {
namespace {

namespace fs = std::filesystem;

// So much of what is valid is run: a hundred thousand events are a run of minutes.
constexpr std::uint64_t kMostEvents = 20'000;
constexpr std::uint64_t kMostRecords = 2'000;  // nodes times keys
constexpr std::size_t kMostSteps = 400;
constexpr std::uint32_t kMostFilterBits = 1U << 16;

[[noreturn]] void contradict(std::string_view what) {
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// A file that commands can read, made anew for each input.
class InputFile {
 public:
  explicit InputFile(std::string_view bytes)
      : path_(fs::temp_directory_path() / fmt::format("holdfast-fuzz-{}", ::getpid())) {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

/// Output that nobody sees.
struct Nowhere {
  std::ostringstream standardOutput;
  std::ostringstream standardError;
  cli::Output out{standardOutput, standardError, {true, false, false}};
  cli::Session session{out, "holdfast"};
};

/// Runs a command, which may end in any code but that of a fault of its own.
void command(const std::vector<std::string>& arguments) {
  std::ostringstream output;
  std::ostringstream error;
  if (cli::runCommand(arguments, {output, error}) == cli::kExitInternal) contradict(error.str());
}

bool isSmall(const scenarios::RunOptions& options, const scenarios::Plan& plan) {
  return options.nodes * std::uint64_t{options.keys} <= kMostRecords &&
         options.protocol.everDelegatedBits <= kMostFilterBits &&
         plan.operations.size() + plan.faults.size() <= kMostSteps;
}

/// Ends a run that is long enough.
class Bound : public scenarios::RunProgress {
 public:
  bool reached(obs::TrueInstant, std::uint64_t events) override { return events < kMostEvents; }
};

void runPlan(std::string_view bytes) {
  auto source = cli::planSourceOf(bytes, "plan.json");
  if (!source) return;
  if (source->subject.plan) {
    scenarios::RunOptions options = source->subject.options;
    options.seed = source->subject.seed;
    const scenarios::Plan& plan = *source->subject.plan;
    if (!isSmall(options, plan)) return;
    Bound bound;
    (void)scenarios::runPlan(options, source->subject.rules, plan, nullptr, &bound);
    const shrink::Case whole{options, plan};
    shrink::ShrinkOptions shrinking;
    shrinking.timeLimitNs = 20'000'000;
    shrinking.fails = [](const shrink::Case& one) {
      if (!scenarios::validate(one.plan, one.options)) contradict("a smaller plan is not valid");
      return true;
    };
    if (plan.endAt.ns < 60'000'000'000) (void)shrink::shrink(whole, shrinking);
  }
  const std::string text = textOf(source->file);
  const auto again = cli::planSourceOf(text, "plan.json");
  if (!again || textOf(again->file) != text) contradict("a plan file is not read as it was written: " + text);
}

void runSchedule(std::string_view bytes) {
  std::vector<std::string> steps;
  std::istringstream lines{std::string(bytes)};
  std::string configuration;
  std::getline(lines, configuration);
  for (std::string line; steps.size() < 64 && std::getline(lines, line);) steps.push_back(line);
  const auto schedule = cli::scheduleOf("explore/" + configuration, steps, {});
  if (!schedule) return;
  (void)cli::execute(*schedule, {}, nullptr);
  const cli::SchedulePlayer player(*schedule, {});
  if (!steps.empty()) steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2));
  (void)player.play(steps);
}

/// Whether what the trace describes is executed again in a moment.
bool isShort(const traces::TraceReader& reader) {
  if (reader.header().scenario != cli::kMixed) return true;
  const auto options = scenarios::optionsFromJson(reader.header().options);
  const auto plan = scenarios::planFromJson(reader.plan());
  return !options || !plan || (isSmall(*options, *plan) && plan->endAt.ns < 60'000'000'000);
}

void runTrace(std::string_view bytes) {
  std::istringstream input{std::string(bytes)};
  auto reader = traces::TraceReader::from(input, "trace.jsonl");
  if (!reader || !isShort(*reader)) return;
  obs::Stamped stamped;
  for (auto more = reader->next(stamped); !more || *more; more = reader->next(stamped)) {
    if (!more) return;
  }
  const InputFile file(bytes);
  command({"holdfast", "explain", file.path(), "--no-rerun", "--json"});
  command({"holdfast", "explain", file.path(), "--event", "1"});
  command({"holdfast", "show", file.path(), "--whole"});
  command({"holdfast", "show", file.path(), "--html", "-", "--whole"});
  command({"holdfast", "diff", file.path(), file.path()});
  command({"holdfast", "replay", file.path(), "--verify"});
}

/// A report of this build, which the input changes: one in a file would be of the build before.
const cli::SweepRecord& wholeRecord() {
  static const cli::SweepRecord record = [] {
    scenarios::SweepOptions options;
    options.count = 3;
    options.run.faultPhase = sim::seconds(5);
    options.rules.switchOff(protocol::Rule::DG3_OneDelegate);
    options.mustReach = false;
    cli::Subject subject;
    subject.options = options.run;
    subject.rules = options.rules;
    return recordOf(subject, options, {1, 5}, scenarios::sweep(options), {});
  }();
  return record;
}

void runReport(std::string_view bytes) {
  Nowhere nowhere;
  static const nlohmann::json whole = nlohmann::json::parse(textOf(nowhere.session, wholeRecord(), {}));
  std::string text(bytes);
  const nlohmann::json patch = nlohmann::json::parse(bytes, nullptr, false);
  if (patch.is_object()) {
    nlohmann::json changed = whole;
    changed.merge_patch(patch);
    text = changed.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  const auto record = cli::sweepRecordOf(cli::JsonSource(text, "sweep.json"));
  if (!record) {
    if (patch.is_object() && patch.empty())
      contradict("a report of its own is refused: " + record.error().text);
    return;
  }
  if (!isSmall(record->options, {})) return;
  (void)cli::textOf(nowhere.session, *record, {});
  (void)cli::junitText(nowhere.session, *record);
  (void)cli::htmlText(nowhere.session, *record, {});
  (void)cli::seedsThatLack(*record);
  cli::SweepRecord sum = wholeRecord();
  if (!add(sum, *record)) return;
  const auto again = cli::sweepRecordOf(cli::JsonSource(cli::textOf(nowhere.session, sum, {}), "sum.json"));
  if (!again) contradict("a sum of reports is refused: " + again.error().text);
}

void runSettings(std::string_view bytes) {
  std::vector<std::string> lines;
  std::istringstream input{std::string(bytes)};
  for (std::string line; lines.size() < 32 && std::getline(input, line);) lines.push_back(line);
  for (const std::string& line : lines) {
    (void)cli::parseSeed(line);
    if (const auto seeds = cli::parseSeeds(line)) {
      for (const std::string& other : lines) (void)cli::shardOf(other, *seeds);
      (void)cli::seedsOfCommit(line, seeds->count);
    }
    (void)cli::parseRealTime(line);
    (void)cli::parseCount("count", line, 0, UINT64_MAX);
    (void)cli::parseRule(line);
  }
  const auto options = cli::applySettings({}, lines);
  if (!options || !isSmall(*options, {})) return;
  if (!scenarios::validate(*options)) contradict("settings are taken that are not valid");
  if (options->faultPhase.ns / options->workload.gap.ns > 100 || options->nodes > 16) return;
  Bound bound;
  (void)scenarios::runSeed(*options, {}, nullptr, &bound);
}

void runCheckpoint(std::string_view bytes) {
  const InputFile file(bytes);
  const auto tree = explore::loadCheckpoint(file.path(), "fuzz");
  if (tree && tree->size() > 0) (void)tree->pathTo(tree->size() - 1);
}

void runHistory(std::string_view bytes) {
  const InputFile file(bytes);
  Nowhere nowhere;
  if (!cli::keepPointHistory(nowhere.session, file.path(), wholeRecord()))
    contradict("a history is not kept");
  std::ifstream kept(file.path(), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(kept), {}};
  const std::size_t last = text.find_last_of('\n', text.size() - 2);
  const std::string_view line = std::string_view(text).substr(last == std::string::npos ? 0 : last + 1);
  if (!text.starts_with(bytes) || !nlohmann::json::accept(line)) contradict("a history is not added to");
}

void runJson(std::string_view bytes) {
  const cli::JsonSource source(std::string(bytes), "file.json");
  const auto json = source.parsed();
  if (json && !nlohmann::json::accept(bytes)) contradict("what is no JSON is taken for JSON");
  (void)source.about(bytes.substr(0, 40), "here");
  if (json) (void)cli::columnOf(bytes, "plan.operations[2].key");
}

template <void (*run)(std::string_view)>
void guarded(std::string_view bytes) {
  try {
    run(bytes);
  } catch (const std::exception& error) {
    contradict(fmt::format("an exception: {}", error.what()));
  }
}

constexpr std::array kTargets{Target{"plan", Form::json, guarded<runPlan>},
                              Target{"schedule", Form::bytes, guarded<runSchedule>},
                              Target{"trace", Form::trace, guarded<runTrace>},
                              Target{"report", Form::json, guarded<runReport>},
                              Target{"settings", Form::bytes, guarded<runSettings>},
                              Target{"checkpoint", Form::bytes, guarded<runCheckpoint>},
                              Target{"history", Form::bytes, guarded<runHistory>},
                              Target{"json", Form::bytes, guarded<runJson>}};

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* findTarget(std::string_view name) {
  const auto* const found = std::ranges::find(kTargets, name, &Target::name);
  return found == kTargets.end() ? nullptr : found;
}

}  // namespace holdfast::fuzz
