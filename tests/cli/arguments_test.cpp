// What is typed behind options: every form that is accepted, and every form that is refused with a reason.
#include "cli/arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "cli/option_list.hpp"
#include "scenarios/plan.hpp"

namespace holdfast::cli {
namespace {

using protocol::Rule;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kMostSeed = std::numeric_limits<std::uint64_t>::max();

TEST(Seed, IsDecimalHexadecimalOrACommit) {
  EXPECT_EQ(parseSeed("0"), 0U);
  EXPECT_EQ(parseSeed("7"), 7U);
  EXPECT_EQ(parseSeed("18446744073709551615"), kMostSeed);
  EXPECT_EQ(parseSeed("0x1F"), 31U);
  EXPECT_EQ(parseSeed("0Xffffffffffffffff"), kMostSeed);
  EXPECT_EQ(parseSeed("13532d6a0123456789abcdef0123456789abcdef"), 0x13532d6a01234567U);
  EXPECT_EQ(parseSeed("1234567890123456789012345678901234567890"), 0x1234567890123456U)
      << "40 decimal digits are a commit, too";
}

TEST(Seed, AnythingElseIsRefusedWithWhatWouldBeRight) {
  for (const char* text :
       {"", " 7", "7 ", "-1", "+1", "1.5", "1e3", "0x", "0xg", "x1", "18446744073709551616",
        "0x10000000000000000", "13532d6", "13532d6a0123456789abcdef0123456789abcdeg"}) {
    const auto seed = parseSeed(text);
    ASSERT_FALSE(seed) << text;
    EXPECT_THAT(seed.error(), HasSubstr("expected a number from 0 to 18446744073709551615")) << text;
    EXPECT_THAT(seed.error(), HasSubstr(text));
  }
}

TEST(Seed, AnyTextIsAnsweredShortlyAndPrintably) {
  const std::string hostile = std::string("\x1b[31m\n\0", 7) + std::string(100'000, 'x');
  const auto seed = parseSeed(hostile);
  ASSERT_FALSE(seed);
  EXPECT_LT(seed.error().size(), 400U);
  for (const char c : seed.error()) EXPECT_GE(static_cast<unsigned char>(c), 0x20U);
}

RC_GTEST_PROP(Seed, IsReadBackFromBothBases, (std::uint64_t seed)) {
  RC_ASSERT(parseSeed(std::to_string(seed)).value() == seed);
  char hex[32];
  std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(seed));
  RC_ASSERT(parseSeed(hex).value() == seed);
}

TEST(Seeds, AreANumberOrARange) {
  EXPECT_EQ(parseSeeds("1000"), (SeedRange{1, 1000}));
  EXPECT_EQ(parseSeeds("5..5"), (SeedRange{5, 1}));
  EXPECT_EQ(parseSeeds("0..9"), (SeedRange{0, 10}));
  EXPECT_EQ(parseSeeds("0x10..0x1f"), (SeedRange{16, 16}));
  EXPECT_EQ(parseSeeds("18446744073709551615..18446744073709551615"), (SeedRange{kMostSeed, 1}));
}

TEST(Seeds, BadRangesAreRefused) {
  for (const char* text : {"", "0", "..", "1..", "..5", "1...5", "5..1", "a..b", "1-5", "-3"}) {
    const auto seeds = parseSeeds(text);
    ASSERT_FALSE(seeds) << text;
    EXPECT_THAT(seeds.error(), HasSubstr("expected")) << text;
  }
  EXPECT_THAT(parseSeeds("0..18446744073709551615").error(), HasSubstr("too many"));
}

TEST(RealTime, NeedsAUnit) {
  EXPECT_EQ(parseRealTime("1ns"), 1U);
  EXPECT_EQ(parseRealTime("20us"), 20'000U);
  EXPECT_EQ(parseRealTime("500ms"), 500'000'000U);
  EXPECT_EQ(parseRealTime("30s"), 30'000'000'000U);
  EXPECT_EQ(parseRealTime("2min"), 120'000'000'000U);
  EXPECT_EQ(parseRealTime("1h"), 3'600'000'000'000U);
  for (const char* text : {"", "s", "5", "0s", "-1s", "1.5s", "5 s", "5m", "5sec", "99999999999h"}) {
    const auto time = parseRealTime(text);
    ASSERT_FALSE(time) << text;
    EXPECT_THAT(time.error(), HasSubstr("expected an integer and a unit")) << text;
  }
}

TEST(Rules, AreNamedInFullInAnyCaseOrByAnIdOfOneRule) {
  EXPECT_EQ(parseRule("DG3_OneDelegate"), Rule::DG3_OneDelegate);
  EXPECT_EQ(parseRule("dg3_onedelegate"), Rule::DG3_OneDelegate);
  EXPECT_EQ(parseRule("DG-3"), Rule::DG3_OneDelegate);
  EXPECT_EQ(parseRule("dg3"), Rule::DG3_OneDelegate);
  EXPECT_EQ(parseRule("EP-13"), Rule::EP13_SameAgreement) << "EP-1 is another rule";
  EXPECT_EQ(parseRule("EP-1"), Rule::EP1_TotalOrder) << "EP-13 is another rule";
}

TEST(Rules, EveryRuleIsFoundByItsOwnName) {
  for (std::size_t i = 0; i < protocol::kRuleCount; ++i) {
    const auto rule = static_cast<Rule>(i);
    EXPECT_EQ(parseRule(protocol::nameOf(rule)), rule);
  }
}

TEST(Rules, UnknownOnesAreAnsweredWithNearMatches) {
  EXPECT_THAT(parseRule("DG3_OneDelegat").error(), HasSubstr("did you mean 'DG3_OneDelegate'?"));
  EXPECT_THAT(parseRule("OneDelegate").error(), HasSubstr("'DG3_OneDelegate'"));
  EXPECT_THAT(
      parseRule("FR-4").error(),
      HasSubstr("names 3 rules; expected one of FR4_ExactToken, FR4_AuthorBound, FR4_OldFormRecovers"));
  EXPECT_THAT(parseRule("").error(), HasSubstr("there is no rule ''"));
  EXPECT_THAT(parseRule("-").error(), HasSubstr("there is no rule '-'"));
  EXPECT_THAT(parseRule("completely different").error(), testing::Not(HasSubstr("did you mean")));
}

TEST(Rules, AreSwitchedOffTogether) {
  const std::vector<std::string> names{"LW-1", "DG-3", "dg3"};
  const auto rules = parseRules(names);
  ASSERT_TRUE(rules);
  EXPECT_THAT(rulesOff(*rules), ElementsAre("DG3_OneDelegate", "LW1_OrderedApply"));
  EXPECT_TRUE(parseRules({})->allOn());
}

Parsed<scenarios::RunOptions> apply(const std::vector<std::string>& settings) {
  return applySettings({}, settings);
}

TEST(Settings, ReachEveryPartOfTheOptions) {
  const auto options = apply({"nodes=3", "protocol.maxDelegation=6s", "protocol.enabled=false",
                              "delays.link.tail=30ms", "workload.lockedUpdate=1", "faults.crash.meanGap=5s",
                              "faults.lossPpm=20000", "faults.maxDriftPpb=1000"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->nodes, 3);
  EXPECT_EQ(options->protocol.maxDelegation, sim::seconds(6));
  EXPECT_FALSE(options->protocol.enabled);
  EXPECT_EQ(options->delays.link.tail, sim::milliseconds(30));
  EXPECT_EQ(options->workload.lockedUpdate, 1U);
  EXPECT_EQ(options->faults.crash.meanGap, sim::seconds(5));
  EXPECT_EQ(options->faults.lossPpm, 20'000U);
  EXPECT_EQ(options->faults.maxDriftPpb, 1'000);
}

TEST(Settings, DurationsTakeEveryUnit) {
  struct Case {
    const char* text;
    std::int64_t ns;
  };
  for (const Case& each : {Case{"1500000", 1'500'000}, Case{"1500000ns", 1'500'000},
                           Case{"1500us", 1'500'000}, Case{"20ms", 20'000'000}, Case{"3s", 3'000'000'000},
                           Case{"1min", 60'000'000'000}, Case{"1h", 3'600'000'000'000}}) {
    const auto options = apply({std::string("faults.reorderExtra=") + each.text});
    ASSERT_TRUE(options) << each.text << ": " << options.error();
    EXPECT_EQ(options->faults.reorderExtra.ns, each.ns) << each.text;
  }
}

TEST(Settings, TheLastOneOfAnOptionCounts) { EXPECT_EQ(apply({"nodes=3", "nodes=4"})->nodes, 4); }

TEST(Settings, BadOnesSayWhatIsWrong) {
  struct Case {
    const char* setting;
    const char* complaint;
  };
  for (const Case& each :
       {Case{"nodes", "expected option=value"}, Case{"=3", "expected option=value"},
        Case{"seed=3", "expected --seed"}, Case{"nods=3", "did you mean 'nodes'?"},
        Case{"protocol.skw=1s", "did you mean 'protocol.skew'?"},
        Case{"protocol=1", "there is no option 'protocol'"},
        Case{"nodes.x=1", "there is no option 'nodes.x'"}, Case{"nodes=", "''"}, Case{"nodes=three", "three"},
        Case{"nodes=70000", "70000"}, Case{"nodes=64", "expected 1 to 63"}, Case{"nodes=-1", "-1"},
        Case{"keys=0", "expected 1 to 1000000"}, Case{"protocol.enabled=yes", "neither true nor false"},
        Case{"faultPhase=5 parsecs", "no duration"}, Case{"faultPhase=99999999999h", "no duration"},
        Case{"faults.lossPpm=1000001", "1000000"}, Case{"faults.maxDriftPpb=900000000", "CK-3"}}) {
    const auto options = apply({each.setting});
    ASSERT_FALSE(options) << each.setting;
    EXPECT_THAT(options.error(), HasSubstr(each.complaint)) << each.setting;
  }
}

TEST(Settings, NoMoreIsDrawnThanAMomentTakes) {
  const auto options = apply({"faultPhase=720h", "workload.gap=1h", "faults.crash.meanGap=1ms"});
  ASSERT_FALSE(options);
  EXPECT_THAT(options.error(), HasSubstr("faults.crash.meanGap is 1 ms, which makes 2592000001 faults"));
}

TEST(Options, AreListedWithValuesThatSetTakesBack) {
  scenarios::RunOptions odd;
  odd.nodes = 9;
  odd.protocol.skew = sim::nanoseconds(123'456'789);
  odd.faults.crash.longest = sim::hours(2);
  odd.protocol.enabled = false;
  scenarios::RunOptions back;
  std::size_t count = 0;
  for (const OptionValue& option : optionValues(odd)) {
    const auto set = scenarios::setOption(back, option.path, option.value);
    ASSERT_TRUE(set) << option.path << "=" << option.value << ": " << set.error();
    ++count;
  }
  EXPECT_EQ(back, odd);
  EXPECT_GT(count, 60U);
  EXPECT_EQ(optionPaths().size(), count);
}

TEST(Options, OnlyThoseThatDifferAreChanged) {
  EXPECT_THAT(changedOptions({}), testing::IsEmpty());
  scenarios::RunOptions odd;
  odd.seed = 99;
  odd.nodes = 3;
  odd.faults.crash.meanGap = sim::milliseconds(1500);
  EXPECT_THAT(changedOptions(odd), ElementsAre("nodes=3", "faults.crash.meanGap=1500ms"));
}

TEST(Options, ParagraphsHoldEveryNameWithinTheWidth) {
  std::string text;
  for (const std::string& line : optionParagraphs({}, 110)) {
    EXPECT_LE(line.size(), 110U) << line;
    text += line + "\n";
  }
  for (const std::string& path : optionPaths()) {
    EXPECT_THAT(text, HasSubstr(path.substr(path.rfind('.') + 1))) << path;
  }
}

TEST(ShellWord, QuotesWhatAShellWouldObey) {
  EXPECT_EQ(shellWord("protocol.skew=400ms"), "protocol.skew=400ms");
  EXPECT_EQ(shellWord("a b"), "'a b'");
  EXPECT_EQ(shellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(shellWord("$(x)"), "'$(x)'");
  EXPECT_EQ(shellWord(""), "''");
}

TEST(SeedsOfCommit, BeginWhereItsDigitsSay) {
  const std::string commit = "00000000000000ff" + std::string(24, 'a');
  EXPECT_EQ(seedsOfCommit(commit, 10), (SeedRange{255, 10}));
  EXPECT_EQ(seedsOfCommit("8000000000000001" + std::string(24, '0'), 3), (SeedRange{1, 3}))
      << "without its highest bit";
  EXPECT_TRUE(seedsOfCommit(commit + std::string(24, 'b'), 1).has_value()) << "64 digits";
  for (const std::string& bad : {std::string("main"), commit.substr(1), commit + "0", std::string(40, 'g')}) {
    EXPECT_FALSE(seedsOfCommit(bad, 1).has_value()) << bad;
  }
}

TEST(ShardOf, PartsFollowEachOtherAndLeaveNothingOut) {
  for (const std::uint64_t count : {1U, 7U, 8U, 100U}) {
    for (std::uint64_t parts = 1; parts <= count && parts <= 9; ++parts) {
      std::uint64_t next = 1'000;
      for (std::uint64_t part = 1; part <= parts; ++part) {
        const auto shard = shardOf(std::to_string(part) + "/" + std::to_string(parts), {1'000, count});
        ASSERT_TRUE(shard.has_value()) << shard.error();
        EXPECT_EQ(shard->first, next);
        EXPECT_LE(shard->count - count / parts, 1U);
        next += shard->count;
      }
      EXPECT_EQ(next, 1'000 + count);
    }
  }
  for (const char* bad : {"", "1", "/", "0/3", "4/3", "1/0", "1/x", "-1/3", "1/3/5"}) {
    EXPECT_FALSE(shardOf(bad, {1, 100}).has_value()) << bad;
  }
}

}  // namespace
}  // namespace holdfast::cli
