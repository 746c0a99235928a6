#include "cli/point_history.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/figures.hpp"
#include "scenarios/must_reach.hpp"

namespace holdfast::cli {
namespace {

/// The sweeps of the file, the oldest first. A device or a pipe has none that could be read again.
std::vector<nlohmann::json> sweepsBefore(const std::string& path) {
  std::vector<nlohmann::json> sweeps;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return sweeps;
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
      const auto seeds = sweep["seedsRun"].get<std::uint64_t>();
      seedsSince += std::min(seeds, std::numeric_limits<std::uint64_t>::max() - seedsSince);
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

/// A file that lines are added to, one process at a time.
class AppendedFile {
 public:
  explicit AppendedFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    // What is no file may be open for writing alone.
    if (descriptor_ < 0) descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    struct stat status{};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return;
    // Where there are no locks, lines of one write are as apart as the system keeps them.
    while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
    if (::fstat(descriptor_, &status) == 0) size_ = status.st_size;
  }
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;
  ~AppendedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  /// Why the line is not there, as the system has it; 0 if it is. A part of it does not stay.
  int add(std::string line) {
    if (descriptor_ < 0) return errno;
    if (endsAmidALine()) line.insert(0, 1, '\n');
    for (std::string_view rest = line; !rest.empty();) {
      const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failed();
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
    return size_ && ::fsync(descriptor_) != 0 && errno != EINVAL ? failed() : 0;
  }

 private:
  /// Whoever wrote last was killed amid it, or the disk was full.
  bool endsAmidALine() const {
    char last = '\n';
    return size_ && *size_ > 0 && ::pread(descriptor_, &last, 1, *size_ - 1) == 1 && last != '\n';
  }
  int failed() const {
    const int why = errno;
    if (size_) (void)!::ftruncate(descriptor_, *size_);
    return why;
  }

  int descriptor_;
  std::optional<off_t> size_;  // of a file before anything was added
};

std::expected<void, Failure> append(const std::string& path, const std::string& line) {
  AppendedFile file(path);
  const int why = file.add(line);
  if (why == 0) return {};
  return std::unexpected(
      Failure{fmt::format("cannot add to '{}': {}", path, std::generic_category().message(why))});
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
  return append(path, line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace holdfast::cli
