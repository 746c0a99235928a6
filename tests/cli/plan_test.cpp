// Plans as data, from the outside: saved, edited, run again; and what is kept of a run that failed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A violation of safety within a few seconds.
const std::vector<std::string> kBroken{"run", "--seed", "3", "--without", "DG3_OneDelegate"};

std::string savePlan(const ScratchFolder& scratch, const std::string& name,
                     const std::vector<std::string>& more = {}) {
  const std::string file = scratch.file(name);
  const Ran ran = holdfast(with(with({"run", "--seed", "7", "--save-plan", file}, kShort), more));
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardError, HasSubstr("plan        " + file));
  return file;
}

TEST(Plan, SavedAndRunAgainIsTheSameRun) {
  const ScratchFolder scratch;
  const std::string file = savePlan(scratch, "a plan.json", {"--story", "For the test."});
  const nlohmann::json saved = nlohmann::json::parse(textOf(file));
  EXPECT_EQ(saved["story"], "For the test.");
  EXPECT_EQ(saved["options"]["nodes"], 3);
  const Ran again = holdfast({"run", "--plan", file, "--json"});
  EXPECT_EQ(again.exitCode, 0) << again.standardError;
  const nlohmann::json verdict = again.object("verdict");
  EXPECT_EQ(verdict["traceHash"], saved["known"]["traceHash"]);
  EXPECT_EQ(verdict["reproduce"], HOLDFAST_COMMAND " run --plan '" + file + "'");
}

TEST(Plan, AnEditedPlanIsRunAsItStands) {
  const ScratchFolder scratch;
  const std::string file = savePlan(scratch, "plan.json");
  nlohmann::json plan = nlohmann::json::parse(textOf(file));
  plan["plan"]["operations"].erase(plan["plan"]["operations"].begin() + 3, plan["plan"]["operations"].end());
  plan["plan"]["faults"] = nlohmann::json::array();
  writeLines(file, {plan.dump()});
  const Ran ran = holdfast({"run", "--plan", file, "--json"});
  const nlohmann::json verdict = ran.object("verdict");
  EXPECT_NE(verdict["traceHash"], plan["known"]["traceHash"]);
  EXPECT_EQ(verdict["coverage"]["milestones"]["crashed"], 0);
  const Ran broken =
      holdfast({"run", "--plan", file, "--seed", "9", "--without", "DG-3", "--json", "--no-save"});
  EXPECT_EQ(broken.object("start")["rulesOff"], nlohmann::json({"DG3_OneDelegate"}));
  EXPECT_EQ(broken.object("start")["seed"], "9");
}

TEST(Plan, WhatIsNoPlanIsRefusedWithItsPlace) {
  const ScratchFolder scratch;
  const std::string good = textOf(savePlan(scratch, "plan.json"));
  const std::string bad = scratch.file("bad.json");
  const auto complaint = [&](const std::string& what, const std::string& instead) {
    std::string text = good;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), instead);
    writeLines(bad, {text});
    const Ran ran = holdfast({"run", "--plan", bad});
    EXPECT_EQ(ran.exitCode, 64) << instead;
    return ran.standardError;
  };
  EXPECT_THAT(complaint("\"holdfastPlan\": 1", "\"holdfastPlan\": 7"),
              AllOf(HasSubstr("bad.json:2:19: holdfastPlan: is version 7; expected 1")));
  EXPECT_THAT(complaint("\"rulesOff\": []", "\"rulesOff\": [\"DG99\"]"),
              HasSubstr("bad.json:5:16: there is no rule 'DG99'"));
  EXPECT_THAT(complaint("\"mixed\"", "\"S-99\""), HasSubstr("bad.json:4:15: there is no scenario \"S-99\""));
  EXPECT_THAT(complaint("\"nodes\": 3", "\"nodes\": 99"), HasSubstr("nodes is 99; expected 1 to 63"));
  EXPECT_THAT(complaint("\"node\":0", "\"node\":8"), HasSubstr(".node is 8; expected 0 to 2"));
  EXPECT_THAT(complaint("\"seed\": 7,", "\"seed\": 7"), HasSubstr("not JSON"));
  EXPECT_THAT(complaint("\"story\": \"\"", "\"story\": 1e5"), HasSubstr("story: expected a string"));
  writeLines(bad, {"{\"holdfastPlan\":1}"});
  EXPECT_THAT(holdfast({"run", "--plan", bad}).standardError, HasSubstr("bad.json:1:1: plan: is missing"));
  writeLines(bad, {good.substr(0, good.size() / 2)});
  EXPECT_THAT(holdfast({"run", "--plan", bad}).standardError, HasSubstr("bad.json:"));
}

