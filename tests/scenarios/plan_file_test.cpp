// Plan files: written and read without loss, and described by a schema that is the one in the documentation.
#include "scenarios/plan_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "scenarios/json_schema.hpp"
#include "scenarios/swarm.hpp"

namespace holdfast::scenarios {
namespace {

using testing::ContainerEq;
using testing::HasSubstr;

PlanFile smallFile() {
  PlanFile file;
  file.story = "Two clients, and \"one\" cut.";
  file.rulesOff = {"DG3_OneDelegate"};
  file.options.seed = 0xfedcba9876543210ULL;
  file.options.nodes = 3;
  file.options.faultPhase = sim::seconds(10);
  file.options.healedPhase = sim::seconds(20);
  file.plan = drawPlan(file.options);
  return file;
}

std::string wrongWith(const nlohmann::json& json) {
  const auto file = planFileFromJson(json);
  return file ? "" : file.error();
}

TEST(PlanFile, SurvivesItsText) {
  PlanFile file = smallFile();
  ASSERT_GT(file.plan.operations.size(), 5U);
  const RunReport report = runPlan(file.options, {}, file.plan);
  file.known = knownEndOf(report);
  EXPECT_EQ(file.known->verdict, report.verdict);
  EXPECT_EQ(file.known->traceHash.size(), 16U);
  const auto read = planFileFromJson(nlohmann::json::parse(textOf(file)));
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(*read, file);
}

TEST(PlanFile, HasALineForEachOperation) {
  const PlanFile file = smallFile();
  const std::string text = textOf(file);
  std::size_t lines = 0;
  for (std::size_t at = text.find("\"stampAhead\":"); at != std::string::npos;
       at = text.find("\"stampAhead\":", at + 1)) {
    const std::size_t end = text.find('\n', at);
    if (text.substr(text.rfind('\n', at) + 1, end).find("{\"id\":") != std::string::npos) ++lines;
  }
  EXPECT_EQ(lines, file.plan.operations.size());
}

TEST(PlanFile, TakesDefaultsForWhatIsLeftOut) {
  const auto file = planFileFromJson(nlohmann::json::parse(
      R"({"holdfastPlan":1,"options":{"nodes":3},"plan":{"endAt":9,"faults":[{"id":4,"kind":"pause"}]}})"));
  ASSERT_TRUE(file.has_value()) << file.error();
  EXPECT_EQ(file->scenario, "mixed");
  EXPECT_EQ(file->options.nodes, 3);
  EXPECT_EQ(file->options.keys, RunOptions{}.keys);
  ASSERT_EQ(file->plan.faults.size(), 1U);
  EXPECT_EQ(file->plan.faults[0].kind, FaultKind::pause);
  EXPECT_FALSE(file->known.has_value());
}

TEST(PlanFile, WithoutAnythingToDoIsNone) {
  EXPECT_EQ(wrongWith({{"holdfastPlan", 1}}),
            "plan: is missing; expected what is done in the run, and when it ends");
  EXPECT_EQ(wrongWith({{"holdfastPlan", 1}, {"plan", nlohmann::json::object()}}),
            "plan.endAt: is missing or 0; expected when the run ends, in nanoseconds");
  EXPECT_EQ(wrongWith({{"holdfastPlan", 1}, {"scenario", "S-31-transitive"}}), "");
}

TEST(PlanFile, NamesThePlaceOfWhatIsWrong) {
  const nlohmann::json good = nlohmann::json::parse(textOf(smallFile()));
  ASSERT_EQ(wrongWith(good), "");
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(pointer)] = value;
    return wrongWith(bad);
  };
  EXPECT_EQ(with("/holdfastPlan", 2),
            "holdfastPlan: is version 2; expected 1, which is what this build reads");
  EXPECT_EQ(with("/nodes", 3), "nodes: there is no such member");
  EXPECT_EQ(with("/story", 3), "story: expected a string, found 3");
  EXPECT_EQ(with("/rulesOff/0", nullptr), "rulesOff[0]: expected a string, found null");
  EXPECT_EQ(with("/options/nodes", "three"),
            "options.nodes: expected an integer from 0 to 65535, found \"three\"");
  EXPECT_THAT(with("/plan/operations/1/kind", "steal"),
              HasSubstr("plan.operations[1].kind: expected one of lockedUpdate, "));
  nlohmann::json bad = good;
  bad.erase("holdfastPlan");
  EXPECT_THAT(wrongWith(bad), HasSubstr("holdfastPlan: is missing"));
  EXPECT_THAT(wrongWith(nlohmann::json::array()), HasSubstr("expected an object"));
}

