// The command line as a whole: help, versions, and every way to get it wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <regex>
#include <set>

#include "cli/coverage_report.hpp"
#include "cli/option_list.hpp"
#include "cli/verb.hpp"
#include "cli/version.hpp"
#include "protocol/rules.hpp"
#include "scenarios/scenario.hpp"
#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

TEST(Help, OfTheCommandNamesEveryVerb) {
  const Ran ran = holdfast({"--help"});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.standardError, IsEmpty());
  for (const Verb& verb : verbs())
    EXPECT_THAT(ran.standardOutput, HasSubstr("\n  " + std::string(verb.name)));
  EXPECT_THAT(ran.standardOutput, AllOf(HasSubstr("Example"), HasSubstr("--version"), HasSubstr("--json")));
}

TEST(Help, OfAVerbHasASentenceOptionsAndAnExample) {
  for (const Verb& verb : verbs()) {
    for (const char* flag : {"--help", "-h"}) {
      const Ran ran = holdfast({std::string(verb.name), flag});
      EXPECT_EQ(ran.exitCode, 0) << verb.name;
      EXPECT_THAT(ran.standardOutput, AllOf(HasSubstr("Usage: holdfast " + std::string(verb.name)),
                                            HasSubstr("--json"), HasSubstr("--quiet"), HasSubstr("Example")))
          << verb.name;
      EXPECT_THAT(ran.standardError, IsEmpty());
    }
  }
}

/// The lines behind "Example" of a verb's help.
std::vector<std::string> examplesOf(std::string_view verb) {
  std::istringstream text(holdfast({std::string(verb), "--help"}).standardOutput);
  std::vector<std::string> examples;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("  holdfast ")) examples.push_back(line.substr(2));
  }
  return examples;
}

TEST(Help, ItsExamplesWork) {
  for (const Verb& verb : verbs()) {
    const std::vector<std::string> examples = examplesOf(verb.name);
    EXPECT_THAT(examples, Not(IsEmpty())) << verb.name;
    for (const std::string& example : examples) {
      const ScratchFolder scratch;
      // What `check` judges was recorded elsewhere.
      std::ofstream(scratch.file("history.edn")) << "{:process 0 :type :invoke :f :read}\n";
      const Ran ran = shell(example, {.folder = scratch.path()});
      EXPECT_EQ(ran.exitCode, 0) << example << "\n" << ran.standardError;
    }
  }
}

TEST(Version, NamesCommitCompilerAndBuild) {
  const Ran ran = holdfast({"--version"});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.standardOutput,
              MatchesRegex("holdfast [0-9]+\\.[0-9]+\\.[0-9]+ \\(.+\\) (g\\+\\+|clang) .+ .+\n"));
  EXPECT_FALSE(commitName().empty());
}

struct BadUsage {
  const char* name;
  std::vector<std::string> arguments;
  std::vector<std::string> complaints;  ///< All of them are in the message.
};

std::ostream& operator<<(std::ostream& out, const BadUsage& bad) { return out << bad.name; }

class BadUsageTest : public testing::TestWithParam<BadUsage> {};

TEST_P(BadUsageTest, EndsIn64WithAMessage) {
  const ScratchFolder scratch;
  const Ran ran = holdfast(GetParam().arguments, {.folder = scratch.path()});
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardOutput, IsEmpty());
  // A run has introduced itself when its trace turns out not to be writable.
  EXPECT_THAT(ran.standardError, AnyOf(StartsWith("holdfast: "), HasSubstr("\nholdfast: ")));
  for (const std::string& complaint : GetParam().complaints) {
    EXPECT_THAT(ran.standardError, HasSubstr(complaint));
  }
  EXPECT_EQ(scratch.size(), 0U) << "a file was left behind";
}

TEST_P(BadUsageTest, TellsMachinesToo) {
  std::vector<std::string> arguments = GetParam().arguments;
  // Behind the verb, where it can not be taken for the missing value of the last option.
  arguments.insert(arguments.begin() + (arguments.empty() ? 0 : 1), "--json");
  const Ran ran = holdfast(arguments);
  EXPECT_EQ(ran.exitCode, 64);
  const nlohmann::json error = ran.object("error");
  EXPECT_EQ(error["exitCode"], 64);
  EXPECT_THAT(ran.standardError, EndsWith("holdfast: " + error["text"].get<std::string>() + "\n"));
}