TEST(Plan, WhatIsOutOfRangeIsPointedTo) {
  const ScratchFolder scratch;
  const nlohmann::json good = nlohmann::json::parse(textOf(savePlan(scratch, "plan.json")));
  const std::string bad = scratch.file("bad.json");
  const std::int64_t far = 8'888'888'888'888'888'888;
  for (const char* member : {"/plan/healAt", "/plan/endAt", "/plan/clocks/1/ratePpb",
                             "/plan/clocks/1/wallOffset", "/plan/operations/1/wait"}) {
    nlohmann::json plan = good;
    plan[nlohmann::json::json_pointer(member)] = -far;
    const std::string text = plan.dump();
    writeLines(bad, {text});
    const Ran ran = holdfast({"run", "--plan", bad});
    EXPECT_EQ(ran.exitCode, 64) << member;
    EXPECT_THAT(ran.standardError,
                AllOf(HasSubstr(fmt::format("bad.json:1:{}: plan: ", text.find("-888") + 1)),
                      HasSubstr(" is -8888888888888888888 ")));
  }
}

TEST(Plan, OfAStoryOrAScheduleSaysNothingThatWouldBeIgnored) {
  const ScratchFolder scratch;
  const std::string bad = scratch.file("bad.json");
  const auto complaint = [&](const std::string& members) {
    writeLines(bad, {R"({"holdfastPlan":1,)" + members + "}"});
    const Ran ran = holdfast({"run", "--plan", bad, "--no-save"});
    EXPECT_EQ(ran.exitCode, 64) << members;
    return ran.standardError;
  };
  EXPECT_THAT(complaint(R"("scenario":"S-31-transitive","options":{"nodes":9})"),
              HasSubstr("bad.json:1:58: options: S-31-transitive is a directed scenario"));
  EXPECT_THAT(complaint(R"("scenario":"S-31-transitive","plan":{"endAt":5})"),
              HasSubstr("plan: S-31-transitive is a directed scenario"));
  EXPECT_THAT(complaint(R"("scenario":"explore/handoff")"), HasSubstr("steps: is missing or empty"));
  EXPECT_THAT(complaint(R"("scenario":"explore/handoff","steps":["x"],"options":{"keys":2})"),
              HasSubstr("options: explore/handoff is a schedule of the explorer"));
}

TEST(Plan, OfADirectedScenarioNamesIt) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("s31.json");
  const Ran ran =
      holdfast({"run", "S-31", "--without", "FR2_InheritDependencies", "--save-plan", file, "--no-save"});
  EXPECT_EQ(ran.exitCode, 1) << ran.standardError;
  const Ran again = holdfast({"run", "--plan", file, "--json", "--no-save"});
  EXPECT_EQ(again.exitCode, 1) << again.standardError;
  EXPECT_EQ(again.object("start")["scenario"], "S-31-transitive");
  EXPECT_EQ(again.object("verdict")["traceHash"], nlohmann::json::parse(textOf(file))["known"]["traceHash"]);
}

