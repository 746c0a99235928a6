// A plan file: everything that determines one run, and what the run is known to end in, as a JSON text that
// people edit.
//
// Contract: what textOf() writes is read back unchanged. A member that is left out has its default, one that
// is not known is refused; docs/schemas/plan.schema.json is the schema of the text. The file of a directed
// scenario names it and has no plan of its own; that of a schedule of the explorer names the configuration
// ("explore/brief") and has its steps in words.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "checkers/outcome.hpp"
#include "checkers/signature.hpp"
#include "scenarios/options.hpp"
#include "scenarios/plan.hpp"
#include "scenarios/reflected_json.hpp"

namespace holdfast::scenarios {

/// The version that is written, and the only one that is read.
inline constexpr std::uint32_t kPlanFileVersion = 1;

/// The name of the random workload, whose runs are those of plans.
inline constexpr std::string_view kRandomWorkload = "mixed";

/// What a run ended in when its file was written.
struct KnownEnd {
  checkers::Verdict verdict = checkers::Verdict::held;
  std::vector<checkers::Signature> violations;  ///< Each kind once.
  std::vector<checkers::Route> limitations;     ///< Routes that were reached, in their order.
  std::string traceHash;                        ///< 16 hexadecimal digits.

  friend bool operator==(const KnownEnd&, const KnownEnd&) = default;
};
BOOST_DESCRIBE_STRUCT(KnownEnd, (), (verdict, violations, limitations, traceHash))

struct PlanFile {
  std::uint32_t holdfastPlan = kPlanFileVersion;
  std::string story;  ///< One line for people: what goes on here, and why it is kept.
  std::string scenario{kRandomWorkload};
  std::vector<std::string> rulesOff;  ///< Names of the rules that are switched off.
  RunOptions options;                 ///< With the seed, which keys all draws.
  Plan plan;
  std::vector<std::string> steps;  ///< Of a schedule of the explorer, in its words; it has no plan.
  std::optional<KnownEnd> known;

  friend bool operator==(const PlanFile&, const PlanFile&) = default;
};
BOOST_DESCRIBE_STRUCT(PlanFile, (), (holdfastPlan, story, scenario, rulesOff, options, plan, steps, known))

/// The file's text: an operation or fault a line, so that one can be taken out or changed by hand.
std::string textOf(const PlanFile& file);

/// Reads a file that was parsed. The error names the path of what is wrong: "plan.faults[2].kind: expected
/// ...".
std::expected<PlanFile, std::string> planFileFromJson(const nlohmann::json& json);

/// The JSON Schema of plan files, indented. What it refuses planFileFromJson() or validate() refuses too;
/// ranges that depend on other members are left to validate(). Editors complete and check by it.
std::string planFileSchema();

/// JSON with a line for each value without structured members that fits into `width` columns or is an
/// element of an array; other values have their members on lines of their own.
std::string indented(const Json& json, std::size_t width = 110);

}  // namespace holdfast::scenarios
