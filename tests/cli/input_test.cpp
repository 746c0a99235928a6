// What the command makes of files that can not be, of streams that are gone, and of being cut short.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// ---- Reports ----------------------------------------------------------------------------------------------

nlohmann::json report(const ScratchFolder& scratch, const std::string& seeds) {
  const Ran ran = holdfast(with(
      {"sweep", "--seeds", seeds, "--no-must-reach", "--report", scratch.file("whole.json"), "--force", "-q"},
      kShort));
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  return nlohmann::json::parse(textOf(scratch.file("whole.json")));
}

TEST(MergeInput, WhatCanNotBeIsRefusedWithItsPlace) {
  const ScratchFolder scratch;
  const nlohmann::json whole = report(scratch, "1..4");
  struct Change {
    const char* patch;
    const char* complaint;
  };
  for (const auto& [patch, complaint] : {
           Change{R"({"options":{"nodes":0}})", "exact.options.nodes is 0; expected 1 to 63"},
           Change{R"({"options":{"keys":4000000000}})", "exact.options.keys is 4000000000"},
           Change{R"({"options":{"workload":{"gap":0}}})", "exact.options.workload.gap is 0 ns"},
           Change{R"({"rulesOff":["DG3"]})", "exact.rulesOff\\[0\\]: is \"DG3\"; expected names of rules"},
           Change{R"({"report":{"held":1000}})", "exact.report.held: is 1000; expected at most 4"},
           Change{R"({"report":{"held":3}})", "exact.report.held: is 3; expected with violated"},
           Change{R"({"report":{"ran":0}})", "exact.report.ran: is 0; expected 4, the sum of ranges"},
           Change{R"({"report":{"ranges":[{"first":1,"asked":4,"ran":5}]}})", "ranges\\[0\\].ran: is 5"},
           Change{R"({"report":{"ranges":[]}})", "exact.report.ranges: is empty"},
           Change{R"({"report":{"rechecked":9}})", "exact.report.rechecked: is 9"},
           Change{R"({"report":{"diverged":4,"rechecked":2}})", "exact.report.diverged: is 4"},
           Change{R"({"report":{"stoppedEarly":true}})", "exact.report.stoppedEarly: is true"},
           Change{R"({"report":{"observations":7}})", "exact.report.observations: is 7"},
           Change{R"({"report":{"missed":["duel"]}})", "exact.report.missed: is not what follows"},
           Change{R"({"report":{"simulated":-1}})", "exact.report.simulated: is -1; expected at least 0"},
           Change{R"({"realNs":-1})", "exact.realNs: is -1"},
           Change{R"({"jobs":0})", "exact.jobs: is 0; expected 1 to 1024"},
           Change{R"({"wholeCount":0})", "exact.wholeCount: is 0"},
           Change{R"({"wholeFirst":2})", "exact.report.ranges\\[0\\].asked: is 4 from seed 1 on"},
           Change{R"({"coverage":[1,2]})", "exact.coverage: has 2 numbers"},
       }) {
    nlohmann::json changed = whole;
    changed["exact"].merge_patch(nlohmann::json::parse(patch));
    writeLines(scratch.file("changed.json"), {changed.dump()});
    const Ran ran = holdfast({"merge", scratch.file("changed.json")});
    EXPECT_EQ(ran.exitCode, 64) << patch;
    EXPECT_THAT(ran.standardError, ContainsRegex(std::string("changed.json:1:[0-9]+: .*") + complaint));
  }
}

TEST(MergeInput, AFindingHasNoMoreEvidenceThanRoom) {
  const ScratchFolder scratch;
  const Ran ran = holdfast(with({"sweep", "--seeds", "2", "--without", "DG-3", "--no-must-reach", "--no-save",
                                 "--report", scratch.file("red.json"), "-q"},
                                kShort));
  ASSERT_EQ(ran.exitCode, 1) << ran.standardError;
  nlohmann::json red = nlohmann::json::parse(textOf(scratch.file("red.json")));
  red["exact"]["report"]["failures"][0]["violations"][0]["evidenceCount"] = 200;
  writeLines(scratch.file("changed.json"), {red.dump()});
  const Ran merged = holdfast({"merge", scratch.file("changed.json")});
  EXPECT_EQ(merged.exitCode, 64);
  EXPECT_THAT(merged.standardError, HasSubstr("violations[0].evidenceCount: is 200; expected at most 4"));
}

