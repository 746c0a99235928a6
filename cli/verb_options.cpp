#include "cli/verb_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace holdfast::cli {

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
  subject.rules = *rules;
  if (subject.directed != nullptr && !arguments.settings.empty()) {
    return std::unexpected(
        Failure{fmt::format("--set: {} is a directed scenario, which has options of its own; expected --set "
                            "with the random workload ('{}') only",
                            subject.directed->name, kMixed)});
  }
  auto options = applySettings({}, arguments.settings);
  if (!options) return std::unexpected(badValue("--set", options.error()));
  subject.options = std::move(*options);
  return {};
}

Failure badValue(std::string_view option, const std::string& what) {
  return Failure{fmt::format("{}: {}", option, what)};
}

}  // namespace holdfast::cli
