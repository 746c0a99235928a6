// Leases and clocks (S-10 to S-15): how long a delegation and a handle are good for, and by whose clock.
//
// Most of these stories make the link from the home A to the delegate B slow or deaf on purpose, so that a
// delegation ends by the two clocks alone and not by a recall.
#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using protocol::Rule;

using parts::callFor;

/// Key k at home A; memberships that outlast the story; B sends a request once, so that its reply may take
/// any time.
StoryOptions patientRequests() {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.protocol.epochLease = 60_s;
  options.protocol.renewEvery = 10_s;
  protocol::ProtocolOptions patient = options.protocol;
  patient.retryEvery = 60_s;
  options.overrides.push_back({NodeId{1}, patient, {}, {}, 0});
  return options;
}

/// The home's recalls to the delegate are lost, all of them.
void loseRecalls(Story& story, std::string_view home, std::string_view delegate) {
  story.cluster().dropNext(story.id(home), story.id(delegate), MessageKind::lockRecall, 1'000'000);
}

std::size_t rejections(const Story& story, obs::GrantRejection why) {
  return story.count<obs::GrantRejected>([why](const obs::GrantRejected& r, NodeId) { return r.why == why; });
}

/// Hand-backs that the home met, and whether they cleared the grant.
std::size_t handBacks(const Story& story, bool cleared) {
  return story.count<obs::HandBackSeen>(
      [cleared](const obs::HandBackSeen& seen, NodeId) { return seen.cleared == cleared; });
}

// ---- S-10 -------------------------------------------------------------------------------------------------

/// A's reply to B takes `after` from the sending of the request, and A's recalls to B are lost; C asks as
/// well and waits behind B. C stays inside for `inside` and then writes.
struct LateReply {
  LockOutcome b;
  LockOutcome c;
  TrueInstant asked;
  TrueInstant left;  // when C's write had settled
  std::int64_t readByB = 0;
};

Task<> lateReply(Story& story, Duration after, Duration inside, LateReply& seen) {
  const StoryNode b = story.node("B");
  const StoryNode c = story.node("C");
  seen.asked = story.now();
  story.cluster().delayLink(story.id("A"), story.id("B"), after - story.options().latency * 2);
  loseRecalls(story, "A", "B");
  const Pending<LockOutcome> ofB = b.lock("k", callFor(20_s, 5_s));
  co_await story.sleep(1_s);
  story.also([&story, &seen, c, inside]() -> Task<> {
    seen.c = co_await c.lock("k", callFor(15_s, 5_s));
    co_await story.sleep(inside);
    const TxnOutcome written = co_await c.write(seen.c, put(7));
    story.expect(written.committed, "C's write commits");
    seen.left = story.now();
  });
  co_await story.sleep(seen.asked + after - story.now());
  story.cluster().delayLink(story.id("A"), story.id("B"), Duration{});
  seen.b = co_await ofB.answer();
  const auto read = co_await b.read(seen.b);
  seen.readByB = read.values[0];
  co_await story.sleep(1_s);
  b.unlock(seen.b);
}

ScenarioResult lateGrant(ScenarioContext& context) {
  Story story(context, patientRequests());
  LateReply seen;
  return story.run([&]() -> Task<> {
    const protocol::ProtocolOptions& protocol = story.options().protocol;
    co_await lateReply(story, protocol.maxDelegation + 1_s, 650_ms, seen);
    const TrueInstant expired = seen.asked + story.options().latency + protocol.maxDelegation + protocol.skew;
    story.expectEqual(seen.c.path, obs::Path::recovery, "C's path once the home has waited B's grant out");
    story.expectAtLeast(seen.c.at, expired, "C's admission");
    story.expectAtMost(seen.c.at, expired + 50_ms, "C's admission");
    story.expectEqual(rejections(story, obs::GrantRejection::late), 1U, "late grants that B refused");
    story.expectEqual(handBacks(story, false), 1U, "hand-backs of a grant that the home had given up");
    story.expectEqual(handBacks(story, true), 0U, "hand-backs that cleared a grant");
    story.expect(seen.b.admitted(), "B asks anew and is served in its turn");
    story.expectAtLeast(seen.b.at, seen.left, "B's admission, after C left");
    story.expectEqual(seen.readByB, 7, "what B reads");
  });
}

