#include "histories/value.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace holdfast::histories {
namespace {

void printInto(std::string& out, const Value& value);

void printItems(std::string& out, const std::vector<Value>& items) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ' ';
    printInto(out, items[i]);
  }
}

void printText(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
}

void printInto(std::string& out, const Value& value) {
  switch (value.kind) {
    case Value::Kind::nil:
      out += "nil";
      return;
    case Value::Kind::boolean:
      out += value.number != 0 ? "true" : "false";
      return;
    case Value::Kind::integer:
      out += fmt::to_string(value.number);
      return;
    case Value::Kind::decimal:
      out += value.text;
      return;
    case Value::Kind::text:
      printText(out, value.text);
      return;
    case Value::Kind::keyword:
      out += ':';
      out += value.text;
      return;
    case Value::Kind::list:
      out += '[';
      printItems(out, value.items);
      out += ']';
      return;
    case Value::Kind::map:
      out += '{';
      printItems(out, value.items);
      out += '}';
      return;
  }
}

}  // namespace

const Value* Value::member(std::string_view name) const {
  if (kind != Kind::map) return nullptr;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].isText() && items[i].text == name) return &items[i + 1];
  }
  return nullptr;
}

std::string Value::printed() const {
  std::string out;
  printInto(out, *this);
  return out;
}

}  // namespace holdfast::histories
