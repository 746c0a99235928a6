// The node as a value: its answers step by step, its hash, and that no input whatever can break it (BD-3).

#include "protocol/node.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tests/protocol/node_driver.hpp"

namespace holdfast::protocol {
namespace {

constexpr NodeId kA{0};
constexpr NodeId kB{1};
constexpr NodeId kC{2};

CallLock lockCall(std::uint32_t call, KeyId key, bool hold = false) {
  return {CallId{call}, key, sim::seconds(4), sim::seconds(3), hold, 0};
}

TEST(Node, FirstLockOfAColdKeyCostsTwoMessagesAndTheNextOneNothing) {
  NodeDriver driver(3, 16);
  const KeyId key = driver.keyAt(kA);
  const std::size_t before = driver.sent;

  driver.input(kB, lockCall(1, key));
  ASSERT_NE(driver.lockReply(CallId{1}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{1})->error, ErrorClass::none);
  EXPECT_EQ(driver.lockReply(CallId{1})->path, Path::virgin);
  EXPECT_EQ(driver.sent - before, 2U);

  driver.input(kB, CallUnlock{CallId{1}});
  driver.input(kB, lockCall(2, key));
  ASSERT_NE(driver.lockReply(CallId{2}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{2})->path, Path::cached);
  EXPECT_EQ(driver.sent - before, 2U);
}

TEST(Node, AHomeThatLocksItsOwnKeySendsNothing) {
  NodeDriver driver(3, 16);
  const KeyId key = driver.keyAt(kA);
  const std::size_t before = driver.sent;
  driver.input(kA, lockCall(1, key));
  ASSERT_NE(driver.lockReply(CallId{1}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{1})->error, ErrorClass::none);
  EXPECT_EQ(driver.sent, before);
}

TEST(Node, AHandoffReleasesBehindTheWriteAndTheSuccessorComesByTheCleanPath) {
  NodeDriver driver(3, 16);
  const KeyId key = driver.keyAt(kA);
  driver.input(kB, lockCall(1, key));
  driver.input(kB,
               CallStage{TxnId{1}, CallId{1}, key, WriteOp::put, obs::kAllFields, {150, 0, 0, 0}, false, {}});
  driver.input(kB, CallSubmit{TxnId{1}});
  driver.input(kB, CallUnlock{CallId{1}});
  driver.advance(sim::milliseconds(300));  // the delegation has had its least tenure

  driver.input(kC, lockCall(2, key));
  ASSERT_NE(driver.lockReply(CallId{2}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{2})->path, Path::clean);
  const auto releases = driver.all<obs::ReleaseSeen>();
  ASSERT_EQ(releases.size(), 1U);
  EXPECT_TRUE(releases[0].cleared);
  ASSERT_NE(driver.node(kC).record(key), nullptr);
  EXPECT_EQ(driver.node(kC).record(key)->view().values[0], 150);
}

TEST(Node, AGrantThatComesLaterThanItsLeaseIsHandedBack) {
  NodeDriver driver(3, 16);
  const KeyId key = driver.keyAt(kA);
  driver.hold = true;
  driver.input(kB, CallLock{CallId{1}, key, sim::seconds(60), sim::seconds(3), false, 0});
  ASSERT_EQ(driver.underWay().size(), 1U);
  driver.deliver();  // the request
  driver.now = driver.now + sim::seconds(8);
  driver.deliver();  // the grant, one whole delegation later
  const auto rejected = driver.all<obs::GrantRejected>();
  ASSERT_EQ(rejected.size(), 1U);
  EXPECT_EQ(rejected[0].why, obs::GrantRejection::late);
  EXPECT_EQ(driver.all<obs::HandedBack>().size(), 1U);
  EXPECT_EQ(driver.all<obs::Admitted>().size(), 0U);
}

TEST(Node, CopiesBehaveAlikeAndHashAlike) {
  NodeDriver driver(3, 16);
  const KeyId key = driver.keyAt(kA);
  driver.input(kB, lockCall(1, key, true));
  Node copy = driver.node(kB);
  EXPECT_EQ(copy.canonicalHash(driver.now), driver.node(kB).canonicalHash(driver.now));
  Effects effects;
  copy.handle(CallUnlock{CallId{1}}, Context{driver.now, WallInstant{driver.now.ns}, effects});
  EXPECT_NE(copy.canonicalHash(driver.now), driver.node(kB).canonicalHash(driver.now));
  driver.input(kB, CallUnlock{CallId{1}});
  EXPECT_EQ(copy.canonicalHash(driver.now), driver.node(kB).canonicalHash(driver.now));
}

TEST(Node, TheHashSeesRemainingTimeAndNotTheReading) {
  NodeDriver early(3, 16);
  NodeDriver late(3, 16, {}, MonotonicInstant{sim::hours(7).ns});
  const KeyId key = early.keyAt(kA);
  for (NodeDriver* driver : {&early, &late}) {
    driver->advance(sim::milliseconds(700));
    driver->input(kB, lockCall(1, key));
    driver->input(kC, lockCall(2, key));
    driver->advance(sim::milliseconds(100));
  }
  for (const NodeId node : {kA, kB, kC}) {
    EXPECT_EQ(early.node(node).canonicalHash(early.now), late.node(node).canonicalHash(late.now));
  }
  early.advance(sim::milliseconds(10));
  EXPECT_NE(early.node(kB).canonicalHash(early.now), late.node(kB).canonicalHash(late.now));
}

// ---- Any input whatever -----------------------------------------------------------------------------------

rc::Gen<Token> anyToken() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0U, 3U), rc::gen::inRange(0U, 3U), rc::gen::inRange(0U, 6U)),
      [](const auto& t) { return Token{std::get<0>(t), std::get<1>(t), std::get<2>(t)}; });
}

