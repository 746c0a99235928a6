// Tombstones (LW-3): kept for the retention, measured here and from when the record became one.
#include <gtest/gtest.h>

#include "tests/protocol/replication_fixture.hpp"

namespace holdfast::protocol {
namespace {

using namespace testing;

TEST(Tombstone, IsReclaimedAfterItsRetentionAndNotBefore) {
  Replica a;
  const MonotonicInstant erased = a.now;
  a.append(put(1, 10, 5));
  EXPECT_EQ(a.replication.nextTombstone(), MonotonicInstant::never());
  a.append(transaction(2, {eraseOf(11)}));
  EXPECT_EQ(a.replication.tombstones(), 1u);
  EXPECT_EQ(a.replication.nextTombstone(), erased + a.setup.options.tombstoneRetention);

  a.now = a.replication.nextTombstone() - Duration{1};
  a.replication.sweepTombstones(a.context());
  ASSERT_NE(a.replication.record(kKey), nullptr);
  EXPECT_TRUE(a.replication.record(kKey)->tombstone());

  a.now = a.now + Duration{1};
  a.replication.sweepTombstones(a.context());
  EXPECT_EQ(a.replication.record(kKey), nullptr);
  EXPECT_EQ(a.replication.tombstones(), 0u);
  EXPECT_EQ(a.replication.nextTombstone(), MonotonicInstant::never());
  ASSERT_EQ(a.observed<obs::TombstoneReclaimed>().size(), 1u);
  EXPECT_EQ(a.observed<obs::TombstoneReclaimed>()[0].key, kKey);
}

TEST(Tombstone, ALateWriteFromBeforeTheEraseStaysDead) {
  Replica a;
  a.append(transaction(2, {eraseOf(11)}));
  a.frame(kB, 1, put(1, 10, 5));
  a.apply(kB);
  EXPECT_EQ(a.replication.readOf(CallId{}, kKey).present, 0);
  EXPECT_EQ(a.replication.tombstones(), 1u);
}

// Rule LW3_TombstoneRetention: without it the erased record comes back.
TEST(Tombstone, WithoutRetentionALateWriteRises) {
  Replica a(kA, Rules().without(Rule::LW3_TombstoneRetention));
  a.append(transaction(2, {eraseOf(11)}));
  EXPECT_EQ(a.replication.record(kKey), nullptr);
  EXPECT_EQ(a.replication.tombstones(), 0u);
  ASSERT_EQ(a.observed<obs::TombstoneReclaimed>().size(), 1u);
  a.frame(kB, 1, put(1, 10, 5));
  a.apply(kB);
  EXPECT_EQ(a.value(), 5);
}

TEST(Tombstone, ANewerWriteEndsIt) {
  Replica a;
  a.append(transaction(1, {eraseOf(11)}));
  a.append(put(2, 12, 5));
  EXPECT_EQ(a.replication.tombstones(), 0u);
  a.now = a.now + sim::hours(1);
  a.replication.sweepTombstones(a.context());
  EXPECT_EQ(a.value(), 5);
  EXPECT_TRUE(a.observed<obs::TombstoneReclaimed>().empty());
}

TEST(Tombstone, ANewerEraseStartsTheRetentionAnew) {
  Replica a;
  a.append(transaction(1, {eraseOf(11)}));
  a.now = a.now + sim::minutes(4);
  a.append(transaction(2, {eraseOf(12)}));
  EXPECT_EQ(a.replication.tombstones(), 1u);
  EXPECT_EQ(a.replication.nextTombstone(), a.now + a.setup.options.tombstoneRetention);
  const MonotonicInstant before = a.replication.nextTombstone();
  a.now = a.now + sim::minutes(1);
  a.frame(kB, 1, transaction(3, {eraseOf(5)}));
  a.apply(kB);
  EXPECT_EQ(a.replication.nextTombstone(), before) << "an older erase changes nothing";
}

TEST(Tombstone, ManyAreReclaimedInTheOrderTheyCame) {
  Replica a;
  a.append(transaction(1, {eraseOf(11, KeyId{2})}));
  a.now = a.now + sim::seconds(1);
  a.append(transaction(2, {eraseOf(11, KeyId{0})}));
  a.now = a.now + sim::seconds(1);
  a.append(transaction(3, {eraseOf(11, KeyId{1})}));
  EXPECT_EQ(a.replication.tombstones(), 3u);
  a.now = a.replication.nextTombstone() + sim::seconds(1);
  a.replication.sweepTombstones(a.context());
  EXPECT_EQ(a.replication.tombstones(), 1u);
  a.now = a.now + sim::seconds(1);
  a.replication.sweepTombstones(a.context());
  const auto reclaimed = a.observed<obs::TombstoneReclaimed>();
  ASSERT_EQ(reclaimed.size(), 3u);
  EXPECT_EQ(reclaimed[0].key, KeyId{2});
  EXPECT_EQ(reclaimed[1].key, KeyId{0});
  EXPECT_EQ(reclaimed[2].key, KeyId{1});
}

TEST(Tombstone, ARestartStartsTheRetentionAnew) {
  Replica a;
  a.append(transaction(1, {eraseOf(11)}));
  a.now = a.now + sim::minutes(4);
  a.crash();
  EXPECT_EQ(a.replication.nextTombstone(), MonotonicInstant::never()) << "before boot there is no clock";
  a.replication.boot(a.context());
  EXPECT_EQ(a.replication.tombstones(), 1u);
  EXPECT_EQ(a.replication.nextTombstone(), a.now + a.setup.options.tombstoneRetention);
}

TEST(Tombstone, ARecoveredEraseIsRetainedToo) {
  ReplicaState state;
  Replication::recover(state, kA, transaction(1, {eraseOf(11)}));
  Replica a(kA, {}, std::move(state));
  a.replication.boot(a.context());
  EXPECT_EQ(a.replication.tombstones(), 1u);
}

TEST(Tombstone, HashesByWhatRemains) {
  Replica a;
  Replica later;
  later.now = later.now + sim::seconds(9);
  a.append(transaction(1, {eraseOf(11)}));
  later.append(transaction(1, {eraseOf(11)}));
  EXPECT_EQ(a.hash(), later.hash());
  later.now = later.now + sim::seconds(1);
  EXPECT_NE(a.hash(), later.hash());
}

}  // namespace
}  // namespace holdfast::protocol
