// A cursor over one line of JSON that knows where it is.
//
// Contract: it accepts exactly the grammar of RFC 8259 (nesting bounded by kMaxJsonDepth, and the bytes of
// strings not checked to be UTF-8), never reads behind its text, and keeps the first error with its column.
// The general JSON library does not tell where a valid value of a wrong type stands; errors in traces have
// to.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "traces/json.hpp"

namespace holdfast::traces {

/// How deep arrays and objects may be nested in a line.
inline constexpr int kMaxJsonDepth = 64;

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  std::string_view text() const { return text_; }
  bool atEnd() const { return at_ >= text_.size(); }
  /// The next byte; 0 at the end of the text.
  char peek() const { return atEnd() ? '\0' : text_[at_]; }

  void skipSpace();
  /// Skips white space and then `c`; false, and no error, if something else stands there.
  bool take(char c);
  /// Checks and skips one value of any type.
  bool skipValue(int depth = 0);
  /// Reads a string; its escapes are resolved.
  bool readString(std::string& out);
  /// Reads a number as text. `integral`: it has neither fraction nor exponent.
  bool readNumber(std::string_view& out, bool& integral);

  /// Keeps an error at byte `at`, unless there is one already. Always false.
  bool fail(std::size_t at, std::string what, std::string expected = {});
  const JsonError& error() const { return error_; }

  /// What stands at the cursor, for messages: "a string", "end of line", "byte 0x00" ...
  std::string found() const;

 private:
  bool skipString();
  void skipPlain();
  bool skipMembers(char close, int depth);
  bool readEscape(std::string& out);
  bool readHex4(std::size_t from, unsigned& out) const;

  std::string_view text_;
  std::size_t at_;
  JsonError error_;
  bool failed_ = false;
};

/// One member of an object: its name, and where name and value stand in the line (in bytes, from 0).
struct JsonMember {
  std::string name;
  std::size_t nameAt = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Splits a line that is one JSON object into its members. Everything in the line is checked; two members of
/// one name are an error.
std::expected<std::vector<JsonMember>, JsonError> splitObject(std::string_view line);

/// `text` in quotes for a message: shortened, and bytes that are not printable ASCII shown as \xNN.
std::string shown(std::string_view text);

}  // namespace holdfast::traces
