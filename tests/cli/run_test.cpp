// holdfast run, from the outside: what it says, what it gives machines, and that its last line is true.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "protocol/rules.hpp"
#include "scenarios/scenario.hpp"
#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A scenario with a twin.
const scenarios::Scenario& withTwin() {
  const auto& all = scenarios::allScenarios();
  const auto found = std::ranges::find_if(all, [](const auto& each) { return !each.twins.empty(); });
  EXPECT_NE(found, all.end());
  return *found;
}

TEST(Run, SaysWhatItRunsAndWhatBecameOfIt) {
  const Ran ran = holdfast(with({"run", "--seed", "7"}, kShort));
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardOutput, IsEmpty());
  EXPECT_THAT(ran.standardError, ContainsRegex("^holdfast [0-9.]+ \\(.+\\) .+ seed 7 scenario mixed options "
                                               "[0-9a-f]{16}\n"));
  EXPECT_THAT(ran.standardError,
              AllOf(HasSubstr("changed     nodes=3, keys=2, faultPhase=12s\n"), HasSubstr("maxDriftPpb"),
                    HasSubstr("admissions  cached "), HasSubstr("verdict     held: "),
                    HasSubstr(" simulated in "), HasSubstr(" events/s"), HasSubstr("trace hash  ")));
  EXPECT_THAT(ran.standardError, Not(HasSubstr("reproduce")));
  EXPECT_THAT(ran.standardError, Not(HasSubstr("\x1b"))) << "this is no terminal";
}

TEST(Run, GivesMachinesTheSame) {
  const Ran ran = holdfast(with({"run", "--seed", "7", "--json", "-q"}, kShort));
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.standardError, IsEmpty());
  EXPECT_EQ(ran.objects().front()["is"], "start");
  EXPECT_EQ(ran.objects().back()["is"], "verdict");
  const nlohmann::json start = ran.object("start");
  EXPECT_EQ(start["verb"], "run");
  EXPECT_EQ(start["scenario"], "mixed");
  EXPECT_EQ(start["seed"], "7");
  EXPECT_EQ(start["options"]["nodes"], 3);
  EXPECT_FALSE(start["options"].contains("seed"));
  const nlohmann::json verdict = ran.object("verdict");
  EXPECT_EQ(verdict["verdict"], "held");
  EXPECT_EQ(verdict["exitCode"], 0);
  EXPECT_GT(verdict["events"], 100);
  EXPECT_GT(verdict["observations"], 100);
  EXPECT_GE(verdict["simulatedNs"], 12'000'000'000);
  EXPECT_GT(verdict["coverage"]["admissions"]["cached"], 0);
  EXPECT_THAT(verdict["traceHash"].get<std::string>(), testing::MatchesRegex("[0-9a-f]{16}"));
}

TEST(Run, IsTheSameEveryTimeAndAnotherWithAnotherSeed) {
  const auto hashOf = [](const std::string& seed) {
    return holdfast(with({"run", "--seed", seed, "--json", "-q"}, kShort)).object("verdict")["traceHash"];
  };
  const nlohmann::json first = hashOf("7");
  EXPECT_EQ(first, hashOf("7"));
  EXPECT_EQ(first, hashOf("0x7"));
  EXPECT_NE(first, hashOf("8"));
}

TEST(Run, PrintsEachOptionOnALineOnDemand) {
  const Ran ran = holdfast(with({"run", "--print-options"}, kShort));
  EXPECT_THAT(ran.standardError, AllOf(HasSubstr("\noption      nodes = 3\n"),
                                       HasSubstr("\noption      protocol.skew = 400ms\n"),
                                       HasSubstr("\noption      faults.crash.meanGap = 20s\n")));
}

