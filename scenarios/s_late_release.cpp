// Releases that come late, twice, or from the wrong hand (S-25), and a home that comes back (S-48).
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/membership_parts.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using parts::callFor;
using parts::longEpochs;
using parts::untilApplied;

/// Releases that the home met, and whether they cleared its grant.
std::size_t releasesSeen(const Story& story, bool cleared) {
  return story.count<obs::ReleaseSeen>(
      [cleared](const obs::ReleaseSeen& seen, NodeId) { return seen.cleared == cleared; });
}

// ---- S-25 -------------------------------------------------------------------------------------------------

ScenarioResult afterTheCaller(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const auto ofB = co_await b.update("k", put(5));
    story.expect(ofB.write.committed, "B's write commits");
    co_await story.sleep(1_s);
    story.cluster().delayNextCommit(b.id(), EntryKind::release, 3_s);
    const TrueInstant asked = story.now();
    const LockOutcome gaveUp = co_await c.lock("k", callFor(1_s, 5_s));
    story.expectEqual(gaveUp.error, obs::ErrorClass::locked423, "the caller who set off the recall gives up");
    story.expectEqual(gaveUp.at - asked, Duration(1_s), "its wait");
    co_await story.untilSeen<obs::ReleaseSeen>();
    story.expectEqual(releasesSeen(story, true), 1U, "the release clears the grant all the same");

    const std::uint64_t before = story.lockMessages();
    const LockOutcome ofC = co_await c.lock("k", callFor(5_s, 5_s));
    story.expectEqual(ofC.path, obs::Path::clean, "C's path when it asks again");
    story.expectEqual(story.lockMessages() - before, 2U, "its messages: nobody is in the way any more");
    const auto release = story.first<obs::ControlAppended>();
    const protocol::ReleaseEntry entry{
        story.key("k"), b.id(), ofB.lock.token, protocol::ReleaseEntry::kCurrentForm, {}};
    story.cluster().injectMessage(b.id(), a.id(), protocol::LogFrame{release.value().second.position, entry});
    story.cluster().cut(b.id(), a.id());
    story.cluster().heal(b.id(), a.id());
    // And once more as a new entry of B's log, as a replay of B's disk might bring it.
    story.cluster().crash(b.id());
    story.cluster().injectEntry(b.id(), entry);
    story.cluster().restart(b.id());
    story.expect(co_await untilApplied(story, a.id(), b.id(), release.value().second.position + 1),
                 "A applies it");
    story.expectEqual(releasesSeen(story, true), 1U, "releases that cleared a grant, in the end");
    story.expectEqual(releasesSeen(story, false), 1U, "releases that came too late to mean anything");
    const TxnOutcome written = co_await c.write(ofC, put(6));
    story.expect(written.committed, "C, inside all the while, writes");
  });
}

/// How the home comes to a new incarnation.
enum class NewLife : std::uint8_t {
  restart,      // its process crashes and starts again
  replacement,  // its coordinator is re-created in the living process
  failedWrite   // the same, and the first write of the incarnation fails
};

Task<> beginAnew(Story& story, StoryNode home, NewLife how) {
  if (how == NewLife::restart) {
    home.crash();
    co_await story.sleep(100_ms);
    home.restart();
    co_return;
  }
  if (how == NewLife::failedWrite) {
    story.cluster().failNextPersist(home.id(), protocol::RecordKind::incarnation);
  }
  story.cluster().replaceCoordinator(home.id());
}

template <NewLife kHow>
ScenarioResult laterIncarnation(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const auto old = co_await b.update("k", put(5));
    co_await story.sleep(1_s);
    story.cluster().setApplyDelay(a.id(), b.id(), 12_s);
    story.cluster().call(b.id(), protocol::AdminDrop{story.key("k")});
    co_await story.untilSeen<obs::ControlAppended>();
    const auto release = story.first<obs::ControlAppended>();
    co_await beginAnew(story, a, kHow);

    const LockOutcome ofB = co_await b.lock("k", callFor(15_s, 7_s, true));
    story.expect(ofB.token > old.lock.token, "the new incarnation's token orders above the old one");
    story.expectEqual(ofB.token.counter, old.lock.token.counter, "although its counter is the same");
    story.expect(co_await untilApplied(story, a.id(), b.id(), release.value().second.position),
                 "A applies the old release while B is inside");
    story.expectEqual(releasesSeen(story, true), 0U, "releases that cleared a grant so far");
    const TrueInstant asked = story.now();
    const LockOutcome ofC = co_await c.lock("k", callFor(5_s, 5_s));
    story.expectAtLeast(ofC.at - asked, story.options().protocol.recallGrace, "C waits for B to be recalled");
    const TxnOutcome late = co_await b.write(ofB, put(6));
    story.expectEqual(late.error, obs::ErrorClass::conflict409, "B's write after that");
    const auto read = co_await c.read(ofC);
    story.expectEqual(read.values[0], 5, "what C reads");
    c.unlock(ofC);
  });
}

