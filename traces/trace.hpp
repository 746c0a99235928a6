// A trace: a run as a file of JSON lines, complete enough to be executed again and compared event by event.
//
// Contract: line 1 is the header, line 2 the plan, then an observation a line, and last the verdict with the
// number of events and the hash of them all. docs/trace-format.md is the full description. What TraceWriter
// writes TraceReader accepts and gives back unchanged; a trace that was cut, or whose observations were
// changed, moved or removed, is refused with the file, line and column of the first thing wrong.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observations/observation.hpp"
#include "traces/names.hpp"
#include "traces/whole_file.hpp"

namespace holdfast::traces {

/// The version of the format that is written, and the newest that is read.
inline constexpr std::uint64_t kTraceVersion = 1;

/// The version of this tool, e.g. "0.1.0".
std::string_view toolVersion();
/// The compiler that built this tool, e.g. "g++ 12.2.0" or "clang 19.1.7".
std::string_view compilerName();

/// Line 1: what was run, by what.
struct Header {
  std::string tool{toolVersion()};
  std::string compiler{compilerName()};
  std::string scenario;
  std::uint64_t seed = 0;
  nlohmann::json options = nlohmann::json::object();  ///< Must be an object.
  std::vector<std::string> rulesOff;                  ///< Names of the rules that were switched off.
  Names names;
  std::uint64_t optionHash = 0;  ///< Set by reading; writing computes it.
  std::uint64_t vocabulary = 0;  ///< Set by reading; writing computes it.
};

/// A number that two headers share if they agree in scenario, options and the set of switched-off rules. The
/// seed has no part in it. Every trace carries it, and a reader refuses a header that does not fit its own.
std::uint64_t optionHashOf(const Header& header);

/// The last line: how the run ended.
struct Ending {
  nlohmann::json verdict = nlohmann::json::object();  ///< Must be an object.
  std::uint64_t events = 0;
  std::int64_t simulatedNs = 0;
  std::uint64_t hash = 0;
};

struct Trace {
  Header header;
  nlohmann::json plan;
  std::vector<obs::Stamped> observations;
  Ending ending;
};

/// What is wrong with a trace and where. `line` 0: with the file as a whole. Columns count bytes from 1.
struct TraceError {
  std::string file;
  std::uint64_t line = 0;
  std::uint64_t column = 0;
  std::string what;
  std::string expected;  ///< What would be right; "" when there is nothing to add.

  /// "file:line:column: what; expected ..."
  std::string text() const;
};

/// The most bytes that a line of a trace may have.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;
/// The most bytes that the name of a node or key may have.
inline constexpr std::size_t kMaxNameBytes = 1024;

/// Reads a trace from front to back in constant memory.
class TraceReader {
 public:
  /// Opens a file and reads its header and plan.
  static std::expected<TraceReader, TraceError> open(const std::filesystem::path& path);
  /// Reads header and plan from `input`, which must outlive the reader. `name` stands for it in errors.
  static std::expected<TraceReader, TraceError> from(std::istream& input, std::string name);

  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;
  ~TraceReader();

  const Header& header() const;
  const nlohmann::json& plan() const;

  /// Reads the next observation into `out`. False: there is none, and the last line is there and agrees with
  /// everything before it. After false or an error it must not be called again.
  std::expected<bool, TraceError> next(obs::Stamped& out);

  /// The last line; valid once next() returned false.
  const Ending& ending() const;

 private:
  struct State;
  explicit TraceReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Reads a whole trace into memory.
std::expected<Trace, TraceError> readTrace(const std::filesystem::path& path);
std::expected<Trace, TraceError> readTrace(std::istream& input, std::string name);

/// Writes a trace while a run goes on.
///
/// To a file: the text goes to `path` + ".partial", which finish() renames, so that the final name never
/// holds half a trace; a device or a pipe gets the text itself. The first failure (disk full, say) is kept:
/// later observations are dropped and finish() returns it; the partial file stays for inspection.
class TraceWriter {
 public:
  /// Starts a trace file. With IfExists::refuse neither `path` nor its partial file may exist, and finish()
  /// does not replace a file that appeared in the meantime.
  static std::expected<TraceWriter, WriteError> create(const std::filesystem::path& path,
                                                       const Header& header, const nlohmann::json& plan,
                                                       IfExists ifExists = IfExists::refuse);
  /// Starts a trace on `output`, which must outlive the writer.
  static std::expected<TraceWriter, WriteError> to(std::ostream& output, const Header& header,
                                                   const nlohmann::json& plan);

  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  /// Without finish(): writes out what is buffered and leaves the partial file.
  ~TraceWriter();

  /// Writes one observation.
  void on(const obs::Stamped& stamped);

  /// The first failure so far, if any.
  const std::optional<WriteError>& failure() const;

  /// Observations written so far, and their hash.
  std::uint64_t events() const;
  std::uint64_t hash() const;

  /// Writes out what is buffered; the first failure so far, if any.
  std::expected<void, WriteError> flush();

  /// Writes the last line and puts the file under its final name. Nothing may be written afterwards.
  std::expected<void, WriteError> finish(const nlohmann::json& verdict, obs::TrueInstant end);

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::traces
