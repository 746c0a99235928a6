// The smaller rules, one story each: who may arbitrate, which answers count, and what is contained.
//
// Names say the rule. Where a story's negative is that a key can not be had, nothing in it is at fault but
// what it says, so it calls the cluster healed at its start and liveness is judged at once.
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "protocol/routing.hpp"
#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using parts::callFor;
using parts::longEpochs;

/// The options with a table in which the story's key meets `wanted`; hashes decide, so some table does.
template <class Wanted>
StoryOptions withKey(ScenarioContext& context, StoryOptions options, Wanted&& wanted) {
  for (int i = 0; i < 10'000; ++i) {
    options.keys.front().table = fmt::format("accounts{}", i);
    Story probe(context, options);
    if (wanted(probe.cluster().directory())) return options;
  }
  throw std::runtime_error("no table was found that has a key as the story wants it");
}

/// How much of something the node keeps now.
std::uint64_t retained(Story& story, StoryNode node, obs::Retained what) {
  protocol::Effects effects;
  const sim::WallInstant wall{node.wallNow().ns};
  const protocol::Node* const running = story.cluster().node(node.id());
  if (running != nullptr) running->reportRetained(protocol::Context{node.monotonicNow(), wall, effects});
  for (const obs::Observation& observation : effects.observations) {
    const auto* const count = std::get_if<obs::RetainedCount>(&observation);
    if (count != nullptr && count->what == what) return count->count;
  }
  throw std::runtime_error("the node does not report what it keeps");
}

/// C asks while B is inside: B is recalled, has its grace, and then it is C's turn.
Task<LockOutcome> takenOver(Story& story, StoryNode next) {
  const TrueInstant asked = story.now();
  const LockOutcome lock = co_await next.lock("k", callFor(5_s, 2_s));
  story.expect(lock.admitted(), "the next one is admitted in the end");
  story.expectAtLeast(lock.at - asked, story.options().protocol.recallGrace, "its wait, while B is inside");
  next.unlock(lock);
  co_return lock;
}

// ---- Clear of duplicates and late answers -----------------------------------------------------------------

ScenarioResult oneDelegate(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const LockOutcome ofB = co_await story.node("B").lock("k", callFor(5_s, 5_s, true));
    co_await story.sleep(1_s);
    const LockOutcome ofC = co_await takenOver(story, story.node("C"));
    story.expect(ofC.token > ofB.token, "tokens increase");
    story.expectEqual(story.count<obs::Granted>(), 2U, "grants");
  });
}

ScenarioResult answerToAnotherRequest(ScenarioContext& context) {
  Story story(context, longEpochs());
  LockOutcome ofC;
  return story.run([&]() -> Task<> {
    const NodeId a = story.id("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const TrueInstant asked = story.now();
    const Duration reply = 7_s;
    story.cluster().delayLink(a, b.id(), reply - story.options().latency * 2);
    const Pending<LockOutcome> ofB = b.lock("k", callFor(20_s, 5_s));
    story.cluster().dropNext(b.id(), a, MessageKind::lockRequest, 7);  // B's retries until then
    story.cluster().dropNext(a, b.id(), MessageKind::lockRecall, 100);
    co_await story.sleep(2_s);
    story.also([&story, &ofC, c]() -> Task<> {
      ofC = co_await c.lock("k", callFor(15_s, 5_s));
      co_await story.sleep(100_ms);
      const TxnOutcome written = co_await c.write(ofC, put(7));
      story.expect(written.committed, "C's write commits");
    });
    co_await story.sleep(asked + reply - story.now());
    story.cluster().delayLink(a, b.id(), Duration{});
    const LockOutcome lock = co_await ofB.answer();
    const auto unmatched = [](const obs::GrantRejected& rejected, NodeId) {
      return rejected.why == obs::GrantRejection::unmatched;
    };
    story.expectEqual(story.count<obs::GrantRejected>(unmatched), 1U,
                      "grants that answer a request which B has given up");
    story.expectEqual(ofC.at - asked, reply + story.options().latency * 2, "C's admission, by B's hand-back");
    story.expect(lock.admitted(), "B is served by a later request");
    const auto read = co_await b.read(lock);
    story.expectEqual(read.values[0], 7, "what B reads");
    co_await story.sleep(2_s);
    b.unlock(lock);
  });
}

ScenarioResult duplicateRequest(ScenarioContext& context) {
  StoryOptions options = longEpochs();
  options.checkers.livenessBound = 1_ms;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    story.cluster().duplicate(b.id(), story.id("A"), MessageKind::lockRequest, 300_ms);
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 1_s));
    b.unlock(ofB);
    story.cluster().healEverything();
    co_await story.sleep(500_ms);
    story.expectEqual(story.count<obs::Granted>(), 1U, "tokens minted for a request that came twice");
    story.expectEqual(story.messages(MessageKind::lockGrant), 2U, "replies, both with the one token");
    const TrueInstant asked = story.now();
    const LockOutcome ofC = co_await story.node("C").lock("k", callFor(3_s, 1_s));
    story.expectEqual(ofC.path, obs::Path::clean, "C's path");
    story.expectEqual(ofC.at - asked,
                      story.options().latency * 4 + story.options().commitDelay + story.options().applyDelay,
                      "C's wait: B knows the token that is recalled");
    if (ofC.admitted()) story.node("C").unlock(ofC);
  });
}

