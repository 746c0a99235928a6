#include "traces/trace_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "traces/json_cursor.hpp"
#include "traces/kinds.hpp"

namespace holdfast::traces {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxNodes = 0xffff;  // NodeId 0xffff is none

// ---- Names ------------------------------------------------------------------------------------------------

bool isUtf8(std::string_view text) {
  // A JSON library that refuses anything else is at hand, and names are few.
  try {
    (void)json(text).dump();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

struct BadName {
  std::size_t index;
  std::string what;
};

/// The first name in a list that could not be told from others or read back.
std::optional<BadName> findBadName(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) return BadName{i, "is empty"};
    if (names[i].size() > kMaxNameBytes) return BadName{i, fmt::format("has {} bytes", names[i].size())};
    if (!isUtf8(names[i])) return BadName{i, "is not UTF-8"};
  }
  std::vector<std::size_t> order(names.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(names[a], a) < std::pair(names[b], b); });
  std::optional<std::size_t> again;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (names[order[i - 1]] == names[order[i]]) again = std::min(again.value_or(order[i]), order[i]);
  }
  if (again) return BadName{*again, fmt::format("is {} again", shown(names[*again]))};
  return std::nullopt;
}

std::string nameRule() { return fmt::format("different names of 1 to {} bytes of UTF-8", kMaxNameBytes); }

// ---- Writing ----------------------------------------------------------------------------------------------

bool isDeeperThan(const json& value, int levels) {
  if (!value.is_structured()) return false;
  return levels == 0 || std::any_of(value.begin(), value.end(),
                                    [&](const json& element) { return isDeeperThan(element, levels - 1); });
}

/// Appends `prefix` and `value` as JSON. `what` begins a sentence in errors: "the plan", say.
std::optional<WriteError> appendJson(std::string& out, std::string_view prefix, const json& value,
                                     std::string_view what) {
  // One level is the line itself.
  if (isDeeperThan(value, kMaxJsonDepth - 1)) {
    return WriteError{fmt::format("{} is nested deeper than {} levels", what, kMaxJsonDepth - 1)};
  }
  out += prefix;
  try {
    out += value.dump();
  } catch (const json::exception&) {
    return WriteError{fmt::format("{} holds text that is not UTF-8", what)};
  }
  return std::nullopt;
}

std::expected<std::string, WriteError> sized(std::string line, std::string_view what) {
  if (line.size() <= kMaxLineBytes) return line;
  return std::unexpected(
      WriteError{fmt::format("{} takes {} bytes; at most {} fit a line", what, line.size(), kMaxLineBytes)});
}

// ---- Reading ----------------------------------------------------------------------------------------------

/// Reads the members of an object that stands in a line, and keeps the first error with its column.
class ObjectReader {
 public:
  ObjectReader(std::string_view line, std::size_t begin, std::size_t end)
      : line_(line), begin_(begin), end_(end) {
    auto members = splitObject(line.substr(begin, end - begin));
    if (members) {
      members_ = std::move(*members);
      for (JsonMember& member : members_) {
        member.nameAt += begin;
        member.begin += begin;
        member.end += begin;
      }
    } else {
      members.error().column += begin;
      error_ = std::move(members.error());
    }
    used_.resize(members_.size());
  }
  explicit ObjectReader(std::string_view line) : ObjectReader(line, 0, line.size()) {}

  bool ok() const { return !error_; }
  const JsonError& error() const { return *error_; }

  bool has(std::string_view name) const {
    return std::any_of(members_.begin(), members_.end(), [&](const JsonMember& m) { return m.name == name; });
  }
  std::size_t columnOf(std::string_view name) const {
    const auto found =
        std::find_if(members_.begin(), members_.end(), [&](const JsonMember& m) { return m.name == name; });
    return found == members_.end() ? begin_ + 1 : found->begin + 1;
  }

  void fail(std::size_t column, std::string what, std::string expected = {}) {
    if (!error_) error_ = JsonError{column, std::move(what), std::move(expected)};
  }
  void failAt(std::string_view name, std::string what, std::string expected = {}) {
    fail(columnOf(name), std::move(what), std::move(expected));
  }

