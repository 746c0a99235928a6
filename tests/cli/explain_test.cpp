// holdfast explain, on the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string kExplained = "S-22-recall-in-flight-commit";

TEST(Explain, TellsWhyATwinWentWrong) {
  const Ran ran = holdfast({"explain", kExplained, "--without", "DR-3"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardOutput, HasSubstr("lateSettlement (DR-3)"));
  EXPECT_THAT(ran.standardOutput, HasSubstr("settled txn 2: committed"));
  EXPECT_THAT(ran.standardOutput, HasSubstr("believes  delegate of"));
  EXPECT_THAT(ran.standardOutput, HasSubstr("clocks    B:"));
  EXPECT_THAT(ran.standardOutput, HasSubstr("is the last in which a caller or a fault had a hand"));
  EXPECT_THAT(ran.standardError, HasSubstr("reproduce   "));
}

TEST(Explain, OfATraceTellsTheSameStory) {
  const ScratchFolder scratch;
  const std::string trace = scratch.file("t.jsonl");
  ASSERT_EQ(holdfast({"run", kExplained, "--without", "DR-3", "--trace", trace, "-q"}).exitCode, 1);
  const Ran ofTrace = holdfast({"explain", trace});
  EXPECT_EQ(ofTrace.exitCode, 0) << ofTrace.standardError;
  EXPECT_EQ(ofTrace.standardOutput, holdfast({"explain", kExplained, "--without", "DR-3"}).standardOutput);
}

TEST(Explain, OfTheRandomWorkloadFindsWhenItBecameInevitable) {
  const std::vector<std::string> arguments{"explain", "--seed", "1", "--without", "DG-3", "--json", "-q"};
  const nlohmann::json story = holdfast(arguments).object("story");
  ASSERT_TRUE(story.is_object());
  EXPECT_EQ(story["violation"], true);
  EXPECT_THAT(story["remarks"].dump(), HasSubstr("Inevitable under the plan from"));
}

TEST(Explain, OneEventCanBeExplained) {
  const nlohmann::json story =
      holdfast({"explain", kExplained, "--event", "30", "--json", "-q"}).object("story");
  ASSERT_TRUE(story.is_object());
  EXPECT_EQ(story["event"], 30);
  EXPECT_EQ(story["violation"], false);
}

TEST(Explain, BadInputIsNamed) {
  const ScratchFolder scratch;
  const auto complaint = [&](const std::vector<std::string>& arguments, int exitCode) {
    const Ran ran = holdfast(arguments);
    EXPECT_EQ(ran.exitCode, exitCode) << ran.standardError;
    return ran.standardError;
  };
  EXPECT_THAT(complaint({"explain", "no/such.jsonl"}, 64),
              HasSubstr("there is no trace file 'no/such.jsonl'"));
  EXPECT_THAT(complaint({"explain", "S-999"}, 64), HasSubstr("there is no scenario 'S-999'"));
  EXPECT_THAT(complaint({"explain", kExplained, "--event", "0"}, 64), HasSubstr("--event is '0'; expected"));
  EXPECT_THAT(complaint({"explain", kExplained, "--finding", "x"}, 64), HasSubstr("--finding"));
  EXPECT_THAT(complaint({"explain", kExplained, "--steps", "0"}, 64), HasSubstr("--steps is '0'"));
  EXPECT_THAT(complaint({"explain", kExplained, "--scenario", kExplained}, 64),
              HasSubstr("exclude each other"));
  writeLines(scratch.file("cut.jsonl"), {"{\"holdfast\":"});
  EXPECT_THAT(complaint({"explain", scratch.file("cut.jsonl")}, 64), HasSubstr("cut.jsonl:1:"));
}

}  // namespace
}  // namespace holdfast::cli
