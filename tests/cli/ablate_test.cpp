// holdfast ablate and bugs, and what explore leaves behind, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Ablate, ShowsWhatRulesBuy) {
  const Ran ran = holdfast({"ablate", "DG-3", "EP3_PromiseRetires", "FR9_AppendOrder", "--quick", "--json"});
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
        << "docs/rules is out of date: run `holdfast ablate --quick --output docs/rules --force`";
  }
}

/// What the command prints with one and with two jobs, and the files that it writes.
void expectTheSameForAnyNumberOfJobs(std::vector<std::string> arguments,
                                     const std::vector<std::string>& files) {
  const ScratchFolder one;
  const ScratchFolder two;
  arguments.insert(arguments.end(), {"--states", "3000", "--seeds", "20", "--json", "--output", "out"});
  const Ran alone = holdfast(with(arguments, {"--jobs", "1"}), {.folder = one.path()});
  const Ran both = holdfast(with(arguments, {"--jobs", "2"}), {.folder = two.path()});
  EXPECT_EQ(alone.exitCode, both.exitCode) << both.standardError;
  EXPECT_THAT(alone.standardOutput, HasSubstr("{\"is\":"));
  EXPECT_EQ(alone.standardOutput, both.standardOutput);
  for (const std::string& file : files) {
    EXPECT_FALSE(textOf(one.file(file)).empty()) << file;
    EXPECT_EQ(textOf(one.file(file)), textOf(two.file(file))) << file;
  }
}

TEST(Ablate, IsTheSameForAnyNumberOfJobs) {
  // The first is the slowest, so that with two jobs those behind it are done before it.
  expectTheSameForAnyNumberOfJobs(
      {"ablate", "FR2_InheritDependencies", "RT4_NamesIdentify", "DG-3", "RT4_DistinctNames",
       "LH1_LocalFifo"},
      {"out/FR2_InheritDependencies.md", "out/RT4_NamesIdentify.md", "out/DG3_OneDelegate.md",
       "out/RT4_DistinctNames.md", "out/LH1_LocalFifo.md"});
}

// A rule that nothing but its story shows, so that a sweep without it lasts as long as it may.
constexpr const char* kEndless = "RT4_DistinctNames";

TEST(Ablate, KeepsWhatWasDoneWhenItIsInterrupted) {
  for (const char* jobs : {"1", "2"}) {
    const ScratchFolder scratch;
    std::ofstream(scratch.file("README.md")) << "the whole table";
    const Ran ran = holdfast({"ablate", "RT4_NamesIdentify", kEndless, "--seeds", "100000000", "--json",
                              "--output", ".", "--jobs", jobs},
                             {.folder = scratch.path(), .interruptOnce = "\"RT4_NamesIdentify\""});
    EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
    EXPECT_THAT(ran.standardError, HasSubstr("interrupted after 1 rule"));
    EXPECT_EQ(ran.object("ablation")["rule"], "RT4_NamesIdentify");
    EXPECT_EQ(ran.object("ablations")["rules"], 1);
    EXPECT_EQ(ran.object("ablations")["partial"], true);
    EXPECT_THAT(textOf(scratch.file("RT4_NamesIdentify.md")), HasSubstr("## Again"));
    EXPECT_EQ(textOf(scratch.file("README.md")), "the whole table");
    EXPECT_EQ(scratch.size(), 2U) << "no page of the rule that was cut short";
  }
}

TEST(Bugs, AreTheSameForAnyNumberOfJobs) {
  // 52 and 53 share a rule, whose searches are run once.
  expectTheSameForAnyNumberOfJobs({"bugs", "52", "53", "47", "8"}, {"out"});
}

TEST(Bugs, KeepWhatWasDoneWhenTheyAreInterrupted) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("bugs.md")) << "the whole page";
  // 4 waits for the searches of 3, which has the same rule.
  const std::vector<std::string> arguments{"bugs",   "31",       "3",       "4",       "--seeds", "100000000",
                                           "--json", "--output", "bugs.md", "--force", "--jobs",  "2"};
  const Ran ran = holdfast(arguments, {.folder = scratch.path(), .interruptOnce = "\"number\":31"});
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  EXPECT_THAT(ran.standardError, HasSubstr("interrupted after 1 bug"));
  EXPECT_EQ(ran.object("bugs")["bugs"], 1);
  EXPECT_EQ(ran.object("bugs")["partial"], true);
  EXPECT_EQ(textOf(scratch.file("bugs.md")), "the whole page");
  EXPECT_THAT(textOf(scratch.file("bugs.md.partial")),
              AllOf(HasSubstr("| 31 |"), HasSubstr("an interrupt came after 1 of 3 bugs")));

  EXPECT_EQ(holdfast({"bugs", "31", "--output", "bugs.md", "--force"}, {.folder = scratch.path()}).exitCode,
            0);
  EXPECT_THAT(textOf(scratch.file("bugs.md")), AllOf(HasSubstr("| 31 |"), Not(HasSubstr("interrupt"))));
  EXPECT_EQ(scratch.size(), 1U) << "the part has gone, as the whole is there";
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

TEST(Explore, TellsMachinesTheFindingAndHowToMeetItAgain) {
  const Ran ran = holdfast({"explore", "handoff", "--without", "DG-3", "--json"});
  ASSERT_EQ(ran.exitCode, 1) << ran.standardError;
  const std::vector<nlohmann::json> objects = ran.objects();
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[0]["is"], "finding");
  EXPECT_EQ(objects[0]["anomaly"], objects[1]["breach"]);
  EXPECT_EQ(objects[0]["checker"], "exclusion");
  EXPECT_EQ(objects[1]["is"], "exploration");
  const auto reproduce = objects[1]["reproduce"].get<std::string>();
  EXPECT_THAT(ran.standardError, HasSubstr("reproduce   " + reproduce));
  const Ran again = shell(reproduce + " --json -q");
  EXPECT_EQ(again.exitCode, 1) << reproduce;
  EXPECT_EQ(again.object("exploration")["path"], objects[1]["path"]);

  const Ran verified = holdfast({"explore", "hand-back", "--json"});
  EXPECT_EQ(verified.exitCode, 0) << verified.standardError;
  EXPECT_EQ(verified.objects().size(), 1U);
  EXPECT_EQ(verified.object("exploration")["reproduce"], "");
}