ScenarioResult grantTooShort(ScenarioContext& context) {
  Story story(context, patientRequests());
  LateReply seen;
  return story.run([&]() -> Task<> {
    const protocol::ProtocolOptions& protocol = story.options().protocol;
    const Duration after = protocol.maxDelegation - 100_ms;  // leaves a tenth of minUseful
    co_await lateReply(story, after, 300_ms, seen);
    story.expectEqual(rejections(story, obs::GrantRejection::late), 1U, "grants too short for B");
    story.expectEqual(handBacks(story, true), 1U, "hand-backs that freed the key");
    story.expectEqual(story.count<obs::GrantExpired>(), 0U, "grants that had to be waited out");
    story.expectEqual(seen.c.at - seen.asked, after + story.options().latency * 2,
                      "C's admission, by the hand-back and not by expiry");
    story.expectEqual(seen.c.path, obs::Path::clean, "C's path: nobody was ever admitted before");
    story.expect(seen.b.admitted(), "B asks anew and is served in its turn");
    story.expectEqual(seen.readByB, 7, "what B reads");
  });
}

// ---- S-11 -------------------------------------------------------------------------------------------------

ScenarioResult anchoredAtSend(ScenarioContext& context) {
  Story story(context, patientRequests());
  return story.run([&]() -> Task<> {
    const protocol::ProtocolOptions& protocol = story.options().protocol;
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const TrueInstant asked = story.now();
    const Duration reply = 6'500_ms;
    story.cluster().delayLink(story.id("A"), story.id("B"), reply - story.options().latency * 2);
    const Pending<LockOutcome> ofB = b.lock("k", callFor(20_s, 5_s));
    co_await story.sleep(3_s);  // what A sends from here on arrives after B's delegation
    const Pending<LockOutcome> ofC = c.lock("k", callFor(15_s, 5_s));

    const LockOutcome lockOfB = co_await ofB.answer();
    story.expectEqual(lockOfB.at - asked, reply, "time that A's reply took to B");
    story.expectEqual(lockOfB.lease, protocol.maxDelegation - reply,
                      "B's lease: what is left of the delegation since its request was sent");
    const TxnOutcome inTime = co_await b.stage(b.begin(), lockOfB, put(5));
    story.expect(inTime.staged, "B stages inside its lease");
    const LockOutcome lockOfC = co_await ofC.answer();
    story.expectEqual(lockOfC.path, obs::Path::recovery, "C's path");
    story.expectAtLeast(lockOfC.at - asked, protocol.maxDelegation + protocol.skew, "C's admission");
    const TxnOutcome tooLate = co_await b.submit(inTime.txn);
    story.expectEqual(tooLate.error, obs::ErrorClass::conflict409, "B's submission after its lease");
    story.expectEqual(tooLate.cause, Cause::expired, "why B's submission is refused");
    const TxnOutcome written = co_await c.write(lockOfC, put(7));
    story.expect(written.committed, "C's write commits");
  });
}

// ---- S-12 -------------------------------------------------------------------------------------------------

/// B, the holder, runs slow and A, the home, runs fast, each by `drift` ppb; A's recalls to B are lost.
struct Drift {
  TrueInstant endOfB;  // when B's last lease ended by its own clock
  TrueInstant admissionOfC;
};

StoryOptions driftOptions(std::int64_t drift) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.protocol.epochLease = 60_s;
  options.protocol.renewEvery = 10_s;
  options.latency = 100_us;
  options.applyDelay = 100_us;
  options.commitDelay = 100_us;
  options.clocks.resize(3);
  options.clocks[0].ratePpb = drift;
  options.clocks[1].ratePpb = -drift;
  return options;
}

