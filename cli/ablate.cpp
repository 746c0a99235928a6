// holdfast ablate: each rule switched off, until a promise breaks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_source.hpp"
#include "cli/rule_page.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"

namespace holdfast::cli {
namespace {

struct AblateArguments {
  std::vector<std::string> rules;
  std::string jobs;
  std::string states;
  std::string seeds;
  std::string output;
  bool quick = false;
};

constexpr std::uint64_t kQuickStates = 40'000;
constexpr std::uint64_t kQuickSeeds = 100;

struct AblateRequest {
  std::vector<protocol::Rule> rules;
  ablation::Bounds bounds;
  std::string command;  ///< That does the same.
};

std::expected<AblateRequest, Failure> requestOf(const AblateArguments& arguments) {
  AblateRequest request;
  request.command = "holdfast ablate";
  for (const std::string& text : arguments.rules) {
    const auto rule = parseRule(text);
    if (!rule) return std::unexpected(Failure{rule.error()});
    request.rules.push_back(*rule);
    request.command += fmt::format(" {}", protocol::nameOf(*rule));
  }
  if (request.rules.empty()) {
    for (std::size_t i = 0; i < protocol::kRuleCount; ++i) {
      request.rules.push_back(static_cast<protocol::Rule>(i));
    }
  }
  const auto jobs = readJobs(arguments.jobs);
  if (!jobs) return std::unexpected(jobs.error());
  request.bounds.jobs = *jobs;
  if (arguments.quick) {
    request.bounds.states = kQuickStates;
    request.bounds.seeds = kQuickSeeds;
    request.command += " --quick";
  }
  const auto count = [&](std::string_view name, const std::string& text,
                         std::uint64_t& into) -> std::expected<void, Failure> {
    if (text.empty()) return {};
    const auto value = parseCount(name, text, 1, 100'000'000);
    if (!value) return std::unexpected(badValue(fmt::format("--{}", name), value.error()));
    into = *value;
    request.command += fmt::format(" --{} {}", name, *value);
    return {};
  };
  if (auto read = count("states", arguments.states, request.bounds.states); !read)
    return std::unexpected(read.error());
  if (auto read = count("seeds", arguments.seeds, request.bounds.seeds); !read)
    return std::unexpected(read.error());
  return request;
}

Json ablationJson(const Ablation& a) {
  Json json{{"is", "ablation"},
            {"rule", protocol::nameOf(a.rule)},
            {"without", protocol::withoutRule(a.rule)},
            {"unproven", a.unproven}};
  const ablation::Breakage* const shown = a.shown();
  json["method"] = shown != nullptr ? ablation::nameOf(shown->method) : "";
  json["where"] = shown != nullptr ? shown->where : "";
  json["checker"] = shown != nullptr ? shown->checker : "";
  json["anomaly"] = shown != nullptr ? shown->anomaly : "";
  json["steps"] = a.steps;
  json["states"] = a.explored ? Json(a.explored->effort) : Json();
  json["story"] = a.told ? a.told->where : "";
  json["failedSeed"] = a.swept ? Json(fmt::to_string(a.swept->seed)) : Json();
  json["schedule"] = a.schedule;
  json["reproduce"] = a.reproduce;
  return json;
}

void report(Session& session, const Ablation& a) {
  const ablation::Breakage* const shown = a.shown();
  const std::string name(protocol::nameOf(a.rule));
  if (shown == nullptr) {
    session.out.print(fmt::format("{:<28} unproven: {}", name, a.unproven));
  } else {
    const std::string what = shown->checker.empty() ? "a caller waits for ever"
                                                    : fmt::format("{}: {}", shown->checker, shown->anomaly);
    std::string figures = counted(a.steps, "step");
    if (a.explored) figures += ", " + counted(a.explored->effort, "state");
    if (a.swept) figures += fmt::format(", seed {}", a.swept->seed);
    session.out.print(fmt::format("{:<28} {:<8} {:<36} {}; {}", name, ablation::nameOf(shown->method),
                                  shown->where, what, figures));
  }
  session.out.object(ablationJson(a));
}

/// Makes the folder for the pages, before anything is searched.
std::expected<void, Failure> makeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return std::unexpected(
        Failure{fmt::format("--output: cannot create the folder '{}': {}", folder, error.message())});
  }
  if (auto fits = checkWritable(std::filesystem::path(folder) / "README.md"); !fits) {
    return std::unexpected(badValue("--output", fits.error().text));
  }
  return {};
}