  std::string readString(std::string_view name) {
    std::string out;
    if (auto cursor = open(name, '"', "a string")) {
      if (!cursor->readString(out))
        fail(cursor->error().column, cursor->error().what, cursor->error().expected);
    }
    return out;
  }

  template <class Integer>
  Integer readInteger(std::string_view name, Integer least) {
    const std::string expected =
        fmt::format("an integer from {} to {}", least, std::numeric_limits<Integer>::max());
    Integer out{};
    if (auto cursor = open(name, '0', expected)) {
      std::string_view text;
      bool integral = false;
      cursor->readNumber(text, integral);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
      if (!integral || error != std::errc() || end != text.data() + text.size() || out < least) {
        failAt(name, fmt::format("\"{}\" is {}", name, text.substr(0, 40)), expected);
      }
    }
    return out;
  }

  /// Reads a 64-bit number that is written as 16 hexadecimal digits.
  std::uint64_t readHash(std::string_view name) {
    const std::string text = readString(name);
    std::uint64_t out = 0;
    if (ok() && !hashFromHex(text, out)) {
      failAt(name, fmt::format("\"{}\" is {}", name, shown(text)), "16 lower-case hexadecimal digits");
    }
    return out;
  }

  /// Reads any JSON, or an object only.
  json readJson(std::string_view name, bool mustBeObject) {
    auto cursor = mustBeObject ? open(name, '{', "an object") : open(name, '\0', "");
    if (!cursor) return {};
    const JsonMember& member = *find(name);
    try {
      return json::parse(line_.substr(member.begin, member.end - member.begin));
    } catch (const json::parse_error& error) {
      // The grammar was checked already; what is left is text that is not UTF-8.
      fail(member.begin + error.byte, "not JSON: text that is not UTF-8", "UTF-8");
    } catch (const json::exception&) {
      fail(member.begin + 1, fmt::format("\"{}\" holds a number out of range", name), "finite numbers");
    }
    return {};
  }

  std::vector<std::string> readStrings(std::string_view name, std::vector<std::size_t>& columns) {
    std::vector<std::string> out;
    auto cursor = open(name, '[', "an array of strings");
    if (!cursor || !cursor->take('[') || cursor->take(']')) return out;
    do {
      cursor->skipSpace();
      columns.push_back(cursor->at() + 1);
      if (cursor->peek() != '"') {
        fail(cursor->at() + 1, fmt::format("\"{}\" holds {}", name, cursor->found()), "strings only");
        return out;
      }
      cursor->readString(out.emplace_back());
    } while (cursor->take(','));
    return out;
  }

  std::vector<std::string> readNames(std::string_view name, std::size_t most) {
    std::vector<std::size_t> columns;
    std::vector<std::string> names = readStrings(name, columns);
    if (!ok()) return names;
    if (names.size() > most) {
      failAt(name, fmt::format("\"{}\" has {} names", name, names.size()), fmt::format("at most {}", most));
    } else if (const auto bad = findBadName(names)) {
      fail(columns[bad->index], fmt::format("name {} of \"{}\" {}", bad->index, name, bad->what), nameRule());
    }
    return names;
  }

  /// The object that is the value of `name`, for reading its members.
  ObjectReader readObject(std::string_view name) {
    if (!open(name, '{', "an object")) return failed();
    const JsonMember& member = *find(name);
    return ObjectReader(line_, member.begin, member.end);
  }

  /// Ends the reading: a member that was not asked for is an error, as are those of `inner`.
  void close() {
    const auto left = std::find(used_.begin(), used_.end(), false);
    if (left == used_.end()) return;
    std::string known;
    for (const std::string& name : asked_) known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", name);
    const JsonMember& member = members_[static_cast<std::size_t>(left - used_.begin())];
    fail(member.nameAt + 1, fmt::format("unknown member {}", shown(member.name)), "only " + known);
  }
  void close(ObjectReader& inner) {
    inner.close();
    if (!inner.ok() && ok()) error_ = inner.error();
  }