Task<> driftApart(Story& story, Drift& seen) {
  const StoryNode b = story.node("B");
  const MonotonicInstant begun = b.monotonicNow();
  loseRecalls(story, "A", "B");
  const LockOutcome first = co_await b.lock("k", callFor(5_s, 500_ms));
  b.unlock(first);
  // B comes back to its delegation as late as it may, and holds on to the end of it.
  co_await b.sleep(begun + story.options().protocol.maxDelegation - 1'200_ms - b.monotonicNow());
  const Pending<LockOutcome> ofC = story.node("C").lock("k", callFor(10_s, 5_s));
  const LockOutcome last = co_await b.lock("k", callFor(5_s, 5_s, true));
  story.expectEqual(last.path, obs::Path::cached, "the path of B's last admission");
  const auto admitted =
      story.last<obs::Admitted>([&](const obs::Admitted& a, NodeId) { return a.call == last.call; });
  if (admitted) seen.endOfB = story.cluster().monotonic(b.id()).whenReads(admitted->second.deadline);
  const LockOutcome next = co_await ofC.answer();
  story.expectEqual(next.path, obs::Path::recovery, "C's path");
  seen.admissionOfC = next.at;
  co_await story.sleep(std::max(Duration{}, seen.endOfB - story.now()));
  const TxnOutcome written = co_await story.node("C").write(next, put(7));
  story.expect(written.committed, "C's write commits");
}

ScenarioResult driftInside(ScenarioContext& context) {
  const std::int64_t covered = driftCovered(protocol::ProtocolOptions{});
  Story story(context, driftOptions(covered));
  return story.run([&]() -> Task<> {
    Drift seen;
    co_await driftApart(story, seen);
    story.expectAtLeast(seen.admissionOfC, seen.endOfB, "C's admission, against the end of B's lease");
    story.note(fmt::format("clocks {:.4f} % off, either way: C is admitted {:.3f} ms after B's lease ended",
                           static_cast<double>(covered) / 1e7,
                           static_cast<double>((seen.admissionOfC - seen.endOfB).ns) / 1e6));
  });
}

/// The run just inside is the scenario's own. The run just outside is made beside it, and its end in a
/// violation is what is expected: the assumption about the clocks was broken, not a rule.
ScenarioResult driftOutside(ScenarioContext& context) {
  const std::int64_t covered = driftCovered(protocol::ProtocolOptions{});
  const std::int64_t beyond = covered + 500'000;
  Drift inside;
  Story within(context, driftOptions(covered));
  ScenarioResult result = within.run([&]() -> Task<> {
    co_await driftApart(within, inside);
    within.expectAtLeast(inside.admissionOfC, inside.endOfB, "just inside, C's admission");
  });

  ScenarioContext beside{context.seed, context.rules, nullptr, nullptr};
  Drift outside;
  Story without(beside, driftOptions(beyond));
  const ScenarioResult violated = without.run([&]() -> Task<> { co_await driftApart(without, outside); });
  const checkers::Finding* const overlap =
      violated.report.findings.first(checkers::Anomaly::overlappingAdmissions);
  const Duration both = outside.endOfB - outside.admissionOfC;
  result.expectations += violated.expectations + 2;
  result.unmet.insert(result.unmet.end(), violated.unmet.begin(), violated.unmet.end());
  result.brokenOutside = overlap != nullptr;
  if (overlap == nullptr) result.unmet.emplace_back("just outside: no overlapping admissions were found");
  if (both <= Duration{}) result.unmet.emplace_back("just outside: C was admitted after B's lease ended");
  result.notes.push_back(
      fmt::format("clocks {:.4f} % off, {:.4f} % more than skew covers: two holders for {:.3f} ms",
                  static_cast<double>(beyond) / 1e7, static_cast<double>(beyond - covered) / 1e7,
                  static_cast<double>(both.ns) / 1e6));
  if (overlap != nullptr) {
    result.notes.push_back("just outside: " + checkers::describe(*overlap, {violated.report.nodeNames,
                                                                            violated.report.keyNames}));
  }
  return result;
}

// ---- S-13 -------------------------------------------------------------------------------------------------

ScenarioResult wallClocks(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.clocks.resize(3);
  options.clocks[0].wallOffset = 3_h;
  options.clocks[1].wallOffset = Duration{} - 5_h;
  options.clocks[2].wallOffset = 1_h;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome back = co_await b.lock("k", callFor(5_s, 2_s));
    story.cluster().jumpWall(b.id(), Duration{} - 4_h);
    const TxnOutcome inTime = co_await b.stage(b.begin(), back, put(5));
    story.expect(inTime.staged, "B stages in time although its wall clock went back by hours");
    co_await story.sleep(2_s);
    const TxnOutcome late = co_await b.submit(inTime.txn);
    story.expectEqual(late.cause, Cause::expired, "B's submission after two seconds, whatever its wall says");

    const LockOutcome ahead = co_await b.lock("k", callFor(5_s, 2_s));
    story.cluster().jumpWall(b.id(), 9_h);
    story.cluster().jumpWall(story.id("A"), 9_h);
    const TxnOutcome written = co_await b.write(ahead, put(6));
    story.expect(written.committed, "B's write commits although its wall clock went on by hours");
    story.cluster().jumpWall(c.id(), 9_h);
    const LockOutcome next = co_await c.lock("k");
    story.expectEqual(next.path, obs::Path::clean, "C's path");
    const auto read = co_await c.read(next);
    story.expectEqual(read.values[0], 6, "what C reads");
    c.unlock(next);
  });
}