ScenarioResult duplicateGrant(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    story.cluster().duplicate(story.id("A"), b.id(), MessageKind::lockGrant, 500_ms);
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 5_s, true));
    co_await story.sleep(1_s);
    story.expectEqual(story.count<obs::GrantRejected>(), 1U, "replies that nobody waited for");
    story.expectEqual(story.messages(MessageKind::lockHandBack), 0U, "hand-backs of what B is inside under");
    (void)co_await takenOver(story, story.node("C"));
    const TxnOutcome late = co_await b.stage(b.begin(), ofB, put(5));
    story.expectEqual(late.cause, Cause::revoked, "B's handle after the recall");
  });
}

ScenarioResult supersededGrant(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const NodeId a = story.id("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome ofC = co_await c.lock("k", callFor(5_s, 5_s, true));
    story.expect(ofC.admitted(), "C is inside");
    co_await story.sleep(1_s);
    const Pending<LockOutcome> ofB = b.lock("k", callFor(5_s, 2_s));
    // What A might have answered in an earlier membership to the request that B has out.
    protocol::LockGrant grant;
    grant.token = {ofC.token.membership - 1, 1, 99};
    grant.request = {1, 1};
    grant.key = story.key("k");
    grant.duration = story.options().protocol.maxDelegation;
    story.cluster().injectMessage(a, b.id(), grant, 5_ms);
    const LockOutcome lock = co_await ofB.answer();
    const auto superseded = [](const obs::GrantRejected& rejected, NodeId) {
      return rejected.why == obs::GrantRejection::superseded;
    };
    story.expectEqual(story.count<obs::GrantRejected>(superseded), 1U, "grants of an earlier membership");
    story.expectEqual(lock.token.membership, ofC.token.membership, "the membership of B's token");
    story.expectEqual(lock.path, obs::Path::clean, "B's path, after C's release");
    b.unlock(lock);
  });
}

// ---- One arbiter ------------------------------------------------------------------------------------------

std::vector<NodeId> nodesUpTo(std::uint16_t count) {
  std::vector<NodeId> nodes;
  for (std::uint16_t i = 0; i < count; ++i) nodes.push_back({i});
  return nodes;
}

ScenarioResult oneArbiter(ScenarioContext& context) {
  const std::vector<NodeId> stale{{1}, {2}};
  StoryOptions wanted = longEpochs();
  wanted.overrides.push_back({NodeId{2}, {}, {}, stale, 0});  // C believes that A is no member
  const StoryOptions options = withKey(context, wanted, [&](const protocol::Directory& directory) {
    return protocol::homeOf(directory, stale, KeyId{0}, protocol::kFirstRingVersion) == NodeId{1};
  });
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const LockOutcome ofB = co_await story.node("B").lock("k", callFor(5_s, 5_s, true));
    story.expect(ofB.admitted(), "B, whom A has granted the key, is inside");
    const LockOutcome ofC = co_await story.node("C").lock("k", callFor(1_s, 1_s));
    story.expectEqual(ofC.error, obs::ErrorClass::lockUnavailable503, "C's lock, for which it asked B");
    story.expectEqual(ofC.cause, Cause::notHome, "what B answers");
    story.expectEqual(story.count<obs::Granted>(), 1U, "grants");
    story.node("B").unlock(ofB);
  });
}

