// Comparing two runs: the first difference of every sort, its context on both sides, and the report.
#include "traces/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "observations/hash_chain.hpp"
#include "tests/traces/support.hpp"
#include "traces/trace.hpp"

namespace holdfast::traces {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Names kTwoNames = {{"A", "B"}, {"accounts/alice"}};

/// `count` events that differ from each other.
std::vector<obs::Stamped> countedRun(std::int64_t count) {
  std::vector<obs::Stamped> run;
  for (std::int64_t i = 1; i <= count; ++i) {
    run.push_back({{i * 1'000'000}, {0}, obs::NodeStarted{static_cast<std::uint32_t>(i)}});
  }
  return run;
}

std::optional<Divergence> compare(const std::vector<obs::Stamped>& recorded,
                                  const std::vector<obs::Stamped>& reexecuted) {
  Verifier verifier(recorded);
  for (const obs::Stamped& stamped : reexecuted) verifier.on(stamped);
  verifier.finish();
  return verifier.divergence();
}

/// The instants of events in milliseconds, which in countedRun are their numbers.
std::vector<std::int64_t> numbersOf(const std::vector<obs::Stamped>& events) {
  std::vector<std::int64_t> numbers;
  for (const obs::Stamped& event : events) numbers.push_back(event.at.ns / 1'000'000);
  return numbers;
}

TEST(Verifier, FindsNothingInEqualRuns) {
  Trace trace;
  trace.observations = sampleRun();
  Verifier verifier(trace);
  for (const obs::Stamped& stamped : sampleRun()) verifier.on(stamped);
  verifier.finish();
  EXPECT_FALSE(verifier.divergence());
  EXPECT_FALSE(verifier.complete());
  EXPECT_EQ(verifier.matched(), sampleRun().size());
  EXPECT_FALSE(compare({}, {}));
}

TEST(Verifier, ReportsTheFirstDifferenceWithContext) {
  std::vector<obs::Stamped> changed = countedRun(30);
  changed[11].what = obs::NodeStarted{99};
  changed[12].what = obs::NodePaused{};
  const auto found = compare(countedRun(30), changed);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->event, 12U);
  EXPECT_THAT(found->fields, ElementsAre("start"));
  EXPECT_THAT(numbersOf(found->before), ElementsAre(7, 8, 9, 10, 11));
  EXPECT_THAT(numbersOf(found->recorded), ElementsAre(12, 13, 14, 15, 16, 17));
  EXPECT_THAT(numbersOf(found->reexecuted), ElementsAre(12, 13, 14, 15, 16, 17));
  EXPECT_TRUE(obs::sameObservation(found->reexecuted[0], changed[11]));
  EXPECT_TRUE(obs::sameObservation(found->recorded[0], countedRun(30)[11]));
}

TEST(Verifier, TheContextEndsWhereTheRunsDo) {
  std::vector<obs::Stamped> changed = countedRun(4);
  changed[1].node = {1};
  const auto found = compare(countedRun(3), changed);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->event, 2U);
  EXPECT_THAT(found->fields, ElementsAre("node"));
  EXPECT_THAT(numbersOf(found->before), ElementsAre(1));
  EXPECT_THAT(numbersOf(found->recorded), ElementsAre(2, 3));
  EXPECT_THAT(numbersOf(found->reexecuted), ElementsAre(2, 3, 4));
}

TEST(Verifier, ReportsThatTheNewRunGoesOn) {
  const auto found = compare(countedRun(6), countedRun(20));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->event, 7U);
  EXPECT_THAT(found->recorded, IsEmpty());
  EXPECT_THAT(numbersOf(found->reexecuted), ElementsAre(7, 8, 9, 10, 11, 12));
  EXPECT_THAT(numbersOf(found->before), ElementsAre(2, 3, 4, 5, 6));
  EXPECT_THAT(found->fields, IsEmpty());
}

TEST(Verifier, ReportsThatTheNewRunEndsEarly) {
  const auto found = compare(countedRun(20), countedRun(6));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->event, 7U);
  EXPECT_THAT(numbersOf(found->recorded), ElementsAre(7, 8, 9, 10, 11, 12));
  EXPECT_THAT(found->reexecuted, IsEmpty());
  EXPECT_THAT(numbersOf(compare(countedRun(3), {})->recorded), ElementsAre(1, 2, 3));
}

