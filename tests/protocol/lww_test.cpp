// Properties of conflict resolution (LW-3): the order, the grouping and the repetition of merges do not
// matter, and the result is that of running all writes one after the other in their total order.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "protocol/replication/record.hpp"

namespace holdfast::protocol {

struct VersionedWrite {
  Write write;
  Version version;
  TxnId txn;
};

std::ostream& operator<<(std::ostream& out, const VersionedWrite& w) {
  return out << obs::nameOf(w.write.op) << " fields=" << int{w.write.fields}
             << " stamp=" << w.version.stamp.ns << " origin=" << w.version.origin.value
             << " position=" << w.version.position << " ordinal=" << w.version.ordinal
             << " v0=" << w.write.values[0];
}

namespace {

/// Writes of three origins with few timestamps, so that ties are common; versions are distinct, as positions
/// and ordinals make them in a real log.
rc::Gen<std::vector<VersionedWrite>> genWrites() {
  const auto genOne = rc::gen::apply(
      [](WriteOp op, int fields, int stamp, int origin, int ordinal, std::array<std::int8_t, 4> values) {
        VersionedWrite w;
        w.write.op = op;
        w.write.fields = static_cast<FieldMask>(fields);
        for (std::size_t i = 0; i < values.size(); ++i) w.write.values[i] = values[i];
        w.version.stamp = Timestamp{stamp};
        w.version.origin = NodeId{static_cast<std::uint16_t>(origin)};
        w.version.ordinal = static_cast<std::uint16_t>(ordinal);
        w.write.stamp = w.version.stamp;
        return w;
      },
      rc::gen::element(WriteOp::put, WriteOp::patch, WriteOp::increment, WriteOp::increment, WriteOp::erase),
      rc::gen::inRange(1, 16), rc::gen::inRange(0, 4), rc::gen::inRange(0, 3), rc::gen::inRange(0, 2),
      rc::gen::arbitrary<std::array<std::int8_t, 4>>());
  return rc::gen::map(rc::gen::container<std::vector<VersionedWrite>>(genOne),
                      [](std::vector<VersionedWrite> writes) {
                        std::map<std::uint16_t, Position> heads;
                        std::uint32_t txn = 0;
                        for (VersionedWrite& w : writes) {
                          w.version.position = ++heads[w.version.origin.value];
                          w.txn = TxnId{++txn};
                        }
                        return writes;
                      });
}

template <class T>
std::vector<T> shuffled(std::vector<T> items, std::uint64_t seed) {
  for (std::size_t i = items.size(); i > 1; --i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    std::swap(items[i - 1], items[(seed >> 33) % i]);
  }
  return items;
}

Record mergedOf(const std::vector<VersionedWrite>& writes) {
  Record record;
  for (const VersionedWrite& w : writes) record.merge(w.write, w.version, w.txn, Rules());
  return record;
}

/// All writes, one after the other, in their total order.
RecordView serialView(std::vector<VersionedWrite> writes) {
  std::sort(writes.begin(), writes.end(),
            [](const VersionedWrite& a, const VersionedWrite& b) { return a.version < b.version; });
  RecordView view;
  for (const VersionedWrite& w : writes) {
    for (std::size_t i = 0; i < obs::kRecordFields; ++i) {
      const bool whole = w.write.op == WriteOp::put || w.write.op == WriteOp::erase;
      if (!whole && (w.write.fields >> i & 1) == 0) continue;
      const auto bit = static_cast<FieldMask>(1U << i);
      if (w.write.op == WriteOp::erase) {
        view.present = static_cast<FieldMask>(view.present & ~bit);
        view.values[i] = 0;
        view.writers[i] = TxnId{};
        continue;
      }
      view.present = static_cast<FieldMask>(view.present | bit);
      view.values[i] =
          w.write.op == WriteOp::increment ? view.values[i] + w.write.values[i] : w.write.values[i];
      view.writers[i] = w.txn;
    }
  }
  return view;
}

RC_GTEST_PROP(LastWriteWins, OrderOfArrivalDoesNotMatter, (std::uint64_t seed)) {
  const auto writes = *genWrites();
  RC_ASSERT(mergedOf(writes) == mergedOf(shuffled(writes, seed)));
}

RC_GTEST_PROP(LastWriteWins, RepetitionDoesNotMatter, (std::uint64_t seed)) {
  const auto writes = *genWrites();
  auto twice = writes;
  twice.insert(twice.end(), writes.begin(), writes.end());
  RC_ASSERT(mergedOf(writes) == mergedOf(shuffled(twice, seed)));
}

RC_GTEST_PROP(LastWriteWins, EqualsTheSerialExecutionInTotalOrder, ()) {
  const auto writes = *genWrites();
  RC_CLASSIFY(!writes.empty());
  RC_ASSERT(mergedOf(writes).view() == serialView(writes));
}

RC_GTEST_PROP(LastWriteWins, RecordsMergeCommutativelyAssociativelyAndIdempotently, (std::uint64_t seed)) {
  const auto writes = *genWrites();
  Record parts[3];
  for (std::size_t i = 0; i < writes.size(); ++i) {
    // A write may be known to more than one replica.
    const std::uint64_t who = seed >> (3 * (i % 20));
    for (std::size_t p = 0; p < 3; ++p) {
      if ((who >> p & 1) == 0 && p != i % 3) continue;
      parts[p].merge(writes[i].write, writes[i].version, writes[i].txn, Rules());
    }
  }
  const auto join = [](Record a, const Record& b) {
    a.merge(b);
    return a;
  };
  RC_ASSERT(join(parts[0], parts[1]) == join(parts[1], parts[0]));
  RC_ASSERT(join(join(parts[0], parts[1]), parts[2]) == join(parts[0], join(parts[1], parts[2])));
  RC_ASSERT(join(parts[0], parts[0]) == parts[0]);
  RC_ASSERT(join(join(parts[0], parts[1]), parts[2]) == mergedOf(writes));
}

RC_GTEST_PROP(LastWriteWins, MergeTellsWhetherTheRecordChanged, ()) {
  Record record;
  for (const VersionedWrite& w : *genWrites()) {
    const Record before = record;
    const bool changed = record.merge(w.write, w.version, w.txn, Rules());
    RC_ASSERT(changed == !(record == before));
  }
}

// The rule's twin: without a total order two replicas that saw the same writes may differ for good.
TEST(LastWriteWins, WithoutTotalOrderReplicasDiverge) {
  const Rules rules = Rules().without(Rule::LW3_TotalOrder);
  const Write one{KeyId{0}, WriteOp::put, obs::kAllFields, 0, Timestamp{10}, {1, 1, 1, 1}};
  const Write two{KeyId{0}, WriteOp::put, obs::kAllFields, 0, Timestamp{10}, {2, 2, 2, 2}};
  const Version fromA{Timestamp{10}, NodeId{0}, 0, 1};
  const Version fromB{Timestamp{10}, NodeId{1}, 0, 1};
  Record here;
  here.merge(one, fromA, TxnId{1}, rules);
  here.merge(two, fromB, TxnId{2}, rules);
  Record there;
  there.merge(two, fromB, TxnId{2}, rules);
  there.merge(one, fromA, TxnId{1}, rules);
  EXPECT_NE(here.view(), there.view());
}

// Increments of the rule's twin are resolved by arrival as well, and none of them counts twice.
TEST(LastWriteWins, WithoutTotalOrderAPutSwallowsIncrementsThatArrivedBefore) {
  const Rules rules = Rules().without(Rule::LW3_TotalOrder);
  const Write add{KeyId{0}, WriteOp::increment, 1, 0, Timestamp{10}, {5, 0, 0, 0}};
  const Write put{KeyId{0}, WriteOp::put, obs::kAllFields, 0, Timestamp{10}, {100, 0, 0, 0}};
  Record addFirst;
  addFirst.merge(add, {Timestamp{10}, NodeId{1}, 0, 1}, TxnId{1}, rules);
  addFirst.merge(put, {Timestamp{10}, NodeId{0}, 0, 1}, TxnId{2}, rules);
  EXPECT_EQ(addFirst.view().values[0], 100);
  Record putFirst;
  putFirst.merge(put, {Timestamp{10}, NodeId{0}, 0, 1}, TxnId{2}, rules);
  putFirst.merge(add, {Timestamp{10}, NodeId{1}, 0, 1}, TxnId{1}, rules);
  putFirst.merge(add, {Timestamp{10}, NodeId{1}, 0, 1}, TxnId{1}, rules);
  EXPECT_EQ(putFirst.view().values[0], 105);
}

}  // namespace
}  // namespace holdfast::protocol