ScenarioResult membersOnly(ScenarioContext& context) {
  // X and Y have been removed, but think that they and A are the members, and keep each other alive.
  StoryOptions wanted = longEpochs();
  wanted.nodes = {"A", "B", "C", "X", "Y"};
  wanted.members = {"A", "B", "C"};
  const std::vector<NodeId> ownRing{{0}, {3}, {4}};
  wanted.overrides.push_back({NodeId{3}, {}, {}, ownRing, 0});
  wanted.overrides.push_back({NodeId{4}, {}, {}, ownRing, 0});
  const StoryOptions options = withKey(context, wanted, [&](const protocol::Directory& directory) {
    return protocol::homeOf(directory, ownRing, KeyId{0}, protocol::kFirstRingVersion) == NodeId{0};
  });
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const LockOutcome ofX = co_await story.node("X").lock("k", callFor(2_s, 1_s));
    story.expectEqual(ofX.error, obs::ErrorClass::lockUnavailable503, "the lock of a node that was removed");
    story.expectEqual(ofX.cause, Cause::notMember, "what A answers");
    story.expectEqual(retained(story, story.node("A"), obs::Retained::waiters), 0U, "what A keeps of it");
    const LockOutcome ofB = co_await story.node("B").lock("k", callFor(2_s, 1_s));
    story.expectEqual(ofB.path, obs::Path::virgin, "the path of a member");
    story.node("B").unlock(ofB);
  });
}

ScenarioResult memberHomes(ScenarioContext& context) {
  StoryOptions wanted = longEpochs();
  wanted.nodes = {"A", "B", "C", "X"};
  wanted.members = {"A", "B", "C"};
  wanted.checkers.livenessBound = 1_ms;
  const StoryOptions options = withKey(context, wanted, [](const protocol::Directory& directory) {
    return protocol::homeOf(directory, nodesUpTo(4), KeyId{0}, protocol::kFirstRingVersion) == NodeId{3};
  });
  Story story(context, options);
  return story.run([&]() -> Task<> {
    story.cluster().healEverything();
    co_await story.sleep(1_s);
    const LockOutcome ofB = co_await story.node("B").lock("k", callFor(2_s, 1_s));
    story.expectEqual(ofB.path, obs::Path::virgin, "B's path: the home is A although X has the greater hash");
    const auto granted = story.first<obs::Granted>();
    story.expect(granted && granted->first.node == story.id("A"), "it is A who grants");
    if (ofB.admitted()) story.node("B").unlock(ofB);
    const LockOutcome ofX = co_await story.node("X").lock("k", callFor(2_s, 1_s));
    story.expectEqual(ofX.cause, Cause::notMember, "what X itself is told when it wants the key");
  });
}

ScenarioResult versionsAgree(ScenarioContext& context) {
  StoryOptions wanted = longEpochs();
  protocol::ProtocolOptions newer = wanted.protocol;
  newer.ringVersion = protocol::kLastRingVersion;
  wanted.overrides.push_back({NodeId{2}, newer, {}, {}, 0});
  const StoryOptions options = withKey(context, wanted, [](const protocol::Directory& directory) {
    return protocol::homeOf(directory, nodesUpTo(3), KeyId{0}, protocol::kLastRingVersion) == NodeId{2};
  });
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const LockOutcome ofB = co_await story.node("B").lock("k", callFor(5_s, 5_s, true));
    story.expect(ofB.admitted(), "B, whom A has granted the key, is inside");
    const LockOutcome ofC = co_await story.node("C").lock("k", callFor(1_s, 1_s));
    story.expectEqual(ofC.error, obs::ErrorClass::lockUnavailable503,
                      "the lock of the node that hashes anew");
    story.expectEqual(ofC.cause, Cause::noMembership, "why: nobody keeps its membership alive");
    const auto refused = [](const obs::MessageRefused& message, NodeId) {
      return message.cause == Cause::version;
    };
    story.expectAtLeast(story.count<obs::MessageRefused>(refused), 2U, "renewals refused for their version");
    story.node("B").unlock(ofB);
  });
}