ScenarioResult monotonicOffsets(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.protocol.epochLease = 60_s;
  options.protocol.renewEvery = 10_s;
  options.clocks.resize(3);
  options.clocks[0].monotonic = {(1_h).ns};
  options.clocks[2].monotonic = {(20_s).ns};
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const Duration delegation = story.options().protocol.maxDelegation;
    loseRecalls(story, "A", "B");
    const LockOutcome ofB = co_await story.node("B").lock("k", callFor(5_s, 30_s));
    const Duration travel = story.options().latency * 2;
    story.expectEqual(ofB.lease, delegation - travel, "B's lease by B's clock, which reads an hour less");
    const LockOutcome ofC = co_await story.node("C").lock("k", callFor(15_s, 5_s));
    story.expectEqual(ofC.path, obs::Path::recovery, "C's path");
    story.expectAtLeast(ofC.at - ofB.at, ofB.lease, "C's admission, against the end of B's lease");
    story.node("C").unlock(ofC);
  });
}

// ---- S-14 -------------------------------------------------------------------------------------------------

ScenarioResult pausedPastDeadline(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    (void)co_await a.writeUnlocked("k", put(100));
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 3_s));
    const TxnOutcome staged = co_await b.stage(b.begin(), ofB, put(150));
    story.expect(staged.staged, "B stages inside its lease");
    b.pause();
    co_await story.sleep(300_ms);
    // The program's next step waits in the suspended process, ahead of every timer that is due meanwhile.
    const Pending<TxnOutcome> submission = b.submit(staged.txn);
    const LockOutcome ofC = co_await c.lock("k", callFor(15_s, 5_s));
    story.expectEqual(ofC.path, obs::Path::recovery, "C's path");
    const auto read = co_await c.read(ofC);
    story.expectEqual(read.values[0], 100, "what C reads");
    b.resume();
    const TxnOutcome late = co_await submission.answer();
    story.expectEqual(late.error, obs::ErrorClass::conflict409, "B's submission after its pause");
    story.expectEqual(late.cause, Cause::expired, "why it is refused");
    const TxnOutcome written = co_await c.write(ofC, put(80));
    story.expect(written.committed, "C's write commits");
    co_await story.sleep(1_s);
    const auto record = story.cluster().record(a.id(), story.key("k"));
    story.expectEqual(record.values[0], 80, "the record in the end");
  });
}

ScenarioResult lateLanding(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const protocol::ProtocolOptions& protocol = story.options().protocol;
    const StoryNode a = story.node("A");
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    (void)co_await a.writeUnlocked("k", put(100));
    const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 3_s));
    const TrueInstant granted = story.now();
    const TxnOutcome staged = co_await b.stage(b.begin(), ofB, put(150));
    story.cluster().delayNextCommit(b.id(), EntryKind::transaction, 12_s);
    const Pending<TxnOutcome> submission = b.submit(staged.txn);
    co_await story.sleep(10_ms);
    b.pause();
    const Pending<LockOutcome> ofC = c.lock("k", callFor(15_s, 8_s));
    co_await story.sleep(granted + protocol.maxDelegation - story.now());
    b.resume();  // its delegation is over, its commit is not
    const LockOutcome next = co_await ofC.answer();
    story.expectEqual(next.path, obs::Path::recovery, "C's path");
    const auto read = co_await c.read(next);
    story.expectEqual(read.values[0], 100, "what C reads, as B's commit is still under way");
    const TxnOutcome landed = co_await submission.answer();
    story.expect(landed.committed, "B is told that its commit succeeded");
    story.expectEqual(landed.error, obs::ErrorClass::none, "the error that B sees");
    story.expectAtLeast(landed.at, next.at, "the settlement, against C's admission");
    const TxnOutcome written = co_await c.write(next, put(80));
    story.expectEqual(written.error, obs::ErrorClass::none, "the error that C sees");
    story.expect(written.committed, "C's write commits");
    const checkers::Findings& findings = story.cluster().checkers().findings();
    story.expect(findings.first(checkers::Route::l2c, checkers::Anomaly::staleRead) != nullptr,
                 "the stale read is reported as limitation L-2c");
    co_await story.sleep(1_s);
    const auto record = story.cluster().record(a.id(), story.key("k"));
    story.expectEqual(record.values[0], 80, "the record in the end, which no serial execution gives");
  });
}

