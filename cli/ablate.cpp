// holdfast ablate: each rule switched off, until a promise breaks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>

#include "cli/catalogue.hpp"
#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/rule_page.hpp"
#include "cli/target_file.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"

namespace holdfast::cli {
namespace {

struct AblateArguments {
  std::vector<std::string> rules;
  SearchArguments search;
  std::string output;
  bool force = false;
};

constexpr QuickBounds kQuickAblation{40'000, 100};

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
  const auto search = readSearch(arguments.search, kQuickAblation);
  if (!search) return std::unexpected(search.error());
  request.bounds = search->bounds;
  request.command += search->options;
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

std::string pageName(protocol::Rule rule) { return fmt::format("{}.md", protocol::nameOf(rule)); }

/// Makes the folder for the pages, before anything is searched.
std::expected<void, Failure> makeFolder(const AblateArguments& arguments,
                                        const std::vector<protocol::Rule>& rules) {
  const std::filesystem::path folder = arguments.output;
  if (folder.empty()) {
    if (!arguments.force) return {};
    return std::unexpected(Failure{"--force replaces pages; expected --output FOLDER with it"});
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return std::unexpected(Failure{
        fmt::format("--output: cannot create the folder '{}': {}", folder.string(), error.message())});
  }
  std::set<std::filesystem::path> pages;
  for (const protocol::Rule rule : rules) pages.insert(folder / pageName(rule));
  if (pages.size() == protocol::kRuleCount) pages.insert(folder / "README.md");
  std::vector<Target> targets;
  for (const std::filesystem::path& page : pages) targets.push_back({"--output", page});
  return checkTargets(targets, arguments.force);
}

Result runAblate(Session& session, const AblateArguments& arguments) {
  const auto request = requestOf(arguments);
  if (!request) return std::unexpected(request.error());
  const std::string& folder = arguments.output;
  if (auto made = makeFolder(arguments, request->rules); !made) return std::unexpected(made.error());
  const InterruptGuard guard;
  std::vector<Ablation> ablations;
  Json unproven = Json::array();
  const auto write = [&](const std::string& page, const std::string& text) {
    return writeTarget({"--output", std::filesystem::path(folder) / page}, text, true);
  };
  const auto search = [&](std::size_t entry, const ablation::Bounds& bounds, const auto& show) {
    return ablate(request->rules[entry], bounds, show);
  };
  const auto take = [&](Ablation one) -> std::expected<void, Failure> {
    report(session, one);
    if (one.shown() == nullptr) unproven.push_back(protocol::nameOf(one.rule));
    ablations.push_back(std::move(one));
    if (folder.empty()) return {};
    const Ablation& last = ablations.back();
    return write(pageName(last.rule), rulePage(last));
  };
  auto searched = searchEach(session, "ablate", request->rules.size(), request->bounds, search, take);
  if (!searched) return std::unexpected(searched.error());
  const bool whole = ablations.size() == request->rules.size();
  if (!whole) session.out.say(fmt::format("interrupted after {}", counted(ablations.size(), "rule")));
  if (!folder.empty()) {
    if (ablations.size() == protocol::kRuleCount) {
      const std::string table = rulesTable(ablations, request->command + " --output docs/rules --force");
      if (auto written = write("README.md", table); !written) {
        return std::unexpected(written.error());
      }
    }
    session.out.say("written     " + folder);
  }
  const int exitCode = unproven.empty() && whole ? kExitHeld : kExitInconclusive;
  session.out.say(fmt::format("{}: a promise breaks without {} of them, {} unproven",
                              counted(ablations.size(), "rule"), ablations.size() - unproven.size(),
                              unproven.size()));
  session.out.object({{"is", "ablations"},
                      {"rules", ablations.size()},
                      {"unproven", std::move(unproven)},
                      {"partial", !whole},
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
  addSearchOptions(app, arguments->search, kQuickAblation);
  app.add_option(
         "--output", arguments->output,
         "write a page a rule to this folder, each as soon as its turn has come, and once all rules are done "
         "README.md")
      ->type_name("FOLDER");
  addForceOption(app, arguments->force, "--output");
  app.footer(
      "Exit code: 0 a promise breaks without each of the rules, 3 for some nothing was found or they were "
      "not\nreached, 64 bad usage or a file that can not be written. After Ctrl-C the rules that were done "
      "are told, and their pages stay.\n\n"
      "Example:\n  holdfast ablate DG-3 --quick --output rules");
  return [arguments](Session& session) { return runAblate(session, *arguments); };
}

}  // namespace holdfast::cli
