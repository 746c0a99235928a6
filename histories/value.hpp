// A value of a recorded history, whatever notation it was written in: EDN or JSON.
//
// Contract: two values are equal exactly if they print alike; sets and the members of maps have the order in
// which they were written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::histories {

struct Value {
  enum class Kind : std::uint8_t { nil, boolean, integer, decimal, text, keyword, list, map };

  Kind kind = Kind::nil;
  std::int64_t number = 0;   ///< Of an integer; 1 of true.
  std::string text;          ///< Of a text or keyword (":ok" is "ok"), and a decimal as it was written.
  std::vector<Value> items;  ///< Of a list; of a map its names and values in turn.
  std::uint32_t line = 0;    ///< Where it begins, both from 1; not part of its identity.
  std::uint32_t column = 0;

  bool isNil() const { return kind == Kind::nil; }
  bool isText() const { return kind == Kind::text || kind == Kind::keyword; }
  bool isList() const { return kind == Kind::list; }
  /// The member of a map with that name, whether the name is a text or a keyword; null if there is none.
  const Value* member(std::string_view name) const;
  /// As EDN, which is also how values are told apart.
  std::string printed() const;
};

}  // namespace holdfast::histories
