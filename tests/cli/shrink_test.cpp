// holdfast shrink and check-corpus, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "checkers/finding.hpp"
#include "scenarios/scenario.hpp"
#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<std::string> kFailing{"--seed", "3", "--without", "DG3_OneDelegate"};

TEST(Shrink, LeavesAPlanThatFailsInTheSameWay) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("small.json");
  const Ran ran =
      holdfast(with({"shrink", "--save-plan", file, "--story", "Two delegates.", "--json"}, kFailing));
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  const nlohmann::json shrunk = ran.object("shrunk");
  EXPECT_GT(shrunk["before"]["steps"], 100);
  EXPECT_LE(shrunk["after"]["steps"], 12);
  EXPECT_LE(shrunk["after"]["nodes"], 3);
  EXPECT_EQ(shrunk["partial"], false);
  EXPECT_THAT(ran.standardError,
              AllOf(HasSubstr("before      "), HasSubstr("after       "), HasSubstr("step 1 ")));
  const Ran again = shell(shrunk["reproduce"].get<std::string>() + " --json --no-save");
  EXPECT_EQ(again.exitCode, 1) << again.standardError;
  bool same = false;
  for (const nlohmann::json& object : again.objects()) {
    same |= object["is"] == "finding" && object["anomaly"] == shrunk["anomaly"] &&
            object["checker"] == shrunk["checker"] && object["route"] == shrunk["route"];
  }
  EXPECT_TRUE(same);
  EXPECT_EQ(nlohmann::json::parse(textOf(file))["story"], "Two delegates.");
}

TEST(Shrink, TakesAPlanFileAndSavesIntoAFolderOfItsOwn) {
  const ScratchFolder scratch;
  const Ran failed = holdfast(with({"run"}, kFailing), {.folder = scratch.path()});
  ASSERT_EQ(failed.exitCode, 1);
  const Ran ran = holdfast({"shrink", "holdfast-out/latest/plan.json", "--json"}, {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(ran.object("shrunk")["saved"], "holdfast-out/mixed-3-shrunk");
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / "holdfast-out/mixed-3-shrunk/trace.jsonl"));
}

TEST(Shrink, KeepsALimitationByItsRoute) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("l2b.json");
  const Ran sweep = holdfast({"sweep", "--seeds", "100", "--no-must-reach", "--json", "-q"});
  const auto seed = sweep.object("verdict")["routes"]["l2b"]["firstSeed"].get<std::string>();
  const Ran ran = holdfast({"shrink", "--seed", seed, "--route", "l2b", "--save-plan", file, "--json"});
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(ran.object("shrunk")["route"], "l2b");
  const Ran again = holdfast({"run", "--plan", file, "--json", "--no-save"});
  EXPECT_GT(again.object("verdict")["routes"]["l2b"], 0);
}

TEST(Shrink, LeavesStepsOutOfAScheduleOfTheExplorer) {
  const ScratchFolder scratch;
  const std::string walk = scratch.file("walk.json");
  const std::string small = scratch.file("small.json");
  // The first schedule that a walk meets has steps that nothing depends on.
  ASSERT_EQ(holdfast({"explore", "drain", "--without", "DR-3", "--strategy", "priorities", "--seed", "3",
                      "--save-plan", walk, "-q"})
                .exitCode,
            1);
  const Ran ran = holdfast({"shrink", walk, "--save-plan", small, "--json"});
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  const nlohmann::json shrunk = ran.object("shrunk");
  const nlohmann::json before = nlohmann::json::parse(textOf(walk));
  const nlohmann::json after = nlohmann::json::parse(textOf(small));
  EXPECT_EQ(shrunk["before"]["steps"], before["steps"].size());
  EXPECT_EQ(shrunk["after"]["steps"], after["steps"].size());
  EXPECT_LT(after["steps"].size(), before["steps"].size());
  EXPECT_LE(after["steps"].size(), 12U) << "breadth-first search finds one of 11";
  EXPECT_EQ(after["known"]["violations"][0], before["known"]["violations"][0]) << "the same failure";
  const Ran again = holdfast({"run", "--plan", small, "--json", "--no-save"});
  EXPECT_EQ(again.exitCode, 1) << again.standardError;
  EXPECT_EQ(again.object("verdict")["traceHash"], after["known"]["traceHash"]);

  const Ran seeded = holdfast({"shrink", walk, "--seed", "7"});
  EXPECT_EQ(seeded.exitCode, 64);
  EXPECT_THAT(seeded.standardError, HasSubstr("--seed: explore/drain is a schedule of the explorer"));
}

TEST(Shrink, SaysWhatCanNotBeShrunk) {
  const ScratchFolder scratch;
  const Ran held = holdfast({"shrink", "--seed", "7"});
  EXPECT_EQ(held.exitCode, 3);
  EXPECT_THAT(held.standardError, HasSubstr("the run breaks no promise"));
  const Ran nothing = holdfast({"shrink"});
  EXPECT_EQ(nothing.exitCode, 64);
  EXPECT_THAT(nothing.standardError, HasSubstr("expected a plan file, or --seed N"));
  const std::string story = scratch.file("s31.json");
  holdfast({"run", "S-31", "--save-plan", story});
  const Ran directed = holdfast({"shrink", story});
  EXPECT_EQ(directed.exitCode, 64);
  EXPECT_THAT(directed.standardError, HasSubstr("S-31-transitive is a directed scenario"));
  EXPECT_EQ(holdfast({"shrink", "--seed", "7", "--route", "l9"}).exitCode, 64);
}

