#include "cli/verb_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

namespace holdfast::cli {
namespace {

unsigned hardwareJobs() { return std::max(1U, std::thread::hardware_concurrency()); }

/// The setting that --membership stands for; none when it was not given.
std::expected<std::vector<std::string>, std::string> membershipSetting(const std::string& kind) {
  if (kind.empty()) return std::vector<std::string>{};
  if (kind == "epoch" || kind == "fixed") return std::vector{"protocol.membership=" + kind};
  if (kind == "home-map") return std::vector<std::string>{"protocol.membership=homeMap"};
  return std::unexpected(
      fmt::format("'{}' is no kind of membership; expected epoch, home-map or fixed", kind));
}

}  // namespace

void addSubjectOptions(CLI::App& app, SubjectArguments& arguments) {
  app.add_option("--without", arguments.without,
                 "switch a safety rule off, by name or id (DG3_OneDelegate, DG-3); may be repeated; "
                 "'holdfast list rules' names them")
      ->type_name("RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option(
         "--set", arguments.settings,
         "set an option of the random workload (nodes=3, protocol.maxDelegation=8s); may be repeated; "
         "durations take ns, us, ms, s, min or h, and are ns without a unit; 'holdfast list options' "
         "names all with their defaults")
      ->type_name("OPTION=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--membership", arguments.membership,
                 "who says who the members are: epoch (they agree on it), home-map (an operator publishes "
                 "it) or fixed; short for --set protocol.membership=...")
      ->type_name("KIND");
}

void addPrintOptions(CLI::App& app, bool& printOptions) {
  app.add_flag("--print-options", printOptions,
               "print every option on a line of its own instead of in groups");
}

std::expected<void, Failure> readSubject(const SubjectArguments& arguments, Subject& subject) {
  const auto rules = parseRules(arguments.without);
  if (!rules) return std::unexpected(badValue("--without", rules.error()));
  if (subject.schedule &&
      !(arguments.without.empty() && arguments.settings.empty() && arguments.membership.empty())) {
    return std::unexpected(
        Failure{fmt::format("{} is a schedule of the explorer, which is possible with its own rules and "
                            "options; expected none with it",
                            subject.name())});
  }
  for (const std::string& rule : rulesOff(*rules)) subject.rules.switchOff(*protocol::ruleFromName(rule));
  if (subject.directed != nullptr && !(arguments.settings.empty() && arguments.membership.empty())) {
    return std::unexpected(Failure{
        fmt::format("{0}: {1} is a directed scenario, which has options of its own; expected {0} "
                    "with the random workload ('{2}') only",
                    arguments.settings.empty() ? "--membership" : "--set", subject.directed->name, kMixed)});
  }
  if (arguments.printOptions && !subject.isWorkload()) return std::unexpected(noOptionsToPrint(subject));
  constexpr std::string_view kLong = "protocol.membership=";
  const auto setsIt = [&](const std::string& setting) { return setting.starts_with(kLong); };
  if (!arguments.membership.empty() && std::ranges::any_of(arguments.settings, setsIt)) {
    return std::unexpected(Failure{fmt::format(
        "--membership and --set {}... are two words for one option; expected one of them", kLong)});
  }
  auto settings = membershipSetting(arguments.membership);
  if (!settings) return std::unexpected(badValue("--membership", settings.error()));
  settings->insert(settings->end(), arguments.settings.begin(), arguments.settings.end());
  auto options = applySettings(subject.options, *settings);
  if (!options) return std::unexpected(badValue("--set", options.error()));
  if (subject.plan) {
    if (auto fits = scenarios::validate(*subject.plan, *options); !fits) {
      return std::unexpected(badValue("--set", fits.error()));
    }
  }
  subject.options = std::move(*options);
  if (!subject.source.empty()) {
    for (const std::string& rule : rulesOff(*rules)) subject.source += " --without " + rule;
    for (const std::string& setting : *settings) subject.source += " --set " + shellWord(setting);
  }
  return {};
}

Failure noOptionsToPrint(const Subject& subject) {
  return Failure{
      fmt::format("--print-options: {} has options of its own; expected it with the random "
                  "workload ('{}') only",
                  subject.name(), kMixed)};
}

Failure noSeedOf(const Subject& schedule) {
  return badValue("--seed", fmt::format("{} is a schedule of the explorer, which draws nothing; expected no "
                                        "seed with it",
                                        schedule.name()));
}

void addJobsOption(CLI::App& app, std::string& jobs) {
  app.add_option("--jobs", jobs,
                 fmt::format("worker threads; they have no say in the result (default: one for each "
                             "processor, here {})",
                             hardwareJobs()))
      ->type_name("N");
}

std::expected<unsigned, Failure> readJobs(const std::string& jobs) {
  if (jobs.empty()) return hardwareJobs();
  const auto parsed = parseCount("the number of jobs", jobs, 1, kMostJobs);
  if (!parsed) return std::unexpected(badValue("--jobs", parsed.error()));
  return static_cast<unsigned>(*parsed);
}

std::expected<void, Failure> refuseIdle(const CLI::App& verb, const std::vector<IdleOptions>& all) {
  for (const IdleOptions& each : all) {
    if (!each.idle) continue;
    for (const std::string_view option : each.options) {
      if (verb.get_option(std::string(option))->count() == 0) continue;
      return std::unexpected(Failure{fmt::format("{} {}", option, each.why)});
    }
  }
  return {};
}

Failure badValue(std::string_view option, const std::string& what) {
  return Failure{fmt::format("{}: {}", option, what)};
}

}  // namespace holdfast::cli