// ---- S-15 -------------------------------------------------------------------------------------------------

ScenarioResult boundedByEpoch(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.protocol.epochLease = 4_s;
  options.protocol.renewEvery = 2_s;
  options.protocol.maxDelegation = 30_s;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    co_await story.untilSeen<obs::MembershipRenewed>(
        [&](const auto&, NodeId node) { return node == b.id(); });
    co_await story.sleep(500_ms);
    const LockOutcome lock = co_await b.lock("k", callFor(5_s, 20_s, true));
    const auto renewed =
        story.last<obs::MembershipRenewed>([&](const auto&, NodeId node) { return node == b.id(); });
    const auto sent = story.last<obs::MessageSent>([&](const obs::MessageSent& message, NodeId node) {
      return node == b.id() && message.message == MessageKind::membershipRenew;
    });
    const MonotonicInstant epochEnds =
        story.cluster().monotonic(b.id()).at(sent.value().first.at) + story.options().protocol.epochLease;
    story.expectEqual(renewed.value().second.deadline, epochEnds,
                      "B's epoch lease counts from its renewal's sending");
    story.expectEqual(lock.lease, epochEnds - b.monotonicNow(), "the lease of the handle: the epoch's");
    const LockOutcome again = co_await b.reenter(lock, 25_s, true);
    story.expectEqual(again.lease, epochEnds - b.monotonicNow(), "re-entry and hold do not extend it");
    b.unlock(lock);

    story.cluster().isolate(b.id());
    co_await story.sleep(story.options().protocol.epochLease + 10_ms);
    const LockOutcome alone = co_await b.lock("k", callFor(1_s, 5_s));
    story.expectEqual(alone.error, obs::ErrorClass::lockUnavailable503, "B's lock without a live epoch");
    story.expectEqual(alone.cause, Cause::noMembership, "why: its delegation would still run");
    if (alone.admitted()) b.unlock(alone);
    story.cluster().healAll();
    co_await story.sleep(3_s);
    const LockOutcome healed = co_await b.lock("k", callFor(5_s, 1_s));
    story.expectEqual(healed.path, obs::Path::cached, "the path once B's epoch is live again");
    b.unlock(healed);
  });
}

ScenarioResult boundedByDelegation(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.protocol.epochLease = 60_s;
  options.protocol.renewEvery = 10_s;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    loseRecalls(story, "A", "B");
    const MonotonicInstant sent = b.monotonicNow();
    const MonotonicInstant ends = sent + story.options().protocol.maxDelegation;
    const LockOutcome lock = co_await b.lock("k", callFor(5_s, 20_s));
    story.expectEqual(lock.lease, ends - b.monotonicNow(), "the lease of the handle: the delegation's");
    co_await story.sleep(2_s);
    const LockOutcome again = co_await b.reenter(lock, 20_s, true);
    story.expectEqual(again.lease, ends - b.monotonicNow(), "re-entry and hold do not extend it");
    const LockOutcome next = co_await story.node("C").lock("k", callFor(15_s, 1_s));
    story.expectEqual(next.path, obs::Path::recovery, "C's path");
    story.expectAtLeast(b.monotonicNow(), ends, "B's clock when C is admitted");
    const TxnOutcome late = co_await b.stage(b.begin(), lock, put(5));
    story.expectEqual(late.cause, Cause::expired, "why B can not stage any more");
    story.node("C").unlock(next);
  });
}

