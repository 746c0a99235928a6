// State hashes: equal futures hash equal, and nothing described is left out.
#include "protocol/state_hash.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/log_entry.hpp"

namespace holdfast::protocol {
namespace {

template <class T>
std::uint64_t hashOf(const T& value, MonotonicInstant now = {0}) {
  StateHash hash(now);
  hash.add(value);
  return hash.value();
}

struct Lease {
  KeyId key;
  MonotonicInstant deadline;
};
BOOST_DESCRIBE_STRUCT(Lease, (), (key, deadline))

TEST(StateHash, DeadlinesCountByWhatRemains) {
  EXPECT_EQ(hashOf(MonotonicInstant{100}, {60}), hashOf(MonotonicInstant{5'040}, {5'000}));
  EXPECT_NE(hashOf(MonotonicInstant{100}, {60}), hashOf(MonotonicInstant{100}, {61}));
  EXPECT_EQ(hashOf(Lease{KeyId{3}, {100}}, {60}), hashOf(Lease{KeyId{3}, {140}}, {100}));
}

TEST(StateHash, ExpiredDeadlinesAreAllAlike) {
  EXPECT_EQ(hashOf(MonotonicInstant{100}, {101}), hashOf(MonotonicInstant{100}, {1'000'000}));
  EXPECT_EQ(hashOf(Lease{KeyId{3}, {5}}, {60}), hashOf(Lease{KeyId{3}, {59}}, {60}));
  EXPECT_NE(hashOf(MonotonicInstant{100}, {100}), hashOf(MonotonicInstant{100}, {101}))
      << "a deadline that is due now has not been missed yet";
}

TEST(StateHash, NeverIsNoDistance) {
  EXPECT_EQ(hashOf(MonotonicInstant::never(), {60}), hashOf(MonotonicInstant::never(), {1'000}));
  EXPECT_NE(hashOf(MonotonicInstant::never(), {60}), hashOf(MonotonicInstant{61}, {60}));
}

TEST(StateHash, EveryFieldCounts) {
  const Write base{KeyId{1}, WriteOp::put, 0b11, 0, Timestamp{5}, {1, 2, 3, 4}};
  std::vector<Write> variations(9, base);
  variations[1].key = KeyId{2};
  variations[2].op = WriteOp::patch;
  variations[3].fields = 0b01;
  variations[4].stamp = Timestamp{6};
  variations[5].values[3] = 5;
  std::swap(variations[6].values[0], variations[6].values[1]);
  variations[7].values[0] = -1;
  variations[8].fence = 1;
  std::set<std::uint64_t> hashes;
  for (const Write& write : variations) hashes.insert(hashOf(write));
  EXPECT_EQ(hashes.size(), variations.size());
}

TEST(StateHash, VariantsCountTheirAlternative) {
  const LogEntry transaction = TransactionEntry{};
  const LogEntry release = ReleaseEntry{};
  const LogEntry barrier = BarrierEntry{NodeId{1}, 7};
  EXPECT_NE(hashOf(transaction), hashOf(release));
  EXPECT_NE(hashOf(barrier), hashOf(LogEntry(BarrierEntry{NodeId{1}, 8})));
  EXPECT_EQ(hashOf(barrier), hashOf(LogEntry(BarrierEntry{NodeId{1}, 7})));
}

TEST(StateHash, OptionalsAndLengthsCount) {
  EXPECT_NE(hashOf(std::optional<KeyId>()), hashOf(std::optional<KeyId>(KeyId{0})));
  EXPECT_NE(hashOf(std::vector<KeyId>{}), hashOf(std::vector<KeyId>{KeyId{0}}));
  const std::vector<std::vector<KeyId>> left{{KeyId{1}}, {}};
  const std::vector<std::vector<KeyId>> right{{}, {KeyId{1}}};
  EXPECT_NE(hashOf(left), hashOf(right)) << "the boundary between two ranges counts";
}

TEST(StateHash, DependencySetsCountByContent) {
  DependencySet one;
  one.require(NodeId{1}, 5);
  one.require(NodeId{0}, 3);
  DependencySet same;
  same.require(NodeId{0}, 3);
  same.require(NodeId{1}, 4);
  same.require(NodeId{1}, 5);
  DependencySet other = same;
  other.require(NodeId{1}, 6);
  EXPECT_EQ(hashOf(one), hashOf(same));
  EXPECT_NE(hashOf(one), hashOf(other));
}

TEST(StateHash, IsTheSameOnEveryBuild) {
  // A fixed value: hashes are part of what is compared across compilers.
  StateHash hash({10});
  hash.add(std::uint64_t{1});
  hash.add(MonotonicInstant{25});
  hash.add(Token{1, 2, 3});
  EXPECT_EQ(hash.value(), 0xccbb5f94b64fa0c9ULL);
}

}  // namespace
}  // namespace holdfast::protocol
