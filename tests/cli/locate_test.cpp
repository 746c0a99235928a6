#include "cli/locate.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::cli {
namespace {

TEST(ColumnOf, FindsMembersAndElements) {
  const std::string line = R"({"plan": {"faults":[{"id":1}, {"id":2,"kind":"crash"}], "endAt":5}})";
  const auto column = [&](std::string_view value) { return line.find(value) + 1; };
  EXPECT_EQ(columnOf(line, "plan"), column("{\"faults"));
  EXPECT_EQ(columnOf(line, "plan.endAt"), column("5}}"));
  EXPECT_EQ(columnOf(line, "plan.faults[0]"), column("{\"id\":1"));
  EXPECT_EQ(columnOf(line, "plan.faults[1].kind"), column("\"crash\""));
  EXPECT_EQ(columnOf(line, "plan.faults[1].kind: expected another"), column("\"crash\""));
}

TEST(ColumnOf, StopsAtTheInnermostPartThatIsThere) {
  const std::string line = R"({"plan":{"faults":[{"id":1}]}})";
  const std::size_t plan = line.find("{\"faults") + 1;
  EXPECT_EQ(columnOf(line, "plan.missing"), plan);
  EXPECT_EQ(columnOf(line, "plan.faults[7].id"), line.find('[') + 1);
  EXPECT_EQ(columnOf(line, "plan.faults[0].kind"), line.find("{\"id") + 1);
  EXPECT_EQ(columnOf(line, "plan.faults[99999999999999999999]"), line.find('[') + 1);
  EXPECT_EQ(columnOf(line, "plan.faults[0"), line.find('[') + 1);
  EXPECT_EQ(columnOf(line, ""), 1U);
  EXPECT_EQ(columnOf("", "plan"), 1U);
  EXPECT_EQ(columnOf("not json", "plan"), 1U);
  EXPECT_EQ(columnOf(R"({"plan)", "plan"), 1U);
}

}  // namespace
}  // namespace holdfast::cli