ScenarioResult namesIdentify(ScenarioContext& context) {
  // Three nodes number their peers each in its own way, so that each would find itself to be the home.
  const auto ownNumbers = [](std::uint16_t self) {
    std::vector<std::uint16_t> ids;
    for (std::uint16_t j = 0; j < 3; ++j) ids.push_back(static_cast<std::uint16_t>((j + 3 - self) % 3));
    return ids;
  };
  const StoryOptions options = withKey(context, longEpochs(), [&](const protocol::Directory& directory) {
    const NodeId home = protocol::homeByShortId(directory, nodesUpTo(3), ownNumbers(1), KeyId{0},
                                                protocol::kFirstRingVersion);
    return home == NodeId{1};
  });
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const LockOutcome ofB = co_await story.node("B").lock("k", callFor(5_s, 5_s, true));
    story.expect(ofB.admitted(), "B is inside");
    co_await story.sleep(1_s);
    (void)co_await takenOver(story, story.node("C"));
    const auto byOther = [&](const obs::Granted&, NodeId home) { return home != story.id("A"); };
    story.expectEqual(story.count<obs::Granted>(byOther), 0U, "grants by anyone but the home");
  });
}

// ---- Containment ------------------------------------------------------------------------------------------

ScenarioResult closedAdmission(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const auto first = co_await b.update("k", put(5));
    story.expect(first.write.committed, "B's write commits");
    co_await story.sleep(1_s);
    story.cluster().delayNextCommit(b.id(), EntryKind::release, 500_ms);
    const TrueInstant asked = story.now();
    const Pending<LockOutcome> ofC = c.lock("k", callFor(5_s, 5_s));
    co_await story.sleep(200_ms);  // B's release is on its way to B's disk
    const Pending<LockOutcome> another = b.lock("k", callFor(5_s, 3_s, true));
    const LockOutcome lockOfC = co_await ofC.answer();
    story.expectEqual(lockOfC.at - asked, story.options().latency * 4 + 500_ms + story.options().applyDelay,
                      "C's admission");
    const auto read = co_await c.read(lockOfC);
    story.expectEqual(read.values[0], 5, "what C reads");
    const TxnOutcome written = co_await c.write(lockOfC, put(6));
    story.expect(written.committed, "C's write commits");
    const LockOutcome lockOfB = co_await another.answer();
    story.expect(lockOfB.token > lockOfC.token,
                 "B's next caller comes after C, under a delegation of its own");
    b.unlock(lockOfB);
  });
}

ScenarioResult capacity(ScenarioContext& context) {
  StoryOptions options = longEpochs();
  options.keys = {{"k", "A"}, {"m", "A"}};
  options.protocol.grantsPerTable = 1;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode c = story.node("C");
    const LockOutcome ofB = co_await story.node("B").lock("k", callFor(5_s, 5_s, true));
    story.expect(ofB.admitted(), "B has the one grant that the table may give");
    const LockOutcome another = co_await c.lock("m", callFor(1_s, 1_s));
    story.expectEqual(another.error, obs::ErrorClass::lockUnavailable503, "C's lock of another key");
    story.expectEqual(another.cause, Cause::capacity, "why it is refused");
    if (another.admitted()) c.unlock(another);
    (void)co_await takenOver(story, c);
    story.expectEqual(retained(story, story.node("A"), obs::Retained::grants), 1U, "grants at A");
  });
}

ScenarioResult localCapacity(ScenarioContext& context) {
  StoryOptions options = longEpochs();
  options.protocol.waitersPerKey = 1;
  Story story(context, options);
  return story.run([&]() -> Task<> { co_await oneLocalWaiter(story); });
}

ScenarioResult sweptHandles(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    for (int i = 0; i < 10; ++i) {
      const LockOutcome lock = co_await b.lock("k", callFor(5_s, 200_ms));
      story.expect(lock.admitted(), "B is admitted again and again");
      if (i % 2 == 0) b.unlock(lock);  // the others are left to lapse
    }
    const LockOutcome last = co_await b.lock("k", callFor(5_s, 200_ms));
    story.expectEqual(last.path, obs::Path::cached, "the path of the last admission");
    co_await story.sleep(story.options().protocol.sweepEvery * 2);
    story.expectEqual(retained(story, b, obs::Retained::handles), 0U, "handles kept after two sweeps");
  });
}

