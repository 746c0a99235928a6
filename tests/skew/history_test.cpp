// Generated clock histories and cases: inside their bounds, valid, of every style, and made again by number.
#include "skew/history.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "skew/generate.hpp"

namespace holdfast::skew {
namespace {

using scenarios::Fault;
using scenarios::FaultKind;

HistoryOptions optionsWith(std::int64_t drift) {
  HistoryOptions options;
  options.maxDriftPpb = drift;
  options.calmAt = obs::TrueInstant{sim::seconds(20).ns};
  options.endAt = obs::TrueInstant{sim::seconds(30).ns};
  return options;
}

RC_GTEST_PROP(History, KeepsToItsBounds, (std::uint64_t word, std::uint32_t bound, bool frozen)) {
  HistoryOptions options = optionsWith(bound % 100'000'000);
  options.frozen = frozen;
  const NodeHistory history = drawHistory(options, obs::NodeId{2}, Draws{word}, 500);
  RC_ASSERT(std::abs(history.clock.ratePpb) <= options.maxDriftPpb);
  RC_ASSERT(history.faults.size() < 1'000U);
  std::uint64_t id = 500;
  for (const Fault& fault : history.faults) {
    RC_ASSERT(fault.id == id++);
    RC_ASSERT(fault.node == obs::NodeId{2});
    RC_ASSERT(fault.at.ns >= 0 && fault.at < options.endAt);
    switch (fault.kind) {
      case FaultKind::rateChange:
        RC_ASSERT(std::abs(fault.amount) <= options.maxDriftPpb);
        break;
      case FaultKind::wallRate:
        RC_ASSERT(std::abs(fault.amount) <= 50'000'000);
        break;
      case FaultKind::wallJump:
        RC_ASSERT(std::abs(fault.amount) >= sim::milliseconds(128).ns);
        RC_ASSERT(std::abs(fault.amount) <= sim::hours(24).ns);
        break;
      case FaultKind::pause:
      case FaultKind::suspend:
        RC_ASSERT(fault.at + fault.duration <= options.calmAt);
        RC_ASSERT((fault.kind == FaultKind::suspend) == (history.stall == StallStyle::frozen));
        break;
      default:
        RC_FAIL("a fault that is none of a clock");
    }
  }
  RC_ASSERT(frozen || history.stall != StallStyle::frozen);
}

RC_GTEST_PROP(Generate, MakesValidCasesInsideTheAssumption, (std::uint64_t seed, std::uint16_t index)) {
  GeneratorOptions options;
  options.seed = seed;
  const Generated made = generate(options, index);
  RC_ASSERT(scenarios::validate(made.whole.options).has_value());
  RC_ASSERT(scenarios::validate(made.whole.plan, made.whole.options).has_value());
  RC_ASSERT(made.insideAssumption());
  RC_ASSERT(made.whole.plan.clocks.size() == std::size_t{made.whole.options.nodes});
  for (const Fault& fault : made.whole.plan.faults) {
    RC_ASSERT(fault.kind != FaultKind::suspend);
    if (fault.kind == FaultKind::rateChange) RC_ASSERT(std::abs(fault.amount) <= made.coveredPpb);
  }
  RC_ASSERT(generate(options, index).whole == made.whole);
}

TEST(Generate, MakesEveryFamilyAndStyle) {
  std::set<Family> families;
  std::set<RateStyle> rates;
  std::set<WallStyle> walls;
  std::set<StallStyle> stalls;
  GeneratorOptions options;
  options.frozen = true;
  for (std::uint64_t index = 0; index < 60; ++index) {
    const Generated made = generate(options, index);
    families.insert(made.family);
    for (const NodeHistory& history : made.histories) {
      rates.insert(history.rate);
      walls.insert(history.wall);
      stalls.insert(history.stall);
    }
  }
  EXPECT_EQ(families.size(), obs::kEnumeratorCount<Family>);
  EXPECT_EQ(rates.size(), obs::kEnumeratorCount<RateStyle>);
  EXPECT_EQ(walls.size(), obs::kEnumeratorCount<WallStyle>);
  EXPECT_EQ(stalls.size(), obs::kEnumeratorCount<StallStyle>);
}

TEST(Generate, LeavesTheAssumptionWhenItIsToldTo) {
  GeneratorOptions options;
  options.maxDriftPpb = 300'000'000;
  const Generated made = generate(options, 0);
  EXPECT_EQ(made.driftPpb, 300'000'000);
  EXPECT_LT(made.coveredPpb, made.driftPpb);
  EXPECT_FALSE(made.insideAssumption());
}

}  // namespace
}  // namespace holdfast::skew