ScenarioResult boundedByRequest(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const LockOutcome lock = co_await b.lock("k", callFor(5_s, 700_ms));
    story.expectEqual(lock.lease, Duration(700_ms), "the lease of the handle: what was asked for");
    co_await story.sleep(500_ms);
    const LockOutcome again = co_await b.reenter(lock, 700_ms);
    story.expectEqual(again.lease, Duration(700_ms), "a re-entry counts anew, from now");
    const LockOutcome shorter = co_await b.reenter(lock, 100_ms);
    story.expectEqual(shorter.lease, Duration(700_ms), "a shorter re-entry takes nothing away");
    co_await story.sleep(699_ms);
    const TxnOutcome inTime = co_await b.stage(b.begin(), lock, put(5));
    story.expect(inTime.staged, "staged a millisecond before the end of the lease");
    co_await story.sleep(1_ms);
    const TxnOutcome late = co_await b.submit(inTime.txn);
    story.expectEqual(late.cause, Cause::expired, "the submission at the end of the lease");
    const LockOutcome dead = co_await b.reenter(lock, 5_s);
    story.expectEqual(dead.cause, Cause::expired, "re-entry into what has lapsed");
  });
}

}  // namespace

std::vector<Scenario> leaseScenarios() {
  constexpr auto kExclusion = checkers::Checker::exclusion;
  return {
      {"S-10-late-grant",
       "DG-5, DG-3",
       "A's grant reaches B a second after the delegation it gives: B hands it back and asks again.",
       {{Rule::DG5_MinUseful, kExclusion}},
       &lateGrant},
      {"S-10-grant-too-short",
       "DG-5, DG-8",
       "A's grant leaves B less than is useful: B hands it back at once, and C need not wait for its end.",
       {{Rule::DG5_MinUseful, kExclusion}},
       &grantTooShort},
      {"S-11-anchored-at-send",
       "DG-4, DG-3, LH-3",
       "A's grant is under way for most of its term; what is left to B counts from when B had asked.",
       {{Rule::DG4_AnchorAtSend, kExclusion}},
       &anchoredAtSend},
      {"S-12-drift-inside",
       "CK-3, DG-3",
       "The holder's clock is slow and the home's fast by all that skew covers, and C waits for both.",
       {{Rule::CK3_SkewMargin, kExclusion}},
       &driftInside},
      {"S-12-drift-outside",
       "CK-3",
       "The same with clocks a little further apart than skew covers: two holders, and for how long.",
       {},
       &driftOutside},
      {"S-13-wall-clocks",
       "CK-5, CK-1, LH-3",
       "Wall clocks are hours apart and jump both ways; leases do not notice.",
       {{Rule::CK5_MonotonicLeases, kExclusion}},
       &wallClocks},
      {"S-13-monotonic-offsets",
       "CK-2, CK-3",
       "The home's monotonic clock reads an hour more than the delegate's; the delegate counts by its own.",
       {{Rule::CK2_DurationsOnly, kExclusion}},
       &monotonicOffsets},
      {"S-14-paused-past-deadline",
       "CK-4, LH-3",
       "B's process sleeps past its lease between staging and submission, and finds out when it submits.",
       {{Rule::LH3_CheckAtSubmission, kExclusion}, {Rule::CK4_ExpiryChecked, kExclusion}},
       &pausedPastDeadline},
      {"S-14-late-landing",
       "LH-3, FR-8",
       "B's commit was submitted in time and settles after the successor measured its barrier (L-2c).",
       {},
       &lateLanding},
      {"S-15-bounded-by-epoch",
       "LH-2, EP-6",
       "The epoch lease ends before the delegation: it bounds handles, and without it B admits nobody.",
       {{Rule::EP6_MinorityStops, kExclusion}, {Rule::EP6_LeaseAtSend, checkers::Checker::membership}},
       &boundedByEpoch},
      {"S-15-bounded-by-delegation",
       "LH-2, DG-3",
       "The delegation is shortest: no lease, re-entry or hold outlasts it.",
       {{Rule::LH2_BoundedHandle, kExclusion}, {Rule::LH2_BoundedReentry, kExclusion}},
       &boundedByDelegation},
      {"S-15-bounded-by-request",
       "LH-2, LH-3",
       "The requested lease is shortest: it ends to the millisecond, re-entry renews it, and a lapsed one is "
       "dead.",
       {{Rule::LH2_LapseIsFinal, kExclusion}},
       &boundedByRequest},
  };
}

}  // namespace holdfast::scenarios
