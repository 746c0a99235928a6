#include "scenarios/plan_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/json_schema.hpp"

namespace holdfast::scenarios {
namespace {

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace);
}

bool isFlat(const Json& json) {
  return std::ranges::none_of(json, [](const Json& member) { return member.is_structured(); });
}

/// A plan can not do anything before its run begins, nor for less than no time; only readings of clocks and a
/// caller's timestamp may be negative.
void refuseNegativeTimes(Json& schema, std::string_view name) {
  if (schema.value("description", "") == "nanoseconds" && name != "monotonic" && name != "wallOffset" &&
      name != "stampAhead") {
    schema["minimum"] = 0;
  }
  if (const auto items = schema.find("items"); items != schema.end()) refuseNegativeTimes(*items, name);
  const auto members = schema.find("properties");
  if (members == schema.end()) return;
  for (auto& [member, inner] : members->items()) refuseNegativeTimes(inner, member);
}

/// `listed`: it is an element of an array, which has a line of its own if it is flat, however long.
void indentInto(std::string& out, const Json& json, std::size_t indent, std::size_t width, bool listed) {
  const std::string line = dumped(json);
  const bool fits = out.size() - (out.rfind('\n') + 1) + line.size() < width;
  if (!json.is_structured() || json.empty() || (listed && isFlat(json)) || (fits && isFlat(json))) {
    out += line;
    return;
  }
  const std::string lead(indent + 2, ' ');
  out += json.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [name, member] : json.items()) {
    out += (first ? "\n" : ",\n") + lead;
    if (json.is_object()) out += dumped(name) + ": ";
    indentInto(out, member, indent + 2, width, json.is_array());
    first = false;
  }
  out += '\n' + std::string(indent, ' ') + (json.is_object() ? '}' : ']');
}

}  // namespace

std::string textOf(const PlanFile& file) {
  Json json = writeJson(file);
  if (file.scenario != kRandomWorkload) {
    // A story has options of its own, and only the seed changes it.
    json["options"] = Json{{"seed", file.options.seed}};
    json.erase("plan");
  }
  if (file.steps.empty()) json.erase("steps");
  return indented(json) + "\n";
}

std::expected<PlanFile, std::string> planFileFromJson(const nlohmann::json& json) {
  PlanFile file;
  if (json.is_object() && !json.contains("holdfastPlan")) {
    return std::unexpected(
        fmt::format("holdfastPlan: is missing; expected the version of the format, {}", kPlanFileVersion));
  }
  if (auto wrong = readJson(json, file, "", Missing::kept)) return std::unexpected(std::move(*wrong));
  if (file.holdfastPlan != kPlanFileVersion) {
    return std::unexpected(
        fmt::format("holdfastPlan: is version {}; expected {}, which is what this build reads",
                    file.holdfastPlan, kPlanFileVersion));
  }
  if (file.scenario == kRandomWorkload) {
    if (!json.contains("plan")) {
      return std::unexpected("plan: is missing; expected what is done in the run, and when it ends");
    }
    if (file.plan.endAt.ns == 0) {
      return std::unexpected("plan.endAt: is missing or 0; expected when the run ends, in nanoseconds");
    }
  }
  return file;
}

std::string planFileSchema() {
  Json schema{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "holdfast plan file"},
      {"description", "One run: options, rules that are off, and everything that is done to the cluster."}};
  schema.update(schemaOf<PlanFile>());
  schema["properties"]["holdfastPlan"] = Json{{"const", kPlanFileVersion}};
  schema["required"] = Json::array({"holdfastPlan"});
  refuseNegativeTimes(schema, "");
  schema["properties"]["plan"]["properties"]["endAt"]["minimum"] = 1;
  schema["properties"]["plan"]["required"] = Json::array({"endAt"});
  // A scenario that is left out is the random workload, and fits the condition.
  schema["if"]["properties"]["scenario"]["const"] = kRandomWorkload;
  schema["then"]["required"] = Json::array({"plan"});
  return indented(schema) + "\n";
}

std::string indented(const Json& json, std::size_t width) {
  std::string out;
  indentInto(out, json, 0, width, false);
  return out;
}

}  // namespace holdfast::scenarios
