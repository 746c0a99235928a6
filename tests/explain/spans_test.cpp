// What lasts, from when to when, and why it ends.
#include "explain/spans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "explain/wait_for.hpp"
#include "tests/explain/run_builder.hpp"

namespace holdfast::explain {
namespace {

std::vector<Span> spansIn(const RunBuilder& b) { return spansOf(b.run, Clocks(b.run)); }

/// The only span of that kind at that node; fails the test if there is none or another.
Span only(const std::vector<Span>& spans, SpanKind kind, obs::NodeId node) {
  Span found;
  int count = 0;
  for (const Span& span : spans) {
    if (span.kind != kind || span.node != node) continue;
    found = span;
    ++count;
  }
  EXPECT_EQ(count, 1) << obs::nameOf(kind);
  return found;
}

TEST(Spans, AuthorityBeginsAndEndsWithItsEvents) {
  const OverlapRun r;
  const std::vector<Span> spans = spansIn(r);
  const Span inside = only(spans, SpanKind::section, kA);
  EXPECT_EQ(inside.first, r.inside);
  EXPECT_EQ(inside.last, r.later);
  EXPECT_EQ(inside.ended, SpanEnd::event);
  EXPECT_EQ(inside.to.ns, 500 * kMillisecond);
  EXPECT_TRUE(inside.activeAt(r.overlap, r.run[r.overlap].at));
  EXPECT_FALSE(inside.activeAt(r.asked, r.run[r.asked].at));
  const Span waited = only(spans, SpanKind::waiting, kA);
  EXPECT_EQ(waited.first, r.asked);
  EXPECT_EQ(waited.last, r.inside);
  const Span delegation = only(spans, SpanKind::delegation, kA);
  EXPECT_EQ(delegation.token, OverlapRun::kFirst);
  EXPECT_EQ(delegation.ended, SpanEnd::runEnd);
}

TEST(Spans, TheHomesGrantMovesWithItsDelegate) {
  const OverlapRun r;
  std::vector<Span> grants;
  for (const Span& span : spansIn(r)) {
    if (span.kind == SpanKind::grant) grants.push_back(span);
  }
  ASSERT_EQ(grants.size(), 2U);
  EXPECT_EQ(grants[0].peer, kA);
  EXPECT_EQ(grants[0].to.ns, 120 * kMillisecond);
  EXPECT_EQ(grants[1].peer, kB);
}

TEST(Spans, ADeadlineIsReachedOnTheClockItWasMadeFrom) {
  RunBuilder b;
  b.add(0, kA, obs::ClockRate{{0}, 1'000'000'000});  // twice as fast as true time
  b.add(10, kA, obs::Admitted{{1}, kAlice, {1, 1, 1}, obs::Path::cached, false, {120 * kMillisecond}});
  b.add(10, kA, obs::MembershipRenewed{3, {80 * kMillisecond}});
  b.add(100, kA, obs::Unlocked{{1}, kAlice});
  const std::vector<Span> spans = spansIn(b);
  const Span inside = only(spans, SpanKind::section, kA);
  EXPECT_EQ(inside.ended, SpanEnd::deadline);
  EXPECT_EQ(inside.to.ns, 60 * kMillisecond);
  EXPECT_EQ(only(spans, SpanKind::membership, kA).to.ns, 40 * kMillisecond);
}

TEST(Spans, ACrashEndsWhatTheProcessKnew) {
  RunBuilder b;
  b.add(0, kA, obs::Installed{kAlice, {1, 1, 1}, obs::Path::clean, false, {9'000 * kMillisecond}});
  const auto crash = b.add(5, kA, obs::NodeCrashed{2});
  b.add(50, kA, obs::NodeStarted{2});
  const std::vector<Span> spans = spansIn(b);
  EXPECT_EQ(only(spans, SpanKind::delegation, kA).last, crash);
  EXPECT_EQ(only(spans, SpanKind::delegation, kA).ended, SpanEnd::crash);
  EXPECT_EQ(only(spans, SpanKind::down, kA).to.ns, 50 * kMillisecond);
}

TEST(Spans, ARenewalProlongsADelegation) {
  RunBuilder b;
  b.add(0, kA, obs::Installed{kAlice, {1, 1, 1}, obs::Path::clean, false, {20 * kMillisecond}});
  b.add(10, kA, obs::Installed{kAlice, {1, 1, 2}, obs::Path::clean, true, {200 * kMillisecond}});
  const auto closed = b.add(50, kA, obs::AdmissionClosed{kAlice, {1, 1, 2}, true});
  b.add(60, kA, obs::Drained{kAlice, {1, 1, 2}, true});
  const Span span = only(spansIn(b), SpanKind::delegation, kA);
  EXPECT_EQ(span.token.counter, 2U);
  EXPECT_EQ(span.closed, closed);
  EXPECT_EQ(span.to.ns, 60 * kMillisecond);
}

TEST(Spans, AMembershipIsNotActiveBeforeItsPredecessorsHaveEnded) {
  RunBuilder b;
  b.add(0, kA, obs::MembershipRenewed{1, {15 * kMillisecond}});
  b.add(10, kA, obs::MembershipInstalled{2, {}, 1, {}, sim::milliseconds(50)});
  const auto active = b.add(60, kA, obs::MembershipActive{2});
  const std::vector<Span> spans = spansIn(b);
  const Span waits = only(spans, SpanKind::activation, kA);
  EXPECT_EQ(waits.number, 2U);
  EXPECT_EQ(waits.from.ns, 10 * kMillisecond);
  EXPECT_EQ(waits.last, active);
  EXPECT_EQ(only(spans, SpanKind::membership, kA).to.ns, 15 * kMillisecond) << "the lease of the old one";
}

TEST(Spans, AHomeMapIsActedOnUntilAChangeIsAcknowledged) {
  RunBuilder b;
  b.add(0, kA, obs::MembershipInstalled{1, {}, 1, {}, {}});
  b.add(0, kA, obs::MembershipActive{1});
  const auto stopped = b.add(10, kA, obs::HomeMapAcknowledged{2, 1, false});
  b.add(15, kA, obs::HomeMapAcknowledged{2, 1, true});
  const auto installed = b.add(20, kA, obs::MembershipInstalled{2, {}, 1, {}, {}});
  b.add(20, kA, obs::MembershipActive{2});
  b.add(30, kB, obs::NodeStarted{1});
  const std::vector<Span> spans = spansIn(b);
  std::vector<Span> acting;
  std::ranges::copy_if(spans, std::back_inserter(acting),
                       [](const Span& span) { return span.kind == SpanKind::membership; });
  ASSERT_EQ(acting.size(), 2U);
  EXPECT_EQ(acting[0].last, stopped);
  EXPECT_EQ(acting[1].number, 2U);
  EXPECT_EQ(acting[1].ended, SpanEnd::runEnd);
  const Span between = only(spans, SpanKind::stopped, kA);
  EXPECT_EQ(between.first, stopped);
  EXPECT_EQ(between.last, installed);
  EXPECT_EQ(describe(between, builderNames()), "stopped for home map 2");
}

TEST(WaitFor, NamesACycle) {
  RunBuilder b;
  b.add(1, kA, obs::Admitted{{1}, kAlice, {1, 1, 1}, obs::Path::virgin, false, {900 * kMillisecond}});
  b.add(2, kB, obs::Admitted{{2}, kBob, {1, 1, 1}, obs::Path::virgin, false, {900 * kMillisecond}});
  b.add(3, kA, obs::LockRequested{{3}, kBob, sim::seconds(1), sim::seconds(1)});
  const auto half = b.add(4, kC, obs::LockRequested{{5}, kBob, sim::seconds(1), sim::seconds(1)});
  const auto full = b.add(5, kB, obs::LockRequested{{4}, kAlice, sim::seconds(1), sim::seconds(1)});
  const auto over = b.add(6, kA, obs::Unlocked{{1}, kAlice});
  const std::vector<Span> spans = spansIn(b);
  EXPECT_TRUE(waitCycles(spans, half, {4 * kMillisecond}).empty());
  EXPECT_TRUE(waitCycles(spans, over, {6 * kMillisecond}).empty());
  const std::vector<WaitCycle> cycles = waitCycles(spans, full, {5 * kMillisecond});
  ASSERT_EQ(cycles.size(), 1U);
  EXPECT_EQ(
      describe(cycles[0], builderNames()),
      "A waits for bob (call 3), which B holds (call 2); B waits for alice (call 4), which A holds (call 1)");
}

}  // namespace
}  // namespace holdfast::explain
