#include "histories/edn.hpp"

#include <charconv>
#include <utility>

namespace holdfast::histories {
namespace {

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == '\f'; }

bool endsWord(char c) {
  return c == '\0' || isBlank(c) || c == '(' || c == ')' || c == '[' || c == ']' || c == '{' || c == '}' ||
         c == '"' || c == ';';
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void EdnReader::advance() {
  if (text_[at_] == '\n') {
    ++line_;
    lineStart_ = at_ + 1;
  }
  ++at_;
}

std::unexpected<ReadError> EdnReader::fail(std::string what) const {
  return std::unexpected(ReadError{line_, static_cast<std::uint32_t>(at_ - lineStart_ + 1), std::move(what)});
}

std::expected<void, ReadError> EdnReader::skip(int depth) {
  while (at_ < text_.size()) {
    if (isBlank(peek())) {
      advance();
    } else if (peek() == ';') {
      while (at_ < text_.size() && peek() != '\n') advance();
    } else if (text_.substr(at_).starts_with("#_")) {
      at_ += 2;
      if (auto dropped = read(depth + 1); !dropped) return std::unexpected(dropped.error());
    } else {
      break;
    }
  }
  return {};
}

bool EdnReader::atEnd() {
  const auto skipped = skip(0);
  return skipped && at_ >= text_.size();
}

std::expected<Value, ReadError> EdnReader::read(int depth) {
  if (depth > kMaxDepth) return fail("values are nested too deeply; expected at most 64 levels");
  if (auto skipped = skip(depth); !skipped) return std::unexpected(skipped.error());
  Value value;
  value.line = line_;
  value.column = static_cast<std::uint32_t>(at_ - lineStart_ + 1);
  if (at_ >= text_.size()) return fail("the text ends; expected a value");
  const char c = peek();
  if (c == '(' || c == '[' || c == '{') {
    advance();
    value.kind = c == '{' ? Value::Kind::map : Value::Kind::list;
    return readItems(std::move(value), c == '(' ? ')' : c == '[' ? ']' : '}', depth);
  }
  if (c == '"') return readText(std::move(value));
  if (c == '\\') return readCharacter(std::move(value));
  if (c == '#') {
    advance();
    if (peek() == '{') {
      advance();
      value.kind = Value::Kind::list;
      return readItems(std::move(value), '}', depth);
    }
    // A tag says how the value behind it was made, which does not matter here.
    if (endsWord(peek())) return fail("expected a set or a tag behind '#'");
    while (!endsWord(peek())) advance();
    return read(depth + 1);
  }
  if (endsWord(c)) return fail(std::string("'") + c + "' closes nothing; expected a value");
  return readWord(std::move(value));
}

std::expected<Value, ReadError> EdnReader::readItems(Value value, char close, int depth) {
  while (true) {
    if (auto skipped = skip(depth); !skipped) return std::unexpected(skipped.error());
    if (at_ >= text_.size()) return fail(std::string("the text ends; expected '") + close + "'");
    if (peek() == close) break;
    auto item = read(depth + 1);
    if (!item) return item;
    value.items.push_back(std::move(*item));
  }
  if (value.kind == Value::Kind::map && value.items.size() % 2 != 0) {
    return fail("the last name of the map has no value; expected one");
  }
  advance();
  return value;
}

std::expected<Value, ReadError> EdnReader::readText(Value value) {
  value.kind = Value::Kind::text;
  advance();
  while (at_ < text_.size() && peek() != '"') {
    char c = peek();
    if (c == '\\') {
      advance();
      if (at_ >= text_.size()) break;
      c = peek();
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'r') c = '\r';
    }
    value.text += c;
    advance();
  }
  if (at_ >= text_.size()) return fail("the text ends within a string; expected '\"'");
  advance();
  return value;
}

std::expected<Value, ReadError> EdnReader::readCharacter(Value value) {
  value.kind = Value::Kind::text;
  advance();
  if (at_ >= text_.size()) return fail("the text ends; expected a character behind '\\'");
  do {
    value.text += peek();
    advance();
  } while (!endsWord(peek()));
  return value;
}

std::expected<Value, ReadError> EdnReader::readWord(Value value) {
  const std::size_t begin = at_;
  while (!endsWord(peek())) advance();
  const std::string_view word = text_.substr(begin, at_ - begin);
  if (word == "nil") return value;
  if (word == "true" || word == "false") {
    value.kind = Value::Kind::boolean;
    value.number = word == "true" ? 1 : 0;
    return value;
  }
  if (word.front() == ':') {
    if (word.size() == 1) return fail("a keyword has no name; expected one behind ':'");
    value.kind = Value::Kind::keyword;
    value.text = word.substr(1);
    return value;
  }
  const bool sign = word.front() == '-' || word.front() == '+';
  if (!isDigit(word[sign && word.size() > 1 ? 1 : 0])) {
    value.kind = Value::Kind::keyword;
    value.text = word;
    return value;
  }
  std::string_view digits = word.front() == '+' ? word.substr(1) : word;
  if (digits.ends_with('N')) digits.remove_suffix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value.number);
  if (error == std::errc{} && end == digits.data() + digits.size()) {
    value.kind = Value::Kind::integer;
    return value;
  }
  value.kind = Value::Kind::decimal;
  value.number = 0;
  value.text = word;
  return value;
}

std::expected<std::vector<Value>, ReadError> readEdn(std::string_view text) {
  EdnReader reader(text);
  std::vector<Value> values;
  while (!reader.atEnd()) {
    auto value = reader.next();
    if (!value) return std::unexpected(value.error());
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace holdfast::histories
