// holdfast replay: a trace is executed again as it stands, and whatever is wrong with it is named with its
// place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "scenarios/scenario.hpp"
#include "tests/cli/process.hpp"
#include "traces/trace.hpp"

namespace holdfast::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// A trace of the random workload in a folder of its own.
class Replay : public testing::Test {
 protected:
  void SetUp() override {
    const Ran ran = holdfast({"run", "--seed", "7", "--set", "nodes=3", "--set", "keys=2", "--set",
                              "faultPhase=12s", "--trace", file, "--json", "-q"});
    ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
    hash = ran.object("verdict")["traceHash"];
    lines = linesOf(file);
    ASSERT_GT(lines.size(), 100U);
  }

  /// Replays the trace with the lines changed as they now are.
  Ran replayChanged(const std::vector<std::string>& more = {}) const {
    const std::string changed = scratch.file("changed.jsonl");
    writeLines(changed, lines);
    std::vector<std::string> arguments{"replay", changed};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return holdfast(arguments);
  }

  /// Writes the trace anew with its header, plan and observations as they are handed in; the chain fits.
  std::string rewrite(const traces::Trace& trace) const {
    const std::string path = scratch.file("rewritten.jsonl");
    auto writer = traces::TraceWriter::create(path, trace.header, trace.plan, traces::IfExists::replace);
    EXPECT_TRUE(writer) << writer.error().what;
    for (const obs::Stamped& stamped : trace.observations) writer->on(stamped);
    EXPECT_TRUE(writer->finish(trace.ending.verdict, {trace.ending.simulatedNs}));
    return path;
  }

  ScratchFolder scratch;
  std::string file = scratch.file("t.jsonl");
  std::string hash;
  std::vector<std::string> lines;
};

