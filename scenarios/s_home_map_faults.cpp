// The operator's home map when maps differ, names are missing, generations go back, a home is away (S-49),
// and when what nodes tell each other of maps is not to be believed (S-47).
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "protocol/membership/published_map.hpp"
#include "scenarios/families.hpp"
#include "scenarios/home_map_story.hpp"

namespace holdfast::scenarios {
namespace {

using parts::callFor;
using Names = std::vector<std::string>;

/// A record of generation 2 that was under way for long reaches C once generation 3 is acted on there.
ScenarioResult rollback(ScenarioContext& context) {
  Story story(context, maps::options({"A", "B", "C"}, {"A", "B", "C"}, "C"));
  const Names all{"A", "B", "C"};
  const Names next{"A", "B"};
  const std::string key = maps::movedKey(story, next, "B");
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    story.cluster().holdMessages(b.id(), c.id(), MessageKind::homeMapActivation);
    maps::stage(story, "B", 2, all);
    story.expect(co_await maps::untilActing(story, "C", 2), "C learns of generation 2 from A, who has it");
    maps::stage(story, "A", 3, next);
    story.expect(co_await maps::untilActing(story, "C", 3), "C acts on generation 3, which does not name it");
    maps::stage(story, "B", 2, all);
    const auto said = story.last<obs::HomeMapRefused>();
    story.expect(said && said->second.cause == Cause::superseded, "the operator can not go back");

    c.crash();
    c.restart();
    co_await story.sleep(9_s);
    const LockOutcome ofA = co_await a.lock(key, callFor(5_s, 7_s, true));
    story.expectEqual(ofA.token.membership, 3U, "the generation of A's token");
    story.cluster().isolate(c.id());
    story.cluster().releaseHeld(b.id(), c.id(), MessageKind::homeMapActivation);
    co_await story.sleep(10_ms);
    const LockOutcome ofC = co_await c.lock(key, callFor(3_s, 1_s));
    story.expectEqual(ofC.cause, Cause::notMember, "C's lock: it has not gone back");
    story.expectAtLeast(maps::refused(story, MessageKind::homeMapActivation, Cause::superseded), 1U,
                        "activation records refused for their age");
    a.unlock(ofA);
  });
}

/// One node was given a map of its own. Its name reads like the two names of the others' map.
ScenarioResult twoMaps(ScenarioContext& context) {
  StoryOptions options = maps::options({"A", "A,B", "B"}, {"A", "B"}, "A");
  NodeOverride stray;
  stray.node = NodeId{1};
  stray.members = std::vector<NodeId>{NodeId{1}};
  options.overrides.push_back(stray);
  // That two values of generation 1 are about is the story; the question is who acts.
  options.checkers.enabled ^= 1U << static_cast<unsigned>(checkers::Checker::membership);
  Story story(context, options);
  const Names all{"A", "A,B", "B"};
  const std::string key = maps::movedKey(story, all, "A");
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode other = story.node("A,B");
    const Pending<LockOutcome> ofOther = other.lock(key, callFor(2_s, 4_s));
    const LockOutcome ofB = co_await b.lock(key, callFor(2_s, 4_s));
    story.expectEqual(ofB.cause, Cause::noMembership, "B's lock, while two maps are about");
    const LockOutcome strayLock = co_await ofOther.answer();
    story.expectEqual(strayLock.cause, Cause::noMembership, "the other one's lock, for the same reason");
    story.expectAtLeast(maps::refused(story, MessageKind::homeMapHello, Cause::membership), 4U,
                        "digests that were found to differ");
    if (ofB.admitted()) b.unlock(ofB);
    if (strayLock.admitted()) other.unlock(strayLock);

    maps::stage(story, "A", 2, all);
    const LockOutcome after = co_await b.lock(key, callFor(15_s, 4_s));
    story.expectEqual(after.token.membership, 2U, "the generation once the operator has set it right");
    b.unlock(after);
    const LockOutcome last = co_await other.lock(key, callFor(5_s, 4_s));
    story.expect(last.admitted(), "and all work together");
    other.unlock(last);
  });
}

