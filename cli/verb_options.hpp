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
  bool printOptions = false;
};

/// Adds --without, --set and --print-options. `arguments` must outlive `app`.
void addSubjectOptions(CLI::App& app, SubjectArguments& arguments);

/// Reads them into `subject`, whose `directed` is set already.
std::expected<void, Failure> readSubject(const SubjectArguments& arguments, Subject& subject);

/// A failure of an option's value: "--seed: 'x' is no seed; expected ...".
Failure badValue(std::string_view option, const std::string& what);

}  // namespace holdfast::cli