INSTANTIATE_TEST_SUITE_P(
    OfSkew, BadUsageTest,
    testing::Values(
        BadUsage{"Property",
                 {"skew", "exclusoin"},
                 {"there is no property 'exclusoin'", "did you mean 'exclusion'?", "liveness"}},
        BadUsage{"Cases", {"skew", "--cases", "0"}, {"--cases", "the number of cases", "expected"}},
        BadUsage{"Drift", {"skew", "--max-drift-ppm", "500001"}, {"--max-drift-ppm", "500000"}},
        BadUsage{"Setting", {"skew", "--set", "nodes=9"}, {"--set", "'nodes=9' is drawn", "protocol."}},
        BadUsage{"Margin", {"skew", "--map", "--margin", "5"}, {"--margin", "'5'", "ms"}},
        BadUsage{"Lease", {"skew", "--map", "--lease", "25h"}, {"--lease", "'25h' is out of range", "24h"}},
        BadUsage{"Plan", {"skew", "--plan", "nowhere.json"}, {"nowhere.json"}}),
    [](const auto& bad) { return std::string(bad.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Usage, BadUsageTest,
    testing::Values(
        BadUsage{"NoVerb", {}, {"a verb is missing", "expected one of run, sweep, merge, "}},
        BadUsage{"UnknownVerb",
                 {"mergee"},
                 {"there is no verb 'mergee'", "did you mean 'merge'?", "expected one of run"}},
        BadUsage{"UnknownTopOption", {"--frobnicate"}, {"there is no option '--frobnicate'"}},
        BadUsage{"UnknownOption",
                 {"run", "--sed", "7"},
                 {"run: there is no option '--sed'", "'--seed'", "--help"}},
        BadUsage{
            "UnknownOptionWithValue", {"sweep", "--seds=7"}, {"there is no option '--seds'", "'--seeds'"}},
        BadUsage{"TooManyWords", {"run", "mixed", "more"}, {"run: 'more' is one word too many"}},
        BadUsage{"MissingValue", {"run", "--seed"}, {"--seed"}},
        BadUsage{"EmptyValue",
                 {"sweep", "--from-commit", ""},
                 {"sweep: the value of --from-commit is empty; expected one, or the option left out"}},
        BadUsage{"EmptyValueBehindEquals", {"run", "--seed="}, {"run: ", "--seed"}},
        BadUsage{"TwoFilesOfOneName",
                 {"sweep", "--report", "s.out", "--junit", "s.out"},
                 {"--junit: 's.out' is where --report goes; expected another file"}},
        BadUsage{"ReportIntoNothing",
                 {"sweep", "--report", "no/such/s.json"},
                 {"--report: cannot write 'no/such/s.json': there is no folder 'no/such'"}},
        BadUsage{"ReportIsAFolder",
                 {"sweep", "--html", "/tmp"},
                 {"--html: cannot write '/tmp': it is a directory"}},
        BadUsage{"ReportBelowAFile",
                 {"sweep", "--report", "/dev/null/s.json"},
                 {"--report: cannot write '/dev/null/s.json': there is no folder '/dev/null'"}},
        BadUsage{"ReportOverAFile",
                 {"sweep", "--report", HOLDFAST_SOURCE_DIR "/README.md"},
                 {"--report: cannot write", "it exists already; expected another name, or --force"}},
        BadUsage{"MeasuresBelowAFile",
                 {"measure", "--html", "/dev/null/m.html"},
                 {"--html: cannot write '/dev/null/m.html'"}},
        BadUsage{"MeasuresOverAFile",
                 {"measure", "--output", HOLDFAST_SOURCE_DIR "/README.md"},
                 {"--output: cannot write", "or --force"}},
        BadUsage{"BugsBelowAFile", {"bugs", "--output", "/dev/null/b"}, {"--output: cannot write"}},
        BadUsage{"BugsOverAFile",
                 {"bugs", "--output", HOLDFAST_SOURCE_DIR "/README.md"},
                 {"--output: cannot write", "or --force"}},
        BadUsage{"PagesBelowAFile",
                 {"ablate", "DG-3", "--output", "/dev/null/p"},
                 {"--output: cannot create the folder '/dev/null/p'"}},
        BadUsage{"PagesOverPages",
                 {"ablate", "DG-3", "--output", HOLDFAST_SOURCE_DIR "/docs/rules"},
                 {"--output: cannot write", "DG3_OneDelegate.md': it exists already", "or --force"}},
        BadUsage{"MapBelowAFile", {"skew", "--map", "--svg", "/dev/null/m"}, {"--svg: cannot write"}},
        BadUsage{"MapOverAFile",
                 {"skew", "--map", "--svg", HOLDFAST_SOURCE_DIR "/docs/skew.svg"},
                 {"--svg: cannot write", "or --force"}},
        BadUsage{"PictureBelowAFile",
                 {"show", "S-31", "--svg", "/dev/null/p"},
                 {"--svg: cannot write '/dev/null/p'"}},
        BadUsage{"SmallPlanBelowAFile",
                 {"shrink", "--seed", "3", "--save-plan", "/dev/null/p"},
                 {"--save-plan: cannot write"}},
        BadUsage{"PlanBelowAFile", {"run", "--save-plan", "/dev/null/p"}, {"--save-plan: cannot write"}},
        BadUsage{"ExplorationBelowAFile",
                 {"explore", "brief", "--trace", "/dev/null/t"},
                 {"--trace: cannot write '/dev/null/t'"}},
        BadUsage{"ForceOfASweep", {"sweep", "--force"}, {"--force replaces files; expected --report"}},
        BadUsage{"ForceOfMeasures", {"measure", "--force"}, {"--force replaces files; expected --output"}},
        BadUsage{"ForceOfBugs", {"bugs", "--force"}, {"--force replaces a page; expected --output"}},
        BadUsage{"ForceOfAblations", {"ablate", "--force"}, {"--force replaces pages; expected --output"}},
        BadUsage{"TwoPicturesOfOneName",
                 {"show", "S-31", "--svg", "p", "--dot", "p"},
                 {"--dot: 'p' is where --svg goes; expected another file"}},
        BadUsage{"UnknownScenario",
                 {"run", "S-99-no-such"},
                 {"there is no scenario 'S-99-no-such'", "holdfast list"}},
        BadUsage{"NearScenario", {"run", "mixd"}, {"there is no scenario 'mixd'; did you mean 'mixed'?"}},
        BadUsage{"AmbiguousScenario", {"run", "S-"}, {"'S-' is the beginning of", "expected one of"}},
        BadUsage{"BadSeed", {"run", "--seed", "seven"}, {"--seed: 'seven' is no seed"}},
        BadUsage{
            "SeedTooLarge", {"run", "--seed", "18446744073709551616"}, {"--seed", "18446744073709551615"}},
        BadUsage{"UnknownRule",
                 {"run", "--without", "DG3_OneDelegat"},
                 {"--without: there is no rule", "'DG3_OneDelegate'"}},
        BadUsage{"AmbiguousRule", {"run", "--without", "FR-4"}, {"--without", "names 3 rules"}},
        BadUsage{
            "UnknownSetting", {"run", "--set", "nods=3"}, {"--set: there is no option 'nods'", "'nodes'"}},
        BadUsage{"NoSetting", {"run", "--set", "nodes"}, {"--set", "expected option=value"}},
        BadUsage{
            "SettingOutOfRange", {"sweep", "--set", "nodes=99"}, {"--set", "nodes is 99; expected 1 to 63"}},
        BadUsage{"DriftBeyondSkew", {"run", "--set", "faults.maxDriftPpb=900000000"}, {"--set", "CK-3"}},
        BadUsage{"BadDuration", {"run", "--set", "faultPhase=soon"}, {"--set", "'soon' is no duration"}},
        BadUsage{"BadSeeds", {"sweep", "--seeds", "9..1"}, {"--seeds", "smaller number first"}},
        BadUsage{"NoSeeds", {"sweep", "--seeds", "0"}, {"--seeds", "expected how many"}},
        BadUsage{"BadJobs", {"sweep", "--jobs", "0"}, {"--jobs", "expected an integer from 1 to"}},
        BadUsage{"BadTimeLimit",
                 {"sweep", "--time-limit", "5"},
                 {"--time-limit", "expected an integer and a unit"}},
        BadUsage{"SweepOfAStory", {"sweep", "S-22"}, {"sweep: 'S-22' is one word too many"}},
        BadUsage{"ForceWithoutTrace", {"run", "--force"}, {"expected --trace FILE"}},
        BadUsage{"TraceIntoNothing",
                 {"run", "--trace", "no/such/folder/t.jsonl"},
                 {"--trace: cannot write", "there is no folder 'no/such/folder'"}},
        BadUsage{"TraceIsAFolder",
                 {"run", "--trace", "/tmp"},
                 {"--trace: cannot write '/tmp': it is a directory"}},
        BadUsage{"TwinOfTheWorkload", {"run", "--twin"}, {"--twin: the random workload has no twin"}},
        BadUsage{"ReplayOfNothing", {"replay"}, {"trace"}},
        BadUsage{
            "ReplayOfNoFile", {"replay", "absent.jsonl"}, {"absent.jsonl: cannot be opened", "No such file"}},
        BadUsage{"ReplayOfAFolder", {"replay", "/tmp"}, {"/tmp: is a directory"}},
        BadUsage{"ReplayOfNoTrace",
                 {"replay", "/dev/null"},
                 {"/dev/null:1:1: the file is empty; expected a trace"}},
        BadUsage{"AblateNoRule", {"ablate", "DG-3", "DG-99"}, {"there is no rule 'DG-99'"}},
        BadUsage{"AblateNoStates", {"ablate", "--states", "0"}, {"--states", "expected an integer from 1"}},
        BadUsage{"BugsNoNumber", {"bugs", "ten"}, {"the number of a bug", "expected an integer from 1"}},
        BadUsage{"BugsUnknown", {"bugs", "10"}, {"there is no bug 10", "which has gaps"}},
        BadUsage{
            "ExploreAllIntoOnePlan", {"explore", "--save-plan", "p.json"}, {"--save-plan", "one search"}},
        BadUsage{"ExploreCheckpointsNowhere",
                 {"explore", "brief", "--checkpoint-every", "5s"},
                 {"--checkpoint-every", "expected it with --checkpoint FILE"}},
        BadUsage{"ExploreCheckpointsNever",
                 {"explore", "brief", "--checkpoint", "c", "--checkpoint-every", "0s"},
                 {"--checkpoint-every", "no length of time"}},
        BadUsage{"ExploreMisspelt", {"explore", "breif"}, {"breif", "did you mean 'brief'"}},
        BadUsage{"ExploreWholeGraphToADepth",
                 {"explore", "brief", "--liveness", "--depth", "3"},
                 {"--liveness", "without --depth"}},
        BadUsage{"ExploreWholeGraphBySamples",
                 {"explore", "brief", "--liveness", "--strategy", "random"},
                 {"--liveness", "without --strategy"}},
        BadUsage{"ExploreDepthWithCheckpoint",
                 {"explore", "brief", "--strategy", "depth", "--checkpoint", "c"},
                 {"--checkpoint", "--strategy breadth"}},
        BadUsage{"ExploreSchedulesOfAWholeSearch",
                 {"explore", "brief", "--schedules", "5"},
                 {"--schedules", "--strategy random"}},
        BadUsage{"ExploreSeedOfAWholeSearch",
                 {"explore", "brief", "--seed", "3"},
                 {"--seed", "--strategy random"}},
        BadUsage{"ExploreStatesOfSamples",
                 {"explore", "brief", "--strategy", "random", "--states", "3"},
                 {"--states", "--schedules"}},
        BadUsage{"ExploreWholeGraphOnTwoThreads",
                 {"explore", "brief", "--liveness", "--jobs", "2"},
                 {"--jobs", "without --liveness"}},
        BadUsage{"ExploreDepthOnTwoThreads",
                 {"explore", "brief", "--strategy", "depth", "--jobs", "2"},
                 {"--jobs", "--strategy breadth"}},
        BadUsage{"ExploreSamplesUnreduced",
                 {"explore", "brief", "--strategy", "priorities", "--no-reduction"},
                 {"--no-reduction", "--strategy breadth or depth"}},
        BadUsage{"ExploreCheckpointOnADevice",
                 {"explore", "brief", "--states", "100", "--force", "--checkpoint", "/dev/full"},
                 {"--checkpoint: '/dev/full' is no regular file"}},
        BadUsage{"ExploreFromAFileWithoutEnd",
                 {"explore", "brief", "--resume", "/dev/zero"},
                 {"/dev/zero:1:1: is no checkpoint"}},
        BadUsage{"ExploreTwoFilesOfOneName",
                 {"explore", "brief", "--trace", "t", "--save-plan", "t"},
                 {"--save-plan: 't' is where --trace goes; expected another file"}},
        BadUsage{"ExploreCheckpointNowhere",
                 {"explore", "brief", "--states", "100", "--checkpoint", "no-such-folder/c"},
                 {"--checkpoint", "no-such-folder"}},
        BadUsage{
            "HelpOfNoVerb", {"nonsense", "--help"}, {"there is no verb 'nonsense'; expected one of run"}},
        BadUsage{"UnknownList", {"list", "ruels"}, {"there is no list 'ruels'", "did you mean 'rules'?"}},
        BadUsage{"EmptyList", {"list", "rules", "QQ"}, {"none of the rules begins with 'QQ'"}}),
    [](const auto& each) { return std::string(each.param.name); });

// Each has a say elsewhere, and none here.
INSTANTIATE_TEST_SUITE_P(
    WithoutASay, BadUsageTest,
    testing::Values(
        BadUsage{"OutOfARun", {"run", "--out", "f", "--no-save"}, {"--out names where", "--no-save"}},
        BadUsage{"OutOfASweep", {"sweep", "--out", "f", "--no-save"}, {"--out names where", "--no-save"}},
        BadUsage{"OutOfASkew", {"skew", "--out", "f", "--no-save"}, {"--out names where", "--no-save"}},
        BadUsage{"PlanOfATwin",
                 {"run", "S-31", "--twin", "--save-plan", "p.json"},
                 {"--save-plan keeps a run", "instead of it"}},
        BadUsage{"StoryOfARun", {"run", "--story", "s"}, {"--story", "expected --save-plan FILE"}},
        BadUsage{"OptionsOfAStory",
                 {"run", "S-31", "--print-options"},
                 {"--print-options: S-31-transitive has options of its own"}},
        BadUsage{"MembershipTwice",
                 {"run", "--membership", "fixed", "--set", "protocol.membership=epoch"},
                 {"--membership and --set protocol.membership", "expected one of them"}},
        BadUsage{"TimeLimitOfATwin", {"run", "S-31", "--twin", "--time-limit", "1s"}, {"--time-limit cuts"}},
        BadUsage{
            "TimeLimitOfAStory", {"run", "S-31", "--time-limit", "1s"}, {"expected it with 'mixed' only"}},
        BadUsage{
            "ForceOfAShrink", {"shrink", "--seed", "3", "--force"}, {"--force", "expected --save-plan FILE"}},
        BadUsage{"StoryOfAShrink",
                 {"shrink", "--seed", "3", "--story", "s"},
                 {"--story", "expected --save-plan FILE"}},
        BadUsage{"OutOfASmallPlan",
                 {"shrink", "--seed", "3", "--save-plan", "p.json", "--out", "f"},
                 {"--out is where", "expected one of them"}},
        BadUsage{"DriftBothWays",
                 {"check-corpus", "--update", "--allow-drift"},
                 {"--allow-drift lets", "expected one of them"}},
        BadUsage{"ForceOfAnExploration", {"explore", "brief", "--force"}, {"--force replaces files"}},
        BadUsage{"QuickWithBothBounds",
                 {"ablate", "DG-3", "--quick", "--states", "9", "--seeds", "9"},
                 {"--quick bounds", "expected it without"}},
        BadUsage{"RerunOfAnEvent",
                 {"explain", "S-31", "--event", "3", "--no-rerun"},
                 {"--no-rerun is about a finding", "without --event"}},
        BadUsage{"ForceOfAPicture",
                 {"show", "S-31", "--svg", "-", "--force"},
                 {"--force replaces files", "expected --svg FILE"}},
        BadUsage{"SvgWithoutAMap", {"skew", "--svg", "map.svg"}, {"--svg shapes the map; expected --map"}},
        BadUsage{"LeaseWithoutAMap", {"skew", "--lease", "1s"}, {"--lease shapes the map; expected --map"}},
        BadUsage{"MarginWithoutAMap", {"skew", "--margin", "1s"}, {"--margin shapes the map"}},
        BadUsage{"ForceOfAMap", {"skew", "--map", "--force"}, {"--force replaces", "--map --svg FILE"}},
        BadUsage{"PropertyOfAMap",
                 {"skew", "freshness", "--map"},
                 {"--map is about exclusion alone; expected no 'freshness'"}},
        BadUsage{"CasesOfAMap", {"skew", "--map", "--cases", "9"}, {"--cases", "expected it without --map"}},
        BadUsage{"SettingOfAMap",
                 {"skew", "--map", "--set", "protocol.skew=1s"},
                 {"--set", "expected it without --map"}},
        BadUsage{"SeedOfASkewPlan",
                 {"skew", "--plan", "p.json", "--seed", "9"},
                 {"--seed", "expected it without --plan"}},
        BadUsage{"CasesBesideACase",
                 {"skew", "--case", "3", "--cases", "9"},
                 {"--cases is how many", "expected one of them"}}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Dev, RefusesWordsThatItWouldNotLookAt) {
  // Only where a build in which this is broken does no harm.
  const Ran surplus = shell(HOLDFAST_SOURCE_DIR "/dev help me");
  EXPECT_EQ(surplus.exitCode, 64);
  EXPECT_THAT(surplus.standardError, HasSubstr("dev: help: 'me' is one word too many"));
  EXPECT_EQ(shell(HOLDFAST_SOURCE_DIR "/dev help").exitCode, 0);
}

TEST(Output, ThatCannotBeWrittenIsAnError) {
  const Ran ran = holdfast({"list"}, {.folder = {}, .outputTo = "/dev/full"});
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardError, HasSubstr("standard output cannot be written"));
}

TEST(List, WithoutWordsNamesTheScenarios) {
  const Ran ran = holdfast({"list"});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.standardError, IsEmpty());
  EXPECT_THAT(ran.standardOutput, StartsWith("mixed\n"));
  ASSERT_FALSE(scenarios::allScenarios().empty());
  for (const scenarios::Scenario& scenario : scenarios::allScenarios()) {
    EXPECT_THAT(ran.standardOutput, AllOf(HasSubstr("\n" + std::string(scenario.name) + "\n"),
                                          HasSubstr(std::string(scenario.story))));
  }
}

/// The names that `holdfast list <what> --json` gives; each object has the members named.
std::vector<std::string> listed(const std::vector<std::string>& what, const std::set<std::string>& members) {
  std::vector<std::string> arguments{"list", "--json"};
  arguments.insert(arguments.end(), what.begin(), what.end());
  const Ran ran = holdfast(arguments);
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  std::vector<std::string> names;
  for (const nlohmann::json& object : ran.objects()) {
    std::set<std::string> found;
    for (const auto& [name, value] : object.items()) found.insert(name);
    EXPECT_EQ(found, members) << object;
    names.push_back(object.value("name", ""));
  }
  return names;
}

TEST(List, EveryKindHasItsObjects) {
  EXPECT_EQ(listed({"scenarios"}, {"is", "name", "story", "rules", "twins"}).size(),
            scenarios::allScenarios().size() + 1);
  EXPECT_EQ(listed({"rules"}, {"is", "name", "without"}).size(), protocol::kRuleCount);
  EXPECT_EQ(listed({"options"}, {"is", "name", "default", "unit"}), optionPaths());
  EXPECT_EQ(listed({"routes"}, {"is", "name", "limitation", "meaning", "mustReach", "budget"}).size(),
            checkers::kRoutes - 1);
  EXPECT_EQ(listed({"milestones"}, {"is", "name", "mustReach", "budget"}).size(), scenarios::kMilestones);
}

TEST(List, TakesABeginning) {
  EXPECT_THAT(listed({"rules", "DG6"}, {"is", "name", "without"}),
              testing::ElementsAre("DG6_MatchRequestId", "DG6_NoMintForDuplicate"));
  EXPECT_THAT(listed({"mix"}, {"is", "name", "story", "rules", "twins"}), testing::ElementsAre("mixed"));
  EXPECT_THAT(holdfast({"list", "rules", "DG3"}).standardOutput,
              HasSubstr(std::string(protocol::withoutRule(protocol::Rule::DG3_OneDelegate))));
}

}  // namespace
}  // namespace holdfast::cli
