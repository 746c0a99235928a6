// holdfast sweep, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Sweep, ReportsWhatWasExercised) {
  const Ran ran = holdfast(with({"sweep", "--seeds", "6", "--no-must-reach"}, kShort));
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardOutput, IsEmpty());
  EXPECT_THAT(
      ran.standardError,
      AllOf(HasSubstr(" seeds 1..6 scenario mixed options "), HasSubstr("milestone"), HasSubstr("handoff"),
            HasSubstr("barrier"), HasSubstr("L-2b"), HasSubstr("admissions  cached "),
            HasSubstr("refusals    "), HasSubstr("faults      "), HasSubstr("verdict     held: 6 seeds"),
            HasSubstr(" seeds/s"), HasSubstr("sweep hash  ")));
}

TEST(Sweep, IsTheSameWithAnyNumberOfJobs) {
  const auto verdict = [](const std::string& jobs) {
    nlohmann::json json =
        holdfast(with({"sweep", "--seeds", "3..14", "--jobs", jobs, "--json", "-q"}, kShort))
            .object("verdict");
    EXPECT_EQ(json["jobs"], std::stoi(jobs));
    json.erase("jobs");
    json.erase("realNs");
    return json;
  };
  const nlohmann::json one = verdict("1");
  EXPECT_EQ(one["seedsRun"], 12);
  EXPECT_EQ(one["firstSeed"], "3");
  EXPECT_EQ(one, verdict("2"));
  EXPECT_EQ(one, verdict("5"));
}

TEST(Sweep, FailsForWhatItMissed) {
  const Ran ran =
      holdfast(with({"sweep", "--seeds", "100", "--set", "faults.swarmOnPpm=0", "--json"}, kShort));
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  const nlohmann::json verdict = ran.object("verdict");
  EXPECT_EQ(verdict["verdict"], "expectationNotReached");
  EXPECT_THAT(verdict["missed"].get<std::vector<std::string>>(), testing::Contains("crashed"));
  EXPECT_THAT(verdict["unjudged"].get<std::vector<std::string>>(), testing::Contains("barrierShared"))
      << "its budget is larger";
  EXPECT_THAT(ran.standardError, HasSubstr("missed      "));
  const Ran again = shell(verdict["reproduce"].get<std::string>() + " --json -q");
  EXPECT_EQ(again.object("verdict")["sweepHash"], verdict["sweepHash"]);
}

TEST(Sweep, NamesFailingSeedsWithTheLineThatReproducesThem) {
  const Ran ran =
      holdfast({"sweep", "--seeds", "40", "--without", "RT4_NamesIdentify", "--stop-on-first", "--json"});
  ASSERT_EQ(ran.exitCode, 1) << ran.standardError;
  const nlohmann::json verdict = ran.object("verdict");
  EXPECT_EQ(verdict["safetyViolations"], 1);
  const nlohmann::json failure = ran.object("failure");
  EXPECT_EQ(failure["verdict"], "safetyViolation");
  std::vector<std::string> checkers;
  for (const nlohmann::json& violation : failure["violations"]) checkers.push_back(violation["checker"]);
  EXPECT_THAT(checkers, testing::Contains("exclusion"));
  const std::string command = failure["reproduce"];
  EXPECT_THAT(command, AllOf(HasSubstr("run mixed --seed " + failure["seed"].get<std::string>()),
                             HasSubstr("--without RT4_NamesIdentify")));
  EXPECT_THAT(ran.standardError, AllOf(HasSubstr("seed " + failure["seed"].get<std::string>() + ": "),
                                       HasSubstr("  reproduce " + command + "\n")));
  const Ran again = shell(command + " --json -q");
  EXPECT_EQ(again.exitCode, 1) << again.standardError;
  EXPECT_EQ(again.object("verdict")["traceHash"], failure["traceHash"]);
}

