#include "traces/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/mp11/algorithm.hpp>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include "observations/hash_chain.hpp"
#include "traces/json_cursor.hpp"
#include "traces/kinds.hpp"

namespace holdfast::traces {

namespace {

// ---- What types look like ---------------------------------------------------------------------------------

/// An identity that may be none; written as null then.
template <class T>
concept Identity = obs::Described<T> && obs::kFieldCountOf<T> == 1 && requires(const T& id) {
  { id.valid() } -> std::same_as<bool>;
};

/// A described struct of one field is written as that field, of several as the array of them.
template <class T>
concept Wrapper = obs::Described<T> && obs::kFieldCountOf<T> == 1;

template <class T>
concept Named = std::is_same_v<T, obs::NodeId> || std::is_same_v<T, obs::KeyId>;

// The members that every line has come beside the observation's own.
constexpr std::array<std::string_view, 5> kStampMembers{"n", "t", "node", "is", "h"};

constexpr bool noFieldIsStampMember() {
  bool clash = false;
  boost::mp11::mp_for_each<boost::mp11::mp_iota_c<kKindCount>>([&](auto kind) {
    boost::mp11::mp_for_each<obs::FieldsOf<ObservationOf<kind>>>([&](auto field) {
      for (const std::string_view member : kStampMembers) clash = clash || member == field.name;
    });
  });
  return !clash;
}
static_assert(noFieldIsStampMember(), "n, t, node, is and h are taken");

// ---- Writing ----------------------------------------------------------------------------------------------

template <class Integer>
void appendInteger(std::string& out, Integer value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

struct QuotedNames {
  const std::vector<std::string>& nodes;
  const std::vector<std::string>& keys;

  const std::vector<std::string>& of(obs::NodeId) const { return nodes; }
  const std::vector<std::string>& of(obs::KeyId) const { return keys; }
};

template <class T>
void appendValue(std::string& out, const T& value, const QuotedNames& names) {
  if constexpr (Named<T>) {
    const std::vector<std::string>& list = names.of(value);
    if (value.value < list.size()) {
      out += list[value.value];
    } else if (value.valid()) {
      appendInteger(out, value.value);
    } else {
      out += "null";
    }
  } else if constexpr (Wrapper<T>) {
    if constexpr (Identity<T>) {
      if (!value.valid()) {
        out += "null";
        return;
      }
    }
    obs::forEachField(value, [&](std::string_view, const auto& field) { appendValue(out, field, names); });
  } else if constexpr (obs::Described<T>) {
    char separator = '[';
    obs::forEachField(value, [&](std::string_view, const auto& field) {
      out += separator;
      separator = ',';
      appendValue(out, field, names);
    });
    out += ']';
  } else if constexpr (obs::kIsArray<T>) {
    char separator = '[';
    for (const auto& element : value) {
      out += separator;
      separator = ',';
      appendValue(out, element, names);
    }
    out += ']';
  } else if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (obs::DescribedEnum<T>) {
    out += '"';
    out += obs::nameOf(value);
    out += '"';
  } else {
    appendInteger(out, value);
  }
}

// ---- Reading ----------------------------------------------------------------------------------------------

using NameTable = std::vector<std::pair<std::string, std::uint32_t>>;

NameTable tableOf(const std::vector<std::string>& names) {
  NameTable table;
  table.reserve(names.size());
  for (const std::string& name : names) table.emplace_back(name, static_cast<std::uint32_t>(table.size()));
  std::sort(table.begin(), table.end());
  return table;
}

std::optional<std::uint32_t> idOf(const NameTable& table, std::string_view name) {
  const auto found =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  if (found == table.end() || found->first != name) return std::nullopt;
  return found->second;
}

/// A few names, for "expected one of".
std::string listOf(const NameTable& table) {
  constexpr std::size_t kMost = 8;
  if (table.empty()) return "nothing: the header names none";
  std::string list = "one of ";
  for (std::size_t i = 0; i < std::min(kMost, table.size()); ++i) {
    list += (i == 0 ? "" : ", ") + shown(table[i].first);
  }
  if (table.size() > kMost) list += fmt::format(" and {} more of the header", table.size() - kMost);
  return list;
}

template <obs::DescribedEnum E>
std::string enumeratorList() {
  std::string list;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto enumerator) {
    list += fmt::format("{}\"{}\"", list.empty() ? "one of " : ", ", enumerator.name);
  });
  return list;
}

template <class T>
std::string fieldList() {
  std::string list;
  boost::mp11::mp_for_each<obs::FieldsOf<T>>(
      [&](auto field) { list += fmt::format("{}{}", list.empty() ? "" : ", ", field.name); });
  return list;
}

/// Says what JSON a T is read from.
template <class T>
std::string expectationOf() {
  if constexpr (std::is_same_v<T, obs::NodeId>) {
    return "a node's name or null";
  } else if constexpr (std::is_same_v<T, obs::KeyId>) {
    return "a key's name or null";
  } else if constexpr (Wrapper<T>) {
    using Field = std::remove_cvref_t<decltype(T{}.*boost::mp11::mp_front<obs::FieldsOf<T>>::pointer)>;
    if constexpr (Identity<T>) {
      return fmt::format("an integer from 1 to {}, or null", std::numeric_limits<Field>::max());
    } else {
      return expectationOf<Field>();
    }
  } else if constexpr (obs::Described<T>) {
    return fmt::format("an array of {}: {}", obs::kFieldCountOf<T>, fieldList<T>());
  } else if constexpr (obs::kIsArray<T>) {
    return fmt::format("an array of {}", std::tuple_size_v<T>);
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (obs::DescribedEnum<T>) {
    return enumeratorList<T>();
  } else {
    return fmt::format("an integer from {} to {}", std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max());
  }
}

/// Reads typed values at a cursor; `subject` names the value in messages. The line was checked to be JSON
/// before.
class ValueReader {
 public:
  ValueReader(JsonCursor& cursor, const NameTable& nodes, const NameTable& keys, std::string_view subject)
      : cursor_(cursor), nodes_(nodes), keys_(keys), subject_(subject) {}

  template <class T>
  bool read(T& out) {
    cursor_.skipSpace();
    if constexpr (Named<T>) {
      return readNamed(out);
    } else if constexpr (Wrapper<T>) {
      return readWrapper(out);
    } else if constexpr (obs::Described<T> || obs::kIsArray<T>) {
      return readList(out);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (cursor_.peek() != 't' && cursor_.peek() != 'f') return wrongType<T>();
      out = cursor_.peek() == 't';
      return cursor_.skipValue();
    } else if constexpr (obs::DescribedEnum<T>) {
      if (cursor_.peek() != '"') return wrongType<T>();
      const std::size_t at = cursor_.at();
      if (!cursor_.readString(scratch_)) return false;
      return obs::enumFromName(scratch_, out) ||
             cursor_.fail(at, fmt::format("\"{}\" is {}", subject_, shown(scratch_)), expectationOf<T>());
    } else {
      return readInteger(out, expectationOf<T>);
    }
  }

 private:
  template <class T>
  bool wrongType() {
    return cursor_.fail(cursor_.at(), fmt::format("\"{}\" is {}", subject_, cursor_.found()),
                        expectationOf<T>());
  }

  template <class Integer>
  bool readInteger(Integer& out, std::string (*expectation)()) {
    const std::size_t at = cursor_.at();
    if (cursor_.peek() != '-' && (cursor_.peek() < '0' || cursor_.peek() > '9')) {
      return cursor_.fail(at, fmt::format("\"{}\" is {}", subject_, cursor_.found()), expectation());
    }
    std::string_view text;
    bool integral = false;
    if (!cursor_.readNumber(text, integral)) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (integral && error == std::errc() && end == text.data() + text.size()) return true;
    const std::string_view start = text.substr(0, 40);
    return cursor_.fail(
        at, fmt::format("\"{}\" is {}{}", subject_, start, start.size() < text.size() ? "..." : ""),
        expectation());
  }

  const NameTable& tableFor(obs::NodeId) const { return nodes_; }
  const NameTable& tableFor(obs::KeyId) const { return keys_; }

  template <Named T>
  bool readNamed(T& out) {
    const NameTable& table = tableFor(out);
    const std::size_t at = cursor_.at();
    if (cursor_.peek() == 'n') {
      out = T::none();
      return cursor_.skipValue();
    }
    if (cursor_.peek() == '"') {
      if (!cursor_.readString(scratch_)) return false;
      const std::optional<std::uint32_t> id = idOf(table, scratch_);
      if (!id) {
        const char* const what = std::is_same_v<T, obs::NodeId> ? "node" : "key";
        return cursor_.fail(at, fmt::format("\"{}\" names an unknown {} {}", subject_, what, shown(scratch_)),
                            listOf(table));
      }
      out.value = static_cast<decltype(out.value)>(*id);
      return true;
    }
    // Only an id that has no name is a number, so that no observation has two spellings.
    if (!readInteger(out.value, expectationOf<T>)) return false;
    if (out.valid() && out.value >= table.size()) return true;
    return cursor_.fail(at, fmt::format("\"{}\" is the number {}", subject_, out.value), expectationOf<T>());
  }

  template <Wrapper T>
  bool readWrapper(T& out) {
    const std::size_t at = cursor_.at();
    auto& field = out.*boost::mp11::mp_front<obs::FieldsOf<T>>::pointer;
    if constexpr (Identity<T>) {
      static_assert(!T{}.valid());
      if (cursor_.peek() == 'n') {
        out = T{};
        return cursor_.skipValue();
      }
      if (!readInteger(field, expectationOf<T>)) return false;
      return out.valid() || cursor_.fail(at, fmt::format("\"{}\" is 0", subject_), expectationOf<T>());
    } else {
      return read(field);
    }
  }

  template <class T>
  bool readList(T& out) {
    const std::size_t at = cursor_.at();
    if (!cursor_.take('[')) return wrongType<T>();
    std::size_t count = 0;
    bool ok = true;
    const auto element = [&](auto& value) {
      if (!ok) return;
      if ((count != 0 && !cursor_.take(',')) || closes()) {
        ok = cursor_.fail(at, fmt::format("\"{}\" has {} elements", subject_, count), expectationOf<T>());
        return;
      }
      ok = read(value);
      ++count;
    };
    if constexpr (obs::kIsArray<T>) {
      for (auto& value : out) element(value);
    } else {
      obs::forEachField(out, [&](std::string_view, auto& value) { element(value); });
    }
    if (!ok || cursor_.take(']')) return ok;
    return cursor_.fail(at, fmt::format("\"{}\" has more than {} elements", subject_, count),
                        expectationOf<T>());
  }

  bool closes() {
    cursor_.skipSpace();
    return cursor_.peek() == ']';
  }

  JsonCursor& cursor_;
  const NameTable& nodes_;
  const NameTable& keys_;
  std::string_view subject_;
  std::string scratch_;
};

/// Takes the members of a line one by one, by name; what is left over at the end is unknown.
class LineReader {
 public:
  LineReader(std::string_view line, std::vector<JsonMember> members, const NameTable& nodes,
             const NameTable& keys)
      : line_(line), members_(std::move(members)), used_(members_.size()), nodes_(nodes), keys_(keys) {}

  /// Reads member `name`; its column goes to `column`.
  template <class T>
  bool read(std::string_view name, T& out, std::size_t& column) {
    const JsonMember* const member = find(name);
    if (member == nullptr) return false;
    column = member->begin + 1;
    JsonCursor cursor(line_, member->begin);
    if (ValueReader(cursor, nodes_, keys_, name).read(out)) return true;
    error_ = cursor.error();
    return false;
  }

  template <class T>
  bool read(std::string_view name, T& out) {
    std::size_t ignored = 0;
    return read(name, out, ignored);
  }

  bool readString(std::string_view name, std::string& out, std::size_t& column) {
    const JsonMember* const member = find(name);
    if (member == nullptr) return false;
    column = member->begin + 1;
    JsonCursor cursor(line_, member->begin);
    if (cursor.peek() == '"') return cursor.readString(out);
    return fail(column, fmt::format("\"{}\" is {}", name, cursor.found()), "a string");
  }

  /// Whether every member was read; `kind` and its `fields` say what would have been right.
  bool nothingLeft(std::string_view kind, std::string (*fields)()) {
    const auto left = std::find(used_.begin(), used_.end(), false);
    if (left == used_.end()) return true;
    const JsonMember& member = members_[static_cast<std::size_t>(left - used_.begin())];
    return fail(member.nameAt + 1, fmt::format("{} has no field {}", kind, shown(member.name)),
                fields().empty() ? "no fields" : fields());
  }

  bool fail(std::size_t column, std::string what, std::string expected) {
    error_ = {column, std::move(what), std::move(expected)};
    return false;
  }

  const JsonError& error() const { return error_; }

 private:
  const JsonMember* find(std::string_view name) {
    // Members usually come in the order in which they are asked for.
    for (std::size_t step = 0; step < members_.size(); ++step) {
      const std::size_t i = (hint_ + step) % members_.size();
      if (members_[i].name == name) {
        used_[i] = true;
        hint_ = i + 1;
        return &members_[i];
      }
    }
    const std::size_t brace = line_.find_last_of('}');
    fail(brace + 1, fmt::format("\"{}\" is missing", name), "");
    return nullptr;
  }

  std::string_view line_;
  std::vector<JsonMember> members_;
  std::vector<bool> used_;
  std::size_t hint_ = 0;
  const NameTable& nodes_;
  const NameTable& keys_;
  JsonError error_;
};

bool readKind(LineReader& reader, std::size_t& kind) {
  std::string name;
  std::size_t column = 0;
  if (!reader.readString("is", name, column)) return false;
  const std::optional<std::size_t> found = kindFromName(name);
  if (!found) {
    return reader.fail(column, "unknown kind of observation " + shown(name),
                       fmt::format("a kind of docs/trace-format.md, perhaps \"{}\"", nearestKindName(name)));
  }
  kind = *found;
  return true;
}

template <std::size_t Kind>
bool readFields(LineReader& reader, obs::Observation& out) {
  ObservationOf<Kind> what;
  bool ok = true;
  obs::forEachField(what, [&](std::string_view name, auto& field) { ok = ok && reader.read(name, field); });
  if (!ok || !reader.nothingLeft(kKindNames[Kind], fieldList<ObservationOf<Kind>>)) return false;
  out = what;
  return true;
}

bool readHash(LineReader& reader, ObservationLine& line) {
  std::string text;
  if (!reader.readString("h", text, line.hashColumn)) return false;
  return hashFromHex(text, line.hash) || reader.fail(line.hashColumn, fmt::format("\"h\" is {}", shown(text)),
                                                     "16 lower-case hexadecimal digits");
}

}  // namespace

ObservationWriter::ObservationWriter(const Names& names) {
  for (const std::string& name : names.nodes) nodes_.push_back(quoted(name));
  for (const std::string& name : names.keys) keys_.push_back(quoted(name));
}

void ObservationWriter::append(std::string& out, std::uint64_t n, const obs::Stamped& stamped,
                               std::uint64_t hash) const {
  const QuotedNames names{nodes_, keys_};
  out += "{\"n\":";
  appendInteger(out, n);
  out += ",\"t\":";
  appendInteger(out, stamped.at.ns);
  out += ",\"node\":";
  appendValue(out, stamped.node, names);
  out += ",\"is\":\"";
  out += kindName(stamped.what);
  out += '"';
  std::visit(
      [&](const auto& what) {
        obs::forEachField(what, [&](std::string_view name, const auto& field) {
          out += ",\"";
          out += name;
          out += "\":";
          appendValue(out, field, names);
        });
      },
      stamped.what);
  out += ",\"h\":\"";
  out += hexHash(hash);
  out += "\"}";
}

std::vector<ObservationWriter::Member> ObservationWriter::members(const obs::Stamped& stamped) const {
  const QuotedNames names{nodes_, keys_};
  std::vector<Member> out;
  const auto add = [&](std::string_view name, const auto& value) {
    appendValue(out.emplace_back(std::string(name), std::string()).value, value, names);
  };
  add("t", stamped.at);
  add("node", stamped.node);
  out.emplace_back("is", quoted(kindName(stamped.what)));
  std::visit([&](const auto& what) { obs::forEachField(what, add); }, stamped.what);
  return out;
}

ObservationReader::ObservationReader(const Names& names)
    : nodes_(tableOf(names.nodes)), keys_(tableOf(names.keys)) {}

std::expected<ObservationLine, JsonError> ObservationReader::parse(std::string_view text) const {
  auto members = splitObject(text);
  if (!members) return std::unexpected(members.error());
  LineReader reader(text, std::move(*members), nodes_, keys_);
  ObservationLine line;
  std::size_t kind = 0;
  const bool ok = reader.read("n", line.n, line.numberColumn) && reader.read("t", line.stamped.at) &&
                  reader.read("node", line.stamped.node) && readKind(reader, kind) &&
                  readHash(reader, line) && boost::mp11::mp_with_index<kKindCount>(kind, [&](auto index) {
                    return readFields<index>(reader, line.stamped.what);
                  });
  if (!ok) return std::unexpected(reader.error());
  return line;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

std::string hexHash(std::uint64_t hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) out[i] = kDigits[hash & 0xf];
  return out;
}

bool hashFromHex(std::string_view text, std::uint64_t& hash) {
  if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
  std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  return true;
}

}  // namespace holdfast::traces
