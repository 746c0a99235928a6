// The documentation of the JSON output is complete: every kind of object and every member is in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "scenarios/scenario.hpp"
#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

/// Members whose own members are named by what they count: options, causes, milestones, kinds.
const std::set<std::string> kOpen{"options",    "refusals",         "admissions", "milestones",
                                  "routes",     "observationKinds", "before",     "recorded",
                                  "reexecuted", "recordedVerdict"};

void collectNames(const nlohmann::json& value, std::set<std::string>& names) {
  if (value.is_array()) {
    for (const auto& element : value) collectNames(element, names);
  } else if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      names.insert(name);
      if (!kOpen.contains(name)) collectNames(member, names);
    }
  }
}

TEST(JsonOutput, IsDocumentedInFull) {
  const std::string text = textOf(HOLDFAST_SOURCE_DIR "/docs/json-output.md");
  const ScratchFolder scratch;
  const std::string file = scratch.file("t.jsonl");
  const std::string other = scratch.file("u.jsonl");
  ASSERT_EQ(holdfast({"run", "--seed", "8", "--trace", other, "-q"}).exitCode, 0);
  const std::string story(scenarios::allScenarios().front().name);
  std::string twin;
  for (const scenarios::Scenario& scenario : scenarios::allScenarios()) {
    if (!scenario.twins.empty()) twin = scenario.name;
  }
  std::set<std::string> kinds;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"run", "--seed", "7", "--trace", file, "--json", "-q"},
           {"run", story, "--json", "-q"},
           {"run", twin, "--twin", "--json", "-q"},
           {"sweep", "--seeds", "5", "--without", "DG-3", "--json", "-q"},
           {"replay", file, "--verify", "--json", "-q"},
           {"explain", "S-22-recall-in-flight-commit", "--without", "DR-3", "--json", "-q"},
           {"show", file, "--svg", scratch.file("t.svg"), "--json", "-q"},
           {"diff", file, other, "--json", "-q"},
           {"shrink", "--seed", "3", "--without", "DG-3", "--no-save", "--json", "-q"},
           {"sweep", "--seeds", "2", "--history", scratch.file("h"), "--json", "-q"},
           {"check-corpus", HOLDFAST_SOURCE_DIR "/traces/corpus", "--json", "-q"},
           {"explore", "brief", "--liveness", "--json", "-q"},
           {"explore", "handoff", "--without", "DG-3", "--json", "-q"},
           {"measure", "--what", "cost,caps", "--nodes", "3", "--json", "-q"},
           {"skew", "exclusion", "--cases", "20", "--without", "DG-4", "--no-save", "--json", "-q"},
           {"ablate", "DG-3", "--quick", "--json", "-q"},
           {"bugs", "1", "47", "--quick", "--json", "-q"},
           {"skew", "--map", "--lease", "1s", "--margin", "10ms", "--json", "-q"},
           {"check", HOLDFAST_SOURCE_DIR "/tests/histories/recorded/knossos-cas-rethink-minimal.edn",
            "--json", "-q"},
           {"check", HOLDFAST_SOURCE_DIR "/tests/histories/recorded/elle-paper-example.edn", "--model",
            "list-append", "--json", "-q"},
           {"list", "scenarios", "--json"},
           {"list", "rules", "--json"},
           {"list", "options", "--json"},
           {"list", "routes", "--json"},
           {"list", "milestones", "--json"},
           {"list", "nothing", "--json"}}) {
    std::set<std::string> names;
    for (const nlohmann::json& object : holdfast(arguments).objects()) {
      kinds.insert(object.value("is", ""));
      collectNames(object, names);
    }
    EXPECT_GT(names.size(), 2U) << arguments.front();
    for (const std::string& name : names) {
      EXPECT_THAT(text, testing::HasSubstr("`" + name + "`")) << "of " << arguments.front();
    }
  }
  EXPECT_GT(kinds.size(), 10U);
  for (const std::string& kind : kinds) EXPECT_THAT(text, testing::HasSubstr("### `" + kind + "`"));
}

}  // namespace
}  // namespace holdfast::cli
