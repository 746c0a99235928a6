// holdfast merge: the reports of a sweep's shards, added up to the report of the whole.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/figures.hpp"
#include "cli/json_source.hpp"
#include "cli/option_list.hpp"
#include "cli/run_report.hpp"
#include "cli/sweep_outputs.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"

namespace holdfast::cli {
namespace {

struct MergeArguments {
  std::vector<std::string> files;
  SweepOutputArguments outputs;
};

/// The command that sweeps all of it; shards that do not follow each other have one each.
std::string sweepCommands(const Session& session, const SweepRecord& record) {
  const Subject subject = subjectOf(record);
  std::string with;
  for (const std::string& rule : record.rulesOff) with += " --without " + rule;
  for (const std::string& setting : changedOptions(subject.options)) with += " --set " + shellWord(setting);
  std::vector<scenarios::SeedsRun> joined;
  for (const scenarios::SeedsRun& range : record.report.ranges) {
    if (range.ran == 0) continue;
    if (!joined.empty() && joined.back().first + joined.back().ran == range.first) {
      joined.back().ran += range.ran;
    } else {
      joined.push_back(range);
    }
  }
  std::string commands;
  for (const scenarios::SeedsRun& range : joined) {
    commands += fmt::format("{}{} sweep --seeds {}..{}{}", commands.empty() ? "" : " && ",
                            shellWord(session.program), range.first, range.first + (range.ran - 1), with);
  }
  return commands;
}

Result runMerge(Session& session, const MergeArguments& arguments) {
  for (const std::string& file : arguments.files) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, arguments.outputs.report, ignored)) {
      return std::unexpected(badValue(
          "--report", fmt::format("'{}' is one of the reports to be added; expected another file", file)));
    }
  }
  if (auto fits = checkSweepOutputs(arguments.outputs); !fits) return std::unexpected(fits.error());
  std::optional<SweepRecord> sum;
  for (const std::string& file : arguments.files) {
    const auto source = JsonSource::read(file, "a sweep.json, which 'holdfast sweep --report' writes");
    if (!source) return std::unexpected(source.error());
    auto record = sweepRecordOf(*source);
    if (!record) return std::unexpected(record.error());
    if (!sum) {
      sum = std::move(*record);
      continue;
    }
    if (auto added = add(*sum, *record); !added) {
      return std::unexpected(source->about(added.error(), "can not be added: " + added.error()));
    }
  }
  const Subject subject = subjectOf(*sum);
  session.out.say(
      fmt::format("merged      {} of build {}", counted(arguments.files.size(), "report"), sum->tool));
  SweepFacts facts;
  facts.real = std::chrono::nanoseconds(sum->realNs);
  facts.jobs = static_cast<unsigned>(sum->jobs);
  facts.reproduce = sweepCommands(session, *sum);
  reportSweep(session, subject, sum->report, facts);
  const std::string lacking = seedsThatLack(*sum);
  if (!lacking.empty()) {
    const std::string text = lacking + " are in none of the reports";
    session.out.say("lacking     " + text);
    session.out.object({{"is", "note"}, {"text", text}});
  }
  int exitCode = sum->report.exitCode();
  if (exitCode == kExitHeld && !lacking.empty()) exitCode = kExitInconclusive;
  return writeSweepOutputs(session, arguments.outputs, *sum, facts, exitCode);
}

}  // namespace

Action declareMerge(CLI::App& app) {
  auto arguments = std::make_shared<MergeArguments>();
  app.description(
      "Add up reports that 'holdfast sweep --report' wrote, such as those of a sweep's shards, to one "
      "report, as if "
      "one sweep had run all their seeds.");
  app.add_option("reports", arguments->files,
                 "files that --report wrote, of one build and with the same options")
      ->type_name("FILE")
      ->required();
  addSweepOutputOptions(app, arguments->outputs);
  app.footer(
      "Exit code: that of the whole sweep, 3 where it would be 0 but a shard is missing or was cut, 64 for "
      "reports that "
      "do\n"
      "not fit together, or a file that can not be written.\n\n"
      "Example:\n  holdfast sweep --seeds 200 --shard 1/2 --report 1.json && "
      "holdfast sweep --seeds 200 --shard 2/2 --report 2.json && holdfast merge 1.json 2.json --html "
      "sweep.html");
  return [arguments](Session& session) { return runMerge(session, *arguments); };
}

}  // namespace holdfast::cli