/// The home begins anew again and again; what it grants then is always above what it granted before.
ScenarioResult orderedIncarnations(ScenarioContext& context) {
  // Numbers that are drawn increase by chance in one of 10! runs.
  constexpr std::uint32_t kLives = 10;
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    obs::Token last;
    for (std::uint32_t life = 1; life <= kLives; ++life) {
      const LockOutcome lock = co_await b.lock("k", callFor(15_s, 1_s));
      story.expect(lock.admitted(), "B is admitted once the quarantine is over");
      story.expect(lock.token > last, "its token orders above all earlier ones");
      story.expectEqual(lock.token.incarnation, life, "the incarnation of its token");
      last = lock.token;
      b.unlock(lock);
      co_await story.sleep(story.options().protocol.maxDelegation);
      co_await beginAnew(story, story.node("A"), NewLife::restart);
    }
  });
}

ScenarioResult laterEpoch(ScenarioContext& context) {
  // The next home takes this long to apply the holder's log: long enough for a change of members.
  constexpr Duration kApply = 45_s;
  Story story(context, parts::epochOptions({"A", "B", "C", "D"}, {}, {"kA"}));
  return story.run([&]() -> Task<> {
    const std::string next = parts::homeUnder(story, "kA", {"B", "C", "D"});
    const StoryNode home = story.node(next);
    const StoryNode holder = story.node(next == "B" ? "C" : "B");
    const StoryNode other = story.node(next == "D" ? "C" : "D");
    const auto old = co_await holder.update("kA", put(5));
    story.expect(old.write.committed, "the holder's write commits");
    co_await story.sleep(1_s);
    story.cluster().setApplyDelay(home.id(), holder.id(), kApply);
    story.cluster().call(holder.id(), protocol::AdminDrop{story.key("kA")});
    co_await story.untilSeen<obs::ControlAppended>();
    const auto release = story.first<obs::ControlAppended>();
    const TrueInstant appended = story.now();
    parts::propose(story, "B", "", "A");
    story.expect(co_await parts::untilActive(story, next, 2, kApply - 10_s),
                 "A leaves: another home arbitrates");
    co_await story.sleep(appended + kApply - 3_s - story.now());

    const LockOutcome held = co_await holder.lock("kA", callFor(4_s, 7_s, true));
    story.expect(held.token > old.lock.token, "the new epoch's token orders above the old one");
    story.expectEqual(held.token.counter, old.lock.token.counter, "although its counter is the same");
    story.expect(co_await untilApplied(story, home.id(), holder.id(), release.value().second.position),
                 "the new home applies the old release while the holder is inside again");
    const auto byNew = [&](const obs::ReleaseSeen& seen, NodeId at) {
      return at == home.id() && seen.cleared;
    };
    story.expectEqual(story.count<obs::ReleaseSeen>(byNew), 0U, "releases that cleared its grant so far");
    story.cluster().setApplyDelay(home.id(), holder.id(), {});
    const TrueInstant asked = story.now();
    const LockOutcome after = co_await other.lock("kA", callFor(5_s, 5_s));
    story.expect(after.admitted(), "the next caller is served");
    story.expectAtLeast(after.at - asked, story.options().protocol.recallGrace,
                        "when the holder has been recalled");
    const auto read = co_await other.read(after);
    story.expectEqual(read.values[0], 5, "what it reads");
    other.unlock(after);
  });
}

ScenarioResult forged(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 6_s, true));
    co_await story.sleep(300_ms);
    c.crash();
    const protocol::ReleaseEntry entry{
        story.key("k"), b.id(), ofB.token, protocol::ReleaseEntry::kCurrentForm, {}};
    story.expect(story.cluster().injectEntry(c.id(), entry), "C's log claims that B has released");
    c.restart();
    story.expect(co_await untilApplied(story, a.id(), c.id(), 1), "A applies C's entry");
    story.expectEqual(releasesSeen(story, false), 1U, "releases that A met and did not believe");
    const TrueInstant asked = story.now();
    const LockOutcome ofC = co_await c.lock("k", callFor(5_s, 5_s));
    story.expectAtLeast(ofC.at - asked, story.options().protocol.recallGrace, "C waits for B to be recalled");
    story.expectEqual(releasesSeen(story, true), 1U, "releases that cleared the grant: B's own");
    c.unlock(ofC);
  });
}

