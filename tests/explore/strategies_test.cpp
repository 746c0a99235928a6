// The other strategies agree with breadth-first search on what there is, and find what it finds.
#include <gtest/gtest.h>

#include <set>

#include "explore/depth_first.hpp"
#include "explore/walks.hpp"
#include "tests/explore/calibration_model.hpp"

namespace holdfast::explore {
namespace {

using calibration::Bug;
using calibration::CalibrationModel;

TEST(DepthFirst, CountsWhatBreadthFirstCounts) {
  const calibration::Parameters parameters{1, Bug::none, true};
  const Result breadth = calibration::search(parameters, Limits{});
  const CalibrationModel model(parameters);
  const Result depth = DepthFirst<CalibrationModel>(model, Limits{}, 4).run();
  EXPECT_EQ(depth.verdict, Verdict::verified);
  EXPECT_EQ(depth.states, breadth.states);
  EXPECT_GE(depth.transitions, breadth.transitions);
  EXPECT_GT(breadth.states, 1'000U);
}

TEST(DepthFirst, ABoundedSearchIsIncompleteAndReachesEveryStateWithinItsBound) {
  const calibration::Parameters parameters{2, Bug::none, false};
  const CalibrationModel model(parameters);
  Limits limits;
  limits.depth = 6;
  const Result depth = DepthFirst<CalibrationModel>(model, limits, 2).run();
  EXPECT_EQ(depth.verdict, Verdict::incomplete);
  EXPECT_EQ(depth.cut, Cut::depth);
  EXPECT_EQ(depth.states, calibration::search(parameters, limits).states);
}

TEST(DepthFirst, FindsASeededBugByAPathThatEndsInIt) {
  const CalibrationModel model({2, Bug::releaseUnmatched, false});
  Limits limits;
  limits.depth = 24;
  const Result result = DepthFirst<CalibrationModel>(model, limits, 24).run();
  ASSERT_EQ(result.verdict, Verdict::violated);
  EXPECT_TRUE(model.judge(statesOf(model, result.path).back()).bad());
}

TEST(Walks, EachStrategyFindsASeededBugAndRepeatsItself) {
  for (const Strategy strategy : {Strategy::uniform, Strategy::priorities}) {
    const CalibrationModel model({3, Bug::waiterReleases, false});
    WalkOptions options;
    options.strategy = strategy;
    options.schedules = 100'000;
    options.length = 60;
    const Result first = Walks<CalibrationModel>(model, Limits{}, options).run();
    const Result second = Walks<CalibrationModel>(model, Limits{}, options).run();
    ASSERT_EQ(first.verdict, Verdict::violated);
    EXPECT_EQ(first.path, second.path);
    EXPECT_TRUE(model.judge(statesOf(model, first.path).back()).bad());
  }
}

TEST(Walks, WithoutABugTheyNeverSayVerified) {
  const CalibrationModel model({1, Bug::none, false});
  WalkOptions options;
  options.schedules = 50;
  const Result result = Walks<CalibrationModel>(model, Limits{}, options).run();
  EXPECT_EQ(result.verdict, Verdict::incomplete);
  EXPECT_EQ(result.cut, Cut::schedules);
  EXPECT_TRUE(result.path.empty());
  EXPECT_EQ(result.states, 0U) << "none is stored";
  EXPECT_GT(result.transitions, 50U);
  EXPECT_LE(result.transitions, 50U * options.length);
}

TEST(FingerprintSet, KeepsWhatWasInsertedWhileItGrows) {
  FingerprintSet set;
  for (std::uint64_t i = 0; i < 100'000; ++i) EXPECT_TRUE(set.insert(sim::scramble(i)));
  for (std::uint64_t i = 0; i < 100'000; ++i) EXPECT_FALSE(set.insert(sim::scramble(i)));
  EXPECT_EQ(set.size(), 100'000U);
  EXPECT_LE(set.bytes(), 19 * set.size());
  EXPECT_GT(expectedOmissions(6'000'000), 0.0);
  EXPECT_LT(expectedOmissions(6'000'000), 1e-5);
}

}  // namespace
}  // namespace holdfast::explore
