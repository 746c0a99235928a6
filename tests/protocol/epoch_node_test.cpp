// What a node makes of a change of epoch: routing, grants, delegations, tokens (DG-1, DG-7, EP-8, EP-9,
// FR-6).

#include <gtest/gtest.h>

#include "tests/protocol/node_driver.hpp"

namespace holdfast::protocol::epochs {
namespace {

constexpr NodeId kFirst{0};
constexpr NodeId kSecond{1};
constexpr NodeId kThird{2};

ProtocolOptions agreed() {
  ProtocolOptions options;
  options.membership = MembershipKind::epoch;
  return options;
}

NodeDriver driverOf(std::size_t nodes) { return {nodes, 32, {}, MonotonicInstant{1'000}, agreed()}; }

CallLock lockFor(std::uint32_t call, KeyId key, Duration wait = sim::seconds(4)) {
  return {CallId{call}, key, wait, sim::seconds(3), false, 0};
}

TEST(EpochNode, LocksInTheFirstEpochAsWithAFixedMembership) {
  NodeDriver driver = driverOf(3);
  driver.advance(sim::milliseconds(10));  // the founders' certificate and incarnations become durable
  driver.input(kSecond, lockFor(1, driver.keyAt(kFirst)));
  ASSERT_NE(driver.lockReply(CallId{1}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{1})->error, ErrorClass::none);
  EXPECT_EQ(driver.lockReply(CallId{1})->path, Path::virgin);
}

TEST(EpochNode, AChangeMovesTheDepartedMembersKeysAndGrantsOnlyAfterTheProtection) {
  NodeDriver driver = driverOf(3);
  const KeyId moved = driver.keyAt(kThird);
  driver.input(kFirst, AdminProposeMembership{NodeId::none(), kThird});
  driver.advance(sim::seconds(3));
  for (const NodeId node : {kFirst, kSecond}) EXPECT_EQ(driver.node(node).membership().number(), 2U);

  driver.input(kFirst, lockFor(1, moved, sim::seconds(2)));
  driver.advance(sim::seconds(3));
  ASSERT_NE(driver.lockReply(CallId{1}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{1})->error, ErrorClass::lockUnavailable503);
  EXPECT_EQ(driver.lockReply(CallId{1})->cause, Cause::activation);

  driver.input(kFirst, lockFor(2, moved, sim::seconds(30)));
  driver.advance(sim::seconds(25));
  ASSERT_NE(driver.lockReply(CallId{2}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{2})->error, ErrorClass::none);
  EXPECT_EQ(driver.lockReply(CallId{2})->path, Path::recovery) << "FR-6: the filter is of another membership";
  EXPECT_EQ(driver.lockReply(CallId{2})->token.membership, 2U);
  const auto active = driver.all<obs::MembershipActive>();
  ASSERT_GE(active.size(), 2U);
}

TEST(EpochNode, ADelegationOfTheOldEpochAdmitsNobodyMore) {
  NodeDriver driver = driverOf(3);
  const KeyId key = driver.keyAt(kFirst);
  driver.advance(sim::milliseconds(10));
  driver.input(kSecond, {CallLock{CallId{1}, key, sim::seconds(4), sim::seconds(3), true, 0}});
  ASSERT_NE(driver.lockReply(CallId{1}), nullptr);
  driver.input(kFirst, AdminProposeMembership{NodeId::none(), kThird});
  ASSERT_EQ(driver.node(kSecond).membership().number(), 2U);
  // Whoever is inside goes on to its deadline, but is not prolonged (LH-2, DG-7).
  driver.replies.clear();
  driver.input(kSecond, CallReenter{CallId{1}, sim::seconds(3), true});
  ASSERT_NE(driver.lockReply(CallId{1}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{1})->cause, Cause::revoked);
  driver.input(kSecond, lockFor(2, key, sim::seconds(1)));
  driver.advance(sim::seconds(2));
  ASSERT_NE(driver.lockReply(CallId{2}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{2})->error, ErrorClass::lockUnavailable503);
}

TEST(EpochNode, ARemovedNodeRefusesItsCallersAtOnce) {
  NodeDriver driver = driverOf(3);
  driver.input(kFirst, AdminProposeMembership{NodeId::none(), kThird});
  driver.advance(sim::seconds(3));
  driver.input(kThird, lockFor(1, driver.keyAt(kFirst)));
  ASSERT_NE(driver.lockReply(CallId{1}), nullptr);
  EXPECT_EQ(driver.lockReply(CallId{1})->cause, Cause::notMember);
}

TEST(EpochNode, TheHashSeesTheEpoch) {
  NodeDriver driver = driverOf(3);
  Node before = driver.node(kSecond);
  driver.input(kFirst, AdminProposeMembership{NodeId::none(), kThird});
  EXPECT_NE(before.canonicalHash(driver.now), driver.node(kSecond).canonicalHash(driver.now));
}

}  // namespace
}  // namespace holdfast::protocol::epochs
