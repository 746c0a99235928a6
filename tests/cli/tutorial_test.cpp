// The tutorial tells the truth: every command in it is run, in order and in one folder, and must print what
// the tutorial shows. A line "..." there stands for any number of lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

struct Shown {
  std::string command;
  std::vector<std::string> output;
  std::size_t line = 0;  ///< Of the command in the tutorial.
};

/// The commands in the blocks marked "console", each with the lines below it.
std::vector<Shown> commandsIn(const std::vector<std::string>& text) {
  std::vector<Shown> commands;
  bool console = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i].starts_with("```")) {
      console = text[i] == "```console";
    } else if (console && text[i].starts_with("$ ")) {
      commands.push_back({text[i].substr(2), {}, i + 1});
    } else if (console && !commands.empty()) {
      commands.back().output.push_back(text[i]);
    }
  }
  return commands;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

bool matches(std::span<const std::string> shown, std::span<const std::string> printed) {
  if (shown.empty()) return printed.empty();
  if (shown.front() == "...") {
    for (std::size_t skip = 0; skip <= printed.size(); ++skip) {
      if (matches(shown.subspan(1), printed.subspan(skip))) return true;
    }
    return false;
  }
  return !printed.empty() && shown.front() == printed.front() &&
         matches(shown.subspan(1), printed.subspan(1));
}

TEST(Tutorial, ShowsWhatTheCommandPrints) {
  const std::vector<Shown> commands = commandsIn(linesOf(HOLDFAST_SOURCE_DIR "/docs/tutorial.md"));
  ASSERT_GT(commands.size(), 4U);
  const ScratchFolder scratch;
  for (const Shown& shown : commands) {
    const Ran ran = shell(shown.command, {.folder = scratch.path()});
    // A terminal mixes the two; text for people comes first as far as a reader is concerned.
    const std::vector<std::string> printed = split(ran.standardError + ran.standardOutput);
    EXPECT_TRUE(matches(shown.output, printed))
        << "docs/tutorial.md:" << shown.line << ": " << shown.command << "\nprints\n"
        << ran.standardError << ran.standardOutput;
  }
}

}  // namespace
}  // namespace holdfast::cli
