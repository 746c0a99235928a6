#include "traces/json_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::traces {

namespace {

constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }

void appendUtf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

}  // namespace

bool JsonCursor::fail(std::size_t at, std::string what, std::string expected) {
  if (!failed_) error_ = {at + 1, std::move(what), std::move(expected)};
  failed_ = true;
  return false;
}

std::string JsonCursor::found() const {
  if (atEnd()) return "the end of the line";
  const char c = text_[at_];
  if (c == '"') return "a string";
  if (c == '{') return "an object";
  if (c == '[') return "an array";
  if (c == '-' || isDigit(c)) return "a number";
  const std::string_view rest = text_.substr(at_);
  for (const std::string_view word : {"null", "true", "false"}) {
    if (rest.starts_with(word)) return std::string(word);
  }
  if (c >= 0x20 && c < 0x7f) return fmt::format("'{}'", c);
  return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
}

void JsonCursor::skipSpace() {
  while (!atEnd() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
    ++at_;
}

bool JsonCursor::take(char c) {
  skipSpace();
  if (peek() != c || atEnd()) return false;
  ++at_;
  return true;
}

bool JsonCursor::skipValue(int depth) {
  skipSpace();
  const char c = peek();
  if (c == '"') return skipString();
  if (c == '{' || c == '[') {
    if (depth >= kMaxJsonDepth) {
      return fail(at_, "too deeply nested", fmt::format("at most {} levels", kMaxJsonDepth));
    }
    ++at_;
    return skipMembers(c == '{' ? '}' : ']', depth + 1);
  }
  if (c == '-' || isDigit(c)) {
    std::string_view number;
    bool integral = false;
    return readNumber(number, integral);
  }
  for (const std::string_view word : {"null", "true", "false"}) {
    if (text_.substr(at_).starts_with(word)) {
      at_ += word.size();
      return true;
    }
  }
  return fail(at_, "not JSON: " + found(), "a value");
}

/// Skips what stands between the brackets of an array or object, and the closing one.
bool JsonCursor::skipMembers(char close, int depth) {
  if (take(close)) return true;
  std::set<std::string_view> names;
  do {
    if (close == '}') {
      skipSpace();
      const std::size_t start = at_;
      if (peek() != '"') return fail(at_, "not JSON: " + found(), "a member's name in quotes");
      if (!skipString()) return false;
      const std::string_view name = text_.substr(start + 1, at_ - start - 2);
      if (!names.insert(name).second) return fail(start, shown(name) + " stands here a second time");
      if (!take(':')) return fail(at_, "not JSON: " + found(), "':' after a member's name");
    }
    if (!skipValue(depth)) return false;
  } while (take(','));
  if (take(close)) return true;
  return fail(at_, "not JSON: " + found(), fmt::format("',' or '{}'", close));
}

/// Skips what needs no decoding in a string: up to a quote, an escape, a control character or the end.
void JsonCursor::skipPlain() {
  while (!atEnd()) {
    const char c = text_[at_];
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) return;
    ++at_;
  }
}

bool JsonCursor::skipString() {
  const std::size_t start = at_++;
  skipPlain();
  if (!atEnd() && text_[at_] == '"') return ++at_, true;
  // An escape or an error, both rare: reading it finds out.
  std::string ignored;
  at_ = start;
  return readString(ignored);
}

bool JsonCursor::readString(std::string& out) {
  out.clear();
  const std::size_t start = at_;
  if (peek() != '"') return fail(at_, "not JSON: " + found(), "a string");
  ++at_;
  while (true) {
    const std::size_t plain = at_;
    skipPlain();
    out += text_.substr(plain, at_ - plain);
    if (atEnd()) return fail(start, "not JSON: the string that begins here has no end", "a closing '\"'");
    const char c = text_[at_];
    if (c == '"') return ++at_, true;
    if (c != '\\') {
      return fail(at_, fmt::format("not JSON: byte 0x{:02x} in a string", static_cast<unsigned char>(c)),
                  "control characters as \\u escapes");
    }
    if (!readEscape(out)) return false;
  }
}

