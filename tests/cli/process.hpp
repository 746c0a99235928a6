// Running the command as a program, with its output and exit code, and a scratch folder for its files.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace holdfast::cli {

struct Ran {
  int exitCode = -1;  ///< 128 + signal if a signal ended it.
  std::string standardOutput;
  std::string standardError;

  /// The lines of standard output, each of which must be a JSON object; anything else fails the test.
  std::vector<nlohmann::json> objects() const;
  /// The last object that is of this kind; a failure of the test and null if there is none.
  nlohmann::json object(const std::string& is) const;
};

struct RunSettings {
  std::filesystem::path folder{};               ///< Where the command runs; "" for a scratch folder.
  std::chrono::milliseconds interruptAfter{0};  ///< Sends SIGINT after so long, unless 0.
  std::string interruptOnce{};                  ///< Sends SIGINT once standard output has this, unless "".
  std::string outputTo{};                       ///< A file in place of the captured standard output.
};

/// Runs `holdfast` with the arguments, at most a minute and a half.
Ran holdfast(const std::vector<std::string>& arguments, const RunSettings& settings = {});

/// Runs a line through the shell, in which `holdfast` is the command under test.
Ran shell(const std::string& line, const RunSettings& settings = {});

/// The options of a run that is over in a moment, and that has faults in it.
inline const std::vector<std::string> kShort{"--set",  "nodes=3", "--set",
                                             "keys=2", "--set",   "faultPhase=12s"};

/// The arguments `first` and then `more`.
std::vector<std::string> with(std::vector<std::string> first, const std::vector<std::string>& more);

/// A folder that is gone when the test is over.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// How many entries it has.
  std::size_t size() const;

 private:
  std::filesystem::path path_;
};

std::vector<std::string> linesOf(const std::filesystem::path& path);
void writeLines(const std::filesystem::path& path, const std::vector<std::string>& lines);
std::string textOf(const std::filesystem::path& path);

}  // namespace holdfast::cli
