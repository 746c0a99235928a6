// Histories in their notations, and what is wrong with bad ones, with its place.
#include <gtest/gtest.h>

#include <string>

#include "histories/history.hpp"

namespace holdfast::histories {
namespace {

std::string wrong(std::string_view text) {
  const auto history = read(text);
  if (history) return "read";
  return std::to_string(history.error().line) + ":" + std::to_string(history.error().column) + ": " +
         history.error().text;
}

TEST(Edn, ReadsEveryKindOfValue) {
  const auto values = readEdn(
      "[nil true -7 2.5 \"a\\\"b\\n\" :key #{1 2} (x) {:a 1, \"b\" [2]} #_ dropped \\c] ; end\n#inst "
      "\"2020\"");
  ASSERT_TRUE(values.has_value());
  ASSERT_EQ(values->size(), 2U);
  EXPECT_EQ(values->front().printed(),
            "[nil true -7 2.5 \"a\\\"b\\n\" :key [1 2] [:x] {:a 1 \"b\" [2]} \"c\"]");
  EXPECT_EQ(values->back().printed(), "\"2020\"");
  EXPECT_EQ(values->front().items[8].member("b")->printed(), "[2]");
}

TEST(Edn, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(wrong("[{:process 0 :type :invoke"), "1:27: the text ends; expected '}'");
  EXPECT_EQ(wrong("{:process 0 :type :invoke}\n{:process 0 :type}"),
            "2:18: the last name of the map has no value; expected one");
  EXPECT_EQ(wrong("{:process 0 :type :invoke :f \"a"), "1:32: the text ends within a string; expected '\"'");
  EXPECT_EQ(wrong(std::string(200, '[')), "1:66: values are nested too deeply; expected at most 64 levels");
  EXPECT_EQ(wrong("{:process 0 :type :invoke} ]"), "1:28: ']' closes nothing; expected a value");
}

TEST(Read, JoinsReturnsToInvocations) {
  const auto history = read(
      "{:process 0 :type :invoke :f :read}\n{:process 1 :type :invoke :f :write :value 3}\n"
      "{:process 1 :type :info :f :write :error :timeout}\n"
      "{:process :nemesis :type :info :f :start}\n{:process 0 :type :ok :f :read :value 3}");
  ASSERT_TRUE(history.has_value());
  ASSERT_EQ(history->operations.size(), 2U);
  const Operation& first = history->operations[0];
  EXPECT_EQ(first.outcome, Outcome::ok);
  EXPECT_EQ(first.result.number, 3);
  EXPECT_EQ(first.invoked, 0U);
  EXPECT_EQ(first.returned, 3U);
  EXPECT_EQ(first.returnLine, 5U);
  EXPECT_EQ(history->operations[1].outcome, Outcome::unknown);
  EXPECT_TRUE(history->operations[1].error);
}

TEST(Read, RefusesEventsThatCanNotBe) {
  EXPECT_EQ(wrong("{:process 0 :type :ok :f :read}"),
            "1:1: process 0 returns without an invocation; expected one before");
  EXPECT_EQ(
      wrong("{:process 0 :type :invoke :f :read}\n{:process 0 :type :invoke :f :read}"),
      "2:1: process 0 invokes again before its operation of line 1 has returned; expected ok, fail or info "
      "first");
  EXPECT_EQ(wrong("{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :write}"),
            "2:26: the return is of write, and process 0 invoked read on line 1; expected that");
  EXPECT_EQ(wrong("{:process 0 :type :begin}"),
            "1:19: the type is :begin; expected invoke, ok, fail or info");
  EXPECT_EQ(wrong("{\"process\": 0, \"type\": \"invoke\"}\n{\"process\" 0}"),
            "2:12: this is no JSON; expected one object a line");
  EXPECT_EQ(wrong("{\"process\": 0}\n[1]"), "1:1: the event has no type; expected invoke, ok, fail or info");
  EXPECT_EQ(wrong("nothing of the kind"),
            "1:1: there is no operation here; expected JSON lines, Jepsen's EDN, or lines of Jepsen's log");
  EXPECT_EQ(wrong(""),
            "1:1: there is no operation here; expected JSON lines, Jepsen's EDN, or lines of Jepsen's log");
}

TEST(Read, TakesLogLinesWithTabsAndBlanks) {
  for (const std::string_view gap : {"\t", "   "}) {
    std::string text = "INFO  jepsen.util - 4";
    text += gap;
    text += ":invoke";
    text += gap;
    text += ":cas";
    text += gap;
    text += "[3 0]\nINFO  jepsen.util - 4\t:info\t:cas\t:timed-out\n";
    const auto history = read(text);
    ASSERT_TRUE(history.has_value());
    ASSERT_EQ(history->operations.size(), 1U);
    EXPECT_EQ(history->operations[0].argument.printed(), "[3 0]");
    EXPECT_EQ(history->operations[0].outcome, Outcome::unknown);
    EXPECT_TRUE(history->operations[0].error);
  }
}

}  // namespace
}  // namespace holdfast::histories