ScenarioResult refusedMessages(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const LockOutcome ofA = co_await a.lock("k", callFor(5_s, 5_s, true));
    story.expect(ofA.admitted(), "A is inside");
    co_await story.sleep(1_s);
    protocol::LockRequest old;
    old.membership = 7;
    old.request = {1, 1};
    old.key = story.key("k");
    old.wait = 5_s;
    story.cluster().injectMessage(story.id("C"), a.id(), old);
    co_await story.sleep(20_ms);
    const auto denied = story.first<obs::Denied>();
    story.expect(denied && denied->second.cause == Cause::membership, "a request of another membership");

    const Pending<LockOutcome> ofB = b.lock("k", callFor(5_s, 2_s));
    protocol::LockGrant grant;
    grant.token = {ofA.token.membership, 1, 99};
    grant.request = {1, 1};
    grant.key = story.key("k");
    grant.duration = story.options().protocol.maxDelegation;
    story.cluster().injectMessage(story.id("C"), b.id(), grant, 5_ms);
    const LockOutcome lock = co_await ofB.answer();
    const auto refused = [](const obs::MessageRefused& message, NodeId) {
      return message.message == MessageKind::lockGrant && message.cause == Cause::notHome;
    };
    story.expectEqual(story.count<obs::MessageRefused>(refused), 1U, "grants of a node that is not the home");
    story.expectEqual(lock.token.counter, ofA.token.counter + 1, "B's token, which is the home's next one");
    b.unlock(lock);
  });
}

ScenarioResult homeReplaced(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const protocol::ProtocolOptions& protocol = story.options().protocol;
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 6_s, true));
    co_await story.sleep(500_ms);
    story.cluster().replaceCoordinator(story.id("A"));
    const TrueInstant replaced = story.now();
    co_await story.sleep(100_ms);
    const LockOutcome early = co_await c.lock("k", callFor(2_s, 1_s));
    story.expectEqual(early.cause, Cause::quarantine, "C's lock while B may still be inside");
    if (early.admitted()) c.unlock(early);
    const LockOutcome ofC = co_await c.lock("k", callFor(15_s, 1_s));
    story.expectAtLeast(ofC.at - replaced, protocol.maxDelegation + protocol.skew, "C's admission");
    story.expectEqual(ofC.token.incarnation, ofB.token.incarnation + 1, "the home's incarnation");
    c.unlock(ofC);
  });
}

ScenarioResult delegateReplaced(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const LockOutcome before = co_await b.lock("k", callFor(5_s, 6_s, true));
    const TxnOutcome staged = co_await b.stage(b.begin(), before, put(5));
    story.expect(staged.staged, "B stages a write");
    story.cluster().replaceCoordinator(b.id());
    co_await story.sleep(100_ms);
    const LockOutcome after = co_await b.lock("k", callFor(5_s, 2_s));
    story.expect(after.admitted(), "another caller at B is admitted by the new coordinator");
    story.expect(after.token > before.token, "under a token of its own");
    const TxnOutcome late = co_await b.submit(staged.txn);
    story.expectEqual(late.error, obs::ErrorClass::conflict409, "the submission under the fenced handle");
    story.expectEqual(late.cause, Cause::revoked, "why it is refused");
    b.unlock(after);
  });
}

ScenarioResult oneCoordinator(ScenarioContext& context) {
  Story story(context, longEpochs());
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const LockOutcome onOwner = co_await b.lock("k", callFor(5_s, 5_s, true));
    LockCall call = callFor(5_s, 1_s);
    call.worker = 1;
    const Pending<LockOutcome> elsewhere = b.lock("k", call);
    co_await story.sleep(1_s);
    story.expect(!elsewhere.answered(), "a call on another worker waits like any other");
    b.unlock(onOwner);
    const LockOutcome relayed = co_await elsewhere.answer();
    story.expectEqual(relayed.path, obs::Path::cached, "its path: it was relayed to the one coordinator");
    story.expectEqual(relayed.token, onOwner.token, "its token");
    b.unlock(relayed);
  });
}

using checkers::Checker;
using protocol::Rule;

std::vector<Scenario> answerScenarios() {
  return {
      {"R-DG-3-one-delegate",
       "DG-3, DR-2",
       "C asks while B is inside; it is granted the key when B has released it, not when B was recalled.",
       {{Rule::DG3_OneDelegate, Checker::exclusion}},
       &oneDelegate},
      {"R-DG-6-answer-to-another-request",
       "DG-6, DG-4",
       "A's answer to B's first request arrives when B waits for its eighth: B hands the grant back.",
       {{Rule::DG6_MatchRequestId, Checker::exclusion}},
       &answerToAnotherRequest},
      {"R-DG-6-duplicate-request",
       "DG-6",
       "B's request arrives twice; the second time the home repeats its answer and mints nothing.",
       {{Rule::DG6_NoMintForDuplicate, Checker::liveness}},
       &duplicateRequest},
      {"R-DG-7-superseded-grant",
       "DG-7, TK-1",
       "A grant of an earlier membership answers B's request while C is inside; B hands it back.",
       {{Rule::DG7_MembershipRecheck, Checker::exclusion}},
       &supersededGrant},
      {"R-DG-8-duplicate-grant",
       "DG-8, DG-6",
       "A's reply arrives twice; B, who is inside under its token, must not hand that back.",
       {{Rule::DG8_NoHandBackWhileHolding, Checker::exclusion}},
       &duplicateGrant},
  };
}

