// holdfast show and holdfast diff, on the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pictures/diagrams.hpp"
#include "tests/cli/process.hpp"
#include "tests/pictures/viewer_formats.hpp"

namespace holdfast::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kDrawn = "S-22-recall-in-flight-commit";

TEST(Show, WritesEveryFormAtOnce) {
  const ScratchFolder scratch;
  std::vector<std::string> arguments{"show", kDrawn, "--without", "DR-3"};
  for (const char* form : {"svg", "html", "mermaid", "dot", "perfetto", "shiviz", "text"}) {
    arguments.push_back(std::string("--") + form);
    arguments.push_back(scratch.file(form));
  }
  const Ran ran = holdfast(arguments);
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(scratch.size(), 7U);
  EXPECT_THAT(textOf(scratch.file("svg")), StartsWith("<svg xmlns"));
  EXPECT_THAT(textOf(scratch.file("html")), StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(textOf(scratch.file("mermaid")), StartsWith("sequenceDiagram"));
  EXPECT_THAT(textOf(scratch.file("dot")), StartsWith("digraph"));
  EXPECT_EQ(pictures::TraceEventRules::brokenBy(textOf(scratch.file("perfetto"))), "");
  const std::string parser(pictures::kShivizParser);
  EXPECT_EQ(pictures::shivizRuleBrokenBy(textOf(scratch.file("shiviz")), parser), "");
  EXPECT_THAT(textOf(scratch.file("text")), HasSubstr("<== lateSettlement (DR-3)"));
  EXPECT_THAT(ran.standardError, HasSubstr("violation   lateSettlement (DR-3)"));

  const Ran again = holdfast(arguments);
  EXPECT_EQ(again.exitCode, 64);
  EXPECT_THAT(again.standardError, HasSubstr("exists already"));
}

TEST(Show, PrintsATimelineOfATraceByDefault) {
  const ScratchFolder scratch;
  const std::string trace = scratch.file("t.jsonl");
  ASSERT_EQ(holdfast({"run", kDrawn, "--trace", trace, "-q"}).exitCode, 0);
  const Ran ran = holdfast({"show", trace, "--from", "1s", "--to", "2s"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardOutput, StartsWith("      true time"));
  EXPECT_THAT(ran.standardOutput, HasSubstr("call 1 asked for"));
}

TEST(Show, BadInputIsNamed) {
  const auto complaint = [&](const std::vector<std::string>& arguments) {
    const Ran ran = holdfast(arguments);
    EXPECT_EQ(ran.exitCode, 64) << ran.standardError;
    return ran.standardError;
  };
  EXPECT_THAT(complaint({"show", kDrawn, "--key", "nobody"}),
              HasSubstr("--key: the run has no key 'nobody'"));
  EXPECT_THAT(complaint({"show", kDrawn, "--from", "soon"}),
              HasSubstr("--from: 'soon' is no length of time"));
  EXPECT_THAT(complaint({"show", kDrawn, "--from", "9h"}), HasSubstr("no event is left to show"));
  EXPECT_THAT(complaint({"show", kDrawn, "--slice"}), HasSubstr("--slice: nothing went wrong"));
  EXPECT_THAT(complaint({"show", kDrawn, "--slice", "--whole"}), HasSubstr("exclude each other"));
  EXPECT_THAT(complaint({"show", kDrawn, "--svg", "-", "--dot", "-"}), HasSubstr("room for one picture"));
  EXPECT_THAT(complaint({"show", kDrawn, "--svg", "-", "--json"}), HasSubstr("room for one picture"));
  EXPECT_THAT(complaint({"show", kDrawn, "--svg", "/no/such/folder/x.svg"}),
              HasSubstr("--svg: cannot write '/no/such/folder/x.svg'"));
}

TEST(Diff, OfARunWithItselfIsNothing) {
  const ScratchFolder scratch;
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(holdfast({"run", kDrawn, "--trace", scratch.file(name), "-q"}).exitCode, 0);
  }
  const Ran ran = holdfast({"diff", scratch.file("a"), scratch.file("b")});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(ran.standardOutput, "");
  EXPECT_THAT(ran.standardError, HasSubstr("compared    the same "));
}

TEST(Diff, NamesTheFirstDifferenceAndCountsThemByKind) {
  const ScratchFolder scratch;
  ASSERT_EQ(holdfast({"run", kDrawn, "--trace", scratch.file("a"), "-q"}).exitCode, 0);
  ASSERT_EQ(holdfast({"run", kDrawn, "--without", "DR-3", "--trace", scratch.file("b"), "-q"}).exitCode, 1);
  const Ran ran = holdfast({"diff", scratch.file("a"), scratch.file("b")});
  EXPECT_EQ(ran.exitCode, 4) << ran.standardError;
  EXPECT_THAT(ran.standardOutput, HasSubstr("rules off: none | DR3_AwaitSettlement"));
  EXPECT_THAT(ran.standardOutput, HasSubstr("first differing event #"));
  EXPECT_THAT(ran.standardOutput, HasSubstr("\nDrained "));
  const nlohmann::json json =
      holdfast({"diff", scratch.file("a"), scratch.file("b"), "--json"}).object("difference");
  EXPECT_EQ(json["same"], false);
  EXPECT_GT(json["event"], 1);
}

TEST(Diff, ATraceThatIsCutIsRefused) {
  const ScratchFolder scratch;
  ASSERT_EQ(holdfast({"run", kDrawn, "--trace", scratch.file("a"), "-q"}).exitCode, 0);
  std::vector<std::string> lines = linesOf(scratch.file("a"));
  lines.resize(lines.size() / 2);
  writeLines(scratch.file("b"), lines);
  const Ran ran = holdfast({"diff", scratch.file("a"), scratch.file("b")});
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardError, HasSubstr(scratch.file("b")));
}

}  // namespace
}  // namespace holdfast::cli
