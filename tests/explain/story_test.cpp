// The slice of a violation and the story that is told of it.
#include "explain/story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/mp11/algorithm.hpp>

#include "observations/kinds.hpp"
#include "tests/explain/run_builder.hpp"

namespace holdfast::explain {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Told {
  explicit Told(const OverlapRun& r, std::size_t most = 60)
      : names(builderNames()),
        order(r.run),
        clocks(r.run),
        spans(spansOf(r.run, clocks)),
        slice(sliceOf(r.run, order, r.incident, most)),
        story(storyOf({r.run, order, clocks, spans, names}, r.incident, slice)) {}

  const Step* stepOf(EventIndex event) const {
    const auto found = std::ranges::find(story.steps, event, &Step::event);
    return found == story.steps.end() ? nullptr : &*found;
  }

  traces::Names names;
  HappensBefore order;
  Clocks clocks;
  std::vector<Span> spans;
  Slice slice;
  Story story;
};

TEST(Slice, HasBothPartiesAndNothingElse) {
  const OverlapRun r;
  const Told told(r);
  EXPECT_EQ(told.slice.events.back(), r.overlap);
  EXPECT_THAT(told.slice.events, Contains(r.inside)) << "the other party is not in the violation's own past";
  EXPECT_THAT(told.slice.events, Contains(r.granted));
  EXPECT_THAT(told.slice.events, Contains(r.lost)) << "a loss is why A heard nothing";
  EXPECT_THAT(told.slice.events, Not(Contains(r.noise))) << "another key";
  EXPECT_THAT(told.slice.events, Not(Contains(r.later))) << "after the violation";
  EXPECT_EQ(told.slice.leftOut, 0U);
  EXPECT_EQ(told.slice.lastOutside, r.lost);
}

TEST(Slice, KeepsWhatMattersMostWhenItMustBeShort) {
  const OverlapRun r;
  const Told told(r, 8);
  EXPECT_EQ(told.slice.events.size(), 8U);
  EXPECT_GT(told.slice.leftOut, 0U);
  EXPECT_THAT(told.slice.events, Contains(r.overlap));
  EXPECT_THAT(told.slice.events, Contains(r.inside));
}

TEST(Slice, OfAnIncidentWithoutCallersIsWhatItsNodeDidBefore) {
  RunBuilder b;
  const auto started = b.add(1, kA, obs::NodeStarted{1});
  b.add(2, kB, obs::NodeStarted{1});
  const auto renewed = b.add(3, kA, obs::MembershipRenewed{1, {9 * kMillisecond}});
  Incident incident;
  incident.event = renewed;
  incident.nodes = {kA};
  EXPECT_THAT(sliceOf(b.run, HappensBefore(b.run), incident).events, testing::ElementsAre(started, renewed));
}

TEST(Slice, OfACallerThatIsRefusedHasWhatItsHomeDidWithTheKey) {
  RunBuilder b;
  const obs::Token token{1, 1, 1};
  const auto granted =
      b.add(1, kC, obs::Granted{kAlice, kA, token, obs::Path::virgin, false, sim::seconds(9)});
  const auto rejected = b.add(2, kA, obs::GrantRejected{kAlice, token, obs::GrantRejection::callerGone});
  const auto other = b.add(3, kC, obs::Granted{kBob, kA, token, obs::Path::virgin, false, sim::seconds(9)});
  b.send(4, kA, kC, 99, obs::MessageKind::logFrame, obs::KeyId::none());
  b.deliver(5, kC, kA, 99, obs::MessageKind::logFrame);
  b.add(10, kB, obs::LockRequested{{1}, kAlice, sim::seconds(2), sim::seconds(9)});
  b.send(10, kB, kC, 100);
  b.deliver(20, kC, kB, 100);
  const auto recalled = b.add(20, kC, obs::RecallSent{kAlice, kA, token});
  b.send(21, kC, kB, 101, obs::MessageKind::lockDeny);
  b.deliver(30, kB, kC, 101, obs::MessageKind::lockDeny);
  Incident incident;
  incident.event =
      b.add(40, kB, obs::LockRefused{{1}, kAlice, obs::ErrorClass::locked423, obs::Cause::contended});
  incident.keys = {kAlice};
  incident.calls = {{1}};
  incident.nodes = {kB};
  const Slice slice = sliceOf(b.run, HappensBefore(b.run), incident);
  EXPECT_THAT(slice.events, testing::IsSupersetOf({granted, rejected, recalled, incident.event}));
  EXPECT_THAT(slice.events, Not(Contains(other)));
}

TEST(Slice, OfAnEventThatIsNotThereIsEmpty) {
  const OverlapRun r;
  Incident nowhere;
  EXPECT_TRUE(sliceOf(r.run, HappensBefore(r.run), nowhere).events.empty());
}

TEST(Story, GivesEachStepItsTimesAndBeliefs) {
  const OverlapRun r;
  const Told told(r);
  const Step* const inside = told.stepOf(r.inside);
  ASSERT_NE(inside, nullptr);
  EXPECT_EQ(inside->at.ns, 30'000'000);
  EXPECT_EQ(inside->monotonic.ns, 5'030'000'000) << "A's clock is five seconds ahead";
  EXPECT_THAT(inside->authority, Contains("delegate of alice under (1,1,1), until A:14.010s"));
  EXPECT_THAT(inside->authority, Contains("call 1 inside on alice, until A:14.000s"));
  EXPECT_TRUE(inside->conflicts.empty());
}

TEST(Story, NamesTheConflictAndThatNeitherCouldKnow) {
  const OverlapRun r;
  const Told told(r);
  const Step& last = told.story.steps.back();
  EXPECT_EQ(last.event, r.overlap);
  EXPECT_THAT(last.conflicts, Contains(HasSubstr("A: call 1 inside on alice")));
  const Step* const inside = told.stepOf(r.inside);
  ASSERT_NE(inside, nullptr);
  EXPECT_THAT(told.story.remarks, Contains(HasSubstr("Steps " + std::to_string(inside->number) + " and " +
                                                     std::to_string(last.number) + " are concurrent")));
}

TEST(Story, TellsAMessageOnceWithItsFate) {
  const OverlapRun r;
  const Told told(r);
  std::string all;
  for (const std::string& line : linesOf(told.story, told.names)) all += line + "\n";
  EXPECT_THAT(all, HasSubstr("A sent lockRequest 100 to C on alice; it arrived after 10ms"));
  EXPECT_THAT(all, HasSubstr("sent lockRecall 103 to A on alice; it was LOST (random)"));
  EXPECT_THAT(all, Not(HasSubstr("received lockRequest")));
  EXPECT_THAT(all, HasSubstr("CONFLICT  A: call 1 inside on alice"));
}

TEST(Story, EveryKindOfObservationCanBeExplained) {
  RunBuilder b;
  boost::mp11::mp_for_each<boost::mp11::mp_iota_c<obs::kKindCount>>([&](auto kind) {
    b.add(static_cast<std::int64_t>(kind), kind % 2 == 0 ? kA : obs::NodeId{0xfffe},
          obs::ObservationOf<kind>{});
  });
  const HappensBefore order(b.run);
  const Clocks clocks(b.run);
  const std::vector<Span> spans = spansOf(b.run, clocks);
  const traces::Names names = builderNames();
  for (EventIndex event = 0; event < b.run.size(); ++event) {
    const Incident incident = incidentAt(b.run, event);
    const Story story =
        storyOf({b.run, order, clocks, spans, names}, incident, sliceOf(b.run, order, incident));
    ASSERT_FALSE(story.steps.empty()) << obs::kindName(b.run[event].what);
    EXPECT_EQ(story.steps.back().event, event);
    EXPECT_FALSE(story.steps.back().text.empty()) << obs::kindName(b.run[event].what);
    EXPECT_FALSE(linesOf(story, names).empty());
  }
}

}  // namespace
}  // namespace holdfast::explain
