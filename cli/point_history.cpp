#include "cli/point_history.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

#include "cli/figures.hpp"
#include "scenarios/must_reach.hpp"

namespace holdfast::cli {
namespace {

/// The sweeps of the file, the oldest first.
std::vector<nlohmann::json> sweepsBefore(const std::string& path) {
  std::vector<nlohmann::json> sweeps;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    nlohmann::json sweep = nlohmann::json::parse(line, nullptr, false);
    const bool known = sweep.is_object() && sweep.contains("reached") && sweep["reached"].is_object() &&
                       sweep.contains("tool") && sweep["tool"].is_string() && sweep.contains("seedsRun") &&
                       sweep["seedsRun"].is_number_unsigned();
    if (known) sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

/// "reached by 3 of 12 sweeps before, the last 2 sweeps and 2,000 seeds ago by build 0.1.0 (abc)".
std::string historyOf(const std::string& point, const std::vector<nlohmann::json>& sweeps) {
  std::size_t reached = 0;
  std::size_t sweepsSince = 0;
  std::uint64_t seedsSince = 0;
  std::string lastBy;
  for (const nlohmann::json& sweep : sweeps) {
    const auto found = sweep["reached"].find(point);
    if (found != sweep["reached"].end() && found->is_number_unsigned() && found->get<std::uint64_t>() > 0) {
      ++reached;
      sweepsSince = 0;
      seedsSince = 0;
      lastBy = sweep["tool"].get<std::string>();
    } else {
      ++sweepsSince;
      seedsSince += sweep["seedsRun"].get<std::uint64_t>();
    }
  }
  if (sweeps.empty()) return "there is no sweep before";
  if (reached == 0) {
    return fmt::format("never reached by {} before, of {}", counted(sweeps.size(), "sweep"),
                       counted(seedsSince, "seed"));
  }
  return fmt::format("reached by {} of {} before, last by {}; {} and {} since", reached,
                     counted(sweeps.size(), "sweep"), lastBy, counted(sweepsSince, "sweep"),
                     counted(seedsSince, "seed"));
}

/// Adds a line by one write, so that sweeps that end at a time do not mix.
std::expected<void, Failure> append(const std::string& path, const std::string& line) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written =
      descriptor >= 0 && ::write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const std::string why = written ? "" : std::generic_category().message(errno);
  if (descriptor >= 0) ::close(descriptor);
  if (written) return {};
  return std::unexpected(Failure{fmt::format("cannot add to '{}': {}", path, why)});
}

}  // namespace

std::expected<void, Failure> keepPointHistory(Session& session, const std::string& path,
                                              const SweepRecord& record) {
  const std::vector<nlohmann::json> before = sweepsBefore(path);
  Json reached = Json::object();
  for (const scenarios::MustReachPoint& point : scenarios::mustReachPoints(record.report)) {
    reached[point.name] = point.seeds;
    if (point.seeds > 0) continue;
    const std::string text = historyOf(point.name, before);
    session.out.say(fmt::format("history     {}: {}", point.name, text));
    session.out.object({{"is", "history"},
                        {"name", point.name},
                        {"budget", point.budget},
                        {"missed", record.mustReach && point.judgedAfter(record.report.ran)},
                        {"sweepsBefore", before.size()},
                        {"text", text}});
  }
  const Json line{{"tool", record.tool},
                  {"firstSeed", fmt::to_string(record.report.firstSeed())},
                  {"seedsRun", record.report.ran},
                  {"reached", std::move(reached)}};
  return append(path, line.dump() + "\n");
}

}  // namespace holdfast::cli