bool JsonCursor::readHex4(std::size_t from, unsigned& out) const {
  if (from + 4 > text_.size()) return false;
  out = 0;
  for (const char c : text_.substr(from, 4)) {
    const char lower = static_cast<char>(c | 0x20);
    if (isDigit(c)) {
      out = out * 16 + static_cast<unsigned>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      out = out * 16 + static_cast<unsigned>(lower - 'a' + 10);
    } else {
      return false;
    }
  }
  return true;
}

bool JsonCursor::readEscape(std::string& out) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (const std::size_t i = kEscapes.find(c); c != '\0' && i != std::string_view::npos) {
    out += kMeanings[i];
    at_ += 2;
    return true;
  }
  unsigned code = 0;
  if (c != 'u' || !readHex4(at_ + 2, code)) {
    return fail(at_, "not JSON: no such escape", R"(one of \" \\ \/ \b \f \n \r \t \uXXXX)");
  }
  std::size_t length = 6;
  if (code >= 0xd800 && code < 0xe000) {
    unsigned low = 0;
    const bool pair = code < 0xdc00 && text_.substr(at_ + 6).starts_with("\\u") && readHex4(at_ + 8, low) &&
                      low >= 0xdc00 && low < 0xe000;
    if (!pair) return fail(at_, "not JSON: half of a surrogate pair", R"(\uD800-\uDBFF then \uDC00-\uDFFF)");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    length = 12;
  }
  appendUtf8(out, code);
  at_ += length;
  return true;
}

bool JsonCursor::readNumber(std::string_view& out, bool& integral) {
  const std::size_t start = at_;
  const auto digits = [&] {
    const std::size_t from = at_;
    while (isDigit(peek())) ++at_;
    return at_ > from;
  };
  integral = true;
  if (peek() == '-') ++at_;
  const std::size_t first = at_;
  if (!digits()) return fail(at_, "not JSON: " + found(), "a digit");
  if (text_[first] == '0' && at_ - first > 1) {
    return fail(start, "not JSON: a number with a leading zero", "no leading zero");
  }
  if (peek() == '.') {
    integral = false;
    ++at_;
    if (!digits()) return fail(at_, "not JSON: " + found(), "a digit");
  }
  if (peek() == 'e' || peek() == 'E') {
    integral = false;
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!digits()) return fail(at_, "not JSON: " + found(), "a digit");
  }
  out = text_.substr(start, at_ - start);
  return true;
}

std::expected<std::vector<JsonMember>, JsonError> splitObject(std::string_view line) {
  JsonCursor cursor(line);
  std::vector<JsonMember> members;
  members.reserve(16);
  const auto failed = [&] { return std::unexpected(cursor.error()); };
  if (!cursor.take('{')) {
    cursor.fail(cursor.at(), "not a JSON object: " + cursor.found(), "'{'");
    return failed();
  }
  if (!cursor.take('}')) {
    do {
      JsonMember& member = members.emplace_back();
      cursor.skipSpace();
      member.nameAt = cursor.at();
      if (cursor.peek() != '"') {
        cursor.fail(cursor.at(), "not JSON: " + cursor.found(), "a member's name in quotes");
        return failed();
      }
      if (!cursor.readString(member.name)) return failed();
      const bool twice = std::any_of(members.begin(), members.end() - 1,
                                     [&](const JsonMember& other) { return other.name == member.name; });
      if (twice) {
        cursor.fail(member.nameAt, shown(member.name) + " stands here a second time");
        return failed();
      }
      if (!cursor.take(':')) {
        cursor.fail(cursor.at(), "not JSON: " + cursor.found(), "':' after a member's name");
        return failed();
      }
      cursor.skipSpace();
      member.begin = cursor.at();
      if (!cursor.skipValue(1)) return failed();
      member.end = cursor.at();
    } while (cursor.take(','));
    if (!cursor.take('}')) {
      cursor.fail(cursor.at(), "not JSON: " + cursor.found(), "',' or '}'");
      return failed();
    }
  }
  cursor.skipSpace();
  if (!cursor.atEnd()) {
    cursor.fail(cursor.at(), cursor.found() + " after the object", "the end of the line");
    return failed();
  }
  return members;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string out = "\"";
  for (const char c : text.substr(0, kMost)) {
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out += text.size() > kMost ? "...\"" : "\"";
  return out;
}

}  // namespace holdfast::traces
