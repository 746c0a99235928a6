#include "cli/locate.hpp"

#include <charconv>
#include <optional>
#include <string>

#include "traces/json_cursor.hpp"

namespace holdfast::cli {
namespace {

bool isNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Takes "name" or ".name" off the front of `path`; empty when there is none.
std::string_view takeName(std::string_view& path) {
  std::string_view rest = path;
  if (rest.starts_with('.')) rest.remove_prefix(1);
  std::size_t length = 0;
  while (length < rest.size() && isNameByte(rest[length])) ++length;
  const std::string_view name = rest.substr(0, length);
  if (length > 0) path = rest.substr(length);
  return name;
}

/// Takes "[3]" off the front of `path`.
std::optional<std::size_t> takeIndex(std::string_view& path) {
  if (!path.starts_with('[')) return std::nullopt;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(path.data() + 1, path.data() + path.size(), index);
  if (error != std::errc() || end == path.data() + path.size() || *end != ']') return std::nullopt;
  path.remove_prefix(static_cast<std::size_t>(end - path.data()) + 1);
  return index;
}

/// Where the member's value begins in the object at `at`.
std::optional<std::size_t> memberAt(std::string_view line, std::size_t at, std::string_view name) {
  traces::JsonCursor cursor(line, at);
  if (!cursor.take('{') || cursor.take('}')) return std::nullopt;
  do {
    cursor.skipSpace();
    std::string found;
    if (!cursor.readString(found) || !cursor.take(':')) return std::nullopt;
    cursor.skipSpace();
    if (found == name) return cursor.at();
    if (!cursor.skipValue()) return std::nullopt;
  } while (cursor.take(','));
  return std::nullopt;
}

/// Where the element begins in the array at `at`.
std::optional<std::size_t> elementAt(std::string_view line, std::size_t at, std::size_t index) {
  traces::JsonCursor cursor(line, at);
  if (!cursor.take('[')) return std::nullopt;
  for (;; --index) {
    cursor.skipSpace();
    if (cursor.peek() == ']') return std::nullopt;
    if (index == 0) return cursor.at();
    if (!cursor.skipValue() || !cursor.take(',')) return std::nullopt;
  }
}

}  // namespace

std::size_t columnOf(std::string_view line, std::string_view text) {
  std::size_t at = 0;
  for (;;) {
    std::optional<std::size_t> inner;
    if (const auto index = takeIndex(text)) {
      inner = elementAt(line, at, *index);
    } else if (const std::string_view name = takeName(text); !name.empty()) {
      inner = memberAt(line, at, name);
    }
    if (!inner) return at + 1;
    at = *inner;
  }
}

}  // namespace holdfast::cli