TEST(Verifier, IsCompleteOnceItsContextIsFull) {
  const std::vector<obs::Stamped> recorded = countedRun(20);
  Verifier verifier(recorded);
  for (int i = 0; i < 6; ++i) {
    EXPECT_FALSE(verifier.complete());
    verifier.on({{-1}, {0}, obs::NodePaused{}});
  }
  EXPECT_TRUE(verifier.complete());
  verifier.on({{-1}, {0}, obs::NodePaused{}});
  EXPECT_EQ(verifier.divergence()->reexecuted.size(), 6U);
}

TEST(Verifier, NamesEveryDifferingField) {
  const obs::Admitted admitted{{3}, {0}, {1, 1, 7}, obs::Path::clean, false, {20'100'000'000}};
  obs::Admitted other = admitted;
  other.token.counter = 8;
  other.path = obs::Path::cached;
  other.deadline.ns += 1;
  const auto fields = compare({{{5}, {0}, admitted}}, {{{6}, {1}, other}});
  ASSERT_TRUE(fields);
  EXPECT_THAT(fields->fields, ElementsAre("t", "node", "token", "path", "deadline"));
  const auto kind = compare({{{5}, {0}, admitted}}, {{{5}, {0}, obs::Unlocked{{3}, {0}}}});
  ASSERT_TRUE(kind);
  EXPECT_THAT(kind->fields, ElementsAre("is"));
}

RC_GTEST_PROP(VerifierProperty, TheFirstDifferenceIsFoundWhereverItIs, ()) {
  const auto length = *rc::gen::inRange<std::size_t>(1, 40);
  const auto at = *rc::gen::inRange<std::size_t>(0, length);
  std::vector<obs::Stamped> recorded;
  for (std::size_t i = 0; i < length; ++i) {
    recorded.push_back(arbitraryObservation());
  }
  std::vector<obs::Stamped> changed = recorded;
  changed[at] = arbitraryObservation();
  RC_PRE(!obs::sameObservation(changed[at], recorded[at]));
  const auto found = compare(recorded, changed);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->event == at + 1);
  RC_ASSERT(!found->fields.empty());
  const std::string text = describe(*found, testNames());
  RC_ASSERT(text.starts_with("first differing event #" + std::to_string(at + 1) + ": " + found->fields[0]));
}

TEST(DescribeDivergence, ShowsBothSidesAligned) {
  std::vector<obs::Stamped> recorded = countedRun(10);
  std::vector<obs::Stamped> changed = recorded;
  const obs::Admitted admitted{{3}, {0}, {1, 1, 7}, obs::Path::clean, false, {20'100'000'000}};
  recorded[8].what = admitted;
  obs::Admitted other = admitted;
  other.path = obs::Path::recovery;
  other.deadline.ns = 9;
  changed[8].what = other;
  changed[9].what = obs::NodePaused{};
  EXPECT_EQ(
      describe(*compare(recorded, changed), kTwoNames),
      "first differing event #9: path, deadline\n"
      "  recorded     0.009000000s A  admitted call 3 on accounts/alice by clean handoff, token (1,1,7), "
      "until A:20.1s\n"
      "  re-executed  0.009000000s A  admitted call 3 on accounts/alice after recovery, token (1,1,7), "
      "until A:0.000000009s\n"
      "    path      recorded \"clean\"      re-executed \"recovery\"\n"
      "    deadline  recorded 20100000000  re-executed 9\n"
      "before it, on both sides\n"
      "  #4  0.004000000s A  node started: start 4\n"
      "  #5  0.005000000s A  node started: start 5\n"
      "  #6  0.006000000s A  node started: start 6\n"
      "  #7  0.007000000s A  node started: start 7\n"
      "  #8  0.008000000s A  node started: start 8\n"
      "after it, recorded\n"
      "  #10  0.010000000s A  node started: start 10\n"
      "after it, re-executed\n"
      "  #10  0.010000000s A  node paused\n");
}

TEST(DescribeDivergence, SaysWhichRunIsLonger) {
  EXPECT_EQ(describe(*compare(countedRun(1), countedRun(2)), kTwoNames),
            "first differing event #2: the recorded run ends after event 1, the re-executed one goes on\n"
            "  recorded     (end)\n"
            "  re-executed  0.002000000s A  node started: start 2\n"
            "before it, on both sides\n"
            "  #1  0.001000000s A  node started: start 1\n");
  EXPECT_EQ(describe(*compare(countedRun(1), {}), kTwoNames),
            "first differing event #1: the re-executed run ends after event 0, the recorded one goes on\n"
            "  recorded     0.001000000s A  node started: start 1\n"
            "  re-executed  (end)\n");
}

}  // namespace
}  // namespace holdfast::traces
