#include "cli/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <ostream>
#include <utility>

#include "cli/output.hpp"
#include "cli/suggest.hpp"
#include "cli/target_file.hpp"
#include "cli/verb.hpp"
#include "cli/version.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view kAbout =
    "Deterministic simulation and model checking of cluster record-lock protocols: seeded fault schedules "
    "run "
    "against the protocol with every promise checked.";

constexpr std::string_view kFooter =
    "Text for people goes to standard error; --json puts line-delimited JSON on standard output\n"
    "(docs/json-output.md).\n\n"
    "Example:\n  holdfast sweep --seeds 100\n\n"
    "'holdfast <verb> --help' tells all about a verb.";

std::vector<std::string> verbNames() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  return names;
}

/// The command line, and which verb does what.
struct CommandLine {
  CLI::App app{std::string(kAbout), "holdfast"};
  std::vector<std::pair<CLI::App*, Action>> actions;
  Output::Settings settings;

  CommandLine() {
    app.footer(std::string(kFooter));
    app.set_version_flag("--version", toolLine(), "print version, commit, compiler and kind of build");
    app.require_subcommand(0, 1);
    app.allow_extras();
    app.get_formatter()->column_width(32);
    for (const Verb& verb : verbs()) {
      CLI::App* const sub = app.add_subcommand(std::string(verb.name));
      actions.emplace_back(sub, verb.declare(*sub));
      sub->allow_extras();
      sub->add_flag("--json", settings.json, "write line-delimited JSON to standard output");
      sub->add_flag("-q,--quiet", settings.quiet, "write nothing for people but errors");
    }
  }

  const std::pair<CLI::App*, Action>* chosen() const {
    const auto found = std::ranges::find_if(actions, [](const auto& each) { return each.first->parsed(); });
    return found == actions.end() ? nullptr : &*found;
  }
};

/// The options that an app knows, as they are typed.
std::vector<std::string> optionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string expectedVerbs() { return fmt::format("expected one of {}", fmt::join(verbNames(), ", ")); }

/// The failure of a word in the place of a verb.
Failure noVerb(const std::string& word) {
  return Failure{fmt::format("there is no {} '{}'{}; {}", word.starts_with('-') ? "option" : "verb", word,
                             didYouMean(word, verbNames()), expectedVerbs())};
}

/// What is wrong with the first word that no option or place took.
std::expected<void, Failure> checkExtras(const CommandLine& line) {
  const auto* const chosen = line.chosen();
  if (chosen == nullptr) {
    const std::vector<std::string> extras = line.app.remaining();
    if (extras.empty()) return std::unexpected(Failure{"a verb is missing; " + expectedVerbs()});
    return std::unexpected(noVerb(extras.front()));
  }
  std::vector<std::string> extras = chosen->first->remaining();
  for (std::string& extra : line.app.remaining()) extras.push_back(std::move(extra));
  if (extras.empty()) return {};
  const std::string name = chosen->first->get_name();
  const std::string& extra = extras.front();
  if (extra.starts_with('-') && extra.size() > 1) {
    const std::string option = extra.substr(0, extra.find('='));
    return std::unexpected(
        Failure{fmt::format("{}: there is no option '{}'{} ('holdfast {} --help' names them all)", name,
                            option, didYouMean(option, optionNames(*chosen->first)), name)});
  }
  return std::unexpected(Failure{fmt::format("{}: '{}' is one word too many", name, extra)});
}

/// An empty value is mostly a variable of the shell that is not set; it must not pass for an option not
/// given.
std::expected<void, Failure> checkValues(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    if (std::ranges::none_of(option->results(), &std::string::empty)) continue;
    return std::unexpected(
        Failure{fmt::format("{}: the value of {} is empty; expected one, or the option left out",
                            verb.get_name(), option->get_name())});
  }
  return {};
}

Result parseAndRun(CommandLine& line, const std::vector<std::string>& arguments, Session& session) {
  Output& out = session.out;
  // CLI11 takes the words in reverse and without the command's name.
  std::vector<std::string> words(arguments.rbegin(), arguments.rend());
  if (!words.empty()) words.pop_back();
  try {
    line.app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const auto* const chosen = line.chosen();
    const std::vector<std::string> extras = line.app.remaining();
    if (chosen == nullptr && !extras.empty()) return std::unexpected(noVerb(extras.front()));
    out.configure({});
    out.print(chosen != nullptr ? chosen->first->help("holdfast") : line.app.help());
    return kExitHeld;
  } catch (const CLI::CallForVersion& version) {
    out.configure({});
    out.print(version.what());
    return kExitHeld;
  } catch (const CLI::ParseError& error) {
    const auto* const chosen = line.chosen();
    return std::unexpected(Failure{
        fmt::format("{}{}", chosen != nullptr ? chosen->first->get_name() + ": " : "", error.what())});
  }
  if (auto known = checkExtras(line); !known) return std::unexpected(known.error());
  if (auto given = checkValues(*line.chosen()->first); !given) return std::unexpected(given.error());
  Output::Settings settings = line.settings;
  settings.terminal = out.settings().terminal;
  out.configure(settings);
  return line.chosen()->second(session);
}

int finish(Output& out, const Result& result) {
  if (!result) out.fail(result.error());
  if (auto written = out.flush(); !written) {
    if (result) return reportUnwritten(out, written.error(), *result);
    return result.error().exitCode;
  }
  return result ? *result : result.error().exitCode;
}

}  // namespace

int runCommand(const std::vector<std::string>& arguments, const Streams& streams,
               std::uint64_t (*allocations)()) {
  // Until the command line is understood, a wish for JSON is one wherever it stands.
  const bool json = std::ranges::find(arguments, "--json") != arguments.end();
  Output out(streams.standardOutput, streams.standardError, {json, false, streams.errorIsTerminal});
  try {
    const auto line = std::make_unique<CommandLine>();
    Session session{out, arguments.empty() ? "holdfast" : arguments.front(), allocations};
    return finish(out, parseAndRun(*line, arguments, session));
  } catch (const std::exception& error) {
    return finish(out,
                  std::unexpected(Failure{fmt::format("internal error: {}", error.what()), kExitInternal}));
  }
}

}  // namespace holdfast::cli
