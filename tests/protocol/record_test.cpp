// One record under single writes: what each kind of write does to each field (LW-3).
#include "protocol/replication/record.hpp"

#include <gtest/gtest.h>

namespace holdfast::protocol::record_test {
namespace {

constexpr TxnId kFirst{1};
constexpr TxnId kSecond{2};
constexpr TxnId kThird{3};

Version version(std::int64_t stamp, std::uint16_t origin = 0, Position position = 1,
                std::uint16_t ordinal = 0) {
  return {Timestamp{stamp}, NodeId{origin}, ordinal, position};
}

Write write(WriteOp op, FieldMask fields, FieldValues values) {
  return {KeyId{0}, op, fields, 0, Timestamp{}, values};
}

Write put(FieldValues values) { return write(WriteOp::put, obs::kAllFields, values); }
Write patch(FieldMask fields, FieldValues values) { return write(WriteOp::patch, fields, values); }
Write increment(FieldMask fields, FieldValues values) { return write(WriteOp::increment, fields, values); }
Write erase() { return write(WriteOp::erase, obs::kAllFields, {}); }

const Rules kAllRules;

TEST(Record, StartsEmptyAndIsNoTombstone) {
  const Record record;
  EXPECT_TRUE(record.empty());
  EXPECT_FALSE(record.tombstone());
  EXPECT_EQ(record.view(), RecordView{});
}

TEST(Record, PutReplacesAllFields) {
  Record record;
  EXPECT_TRUE(record.merge(put({1, 2, 3, 4}), version(10), kFirst, kAllRules));
  EXPECT_TRUE(record.merge(put({5, 6, 7, 8}), version(11), kSecond, kAllRules));
  const RecordView expected{0b1111, {kSecond, kSecond, kSecond, kSecond}, {5, 6, 7, 8}};
  EXPECT_EQ(record.view(), expected);
}

TEST(Record, OlderPutLosesAndChangesNothing) {
  Record record;
  record.merge(put({1, 2, 3, 4}), version(10), kFirst, kAllRules);
  const Record before = record;
  EXPECT_FALSE(record.merge(put({5, 6, 7, 8}), version(9), kSecond, kAllRules));
  EXPECT_EQ(record, before);
}

TEST(Record, PatchTouchesItsFieldsOnly) {
  Record record;
  record.merge(put({1, 2, 3, 4}), version(10), kFirst, kAllRules);
  record.merge(patch(0b0101, {50, 60, 70, 80}), version(11), kSecond, kAllRules);
  const RecordView expected{0b1111, {kSecond, kFirst, kSecond, kFirst}, {50, 2, 70, 4}};
  EXPECT_EQ(record.view(), expected);
}

TEST(Record, OlderPutFillsOnlyWhatANewerPatchLeft) {
  Record record;
  record.merge(patch(0b0010, {0, 20, 0, 0}), version(11), kSecond, kAllRules);
  record.merge(put({1, 2, 3, 4}), version(10), kFirst, kAllRules);
  const RecordView expected{0b1111, {kFirst, kSecond, kFirst, kFirst}, {1, 20, 3, 4}};
  EXPECT_EQ(record.view(), expected);
}

TEST(Record, EqualTimestampsGoToTheGreaterOriginName) {
  for (const bool greaterFirst : {false, true}) {
    Record record;
    if (greaterFirst) record.merge(put({2, 2, 2, 2}), version(10, 1), kSecond, kAllRules);
    record.merge(put({1, 1, 1, 1}), version(10, 0), kFirst, kAllRules);
    if (!greaterFirst) record.merge(put({2, 2, 2, 2}), version(10, 1), kSecond, kAllRules);
    EXPECT_EQ(record.view().values[0], 2) << "greater name first: " << greaterFirst;
  }
}

TEST(Record, OneOriginsTiesGoToTheLaterPositionAndOrdinal) {
  Record record;
  record.merge(put({1, 1, 1, 1}), version(10, 0, 4, 0), kFirst, kAllRules);
  record.merge(put({2, 2, 2, 2}), version(10, 0, 4, 1), kFirst, kAllRules);
  EXPECT_EQ(record.view().values[0], 2);
  record.merge(put({3, 3, 3, 3}), version(10, 0, 3, 7), kSecond, kAllRules);
  EXPECT_EQ(record.view().values[0], 2);
  record.merge(put({4, 4, 4, 4}), version(10, 0, 5, 0), kThird, kAllRules);
  EXPECT_EQ(record.view().values[0], 4);
}

TEST(Record, PositionNeverOutranksTheOriginsName) {
  Record record;
  record.merge(put({1, 1, 1, 1}), version(10, 1, 1), kFirst, kAllRules);
  record.merge(put({2, 2, 2, 2}), version(10, 0, 9), kSecond, kAllRules);
  EXPECT_EQ(record.view().values[0], 1);
}

TEST(Record, WithoutTotalOrderALaterArrivalWinsATie) {
  const Rules rules = Rules().without(Rule::LW3_TotalOrder);
  Record here;
  here.merge(put({1, 1, 1, 1}), version(10, 0), kFirst, rules);
  here.merge(put({2, 2, 2, 2}), version(10, 1), kSecond, rules);
  Record there;
  there.merge(put({2, 2, 2, 2}), version(10, 1), kSecond, rules);
  there.merge(put({1, 1, 1, 1}), version(10, 0), kFirst, rules);
  EXPECT_EQ(here.view().values[0], 2);
  EXPECT_EQ(there.view().values[0], 1);
  there.merge(put({9, 9, 9, 9}), version(9, 2), kThird, rules);
  EXPECT_EQ(there.view().values[0], 1) << "an older timestamp still loses";
}

TEST(Record, WithoutOneOrderLockedWritesMakeACircle) {
  const auto locked = [](std::int64_t value, std::uint16_t fence) {
    Write made = put({value, value, value, value});
    made.fence = fence;
    return made;
  };
  const auto late = [&](Record& record) { record.merge(locked(1, 1), version(30, 0), kFirst, kAllRules); };
  const auto early = [&](Record& record) { record.merge(locked(2, 2), version(10, 1), kSecond, kAllRules); };
  const auto plain = [&](Record& record) { record.merge(locked(3, 0), version(20, 2), kThird, kAllRules); };
  Record here;
  late(here), early(here), plain(here);
  Record there;
  early(there), plain(there), late(there);
  EXPECT_EQ(here.view().values[0], 3);
  EXPECT_EQ(there.view().values[0], 1);
}

TEST(Record, IncrementsAddUpAndNameTheGreatestOne) {
  Record record;
  record.merge(put({100, 0, 0, 0}), version(10), kFirst, kAllRules);
  record.merge(increment(0b0001, {5, 0, 0, 0}), version(12, 0, 2), kSecond, kAllRules);
  record.merge(increment(0b0001, {7, 0, 0, 0}), version(11, 1, 1), kThird, kAllRules);
  EXPECT_EQ(record.view().values[0], 112);
  EXPECT_EQ(record.view().writers[0], kSecond);
  EXPECT_EQ(record.view().writers[1], kFirst);
  EXPECT_EQ(record.incrementCount(), 2u);
}

TEST(Record, AnIncrementCountsOnce) {
  Record record;
  EXPECT_TRUE(record.merge(increment(0b0001, {5, 0, 0, 0}), version(10), kFirst, kAllRules));
  EXPECT_FALSE(record.merge(increment(0b0001, {5, 0, 0, 0}), version(10), kFirst, kAllRules));
  EXPECT_EQ(record.view().values[0], 5);
}

TEST(Record, ANewerPutSwallowsIncrementsAndAnOlderOneDoesNot) {
  Record record;
  record.merge(increment(0b0001, {5, 0, 0, 0}), version(10), kFirst, kAllRules);
  record.merge(increment(0b0001, {6, 0, 0, 0}), version(20), kSecond, kAllRules);
  record.merge(put({100, 0, 0, 0}), version(15), kThird, kAllRules);
  EXPECT_EQ(record.view().values[0], 106);
  EXPECT_EQ(record.incrementCount(), 1u);
  EXPECT_FALSE(record.merge(increment(0b0001, {1, 0, 0, 0}), version(14), kFirst, kAllRules));
  EXPECT_EQ(record.view().values[0], 106);
}

TEST(Record, AnIncrementOfAnAbsentFieldCountsFromZero) {
  Record record;
  record.merge(increment(0b0010, {0, 3, 0, 0}), version(10), kFirst, kAllRules);
  const RecordView expected{0b0010, {TxnId{}, kFirst, TxnId{}, TxnId{}}, {0, 3, 0, 0}};
  EXPECT_EQ(record.view(), expected);
}

TEST(Record, EraseLeavesATombstoneThatOlderWritesDoNotPass) {
  Record record;
  record.merge(put({1, 2, 3, 4}), version(10), kFirst, kAllRules);
  EXPECT_TRUE(record.merge(erase(), version(11), kSecond, kAllRules));
  EXPECT_TRUE(record.tombstone());
  EXPECT_FALSE(record.empty());
  EXPECT_EQ(record.view(), RecordView{});
  EXPECT_FALSE(record.merge(put({5, 6, 7, 8}), version(10, 1), kThird, kAllRules));
  EXPECT_TRUE(record.tombstone());
}

TEST(Record, AWriteAfterTheEraseBringsBackItsFieldsOnly) {
  Record record;
  record.merge(put({1, 2, 3, 4}), version(10), kFirst, kAllRules);
  record.merge(erase(), version(11), kSecond, kAllRules);
  record.merge(increment(0b1000, {0, 0, 0, 9}), version(12), kThird, kAllRules);
  EXPECT_FALSE(record.tombstone());
  EXPECT_EQ(record.view().present, 0b1000);
  EXPECT_EQ(record.view().values[3], 9);
}

TEST(Record, AReclaimedTombstoneLetsAnOldWriteBackIn) {
  Record record;
  record.merge(erase(), version(11), kSecond, kAllRules);
  record.clear();
  EXPECT_TRUE(record.empty());
  EXPECT_TRUE(record.merge(put({1, 2, 3, 4}), version(10), kFirst, kAllRules));
  EXPECT_EQ(record.view().values[0], 1);
}

TEST(Record, SumsWrapAround) {
  Record record;
  record.merge(put({INT64_MAX, INT64_MIN, 0, 0}), version(10), kFirst, kAllRules);
  record.merge(increment(0b0011, {1, -1, 0, 0}), version(11), kSecond, kAllRules);
  EXPECT_EQ(record.view().values[0], INT64_MIN);
  EXPECT_EQ(record.view().values[1], INT64_MAX);
}

TEST(Record, TheLeastTimestampIsStillAWrite) {
  Record record;
  EXPECT_TRUE(record.merge(put({1, 2, 3, 4}), version(INT64_MIN), kFirst, kAllRules));
  EXPECT_EQ(record.view().present, 0b1111);
}

}  // namespace
}  // namespace holdfast::protocol::record_test