/// D knows the map, which does not name it.
ScenarioResult leftOut(ScenarioContext& context) {
  StoryOptions options = maps::options({"A", "B", "C", "D"}, {"A", "B", "C"}, "A");
  Story story(context, options);
  const Names withD{"A", "B", "C", "D"};
  const std::string key = maps::movedKey(story, withD, "D");
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode d = story.node("D");
    const LockOutcome ofB = co_await b.lock(key, callFor(5_s, 5_s));
    story.expect(ofB.admitted(), "B's lock");
    const LockOutcome ofD = co_await d.lock(key, callFor(2_s, 1_s));
    story.expectEqual(ofD.cause, Cause::notMember, "D's lock: it is not named");
    const protocol::LockRequest request{1, {1, 1}, story.key(key), 1_s, false};
    story.cluster().injectMessage(d.id(), story.id("A"), request);
    co_await story.sleep(100_ms);
    const auto denied = story.last<obs::Denied>();
    story.expect(denied && denied->second.to == d.id() && denied->second.cause == Cause::notMember,
                 "the home refuses D, too");
    b.unlock(ofB);
  });
}

/// Home A is away for a while; nobody moves its keys.
ScenarioResult homeAway(ScenarioContext& context) {
  StoryOptions options = maps::options({"A", "B", "C"}, {"A", "B", "C"}, "A");
  options.keys.push_back({"other", "B", "accounts"});
  Story story(context, options);
  const Names others{"B", "C"};
  const std::string key = maps::movedKey(story, others, "B");
  std::size_t entered = 0;
  return story.run([&]() -> Task<> {
    const StoryNode c = story.node("C");
    story.cluster().isolate(story.id("A"));
    story.also([&]() -> Task<> { co_await maps::keepEntering(story, "A", key, 14_s, entered); });
    const LockOutcome ofOther = co_await c.lock("other", callFor(2_s, 1_s));
    story.expect(ofOther.admitted(), "a key of another home");
    c.unlock(ofOther);
    const LockOutcome ofC = co_await c.lock(key, callFor(12_s, 3_s));
    story.expectEqual(ofC.cause, Cause::homeUnreachable, "a key of A's");
    story.expectAtLeast(entered, 4U, "sections of A's own caller meanwhile");
    if (ofC.admitted()) c.unlock(ofC);
    story.cluster().healAll();
    const LockOutcome later = co_await c.lock(key, callFor(10_s, 3_s));
    story.expectEqual(later.token.membership, 1U, "the generation, when A is back");
    c.unlock(later);
    story.expectEqual(story.count<obs::MembershipInstalled>(), 3U, "maps that nodes took up: one each");
  });
}

// ---- S-47, for maps ---------------------------------------------------------------------------------------

/// A change that spoils one thing, sealed again unless its seal is what is spoilt, and why it is refused.
struct BadChange {
  const char* what;
  Cause cause;
  void (*spoil)(protocol::HomeMapChange&);
  bool sealed = true;
};

struct BadRecord {
  const char* what;
  Cause cause;
  void (*spoil)(protocol::ActivationRecord&);
  bool sealed = true;
};

constexpr std::array kBadChanges{
    BadChange{"forged", Cause::malformed, [](protocol::HomeMapChange& c) { c.seal ^= 1U; }, false},
    BadChange{"partial: a home that takes no part", Cause::malformed,
              [](protocol::HomeMapChange& c) { c.participants.erase(c.participants.begin() + 1); }},
    BadChange{"with a home named twice", Cause::malformed,
              [](protocol::HomeMapChange& c) { c.map.homes = {NodeId{1}, NodeId{1}}; }},
    BadChange{"obsolete", Cause::superseded, [](protocol::HomeMapChange& c) { c.map.generation = 1; }},
    BadChange{"oversized", Cause::capacity,
              [](protocol::HomeMapChange& c) { c.map.homes.assign(protocol::kMaxMembers + 1, NodeId{1}); }},
    BadChange{"of an unknown version", Cause::version,
              [](protocol::HomeMapChange& c) { c.map.ringVersion = 77; }},
};

constexpr std::array kBadRecords{
    BadRecord{"forged", Cause::malformed, [](protocol::ActivationRecord& r) { r.seal ^= 1U; }, false},
    BadRecord{"partial: a home without evidence", Cause::malformed,
              [](protocol::ActivationRecord& r) { r.fenced.clear(); }},
    BadRecord{"with an acknowledgement counted twice", Cause::malformed,
              [](protocol::ActivationRecord& r) { r.acknowledged.push_back(r.acknowledged.back()); }},
    BadRecord{"obsolete", Cause::superseded, [](protocol::ActivationRecord& r) { r.map.generation = 1; }},
    BadRecord{"oversized", Cause::capacity,
              [](protocol::ActivationRecord& r) { r.fenced.assign(protocol::kMaxMembers + 1, NodeId{2}); }},
    BadRecord{"of an unknown version", Cause::version,
              [](protocol::ActivationRecord& r) { r.map.ringVersion = 77; }},
};