 private:
  const JsonMember* find(std::string_view name) const {
    const auto found =
        std::find_if(members_.begin(), members_.end(), [&](const JsonMember& m) { return m.name == name; });
    return found == members_.end() ? nullptr : &*found;
  }

  /// A cursor at the value of `name` if it begins with `start` ('0': a number, 0: anything).
  std::optional<JsonCursor> open(std::string_view name, char start, std::string_view expected) {
    if (!ok()) return std::nullopt;
    asked_.emplace_back(name);
    const JsonMember* const member = find(name);
    if (member == nullptr) {
      fail(end_, fmt::format("\"{}\" is missing", name));
      return std::nullopt;
    }
    used_[static_cast<std::size_t>(member - members_.data())] = true;
    JsonCursor cursor(line_, member->begin);
    const char c = cursor.peek();
    const bool fits = start == '0' ? c == '-' || (c >= '0' && c <= '9') : start == '\0' || c == start;
    if (fits) return cursor;
    fail(member->begin + 1, fmt::format("\"{}\" is {}", name, cursor.found()), std::string(expected));
    return std::nullopt;
  }

  ObjectReader failed() const {
    ObjectReader none("{}");
    none.error_ = error_;
    return none;
  }

  std::string_view line_;
  std::size_t begin_;
  std::size_t end_;
  std::vector<JsonMember> members_;
  std::vector<bool> used_;
  std::vector<std::string> asked_;
  std::optional<JsonError> error_;
};

std::uint64_t readSeed(ObjectReader& reader) {
  const std::string text = reader.readString("seed");
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (reader.ok() && (error != std::errc() || end != text.data() + text.size())) {
    reader.failAt("seed", fmt::format("\"seed\" is {}", shown(text)),
                  "a decimal number from 0 to 18446744073709551615 in quotes");
  }
  return seed;
}

void readVersion(ObjectReader& reader) {
  constexpr std::string_view kMember = "holdfast-trace";
  if (reader.ok() && !reader.has(kMember)) {
    reader.fail(1, "not a trace: the first line has no \"holdfast-trace\"",
                fmt::format("{{\"holdfast-trace\":{}, ...", kTraceVersion));
  }
  const auto version = reader.readInteger<std::uint64_t>(kMember, 1);
  if (reader.ok() && version > kTraceVersion) {
    reader.failAt(kMember, fmt::format("version {} of the trace format is newer than this tool", version),
                  fmt::format("at most version {}", kTraceVersion));
  }
}

}  // namespace

// ---- Header -----------------------------------------------------------------------------------------------

std::expected<std::string, WriteError> headerLine(const Header& header) {
  const auto fail = [](std::string what) { return std::unexpected(WriteError{std::move(what)}); };
  if (!header.options.is_object()) return fail("the options must be a JSON object");
  for (const auto& [names, what] :
       {std::pair(&header.names.nodes, "node"), std::pair(&header.names.keys, "key")}) {
    if (const auto bad = findBadName(*names)) {
      return fail(fmt::format("the name of {} {} {}; expected {}", what, bad->index, bad->what, nameRule()));
    }
  }
  if (header.names.nodes.size() > kMaxNodes) {
    return fail(fmt::format("{} nodes; at most {} can be named", header.names.nodes.size(), kMaxNodes));
  }
  std::string line = fmt::format("{{\"holdfast-trace\":{}", kTraceVersion);
  const auto add = [&](std::string_view prefix, const json& value, std::string_view what) {
    return appendJson(line, prefix, value, what);
  };
  std::optional<WriteError> error = add(",\"tool\":", header.tool, "the tool's version");
  if (!error) error = add(",\"compiler\":", header.compiler, "the compiler's name");
  if (!error) error = add(",\"vocabulary\":", hexHash(vocabularyHash()), "the vocabulary");
  if (!error) error = add(",\"scenario\":", header.scenario, "the scenario's name");
  if (!error) error = add(",\"seed\":", fmt::format("{}", header.seed), "the seed");
  if (!error) error = add(",\"options\":", header.options, "an option");
  if (!error) error = add(",\"rules\":{\"off\":", header.rulesOff, "the list of rules");
  if (!error) error = add("},\"names\":{\"nodes\":", header.names.nodes, "the list of nodes");
  if (!error) error = add(",\"keys\":", header.names.keys, "the list of keys");
  if (error) return std::unexpected(*error);
  line += fmt::format("}},\"optionHash\":\"{}\"}}", hexHash(optionHashOf(header)));
  return sized(std::move(line), "the header");
}