// ---- S-48 -------------------------------------------------------------------------------------------------

ScenarioResult homeRestarts(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const protocol::ProtocolOptions& protocol = story.options().protocol;
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 6_s, true));
    co_await story.sleep(500_ms);
    a.crash();
    co_await story.sleep(100_ms);
    a.restart();
    const TrueInstant restarted = story.now();
    const LockOutcome early = co_await c.lock("k", callFor(2_s, 5_s));
    story.expectEqual(early.error, obs::ErrorClass::lockUnavailable503, "C's lock in the quarantine");
    story.expectEqual(early.cause, Cause::quarantine, "why it is refused");
    if (early.admitted()) c.unlock(early);
    const TxnOutcome written = co_await b.write(ofB, put(5));
    story.expect(written.committed, "B, inside all the while, writes");
    b.unlock(ofB);

    const LockOutcome ofC = co_await c.lock("k", callFor(15_s, 5_s));
    story.expectAtLeast(ofC.at - restarted, protocol.maxDelegation + protocol.skew,
                        "C's admission after the restart");
    story.expectAtMost(ofC.at - restarted,
                       protocol.maxDelegation + protocol.skew + protocol.retryEvery + 100_ms,
                       "C's admission after the restart");
    story.expectEqual(ofC.path, obs::Path::recovery, "C's path: the home remembers nothing");
    story.expect(ofC.token > ofB.token, "the new incarnation's token orders above the old one");
    story.expectEqual(ofC.token.incarnation, ofB.token.incarnation + 1, "the home's incarnation");
    const auto read = co_await c.read(ofC);
    story.expectEqual(read.values[0], 5, "what C reads");
    const auto inQuarantine = [&](const obs::Granted&, NodeId) { return true; };
    story.expectEqual(story.count<obs::Granted>(inQuarantine), 2U, "grants in all: none in the quarantine");
    c.unlock(ofC);
  });
}

}  // namespace

std::vector<Scenario> lateReleaseScenarios() {
  using protocol::Rule;
  constexpr auto kExclusion = checkers::Checker::exclusion;
  return {
      {"S-25-release-after-its-caller",
       "FR-4, DG-10",
       "The release commits after the caller it was for gave up; it frees the key, and replays do nothing.",
       {},
       &afterTheCaller},
      {"S-25-release-in-later-incarnation",
       "FR-4, TK-1, TK-2",
       "B's release reaches the home when that has restarted and granted to B again with the same counter.",
       {{Rule::FR4_ExactToken, kExclusion},
        {Rule::TK1_FullToken, kExclusion},
        {Rule::TK2_DurableIncarnation, kExclusion}},
       &laterIncarnation<NewLife::restart>},
      {"S-25-release-after-replacement",
       "FR-4, TK-2, BD-4",
       "The same where only the home's coordinator was re-created, and its process lives on.",
       {{Rule::TK2_AdvanceOnReplacement, kExclusion}},
       &laterIncarnation<NewLife::replacement>},
      {"S-25-release-after-failed-write",
       "FR-4, TK-2, BD-4",
       "The same where the write of the new incarnation fails at first: it is tried again, and no step is "
       "left out.",
       {{Rule::TK2_RetryAdvances, kExclusion}},
       &laterIncarnation<NewLife::failedWrite>},
      {"S-25-release-in-later-epoch",
       "FR-4, TK-1",
       "A release reaches the key's next home, under the next membership, when that has granted to its "
       "author again.",
       {{Rule::FR4_ExactToken, kExclusion}, {Rule::TK1_FullToken, kExclusion}},
       &laterEpoch},
      {"S-25-forged-release",
       "FR-4",
       "C's log holds a release that names B and B's exact token; the home believes only B's own log.",
       {{Rule::FR4_AuthorBound, kExclusion}},
       &forged},
      {"S-48-home-restart",
       "DG-9, TK-2, FR-6",
       "The home restarts while B is inside: it grants nothing until every earlier grant must have ended.",
       {{Rule::DG9_Quarantine, kExclusion}},
       &homeRestarts},
      {"S-48-home-restarts-again",
       "TK-1, TK-2",
       "The home restarts ten times; its incarnations are counted, and its tokens increase.",
       {{Rule::TK2_Ordered, kExclusion}},
       &orderedIncarnations},
  };
}

}  // namespace holdfast::scenarios
