#include "histories/history.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace holdfast::histories {
namespace {

using Json = nlohmann::ordered_json;

std::unexpected<ReadError> failAt(const Value& place, std::string text) {
  return std::unexpected(ReadError{place.line, place.column, std::move(text)});
}

std::string shown(const Value& value) {
  const std::string text = value.printed();
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

/// Joins returns to invocations.
class Joiner {
 public:
  /// `event`: a map with type, process, f, value and perhaps key and error.
  std::expected<void, ReadError> add(const Value& event, bool logged) {
    if (event.kind != Value::Kind::map) {
      return failAt(
          event, fmt::format("{} is no event; expected a map with type, process, f and value", shown(event)));
    }
    const Value* const process = event.member("process");
    // What a nemesis does, or a checker remarks, is no operation.
    if (process == nullptr || (process->isText() && process->text == "nemesis")) return passOver(event);
    const Value* const type = event.member("type");
    if (type == nullptr || !type->isText()) {
      return failAt(event, "the event has no type; expected invoke, ok, fail or info");
    }
    if (type->text == "invoke") return invoke(event, *process, logged);
    if (type->text == "ok") return finish(event, *process, Outcome::ok);
    if (type->text == "fail") return finish(event, *process, Outcome::failed);
    if (type->text == "info") return finish(event, *process, Outcome::unknown);
    return failAt(*type, fmt::format("the type is {}; expected invoke, ok, fail or info", shown(*type)));
  }

  History take() { return std::move(history_); }

 private:
  std::expected<void, ReadError> passOver(const Value& event) {
    const Value* const type = event.member("type");
    const Value* const function = event.member("f");
    // Histories of transactions may leave processes out: each event then is the next one's of one client.
    if (event.member("process") != nullptr || type == nullptr || type->text == "info") return {};
    Value nobody;
    nobody.kind = Value::Kind::integer;
    if (function == nullptr && event.member("value") == nullptr) return {};
    if (type->text == "invoke") return invoke(event, nobody, false);
    return finish(event, nobody, type->text == "ok" ? Outcome::ok : Outcome::failed);
  }

  std::expected<void, ReadError> invoke(const Value& event, const Value& process, bool logged) {
    const std::string name = process.printed();
    if (const auto open = open_.find(name); open != open_.end()) {
      const Operation& before = history_.operations[open->second];
      return failAt(event, fmt::format("process {} invokes again before its operation of line {} has "
                                       "returned; expected ok, fail or info first",
                                       name, before.line));
    }
    Operation operation;
    operation.process = name;
    if (const Value* const function = event.member("f")) operation.function = function->text;
    if (operation.function.empty()) operation.function = "txn";
    if (const Value* const key = event.member("key")) operation.key = *key;
    if (const Value* const value = event.member("value")) operation.argument = *value;
    operation.invoked = history_.events++;
    operation.line = event.line;
    operation.logged = logged;
    open_.emplace(name, history_.operations.size());
    history_.operations.push_back(std::move(operation));
    return {};
  }

  std::expected<void, ReadError> finish(const Value& event, const Value& process, Outcome outcome) {
    const auto open = open_.find(process.printed());
    if (open == open_.end()) {
      if (outcome == Outcome::unknown) return {};
      return failAt(event, fmt::format("process {} returns without an invocation; expected one before",
                                       process.printed()));
    }
    Operation& operation = history_.operations[open->second];
    const Value* const function = event.member("f");
    if (function != nullptr && function->isText() && function->text != operation.function) {
      return failAt(*function,
                    fmt::format("the return is of {}, and process {} invoked {} on line {}; "
                                "expected that",
                                function->text, operation.process, operation.function, operation.line));
    }
    if (const Value* const value = event.member("value")) operation.result = *value;
    const Value* const error = event.member("error");
    operation.error = error != nullptr && !error->isNil();
    operation.outcome = outcome;
    operation.returned = history_.events++;
    operation.returnLine = event.line;
    open_.erase(open);
    return {};
  }

  History history_;
  std::map<std::string, std::size_t> open_;  // by process
};

Value valueOf(const Json& json, std::uint32_t line) {
  Value value;
  value.line = line;
  value.column = 1;
  if (json.is_boolean()) {
    value.kind = Value::Kind::boolean;
    value.number = json.get<bool>() ? 1 : 0;
  } else if (json.is_number_integer()) {
    value.kind = Value::Kind::integer;
    value.number = json.get<std::int64_t>();
  } else if (json.is_number()) {
    value.kind = Value::Kind::decimal;
    value.text = json.dump();
  } else if (json.is_string()) {
    value.kind = Value::Kind::text;
    value.text = json.get<std::string>();
  } else if (json.is_array()) {
    value.kind = Value::Kind::list;
    for (const Json& item : json) value.items.push_back(valueOf(item, line));
  } else if (json.is_object()) {
    value.kind = Value::Kind::map;
    for (const auto& [name, member] : json.items()) {
      Value key;
      key.kind = Value::Kind::text;
      key.text = name;
      value.items.push_back(std::move(key));
      value.items.push_back(valueOf(member, line));
    }
  }
  return value;
}

/// Calls `visit(line, number)` for each line that is not blank, until it fails.
template <class Visit>
std::expected<void, ReadError> forEachLine(std::string_view text, Visit&& visit) {
  std::uint32_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (auto visited = visit(line, number); !visited) return visited;
  }
  return {};
}

std::expected<void, ReadError> addJsonLine(Joiner& joiner, std::string_view line, std::uint32_t number) {
  try {
    return joiner.add(valueOf(Json::parse(line), number), false);
  } catch (const nlohmann::json::parse_error& wrong) {
    return std::unexpected(ReadError{number, static_cast<std::uint32_t>(wrong.byte),
                                     "this is no JSON; expected one object a line"});
  }
}

/// "INFO  jepsen.util - 3 :invoke :cas [3 0]": process, type, function and value, behind the first " - ".
std::expected<void, ReadError> addLogLine(Joiner& joiner, std::string_view line, std::uint32_t number) {
  const std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return {};
  EdnReader reader(line.substr(dash + 3), number);
  Value event;
  event.kind = Value::Kind::map;
  event.line = number;
  event.column = 1;
  for (const std::string_view name : {"process", "type", "f", "value"}) {
    auto value = reader.next();
    if (!value) {
      ReadError error = value.error();
      error.column += static_cast<std::uint32_t>(dash + 3);
      return std::unexpected(std::move(error));
    }
    Value key;
    key.kind = Value::Kind::keyword;
    key.text = name;
    event.items.push_back(std::move(key));
    event.items.push_back(std::move(*value));
  }
  const Value* const type = event.member("type");
  const Value* const value = event.member("value");
  if (type->isText() && type->text != "invoke" && value->kind == Value::Kind::keyword) {
    // The value says why there is no answer.
    Value name;
    name.kind = Value::Kind::keyword;
    name.text = "error";
    Value why = *value;
    event.items.push_back(std::move(name));
    event.items.push_back(std::move(why));
  }
  return joiner.add(event, true);
}

std::expected<void, ReadError> addEdn(Joiner& joiner, std::string_view text) {
  EdnReader reader(text);
  while (!reader.atEnd()) {
    const auto value = reader.next();
    if (!value) return std::unexpected(value.error());
    if (!value->isList()) {
      if (auto added = joiner.add(*value, false); !added) return added;
      continue;
    }
    for (const Value& event : value->items) {
      if (auto added = joiner.add(event, false); !added) return added;
    }
  }
  return {};
}

/// JSON writes a name in quotes, EDN does not.
bool looksLikeJson(std::string_view text) {
  const std::size_t brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const std::size_t name = text.find_first_not_of(" \t\r\n", brace + 1);
  return name != std::string_view::npos && (text[name] == '"' || text[name] == '}');
}

bool looksLikeEdn(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n,");
  return first != std::string_view::npos && std::string_view("{[(#;").contains(text[first]);
}

}  // namespace

std::expected<History, ReadError> read(std::string_view text) {
  Joiner joiner;
  std::expected<void, ReadError> added;
  if (looksLikeJson(text)) {
    added = forEachLine(
        text, [&](std::string_view line, std::uint32_t number) { return addJsonLine(joiner, line, number); });
  } else if (looksLikeEdn(text)) {
    added = addEdn(joiner, text);
  } else {
    added = forEachLine(
        text, [&](std::string_view line, std::uint32_t number) { return addLogLine(joiner, line, number); });
  }
  if (!added) return std::unexpected(added.error());
  History history = joiner.take();
  if (history.operations.empty()) {
    return std::unexpected(ReadError{
        1, 1, "there is no operation here; expected JSON lines, Jepsen's EDN, or lines of Jepsen's log"});
  }
  return history;
}

}  // namespace holdfast::histories
