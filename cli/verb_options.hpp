// The options that several verbs share, with one wording each.
#pragma once

#include <string>
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

/// Adds --without, --set, --membership and --print-options. `arguments` must outlive `app`.
void addSubjectOptions(CLI::App& app, SubjectArguments& arguments);

/// Reads them into `subject`, whose other members are set already: rules and options change what it has.
std::expected<void, Failure> readSubject(const SubjectArguments& arguments, Subject& subject);

/// Adds --jobs. `jobs` must outlive `app`.
void addJobsOption(CLI::App& app, std::string& jobs);

/// How many threads are meant; one for each processor if `jobs` is empty.
std::expected<unsigned, Failure> readJobs(const std::string& jobs);

/// A failure of an option's value: "--seed: 'x' is no seed; expected ...".
Failure badValue(std::string_view option, const std::string& what);

}  // namespace holdfast::cli