class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(scratch_.path() / "corpus");
    const Ran ran =
        holdfast(with({"run", "--seed", "7", "--save-plan", file(), "--story", "A seed."}, kShort));
    ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  }
  std::string file() const { return scratch_.file("corpus/seven.json"); }
  Ran check(const std::vector<std::string>& more = {}) const {
    return holdfast(with({"check-corpus", scratch_.file("corpus"), "--json"}, more));
  }
  void change(const nlohmann::json::json_pointer& member, const nlohmann::json& value) const {
    nlohmann::json plan = nlohmann::json::parse(textOf(file()));
    plan[member] = value;
    writeLines(file(), {plan.dump()});
  }

  ScratchFolder scratch_;
};

TEST_F(Corpus, TheSameRunIsTheSame) {
  const Ran ran = check();
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_EQ(ran.object("corpus")["same"], 1);
  EXPECT_THAT(ran.standardError, HasSubstr("1 the same, 0 drifted, 0 failed"));
}

TEST_F(Corpus, AnotherRunThatEndsAlikeIsDriftAndNoPass) {
  using namespace nlohmann::literals;
  change("/known/traceHash"_json_pointer, "0123456789abcdef");
  const Ran ran = check();
  EXPECT_EQ(ran.exitCode, 4) << ran.standardError;
  EXPECT_EQ(ran.object("kept")["outcome"], "drift");
  EXPECT_EQ(ran.object("kept")["story"], "A seed.");
  EXPECT_THAT(ran.standardError, HasSubstr("drift       "));
  EXPECT_EQ(check({"--allow-drift"}).exitCode, 0);
  EXPECT_EQ(check({"--update"}).exitCode, 0);
  EXPECT_EQ(check().object("corpus")["same"], 1) << "it was recorded anew";
}

TEST_F(Corpus, WhatDoesNotEndAsItDidFails) {
  using namespace nlohmann::literals;
  change("/known/verdict"_json_pointer, "safetyViolation");
  const Ran ran = check({"--update"});
  EXPECT_EQ(ran.exitCode, 3);
  EXPECT_THAT(ran.object("kept")["text"].get<std::string>(),
              HasSubstr("the verdict was safetyViolation, now it is held"));
  change("/known"_json_pointer, nullptr);
  EXPECT_THAT(check().object("kept")["text"].get<std::string>(),
              HasSubstr("does not say what the run ends in"));
}

TEST_F(Corpus, BadInputIsRefused) {
  writeLines(scratch_.file("corpus/zero.json"), {"{\"holdfastPlan\":1,"});
  EXPECT_EQ(check().exitCode, 64);
  EXPECT_THAT(check().standardError, HasSubstr("zero.json:"));
  EXPECT_EQ(holdfast({"check-corpus", scratch_.file("absent")}).exitCode, 64);
  std::filesystem::create_directory(scratch_.path() / "empty");
  EXPECT_THAT(holdfast({"check-corpus", scratch_.file("empty")}).standardError,
              HasSubstr("has no plan file"));
}

TEST(TheCorpus, StillEndsAsItDid) {
  const Ran ran = holdfast({"check-corpus", HOLDFAST_SOURCE_DIR "/traces/corpus", "--json"});
  EXPECT_EQ(ran.exitCode, 0) << "where the code has moved on on purpose: holdfast check-corpus --update\n"
                             << ran.standardError;
  EXPECT_GT(ran.object("corpus")["plans"], 200);
}

TEST(TheCorpus, HasEveryScenarioEveryTwinAndEveryLimitation) {
  std::set<std::string> told;
  std::set<std::pair<std::string, std::string>> twins;
  std::set<std::string> routes;
  for (const auto& entry : std::filesystem::directory_iterator(HOLDFAST_SOURCE_DIR "/traces/corpus")) {
    if (entry.path().extension() != ".json") continue;
    const nlohmann::json plan = nlohmann::json::parse(textOf(entry.path()));
    for (const nlohmann::json& route : plan["known"]["limitations"]) routes.insert(route.get<std::string>());
    if (plan["rulesOff"].empty()) told.insert(plan["scenario"].get<std::string>());
    if (plan["rulesOff"].size() == 1)
      twins.emplace(plan["scenario"].get<std::string>(), plan["rulesOff"][0].get<std::string>());
  }
  std::size_t known = 0;
  for (const scenarios::Scenario& scenario : scenarios::allScenarios()) {
    EXPECT_TRUE(told.contains(std::string(scenario.name))) << scenario.name;
    for (const scenarios::Twin& twin : scenario.twins) {
      EXPECT_TRUE(twins.contains({std::string(scenario.name), std::string(protocol::nameOf(twin.rule))}))
          << scenario.name << " without " << protocol::nameOf(twin.rule);
      ++known;
    }
  }
  EXPECT_GT(known, 100U);
  EXPECT_EQ(routes.size(), checkers::kRoutes - 1) << "all but none";
}

}  // namespace
}  // namespace holdfast::cli
