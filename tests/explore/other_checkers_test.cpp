// Where SPIN or rumur is installed, it is asked again for the counts that the engine is held to.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/explore/calibration_model.hpp"

namespace holdfast::explore {
namespace {

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// What the script prints.
std::string printedBy(const std::string& script) {
  std::string text;
  std::FILE* pipe = popen((HOLDFAST_SOURCE_DIR "/tests/explore/" + script).c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 256> piece;
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) text += piece.data();
  pclose(pipe);
  return text;
}

std::string counts(const Result& result) {
  return "states " + std::to_string(result.states) + " transitions " + std::to_string(result.transitions);
}

TEST(OtherCheckers, SpinCountsTheSame) {
  if (!installed("spin")) GTEST_SKIP() << "spin is not installed";
  const Result ours = calibration::search({2, calibration::Bug::none, false}, {});
  EXPECT_EQ(printedBy("spin.sh 2").substr(0, counts(ours).size() + 9), counts(ours) + " errors 0");
}

TEST(OtherCheckers, SpinFindsTheSeededBugs) {
  if (!installed("spin")) GTEST_SKIP() << "spin is not installed";
  for (const char* bug : {"1", "2", "3"}) {
    EXPECT_NE(printedBy(std::string("spin.sh 2 ") + bug).find(" errors 1 "), std::string::npos) << bug;
  }
}

TEST(OtherCheckers, RumurCountsTheSame) {
  if (!installed("rumur")) GTEST_SKIP() << "rumur is not installed";
  const Result ours = calibration::search({2, calibration::Bug::none, false}, {});
  EXPECT_EQ(printedBy("rumur.sh"), counts(ours) + "\n");
}

}  // namespace
}  // namespace holdfast::explore