TEST_F(Replay, VerifiesWhatWasRecorded) {
  const Ran ran = holdfast({"replay", file, "--verify", "--json"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  const nlohmann::json comparison = ran.object("comparison");
  EXPECT_EQ(comparison["same"], true);
  EXPECT_EQ(comparison["traceHash"], hash);
  EXPECT_EQ(comparison["recordedHash"], hash);
  EXPECT_EQ(comparison["events"], lines.size() - 3) << "all lines but header, plan and verdict";
  EXPECT_THAT(ran.standardError, AllOf(HasSubstr("compared    the same "), Not(HasSubstr("note "))));
}

TEST_F(Replay, WithoutVerifyOnlyTheHashIsCompared) {
  const Ran ran = holdfast({"replay", file});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardOutput, IsEmpty());
  EXPECT_THAT(ran.standardError, AllOf(HasSubstr(" seed 7 scenario mixed "), HasSubstr("verdict     held"),
                                       HasSubstr("compared    the same "), HasSubstr(hash)));
}

TEST_F(Replay, ADirectedScenarioIsVerifiedWithAndWithoutItsRule) {
  const auto& all = scenarios::allScenarios();
  const auto found = std::ranges::find_if(all, [](const auto& each) { return !each.twins.empty(); });
  ASSERT_NE(found, all.end());
  const std::string name(found->name);
  const std::string rule(protocol::nameOf(found->twins.front().rule));
  const std::string with = scratch.file("with.jsonl");
  const std::string without = scratch.file("without.jsonl");
  const std::string twin = scratch.file("twin.jsonl");
  EXPECT_EQ(holdfast({"run", name, "--seed", "3", "--trace", with}).exitCode, 0);
  const int broken = holdfast({"run", name, "--seed", "3", "--without", rule, "--trace", without}).exitCode;
  EXPECT_TRUE(broken == 1 || broken == 2) << broken;
  EXPECT_EQ(holdfast({"run", name, "--seed", "3", "--without", rule, "--twin", "--trace", twin}).exitCode, 0);

  EXPECT_EQ(holdfast({"replay", with, "--verify"}).exitCode, 0);
  for (const std::string& path : {without, twin}) {
    const Ran ran = holdfast({"replay", path, "--verify", "--json"});
    EXPECT_EQ(ran.exitCode, broken) << "a violation stays one when it is replayed\n" << ran.standardError;
    EXPECT_EQ(ran.object("comparison")["same"], true);
  }
}

TEST_F(Replay, TheFirstDifferenceIsNamedWithItsContext) {
  // A trace that is sound in itself but tells of another run: event 50 happened a nanosecond later.
  auto trace = traces::readTrace(file);
  ASSERT_TRUE(trace) << trace.error().text();
  trace->observations[49].at.ns += 1;
  const std::string path = rewrite(*trace);
  const Ran ran = holdfast({"replay", path, "--verify", "--json"});
  EXPECT_EQ(ran.exitCode, 4) << ran.standardError;
  EXPECT_THAT(ran.standardError,
              AllOf(HasSubstr(path + ":52: "), HasSubstr("#50"), HasSubstr("#47"),
                    HasSubstr("compared    not the run that was recorded"), HasSubstr("reproduce   ")));
  const nlohmann::json divergence = ran.object("divergence");
  EXPECT_EQ(divergence["event"], 50);
  EXPECT_EQ(divergence["fields"], nlohmann::json::array({"t"}));
  EXPECT_EQ(divergence["recorded"][0]["t"].get<std::int64_t>() - 1, divergence["reexecuted"][0]["t"]);
  EXPECT_THAT(divergence["before"], Not(IsEmpty()));
  EXPECT_EQ(ran.object("comparison")["same"], false);

  const Ran lenient = holdfast({"replay", path});
  EXPECT_EQ(lenient.exitCode, 0) << "without --verify the verdict decides\n" << lenient.standardError;
  EXPECT_THAT(lenient.standardError, HasSubstr("--verify names the first that differs"));
}

TEST_F(Replay, AnEditedPlanIsWhatRuns) {
  auto plan = nlohmann::json::parse(lines[1]);
  ASSERT_GT(plan["plan"]["operations"].size(), 5U);
  plan["plan"]["operations"].erase(2);
  lines[1] = plan.dump();
  const Ran ran = replayChanged({"--json"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  const nlohmann::json comparison = ran.object("comparison");
  EXPECT_EQ(comparison["same"], false);
  EXPECT_EQ(comparison["recordedHash"], hash);
  EXPECT_EQ(replayChanged({"--verify"}).exitCode, 4);
}

TEST_F(Replay, AnotherVerdictOverTheSameEventsIsADifference) {
  const std::string recorded = "\"verdict\":\"held\"";
  const std::size_t at = lines.back().find(recorded);
  ASSERT_NE(at, std::string::npos) << lines.back();
  lines.back().replace(at, recorded.size(), "\"verdict\":\"safetyViolation\"");
  const Ran ran = replayChanged({"--verify", "--json"});
  EXPECT_EQ(ran.exitCode, 4) << ran.standardError;
  EXPECT_THAT(ran.standardError, HasSubstr("verdict: recorded \"safetyViolation\", now \"held\""));
  EXPECT_EQ(ran.object("comparison")["same"], false);
  EXPECT_EQ(ran.object("comparison")["traceHash"], ran.object("comparison")["recordedHash"]);
  EXPECT_EQ(replayChanged().exitCode, 0) << "without --verify the new verdict decides";
}

TEST_F(Replay, EachPartOfTheVerdictIsCompared) {
  const auto& sound = lines.back();
  const auto changed = [&](const std::string& recorded, const std::string& other) {
    std::vector<std::string> forged = lines;
    const std::size_t at = sound.find(recorded);
    EXPECT_NE(at, std::string::npos) << sound;
    forged.back().replace(at, recorded.size(), other);
    std::swap(forged, lines);
    const Ran ran = replayChanged({"--verify"});
    std::swap(forged, lines);
    EXPECT_EQ(ran.exitCode, 4) << other;
    return ran.standardError;
  };
  EXPECT_THAT(changed("\"unmet\":[]", "\"unmet\":[\"x\"]"), HasSubstr("unmet: recorded [\"x\"], now []"));
  EXPECT_THAT(changed("\"violations\":[]", "\"violations\":[\"exclusion (X-1): two\"]"),
              HasSubstr("violations: recorded [\"exclusion (X-1)\"], now []"));
  EXPECT_THAT(changed("\"livenessViolations\":0", "\"livenessViolations\":2"),
              HasSubstr("recorded 2, now 0"));
  EXPECT_THAT(changed("\"simulatedNs\":", "\"simulatedNs\":1"), HasSubstr("simulatedNs: recorded 1"));
}

TEST_F(Replay, APlanFileIsNamedAsOne) {
  const std::string plan = scratch.file("plan.json");
  ASSERT_EQ(holdfast(with({"run", "--save-plan", plan, "-q"}, kShort)).exitCode, 0);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"replay", plan}, {"explain", plan}, {"show", plan}, {"diff", file, plan}}) {
    const Ran ran = holdfast(arguments);
    EXPECT_EQ(ran.exitCode, 64) << arguments[0];
    EXPECT_THAT(ran.standardError, HasSubstr("plan.json:1:1: this is a plan file; expected a trace"));
  }
}