TEST(MergeInput, SumsThatWouldOverflowAreRefused) {
  const ScratchFolder scratch;
  nlohmann::json first = report(scratch, "1..4");
  nlohmann::json second = report(scratch, "5..8");
  first["exact"]["report"]["simulated"] = INT64_MAX;
  second["exact"]["report"]["simulated"] = INT64_MAX;
  writeLines(scratch.file("a.json"), {first.dump()});
  writeLines(scratch.file("b.json"), {second.dump()});
  const Ran ran = holdfast({"merge", scratch.file("a.json"), scratch.file("b.json")});
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardError,
              ContainsRegex("b.json:1:[0-9]+: can not be added: exact.report.simulated: is "
                            "9223372036854775807, to which 9223372036854775807 is to be"));
}

TEST(MergeInput, ASweepThatWasCutIsNoPass) {
  const ScratchFolder scratch;
  const Ran cut = holdfast({"sweep", "--seeds", "1..100000", "--time-limit", "6s", "--report", "s.json",
                            "--junit", "s.xml", "--jobs", "1"},
                           {.folder = scratch.path()});
  EXPECT_EQ(cut.exitCode, 3) << cut.standardError;
  EXPECT_THAT(cut.standardError,
              ContainsRegex("verdict     inconclusive: cut after [0-9,]+ of 100,000 seeds"));
  EXPECT_THAT(textOf(scratch.file("s.xml")), HasSubstr("name=\"runs all its seeds\"><failure"));
  const Ran merged = holdfast({"merge", "s.json", "--json"}, {.folder = scratch.path()});
  EXPECT_EQ(merged.exitCode, 3) << merged.standardError;
  EXPECT_EQ(merged.object("verdict")["verdict"], "inconclusive");
  EXPECT_EQ(merged.object("verdict")["partial"], true);
}

