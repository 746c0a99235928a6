// Observations as JSON, one object a line, derived from their descriptions.
//
// Contract: {"n":12,"t":1234567,"node":"A","is":"Admitted", ...fields in order of declaration..., "h":"16
// hex"}. `n` counts from 1, `t` is true time in ns, `h` is the hash chain's value after this observation.
// Writing then reading gives the same observation, for every value that an observation can hold.
// docs/trace-format.md lists kinds, fields and how each type is written. No input makes the reader crash or
// read without bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observations/observation.hpp"
#include "traces/names.hpp"

namespace holdfast::traces {

/// What is wrong with a line, where (column 1 is its first byte), and what would be right ("" if obvious).
struct JsonError {
  std::size_t column = 1;
  std::string what;
  std::string expected;
};

/// Writes observations as text. Keeps its own copy of the names, already quoted.
class ObservationWriter {
 public:
  explicit ObservationWriter(const Names& names);

  /// Appends observation number `n` as one line, without the line's end. `hash`: the chain's value after it.
  void append(std::string& out, std::uint64_t n, const obs::Stamped& stamped, std::uint64_t hash) const;

  struct Member {
    std::string name;
    std::string value;  ///< As JSON.
  };
  /// The members of the line one by one, without "n" and "h": "t", "node", "is", then each field.
  std::vector<Member> members(const obs::Stamped& stamped) const;

 private:
  std::vector<std::string> nodes_;
  std::vector<std::string> keys_;
};

/// An observation's line, read.
struct ObservationLine {
  std::uint64_t n = 0;
  obs::Stamped stamped;
  std::uint64_t hash = 0;
  std::size_t numberColumn = 1;  ///< Where the value of "n" is.
  std::size_t hashColumn = 1;    ///< Where the value of "h" is.
};

/// Reads observations from text. Keeps its own copy of the names.
class ObservationReader {
 public:
  explicit ObservationReader(const Names& names);

  /// Reads one line (without its end). Members may come in any order; each must be there exactly once.
  std::expected<ObservationLine, JsonError> parse(std::string_view line) const;

 private:
  std::vector<std::pair<std::string, std::uint32_t>> nodes_;  // sorted by name
  std::vector<std::pair<std::string, std::uint32_t>> keys_;   // sorted by name
};

/// `text` as a JSON string with its quotes. Bytes that are not UTF-8 are passed on as they are.
std::string quoted(std::string_view text);

/// A hash as traces write it: 16 lower-case hexadecimal digits.
std::string hexHash(std::uint64_t hash);

/// The reverse of hexHash; false and no change when `text` is not 16 such digits.
bool hashFromHex(std::string_view text, std::uint64_t& hash);

}  // namespace holdfast::traces
