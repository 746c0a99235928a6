// docs/trace-format.md says every kind, field, type and enumerator that a trace can hold, and none besides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "observations/hash_chain.hpp"
#include "tests/traces/support.hpp"
#include "traces/kinds.hpp"
#include "traces/trace.hpp"

namespace holdfast::traces {
namespace {

const std::string& document() {
  static const std::string text =
      contentOf(std::filesystem::path(HOLDFAST_SOURCE_DIR) / "docs/trace-format.md");
  return text;
}

std::string code(std::string_view name) { return "`" + std::string(name) + "`"; }

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// The cells of each row of the tables in the section under `heading`.
std::vector<std::vector<std::string>> rowsUnder(const std::string& heading) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream in(document());
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    if (!inside || !line.starts_with("| `")) continue;
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
  }
  return rows;
}

/// How the document calls the type of a field.
template <class T>
std::string typeWord() {
  if constexpr (std::is_same_v<T, obs::NodeId>) {
    return "node";
  } else if constexpr (std::is_same_v<T, obs::KeyId>) {
    return "key";
  } else if constexpr (std::is_same_v<T, obs::CallId>) {
    return "call";
  } else if constexpr (std::is_same_v<T, obs::TxnId>) {
    return "transaction";
  } else if constexpr (std::is_same_v<T, obs::Token>) {
    return "token";
  } else if constexpr (std::is_same_v<T, obs::Duration>) {
    return "duration";
  } else if constexpr (std::is_same_v<T, obs::MonotonicInstant>) {
    return "monotonic";
  } else if constexpr (std::is_same_v<T, obs::WallInstant>) {
    return "wall";
  } else if constexpr (std::is_same_v<T, obs::Timestamp>) {
    return "timestamp";
  } else if constexpr (std::is_same_v<T, obs::NodeBits>) {
    return "nodes";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (obs::kIsArray<T>) {
    return std::to_string(std::tuple_size_v<T>) + " × " + typeWord<typename T::value_type>();
  } else if constexpr (obs::DescribedEnum<T>) {
    return std::string(obs::typeName<T>());
  } else {
    static_assert(std::is_integral_v<T>, "give it a word, and the document a row");
    return (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
  }
}

template <class Visit>
void forEachKind(Visit&& visit) {
  boost::mp11::mp_for_each<boost::mp11::mp_iota_c<kKindCount>>(visit);
}

/// The enumerators of T, or of what T consists of, by the name of the enum.
template <class T>
void collectEnums(std::map<std::string, std::string>& enums) {
  if constexpr (obs::Described<T>) {
    T value{};
    obs::forEachField(
        value, [&](std::string_view, auto& f) { collectEnums<std::remove_cvref_t<decltype(f)>>(enums); });
  } else if constexpr (obs::kIsArray<T>) {
    collectEnums<typename T::value_type>(enums);
  } else if constexpr (obs::DescribedEnum<T>) {
    std::string list;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
        [&](auto enumerator) { list += (list.empty() ? "" : ", ") + code(enumerator.name); });
    enums[typeWord<T>()] = list;
  }
}

TEST(FormatDocument, ListsEveryKindWithItsFieldsInOrder) {
  std::vector<std::string> documented;
  std::vector<std::string> described;
  for (const auto& row : rowsUnder("Kinds of observations")) {
    ASSERT_EQ(row.size(), 3U) << row[0];
    EXPECT_FALSE(row[2].empty()) << row[0] << " has no meaning";
    documented.push_back(row[0] + " | " + row[1]);
  }
  forEachKind([&](auto kind) {
    std::string fields;
    obs::forEachField(ObservationOf<kind>{}, [&](std::string_view name, const auto& field) {
      fields +=
          (fields.empty() ? "" : ", ") + code(name) + " " + typeWord<std::remove_cvref_t<decltype(field)>>();
    });
    described.push_back(code(kKindNames[kind]) + " | " + fields);
  });
  EXPECT_EQ(described.size(), kKindCount);
  EXPECT_THAT(documented, testing::UnorderedElementsAreArray(described));
}

TEST(FormatDocument, SaysWhatEachFieldMeans) {
  std::set<std::string> documented;
  for (const auto& row : rowsUnder("Fields of observations")) {
    ASSERT_EQ(row.size(), 2U) << row[0];
    EXPECT_FALSE(row[1].empty()) << row[0];
    EXPECT_TRUE(documented.insert(row[0]).second) << row[0] << " stands there twice";
  }
  std::set<std::string> described;
  forEachKind([&](auto kind) {
    obs::forEachField(ObservationOf<kind>{},
                      [&](std::string_view name, const auto&) { described.insert(code(name)); });
  });
  EXPECT_GT(described.size(), 20U);
  EXPECT_EQ(documented, described);
}

TEST(FormatDocument, ListsEveryEnumerator) {
  std::map<std::string, std::string> documented;
  for (const auto& row : rowsUnder("Enumerations")) {
    ASSERT_EQ(row.size(), 2U) << row[0];
    documented[row[0].substr(1, row[0].size() - 2)] = row[1];
  }
  std::map<std::string, std::string> described;
  forEachKind([&](auto kind) { collectEnums<ObservationOf<kind>>(described); });
  EXPECT_GT(described.size(), 5U);
  EXPECT_EQ(documented, described);
}

TEST(FormatDocument, NamesEveryMemberOfTheOtherLines) {
  std::ostringstream out;
  auto writer = TraceWriter::to(out, Header{}, nlohmann::json::array());
  ASSERT_TRUE(writer);
  writer->on({{0}, {}, obs::NodePaused{}});
  ASSERT_TRUE(writer->finish(nlohmann::json::object(), {0}));
  std::istringstream in(out.str());
  for (const char* const section :
       {"Line 1: header", "Line 2: plan", "Lines of observations", "Last line: verdict"}) {
    std::set<std::string> documented;
    for (const auto& row : rowsUnder(section)) documented.insert(row[0]);
    std::string line;
    ASSERT_TRUE(std::getline(in, line));
    std::set<std::string> written;
    const nlohmann::json members = nlohmann::json::parse(line);
    for (const auto& [name, value] : members.items()) {
      written.insert(code(name));
      if (name != "rules" && name != "names") continue;
      for (const auto& [inner, ignored] : value.items()) written.insert(code(name + "." + inner));
    }
    EXPECT_EQ(documented, written) << section;
  }
}

TEST(FormatDocument, TheExampleIsAGoodTrace) {
  const std::string start = "```jsonl\n";
  const std::size_t from = document().find(start);
  ASSERT_NE(from, std::string::npos);
  const std::size_t to = document().find("```", from + start.size());
  std::istringstream in(document().substr(from + start.size(), to - from - start.size()));
  const auto trace = readTrace(in, "docs/trace-format.md");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_GT(trace->observations.size(), 2U);
}

}  // namespace
}  // namespace holdfast::traces
