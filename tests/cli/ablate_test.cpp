// holdfast ablate and bugs, and what explore leaves behind, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Ablate, ShowsWhatRulesBuy) {
  const Ran ran = holdfast({"ablate", "DG-3", "EP2_PersistPromise", "FR9_AppendOrder", "--quick", "--json"});
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  std::vector<nlohmann::json> rules;
  for (const nlohmann::json& object : ran.objects()) {
    if (object["is"] == "ablation") rules.push_back(object);
  }
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0]["method"], "explorer");
  EXPECT_EQ(rules[0]["schedule"].size(), rules[0]["steps"]);
  EXPECT_EQ(rules[1]["method"], "story");
  EXPECT_EQ(rules[1]["checker"], "membership");
  EXPECT_GT(rules[2]["steps"], 0);
  for (const nlohmann::json& rule : rules) {
    const Ran again = shell(rule["reproduce"].get<std::string>() + " -q");
    EXPECT_EQ(again.exitCode, 1) << rule["reproduce"];
  }
  EXPECT_EQ(ran.object("ablations")["unproven"].size(), 0U);
}

TEST(Ablate, WritesThePagesOfTheDocumentation) {
  const ScratchFolder scratch;
  const std::string folder = scratch.file("rules");
  ASSERT_EQ(
      holdfast({"ablate", "DG4_AnchorAtSend", "EP3_PromiseRetires", "--quick", "--output", folder, "-q"})
          .exitCode,
      0);
  for (const char* page : {"DG4_AnchorAtSend.md", "EP3_PromiseRetires.md"}) {
    EXPECT_EQ(textOf(folder + "/" + page), textOf(std::string(HOLDFAST_SOURCE_DIR "/docs/rules/") + page))
        << "docs/rules is out of date: run `holdfast ablate --quick --output docs/rules`";
  }
}

TEST(Bugs, AreCaught) {
  const Ran ran = holdfast({"bugs", "12", "47", "51", "--quick", "--json"});
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  const nlohmann::json bugs = ran.object("bugs");
  EXPECT_EQ(bugs["bugs"], 3);
  EXPECT_EQ(bugs["expressible"], 3);
  EXPECT_EQ(bugs["caught"], 3);
  const Ran unknown = holdfast({"bugs", "10"});
  EXPECT_EQ(unknown.exitCode, 64);
  EXPECT_THAT(unknown.standardError, HasSubstr("there is no bug 10"));
}

/// A counterexample of the explorer, as trace and as plan.
struct Explored {
  ScratchFolder scratch;
  std::string trace = scratch.file("t.jsonl");
  std::string plan = scratch.file("p.json");

  Explored() {
    const Ran ran =
        holdfast({"explore", "handoff", "--without", "DG-3", "--trace", trace, "--save-plan", plan});
    EXPECT_EQ(ran.exitCode, 1) << ran.standardError;
  }
};

TEST(Explore, LeavesATraceLikeAnyOther) {
  const Explored explored;
  const std::string& trace = explored.trace;
  const Ran replayed = holdfast({"replay", trace, "--verify", "--json"});
  EXPECT_EQ(replayed.exitCode, 1) << replayed.standardError;
  EXPECT_EQ(replayed.object("comparison")["same"], true);
  const Ran explained = holdfast({"explain", trace, "--json"});
  EXPECT_EQ(explained.exitCode, 0) << explained.standardError;
  EXPECT_EQ(explained.object("story")["violation"], true);
  const Ran shown = holdfast({"show", trace, "--mermaid", "-"});
  EXPECT_EQ(shown.exitCode, 0) << shown.standardError;
  EXPECT_THAT(shown.standardOutput, AllOf(HasSubstr("sequenceDiagram"), HasSubstr("VIOLATION")));
  EXPECT_EQ(holdfast({"diff", trace, trace}).exitCode, 0);
}

TEST(Explore, LeavesAPlanThatCanBeEdited) {
  const Explored explored;
  const Ran ran = holdfast({"run", "--plan", explored.plan, "--no-save", "--json"});
  EXPECT_EQ(ran.exitCode, 1) << ran.standardError;
  EXPECT_EQ(ran.object("finding")["anomaly"], "overlappingAdmissions");
  const Ran shrunk = holdfast({"shrink", explored.plan, "--no-save", "--json"});
  EXPECT_EQ(shrunk.exitCode, 0) << shrunk.standardError;
  EXPECT_EQ(shrunk.object("shrunk")["after"], shrunk.object("shrunk")["before"]) << "it was a shortest one";

  std::vector<std::string> lines = linesOf(explored.plan);
  const auto step = std::ranges::find_if(
      lines, [](const std::string& line) { return line.find("\"a client of ") != std::string::npos; });
  ASSERT_NE(step, lines.end());
  const auto number = step - lines.begin();
  step->replace(step->find("a client"), 8, "no client");
  writeLines(explored.plan, lines);
  const Ran edited = holdfast({"run", "--plan", explored.plan, "--no-save"});
  EXPECT_EQ(edited.exitCode, 64);
  EXPECT_THAT(edited.standardError,
              AllOf(HasSubstr(":" + std::to_string(number + 1) + ":"), HasSubstr("can not happen here")));
}

}  // namespace
}  // namespace holdfast::cli
