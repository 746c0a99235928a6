// The corpora of the fuzzer, and a fixed number of changes of each input, in every build.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/targets.hpp"

namespace holdfast::fuzz {
namespace {

std::vector<std::string> corpusOf(const Target& target) {
  const std::filesystem::path folder =
      std::filesystem::path(HOLDFAST_SOURCE_DIR) / "tests/fuzz/corpus" / target.name;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> inputs;
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

class FuzzTest : public testing::TestWithParam<Target> {};

TEST_P(FuzzTest, TakesItsCorpus) {
  const std::vector<std::string> inputs = corpusOf(GetParam());
  EXPECT_GE(inputs.size(), 2U);
  for (const std::string& input : inputs) GetParam().run(input);
}

TEST_P(FuzzTest, TakesChangesOfItsCorpus) {
  constexpr std::uint64_t kChanges = 60;
  std::uint64_t changed = 0;
  for (const std::string& input : corpusOf(GetParam())) {
    for (std::uint64_t seed = 1; seed <= kChanges; ++seed) {
      const std::string other = mutated(GetParam().form, input, seed);
      changed += other != input ? 1 : 0;
      GetParam().run(other);
    }
  }
  EXPECT_GT(changed, kChanges);
}

INSTANTIATE_TEST_SUITE_P(Formats, FuzzTest, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace holdfast::fuzz