TEST(Plan, IsNeverWrittenOverAFile) {
  const ScratchFolder scratch;
  const std::string file = savePlan(scratch, "plan.json");
  const std::string before = textOf(file);
  const Ran refused = holdfast(with({"run", "--seed", "8", "--save-plan", file}, kShort));
  EXPECT_EQ(refused.exitCode, 64);
  EXPECT_THAT(refused.standardError, HasSubstr("it exists already; expected another name, or --force"));
  EXPECT_EQ(textOf(file), before);
  const Ran forced = holdfast(with({"run", "--seed", "8", "--force", "--save-plan", file}, kShort));
  EXPECT_EQ(forced.exitCode, 0) << forced.standardError;
  EXPECT_NE(textOf(file), before);
  EXPECT_EQ(scratch.size(), 1U) << "no partial file";
}

TEST(SavedRun, AFailureIsKeptWithEverythingThatIsNeeded) {
  const ScratchFolder scratch;
  const Ran ran = holdfast(with(kBroken, {"--json"}), {.folder = scratch.path()});
  ASSERT_EQ(ran.exitCode, 1) << ran.standardError;
  EXPECT_EQ(ran.object("verdict")["saved"], "holdfast-out/mixed-3");
  EXPECT_THAT(ran.standardError, HasSubstr("saved       holdfast-out/mixed-3\n"));
  const std::filesystem::path folder = scratch.path() / "holdfast-out/latest";
  EXPECT_TRUE(std::filesystem::is_symlink(folder));
  EXPECT_EQ(nlohmann::json::parse(textOf(folder / "options.json"))["nodes"], 5);
  const nlohmann::json verdict = nlohmann::json::parse(textOf(folder / "verdict.json"));
  EXPECT_EQ(verdict["verdict"], "safetyViolation");
  EXPECT_EQ(verdict["traceHash"], ran.object("verdict")["traceHash"]);
  EXPECT_GT(verdict["findings"].size(), 0U);
  EXPECT_THAT(textOf(folder / "diagram.html"), AllOf(HasSubstr("<svg"), HasSubstr("</html>")));

  const Ran replayed = holdfast({"replay", (folder / "trace.jsonl").string(), "--verify", "--json"});
  EXPECT_EQ(replayed.exitCode, 1) << replayed.standardError;
  EXPECT_EQ(replayed.object("comparison")["same"], true);
  const Ran again = holdfast({"run", "--plan", (folder / "plan.json").string(), "--no-save", "--json"});
  EXPECT_EQ(again.object("verdict")["traceHash"], verdict["traceHash"]);
}

TEST(SavedRun, OfAStorySaysNoOptionsThatItDoesNotHave) {
  const ScratchFolder scratch;
  const Ran ran =
      holdfast({"run", "S-31", "--without", "FR2_InheritDependencies", "-q"}, {.folder = scratch.path()});
  ASSERT_EQ(ran.exitCode, 1) << ran.standardError;
  const std::filesystem::path folder = scratch.path() / "holdfast-out/latest";
  EXPECT_EQ(nlohmann::json::parse(textOf(folder / "options.json")),
            nlohmann::json::parse(R"({"scenario":"S-31-transitive","seed":1})"));
  EXPECT_EQ(holdfast({"run", "--plan", (folder / "plan.json").string(), "--no-save"}).exitCode, 1);
  EXPECT_EQ(holdfast({"replay", (folder / "trace.jsonl").string(), "--verify"}).exitCode, 1);
}

TEST(SavedRun, IsNotSavedTwiceAndReplacesNothing) {
  const ScratchFolder scratch;
  const auto out = scratch.path() / "out";
  const auto folderOf = [&](const std::vector<std::string>& more) {
    return holdfast(with(kBroken, with({"--out", out.string(), "--json"}, more))).object("verdict")["saved"];
  };
  const auto first = folderOf({});
  EXPECT_EQ(first, (out / "mixed-3").string());
  const std::string trace = textOf(out / "mixed-3/trace.jsonl");
  EXPECT_EQ(folderOf({}), first) << "the same failure";
  EXPECT_EQ(folderOf({"--set", "keys=3"}), (out / "mixed-3-2").string()) << "another of that seed";
  EXPECT_EQ(textOf(out / "mixed-3/trace.jsonl"), trace);
  EXPECT_EQ(std::filesystem::read_symlink(out / "latest"), "mixed-3-2");
}