std::expected<Header, JsonError> parseHeader(std::string_view line) {
  ObjectReader reader(line);
  readVersion(reader);
  Header header;
  header.tool = reader.readString("tool");
  header.compiler = reader.readString("compiler");
  header.vocabulary = reader.readHash("vocabulary");
  header.scenario = reader.readString("scenario");
  header.seed = readSeed(reader);
  header.options = reader.readJson("options", true);
  ObjectReader rules = reader.readObject("rules");
  std::vector<std::size_t> ignored;
  header.rulesOff = rules.readStrings("off", ignored);
  ObjectReader names = reader.readObject("names");
  header.names.nodes = names.readNames("nodes", kMaxNodes);
  header.names.keys = names.readNames("keys", kMaxLineBytes);
  header.optionHash = reader.readHash("optionHash");
  reader.close(rules);
  reader.close(names);
  reader.close();
  if (!reader.ok()) return std::unexpected(reader.error());
  const std::uint64_t expected = optionHashOf(header);
  if (header.optionHash != expected) {
    reader.failAt("optionHash",
                  "the header was changed: \"optionHash\" does not fit scenario, options and rules",
                  fmt::format("\"{}\"", hexHash(expected)));
    return std::unexpected(reader.error());
  }
  return header;
}

// ---- Plan -------------------------------------------------------------------------------------------------

std::expected<std::string, WriteError> planLine(const json& plan) {
  if (!plan.is_structured()) return std::unexpected(WriteError{"the plan must be a JSON array or object"});
  std::string line;
  if (const auto error = appendJson(line, "{\"plan\":", plan, "the plan")) return std::unexpected(*error);
  line += '}';
  return sized(std::move(line), "the plan");
}

std::expected<json, JsonError> parsePlan(std::string_view line) {
  ObjectReader reader(line);
  json plan = reader.readJson("plan", false);
  if (reader.ok() && !plan.is_structured()) {
    reader.failAt("plan", fmt::format("\"plan\" is a {}", plan.type_name()), "an array or object");
  }
  reader.close();
  if (!reader.ok()) return std::unexpected(reader.error());
  return plan;
}

// ---- Last line --------------------------------------------------------------------------------------------

std::expected<std::string, WriteError> endingLine(const Ending& ending) {
  if (!ending.verdict.is_object()) return std::unexpected(WriteError{"the verdict must be a JSON object"});
  if (ending.simulatedNs < 0) return std::unexpected(WriteError{"the run must not end before true time 0"});
  std::string line;
  if (const auto error = appendJson(line, "{\"verdict\":", ending.verdict, "the verdict")) {
    return std::unexpected(*error);
  }
  line += fmt::format(",\"events\":{},\"simulatedNs\":{},\"hash\":\"{}\"}}", ending.events,
                      ending.simulatedNs, hexHash(ending.hash));
  return sized(std::move(line), "the verdict");
}

bool isEndingLine(std::string_view line) {
  JsonCursor cursor(line);
  if (!cursor.take('{')) return false;
  cursor.skipSpace();
  return line.substr(cursor.at()).starts_with("\"verdict\"");
}

std::expected<EndingLine, JsonError> parseEnding(std::string_view line) {
  ObjectReader reader(line);
  EndingLine out;
  out.ending.verdict = reader.readJson("verdict", true);
  out.ending.events = reader.readInteger<std::uint64_t>("events", 0);
  out.ending.simulatedNs = reader.readInteger<std::int64_t>("simulatedNs", 0);
  out.ending.hash = reader.readHash("hash");
  out.eventsColumn = reader.columnOf("events");
  out.hashColumn = reader.columnOf("hash");
  reader.close();
  if (!reader.ok()) return std::unexpected(reader.error());
  return out;
}

}  // namespace holdfast::traces
