// The boundary of exclusion: search and closed form agree, and the picture shows both.
#include "skew/boundary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skew/heat_map.hpp"

namespace holdfast::skew {
namespace {

using testing::HasSubstr;

TEST(Boundary, BisectionFindsTheFirstThatBreaks) {
  const auto from = [](std::int64_t first) { return [first](std::int64_t n) { return n >= first; }; };
  EXPECT_EQ(bisect(0, 1'000, from(617)), 617);
  EXPECT_EQ(bisect(0, 1'000, from(1)), 1);
  EXPECT_EQ(bisect(0, 1'000, from(1'000)), 1'000);
  EXPECT_EQ(bisect(0, 1'000, from(1'001)), std::nullopt);
}

TEST(Boundary, ClosedFormIsTheMarginOverTwoLeasesAndIt) {
  EXPECT_EQ(closedFormPpb(sim::seconds(8), sim::milliseconds(400)), 24'390'243);
  EXPECT_EQ(closedFormPpb(sim::seconds(1), sim::seconds(2)), 500'000'000);
}

TEST(Boundary, SearchAgreesWithTheClosedForm) {
  BoundaryOptions options;
  options.leases = {sim::seconds(1), sim::seconds(8), sim::minutes(1)};
  options.skews = {sim::milliseconds(10), sim::milliseconds(400)};
  options.randomPlans = 4;
  const std::vector<BoundaryCell> cells = searchBoundary(options);
  ASSERT_EQ(cells.size(), 6U);
  for (const BoundaryCell& cell : cells) {
    ASSERT_TRUE(cell.foundPpb.has_value()) << cell.lease.ns;
    EXPECT_GT(*cell.foundPpb, cell.formulaPpb);
    EXPECT_LE(*cell.foundPpb, cell.formulaPpb + 100) << cell.lease.ns << ", " << cell.skew.ns;
    EXPECT_FALSE(cell.byRandomPlan);
  }
}

TEST(Boundary, WithoutTheMarginAnyDeviationBreaks) {
  BoundaryOptions options;
  options.leases = {sim::seconds(8)};
  options.skews = {sim::milliseconds(400)};
  options.randomPlans = 0;
  options.rules.switchOff(protocol::Rule::CK3_SkewMargin);
  const std::vector<BoundaryCell> cells = searchBoundary(options);
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_LT(cells.front().foundPpb.value_or(INT64_MAX), 100);
}

TEST(HeatMap, ShowsEveryCellBySearchAndFormula) {
  const std::vector<BoundaryCell> cells{{sim::seconds(1), sim::milliseconds(10), 4'975'124, 4'975'130},
                                        {sim::seconds(1), sim::milliseconds(20), 9'900'990, std::nullopt}};
  const std::string svg = heatMapSvg(cells, 600'000);
  EXPECT_THAT(svg, testing::StartsWith("<svg "));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, testing::AllOf(HasSubstr(">4,975</text>"), HasSubstr("formula 9,900"), HasSubstr(">none<"),
                                  HasSubstr(">10 ms<"), HasSubstr(">1 s<")));
  EXPECT_EQ(ppmText(24'390'243), "24,390");
  EXPECT_EQ(ppmText(499'975), "499.9");
  EXPECT_EQ(ppmText(8'333), "8.333");
}

}  // namespace
}  // namespace holdfast::skew