TEST(SavedRun, WhereNothingCanBeWrittenTheVerdictStands) {
  const Ran ran = holdfast(with(kBroken, {"--out", "/dev/null/out", "--json"}));
  EXPECT_EQ(ran.exitCode, 1) << ran.standardError;
  EXPECT_THAT(ran.standardError,
              HasSubstr("not saved   mixed seed 3: cannot create the folder '/dev/null/out'"));
  EXPECT_FALSE(ran.object("verdict").contains("saved"));
}

TEST(Plan, ALivelockOfTheExplorerIsRunAndShrunkAsAViolationOfLiveness) {
  const ScratchFolder scratch;
  const std::string plan = scratch.file("livelock.json");
  const std::string trace = scratch.file("livelock.jsonl");
  const Ran found = holdfast({"explore", "hand-back", "--liveness", "--without", "DG5_HandBack",
                              "--save-plan", plan, "--trace", trace});
  EXPECT_EQ(found.exitCode, 2) << found.standardError;
  EXPECT_THAT(found.standardError, HasSubstr("lead back to where they began"));
  EXPECT_EQ(holdfast({"run", "--plan", plan, "--no-save"}).exitCode, 2);
  EXPECT_EQ(holdfast({"replay", trace, "--verify"}).exitCode, 2);
  const std::string small = scratch.file("small.json");
  EXPECT_EQ(holdfast({"shrink", plan, "--save-plan", small, "--no-save"}).exitCode, 0);
  EXPECT_EQ(holdfast({"run", "--plan", small, "--no-save"}).exitCode, 2);
}

TEST(Plan, ACheckpointTakesNoOtherFilesPlace) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("precious");
  writeLines(file, {"precious"});
  const std::vector<std::string> command{"explore", "brief", "--states", "100", "--checkpoint", file};
  const Ran refused = holdfast(command);
  EXPECT_EQ(refused.exitCode, 64);
  EXPECT_THAT(refused.standardError, HasSubstr("is no checkpoint"));
  EXPECT_EQ(textOf(file), "precious\n");
  EXPECT_EQ(holdfast(with(command, {"--force"})).exitCode, 3);
  EXPECT_EQ(holdfast(command).exitCode, 3) << "an earlier checkpoint makes room";
  EXPECT_EQ(holdfast({"explore", "brief", "--resume", file}).exitCode, 0);
}

TEST(SavedRun, NothingIsLeftOfWhatDoesNotFitOnTheDisk) {
  const ScratchFolder scratch;
  // A file that may not grow is as good as a disk that is full.
  const Ran ran = shell(
      "trap '' XFSZ; ulimit -f 100; holdfast sweep --seeds 3..4 --without DG-3 --out out --report r.json",
      {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 1) << ran.standardError;
  EXPECT_THAT(ran.standardError,
              HasSubstr("not saved   mixed seed 3: cannot write 'out/mixed-3/trace.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "out/mixed-3"));
  EXPECT_EQ(nlohmann::json::parse(textOf(scratch.path() / "r.json"))["summary"]["safetyViolations"], 2);
}

TEST(SavedRun, TwoProcessesShareAFolder) {
  const ScratchFolder scratch;
  const std::string command = "holdfast run --seed 3 --without DG-3 -q --out out --set keys=";
  const Ran ran =
      shell("(" + command + "2; true) & (" + command + "3; true) & (" + command + "4; true) & wait",
            {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  for (const char* name : {"mixed-3", "mixed-3-2", "mixed-3-3"}) {
    const auto folder = scratch.path() / "out" / name;
    EXPECT_THAT(textOf(folder / "trace.jsonl"), StartsWith("{\"holdfast-trace\"")) << name;
    EXPECT_THAT(textOf(folder / "verdict.json"), Not(testing::IsEmpty())) << name;
  }
}

}  // namespace
}  // namespace holdfast::cli