TEST(Run, WithoutAnybodyAdmittedIsInconclusive) {
  // Locks are switched off, so every call is refused.
  const Ran ran = holdfast(with({"run", "--set", "protocol.enabled=false", "--json"}, kShort));
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  EXPECT_EQ(ran.object("verdict")["verdict"], "inconclusive");
  EXPECT_THAT(ran.standardError, HasSubstr("verdict     inconclusive: nobody was ever admitted"));
  EXPECT_THAT(ran.standardError, HasSubstr("reproduce   "));
}

TEST(Run, AScenarioIsFoundByTheBeginningOfItsName) {
  const std::string name(scenarios::allScenarios().front().name);
  const Ran ran = holdfast({"run", name, "--json"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(ran.object("start")["scenario"], name);
  EXPECT_GT(ran.object("verdict")["expectations"], 0);
  EXPECT_THAT(ran.standardError, HasSubstr("story       "));
  const Ran refused = holdfast({"run", name, "--set", "nodes=3"});
  EXPECT_EQ(refused.exitCode, 64);
  EXPECT_THAT(refused.standardError, HasSubstr("has options of its own"));
}

TEST(Run, WithARuleOffTheCheckerFindsItAndTheLastLineReproducesIt) {
  // The twins of all scenarios say which rule breaks what; the first that breaks a promise of safety will do.
  const scenarios::Scenario& scenario = withTwin();
  const scenarios::Twin& twin = scenario.twins.front();
  const Ran ran = holdfast(
      {"run", std::string(scenario.name), "--without", std::string(protocol::nameOf(twin.rule)), "--json"});
  EXPECT_TRUE(ran.exitCode == 1 || ran.exitCode == 2) << ran.exitCode << "\n" << ran.standardError;
  bool named = false;
  for (const nlohmann::json& object : ran.objects()) {
    named |= object["is"] == "finding" && object["severity"] != "limitation" &&
             object["checker"] == obs::nameOf(twin.checker);
  }
  EXPECT_TRUE(named) << ran.standardOutput;
  EXPECT_THAT(ran.standardError, HasSubstr("rule off    " + std::string(protocol::nameOf(twin.rule))));

  const nlohmann::json verdict = ran.object("verdict");
  const std::string command = verdict["reproduce"];
  EXPECT_THAT(ran.standardError, testing::EndsWith("reproduce   " + command + "\n"));
  const Ran again = shell(command + " --json -q");
  EXPECT_EQ(again.exitCode, ran.exitCode) << again.standardError;
  EXPECT_EQ(again.object("verdict")["traceHash"], verdict["traceHash"]);
}

TEST(Run, ATwinIsJudgedByItsChecker) {
  const scenarios::Scenario& scenario = withTwin();
  const Ran ran = holdfast({"run", std::string(scenario.name), "--twin", "--json"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  std::size_t twins = 0;
  for (const nlohmann::json& object : ran.objects()) {
    if (object["is"] != "twin") continue;
    EXPECT_EQ(object["reached"], true);
    EXPECT_EQ(object["rule"], protocol::nameOf(scenario.twins[twins].rule));
    EXPECT_EQ(object["checker"], obs::nameOf(scenario.twins[twins].checker));
    ++twins;
  }
  EXPECT_EQ(twins, scenario.twins.size());
  const Ran stranger = holdfast({"run", std::string(scenario.name), "--twin", "--without", "BD2_Sweep"});
  EXPECT_EQ(stranger.exitCode, 64);
  EXPECT_THAT(stranger.standardError, HasSubstr("has a twin without"));
  const Ran twice = holdfast({"run", "S-31", "--twin", "--without", "DG3"});
  EXPECT_THAT(twice.standardError, HasSubstr("has a twin without FR2_InheritDependencies only"));
}

TEST(Run, WritesATraceAndNeverOverAFile) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("t.jsonl");
  const std::vector<std::string> command = with({"run", "--seed", "7", "--trace", file}, kShort);
  const Ran ran = holdfast(command);
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardError, HasSubstr("\ntrace       " + file + "\n"));
  EXPECT_EQ(scratch.size(), 1U) << "only the trace, no partial file";
  const std::string first = textOf(file);
  EXPECT_THAT(first, StartsWith("{\"holdfast-trace\":"));

  const Ran refused = holdfast(with(command, {"--seed", "8"}));
  EXPECT_EQ(refused.exitCode, 64);
  const Ran other = holdfast(with({"run", "--seed", "8", "--trace", file}, kShort));
  EXPECT_EQ(other.exitCode, 64);
  EXPECT_THAT(other.standardError, AllOf(HasSubstr("it exists already"), HasSubstr("--force")));
  EXPECT_EQ(textOf(file), first);
  EXPECT_EQ(scratch.size(), 1U);

  const Ran forced = holdfast(with({"run", "--seed", "8", "--force", "--trace", file}, kShort));
  EXPECT_EQ(forced.exitCode, 0) << forced.standardError;
  EXPECT_NE(textOf(file), first);
  EXPECT_EQ(scratch.size(), 1U);
}

TEST(Run, SaysWhereNobodyAsksLateEnoughForLivenessToBeJudged) {
  const Ran usual = holdfast({"run", "--no-save"});
  EXPECT_THAT(usual.standardError, Not(HasSubstr("liveness is not judged")));
  const Ran late = holdfast({"run", "--no-save", "--set", "protocol.retryEvery=1h"});
  EXPECT_EQ(late.exitCode, 0);
  EXPECT_THAT(late.standardError, HasSubstr("note        liveness is not judged: its bound of "));
}

TEST(Run, WhatCanNotBeWrittenCostsNoVerdict) {
  for (const char* option : {"--trace", "--save-plan"}) {
    const Ran held = holdfast(with({"run", option, "/dev/full", "--json"}, kShort));
    EXPECT_EQ(held.exitCode, 64) << held.standardError;
    EXPECT_EQ(held.object("verdict")["verdict"], "held");
    EXPECT_EQ(held.object("error")["exitCode"], 64);
    EXPECT_THAT(held.standardError,
                HasSubstr(std::string("holdfast: ") + option + ": cannot write '/dev/full'"));
    const Ran broken =
        holdfast({"run", "S-31", "--without", "FR1", option, "/dev/full", "--no-save", "--json"});
    EXPECT_EQ(broken.exitCode, 1) << "the violation outweighs it";
    EXPECT_EQ(broken.object("error")["exitCode"], 1);
  }
}

TEST(Run, ADeviceAPipeAndALinkAreWrittenTo) {
  const ScratchFolder scratch;
  const Ran ran = shell(
      "mkfifo pipe; cat pipe >piped & ln -s later link; "
      "holdfast run S-31 --trace pipe --save-plan link; code=$?; wait; exit $code",
      {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(holdfast({"replay", scratch.file("piped"), "--verify"}).exitCode, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(scratch.file("link"))) << "it led to nothing before";
  EXPECT_EQ(holdfast({"run", "--plan", scratch.file("later")}).exitCode, 0);
  EXPECT_EQ(scratch.size(), 4U) << "pipe, piped, link, later";
}

TEST(Run, ATraceHasNoSayInTheRun) {
  const ScratchFolder scratch;
  for (const std::string& name :
       {std::string("mixed"), std::string(scenarios::allScenarios().front().name)}) {
    const auto hash = [&](const std::vector<std::string>& more) {
      return holdfast(with({"run", name, "--json", "-q"}, more)).object("verdict")["traceHash"];
    };
    EXPECT_EQ(hash({}), hash({"--trace", scratch.file(name)})) << name;
  }
}

TEST(Run, OnFailureTheTraceIsNamedToo) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("a trace.jsonl");
  const Ran ran = holdfast(with({"run", "--set", "protocol.enabled=false", "--trace", file}, kShort));
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  EXPECT_THAT(ran.standardError, HasSubstr("replay '" + file + "' --verify"));
}

}  // namespace
}  // namespace holdfast::cli