TEST(MergeInput, WhatACutSweepDidNotComeToAnotherMayHave) {
  const ScratchFolder scratch;
  nlohmann::json first = report(scratch, "1..4");
  first["exact"]["wholeCount"] = 8;
  first["exact"]["report"]["asked"] = 8;
  first["exact"]["report"]["ranges"][0]["asked"] = 8;
  first["exact"]["report"]["stoppedEarly"] = true;
  writeLines(scratch.file("cut.json"), {first.dump()});
  report(scratch, "5..8");
  const Ran ran = holdfast({"merge", scratch.file("cut.json"), scratch.file("whole.json"), "--json"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(ran.object("verdict")["seedsAsked"], 8);
  EXPECT_EQ(ran.object("verdict")["partial"], false);
}

// ---- Traces and plans -------------------------------------------------------------------------------------

const std::string kInputs = HOLDFAST_SOURCE_DIR "/tests/fuzz/corpus/";

TEST(TraceInput, IsJudgedWhateverItSaysOfItself) {
  const Ran ran = holdfast({"explain", kInputs + "trace/two-holders.jsonl"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardOutput, HasSubstr("violation   overlappingAdmissions (X-1)"));
}

TEST(TraceInput, ARunThatHeldHasNoViolation) {
  const ScratchFolder scratch;
  for (const char* what : {"mixed", "S-12-drift-outside", "S-60-skewed-clock-clean-handoff"}) {
    for (const char* seed : {"1", "2", "3"}) {
      ASSERT_EQ(holdfast({"run", what, "--seed", seed, "--trace", scratch.file("t.jsonl"), "--force", "-q"})
                    .exitCode,
                0);
      const Ran ran = holdfast({"explain", scratch.file("t.jsonl"), "--no-rerun"});
      EXPECT_THAT(ran.standardOutput, Not(HasSubstr("\nviolation "))) << what << " seed " << seed;
    }
  }
}

TEST(TraceInput, AMemberOfAnotherTypeIsRefused) {
  const std::string file = kInputs + "trace/identity-is-a-number.jsonl";
  const Ran ran = holdfast({"replay", file});
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardError, ContainsRegex("jsonl:1:[0-9]+: this build has another configuration"));
  EXPECT_LE(holdfast({"explain", file}).exitCode, 3);
  EXPECT_EQ(holdfast({"show", file}).exitCode, 0);
}

TEST(PlanInput, WhatAKindDoesNotUseMustExistEvenSo) {
  for (const auto& [file, complaint] :
       {std::pair{"plan/second-key-of-no-transfer.json",
                  "operations\\[0\\].secondKey is 7; expected 0 to 5, or null for none"},
        std::pair{"plan/peer-of-a-crash.json",
                  "faults\\[0\\].peer is 9; expected 0 to 2, or null for none"}}) {
    for (const char* verb : {"shrink", "run"}) {
      const std::vector<std::string> what = std::string(verb) == "run"
                                                ? std::vector<std::string>{"run", "--plan"}
                                                : std::vector<std::string>{verb};
      const Ran ran = holdfast(with(what, {kInputs + file}));
      EXPECT_EQ(ran.exitCode, 64) << verb << ' ' << file;
      EXPECT_THAT(ran.standardError, ContainsRegex(std::string("json:1:[0-9]+: plan: ") + complaint));
    }
  }
}

// ---- Streams and files ------------------------------------------------------------------------------------

TEST(Streams, ThatAreClosedGiveTheirNumbersToNoFile) {
  const ScratchFolder scratch;
  for (const char* closed : {"0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"}) {
    const Ran ran = shell(std::string("holdfast run --seed 1 --trace t.jsonl --force ") + closed,
                          {.folder = scratch.path()});
    EXPECT_EQ(ran.exitCode, 0) << closed << ran.standardError;
    EXPECT_EQ(holdfast({"replay", "t.jsonl", "--verify", "-q"}, {.folder = scratch.path()}).exitCode, 0)
        << closed;
  }
  const Ran lost = shell("holdfast list rules >&-");
  EXPECT_EQ(lost.exitCode, 64);
  EXPECT_THAT(lost.standardError, HasSubstr("standard output cannot be written: Bad file descriptor"));
}

TEST(Streams, APipeThatBreaksTakesNothingFromTheFiles) {
  const ScratchFolder scratch;
  const Ran ran =
      shell("{ holdfast sweep --seeds 3 --no-must-reach --report s.json --json; echo $? >code; } | true",
            {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_EQ(textOf(scratch.file("code")), "64\n");
  EXPECT_EQ(holdfast({"merge", "s.json", "-q"}, {.folder = scratch.path()}).exitCode, 0);
  EXPECT_THAT(ran.standardError, HasSubstr("standard output cannot be written: Broken pipe"));
}

TEST(Streams, WhatATextHoldsCommandsNoTerminal) {
  const Ran ran = holdfast({"run", "\x1b[2J"});
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardError, AllOf(HasSubstr("'\\x1b[2J'"), Not(HasSubstr("\x1b"))));
}

TEST(Files, WhatAKilledProcessLeftIsRemoved) {
  const ScratchFolder scratch;
  // No process has so great a number.
  const std::vector<std::string> left{"p.json.holdfast-99999999-1", "p.json.partial.holdfast-99999999-2"};
  const std::vector<std::string> kept{"q.json.holdfast-99999999-1", "p.json.holdfast-1-1",
                                      "p.json.holdfast-mine", "p.json.99999999-1"};
  for (const auto& name : with(left, kept)) writeLines(scratch.file(name), {"half"});
  ASSERT_EQ(
      holdfast(with({"run", "--save-plan", "p.json", "-q"}, kShort), {.folder = scratch.path()}).exitCode, 0);
  for (const auto& name : left) EXPECT_FALSE(std::filesystem::exists(scratch.file(name))) << name;
  for (const auto& name : kept) EXPECT_TRUE(std::filesystem::exists(scratch.file(name))) << name;
  EXPECT_EQ(holdfast({"check-corpus", ".", "--update", "-q"}, {.folder = scratch.path()}).exitCode, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch.file(kept.front())))
      << "that of any file, where all are updated";
}

TEST(Files, AHistoryMayBeTornOrNoFile) {
  const ScratchFolder scratch;
  const std::vector<std::string> sweep = with({"sweep", "--seeds", "1", "--no-must-reach", "-q"}, kShort);
  std::ofstream(scratch.file("h")) << R"({"tool":"0.1.0","firstSe)";
  EXPECT_EQ(holdfast(with(sweep, {"--history", scratch.file("h")})).exitCode, 0);
  const std::vector<std::string> lines = linesOf(scratch.file("h"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], R"({"tool":"0.1.0","firstSe)");
  EXPECT_TRUE(nlohmann::json::accept(lines[1])) << lines[1];
  EXPECT_EQ(holdfast(with(sweep, {"--history", "/dev/zero"})).exitCode, 0)
      << "it is written to, and not read";
  const Ran full = holdfast(with(sweep, {"--history", "/dev/full", "--json"}));
  EXPECT_EQ(full.exitCode, 64);
  EXPECT_EQ(full.object("verdict")["verdict"], "held");
  EXPECT_THAT(full.standardError, HasSubstr("--history: cannot add to '/dev/full': No space left on device"));
}

// ---- Cut short --------------------------------------------------------------------------------------------

// A month of simulated time, in which little is asked for: some minutes of real time.
const std::string kLongSettings = "--set faultPhase=720h --set workload.gap=1h --set faults.swarmOnPpm=0";
const std::vector<std::string> kLong{"--set",           "faultPhase=720h", "--set",
                                     "workload.gap=1h", "--set",           "faults.swarmOnPpm=0"};

TEST(Cut, ARunningSeedEndsAtTheTimeLimit) {
  const ScratchFolder scratch;
  const Ran ran = holdfast(with({"run", "--time-limit", "200ms", "--trace", "t.jsonl", "--json"}, kLong),
                           {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  EXPECT_EQ(ran.object("verdict")["partial"], true);
  EXPECT_EQ(ran.object("verdict")["trace"], "t.jsonl.partial");
  EXPECT_LT(ran.object("verdict")["realNs"].get<std::int64_t>(), 20'000'000'000);
  EXPECT_FALSE(std::filesystem::exists(scratch.file("t.jsonl")));
  EXPECT_THAT(textOf(scratch.file("t.jsonl.partial")), StartsWith("{\"holdfast-trace\""));
  const Ran sweep = holdfast(with({"sweep", "--seeds", "2", "--time-limit", "200ms", "--json"}, kLong));
  EXPECT_EQ(sweep.exitCode, 3) << sweep.standardError;
  EXPECT_EQ(sweep.object("verdict")["seedsRun"], 0);
  EXPECT_EQ(holdfast(with({"shrink", "--seed", "1", "--time-limit", "200ms", "--no-save"}, kLong)).exitCode,
            3);
}

TEST(Cut, ARunningSeedEndsAfterASignal) {
  const ScratchFolder scratch;
  for (const char* verb : {"run", "sweep --seeds 2"}) {
    const Ran ran =
        shell(fmt::format("holdfast {} {} --json & sleep 1; kill -TERM $!; wait $!", verb, kLongSettings),
              {.folder = scratch.path()});
    EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
    EXPECT_EQ(ran.object("verdict")["partial"], true) << verb;
  }
}

}  // namespace
}  // namespace holdfast::cli
