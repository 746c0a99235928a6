// Anomalies of transactions, each in the smallest history that shows it, and none where there is none.
#include "checkers/linearizability/transactions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace holdfast::linearizability {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Access append(std::int64_t key, std::int64_t value) { return {Access::Kind::append, key, value, {}}; }
Access list(std::int64_t key, std::vector<std::int64_t> values) {
  return {Access::Kind::read, key, 0, std::move(values)};
}
Access write(std::int64_t key, std::int64_t value) { return {Access::Kind::write, key, value, {}}; }
Access read(std::int64_t key, std::int64_t value) { return {Access::Kind::read, key, value, {}}; }

/// Transactions that all overlap, so that real time says nothing.
std::vector<Transaction> together(std::vector<std::vector<Access>> all) {
  std::vector<Transaction> history;
  const auto count = static_cast<std::uint32_t>(all.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    history.push_back({Ending::committed, i, count + i, std::move(all[i])});
  }
  return history;
}

/// Transactions one after the other.
std::vector<Transaction> inTurn(std::vector<std::vector<Access>> all) {
  std::vector<Transaction> history;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    history.push_back({Ending::committed, 2 * i, 2 * i + 1, std::move(all[i])});
  }
  return history;
}

std::vector<Anomaly> kindsOf(const std::vector<Transaction>& history,
                             Workload workload = Workload::listAppend) {
  std::vector<Anomaly> kinds;
  for (const AnomalyFound& found : findAnomalies(history, workload)) kinds.push_back(found.anomaly);
  return kinds;
}

TEST(Transactions, ThatFollowEachOtherHaveNoAnomaly) {
  EXPECT_THAT(kindsOf(inTurn({{append(1, 10)}, {list(1, {10}), append(1, 11)}, {list(1, {10, 11})}})),
              IsEmpty());
}

TEST(Transactions, ThatOverwriteEachOtherInTurnsAreACycleOfWrites) {
  const auto history = together({{append(1, 10), append(2, 20)},
                                 {append(1, 11), append(2, 21)},
                                 {list(1, {10, 11}), list(2, {21, 20})}});
  const auto found = findAnomalies(history, Workload::listAppend);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].anomaly, Anomaly::g0);
  EXPECT_EQ(found[0].cycle.size(), 2U);
}

TEST(Transactions, ThatReadEachOtherAreCircularFlow) {
  EXPECT_THAT(kindsOf(together({{append(1, 10), list(2, {20})}, {append(2, 20), list(1, {10})}})),
              testing::Contains(Anomaly::g1c));
}

TEST(Transactions, ThatSeeHalfOfAnotherAreReadSkew) {
  const auto kinds = kindsOf(together({{append(1, 10), append(2, 20)}, {list(1, {10}), list(2, {})}}));
  EXPECT_THAT(kinds, ElementsAre(Anomaly::gSingle));
}

TEST(Transactions, ThatMissEachOtherAreWriteSkew) {
  const auto kinds = kindsOf(
      together({{list(1, {}), append(2, 20)}, {list(2, {}), append(1, 10)}, {list(1, {10}), list(2, {20})}}));
  EXPECT_THAT(kinds, ElementsAre(Anomaly::g2));
}

TEST(Transactions, ThatReadTheSameAndBothAppendLoseAnUpdate) {
  const auto kinds =
      kindsOf(together({{list(1, {}), append(1, 10)}, {list(1, {}), append(1, 11)}, {list(1, {10, 11})}}));
  EXPECT_THAT(kinds, testing::Contains(Anomaly::lostUpdate));
}

TEST(Transactions, ThatReadTooLateAreStale) {
  // Serializable, the reader first; but it was invoked when the writer had returned.
  EXPECT_THAT(kindsOf(inTurn({{append(1, 10)}, {list(1, {})}, {list(1, {10})}})),
              ElementsAre(Anomaly::staleRead));
  EXPECT_THAT(kindsOf(together({{append(1, 10)}, {list(1, {})}, {list(1, {10})}})), IsEmpty());
}

TEST(Transactions, ThatReadWhatWasTakenBack) {
  auto history = together({{append(1, 10)}, {list(1, {10})}});
  history[0].ending = Ending::aborted;
  EXPECT_THAT(kindsOf(history), ElementsAre(Anomaly::abortedRead));
  history[0].ending = Ending::unknown;  // it was seen, so it has committed
  history[0].returned = kNever;
  EXPECT_THAT(kindsOf(history), IsEmpty());
}

TEST(Transactions, ThatReadBetweenTwoWritesOfOne) {
  EXPECT_THAT(kindsOf(together({{append(1, 10), append(1, 11)}, {list(1, {10})}})),
              testing::Contains(Anomaly::intermediateRead));
}

TEST(Transactions, WhoseReadsDisagreeOnTheOrder) {
  EXPECT_THAT(kindsOf(together({{append(1, 10)}, {append(1, 11)}, {list(1, {10, 11})}, {list(1, {11, 10})}})),
              testing::Contains(Anomaly::incompatibleOrder));
}

TEST(Transactions, ThatDoNotSeeTheirOwnWrites) {
  EXPECT_THAT(kindsOf(together({{append(1, 10), list(1, {})}})), testing::Contains(Anomaly::internal));
  EXPECT_THAT(kindsOf(together({{write(1, 10), read(1, 11)}}), Workload::registers),
              testing::Contains(Anomaly::internal));
}

TEST(Transactions, OfRegistersLoseAnUpdate) {
  const auto history = together({{write(1, 5)}, {read(1, 5), write(1, 6)}, {read(1, 5), write(1, 7)}});
  EXPECT_THAT(kindsOf(history, Workload::registers), testing::Contains(Anomaly::lostUpdate));
}

TEST(Transactions, OfRegistersMayBeReadSkew) {
  const auto history = together({{write(1, 5), write(2, 6)},
                                 {read(1, 5), read(2, 6), write(1, 7), write(2, 8)},
                                 {read(1, 7), read(2, 6)}});
  EXPECT_THAT(kindsOf(history, Workload::registers), ElementsAre(Anomaly::gSingle));
}

}  // namespace
}  // namespace holdfast::linearizability
