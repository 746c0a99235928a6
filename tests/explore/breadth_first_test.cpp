// The engine counts what three independent checkers have agreed on, finds the seeded bugs by shortest paths,
// and says the same with one thread and with two.
#include "explore/breadth_first.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "tests/explore/calibration_model.hpp"

namespace holdfast::explore {
namespace {

using calibration::Bug;
using calibration::CalibrationModel;

Limits withJobs(unsigned jobs) {
  Limits limits;
  limits.jobs = jobs;
  return limits;
}

TEST(BreadthFirst, CountsTwoGrantsWithOneThreadAndWithTwo) {
  for (const unsigned jobs : {1U, 2U}) {
    const Result result = calibration::search({2, Bug::none, false}, withJobs(jobs));
    EXPECT_EQ(result.verdict, Verdict::verified);
    EXPECT_EQ(result.states, 584'628U) << jobs << " jobs";
    EXPECT_EQ(result.transitions, 5'887'770U) << jobs << " jobs";
  }
}

TEST(BreadthFirst, CountsThreeGrantsUnderSymmetry) {
  for (const unsigned jobs : {1U, 2U}) {
    const Result result = calibration::search({3, Bug::none, true}, withJobs(jobs));
    EXPECT_EQ(result.verdict, Verdict::verified);
    EXPECT_EQ(result.states, 1'016'245U) << jobs << " jobs";
    EXPECT_EQ(result.transitions, 12'421'833U) << jobs << " jobs";
    EXPECT_EQ(result.depth + 1, 62U) << "levels, the initial state's included";
  }
}

TEST(BreadthFirst, CountsThreeGrants) {
  for (const unsigned jobs : {1U, 2U}) {
    const Result result = calibration::search({3, Bug::none, false}, withJobs(jobs));
    EXPECT_EQ(result.states, 6'043'732U) << jobs << " jobs";
    EXPECT_EQ(result.transitions, 74'044'230U) << jobs << " jobs";
    EXPECT_EQ(result.depth + 1, 62U) << "levels, the initial state's included";
    EXPECT_LE(result.setBytes, 24 * result.states) << "visited set and what a path needs";
  }
}

TEST(BreadthFirst, FindsEachSeededBugByTheSamePathWithAnyNumberOfThreads) {
  for (const Bug bug : {Bug::noSkewMargin, Bug::releaseUnmatched, Bug::waiterReleases}) {
    const Result one = calibration::search({3, bug, false}, withJobs(1));
    const Result two = calibration::search({3, bug, false}, withJobs(2));
    ASSERT_EQ(one.verdict, Verdict::violated);
    EXPECT_GE(one.path.size(), 8U);
    EXPECT_LE(one.path.size(), 19U);
    EXPECT_EQ(one.path.size(), one.depth);
    EXPECT_EQ(one.path, two.path);
    EXPECT_EQ(one.states, two.states);
    const CalibrationModel model({3, bug, false});
    const auto states = statesOf(model, one.path);
    EXPECT_TRUE(model.judge(states.back()).bad());
    for (std::size_t i = 0; i + 1 < states.size(); ++i) EXPECT_FALSE(model.judge(states[i]).bad());
  }
}

/// Counts 7, 0, 3 and stops; a fingerprint is the number itself.
struct PlainNumbers {
  using State = std::uint64_t;
  struct Choice {};
  State initial() const { return 7; }
  void choices(const State& state, std::vector<Choice>& out) const {
    if (state != 3) out.push_back({});
  }
  void apply(State& state, const Choice&) const { state = state == 7 ? 0 : 3; }
  std::uint64_t fingerprint(const State& state) const { return state; }
  Judgement judge(const State&) const { return {}; }
};

TEST(BreadthFirst, AFingerprintOfZeroIsOneLikeAnyOther) {
  for (const unsigned jobs : {1U, 2U}) {
    const Result result = BreadthFirst<PlainNumbers>(PlainNumbers{}, withJobs(jobs)).run();
    EXPECT_EQ(result.verdict, Verdict::verified);
    EXPECT_EQ(result.states, 3U);
    EXPECT_EQ(result.depth, 2U);
  }
}

TEST(BreadthFirst, StopsAtEachBoundAndNeverSaysVerified) {
  Limits depth;
  depth.depth = 10;
  const Result shallow = calibration::search({2, Bug::none, false}, depth);
  EXPECT_EQ(shallow.verdict, Verdict::incomplete);
  EXPECT_EQ(shallow.cut, Cut::depth);
  EXPECT_EQ(shallow.depth, 10U);

  Limits memory;
  memory.memoryBytes = 8U << 20;
  const Result small = calibration::search({3, Bug::none, false}, memory);
  EXPECT_EQ(small.verdict, Verdict::incomplete);
  EXPECT_EQ(small.cut, Cut::memory);
  EXPECT_LE(small.bytes, memory.memoryBytes);
  EXPECT_GT(small.states, 1'000U);

  std::atomic<bool> interrupted = true;
  Limits stop;
  stop.interrupted = &interrupted;
  EXPECT_EQ(calibration::search({2, Bug::none, false}, stop).cut, Cut::interrupted);
}

class CheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    file_ = ::testing::TempDir() + "holdfast_" + info->name() + ".checkpoint";
  }
  void TearDown() override { std::filesystem::remove(file_); }

  /// A search cut short at `states`, saved under the identity "calibration".
  Result cutShort(std::uint64_t states) {
    Limits limits;
    limits.states = states;
    BreadthFirst<CalibrationModel> search(model_, limits);
    const Result result = search.run();
    search.keepNow(saves_);
    return result;
  }

  CalibrationModel model_{{2, Bug::none, false}};
  std::string file_;
  std::size_t kept_ = 0;  // how often
  BreadthFirst<CalibrationModel>::Keep saves_ = [this](const SearchTree& tree, std::uint64_t states) {
    EXPECT_TRUE(saveCheckpoint(file_, "calibration", tree, states).has_value());
    ++kept_;
  };
};

TEST_F(CheckpointTest, AResumedSearchEndsWithTheCountsOfAnUninterruptedOne) {
  EXPECT_EQ(cutShort(100'000).cut, Cut::states);
  auto tree = loadCheckpoint(file_, "calibration");
  ASSERT_TRUE(tree.has_value()) << tree.error();
  BreadthFirst<CalibrationModel> search(model_, Limits{});
  ASSERT_TRUE(search.resume(*std::move(tree)));
  const Result result = search.run();
  EXPECT_EQ(result.verdict, Verdict::verified);
  EXPECT_EQ(result.states, 584'628U);
  EXPECT_EQ(result.transitions, 5'887'770U);
}

TEST_F(CheckpointTest, ASearchWithoutTimeComesALevelFurtherWheneverItIsTakenUpAgain) {
  cutShort(1'000);
  Limits limits;
  limits.seconds = 1e-9;
  std::size_t levels = loadCheckpoint(file_, "calibration").value().levels.size();
  for (int again = 0; again < 3; ++again) {
    BreadthFirst<CalibrationModel> search(model_, limits);
    ASSERT_TRUE(search.resume(loadCheckpoint(file_, "calibration").value()));
    EXPECT_EQ(search.run().cut, Cut::time);
    search.keepNow(saves_);
    EXPECT_EQ(loadCheckpoint(file_, "calibration").value().levels.size(), ++levels);
  }
}

TEST_F(CheckpointTest, WhatIsKeptMeanwhileIsEachTimeALevelMore) {
  Limits limits;
  limits.depth = 20;
  BreadthFirst<CalibrationModel> search(model_, limits);
  std::vector<std::size_t> levels;
  search.keepEvery(1e-9, [&](const SearchTree& tree, std::uint64_t states) {
    EXPECT_GT(states, tree.levels.back());
    EXPECT_LE(states, tree.size());
    levels.push_back(tree.levels.size());
    if (kept_ == 0 && states > 1'000) saves_(tree, states);
  });
  const Result whole = search.run();
  ASSERT_GT(levels.size(), 5U) << "of " << whole.depth;
  EXPECT_EQ(levels[0], 2U) << "the first state alone is not worth it";
  EXPECT_TRUE(std::ranges::is_sorted(levels, std::ranges::less_equal{}));
  auto tree = loadCheckpoint(file_, "calibration");
  ASSERT_TRUE(tree.has_value()) << tree.error();
  EXPECT_GT(tree->size(), 1'000U);
  EXPECT_TRUE(std::ranges::binary_search(levels, tree->levels.size()));
  BreadthFirst<CalibrationModel> again(model_, limits);
  ASSERT_TRUE(again.resume(*std::move(tree)));
  const Result result = again.run();
  EXPECT_EQ(result.states, whole.states);
  EXPECT_EQ(result.transitions, whole.transitions);
  EXPECT_EQ(result.depth, whole.depth);
}

TEST_F(CheckpointTest, WhatCanNotBeWrittenIsSaidAndLeavesTheFileThatIsThere) {
  cutShort(1'000);
  const SearchTree tree = loadCheckpoint(file_, "calibration").value();
  const auto saved = saveCheckpoint(file_ + "/inside", "calibration", tree, tree.size());
  ASSERT_FALSE(saved.has_value());
  EXPECT_THAT(saved.error(), testing::HasSubstr("inside.new could not be written: Not a directory"));
  // A part that was left behind by a process that was killed is in nobody's way.
  std::ofstream(file_ + ".new") << "half";
  ASSERT_TRUE(saveCheckpoint(file_, "calibration", tree, tree.size()).has_value());
  EXPECT_FALSE(std::filesystem::exists(file_ + ".new"));
  EXPECT_EQ(loadCheckpoint(file_, "calibration").value().size(), tree.size());
}

TEST_F(CheckpointTest, ACheckpointOfAnotherSearchVersionOrContentIsRefusedWithAReason) {
  cutShort(1'000);
  const auto other = loadCheckpoint(file_, "another");
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error(),
              testing::HasSubstr("belongs to the search 'calibration', and this one is 'another'"));
  const auto wider = loadCheckpoint(file_, "calibration grants=3");
  ASSERT_FALSE(wider.has_value());
  EXPECT_THAT(wider.error(),
              testing::HasSubstr("a search 'calibration' of other settings: nothing there, 'grants=3' here"));

  std::string bytes;
  {
    std::ifstream in(file_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto rewritten = [&](std::string content) {
    std::ofstream(file_, std::ios::binary | std::ios::trunc) << content;
    return loadCheckpoint(file_, "calibration").error();
  };
  EXPECT_NE(rewritten(bytes.substr(0, bytes.size() - 9)).find("damaged"), std::string::npos);
  std::string flipped = bytes;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  EXPECT_NE(rewritten(flipped).find("damaged"), std::string::npos);
  EXPECT_NE(rewritten(bytes + "!").find("damaged"), std::string::npos);
  EXPECT_NE(rewritten("holdfast-checkpoint 9\n").find("version"), std::string::npos);
  EXPECT_NE(rewritten("holdfast-checkpoint 3\n").find("belongs to the search ''"), std::string::npos);
  std::filesystem::remove(file_);
  EXPECT_NE(loadCheckpoint(file_, "calibration").error().find("no checkpoint"), std::string::npos);
}

TEST_F(CheckpointTest, ATreeOfAnotherModelDoesNotResume) {
  cutShort(5'000);
  auto tree = loadCheckpoint(file_, "calibration");
  ASSERT_TRUE(tree.has_value()) << tree.error();
  const CalibrationModel renamed({2, Bug::none, true});
  BreadthFirst<CalibrationModel> search(renamed, Limits{});
  EXPECT_FALSE(search.resume(*std::move(tree)));
}

TEST_F(CheckpointTest, ATreeThatMissesStatesDoesNotResume) {
  cutShort(5'000);
  auto tree = loadCheckpoint(file_, "calibration");
  ASSERT_TRUE(tree.has_value()) << tree.error();
  tree->parents.resize(tree->size() - 1);
  tree->ordinals.resize(tree->parents.size());
  EXPECT_FALSE(BreadthFirst<CalibrationModel>(model_, Limits{}).resume(*std::move(tree)));
}

}  // namespace
}  // namespace holdfast::explore
