// holdfast explain, on the real binary.
#include <fmt/format.h>
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

TEST(Explain, NamesTheCycleOfWaits) {
  const ScratchFolder scratch;
  const std::string plan = scratch.file("plan.json");
  // A and B each hold a key that a caller of the other waits for.
  const auto lock = [](int id, const char* at, int node, int key, const char* think) {
    return fmt::format(R"({{"id":{},"at":{},"node":{},"kind":"lockedUpdate","key":{},)"
                       R"("wait":1000000000,"lease":5000000000,"think":{}}})",
                       id, at, node, key, think);
  };
  writeLines(
      plan, {R"({"holdfastPlan":1,"options":{"nodes":3,"keys":2},"plan":{"endAt":9000000000,"operations":[)",
             lock(1, "3000000000", 0, 0, "4000000000") + ",", lock(2, "3000000000", 1, 1, "4000000000") + ",",
             lock(3, "3500000000", 0, 1, "0") + ",", lock(4, "3500000000", 1, 0, "0"), "]}}"});
  const std::string trace = scratch.file("t.jsonl");
  ASSERT_EQ(holdfast({"run", "--plan", plan, "--trace", trace, "--no-save", "-q"}).exitCode, 0);
  std::string admission;
  for (const std::string& line : linesOf(trace)) {
    if (line.find(R"("is":"Admitted","call":4)") == std::string::npos) continue;
    admission = fmt::to_string(nlohmann::json::parse(line)["n"].get<int>());
  }
  const nlohmann::json story =
      holdfast({"explain", trace, "--event", admission, "--json", "-q"}).object("story");
  EXPECT_THAT(
      story["remarks"].dump(),
      HasSubstr("Wait-for cycle: B waits for accounts/k0 (call 3), which A holds (call 2); A waits for "
                "accounts/k1 (call 4), which B holds (call 1)"));
}

TEST(Explain, SaysWhyThereIsNoMembership) {
  const ScratchFolder scratch;
  const std::string plan = scratch.file("plan.json");
  // B is cut off at 1 s and asks at 12 s.
  writeLines(plan, {R"({"holdfastPlan":1,"options":{"nodes":3,"keys":1},"plan":{)",
                    R"("healAt":20000000000,"endAt":22000000000,"faults":[{"id":9,"at":1000000000,)",
                    R"("kind":"isolate","node":1,"duration":18000000000}],"operations":[{"id":1,)",
                    R"("at":12000000000,"node":1,"key":0,"wait":2000000000,"lease":1000000000}]}})"});
  const std::string trace = scratch.file("t.jsonl");
  ASSERT_EQ(holdfast({"run", "--plan", plan, "--trace", trace, "--no-save", "-q"}).exitCode, 3);
  std::string refusal;
  for (const std::string& line : linesOf(trace)) {
    if (line.find(R"("is":"LockRefused")") == std::string::npos) continue;
    refusal = fmt::to_string(nlohmann::json::parse(line)["n"].get<int>());
  }
  const Ran ran = holdfast({"explain", trace, "--event", refusal, "-q"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardOutput,
              testing::ContainsRegex(
                  "B membership installed: number 1(.|\n)*B LINK to A was CUT(.|\n)*B lost its lease on "
                  "membership 1(.|\n)*B refused call 1 on accounts/k0"));
}

/// The numbered steps of a story whose text has `text`, in order.
std::vector<std::string> stepsWith(const Ran& ran, const std::string& text) {
  std::vector<std::string> steps;
  for (const nlohmann::json& object : ran.objects()) {
    if (object["is"] != "step" || object["text"].get<std::string>().find(text) == std::string::npos) continue;
    steps.push_back(object["node"].get<std::string>());
  }
  return steps;
}

TEST(Explain, OfAHomeMapTellsWhoPublishedAcknowledgedActivatedAndServed) {
  const Ran ran = holdfast(
      {"explain", "S-49-home-map-change", "--without", "HM3_MonotonicDrain", "--no-rerun", "--json", "-q"});
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  const std::vector<std::string> staged = stepsWith(ran, "home map staged: generation 2");
  ASSERT_EQ(staged.size(), 4U);
  EXPECT_EQ(staged.front(), "D") << "the console, where it was published";
  EXPECT_EQ(stepsWith(ran, "home map acknowledged: generation 2, incarnation 1, again no").size(), 4U);
  EXPECT_EQ(stepsWith(ran, "home map activated: generation 2"), std::vector<std::string>{"D"});
  EXPECT_EQ(stepsWith(ran, "membership active: number 1").size(), 4U);
  EXPECT_EQ(stepsWith(ran, "membership active: number 2"), std::vector<std::string>{"D"});
}

TEST(Explain, OfAnEpochTellsWhoPromisedAcceptedAndWentOver) {
  const Ran ran =
      holdfast({"explain", "S-40-home-dies", "--without", "EP8_WaitsOut", "--no-rerun", "--json", "-q"});
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(stepsWith(ran, "proposal started: number 2"), std::vector<std::string>{"B"});
  EXPECT_EQ(stepsWith(ran, "membership promised: number 2").size(), 4U);
  EXPECT_EQ(stepsWith(ran, "membership accepted: number 2").size(), 4U);
  EXPECT_EQ(stepsWith(ran, "membership decided: number 2"), std::vector<std::string>{"B"});
  EXPECT_EQ(stepsWith(ran, "membership installed: number 2").size(), 4U);
  EXPECT_EQ(stepsWith(ran, "membership active: number 2"), std::vector<std::string>{"B"});
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
  for (const char* option : {"--seed", "--without", "--set", "--membership"}) {
    EXPECT_THAT(complaint({"explain", scratch.file("cut.jsonl"), option, "1"}, 64),
                HasSubstr("shape a new run, not a trace"));
  }
  EXPECT_THAT(complaint({"explain", scratch.file("cut.jsonl")}, 64), HasSubstr("cut.jsonl:1:"));
}

}  // namespace
}  // namespace holdfast::cli
