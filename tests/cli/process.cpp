#include "tests/cli/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{90};

/// Both ends of a pipe that children do not inherit by themselves.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0) << std::strerror(errno); }
  ~Pipe() {
    closeEnd(0);
    closeEnd(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void closeEnd(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

/// What happens in the child: only functions that may be called after a fork.
[[noreturn]] void becomeProgram(const std::vector<char*>& arguments, const RunSettings& settings,
                                const std::filesystem::path& folder, int output, int error) {
  if (::chdir(folder.c_str()) != 0) ::_exit(127);
  const int input = ::open("/dev/null", O_RDONLY);
  if (!settings.outputTo.empty()) {
    output = ::open(settings.outputTo.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  }
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

/// Reads what is there into `text`; false at the end.
bool readSome(int descriptor, std::string& text) {
  char buffer[65536];
  const ssize_t count = ::read(descriptor, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR;
  text.append(buffer, static_cast<std::size_t>(count));
  return count > 0;
}

void collect(pid_t child, const RunSettings& settings, Pipe& output, Pipe& error, Ran& ran) {
  const Clock::time_point begun = Clock::now();
  const auto isTime = [&] {
    const bool late = settings.interruptAfter.count() != 0 && Clock::now() - begun >= settings.interruptAfter;
    const bool seen = !settings.interruptOnce.empty() &&
                      ran.standardOutput.find(settings.interruptOnce) != std::string::npos;
    return late || seen;
  };
  bool interrupted = false;
  while (output.ends[0] >= 0 || error.ends[0] >= 0) {
    pollfd watched[2] = {{output.ends[0], POLLIN, 0}, {error.ends[0], POLLIN, 0}};
    if (::poll(watched, 2, 20) < 0 && errno != EINTR) break;
    if (watched[0].revents != 0 && !readSome(output.ends[0], ran.standardOutput)) output.closeEnd(0);
    if (watched[1].revents != 0 && !readSome(error.ends[0], ran.standardError)) error.closeEnd(0);
    if (!interrupted && isTime()) {
      ::kill(child, SIGINT);
      interrupted = true;
    }
    if (Clock::now() - begun > kPatience) {
      ADD_FAILURE() << "the command does not end; so far it said:\n" << ran.standardError;
      ::kill(child, SIGKILL);
      break;
    }
  }
}

Ran spawn(std::vector<std::string> words, const RunSettings& settings) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Pipe output;
  Pipe error;
  Ran ran;
  // What a run saves because it failed must not gather where the tests run.
  const ScratchFolder scratch;
  const std::filesystem::path& folder = settings.folder.empty() ? scratch.path() : settings.folder;
  const pid_t child = ::fork();
  if (child == 0) becomeProgram(arguments, settings, folder, output.ends[1], error.ends[1]);
  if (child < 0) {
    ADD_FAILURE() << "no process can be started: " << std::strerror(errno);
    return ran;
  }
  output.closeEnd(1);
  error.closeEnd(1);
  collect(child, settings, output, error, ran);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ran.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

}  // namespace

std::vector<nlohmann::json> Ran::objects() const {
  std::vector<nlohmann::json> out;
  std::istringstream lines(standardOutput);
  for (std::string line; std::getline(lines, line);) {
    auto parsed = nlohmann::json::parse(line, nullptr, false);
    EXPECT_TRUE(parsed.is_object()) << "not a JSON object: " << line;
    out.push_back(std::move(parsed));
  }
  return out;
}

nlohmann::json Ran::object(const std::string& is) const {
  nlohmann::json found;
  for (nlohmann::json& object : objects()) {
    if (object.is_object() && object.value("is", "") == is) found = std::move(object);
  }
  EXPECT_FALSE(found.is_null()) << "no object \"" << is << "\" in:\n" << standardOutput << standardError;
  return found;
}

Ran holdfast(const std::vector<std::string>& arguments, const RunSettings& settings) {
  std::vector<std::string> words{HOLDFAST_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return spawn(std::move(words), settings);
}

Ran shell(const std::string& line, const RunSettings& settings) {
  const std::string path = std::filesystem::path(HOLDFAST_COMMAND).parent_path().string();
  return spawn({"/bin/sh", "-c", "PATH='" + path + "':$PATH; " + line}, settings);
}

ScratchFolder::ScratchFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-test-XXXXXX").string();
  const char* const made = ::mkdtemp(pattern.data());
  EXPECT_NE(made, nullptr) << std::strerror(errno);
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::size_t ScratchFolder::size() const {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
}

std::vector<std::string> linesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

void writeLines(const std::filesystem::path& path, const std::vector<std::string>& lines) {
  std::ofstream file(path, std::ios::binary);
  for (const std::string& line : lines) file << line << '\n';
  EXPECT_TRUE(file.flush()) << path;
}

std::string textOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> with(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

}  // namespace holdfast::cli