TEST_F(Replay, ATraceOfAnotherVersionRunsWithANote) {
  lines[0] = std::regex_replace(lines[0], std::regex("\"tool\":\"[^\"]*\""), "\"tool\":\"9.9.9\"");
  const Ran ran = replayChanged({"--verify"});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardError, HasSubstr("note        the trace was written by version 9.9.9"));
}

TEST_F(Replay, AChangedEventIsFoundByTheChain) {
  const std::size_t at = lines[40].find("\"t\":") + 4;
  lines[40][at] = lines[40][at] == '1' ? '2' : '1';
  const Ran ran = replayChanged();
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardError, AllOf(HasSubstr("changed.jsonl:41:"), HasSubstr("the hash chain breaks")));
}

TEST_F(Replay, AMissingEventIsFound) {
  lines.erase(lines.begin() + 40);
  const Ran ran = replayChanged();
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardError,
              AllOf(HasSubstr("changed.jsonl:41:"), HasSubstr("event 40 in the place of event 39")));
}

TEST_F(Replay, ACutIsFoundWhereverItIs) {
  const std::string text = textOf(file);
  const std::string cut = scratch.file("cut.jsonl");
  for (const std::size_t part : {0U, 1U, 3U, 50U, 99U}) {
    std::ofstream(cut, std::ios::binary | std::ios::trunc) << text.substr(0, text.size() / 100 * part);
    const Ran ran = holdfast({"replay", cut, "--json"});
    EXPECT_EQ(ran.exitCode, 64) << part;
    EXPECT_THAT(ran.standardError, StartsWith("holdfast: " + cut + ":")) << part;
    ran.object("error");
  }
  lines.pop_back();
  const Ran ran = replayChanged();
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardError, AllOf(HasSubstr(":" + std::to_string(lines.size() + 1) + ":1: truncated"),
                                       HasSubstr("expected more events or the last line")));
}

struct Change {
  const char* name;
  std::size_t line;
  const char* pattern;
  const char* replacement;
  std::vector<std::string> complaints;
};

std::ostream& operator<<(std::ostream& out, const Change& change) { return out << change.name; }

class ReplayOfAChanged : public Replay, public testing::WithParamInterface<Change> {};