TEST(Explore, CountsTheStepsOfSampledSchedulesAndNoStates) {
  const Ran ran = holdfast({"explore", "brief", "--strategy", "random", "--schedules", "50", "--json"});
  EXPECT_EQ(ran.exitCode, 3) << ran.standardError;
  const nlohmann::json exploration = ran.object("exploration");
  for (const char* unknown : {"states", "beyond", "expectedOmissions", "statesPerSecond"})
    EXPECT_TRUE(exploration[unknown].is_null()) << unknown;
  const auto steps = exploration["transitions"].get<std::uint64_t>();
  EXPECT_GT(steps, 50U);
  EXPECT_THAT(ran.standardError, HasSubstr(std::to_string(steps) + " steps, depth "));
  EXPECT_THAT(ran.standardError, Not(HasSubstr("omitted by collision")));
}

TEST(Explore, SaysWhatWasAskedOfThoseWhoWait) {
  const Ran ran = holdfast({"explore", "brief", "--liveness", "--json"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  const nlohmann::json liveness = ran.object("exploration")["liveness"];
  EXPECT_EQ(liveness["waiters"], nlohmann::json({"call 1", "call 2"}));
  EXPECT_EQ(liveness["cyclic"], 0) << "each waits with a deadline";
  EXPECT_GT(liveness["waitingStates"].get<std::uint64_t>(), 1'000U);
  EXPECT_EQ(liveness["components"], liveness["waitingStates"]);
  EXPECT_THAT(ran.standardError, AllOf(HasSubstr("brief       verified: whoever waits is served or refused"),
                                       HasSubstr("looked for waits without end of call 1, call 2\n"),
                                       HasSubstr("strongly connected components has a cycle")));
  const Ran unfair = holdfast({"explore", "hand-back", "--liveness"});
  EXPECT_THAT(unfair.standardError,
              AllOf(HasSubstr("hand-back   verified: "), HasSubstr("a cycle are 36, and none is fair")));
  const Ran cycle = holdfast({"explore", "hand-back", "--liveness", "--without", "DG5_HandBack"});
  EXPECT_EQ(cycle.exitCode, 2) << cycle.standardError;
  EXPECT_THAT(cycle.standardError, AllOf(HasSubstr("hand-back   violated\n"), HasSubstr("and one is fair")));
}

TEST(Explore, WithoutLivenessSaysNothingOfThoseWhoWait) {
  const Ran ran = holdfast({"explore", "hand-back", "--json"});
  EXPECT_TRUE(ran.object("exploration")["liveness"].is_null());
  EXPECT_THAT(ran.standardError, AllOf(HasSubstr("hand-back   verified\n"), Not(HasSubstr("wait"))));
}

/// The shell kills the search as soon as it has left a checkpoint, with a signal that can not be caught.
TEST(Explore, ASearchThatIsKilledIsResumedToTheSameCounts) {
  const ScratchFolder scratch;
  const Ran killed = shell(
      "holdfast explore handoff --checkpoint c --checkpoint-every 1ms -q & search=$!; "
      "until [ -s c ]; do kill -0 $search || exit 1; done; kill -KILL $search; wait $search",
      {.folder = scratch.path()});
  ASSERT_EQ(killed.exitCode, 137) << killed.standardError;
  const Ran ran = holdfast({"explore", "handoff", "--resume", "c", "--json"}, {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  const nlohmann::json exploration = ran.object("exploration");
  EXPECT_EQ(exploration["verdict"], "verified");
  EXPECT_EQ(exploration["states"], 296'360);
  EXPECT_EQ(exploration["transitions"], 1'382'820);
  EXPECT_EQ(exploration["depth"], 37);
}

TEST(Explore, HelpNamesTheExitCodes) {
  const Ran ran = holdfast({"explore", "--help"});
  EXPECT_THAT(ran.standardOutput, AllOf(HasSubstr("Exit code: 0 verified"), HasSubstr("3 incomplete")));
}

TEST(Explore, LeavesAPlanThatCanBeEdited) {
  const Explored explored;
  const Ran ran = holdfast({"run", "--plan", explored.plan, "--no-save", "--json"});
  EXPECT_EQ(ran.exitCode, 1) << ran.standardError;
  EXPECT_EQ(ran.object("finding")["anomaly"], "overlappingAdmissions");
  const Ran shrunk = holdfast({"shrink", explored.plan, "--no-save", "--json"});
  EXPECT_EQ(shrunk.exitCode, 0) << shrunk.standardError;
  EXPECT_EQ(shrunk.object("shrunk")["after"], shrunk.object("shrunk")["before"]) << "it was a shortest one";

  const Ran seeded = holdfast({"run", "--plan", explored.plan, "--seed", "7"});
  EXPECT_EQ(seeded.exitCode, 64);
  EXPECT_THAT(seeded.standardError, HasSubstr("expected no seed with it"));
  const Ran skewed = holdfast({"skew", "--plan", explored.plan});
  EXPECT_EQ(skewed.exitCode, 64);
  EXPECT_THAT(skewed.standardError, HasSubstr("expected a plan of the random workload"));

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