/// Shows A a message and expects that it is refused for this cause, and changes nothing.
template <class Message>
Task<> expectRefusedMap(Story& story, Message message, MessageKind kind, Cause cause, std::string what) {
  const std::size_t before = maps::refused(story, kind, cause);
  story.cluster().injectMessage(story.id("B"), story.id("A"), std::move(message));
  co_await story.sleep(50_ms);
  story.expectEqual(maps::refused(story, kind, cause), before + 1, what + ": times it was refused");
  story.expectEqual(maps::acknowledgements(story), 0U, what + ": acknowledgements");
  story.expectEqual(story.count<obs::MembershipInstalled>(), 3U, what + ": maps that were taken up");
}

ScenarioResult badMaps(ScenarioContext& context) {
  Story story(context, maps::options({"A", "B", "C"}, {"A", "B", "C"}, "A"));
  const std::string key = maps::movedKey(story, {"B", "C"}, "B");
  return story.run([&]() -> Task<> {
    co_await story.sleep(3_s);
    const StoryNode c = story.node("C");
    const LockOutcome inside = co_await c.lock(key, callFor(2_s, 7_s, true));
    for (const BadChange& bad : kBadChanges) {
      protocol::HomeMapChange change{{2, {NodeId{1}, NodeId{2}}, 1}, {NodeId{0}, NodeId{1}, NodeId{2}}, 0};
      change.seal = protocol::sealOf(change);
      bad.spoil(change);
      if (bad.sealed) change.seal = protocol::sealOf(change);
      // Named, because g++ 12 destroys an aggregate that is made within a co_await twice.
      const protocol::HomeMapStage stage{change, {1, 1}};
      co_await expectRefusedMap(story, stage, MessageKind::homeMapStage, bad.cause,
                                fmt::format("a change that is {}", bad.what));
    }
    for (const BadRecord& bad : kBadRecords) {
      protocol::ActivationRecord record{{2, {NodeId{1}, NodeId{2}}, 1},
                                        {{NodeId{0}, 1}, {NodeId{1}, 1}},
                                        {NodeId{2}},
                                        maps::drain(story),
                                        0};
      record.seal = protocol::sealOf(record);
      bad.spoil(record);
      if (bad.sealed) record.seal = protocol::sealOf(record);
      const protocol::HomeMapActivation activation{record};
      co_await expectRefusedMap(story, activation, MessageKind::homeMapActivation, bad.cause,
                                fmt::format("a record that is {}", bad.what));
    }
    const TxnOutcome written = co_await c.write(inside, put(5));
    story.expect(written.committed, "C, inside all the while, writes");
    c.unlock(inside);
  });
}

}  // namespace

std::vector<Scenario> homeMapFaultScenarios() {
  using protocol::Rule;
  constexpr auto kExclusion = checkers::Checker::exclusion;
  return {
      {"S-47-home-maps",
       "HM-1, HM-3, HM-6, RT-3",
       "Forged, partial, padded, obsolete, oversized and unknown changes and records of maps change nothing.",
       {},
       &badMaps},
      {"S-49-rollback",
       "HM-6, HM-3",
       "An activation record of a generation that C has left behind arrives late and changes nothing.",
       {{Rule::HM6_Monotonic, kExclusion}},
       &rollback},
      {"S-49-two-maps",
       "HM-2, HM-1",
       "Two maps of one generation are about; nobody takes part until the operator publishes another.",
       {{Rule::HM2_CompareDigests, kExclusion}, {Rule::HM2_UnambiguousDigest, kExclusion}},
       &twoMaps},
      {"S-49-left-out",
       "HM-1, DG-2",
       "D is not named: it homes no key, not even for its own callers, and is refused by those who are.",
       {{Rule::HM1_NamedOnly, kExclusion}},
       &leftOut},
      {"S-49-home-away",
       "HM-7",
       "A home that can not be reached keeps its keys, and all other keys can be had.",
       {{Rule::HM7_NoRehoming, kExclusion}},
       &homeAway},
  };
}

}  // namespace holdfast::scenarios