std::vector<Scenario> arbiterScenarios() {
  return {
      {"R-DG-1-one-arbiter",
       "DG-1",
       "C's members are out of date and it asks B, which is not the home and says so.",
       {{Rule::DG1_OneArbiter, Checker::exclusion}},
       &oneArbiter},
      {"R-DG-2-members-only",
       "DG-2, EP-6",
       "Two nodes that were removed keep each other's membership alive; the home grants them nothing.",
       {{Rule::DG2_MembersOnly, Checker::exclusion}},
       &membersOnly},
      {"R-RT-1-member-homes",
       "RT-1, DG-2",
       "The greatest hash is that of a node which is no member; the key is homed at a member all the same.",
       {{Rule::RT1_MemberHomes, Checker::liveness}},
       &memberHomes},
      {"R-RT-3-versions-agree",
       "RT-3, EP-6",
       "A node with another ring version, by which it is the home itself, is not kept alive by the others.",
       {{Rule::RT3_VersionsAgree, Checker::exclusion}},
       &versionsAgree},
      {"R-RT-4-names-identify",
       "RT-4",
       "Each node numbers its peers in its own way; homes follow names, so all agree on one.",
       {{Rule::RT4_NamesIdentify, Checker::exclusion}},
       &namesIdentify},
  };
}

std::vector<Scenario> boundScenarios() {
  return {
      {"R-BD-1-capacity",
       "BD-1",
       "The table's only grant is B's; C is refused another key, and B's grant is not forgotten for it.",
       {{Rule::BD1_Caps, Checker::exclusion}},
       &capacity},
      {"R-BD-1-local-capacity",
       "BD-1, LH-1",
       "One caller of C waits, which is all that a key may have; C's next one is refused at once.",
       {},
       &localCapacity},
      {"R-BD-2-swept-handles",
       "BD-2",
       "Handles that were unlocked or have lapsed are gone after a sweep.",
       {{Rule::BD2_Sweep, Checker::retention}},
       &sweptHandles},
      {"R-BD-3-refused-messages",
       "BD-3, DG-1",
       "A request of another membership and a grant by a node that is not the home change nothing.",
       {{Rule::BD3_RefuseSuperseded, Checker::exclusion}},
       &refusedMessages},
      {"R-BD-4-home-replaced",
       "BD-4, DG-9, TK-2",
       "The home's coordinator is re-created while B is inside, and waits out what its predecessor granted.",
       {{Rule::BD4_FenceOnReplacement, Checker::exclusion}},
       &homeReplaced},
      {"R-BD-4-delegate-replaced",
       "BD-4, DR-2",
       "B's coordinator is re-created: the handles it had admitted are fenced before anyone else enters.",
       {{Rule::BD4_FenceOnReplacement, Checker::exclusion}},
       &delegateReplaced},
      {"R-BD-5-one-coordinator",
       "BD-5, LH-1",
       "A call on a worker that does not coordinate waits for the caller inside, like any other.",
       {{Rule::BD5_OneCoordinator, Checker::exclusion}},
       &oneCoordinator},
      {"R-DR-1-closed-admission",
       "DR-1, DR-4",
       "While B's release is on its way to the disk another caller comes to B; it is not let in any more.",
       {{Rule::DR1_CloseAdmission, Checker::exclusion}},
       &closedAdmission},
  };
}

}  // namespace

std::vector<Scenario> containmentScenarios() {
  std::vector<Scenario> all = answerScenarios();
  for (Scenario& scenario : arbiterScenarios()) all.push_back(std::move(scenario));
  for (Scenario& scenario : boundScenarios()) all.push_back(std::move(scenario));
  return all;
}

}  // namespace holdfast::scenarios
