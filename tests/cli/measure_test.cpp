// holdfast measure, on the real binary, and the page that it generates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::HasSubstr;

std::string fileText(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(Measure, ThePageIsWhatTheCommandPrints) {
  const std::string page = fileText(HOLDFAST_SOURCE_DIR "/docs/measurements.md");
  const ScratchFolder scratch;
  const std::string file = scratch.file("m.md");
  // The page has more numbers of participants, and so more rows.
  const Ran ran =
      holdfast({"measure", "--what", "cost,caps,cached", "--nodes", "3,5,12", "--output", file, "-q"});
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  std::istringstream text(fileText(file));
  std::size_t rows = 0;
  bool inSection = false;
  for (std::string line; std::getline(text, line);) {
    inSection = inSection || line.starts_with("## ");
    if (!inSection) continue;
    rows += line.starts_with("| ") ? 1U : 0U;
    EXPECT_THAT(page, HasSubstr(line + "\n"));
  }
  EXPECT_GT(rows, 25U);
}

TEST(Measure, WritesAPageWithPlotsAndTheSameFiguresAsJson) {
  const ScratchFolder scratch;
  const std::string page = scratch.file("m.html");
  const Ran ran = holdfast(
      {"measure", "--what", "cost", "--nodes", "3", "--network", "worldwide", "--html", page, "--json"});
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  const nlohmann::json cost = ran.object("measurement");
  EXPECT_EQ(cost["name"], "cost");
  EXPECT_EQ(cost["tables"][0]["rows"][0][2], 4) << "commits of Ricart-Agrawala at P = 3";
  EXPECT_EQ(cost["tables"][0]["units"][2], "count");
  EXPECT_THAT(ran.object("profiles")["network"].get<std::string>(), HasSubstr("65 ms"));
  const std::string html = fileText(page);
  EXPECT_THAT(html, HasSubstr("<polyline"));
  EXPECT_THAT(html, HasSubstr("worldwide"));
}

TEST(Measure, CountsTheAllocationsOfTheCachedPath) {
  const Ran ran = holdfast({"measure", "--what", "cached", "--json"});
  ASSERT_EQ(ran.exitCode, 0) << ran.standardError;
  const nlohmann::json table = ran.object("measurement")["tables"][0];
  EXPECT_EQ(table["columns"].back(), "allocations of the node");
  EXPECT_EQ(table["rows"][0].back(), 0);
}

TEST(Measure, KeepsWhatWasDoneWhenItIsInterrupted) {
  const ScratchFolder scratch;
  writeLines(scratch.file("m.md"), {"precious"});
  RunSettings settings{.folder = scratch.path()};
  settings.interruptOnce = "\"name\":\"cost\"";
  const Ran cut = holdfast(
      {"measure", "--nodes", "3,5", "--output", "m.md", "--html", "m.html", "--force", "--json"}, settings);
  EXPECT_EQ(cut.exitCode, 3) << cut.standardError;
  EXPECT_EQ(textOf(scratch.file("m.md")), "precious\n");
  EXPECT_THAT(textOf(scratch.file("m.md.partial")), HasSubstr("holdfast measure --what cost"));
  EXPECT_FALSE(std::filesystem::exists(scratch.file("m.html")));
  EXPECT_TRUE(std::filesystem::exists(scratch.file("m.html.partial")));
  EXPECT_THAT(cut.standardError, HasSubstr("interrupted after "));
}

TEST(Measure, RefusesWhatItDoesNotKnow) {
  for (const auto& [option, value, complaint] :
       std::vector<std::array<std::string, 3>>{{"--what", "coast", "did you mean 'cost'?"},
                                               {"--nodes", "2", "3 to 200"},
                                               {"--network", "moon", "expected one of same-rack"},
                                               {"--disk", "tape", "expected one of nvme"}}) {
    const Ran ran = holdfast({"measure", option, value});
    EXPECT_EQ(ran.exitCode, 64) << option;
    EXPECT_THAT(ran.standardError, HasSubstr(complaint)) << option;
  }
}

}  // namespace
}  // namespace holdfast::cli