/// Writes the page of each rule, and the table if it is of all rules.
std::expected<void, Failure> writePages(const std::string& folder, const std::vector<Ablation>& ablations,
                                        const AblateRequest& request) {
  const std::filesystem::path root(folder);
  std::vector<std::pair<std::string, std::string>> files;
  for (const Ablation& a : ablations) {
    files.emplace_back(fmt::format("{}.md", protocol::nameOf(a.rule)), rulePage(a));
  }
  if (ablations.size() == protocol::kRuleCount) {
    files.emplace_back("README.md", rulesTable(ablations, request.command + " --output docs/rules"));
  }
  for (const auto& [name, text] : files) {
    if (auto written = writeNewFile((root / name).string(), text, true); !written) {
      return std::unexpected(badValue("--output", written.error().text));
    }
  }
  return {};
}

Result runAblate(Session& session, const AblateArguments& arguments) {
  auto request = requestOf(arguments);
  if (!request) return std::unexpected(request.error());
  if (!arguments.output.empty()) {
    if (auto made = makeFolder(arguments.output); !made) return std::unexpected(made.error());
  }
  const InterruptGuard guard;
  request->bounds.endsEarly = InterruptGuard::requested;
  std::vector<Ablation> ablations;
  Json unproven = Json::array();
  // What is done stays done, also if the rest is not waited for.
  for (const protocol::Rule rule : request->rules) {
    Ablation one = ablate(session, rule, request->bounds);
    if (InterruptGuard::requested()) {
      session.out.say(fmt::format("interrupted after {}", counted(ablations.size(), "rule")));
      break;
    }
    report(session, one);
    if (one.shown() == nullptr) unproven.push_back(protocol::nameOf(rule));
    ablations.push_back(std::move(one));
  }
  if (!arguments.output.empty()) {
    if (auto written = writePages(arguments.output, ablations, *request); !written) {
      return std::unexpected(written.error());
    }
    session.out.say("written     " + arguments.output);
  }
  const bool whole = ablations.size() == request->rules.size();
  const int exitCode = unproven.empty() && whole ? kExitHeld : kExitInconclusive;
  session.out.say(fmt::format("{}: a promise breaks without {} of them, {} unproven",
                              counted(ablations.size(), "rule"), ablations.size() - unproven.size(),
                              unproven.size()));
  session.out.object({{"is", "ablations"},
                      {"rules", ablations.size()},
                      {"unproven", std::move(unproven)},
                      {"exitCode", exitCode}});
  return exitCode;
}

}  // namespace

Action declareAblate(CLI::App& app) {
  auto arguments = std::make_shared<AblateArguments>();
  app.description(
      "Switch each rule off and search until a promise breaks: every schedule of the explorer's "
      "quicker configurations, the stories about the rule, and the random workload. Says which schedule "
      "shows "
      "what the rule buys, or that nothing was found.");
  app.add_option("rules", arguments->rules, "names or ids of rules; all without any")->type_name("RULE");
  app.add_flag(
      "--quick", arguments->quick,
      fmt::format("explore {} states a configuration instead of {}, and sweep {} seeds instead of {}",
                  kQuickStates, ablation::Bounds{}.states, kQuickSeeds, ablation::Bounds{}.seeds));
  app.add_option("--states", arguments->states, "explore so many states of each configuration")
      ->type_name("COUNT");
  app.add_option("--seeds", arguments->seeds, "sweep so many seeds")->type_name("N");
  addJobsOption(app, arguments->jobs);
  app.add_option(
         "--output", arguments->output,
         "write a page a rule to this folder, and with all rules README.md; what is there is replaced")
      ->type_name("FOLDER");
  app.footer(
      "Exit code: 0 a promise breaks without each of the rules, 3 for some nothing was found, 64 bad "
      "usage.\n\n"
      "Example:\n  holdfast ablate DG-3 --quick --output rules");
  return [arguments](Session& session) { return runAblate(session, *arguments); };
}

}  // namespace holdfast::cli
