#include "cli/target_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <system_error>

#include "traces/whole_file.hpp"

namespace holdfast::cli {
namespace {

namespace fs = std::filesystem;

bool isSpecial(const fs::file_status& status) {
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// Why `path` can not be written; "" if nothing stands against it.
std::string whatStandsAgainst(const fs::path& wanted, bool force) {
  const auto systemReason = [] { return std::generic_category().message(errno); };
  if (!wanted.has_filename()) return "it is a directory";
  const fs::path path = traces::behindLinks(wanted);
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(path, ignored))) {
    return std::make_error_code(std::errc::too_many_symbolic_link_levels).message();
  }
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return "it is a directory";
  if (isSpecial(status)) return ::access(path.c_str(), W_OK) == 0 ? "" : systemReason();
  if (fs::exists(status) && !force)
    return "it exists already; expected another name, or --force to replace it";
  // It would be replaced all the same, but whoever has made it read-only does not want that.
  if (fs::exists(status) && ::access(path.c_str(), W_OK) != 0) return systemReason();
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!fs::is_directory(folder, ignored)) return fmt::format("there is no folder '{}'", folder.string());
  if (::access(folder.c_str(), W_OK) != 0) return systemReason();
  return "";
}

}  // namespace

void addForceOption(CLI::App& app, bool& force, std::string_view files) {
  app.add_flag("--force", force,
               fmt::format("let {} replace files that exist, which is refused else", files));
}

std::expected<void, Failure> checkTargets(const std::vector<Target>& targets, bool force) {
  std::error_code ignored;
  for (auto target = targets.begin(); target != targets.end(); ++target) {
    if (target->path.empty()) continue;
    const auto same = std::find_if(targets.begin(), target,
                                   [&](const Target& earlier) { return earlier.path == target->path; });
    if (same != target && !isSpecial(fs::status(target->path, ignored))) {
      return std::unexpected(Failure{fmt::format("{}: '{}' is where {} goes; expected another file",
                                                 target->option, target->path.string(), same->option)});
    }
    const std::string why = whatStandsAgainst(target->path, force);
    if (why.empty()) continue;
    return std::unexpected(
        Failure{fmt::format("{}: cannot write '{}': {}", target->option, target->path.string(), why)});
  }
  return {};
}

std::expected<void, Failure> writeTarget(const Target& target, std::string_view text, bool force) {
  if (target.path.empty()) return {};
  const auto ifExists = force ? traces::IfExists::replace : traces::IfExists::refuse;
  const auto written = traces::writeWholeFile(target.path, text, ifExists);
  if (!written) return std::unexpected(Failure{fmt::format("{}: {}", target.option, written.error().what)});
  return {};
}

std::string partialOf(const std::string& path) {
  std::error_code ignored;
  return path.empty() || isSpecial(fs::status(path, ignored)) ? "" : path + ".partial";
}

void removePartial(const std::string& path) {
  std::error_code ignored;
  if (const std::string partial = partialOf(path); !partial.empty()) fs::remove(partial, ignored);
}

int reportUnwritten(Output& out, const Failure& failure, int exitCode) {
  const int code = exitCode == kExitHeld || exitCode == kExitInconclusive ? kExitUsage : exitCode;
  out.fail({failure.text, code});
  return code;
}

}  // namespace holdfast::cli
