// holdfast measure: the measurement gate, in simulated time and counts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>

#include "cli/arguments.hpp"
#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/measure_report.hpp"
#include "cli/suggest.hpp"
#include "cli/target_file.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "measure/experiment.hpp"

namespace holdfast::cli {
namespace {

using measure::Experiment;
using measure::Measurement;

constexpr std::uint64_t kFewestParticipants = 3;
constexpr std::uint64_t kMostParticipants = 200;

struct MeasureArguments {
  std::vector<std::string> what;
  std::vector<std::string> nodes;
  std::string network = "same-region";
  std::string disk = "ssd";
  std::string seed = "1";
  std::string html;
  std::string output;
  bool force = false;
};

template <class Named>
std::vector<std::string> listedNames(std::span<const Named> all) {
  std::vector<std::string> names;
  for (const Named& one : all) names.emplace_back(one.name);
  return names;
}

Failure unknownName(std::string_view option, const std::string& name, const std::vector<std::string>& names) {
  return badValue(option, fmt::format("there is no '{}'{}; expected one of {}", name, didYouMean(name, names),
                                      fmt::join(names, ", ")));
}

std::expected<measure::Settings, Failure> measureSettings(const MeasureArguments& arguments) {
  measure::Settings settings;
  settings.network = measure::findNetwork(arguments.network);
  if (settings.network == nullptr) {
    return std::unexpected(
        unknownName("--network", arguments.network, listedNames(measure::networkProfiles())));
  }
  settings.disk = measure::findDisk(arguments.disk);
  if (settings.disk == nullptr) {
    return std::unexpected(unknownName("--disk", arguments.disk, listedNames(measure::diskProfiles())));
  }
  const auto seed = parseSeed(arguments.seed);
  if (!seed) return std::unexpected(badValue("--seed", seed.error()));
  settings.seed = *seed;
  if (!arguments.nodes.empty()) settings.nodes.clear();
  for (const std::string& text : arguments.nodes) {
    const auto nodes = parseCount("a number of nodes", text, kFewestParticipants, kMostParticipants);
    if (!nodes) return std::unexpected(badValue("--nodes", nodes.error()));
    settings.nodes.push_back(static_cast<std::uint16_t>(*nodes));
  }
  return settings;
}

std::expected<std::vector<const Experiment*>, Failure> chosenExperiments(
    const std::vector<std::string>& what) {
  std::vector<const Experiment*> experiments;
  for (const std::string& name : what) {
    experiments.push_back(measure::findExperiment(name));
    if (experiments.back() == nullptr) {
      return std::unexpected(unknownName("--what", name, listedNames(measure::experiments())));
    }
  }
  if (!what.empty()) return experiments;
  for (const Experiment& experiment : measure::experiments()) experiments.push_back(&experiment);
  return experiments;
}

/// The command that gives the figures of the named experiments again, or of all for none; without what it
/// writes.
std::string commandFor(const std::vector<std::string>& what, const measure::Settings& settings) {
  std::string command = "holdfast measure";
  if (!what.empty()) command += fmt::format(" --what {}", fmt::join(what, ","));
  return command + fmt::format(" --nodes {} --network {} --disk {} --seed {}", fmt::join(settings.nodes, ","),
                               settings.network->name, settings.disk->name, settings.seed);
}

std::expected<void, Failure> checkMeasureFiles(const MeasureArguments& arguments) {
  if (arguments.force && arguments.output.empty() && arguments.html.empty()) {
    return std::unexpected(Failure{"--force replaces files; expected --output FILE or --html FILE with it"});
  }
  return checkTargets({{"--output", arguments.output}, {"--html", arguments.html}}, arguments.force);
}

/// Writes the pages, those of a part beside the files and not in their place; gives the exit code.
int writePages(Session& session, const MeasureArguments& arguments,
               const std::vector<Measurement>& measurements, const measure::Settings& settings,
               const std::string& command, bool whole) {
  int exitCode = whole ? kExitHeld : kExitInconclusive;
  if (measurements.empty()) return exitCode;
  const auto write = [&](std::string_view option, const std::string& path, const std::string& text) {
    const std::string file = whole ? path : partialOf(path);
    if (file.empty()) return;
    if (auto written = writeTarget({option, file}, text, !whole || arguments.force); !written) {
      exitCode = reportUnwritten(session.out, written.error(), exitCode);
    } else {
      session.out.say(fmt::format("written     {}", file));
      if (whole) removePartial(file);
    }
  };
  write("--output", arguments.output, markdownOf(measurements, settings, command));
  write("--html", arguments.html, htmlOf(measurements, settings, command));
  return exitCode;
}

Result measureAll(Session& session, const MeasureArguments& arguments) {
  auto settings = measureSettings(arguments);
  if (!settings) return std::unexpected(settings.error());
  settings->allocations = session.allocations;
  const auto experiments = chosenExperiments(arguments.what);
  if (!experiments) return std::unexpected(experiments.error());
  if (auto fit = checkMeasureFiles(arguments); !fit) return std::unexpected(fit.error());
  session.out.say("network     " + describe(*settings->network));
  session.out.say("disk        " + describe(*settings->disk));
  session.out.object({{"is", "profiles"},
                      {"network", describe(*settings->network)},
                      {"disk", describe(*settings->disk)},
                      {"nodes", settings->nodes},
                      {"seed", fmt::to_string(settings->seed)}});
  const InterruptGuard guard;
  std::vector<Measurement> measurements;
  std::vector<std::string> done;
  for (const Experiment* const experiment : *experiments) {
    if (InterruptGuard::requested()) break;
    session.out.progress(fmt::format("measuring {}", experiment->name));
    const std::vector<std::string> name{std::string(experiment->name)};
    try {
      measurements.push_back(measure::measure(*experiment, *settings));
    } catch (const std::runtime_error& broken) {
      return std::unexpected(
          Failure{fmt::format("{}: {}\n  {}", experiment->name, broken.what(), commandFor(name, *settings)),
                  kExitSafety});
    }
    done.push_back(name.front());
    printMeasurement(session.out, measurements.back());
    session.out.object(jsonOf(measurements.back()));
  }
  const bool whole = measurements.size() == experiments->size();
  if (!whole) session.out.say(fmt::format("interrupted after {}", counted(done.size(), "experiment")));
  const std::string command = commandFor(whole ? arguments.what : done, *settings);
  const int exitCode = writePages(session, arguments, measurements, *settings, command, whole);
  session.out.say("reproduce   " + command);
  return exitCode;
}

}  // namespace

Action declareMeasure(CLI::App& app) {
  auto arguments = std::make_shared<MeasureArguments>();
  app.description(
      "Measure what a lock costs, in simulated time and counts, by the delegation protocol and by "
      "Ricart-Agrawala. The same seed gives the same figures on every machine; docs/measurements.md is what "
      "this command writes.");
  app.add_option("--what", arguments->what,
                 fmt::format("what to measure, separated by commas (default: all): {}",
                             fmt::join(listedNames(measure::experiments()), ", ")))
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--nodes", arguments->nodes,
                 "numbers of participants, 3 to 200, separated by commas (default: 3,5,12,48)")
      ->delimiter(',')
      ->type_name("LIST");
  app.add_option(
         "--network", arguments->network,
         fmt::format("{} (default: same-region)", fmt::join(listedNames(measure::networkProfiles()), ", ")))
      ->type_name("PROFILE");
  app.add_option("--disk", arguments->disk,
                 fmt::format("{} (default: ssd)", fmt::join(listedNames(measure::diskProfiles()), ", ")))
      ->type_name("PROFILE");
  app.add_option("--seed", arguments->seed, "the seed of all draws (default: 1)")->type_name("SEED");
  app.add_option("--html", arguments->html, "write a page with plots, which needs no network, to FILE")
      ->type_name("FILE");
  app.add_option("--output", arguments->output, "write the tables as Markdown to FILE")->type_name("FILE");
  addForceOption(app, arguments->force, "--output and --html");
  app.footer(
      "Exit code: 0 when everything was measured, 1 when a promise was broken meanwhile, 3 when it was "
      "interrupted,\n64 for bad usage or a file that can not be written. After Ctrl-C the experiments that "
      "were "
      "done are in\nFILE.partial, and FILE is as it was.\n\n"
      "Example:\n  holdfast measure --what cost,one-down --nodes 3,5 --html measure.html");
  return [arguments](Session& session) { return measureAll(session, *arguments); };
}

}  // namespace holdfast::cli