Message messageOf(int kind, std::uint32_t a, std::uint32_t b, const Token& token) {
  const KeyId key{a % 7 == 6 ? 0xffffffffU : a % 7};  // now and then a key that does not exist
  const RequestId request{b % 3, b % 5};
  switch (kind) {
    case 0:
      return MembershipRenew{b % 3, a % 3, b};
    case 1:
      return MembershipRenewAck{b % 3, a % 4};
    case 2:
      return LockRequest{b % 3, request, key, sim::milliseconds(a), (a & 1U) != 0};
    case 3: {
      LockGrant grant{token, request, key, static_cast<Path>(a % 4), (b & 1U) != 0, sim::milliseconds(b), {}};
      grant.dependencies.require({static_cast<std::uint16_t>(a % 5)}, b % 9);
      return grant;
    }
    case 4:
      return LockDeny{b % 3, request, key, static_cast<Cause>(a % 19), sim::milliseconds(b)};
    case 5:
      return LockRecall{token, key};
    case 6:
      return LockHandBack{token, key};
    case 7:
      return BarrierRequest{b % 3, a};
    case 8:
      return BarrierReply{a, b % 9, static_cast<Cause>(b % 2)};
    case 9:
      return Subscribe{b % 9};
    case 10:
      return LogGap{b % 9};
    case 11:
      return LogFrame{b % 9, BarrierEntry{{static_cast<std::uint16_t>(a % 5)}, a}};
    case 12:
      return LogFrame{
          b % 9,
          ReleaseEntry{
              key, {static_cast<std::uint16_t>(a % 5)}, token, static_cast<std::uint8_t>(4 + a % 4), {}}};
    default: {
      TransactionEntry entry{TxnId{a + 1}, {}};
      entry.writes.push_back(
          {key, static_cast<WriteOp>(a % 4), static_cast<FieldMask>(b), 0, Timestamp{a}, {a, b}});
      return LogFrame{b % 9, entry};
    }
  }
}

Input callOf(int kind, std::uint32_t a, std::uint32_t b, std::uint32_t fresh) {
  const KeyId key{a % 7 == 6 ? 0xffffffffU : a % 7};
  switch (kind) {
    case 0:
      return CallUnlock{CallId{b % 8}};
    case 1:
      return CallReenter{CallId{b % 8}, sim::milliseconds(a), true};
    case 2:
      return CallRead{CallId{b % 8}, key};
    case 3:
      return CallStage{TxnId{b % 8}, CallId{a % 8}, key, static_cast<WriteOp>(b % 4), 0xff, {a}, false, {}};
    case 4:
      return CallSubmit{TxnId{b % 8}};
    case 5:
      return CallAbandon{TxnId{b % 8}};
    case 6:
      return AdminDrop{key};
    case 7:
      return AdminReplaceCoordinator{};
    case 8:
      return AdminPurgeLog{b % 9};
    case 9:
      return SendFailed{{static_cast<std::uint16_t>(a % 3)}, MessageKind::lockRecall, key};
    case 10:
      return CommitDone{a % 9, static_cast<CommitOutcome>(b % 3)};
    case 11:
      return ApplyReady{{static_cast<std::uint16_t>(a % 5)}, (b & 1U) != 0};
    case 12:
      return PeerUp{{static_cast<std::uint16_t>(a % 3)}};
    case 13:
      return PersistDone{b % 4, (a & 1U) != 0, static_cast<RecordKind>(a % 4)};
    case 14:
      return AdminRepair{{static_cast<std::uint16_t>(a % 3)}, b % 9, BarrierEntry{}};
    default:
      return CallLock{CallId{fresh},
                      key,
                      sim::milliseconds(a % 4'000),
                      sim::milliseconds(b % 4'000),
                      false,
                      static_cast<std::uint8_t>(a % 2)};
  }
}

RC_GTEST_PROP(NodeFuzz, NoInputBreaksANodeAndEveryCallIsAnsweredOnce, ()) {
  NodeDriver driver(3, 6);
  std::uint32_t fresh = 100;
  // Ranges grow with the size of a case; kinds of input must not.
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, std::uint32_t, std::uint32_t>>>(
      rc::gen::resize(rc::kNominalSize, rc::gen::tuple(rc::gen::inRange(0, 40), rc::gen::inRange(0U, 10'000U),
                                                       rc::gen::inRange(0U, 10'000U))));
  for (const auto& [kind, a, b] : steps) {
    const NodeId to{static_cast<std::uint16_t>(b % 3)};
    if (kind < 14) {
      driver.input(to, Deliver{{static_cast<std::uint16_t>(a % 5)}, messageOf(kind, a, b, *anyToken())});
    } else if (kind < 36) {
      driver.input(to, callOf(kind - 14, a, b, ++fresh));
    } else {
      driver.advance(sim::milliseconds(a % 3'000));
    }
  }
  driver.advance(sim::seconds(30));
  std::map<std::uint32_t, int> answers;
  for (const Reply& reply : driver.replies) {
    if (const auto* lock = std::get_if<LockReply>(&reply); lock && lock->call.value > 100)
      ++answers[lock->call.value];
  }
  int asked = 0;
  for (const auto& request : driver.all<obs::LockRequested>()) {
    ++asked;
    RC_ASSERT(answers[request.call.value] == 1);
  }
  RC_TAG(asked > 0 ? "with calls" : "without calls");
}

}  // namespace
}  // namespace holdfast::protocol
