// Where the command writes: text for people on standard error, objects for machines on standard output.
//
// Contract: with --json every line of standard output is one JSON object whose first member, "is", tells what
// it is (docs/json-output.md lists them); nothing else goes there. Without it standard output holds only what
// was asked for by name, such as a list. Text for people is withheld by --quiet, errors are not. The progress
// line exists only on a terminal and never stays behind. Nothing that a file or the command line holds
// commands the terminal.
#pragma once

#include <chrono>
#include <expected>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "cli/exit_code.hpp"

namespace holdfast::cli {

/// Members keep the order in which they were added.
using Json = nlohmann::ordered_json;

/// Why the command ends without a verdict: what was wrong, where, and what would be right.
struct Failure {
  std::string text;
  int exitCode = kExitUsage;
};

/// The exit code of what was done.
using Result = std::expected<int, Failure>;

class Output {
 public:
  struct Settings {
    bool json = false;
    bool quiet = false;
    bool terminal = false;  ///< Standard error is a terminal.
  };

  /// Both streams must outlive the output.
  Output(std::ostream& standardOutput, std::ostream& standardError, Settings settings);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  void configure(Settings settings) { settings_ = settings; }
  const Settings& settings() const { return settings_; }

  /// A line for people.
  void say(std::string_view line);
  /// A line of what was asked for, on standard output; nothing with --json.
  void print(std::string_view line);
  /// An object for machines; nothing without --json.
  void object(const Json& object);
  /// Reports a failure to people and, with --json, to machines.
  void fail(const Failure& failure);

  /// Shows `line` in place of the progress line before, at most about five times a second.
  void progress(std::string_view line);
  /// Whether progress() would show a line now.
  bool wantsProgress() const;

  /// Whether everything written to standard output has arrived there.
  std::expected<void, Failure> flush();

 private:
  using Clock = std::chrono::steady_clock;
  void clearProgress();
  void noteFailedWrite();

  std::ostream& standardOutput_;
  std::ostream& standardError_;
  Settings settings_;
  bool progressShown_ = false;
  int failedWrite_ = 0;  ///< The system's reason for the first write to standard output that failed.
  Clock::time_point nextProgress_;
};

}  // namespace holdfast::cli
