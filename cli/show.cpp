// holdfast show: a run as a picture, in the form that is asked for.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "cli/run_report.hpp"
#include "cli/study.hpp"
#include "cli/suggest.hpp"
#include "cli/target_file.hpp"
#include "cli/verb.hpp"
#include "pictures/diagrams.hpp"
#include "pictures/space_time.hpp"

namespace holdfast::cli {
namespace {

/// A form of picture: its option, what it is, and whether it shows the whole run unless told otherwise.
struct Form {
  std::string_view option;
  std::string_view about;
  bool whole;
  std::string (*draw)(const pictures::Scene&);
  constexpr std::string_view name() const { return option.substr(2); }
};

std::string drawText(const pictures::Scene& scene) {
  return fmt::format("{}\n", fmt::join(pictures::textTimeline(scene), "\n"));
}

constexpr std::array<Form, 7> kForms = {{
    {"--text", "a timeline as text", false, drawText},
    {"--svg", "a space-time diagram as SVG", false, pictures::svg},
    {"--html", "a page with the space-time diagram, filters and details", true, pictures::page},
    {"--mermaid", "a Mermaid sequence diagram", false, pictures::mermaid},
    {"--dot", "the happens-before graph for Graphviz", false, pictures::graphviz},
    {"--perfetto", "a trace-event file for Perfetto and Chrome", true, pictures::chromeTrace},
    {"--shiviz", "a log for ShiViz", true, pictures::shiviz},
}};

struct ShowArguments {
  StudyArguments study;
  std::array<std::string, kForms.size()> files;
  std::string from;
  std::string to;
  std::string key;
  std::string finding;
  std::string events = "5000";
  bool slice = false;
  bool whole = false;
  bool force = false;
};

std::expected<pictures::SceneOptions, Failure> sceneOptions(const ShowArguments& arguments,
                                                            const Study& study) {
  pictures::SceneOptions options;
  const auto instant = [](std::string_view option, const std::string& text,
                          std::optional<obs::TrueInstant>& into) -> std::expected<void, Failure> {
    if (text.empty() || text == "0") {
      if (!text.empty()) into = obs::TrueInstant{};
      return {};
    }
    const auto ns = parseRealTime(text);
    if (!ns) return std::unexpected(badValue(option, ns.error()));
    into = obs::TrueInstant{static_cast<std::int64_t>(*ns)};
    return {};
  };
  if (auto read = instant("--from", arguments.from, options.from); !read)
    return std::unexpected(read.error());
  if (auto read = instant("--to", arguments.to, options.to); !read) return std::unexpected(read.error());
  const auto most = parseCount("--events", arguments.events, 1, 1'000'000);
  if (!most) return std::unexpected(Failure{most.error()});
  options.most = *most;
  if (arguments.key.empty()) return options;
  const auto found = std::ranges::find(study.names.keys, arguments.key);
  if (found == study.names.keys.end()) {
    return std::unexpected(
        Failure{fmt::format("--key: the run has no key '{}'{}; it has {}", arguments.key,
                            didYouMean(arguments.key, study.names.keys), fmt::join(study.names.keys, ", "))});
  }
  options.key = obs::KeyId{static_cast<std::uint32_t>(found - study.names.keys.begin())};
  return options;
}

/// Writes a picture; "-" is standard output.
std::expected<void, Failure> write(Session& session, std::string_view option, const std::string& file,
                                   bool replace, const std::string& picture) {
  if (file == "-") {
    session.out.print(
        std::string_view(picture).substr(0, picture.size() - (picture.ends_with('\n') ? 1 : 0)));
    return {};
  }
  if (auto written = writeTarget({option, file}, picture, replace); !written) {
    return std::unexpected(written.error());
  }
  return {};
}

std::expected<std::optional<explain::Incident>, Failure> incidentToShow(const ShowArguments& arguments,
                                                                        const Study& study) {
  std::vector<explain::Incident> incidents = incidentsOf(study);
  if (arguments.finding.empty()) {
    // A limitation that was reached is no news; only a violation is shown without being asked for.
    if (incidents.empty() || !incidents.front().violation) return std::nullopt;
    return std::move(incidents.front());
  }
  if (incidents.empty()) return std::unexpected(Failure{"--finding: nothing was found in this run"});
  const auto number = parseCount("--finding", arguments.finding, 1, incidents.size());
  if (!number) return std::unexpected(Failure{number.error()});
  return std::move(incidents[*number - 1]);
}

std::expected<void, Failure> checkShowOptions(const Session& session, const ShowArguments& arguments) {
  if (arguments.slice && arguments.whole) {
    return std::unexpected(Failure{"--slice and --whole exclude each other; expected one of them"});
  }
  if (std::ranges::count(arguments.files, "-") > 1 ||
      (session.out.settings().json && std::ranges::count(arguments.files, "-") > 0)) {
    return std::unexpected(
        Failure{"'-' is standard output, which has room for one picture alone, or for --json; "
                "expected a file for each of the others"});
  }
  std::vector<Target> targets;
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    const std::string& file = arguments.files[i];
    if (!file.empty() && file != "-") targets.push_back({kForms[i].option, file});
  }
  if (arguments.force && targets.empty()) {
    return std::unexpected(
        Failure{"--force replaces files that exist; expected --svg FILE or another with it"});
  }
  return checkTargets(targets, arguments.force);
}

Result showRun(Session& session, const ShowArguments& arguments) {
  if (auto fit = checkShowOptions(session, arguments); !fit) return std::unexpected(fit.error());
  const auto studied = study(session, "show", arguments.study);
  if (!studied) return std::unexpected(studied.error());
  auto options = sceneOptions(arguments, *studied);
  if (!options) return std::unexpected(options.error());
  const auto incident = incidentToShow(arguments, *studied);
  if (!incident) return std::unexpected(incident.error());

  const explain::HappensBefore order(studied->run);
  const explain::Clocks clocks(studied->run);
  const std::vector<explain::Span> spans = explain::spansOf(studied->run, clocks);
  explain::Slice slice;
  pictures::Source source{
      {studied->run, order, clocks, spans, studied->names}, studied->title, nullptr, nullptr};
  if (*incident) {
    slice = explain::sliceOf(studied->run, order, **incident);
    source.incident = &**incident;
    source.slice = &slice;
  } else if (arguments.slice) {
    return std::unexpected(Failure{
        "--slice: nothing went wrong in this run; expected --finding N with a limitation that was reached"});
  }

  const bool chosen =
      std::ranges::any_of(arguments.files, [](const std::string& file) { return !file.empty(); });
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    std::string file = arguments.files[i];
    if (!chosen && i == 0) file = "-";
    if (file.empty()) continue;
    const bool narrowed = options->from || options->to || options->key;
    options->sliceOnly = arguments.slice || (!kForms[i].whole && !arguments.whole && !narrowed);
    const pictures::Scene scene = pictures::sceneOf(source, *options);
    if (scene.events.empty()) {
      return std::unexpected(Failure{"no event is left to show; expected a wider --from, --to or --key"});
    }
    if (auto written = write(session, kForms[i].option, file, arguments.force, kForms[i].draw(scene));
        !written) {
      return std::unexpected(written.error());
    }
    if (file != "-") session.out.say(fmt::format("{:<12}{}: {}", kForms[i].name(), file, scene.subtitle));
    session.out.object({{"is", "picture"},
                        {"form", kForms[i].name()},
                        {"file", file},
                        {"run", studied->title},
                        {"events", scene.events.size()},
                        {"of", studied->run.size()},
                        {"incident", *incident ? Json((*incident)->title) : Json()}});
  }
  if (*incident) {
    session.out.say(
        fmt::format("{:<12}{}", (*incident)->violation ? "violation" : "explained", (*incident)->title));
  }
  if (!arguments.files[kForms.size() - 1].empty()) {
    session.out.say(fmt::format("note        ShiViz takes the file by upload; what is pasted it parses by {}",
                                pictures::kShivizParser));
  }
  return kExitHeld;
}

}  // namespace

