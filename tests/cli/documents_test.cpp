// Documents tell the truth: the commands that one shows are run in order, in one folder, and what it shows
// is what they print.
//
// A comment "lines: REGEX" before a block names the lines of the output that are shown; "..." stands for the
// others. Run this test with HOLDFAST_UPDATE_DOCUMENTS=1 to write what the commands print now into the
// documents.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <sstream>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

/// What a document shows of the output of `command`.
std::vector<std::string> excerpt(const std::string& command, const std::string& wanted,
                                 const ScratchFolder& scratch) {
  RunSettings settings;
  settings.folder = scratch.path();
  const Ran ran = shell(command, settings);
  // A terminal mixes the two; here, text for people comes first.
  std::istringstream printed(ran.standardError + ran.standardOutput);
  const std::regex pattern(wanted);
  std::vector<std::string> lines;
  for (std::string line; std::getline(printed, line);) {
    if (wanted.empty() || std::regex_search(line, pattern)) {
      lines.push_back(line);
    } else if (lines.empty() || lines.back() != "...") {
      lines.emplace_back("...");
    }
  }
  return lines;
}

class DocumentTest : public testing::TestWithParam<const char*> {};

TEST_P(DocumentTest, ShowsWhatTheCommandsPrint) {
  const std::string path = fmt::format("{}/docs/{}.md", HOLDFAST_SOURCE_DIR, GetParam());
  const std::vector<std::string> document = linesOf(path);
  const std::string mark = "<!-- lines: ";
  const ScratchFolder scratch;
  std::vector<std::string> fresh;
  std::string wanted;
  bool console = false;
  std::size_t commands = 0;
  for (const std::string& line : document) {
    if (line.starts_with(mark)) wanted = line.substr(mark.size(), line.rfind(" -->") - mark.size());
    if (line.starts_with("```")) console = line == "```console";
    if (!console || line.starts_with("```")) {
      fresh.push_back(line);
    } else if (line.starts_with("$ ")) {
      fresh.push_back(line);
      for (std::string& shown : excerpt(line.substr(2), wanted, scratch)) fresh.push_back(std::move(shown));
      wanted.clear();
      ++commands;
    }
  }
  EXPECT_GE(commands, 5U);
  if (std::getenv("HOLDFAST_UPDATE_DOCUMENTS") != nullptr) {
    writeLines(path, fresh);
    return;
  }
  ASSERT_EQ(document.size(), fresh.size()) << path << " shows other lines than the commands print";
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    EXPECT_EQ(document[i], fresh[i]) << path << ":" << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Documents, DocumentTest, testing::Values("tutorial", "skew"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace holdfast::cli
