// Shrinking plans: what is left fails in the same way, is small, and is the same for any number of jobs.
#include "shrink/shrink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "scenarios/swarm.hpp"
#include "scenarios/sweep.hpp"
#include "shrink/edits.hpp"

namespace holdfast::shrink {
namespace {

using protocol::Rule;
using scenarios::Fault;
using scenarios::FaultKind;
using scenarios::Operation;
using scenarios::OperationKind;

unsigned allJobs() { return std::max(1U, std::thread::hardware_concurrency()); }

/// The first seed from 1 on that is violated without the rule; nothing within 300 seeds fails the test.
Case failingCase(Rule rule) {
  scenarios::SweepOptions sweep;
  sweep.rules.switchOff(rule);
  sweep.count = 300;
  sweep.jobs = allJobs();
  sweep.stopOnFirst = true;
  sweep.mustReach = false;
  const scenarios::SweepReport report = scenarios::sweep(sweep);
  EXPECT_FALSE(report.failures.empty()) << protocol::nameOf(rule);
  Case whole;
  if (!report.failures.empty()) whole.options.seed = report.failures.front().seed;
  whole.plan = scenarios::drawPlan(whole.options);
  return whole;
}

class ShrinkMutantTest : public testing::TestWithParam<Rule> {};

TEST_P(ShrinkMutantTest, EndsInAFewSteps) {
  const Case whole = failingCase(GetParam());
  ShrinkOptions options;
  options.rules.switchOff(GetParam());
  options.jobs = allJobs();
  options.timeLimitNs = 60'000'000'000;
  const auto result = shrink(whole, options);
  ASSERT_TRUE(result.has_value()) << result.error();
  EXPECT_GT(result->before.steps(), 100U);
  EXPECT_LE(result->after.steps(), 12U);
  EXPECT_LE(result->after.nodes, 3U);
  EXPECT_EQ(result->after, sizeOf(result->smallest));
  ASSERT_TRUE(scenarios::validate(result->smallest.options).has_value());
  ASSERT_TRUE(scenarios::validate(result->smallest.plan, result->smallest.options).has_value());
  const auto again = scenarios::runPlan(result->smallest.options, options.rules, result->smallest.plan);
  EXPECT_NE(checkers::firstOf(again.findings, result->signature), nullptr);
  EXPECT_EQ(again.hash, result->report.hash);
}

INSTANTIATE_TEST_SUITE_P(Mutants, ShrinkMutantTest,
                         testing::Values(Rule::DG3_OneDelegate, Rule::FR2_InheritDependencies,
                                         Rule::LH1_LocalExclusion),
                         [](const auto& each) { return std::string(protocol::nameOf(each.param)); });

TEST(Shrink, IsTheSameForAnyNumberOfJobs) {
  const Case whole = failingCase(Rule::LH1_LocalExclusion);
  ShrinkOptions options;
  options.rules.switchOff(Rule::LH1_LocalExclusion);
  const auto one = shrink(whole, options);
  options.jobs = 3;
  const auto three = shrink(whole, options);
  ASSERT_TRUE(one.has_value() && three.has_value());
  EXPECT_EQ(one->smallest, three->smallest);
  EXPECT_TRUE(one->complete);
}

TEST(Shrink, SaysWhenThereIsNothingToShrink) {
  Case whole;
  whole.plan = scenarios::drawPlan(whole.options);
  const auto held = shrink(whole, {});
  ASSERT_FALSE(held.has_value());
  EXPECT_EQ(held.error(), "the run breaks no promise, so there is nothing to shrink");

  whole = failingCase(Rule::LH1_LocalExclusion);
  ShrinkOptions options;
  options.rules.switchOff(Rule::LH1_LocalExclusion);
  options.signature = {checkers::Checker::cost, checkers::Anomaly::costBeyondBound, checkers::Route::none};
  const auto other = shrink(whole, options);
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error(), testing::HasSubstr("the run does not fail by checker cost"));
}

TEST(Shrink, EndsEarlyWithWhatFailsByThen) {
  struct Stopper : ShrinkProgress {
    int left = 5;
    bool reached(std::string_view, const Size&, std::uint64_t) override { return left-- > 0; }
  } stopper;
  const Case whole = failingCase(Rule::LH1_LocalExclusion);
  ShrinkOptions options;
  options.rules.switchOff(Rule::LH1_LocalExclusion);
  options.progress = &stopper;
  const auto part = shrink(whole, options);
  ASSERT_TRUE(part.has_value()) << part.error();
  EXPECT_FALSE(part->complete);
  EXPECT_NE(checkers::firstOf(part->report.findings, part->signature), nullptr);
}

Case smallCase() {
  Case whole;
  whole.plan.endAt = {10'000'000'000};
  whole.plan.healAt = {8'000'000'000};
  whole.plan.clocks.assign(5, {});
  whole.plan.clocks[3].ratePpb = 1'234;
  Operation operation;
  operation.id = 7;
  operation.at = {3'141'592'653};
  operation.node = obs::NodeId{4};
  operation.key = obs::KeyId{2};
  operation.secondKey = obs::KeyId{5};
  operation.kind = OperationKind::transfer;
  operation.wait = sim::milliseconds(1'700);
  operation.lease = sim::seconds(2);
  whole.plan.operations.push_back(operation);
  Fault fault;
  fault.id = 8;
  fault.at = {1'000'000'000};
  fault.kind = FaultKind::partition;
  fault.amount = 0b10010;
  fault.duration = sim::milliseconds(900);
  whole.plan.faults.push_back(fault);
  return whole;
}

TEST(Case, CountsAndSelectsItsSteps) {
  const Case whole = smallCase();
  const Size size = sizeOf(whole);
  EXPECT_EQ(size.steps(), 3U);
  EXPECT_EQ(size.clocks, 1U);
  const Steps steps(whole);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps.only({0, 1, 2}), whole);
  const Case faultOnly = steps.only({1});
  EXPECT_TRUE(faultOnly.plan.operations.empty()) << "clocks come first, then by time";
  EXPECT_EQ(faultOnly.plan.faults.size(), 1U);
  EXPECT_EQ(sizeOf(faultOnly).clocks, 0U);
  EXPECT_THAT(nodesIn(whole), testing::ElementsAre(1, 3, 4));
  EXPECT_THAT(keysIn(whole), testing::ElementsAre(2, 5));
}

TEST(Case, NodesTakeEachOthersPlaceEverywhere) {
  const std::vector<std::uint16_t> to{0, 1, 0, 2, 0};
  const Case mapped = withNodes(smallCase(), to, 3);
  EXPECT_EQ(mapped.options.nodes, 3);
  EXPECT_EQ(mapped.plan.operations[0].node, obs::NodeId{0});
  EXPECT_EQ(mapped.plan.faults[0].amount, 0b011) << "nodes 1 and 4 became 1 and 0";
  ASSERT_EQ(mapped.plan.clocks.size(), 3U);
  EXPECT_EQ(mapped.plan.clocks[2].ratePpb, 1'234);
  EXPECT_TRUE(scenarios::validate(mapped.plan, mapped.options).has_value());
}

TEST(Case, ATransferBetweenKeysThatBecameOneIsAnUpdate) {
  const Case mapped = withKeys(smallCase(), std::vector<std::uint32_t>(6, 0), 1);
  EXPECT_EQ(mapped.plan.operations[0].kind, OperationKind::lockedUpdate);
  EXPECT_FALSE(mapped.plan.operations[0].secondKey.valid());
  EXPECT_TRUE(scenarios::validate(mapped.plan, mapped.options).has_value());
}

TEST(Edits, EndAndLeaveAValidCase) {
  Case current = smallCase();
  int rounds = 0;
  for (bool changed = true; changed; ++rounds) {
    ASSERT_LT(rounds, 100) << "two edits undo each other";
    changed = false;
    for (const auto& edits : {sweepingEdits(), timeEdits(current), singleEdits(current)}) {
      for (const Edit& edit : edits) {
        Case next = edit(current);
        changed |= next != current;
        current = std::move(next);
        ASSERT_TRUE(scenarios::validate(current.plan, current.options).has_value());
        ASSERT_TRUE(scenarios::validate(current.options).has_value());
      }
    }
  }
  EXPECT_EQ(current.plan.operations[0].kind, OperationKind::lockedUpdate);
  EXPECT_EQ(current.plan.operations[0].at.ns % 1'000'000, 0);
  EXPECT_LT(current.plan.endAt.ns, 1'000'000'000);
  EXPECT_EQ(current.plan.clocks[3].ratePpb, 0);
}

}  // namespace
}  // namespace holdfast::shrink
