// holdfast sweep, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  const Ran ran = holdfast(with({"sweep", "--seeds", "1", "--json"}, kShort));
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  const nlohmann::json verdict = ran.object("verdict");
  EXPECT_EQ(verdict["verdict"], "expectationNotReached");
  EXPECT_THAT(verdict["missed"].get<std::vector<std::string>>(), Not(IsEmpty()));
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
  EXPECT_LE(ran.exitCode, 3) << ran.standardError;
  const nlohmann::json verdict = ran.object("verdict");
  EXPECT_EQ(verdict["partial"], true);
  EXPECT_EQ(verdict["interrupted"], false);
  EXPECT_LT(verdict["seedsRun"], 1'000'000'000);
  EXPECT_THAT(ran.standardError, HasSubstr("partial: stopped by a limit or a violation after "));
}

TEST(Sweep, AnInterruptLeavesAPartialReport) {
  const Ran ran = holdfast({"sweep", "--seeds", "1000000000", "--json"},
                           {.folder = {}, .interruptAfter = std::chrono::milliseconds(1'500)});
  EXPECT_LE(ran.exitCode, 3) << ran.standardError;
  const nlohmann::json verdict = ran.object("verdict");
  EXPECT_EQ(verdict["partial"], true);
  EXPECT_EQ(verdict["interrupted"], true);
  EXPECT_THAT(ran.standardError, HasSubstr("partial: interrupted after "));
}

}  // namespace
}  // namespace holdfast::cli
