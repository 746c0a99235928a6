#include "cli/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "cli/locate.hpp"
#include "cli/suggest.hpp"
#include "traces/json.hpp"

namespace holdfast::cli {
namespace {

/// "plan: faults[2].node is 9 ..." names the member plan.faults[2].node of its line.
std::string placeIn(std::string_view root, std::string_view what) {
  const std::string prefix = fmt::format("{}: ", root);
  if (what.starts_with(prefix)) return fmt::format("{}.{}", root, what.substr(prefix.size()));
  return std::string(what);
}

std::expected<protocol::Rules, Failure> rulesOf(const Recording& recording) {
  protocol::Rules rules;
  for (std::size_t i = 0; i < recording.header().rulesOff.size(); ++i) {
    const auto rule = parseRule(recording.header().rulesOff[i]);
    if (!rule)
      return std::unexpected(
          recording.wrong(Recording::kHeaderLine, fmt::format("rules.off[{}]", i), rule.error()));
    rules.switchOff(*rule);
  }
  return rules;
}

/// The random workload as the trace has it: its options, and the plan, whatever plan the seed would give.
std::expected<void, Failure> readWorkload(const Recording& recording, const nlohmann::json& plan,
                                          Subject& subject) {
  const auto wrongOption = [&](const std::string& what) {
    return std::unexpected(recording.wrong(Recording::kHeaderLine, placeIn("options", what), what));
  };
  const auto wrongPlan = [&](const std::string& what) {
    return std::unexpected(recording.wrong(Recording::kPlanLine, placeIn("plan", what), what));
  };
  auto options = scenarios::optionsFromJson(recording.header().options);
  if (!options) return wrongOption(options.error());
  if (auto valid = scenarios::validate(*options); !valid) return wrongOption(valid.error());
  auto parsed = scenarios::planFromJson(plan);
  if (!parsed) return wrongPlan(parsed.error());
  if (auto valid = scenarios::validate(*parsed, *options); !valid) return wrongPlan(valid.error());
  subject.options = *options;
  subject.options.seed = 1;
  subject.plan = std::move(*parsed);
  return {};
}

/// The schedule that the trace of an exploration has.
std::expected<void, Failure> readSchedule(const Recording& recording, Subject& subject) {
  const nlohmann::json& plan = recording.plan();
  const auto wrong = [&](std::uint64_t line, std::string_view place, const std::string& what) {
    return std::unexpected(recording.wrong(line, place, what));
  };
  const auto listed = plan.find("steps");
  const bool isList = listed != plan.end() && listed->is_array() &&
                      std::ranges::all_of(*listed, [](const auto& step) { return step.is_string(); });
  if (!isList) return wrong(Recording::kPlanLine, "plan", "expected the steps of a schedule, in words");
  auto schedule =
      scheduleOf(recording.header().scenario, listed->get<std::vector<std::string>>(), subject.rules);
  if (!schedule) {
    const bool ofSteps = schedule.error().starts_with("steps");
    return ofSteps ? wrong(Recording::kPlanLine, "plan." + schedule.error(), schedule.error())
                   : wrong(Recording::kHeaderLine, schedule.error(), schedule.error());
  }
  const nlohmann::json& options = recording.header().options;
  const auto identity = options.find("identity");
  if (identity == options.end() || *identity != schedule->identity) {
    return wrong(Recording::kHeaderLine, "options.identity",
                 fmt::format("this build has another configuration of that name; expected \"{}\"",
                             schedule->identity));
  }
  subject.schedule = std::move(*schedule);
  return {};
}

}  // namespace

std::expected<Recording, Failure> Recording::open(const std::string& path) {
  auto reader = traces::TraceReader::open(path);
  if (!reader) return std::unexpected(unreadable(path, reader.error()));
  return Recording(path, std::move(*reader));
}

Failure unreadable(const std::string& path, const traces::TraceError& error) {
  // A plan file begins with its version, whether or not there is a line feed before it.
  std::string start(64, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  std::erase_if(start, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  if (!start.starts_with("{\"holdfastPlan\"")) return Failure{error.text()};
  return Failure{
      fmt::format("{}:1:1: this is a plan file; expected a trace, which --trace writes ('holdfast "
                  "run --plan' executes a plan file, and records it with --trace)",
                  path)};
}

Failure Recording::wrong(std::uint64_t line, std::string_view place, const std::string& what) const {
  return Failure{fmt::format("{}:{}:{}: {}", path_, line, columnOf(textOf(line), place), what)};
}

std::string Recording::textOf(std::uint64_t line) const {
  std::ifstream file(path_, std::ios::binary);
  std::string text;
  for (std::uint64_t i = 0; i < line; ++i) std::getline(file, text);
  return text;
}

std::expected<Subject, Failure> subjectOf(const Recording& recording) {
  const traces::Header& header = recording.header();
  Subject subject;
  subject.seed = header.seed;
  auto rules = rulesOf(recording);
  if (!rules) return std::unexpected(rules.error());
  subject.rules = *rules;
  if (header.scenario == kMixed) {
    if (auto read = readWorkload(recording, recording.plan(), subject); !read) {
      return std::unexpected(read.error());
    }
    return subject;
  }
  if (header.scenario.starts_with(kExplored)) {
    if (auto read = readSchedule(recording, subject); !read) return std::unexpected(read.error());
    return subject;
  }
  // The whole name is meant here: a beginning that is unique today may not be so tomorrow.
  std::vector<std::string> known{std::string(kMixed)};
  for (const scenarios::Scenario& scenario : scenarios::allScenarios()) {
    if (scenario.name == header.scenario) subject.directed = &scenario;
    known.emplace_back(scenario.name);
  }
  if (subject.directed == nullptr) {
    return std::unexpected(
        recording.wrong(Recording::kHeaderLine, "scenario",
                        fmt::format("this build has no scenario {}{} ('holdfast list' names them all)",
                                    traces::quoted(header.scenario), didYouMean(header.scenario, known))));
  }
  return subject;
}

}  // namespace holdfast::cli
