// The experiments of the measurement gate: their figures at P = 3, and that they follow from the seed.
#include <gtest/gtest.h>

#include <algorithm>

#include "measure/experiment.hpp"

namespace holdfast::measure {
namespace {

Settings smallSettings() {
  Settings settings;
  settings.nodes = {3};
  settings.network = findNetwork("same-rack");
  settings.disk = findDisk("nvme");
  return settings;
}

const Measurement& cost() {
  static const Measurement measured = measure(*findExperiment("cost"), smallSettings());
  return measured;
}

std::vector<std::int64_t> rowOf(const Table& table, std::string_view what, std::size_t from, std::size_t to) {
  std::vector<std::int64_t> numbers;
  for (const std::vector<Value>& row : table.rows) {
    const bool wanted = std::ranges::any_of(row, [&](const Value& v) { return v.words == what; });
    for (std::size_t i = from; wanted && i <= to; ++i) numbers.push_back(row[i].number);
  }
  return numbers;
}

TEST(Measure, TheCostTableIsThatOfSection13) {
  const Table& table = cost().tables.front();
  // Commits, deliveries and unicast messages, each measured and stated.
  using Row = std::vector<std::int64_t>;
  EXPECT_EQ(rowOf(table, "Ricart-Agrawala, first", 2, 7), (Row{4, 4, 8, 8, 0, 0}));
  EXPECT_EQ(rowOf(table, "Ricart-Agrawala, repeated", 2, 7), (Row{4, 4, 8, 8, 0, 0}));
  EXPECT_EQ(rowOf(table, "delegation, cold key", 2, 7), (Row{0, 0, 0, 0, 2, 2}));
  EXPECT_EQ(rowOf(table, "delegation, repeated", 2, 7), (Row{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(rowOf(table, "delegation, handoff", 2, 7), (Row{1, 1, 2, 2, 3, 3}));
  // One barrier entry at the one peer that is up; queries to both, one answer, request and grant.
  EXPECT_EQ(rowOf(table, "delegation, recovery", 2, 7), (Row{1, 2, 1, 0, 5, 2}));
  EXPECT_GT(rowOf(table, "delegation, repeated", 8, 8).size(), 0U);
  EXPECT_EQ(rowOf(table, "delegation, repeated", 8, 8).front(), 0);
}

TEST(Measure, TheSameSeedGivesTheSameFigures) {
  const Measurement again = measure(*findExperiment("cost"), smallSettings());
  EXPECT_EQ(again.tables.front().rows, cost().tables.front().rows);
  Settings other = smallSettings();
  other.seed = 2;
  EXPECT_NE(measure(*findExperiment("cost"), other).tables.front().rows, cost().tables.front().rows);
}

TEST(Measure, OneNodeDownBlocksAllLocksOfRicartAgrawala) {
  const Measurement measured = measure(*findExperiment("one-down"), smallSettings());
  const Table& table = measured.tables.front();
  EXPECT_EQ(rowOf(table, "Ricart-Agrawala", 3, 3), std::vector<std::int64_t>{0});  // RA-6
  const std::vector<std::int64_t> delegation = rowOf(table, "delegation", 2, 3);
  ASSERT_EQ(delegation.size(), 2U);
  EXPECT_GT(delegation[1] * 10, delegation[0] * 5);  // about two thirds of the keys have their home still
  EXPECT_LT(delegation[1] * 10, delegation[0] * 8);
}

TEST(Measure, CapsRefuseAndForgetNothing) {
  const Measurement measured = measure(*findExperiment("caps"), smallSettings());
  const Table& table = measured.tables.front();
  using Row = std::vector<std::int64_t>;
  EXPECT_EQ(rowOf(table, "A asks for ten keys", 1, 3), (Row{10, 6, 4}));
  EXPECT_EQ(rowOf(table, "A asks again for the first six", 1, 3), (Row{6, 6, 0}));
  EXPECT_EQ(rowOf(table, "B asks for five others", 1, 3), (Row{5, 2, 3}));
}

TEST(Measure, RepeatsUnderADelegationCostNothing) {
  const Measurement measured = measure(*findExperiment("cached"), smallSettings());
  const std::vector<Value>& row = measured.tables.front().rows.front();
  EXPECT_EQ(row[0], row[1]);
  for (std::size_t i = 2; i <= 5; ++i) EXPECT_EQ(row[i].number, 0) << i;
  EXPECT_EQ(row.back(), Value::text("not counted"));
}

TEST(Measure, EveryExperimentHasAQuestionAndANameOfItsOwn) {
  ASSERT_GE(experiments().size(), 12U);
  for (const Experiment& experiment : experiments()) {
    EXPECT_EQ(findExperiment(experiment.name), &experiment);
    EXPECT_TRUE(experiment.question.ends_with('?')) << experiment.name;
  }
  EXPECT_EQ(findExperiment("nothing"), nullptr);
}

TEST(Measure, ProfilesPrintTheirNumbers) {
  for (const NetworkProfile& network : networkProfiles()) {
    EXPECT_NE(describe(network).find("us"), std::string::npos);
    EXPECT_EQ(findNetwork(network.name), &network);
  }
  for (const DiskProfile& disk : diskProfiles()) EXPECT_EQ(findDisk(disk.name), &disk);
}

}  // namespace
}  // namespace holdfast::measure