/// Every path of an object's members, arrays by their first element.
void collectPaths(const nlohmann::json& json, const std::string& path, std::vector<std::string>& paths) {
  if (json.is_array() && !json.empty()) collectPaths(json[0], path + "[]", paths);
  if (!json.is_object()) return;
  for (const auto& [name, member] : json.items()) {
    paths.push_back(path + "." + name);
    collectPaths(member, path + "." + name, paths);
  }
}

void collectSchemaPaths(const nlohmann::json& schema, const std::string& path,
                        std::vector<std::string>& paths) {
  if (schema.contains("anyOf")) collectSchemaPaths(schema["anyOf"][0], path, paths);
  if (schema.contains("items")) collectSchemaPaths(schema["items"], path + "[]", paths);
  if (!schema.contains("properties")) return;
  for (const auto& [name, member] : schema["properties"].items()) {
    paths.push_back(path + "." + name);
    collectSchemaPaths(member, path + "." + name, paths);
  }
}

TEST(PlanFile, ItsSchemaKnowsEveryMember) {
  PlanFile file = smallFile();
  file.plan.faults.push_back({});
  file.steps = {"A crashes"};
  file.known = KnownEnd{};
  file.known->violations.push_back({});
  std::vector<std::string> written;
  collectPaths(nlohmann::json::parse(textOf(file)), "", written);
  std::vector<std::string> described;
  collectSchemaPaths(nlohmann::json::parse(planFileSchema()), "", described);
  EXPECT_GT(written.size(), 100U);
  EXPECT_THAT(described, ContainerEq(written));
}

TEST(PlanFile, ItsSchemaIsTheOneInTheDocumentation) {
  const std::string path = HOLDFAST_SOURCE_DIR "/docs/schemas/plan.schema.json";
  if (std::getenv("HOLDFAST_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << planFileSchema();
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, planFileSchema()) << "run this test with HOLDFAST_UPDATE=1 to write it anew";
}

TEST(PlanFile, ItsSchemaRefusesTimesThatValidateRefuses) {
  const nlohmann::json schema = nlohmann::json::parse(planFileSchema())["properties"];
  const nlohmann::json& plan = schema["plan"]["properties"];
  const nlohmann::json& operation = plan["operations"]["items"]["properties"];
  for (const char* name : {"at", "wait", "lease", "think"}) EXPECT_EQ(operation[name]["minimum"], 0) << name;
  EXPECT_LT(operation["stampAhead"]["minimum"], 0);
  EXPECT_EQ(plan["faults"]["items"]["properties"]["duration"]["minimum"], 0);
  EXPECT_EQ(plan["healAt"]["minimum"], 0);
  EXPECT_EQ(plan["endAt"]["minimum"], 1);
  EXPECT_LT(plan["clocks"]["items"]["properties"]["wallOffset"]["minimum"], 0);
  EXPECT_EQ(schema["options"]["properties"]["protocol"]["properties"]["skew"]["minimum"], 0);
}

TEST(JsonSchema, SaysWhatTheReaderAccepts) {
  EXPECT_EQ(schemaOf<FaultKind>()["enum"].size(), obs::kEnumeratorCount<FaultKind>);
  EXPECT_EQ(schemaOf<NodeId>(), Json::parse(R"({"type":["integer","null"],"minimum":0,"maximum":65535})"));
  EXPECT_EQ(schemaOf<Duration>()["description"], "nanoseconds");
  EXPECT_EQ(schemaOf<Fault>()["additionalProperties"], false);
  EXPECT_EQ(schemaOf<std::vector<bool>>(), Json::parse(R"({"type":"array","items":{"type":"boolean"}})"));
}

}  // namespace
}  // namespace holdfast::scenarios
