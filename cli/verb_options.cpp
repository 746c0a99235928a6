#include "cli/verb_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kMostJobs = 1'024;

unsigned hardwareJobs() { return std::max(1U, std::thread::hardware_concurrency()); }

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
  app.add_flag("--print-options", arguments.printOptions,
               "print every option on a line of its own instead of in groups");
}

std::expected<void, Failure> readSubject(const SubjectArguments& arguments, Subject& subject) {
  const auto rules = parseRules(arguments.without);
  if (!rules) return std::unexpected(badValue("--without", rules.error()));
  for (const std::string& rule : rulesOff(*rules)) subject.rules.switchOff(*protocol::ruleFromName(rule));
  if (subject.directed != nullptr && !arguments.settings.empty()) {
    return std::unexpected(
        Failure{fmt::format("--set: {} is a directed scenario, which has options of its own; expected --set "
                            "with the random workload ('{}') only",
                            subject.directed->name, kMixed)});
  }
  auto options = applySettings(subject.options, arguments.settings);
  if (!options) return std::unexpected(badValue("--set", options.error()));
  if (subject.plan) {
    if (auto fits = scenarios::validate(*subject.plan, *options); !fits) {
      return std::unexpected(badValue("--set", fits.error()));
    }
  }
  subject.options = std::move(*options);
  if (!subject.source.empty()) {
    for (const std::string& rule : rulesOff(*rules)) subject.source += " --without " + rule;
    for (const std::string& setting : arguments.settings) subject.source += " --set " + shellWord(setting);
  }
  return {};
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

Failure badValue(std::string_view option, const std::string& what) {
  return Failure{fmt::format("{}: {}", option, what)};
}

}  // namespace holdfast::cli
