#include "cli/saved_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "cli/diagram.hpp"
#include "cli/plan_source.hpp"
#include "cli/tracing.hpp"
#include "cli/version.hpp"
#include "scenarios/reflected_json.hpp"
#include "traces/whole_file.hpp"

namespace holdfast::cli {
namespace {

namespace fs = std::filesystem;

// A trace takes some 150 bytes for each; beyond this it would rather fill the disk than help.
constexpr std::uint64_t kMostObservations = 5'000'000;
constexpr std::uint64_t kMostDrawn = 100'000;
constexpr int kMostFolders = 10'000;
constexpr std::string_view kTraceOption = "--trace: ";

bool holds(const fs::path& path, const std::string& text) {
  std::ifstream file(path, std::ios::binary);
  return file && std::string{std::istreambuf_iterator<char>(file), {}} == text;
}

/// A folder that this call has made, or one in which the same plan is saved already.
struct Place {
  fs::path folder;
  bool there = false;
};

std::expected<Place, Failure> placeFor(const fs::path& out, const std::string& name,
                                       const std::string& plan) {
  const auto fail = [](const fs::path& path, const std::error_code& error) {
    return std::unexpected(
        Failure{fmt::format("cannot create the folder '{}': {}", path.string(), error.message())});
  };
  std::error_code error;
  fs::create_directories(out, error);
  if (error) return fail(out, error);
  for (int number = 1; number <= kMostFolders; ++number) {
    const fs::path folder = out / (number == 1 ? name : fmt::format("{}-{}", name, number));
    if (fs::create_directory(folder, error)) return Place{folder, false};
    if (error) return fail(folder, error);
    // Another process may be writing into a folder that has no verdict yet.
    if (fs::exists(folder / "verdict.json", error) && holds(folder / "plan.json", plan)) {
      return Place{folder, true};
    }
  }
  return fail(out / name, std::make_error_code(std::errc::file_exists));
}

/// Lets `latest` lead to the folder, unless something of that name is no link. Not to be able to is no harm.
void linkLatest(const fs::path& out, const fs::path& folder) {
  const fs::path latest = out / "latest";
  std::error_code error;
  const auto type = fs::symlink_status(latest, error).type();
  if (type != fs::file_type::symlink && type != fs::file_type::not_found) return;
  const fs::path made = out / fmt::format(".latest-{}", ::getpid());
  fs::create_symlink(folder.filename(), made, error);
  if (!error) fs::rename(made, latest, error);
  if (error) fs::remove(made, error);
}

std::string verdictText(const Subject& subject, const Outcome& outcome, const RunFacts& facts) {
  Json json{{"tool", toolLine()}};
  json.update(subjectJson(subject));
  Json verdict = outcomeJson(outcome, facts);
  verdict.erase("realNs");
  json.update(verdict);
  Json findings = Json::array();
  for (const auto& kept : {outcome.report.findings.violations(), outcome.report.findings.limitations()}) {
    for (const checkers::Finding& finding : kept) {
      Json object = findingJson(finding, namesIn(outcome.report));
      object.erase("is");
      findings.push_back(std::move(object));
    }
  }
  json["findings"] = std::move(findings);
  json["unmet"] = outcome.unmet;
  return scenarios::indented(json) + "\n";
}

}  // namespace

void addSaveOptions(CLI::App& app, SaveArguments& arguments) {
  app.add_option("--out", arguments.out,
                 "where a failure is saved, in a folder of its own with options, plan, trace and verdict")
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_flag("--no-save", arguments.off, "do not save a failure");
}

namespace {

/// Writes everything that is kept of a run; the verdict is last, so that a folder with it is complete.
std::expected<void, Failure> writeInto(const fs::path& folder, const Subject& subject, const Outcome& outcome,
                                       const RunFacts& facts, const std::string& plan) {
  if (outcome.report.observations <= kMostObservations) {
    auto traced = runTraced({(folder / "trace.jsonl").string(), false}, subject,
                            [&](scenarios::ObservationSink* sink) { return execute(subject, sink); });
    if (!traced || traced->unwritten) {
      // Nobody has asked for the option that the text is about.
      std::string why = traced ? traced->unwritten->text : traced.error().text;
      if (why.starts_with(kTraceOption)) why.erase(0, kTraceOption.size());
      return std::unexpected(Failure{why});
    }
    // A picture is for comfort; everything that it shows is in the trace.
    if (outcome.report.observations <= kMostDrawn) {
      const auto page = pageOf((folder / "trace.jsonl").string());
      if (page) (void)traces::writeWholeFile(folder / "diagram.html", *page, traces::IfExists::refuse);
    }
  }
  scenarios::RunOptions options = subject.options;
  options.seed = subject.seed;
  // A story has options of its own, and a schedule has its configuration's: only the name and seed are said.
  const Json written = subject.isWorkload() ? scenarios::writeJson(options)
                                            : Json{{"scenario", subject.name()}, {"seed", subject.seed}};
  const std::pair<const char*, std::string> files[] = {
      {"options.json", scenarios::indented(written) + "\n"},
      {"plan.json", plan},
      {"verdict.json", verdictText(subject, outcome, facts)}};
  for (const auto& [fileName, text] : files) {
    const auto put = traces::writeWholeFile(folder / fileName, text, traces::IfExists::refuse);
    if (!put) return std::unexpected(Failure{put.error().what});
  }
  return {};
}

}  // namespace

std::expected<std::string, Failure> saveRun(const std::string& out, const Subject& subject,
                                            const Outcome& outcome, const RunFacts& facts,
                                            std::string_view name) {
  const std::string plan = textOf(planFileOf(subject, &outcome.report));
  std::string folderName =
      name.empty() ? fmt::format("{}-{}", subject.name(), subject.seed) : std::string(name);
  std::ranges::replace(folderName, '/', '-');
  const auto place = placeFor(out, folderName, plan);
  if (!place) return std::unexpected(place.error());
  const fs::path& folder = place->folder;
  if (!place->there) {
    if (auto written = writeInto(folder, subject, outcome, facts, plan); !written) {
      // Half a folder is of no use to anybody, and on a full disk its room is wanted for the report.
      std::error_code ignored;
      fs::remove_all(folder, ignored);
      return std::unexpected(written.error());
    }
  }
  linkLatest(out, folder);
  return folder.string();
}

std::string savedOrWhyNot(Session& session, const SaveArguments& arguments, const Subject& subject,
                          const Outcome& outcome, const RunFacts& facts) {
  if (arguments.off) return "";
  const auto saved = saveRun(arguments.out, subject, outcome, facts);
  if (saved) return *saved;
  const std::string why = fmt::format("{} seed {}: {}", subject.name(), subject.seed, saved.error().text);
  session.out.say("not saved   " + why);
  session.out.object({{"is", "note"}, {"text", "the failure was not saved: " + why}});
  return "";
}

}  // namespace holdfast::cli