TEST_P(ReplayOfAChanged, LineNamesThePlace) {
  const Change& change = GetParam();
  std::string& line = lines[change.line - 1];
  const std::string before = line;
  line = std::regex_replace(line, std::regex(change.pattern), change.replacement,
                            std::regex_constants::format_first_only);
  ASSERT_NE(line, before) << "the pattern does not match";
  if (change.line == 1) {
    // The hash in the header covers scenario, options and rules: it is what the last check of a header is
    // for.
    auto header = nlohmann::json::parse(line, nullptr, false);
    if (header.is_object() && header.contains("options")) {
      traces::Header known;
      known.scenario = header["scenario"];
      known.options = header["options"];
      known.rulesOff = header["rules"]["off"].get<std::vector<std::string>>();
      char text[24];
      std::snprintf(text, sizeof text, "%016llx",
                    static_cast<unsigned long long>(traces::optionHashOf(known)));
      line = std::regex_replace(line, std::regex("\"optionHash\":\"[0-9a-f]*\""),
                                std::string("\"optionHash\":\"") + text + "\"");
    }
  }
  const Ran ran = replayChanged();
  EXPECT_EQ(ran.exitCode, 64) << ran.standardError;
  EXPECT_THAT(ran.standardError, HasSubstr("changed.jsonl:" + std::to_string(change.line) + ":"));
  for (const std::string& complaint : change.complaints) {
    EXPECT_THAT(ran.standardError, HasSubstr(complaint));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Trace, ReplayOfAChanged,
    testing::Values(
        Change{"Version",
               1,
               "\"holdfast-trace\":1",
               "\"holdfast-trace\":99",
               {"version 99", "at most version 1"}},
        Change{"NoTrace", 1, "holdfast-trace", "other-trace", {"not a trace"}},
        Change{"Garbage", 1, "^\\{", "hello {", {":1:1: not a trace"}},
        Change{"Scenario",
               1,
               "\"scenario\":\"mixed\"",
               "\"scenario\":\"mixt\"",
               {"this build has no scenario \"mixt\"", "did you mean 'mixed'?"}},
        Change{"Rule",
               1,
               "\"off\":\\[\\]",
               "\"off\":[\"DG3_OneDelegat\"]",
               {"there is no rule 'DG3_OneDelegat'", "'DG3_OneDelegate'"}},
        Change{
            "Option", 1, "\"nodes\":3,", "\"nodes\":3,\"noodles\":3,", {"options.noodles", "no such member"}},
        Change{"OptionValue", 1, "\"nodes\":3,", "\"nodes\":99,", {"nodes is 99; expected 1 to 63"}},
        Change{
            "OptionType", 1, "\"nodes\":3,", "\"nodes\":\"three\",", {"options.nodes: expected an integer"}},
        Change{"PlanKind",
               2,
               "\"kind\":\"[a-zA-Z]*\"",
               "\"kind\":\"earthquake\"",
               {"kind: expected one of", "found \"earthquake\""}},
        Change{"PlanNode", 2, "\"node\":[0-9]+", "\"node\":9", {"node is 9; expected 0 to 2"}},
        Change{"PlanMissing", 2, "\"endAt\":[0-9]+,?", "", {"plan"}},
        Change{"Observation", 30, "\"is\":\"[A-Za-z]*\"", "\"is\":\"Nothing\"", {"Nothing"}},
        Change{"NotJson", 31, ",", ";", {"';'"}}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_F(Replay, AWrongPlaceInThePlanHasItsColumn) {
  std::size_t at = 0;
  do {  // some operations and faults are about no node at all
    at = lines[1].find("\"node\":", at);
    ASSERT_NE(at, std::string::npos);
    at += std::string("\"node\":").size();
  } while (lines[1][at] < '0' || lines[1][at] > '9');
  const std::size_t end = lines[1].find_first_not_of("0123456789", at);
  lines[1].replace(at, end - at, "62");
  const Ran ran = replayChanged();
  EXPECT_EQ(ran.exitCode, 64);
  EXPECT_THAT(ran.standardError, HasSubstr("changed.jsonl:2:" + std::to_string(at + 1) + ": "));
}

}  // namespace
}  // namespace holdfast::cli