Action declareShow(CLI::App& app) {
  auto arguments = std::make_shared<ShowArguments>();
  app.description(
      "Draw a run. Of a run with a violation, text, SVG, Mermaid and Graphviz show what led to it, and the "
      "others the whole run. Without a form it prints a timeline as text. FILE '-' is standard output.");
  addStudyOptions(app, arguments->study);
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    app.add_option(std::string(kForms[i].option), arguments->files[i],
                   fmt::format("write {}", kForms[i].about))
        ->type_name("FILE");
  }
  app.add_flag("--slice", arguments->slice, "show only what led to the violation");
  app.add_flag("--whole", arguments->whole, "show the whole run");
  app.add_option("--from", arguments->from, "show nothing before this true time (10s, 12500ms)")
      ->type_name("TIME");
  app.add_option("--to", arguments->to, "show nothing after this true time")->type_name("TIME");
  app.add_option("--key", arguments->key, "show only this key, and faults")->type_name("KEY");
  app.add_option("--finding", arguments->finding,
                 "show the N-th finding, a limitation perhaps, instead of the first violation")
      ->type_name("N");
  app.add_option("--events", arguments->events, "draw at most N events, those around the violation")
      ->type_name("N")
      ->capture_default_str();
  addForceOption(app, arguments->force, "these");
  app.footer(
      "Exit code: 0 when the pictures are there, 64 bad usage or a file that can not be written, 70 internal "
      "error.\n\n"
      "Example:\n  holdfast show S-31 --without FR2_InheritDependencies --html s31.html --svg s31.svg");
  return [arguments](Session& session) { return showRun(session, *arguments); };
}

}  // namespace holdfast::cli
