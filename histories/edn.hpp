// A reader of EDN, the notation in which Jepsen keeps its histories.
//
// Contract: reads nil, booleans, numbers, strings, characters, keywords, symbols (as keywords without a
// colon), lists, vectors, sets (as lists) and maps; skips comments, discarded forms (#_) and tags. Nesting is
// bounded by kMaxDepth. An error names line and column, both from 1; nothing is read behind the text.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "histories/value.hpp"

namespace holdfast::histories {

/// What is wrong with a text, and where; lines and columns count from 1.
struct ReadError {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string text;
};

class EdnReader {
 public:
  static constexpr int kMaxDepth = 64;

  /// `firstLine`: the number of the text's first line in its file.
  explicit EdnReader(std::string_view text, std::uint32_t firstLine = 1) : text_(text), line_(firstLine) {}

  /// Whether anything but blanks and comments is left.
  bool atEnd();
  std::expected<Value, ReadError> next() { return read(0); }

 private:
  std::expected<Value, ReadError> read(int depth);
  std::expected<Value, ReadError> readItems(Value value, char close, int depth);
  std::expected<Value, ReadError> readText(Value value);
  std::expected<Value, ReadError> readCharacter(Value value);
  std::expected<Value, ReadError> readWord(Value value);
  /// Skips blanks, comments and discarded forms; an error is that of a discarded form.
  std::expected<void, ReadError> skip(int depth);
  std::unexpected<ReadError> fail(std::string what) const;
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void advance();

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_;
  std::size_t lineStart_ = 0;
};

/// All values of a text.
std::expected<std::vector<Value>, ReadError> readEdn(std::string_view text);

}  // namespace holdfast::histories
