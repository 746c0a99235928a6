// Stories: scripts and cluster share one time, every wait ends, and what is not met is said.
#include "scenarios/story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::scenarios {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StoryOptions threeNodes() {
  StoryOptions options;
  options.nodes = {"A", "B", "C"};
  options.keys = {{"k", "A", "accounts"}};
  return options;
}

TEST(Story, AHandoffReadsAsAStory) {
  ScenarioContext context;
  Story story(context, threeNodes());
  const ScenarioResult result = story.run([&]() -> Task<> {
    EXPECT_EQ(story.nameOf(story.cluster().homeOf(story.key("k"))), "A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome lock = co_await b.lock("k");
    story.expectEqual(lock.path, obs::Path::virgin, "the path of the first admission");
    const Pending<LockOutcome> waiting = c.lock("k");
    const TxnOutcome written = co_await b.write(lock, put(150, 2));
    story.expect(written.committed, "the write settles");
    EXPECT_FALSE(waiting.answered());
    b.unlock(lock);
    const LockOutcome next = co_await waiting.answer();
    story.expectEqual(next.path, obs::Path::clean, "the path of the second admission");
    const ReadOutcome read = co_await c.read(next);
    story.expectEqual(read.values[0], 150, "what the successor reads");
    story.expectEqual(story.count<obs::Admitted>(), 2U, "admissions");
    const auto release = story.first<obs::ReleaseSeen>();
    EXPECT_TRUE(release.has_value());
    if (release) {
      EXPECT_EQ(release->second.author, b.id());
    }
  });
  EXPECT_THAT(result.unmet, ElementsAre());
  EXPECT_EQ(result.expectations, 5U);
  EXPECT_EQ(result.report.verdict, checkers::Verdict::held);
  EXPECT_EQ(result.exitCode(), 0);
  EXPECT_NE(result.report.hash, 0U);
}

TEST(Story, OneContextOneHistory) {
  const auto hashOf = [](std::uint64_t seed) {
    ScenarioContext context;
    context.seed = seed;
    StoryOptions options;
    options.tieBreak = sim::TieBreak::seeded;
    Story story(context, options);
    return story
        .run([&]() -> Task<> {
          (void)co_await story.node("B").update("k", put(1));
          (void)co_await story.node("C").update("k", put(2));
        })
        .report.hash;
  };
  EXPECT_EQ(hashOf(1), hashOf(1));
}

TEST(Story, UnmetExpectationsNameWhatWasObserved) {
  ScenarioContext context;
  Story story(context, {});
  const ScenarioResult result = story.run([&]() -> Task<> {
    const LockOutcome lock = co_await story.node("A").lock("k");
    story.expect(false, "pigs fly");
    story.expectEqual(lock.path, obs::Path::recovery, "the path");
    story.expectAtMost(7, 3, "the count");
    story.expectEqual(Duration{2'000}, 3_us, "the delay");
  });
  ASSERT_EQ(result.unmet.size(), 4U);
  EXPECT_THAT(result.unmet[0], HasSubstr("s: pigs fly"));
  EXPECT_THAT(result.unmet[1], HasSubstr("the path: observed virgin, expected recovery"));
  EXPECT_THAT(result.unmet[2], HasSubstr("the count: observed 7, expected at most 3"));
  EXPECT_THAT(result.unmet[3], HasSubstr("the delay: observed 2000 ns, expected 3000 ns"));
  EXPECT_EQ(result.exitCode(), 3);
}

TEST(Story, SleepsInTrueTimeAndOnANodesClock) {
  ScenarioContext context;
  StoryOptions options;
  options.clocks.resize(2);
  options.clocks[1].ratePpb = 250'000'000;
  Story story(context, options);
  const ScenarioResult result = story.run([&]() -> Task<> {
    TrueInstant begun = story.now();
    co_await story.sleep(3_s);
    story.expectEqual(story.now() - begun, 3_s, "a sleep in true time");
    begun = story.now();
    co_await story.node("B").sleep(5_s);
    story.expectEqual(story.now() - begun, 4_s, "five seconds on a clock that is a quarter fast");
    begun = story.now();
    story.also([&]() -> Task<> {
      co_await story.sleep(1_s);
      story.cluster().setClockRate(story.id("B"), 0);
    });
    co_await story.node("B").sleep(5_s);
    story.expectEqual(story.now() - begun, 4'750_ms, "the clock slows down after a second");
    (void)co_await story.node("A").lock("k");
  });
  EXPECT_THAT(result.unmet, ElementsAre());
  EXPECT_EQ(result.expectations, 3U);
}

TEST(Story, ACallToADyingNodeIsLostAndNotWaitedForForEver) {
  ScenarioContext context;
  Story story(context, threeNodes());
  const ScenarioResult result = story.run([&]() -> Task<> {
    const LockOutcome held = co_await story.node("B").lock("k");
    EXPECT_TRUE(held.admitted());
    const Pending<LockOutcome> waiting = story.node("C").lock("k", {.wait = 60_s});
    co_await story.sleep(100_ms);
    story.node("C").crash();
    const LockOutcome lost = co_await waiting.answer();
    story.expect(lost.lost, "the call is lost");
    story.expect(!lost.admitted(), "a lost call was not admitted");
    const LockOutcome refused = co_await story.node("C").lock("k");
    story.expect(refused.lost, "a node that is down takes no call");
    story.node("C").restart();
  });
  EXPECT_THAT(result.unmet, ElementsAre());
  EXPECT_EQ(result.expectations, 3U);
}

TEST(Story, WaitsForAConditionWithALimit) {
  ScenarioContext context;
  Story story(context, {});
  const ScenarioResult result = story.run([&]() -> Task<> {
    story.also([&]() -> Task<> {
      co_await story.sleep(2_s);
      (void)co_await story.node("B").update("k", put(4));
    });
    const TrueInstant begun = story.now();
    story.expect(co_await story.untilSeen<obs::Settled>(), "the write settles");
    EXPECT_GE(story.now() - begun, 2_s);
    EXPECT_LT(story.now() - begun, 3_s);
    const TrueInstant asked = story.now();
    const bool seen = co_await story.untilSeen<obs::NodeCrashed>({}, 1, 5_s);
    story.expect(!seen, "nobody crashes");
    story.expectEqual(story.now() - asked, 5_s, "the limit");
  });
  EXPECT_THAT(result.unmet, ElementsAre());
  EXPECT_EQ(result.expectations, 3U);
}

TEST(Story, AScriptThatNeverEndsOrThrowsIsUnmet) {
  ScenarioContext context;
  StoryOptions options;
  options.limit = 20_s;
  Story story(context, options);
  const ScenarioResult endless = story.run([&]() -> Task<> {
    for (;;) co_await story.sleep(1_s);
  });
  ASSERT_EQ(endless.unmet.size(), 1U);
  EXPECT_THAT(endless.unmet[0], HasSubstr("the story ends within 20 s of true time; 1 of its scripts"));

  Story other(context, {});
  const ScenarioResult thrown = other.run([&]() -> Task<> {
    co_await other.sleep(1_s);
    (void)other.node("Z");
  });
  ASSERT_EQ(thrown.unmet.size(), 1U);
  EXPECT_THAT(thrown.unmet[0], HasSubstr("it threw: the story has no node 'Z'"));
}

TEST(Story, KeysAreChosenByTheirHome) {
  ScenarioContext context;
  StoryOptions options;
  options.nodes = {"delta", "alpha", "charlie", "bravo"};
  options.keys = {{"x", "delta", "t"}, {"y", "alpha", "t"}, {"z", "bravo", "u"}, {"w", "", "u"}};
  Story story(context, options);
  EXPECT_EQ(story.nameOf(story.cluster().homeOf(story.key("x"))), "delta");
  EXPECT_EQ(story.nameOf(story.cluster().homeOf(story.key("y"))), "alpha");
  EXPECT_EQ(story.nameOf(story.cluster().homeOf(story.key("z"))), "bravo");
  EXPECT_EQ(story.cluster().directory().tableCount(), 2U);
  EXPECT_THROW((void)story.key("v"), std::invalid_argument);
  StoryOptions impossible;
  impossible.keys = {{"k", "Nowhere", "t"}};
  EXPECT_THROW(Story(context, impossible), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::scenarios
