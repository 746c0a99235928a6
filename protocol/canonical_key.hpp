// Canonical keys (RT-2): one byte string for each record of the cluster, the same on every node.
//
//   canonicalKey = utf8(database) 00 utf8(table) 00 orderedBinary(key)
//
// The ordered binary encoding is injective up to equality of keys, and comparing the bytes compares the keys:
// null < false < true < numbers < strings < bytes < arrays; numbers by value, strings and bytes by their
// bytes (for strings that is the order of code points), arrays element by element, a prefix first. Integers
// and doubles are one kind of number: 1 and 1.0 are the same key, and so are 0.0 and -0.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::protocol {

/// BD-1: nested arrays, bytes of the ordered binary of a key, and bytes of a database's or table's name.
inline constexpr std::size_t kMaxKeyDepth = 32;
inline constexpr std::size_t kMaxKeyBytes = 1'978;
inline constexpr std::size_t kMaxNameBytes = 255;

/// A key, or a part of a composite one. A composite key is an array of parts.
struct KeyPart {
  using Bytes = std::vector<std::uint8_t>;
  using Array = std::vector<KeyPart>;
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, Array>;

  Value value;  // std::monostate: null; std::string: valid UTF-8, may contain NUL
};

/// Why something is no key; `text` says what was wrong, where, and what would be right.
struct KeyError {
  std::string text;
};

/// The ordered binary encoding of `key`. Refuses NaN, strings that are not UTF-8, nesting deeper than
/// kMaxKeyDepth (a plain array has depth 1) and results longer than kMaxKeyBytes.
std::expected<std::string, KeyError> orderedBinary(const KeyPart& key);

/// The inverse of orderedBinary() for all bytes that it can produce; all others are refused. A number that
/// fits std::int64_t comes back as one, any other as a double.
std::expected<KeyPart, KeyError> decodeOrderedBinary(std::string_view bytes);

/// RT-2. Refuses, besides what orderedBinary() does, names of database or table that are empty, longer than
/// kMaxNameBytes, not UTF-8, or contain NUL (BD-3).
std::expected<std::string, KeyError> canonicalKey(std::string_view database, std::string_view table,
                                                  const KeyPart& key);

/// What canonicalKey() was made from.
struct CanonicalKeyParts {
  std::string database;
  std::string table;
  KeyPart key;
};

/// The inverse of canonicalKey().
std::expected<CanonicalKeyParts, KeyError> decodeCanonicalKey(std::string_view bytes);

/// Whether `text` is well-formed UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF.
bool isUtf8(std::string_view text);

}  // namespace holdfast::protocol
