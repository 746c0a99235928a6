// Applies the source rules to the whole tree, and to made-up files that break each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/rules.hpp"

namespace holdfast::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::array<std::string_view, 15> kFolders = {
    "histories", "sim",      "observations", "protocol", "checkers", "scenarios", "shrink", "traces",
    "explain",   "pictures", "explore",      "cli",      "tests",    "bench",     "cmake"};
constexpr std::array<std::string_view, 4> kExtensions = {".hpp", ".cpp", ".cmake", ".sh"};

SourceFile load(const std::filesystem::path& root, const std::filesystem::path& path) {
  SourceFile file{std::filesystem::relative(path, root).generic_string(), {}};
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

std::vector<SourceFile> sourceTree() {
  const std::filesystem::path root = HOLDFAST_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const std::string_view folder : kFolders) {
    if (!std::filesystem::is_directory(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      const bool judged = std::ranges::find(kExtensions, extension) != kExtensions.end() ||
                          entry.path().filename() == "CMakeLists.txt";
      if (entry.is_regular_file() && judged) files.push_back(load(root, entry.path()));
    }
  }
  for (const std::string_view name : {"CMakeLists.txt", "dev", ".ci/run"}) {
    files.push_back(load(root, root / name));
  }
  return files;
}

// A well-formed file of the given path with one more line.
SourceFile fileWith(std::string path, std::string line) {
  return {std::move(path), {"// A contract.", "#pragma once", std::move(line)}};
}

TEST(SourceTree, KeepsEveryRule) {
  const std::vector<SourceFile> files = sourceTree();
  ASSERT_GT(files.size(), 20U) << "hardly any file was found under " << HOLDFAST_SOURCE_DIR;
  for (const SourceFile& file : files) {
    EXPECT_FALSE(file.lines.empty()) << file.path << " is empty or could not be read";
    for (const std::string& complaint : complaints(file)) ADD_FAILURE() << complaint;
  }
}

TEST(SourceTree, QuotedIncludesNameFilesThatExist) {
  const std::filesystem::path root = HOLDFAST_SOURCE_DIR;
  std::size_t seen = 0;
  for (const SourceFile& file : sourceTree()) {
    for (const std::string& line : file.lines) {
      constexpr std::string_view kStart = "#include \"";
      if (!line.starts_with(kStart)) continue;
      const std::string name = line.substr(kStart.size(), line.find('"', kStart.size()) - kStart.size());
      ++seen;
      EXPECT_TRUE(std::filesystem::is_regular_file(root / name)) << file.path << " includes " << name;
    }
  }
  EXPECT_GT(seen, 0U);
}

TEST(Rules, AWellFormedHeaderHasNoComplaint) {
  EXPECT_THAT(complaints(fileWith("protocol/delegation/home.hpp", "#include \"observations/event.hpp\"")),
              IsEmpty());
}

TEST(Rules, ArrowsLeadOneWay) {
  EXPECT_TRUE(mayInclude("sim/network.hpp", "sim/time.hpp"));
  EXPECT_FALSE(mayInclude("sim/network.hpp", "sim/asio/executor.hpp"));
  EXPECT_FALSE(mayInclude("sim/network.hpp", "protocol/rules.hpp"));
  EXPECT_TRUE(mayInclude("sim/asio/executor.hpp", "sim/event_queue.hpp"));
  EXPECT_TRUE(mayInclude("observations/event.hpp", "sim/ids.hpp"));
  EXPECT_FALSE(mayInclude("observations/event.hpp", "sim/clock.hpp"));
  EXPECT_TRUE(mayInclude("protocol/rules.hpp", "observations/event.hpp"));
  EXPECT_FALSE(mayInclude("protocol/rules.hpp", "sim/clock.hpp"));
  EXPECT_FALSE(mayInclude("checkers/exclusion.hpp", "protocol/rules.hpp"));
  EXPECT_TRUE(mayInclude("scenarios/world.cpp", "checkers/exclusion.hpp"));
  EXPECT_FALSE(mayInclude("scenarios/world.cpp", "traces/reader.hpp"));
  EXPECT_FALSE(mayInclude("traces/reader.cpp", "scenarios/world.hpp"));
  EXPECT_TRUE(mayInclude("cli/run.cpp", "sim/asio/executor.hpp"));
  EXPECT_TRUE(mayInclude("tests/sim/clock_test.cpp", "scenarios/world.hpp"));
  EXPECT_FALSE(mayInclude("unknown/file.cpp", "sim/time.hpp"));
}

TEST(Rules, AWrongIncludeIsNamedWithItsLine) {
  EXPECT_THAT(complaints(fileWith("checkers/a.hpp", "#include \"protocol/rules.hpp\"")),
              ElementsAre("checkers/a.hpp:3: no arrow leads from here to \"protocol/rules.hpp\""));
  EXPECT_THAT(complaints(fileWith("sim/a.hpp", "#  include \"../protocol/rules.hpp\"")).size(), 1U);
  EXPECT_THAT(complaints(fileWith("sim/a.hpp", "#include <sim/time.hpp>")).size(), 1U);
}

TEST(Rules, AsioStaysInItsFolders) {
  const std::string line = "#include <boost/asio/awaitable.hpp>";
  EXPECT_THAT(complaints(fileWith("sim/asio/a.hpp", line)), IsEmpty());
  EXPECT_THAT(complaints(fileWith("scenarios/directed/a.hpp", line)), IsEmpty());
  EXPECT_THAT(complaints(fileWith("scenarios/world.hpp", line)).size(), 1U);
  EXPECT_THAT(complaints(fileWith("protocol/a.hpp", line)).size(), 1U);
  EXPECT_THAT(complaints(fileWith("sim/a.hpp", line)).size(), 1U);
}

TEST(Rules, SeededFoldersUseNoStandardClockOrGenerator) {
  EXPECT_THAT(complaints(fileWith("protocol/a.hpp", "#include <chrono>")).size(), 1U);
  EXPECT_THAT(complaints(fileWith("sim/a.hpp", "#include <random>")).size(), 1U);
  EXPECT_THAT(complaints(fileWith("cli/a.hpp", "#include <chrono>")), IsEmpty());
}

TEST(Rules, WidthIsCountedInCharacters) {
  EXPECT_THAT(complaints(fileWith("sim/a.hpp", std::string(kMaxColumns, 'x'))), IsEmpty());
  EXPECT_THAT(complaints(fileWith("sim/a.hpp", std::string(kMaxColumns + 1, 'x'))),
              ElementsAre("sim/a.hpp:3: 111 columns, at most 110"));
  std::string wide;
  for (std::size_t i = 0; i < kMaxColumns; ++i) wide += "\u00e4";
  EXPECT_THAT(complaints(fileWith("sim/a.hpp", wide)), IsEmpty());
}

TEST(Rules, UnfinishedWorkIsNamed) {
  EXPECT_THAT(complaints(fileWith("sim/a.hpp", std::string("// FIX") + "ME later")).size(), 1U);
  EXPECT_THAT(complaints(fileWith("cmake/a.cmake", std::string("# XX") + "X: later")).size(), 1U);
  EXPECT_THAT(complaints(fileWith("sim/a.hpp", std::string("int pXX") + "XL = 1;")), IsEmpty());
}

TEST(Rules, AHeaderOpensWithItsContractAndGuard) {
  EXPECT_THAT(complaints({"sim/a.hpp", {"#pragma once"}}).size(), 1U);
  EXPECT_THAT(complaints({"sim/a.hpp", {"// A contract."}}),
              ElementsAre("sim/a.hpp:1: the header lacks #pragma once"));
  EXPECT_THAT(complaints({"sim/a.cpp", {"#include \"sim/a.hpp\""}}), IsEmpty());
}

TEST(Rules, ALongFileMustBeSplit) {
  SourceFile file = fileWith("sim/a.hpp", "");
  file.lines.resize(kMaxLines);
  EXPECT_THAT(complaints(file), IsEmpty());
  file.lines.emplace_back();
  EXPECT_THAT(complaints(file), ElementsAre("sim/a.hpp:701: 701 lines, at most 700; split the file"));
}

}  // namespace
}  // namespace holdfast::tidy
