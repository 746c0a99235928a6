// holdfast check-corpus: every plan that is kept, run again and compared with what it is known to end in.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "cli/figures.hpp"
#include "cli/plan_source.hpp"
#include "cli/run_report.hpp"
#include "cli/target_file.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "traces/whole_file.hpp"

namespace holdfast::cli {
namespace {

struct CorpusArguments {
  std::string folder = "traces/corpus";
  bool update = false;
  bool allowDrift = false;
};

/// same: the very run. drift: another run, in which everything that is known of it happens still. failed: not
/// so.
enum class Kept : std::uint8_t { same, drift, failed };
BOOST_DESCRIBE_ENUM(Kept, same, drift, failed)

struct Checked {
  Kept kept = Kept::failed;
  std::string text;  ///< What is different; "" if nothing is.
};

/// What `known` has and `now` lacks, in words.
std::string missingFrom(const scenarios::KnownEnd& now, const scenarios::KnownEnd& known) {
  if (now.verdict != known.verdict) {
    return fmt::format("the verdict was {}, now it is {}", obs::nameOf(known.verdict),
                       obs::nameOf(now.verdict));
  }
  for (const checkers::Signature& violation : known.violations) {
    if (std::ranges::find(now.violations, violation) == now.violations.end()) {
      return fmt::format("no violation any more by {}", checkers::describe(violation));
    }
  }
  for (const checkers::Route route : known.limitations) {
    if (std::ranges::find(now.limitations, route) == now.limitations.end()) {
      return fmt::format("the limitation {} is not reached any more by route {}",
                         checkers::limitationOf(route), obs::nameOf(route));
    }
  }
  return "";
}

Checked check(const PlanSource& source, const Outcome& outcome) {
  if (!source.file.known) return {Kept::failed, "the file does not say what the run ends in"};
  const scenarios::KnownEnd now = scenarios::knownEndOf(outcome.report);
  if (outcome.ending == Ending::expectationNotReached) {
    return {Kept::failed,
            fmt::format("an expectation of the story is not met: {}", fmt::join(outcome.unmet, "; "))};
  }
  if (std::string missing = missingFrom(now, *source.file.known); !missing.empty()) {
    return {Kept::failed, std::move(missing)};
  }
  if (now == *source.file.known) return {Kept::same, ""};
  return {Kept::drift, fmt::format("another run than the recorded one ({}, was {}) that ends as it did",
                                   now.traceHash, source.file.known->traceHash)};
}

std::expected<std::vector<std::string>, Failure> filesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path().string());
  }
  if (error) return std::unexpected(Failure{fmt::format("{}: cannot be read: {}", folder, error.message())});
  if (files.empty()) {
    return std::unexpected(
        Failure{fmt::format("{}: has no plan file; expected files *.json that --save-plan wrote", folder)});
  }
  std::ranges::sort(files);
  return files;
}

void reportChecked(Session& session, const std::string& file, const PlanSource& source,
                   const Checked& checked) {
  if (checked.kept != Kept::same) {
    session.out.say(fmt::format("{:<11} {}: {}", obs::nameOf(checked.kept), file, checked.text));
    session.out.say("  story     " + source.file.story);
    session.out.say("  reproduce " + commandOf(session.program, source.subject));
  }
  session.out.object({{"is", "kept"},
                      {"file", file},
                      {"story", source.file.story},
                      {"outcome", obs::nameOf(checked.kept)},
                      {"text", checked.text},
                      {"reproduce", commandOf(session.program, source.subject)}});
}

Result checkCorpus(Session& session, const CorpusArguments& arguments) {
  const auto files = filesIn(arguments.folder);
  if (!files) return std::unexpected(files.error());
  if (arguments.update) traces::removeLeftovers(arguments.folder);
  const Stopwatch watch;
  std::array<std::uint64_t, obs::kEnumeratorCount<Kept>> counts{};
  for (const std::string& file : *files) {
    const auto source = readPlanSource(file);
    if (!source) return std::unexpected(source.error());
    const Outcome outcome = execute(source->subject);
    const Checked checked = check(*source, outcome);
    ++counts[static_cast<std::size_t>(checked.kept)];
    reportChecked(session, file, *source, checked);
    if (checked.kept != Kept::drift || !arguments.update) continue;
    scenarios::PlanFile renewed = source->file;
    renewed.known = scenarios::knownEndOf(outcome.report);
    if (auto written = writeTarget({"--update", file}, textOf(renewed), true); !written)
      return std::unexpected(written.error());
  }
  const std::uint64_t drifted = counts[static_cast<std::size_t>(Kept::drift)];
  const std::uint64_t failed = counts[static_cast<std::size_t>(Kept::failed)];
  int exitCode = kExitHeld;
  if (drifted > 0 && !arguments.allowDrift && !arguments.update) exitCode = kExitDiverged;
  if (failed > 0) exitCode = kExitInconclusive;
  session.out.say(fmt::format("corpus      {} in {}: {} the same, {} drifted{}, {} failed",
                              counted(files->size(), "plan"), elapsed(watch.elapsed()),
                              counts[static_cast<std::size_t>(Kept::same)], drifted,
                              drifted > 0 && arguments.update ? " and were recorded anew" : "", failed));
  session.out.object({{"is", "corpus"},
                      {"plans", files->size()},
                      {"same", counts[static_cast<std::size_t>(Kept::same)]},
                      {"drifted", drifted},
                      {"failed", failed},
                      {"exitCode", exitCode},
                      {"realNs", watch.elapsed().count()}});
  return exitCode;
}

}  // namespace

Action declareCheckCorpus(CLI::App& app) {
  auto arguments = std::make_shared<CorpusArguments>();
  app.description(
      "Run every plan file of a folder again, and compare with what each is known to end in: the same run, "
      "another "
      "run that ends alike (drift: the code has moved on), or one that does not.");
  app.add_option("folder", arguments->folder, "a folder of plan files")
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_flag("--update", arguments->update,
               "record drifted runs anew in their files; failed ones are left as they are");
  app.add_flag("--allow-drift", arguments->allowDrift, "let drift be said without being a failure");
  app.footer(
      "Exit code: 0 all the same, 4 some drifted, 3 some do not end any more as they are known to, 64 a file "
      "that is\n"
      "no plan file.\n\n"
      "Example:\n  holdfast run --seed 7 --save-plan seven.json && holdfast check-corpus .");
  return [arguments, &app](Session& session) -> Result {
    auto idle = refuseIdle(app, {{{"--allow-drift"},
                                  arguments->update,
                                  "lets drift pass, and --update records it anew; expected one of them"}});
    if (!idle) return std::unexpected(idle.error());
    return checkCorpus(session, *arguments);
  };
}

}  // namespace holdfast::cli
