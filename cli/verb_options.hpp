// The options that several verbs share, with one wording each.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.hpp"
#include "cli/subject.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What shapes the random workload, as typed.
struct SubjectArguments {
  std::vector<std::string> without;
  std::vector<std::string> settings;
  std::string membership;
  bool printOptions = false;
};

/// Adds --without, --set and --membership. `arguments` must outlive `app`.
void addSubjectOptions(CLI::App& app, SubjectArguments& arguments);

/// Adds --print-options. `printOptions` must outlive `app`.
void addPrintOptions(CLI::App& app, bool& printOptions);

/// Reads them into `subject`, whose other members are set already: rules and options change what it has.
std::expected<void, Failure> readSubject(const SubjectArguments& arguments, Subject& subject);

/// The failure of --print-options with what has none to be printed.
Failure noOptionsToPrint(const Subject& subject);

/// The failure of --seed with a schedule of the explorer.
Failure noSeedOf(const Subject& schedule);

/// Adds --jobs. `jobs` must outlive `app`.
void addJobsOption(CLI::App& app, std::string& jobs);

/// How many threads are meant; one for each processor if `jobs` is empty.
std::expected<unsigned, Failure> readJobs(const std::string& jobs);

/// Options that have no say as long as `idle` holds, and when they would have one: "...; expected ...".
struct IdleOptions {
  std::vector<std::string_view> options;
  bool idle = false;
  std::string_view why;
};

/// Refuses the first option of `verb` that was given although it has no say: to pass it over would let one
/// believe that it has been heeded.
std::expected<void, Failure> refuseIdle(const CLI::App& verb, const std::vector<IdleOptions>& all);

/// Why --out has no say beside --no-save.
inline constexpr std::string_view kNothingIsSaved =
    "names where a failure is saved, and --no-save saves none; expected one of them";

/// A failure of an option's value: "--seed: 'x' is no seed; expected ...".
Failure badValue(std::string_view option, const std::string& what);

}  // namespace holdfast::cli