TEST(Sweep, EndsInGoodOrderAtItsTimeLimit) {
  const Ran ran = holdfast({"sweep", "--seeds", "1000000000", "--time-limit", "300ms", "--json"});
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  const nlohmann::json verdict = ran.object("verdict");
  EXPECT_EQ(verdict["verdict"], "inconclusive");
  EXPECT_EQ(verdict["partial"], true);
  EXPECT_EQ(verdict["interrupted"], false);
  EXPECT_LT(verdict["seedsRun"], 1'000'000'000);
  EXPECT_THAT(ran.standardError, HasSubstr("partial: ended by a limit, a violation or its death after "));
}

TEST(Sweep, AnInterruptLeavesAPartialReport) {
  const Ran ran = holdfast({"sweep", "--seeds", "1000000000", "--json"},
                           {.folder = {}, .interruptAfter = std::chrono::milliseconds(1'500)});
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  const nlohmann::json verdict = ran.object("verdict");
  EXPECT_EQ(verdict["exitCode"], 3);
  EXPECT_EQ(verdict["verdict"], "inconclusive");
  EXPECT_EQ(verdict["partial"], true);
  EXPECT_EQ(verdict["interrupted"], true);
  EXPECT_THAT(ran.standardError, HasSubstr("partial: interrupted after "));
}

TEST(Sweep, AnInterruptReplacesNoReport) {
  const ScratchFolder scratch;
  writeLines(scratch.file("s.json"), {"precious"});
  const Ran ran = holdfast({"sweep", "--seeds", "1000000000", "--report", "s.json", "--force"},
                           {.folder = scratch.path(), .interruptAfter = std::chrono::milliseconds(1'500)});
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  EXPECT_EQ(textOf(scratch.file("s.json")), "precious\n");
  EXPECT_THAT(ran.standardError, HasSubstr("written     s.json.partial"));
  const Ran merged = holdfast({"merge", scratch.file("s.json.partial"), "--json"});
  EXPECT_EQ(merged.object("verdict")["partial"], true) << merged.standardError;
}

TEST(Sweep, IsRunAgainWithTheMembershipItHad) {
  const Ran ran = holdfast(with({"sweep", "--seeds", "8", "--membership", "fixed", "--without", "DG-3",
                                 "--no-must-reach", "--no-save", "--json"},
                                kShort));
  EXPECT_EQ(ran.exitCode, 1) << ran.standardError;
  EXPECT_THAT(ran.object("verdict")["reproduce"].get<std::string>(), HasSubstr(" --membership fixed"));
}

/// Runs a small sweep with --report and gives its file's content.
nlohmann::json reportOf(const ScratchFolder& scratch, const std::string& name,
                        const std::vector<std::string>& more) {
  const Ran ran =
      holdfast(with(with({"sweep", "--report", scratch.file(name), "--no-must-reach", "-q"}, kShort), more));
  EXPECT_LE(ran.exitCode, 1) << ran.standardError;
  return nlohmann::json::parse(textOf(scratch.file(name)));
}

/// A report without what depends on real time and on how it was made.
nlohmann::json lasting(nlohmann::json report) {
  for (const char* name : {"realNs", "jobs", "partial", "interrupted", "reproduce"})
    report["summary"].erase(name);
  for (const char* name : {"realNs", "jobs"}) report["exact"].erase(name);
  report["exact"]["report"].erase("ranges");
  return report;
}

TEST(Merge, ShardsAddUpToTheWhole) {
  const ScratchFolder scratch;
  const nlohmann::json whole = reportOf(scratch, "whole.json", {"--seeds", "10..19"});
  EXPECT_EQ(whole["summary"]["seedsRun"], 10);
  for (const char* part : {"1", "2", "3"}) {
    reportOf(scratch, std::string(part) + ".json",
             {"--seeds", "10..19", "--shard", std::string(part) + "/3"});
  }
  const Ran ran = holdfast({"merge", scratch.file("3.json"), scratch.file("1.json"), scratch.file("2.json"),
                            "--report", scratch.file("sum.json"), "--json"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(lasting(nlohmann::json::parse(textOf(scratch.file("sum.json")))), lasting(whole));
  EXPECT_EQ(ran.object("verdict")["sweepHash"], whole["summary"]["sweepHash"]);
  EXPECT_THAT(ran.object("verdict")["reproduce"].get<std::string>(), HasSubstr("sweep --seeds 10..19 --set"));
}

TEST(Merge, AShardThatLacksIsNoPass) {
  const ScratchFolder scratch;
  for (const char* part : {"1", "3"}) {
    reportOf(scratch, std::string(part) + ".json",
             {"--seeds", "10..18", "--shard", std::string(part) + "/3"});
  }
  const Ran middle = holdfast({"merge", scratch.file("1.json"), scratch.file("3.json")});
  EXPECT_EQ(middle.exitCode, 3);
  EXPECT_THAT(middle.standardError, HasSubstr("lacking     seeds 13..15 are in none of the reports"));
  const Ran end = holdfast({"merge", scratch.file("1.json"), "--json"});
  EXPECT_EQ(end.exitCode, 3);
  EXPECT_EQ(end.object("note")["text"], "seeds 13..18 are in none of the reports");
}

TEST(Merge, RefusesWhatDoesNotFitTogether) {
  const ScratchFolder scratch;
  reportOf(scratch, "1.json", {"--seeds", "1..3"});
  reportOf(scratch, "2.json", {"--seeds", "3..4"});
  reportOf(scratch, "3.json", {"--seeds", "5..6", "--without", "DG-3"});
  const auto complaint = [&](const std::string& file) {
    const Ran ran = holdfast({"merge", scratch.file("1.json"), scratch.file(file)});
    EXPECT_EQ(ran.exitCode, 64);
    return ran.standardError;
  };
  const std::string first = textOf(scratch.file("1.json"));
  const Ran onto = holdfast({"merge", scratch.file("1.json"), "--report", scratch.file("1.json")});
  EXPECT_EQ(onto.exitCode, 64);
  EXPECT_THAT(onto.standardError, HasSubstr("is one of the reports to be added; expected another file"));
  EXPECT_EQ(textOf(scratch.file("1.json")), first);
  EXPECT_THAT(complaint("2.json"),
              testing::ContainsRegex(
                  "2.json:[0-9]+:[0-9]+: can not be added: exact.report.ranges: the seeds from 3 on "
                  "are in more than one"));
  EXPECT_THAT(complaint("3.json"),
              HasSubstr("can not be added: exact.rulesOff: its rules are others than those of the first"));
  writeLines(scratch.file("4.json"), {"{\"holdfastSweep\":2,\"exact\":{}}"});
  EXPECT_THAT(complaint("4.json"), HasSubstr("4.json:1:18: holdfastSweep: expected version 1"));
  writeLines(scratch.file("5.json"), {"{\"holdfastSweep\":1,\"exact\":{\"tool\":1}}"});
  EXPECT_THAT(complaint("5.json"), HasSubstr("exact.tool: expected a string"));
  writeLines(scratch.file("6.json"), {textOf(scratch.file("1.json")).substr(0, 700)});
  EXPECT_THAT(complaint("6.json"), HasSubstr("6.json:"));
  EXPECT_THAT(complaint("absent.json"), HasSubstr("cannot be opened"));
}

TEST(Sweep, EveryCommitHasSeedsOfItsOwn) {
  const std::string commit = "ff1c0de94b7a5d6e8c3f1a0b9d8e7c6f5a4b3c2d";
  const Ran ran =
      holdfast(with({"sweep", "--seeds", "3", "--from-commit", commit, "--no-must-reach", "--json"}, kShort));
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(ran.object("verdict")["firstSeed"], "9159211037809597806") << "0x7f1c0de94b7a5d6e";
  const Ran bad = holdfast({"sweep", "--from-commit", "main"});
  EXPECT_EQ(bad.exitCode, 64);
  EXPECT_THAT(bad.standardError,
              HasSubstr("--from-commit: 'main' is no commit; expected its 40 hexadecimal digits"));
}

TEST(Sweep, ShardsAreRefusedWhenTheyAreNone) {
  for (const auto& [shard, complaint] :
       {std::pair{"0/4", "is no shard"}, std::pair{"5/4", "is no shard"}, std::pair{"1", "is no shard"},
        std::pair{"1/9", "expected at most 3"}}) {
    const Ran ran = holdfast({"sweep", "--seeds", "3", "--shard", shard});
    EXPECT_EQ(ran.exitCode, 64) << shard;
    EXPECT_THAT(ran.standardError, AllOf(HasSubstr("--shard"), HasSubstr(complaint)));
  }
}

TEST(Sweep, AProfileIsASetOfOptions) {
  const Ran safety = holdfast({"sweep", "--seeds", "3", "--profile", "safety-only", "--json"});
  EXPECT_EQ(safety.exitCode, 0) << safety.standardError;
  EXPECT_EQ(safety.object("start")["options"]["healedPhase"], 0);
  EXPECT_EQ(safety.object("verdict")["livenessViolations"], 0);
  EXPECT_THAT(safety.object("verdict")["reproduce"].get<std::string>(), HasSubstr("--profile safety-only"));
  const Ran bad = holdfast({"sweep", "--profile", "caos"});
  EXPECT_EQ(bad.exitCode, 64);
  EXPECT_THAT(bad.standardError, HasSubstr("there is no profile 'caos'; did you mean 'chaos'"));
}

TEST(Sweep, RunsAShareOfItsSeedsTwice) {
  const Ran all =
      holdfast(with({"sweep", "--seeds", "8", "--recheck", "1", "--no-must-reach", "--json"}, kShort));
  EXPECT_EQ(all.object("verdict")["rechecked"], 8);
  EXPECT_EQ(all.object("verdict")["diverged"], 0);
  const Ran none =
      holdfast(with({"sweep", "--seeds", "8", "--recheck", "0", "--no-must-reach", "--json"}, kShort));
  EXPECT_EQ(none.object("verdict")["rechecked"], 0);
  EXPECT_EQ(none.object("verdict")["sweepHash"], all.object("verdict")["sweepHash"]);
}

TEST(Sweep, LeavesFilesForMachinesAndPeople) {
  const ScratchFolder scratch;
  const Ran ran = holdfast({"sweep", "--seeds", "4", "--without", "DG-3", "--junit", "s.xml", "--html",
                            "s.html", "--history", "h.jsonl", "--report", "s.json"},
                           {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 1) << ran.standardError;
  EXPECT_THAT(textOf(scratch.file("s.xml")),
              AllOf(testing::StartsWith("<?xml"), HasSubstr("name=\"seed 1\"><failure message=\"checker "),
                    HasSubstr("reproduce: "), HasSubstr("<skipped message=\"its budget is 1000 seeds\"/>")));
  const std::string page = textOf(scratch.file("s.html"));
  EXPECT_THAT(page, AllOf(testing::StartsWith("<!doctype html>"), HasSubstr("<svg"), HasSubstr("polyline"),
                          HasSubstr("run mixed --seed 1 --without DG3_OneDelegate")));
  for (const char* plot :
       {"Documented limitations", "Refusals by error class", "Waits from call to admission",
        "Unicast messages", "Durable release entries", "What happened, and how often"}) {
    const std::size_t heading = page.find(plot);
    ASSERT_NE(heading, std::string::npos) << plot;
    EXPECT_LT(page.find("<rect class=\"bar\"", heading), page.find("<h2>", heading)) << plot;
  }
  EXPECT_THAT(page, AllOf(Not(HasSubstr("http")), Not(HasSubstr("<script src")))) << "it needs no network";
  EXPECT_EQ(linesOf(scratch.file("h.jsonl")).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(scratch.file("s.json.partial")));
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / "holdfast-out/mixed-1/trace.jsonl"))
      << "failures are saved";
  const Ran again =
      holdfast({"sweep", "--seeds", "1", "--history", "h.jsonl", "--json"}, {.folder = scratch.path()});
  EXPECT_EQ(again.object("history")["sweepsBefore"], 1);
  EXPECT_THAT(again.standardError, HasSubstr("of 1 sweep before"));
}

TEST(Sweep, TellsGithub) {
  const ScratchFolder scratch;
  const Ran ran =
      shell("GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary.md holdfast sweep --seeds 2 --without DG-3",
            {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_THAT(ran.standardError,
              AllOf(HasSubstr("\n::error title=holdfast seed 1::checker "), HasSubstr("%0Areproduce: ")));
  EXPECT_THAT(textOf(scratch.file("summary.md")),
              AllOf(HasSubstr("### holdfast sweep: safety violation"), HasSubstr("- seed 1: ")));
}

TEST(Sweep, WhatTurnsOutNotToBeWritableIsSaid) {
  const ScratchFolder scratch;
  // The folder is there before the sweep, and gone after it.
  const Ran ran = shell(
      "mkdir gone && { holdfast sweep --seeds 300 --no-must-reach --junit gone/x.xml --json -q & "
      "sleep 0.5; rmdir gone; wait $!; }",
      {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_EQ(ran.object("verdict")["verdict"], "held");
  EXPECT_EQ(ran.object("error")["exitCode"], 64);
  EXPECT_THAT(ran.standardError, HasSubstr("holdfast: --junit: cannot create 'gone/x.xml'"));
}

TEST(Sweep, ReplacesNoFileUnlessItIsTold) {
  const ScratchFolder scratch;
  const std::vector<std::string> sweep{"sweep", "--seeds", "1", "--no-must-reach", "--report", "s.json"};
  writeLines(scratch.file("s.json"), {"precious"});
  const Ran refused = holdfast(sweep, {.folder = scratch.path()});
  EXPECT_EQ(refused.exitCode, 64);
  EXPECT_THAT(refused.standardError, HasSubstr("--report: cannot write 's.json': it exists already"));
  EXPECT_EQ(textOf(scratch.file("s.json")), "precious\n");
  EXPECT_EQ(holdfast(with(sweep, {"--force"}), {.folder = scratch.path()}).exitCode, 0);
  EXPECT_THAT(textOf(scratch.file("s.json")), HasSubstr("holdfastSweep"));
  EXPECT_EQ(scratch.size(), 1U) << "nothing beside it";
}

TEST(Sweep, AFileTakesTheNameOfNothingElse) {
  const ScratchFolder scratch;
  const Ran ran = shell(
      "echo before >target; ln -s target link; mkfifo pipe; cat pipe >piped & "
      "holdfast sweep --seeds 1 --no-must-reach --junit link --html pipe --force; code=$?; wait; exit $code",
      {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_TRUE(std::filesystem::is_symlink(scratch.file("link")));
  EXPECT_THAT(textOf(scratch.file("target")), testing::StartsWith("<?xml"));
  EXPECT_TRUE(std::filesystem::is_fifo(scratch.file("pipe")));
  EXPECT_THAT(textOf(scratch.file("piped")), testing::StartsWith("<!doctype html>"));
}

TEST(Sweep, ADyingProcessNamesItsSeedsAndLeavesWhatWasDone) {
  const ScratchFolder scratch;
  const Ran ran = shell("holdfast sweep --seeds 1000000000 --report s.json & sleep 4; kill -ABRT $!; wait $!",
                        {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 128 + 6) << ran.standardError;
  EXPECT_THAT(ran.standardError,
              testing::ContainsRegex("holdfast: died of signal 6( while it ran seed [0-9]+.*)?; the "
                                     "seeds before are recorded in s.json.partial\n"));
  const Ran merged = holdfast({"merge", scratch.file("s.json.partial"), "--json"});
  EXPECT_GT(merged.object("verdict")["seedsRun"], 10) << merged.standardError;
  EXPECT_EQ(merged.object("verdict")["partial"], true);
}

}  // namespace
}  // namespace holdfast::cli
