// A trace as something to run again: what its header and plan describe, with the place of everything wrong.
//
// Contract: opening reads the trace up to its plan and checks that much; subjectOf() turns header and plan
// into what executes. Failures name file, line and column.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "cli/output.hpp"
#include "cli/subject.hpp"
#include "traces/trace.hpp"

namespace holdfast::cli {

/// A trace that is read up to its plan, and the places of what it says.
class Recording {
 public:
  static constexpr std::uint64_t kHeaderLine = 1;
  static constexpr std::uint64_t kPlanLine = 2;

  static std::expected<Recording, Failure> open(const std::string& path);

  traces::TraceReader& reader() { return reader_; }
  const traces::Header& header() const { return reader_.header(); }
  const nlohmann::json& plan() const { return reader_.plan(); }

  /// A failure about what `place` names in the given line: the path of a member, from the line's root.
  Failure wrong(std::uint64_t line, std::string_view place, const std::string& what) const;

 private:
  Recording(std::string path, traces::TraceReader reader)
      : path_(std::move(path)), reader_(std::move(reader)) {}
  std::string textOf(std::uint64_t line) const;

  std::string path_;
  traces::TraceReader reader_;
};

/// Why a file could not be read as a trace, with what to do if it is a plan file.
Failure unreadable(const std::string& path, const traces::TraceError& error);

/// What the trace is a run of. The random workload gets the trace's plan, whatever plan its seed would give.
std::expected<Subject, Failure> subjectOf(const Recording& recording);

}  // namespace holdfast::cli
