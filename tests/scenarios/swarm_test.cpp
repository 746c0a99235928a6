// Drawing plans: within the options, and every draw keyed by what it is about.
#include "scenarios/swarm.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace holdfast::scenarios {
namespace {

RunOptions everyFault(std::uint64_t seed) {
  RunOptions options;
  options.seed = seed;
  options.faults.swarmOnPpm = sim::kPpmOne;
  return options;
}

std::vector<Operation> operationsOf(const Plan& plan, NodeId node) {
  std::vector<Operation> found;
  std::ranges::copy_if(plan.operations, std::back_inserter(found),
                       [&](const Operation& operation) { return operation.node == node; });
  return found;
}

std::vector<Fault> faultsOf(const Plan& plan, FaultKind kind) {
  std::vector<Fault> found;
  std::ranges::copy_if(plan.faults, std::back_inserter(found),
                       [&](const Fault& fault) { return fault.kind == kind; });
  return found;
}

TEST(Swarm, OneSeedDrawsOnePlan) {
  EXPECT_EQ(drawPlan(everyFault(3)), drawPlan(everyFault(3)));
  EXPECT_NE(drawPlan(everyFault(3)), drawPlan(everyFault(4)));
}

TEST(Swarm, EveryKindOfFaultAndOperationIsDrawnBySomeSeed) {
  std::set<FaultKind> faults;
  std::set<OperationKind> operations;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Plan plan = drawPlan(everyFault(seed));
    for (const Fault& fault : plan.faults) faults.insert(fault.kind);
    for (const Operation& operation : plan.operations) operations.insert(operation.kind);
  }
  // All but wallRate and suspend, which are of clock histories only.
  EXPECT_EQ(faults.size(), obs::kEnumeratorCount<FaultKind> - 2);
  EXPECT_EQ(operations.size(), obs::kEnumeratorCount<OperationKind>);
}

TEST(Swarm, SeedsDifferInTheFaultsThatTheyHave) {
  RunOptions options;
  std::set<std::set<FaultKind>> subsets;
  std::size_t on = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    options.seed = seed;
    std::set<FaultKind> subset;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<FaultKind>>([&](auto kind) {
      if (swarmHas(options, kind.value)) subset.insert(kind.value);
    });
    for (const Fault& fault : drawPlan(options).faults) EXPECT_TRUE(subset.contains(fault.kind));
    on += subset.size();
    subsets.insert(subset);
  }
  EXPECT_GT(subsets.size(), 45U);
  const double share = static_cast<double>(on) / (50.0 * obs::kEnumeratorCount<FaultKind>);
  EXPECT_NEAR(share, 0.5, 0.1);
}

RC_GTEST_PROP(Swarm, FaultsEndWithTheFaultPhaseAndClocksStayCovered, (std::uint64_t seed)) {
  const RunOptions options = everyFault(seed);
  const Plan plan = drawPlan(options);
  RC_ASSERT(plan.clocks.size() == options.nodes);
  RC_ASSERT(plan.endAt - plan.healAt == options.healedPhase);
  RC_ASSERT(!plan.faults.empty());
  for (const Fault& fault : plan.faults) {
    RC_ASSERT(fault.at < plan.healAt);
    RC_ASSERT(fault.at + fault.duration <= plan.healAt);
    if (fault.kind == FaultKind::rateChange) RC_ASSERT(std::abs(fault.amount) <= options.faults.maxDriftPpb);
  }
  for (const ClockSettings& clock : plan.clocks) {
    RC_ASSERT(std::abs(clock.ratePpb) <= options.faults.maxDriftPpb);
  }
  for (const Operation& operation : plan.operations) {
    RC_ASSERT(operation.at < plan.healAt + options.workload.intoHealedPhase);
  }
}

// Keyed draws: what is switched off, or added, leaves the rest as it was.
TEST(Swarm, SwitchingAFaultOffLeavesEverythingElse) {
  const Plan all = drawPlan(everyFault(11));
  RunOptions fewer = everyFault(11);
  fewer.faults.pause.meanGap = {};
  const Plan without = drawPlan(fewer);
  ASSERT_FALSE(faultsOf(all, FaultKind::pause).empty());
  EXPECT_TRUE(faultsOf(without, FaultKind::pause).empty());
  EXPECT_EQ(all.operations, without.operations);
  EXPECT_EQ(all.clocks, without.clocks);
  EXPECT_EQ(faultsOf(all, FaultKind::crash), faultsOf(without, FaultKind::crash));
  EXPECT_EQ(all.faults.size(), without.faults.size() + faultsOf(all, FaultKind::pause).size());
}

bool changesMembers(const Fault& fault) { return fault.kind >= FaultKind::admitMember; }

TEST(Swarm, MembershipsDifferInTheChangesOfMembersAlone) {
  std::set<FaultKind> ofMaps;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RunOptions options = everyFault(seed);
    const Plan epochs = drawPlan(options);
    options.protocol.membership = protocol::MembershipKind::fixed;
    const Plan fixed = drawPlan(options);
    EXPECT_FALSE(std::ranges::any_of(fixed.faults, changesMembers));
    options.protocol.membership = protocol::MembershipKind::homeMap;
    Plan maps = drawPlan(options);
    for (const Fault& fault : maps.faults) {
      if (!changesMembers(fault)) continue;
      ofMaps.insert(fault.kind);
      EXPECT_EQ(std::ranges::count(epochs.faults, fault), 1) << "an operator's faults are the same in both";
    }
    std::erase_if(maps.faults, changesMembers);
    EXPECT_EQ(maps, fixed);
  }
  EXPECT_EQ(ofMaps, (std::set{FaultKind::admitMember, FaultKind::dismissMember, FaultKind::replaceMember}));
}

TEST(Swarm, AFurtherNodeLeavesTheOthersOperations) {
  const RunOptions five = everyFault(11);
  RunOptions six = five;
  six.nodes = 6;
  const Plan smaller = drawPlan(five);
  const Plan larger = drawPlan(six);
  for (std::uint16_t node = 0; node < 5; ++node) {
    ASSERT_FALSE(operationsOf(smaller, NodeId{node}).empty());
    EXPECT_EQ(operationsOf(smaller, NodeId{node}), operationsOf(larger, NodeId{node}));
  }
  EXPECT_FALSE(operationsOf(larger, NodeId{5}).empty());
}

TEST(Swarm, ABurstIsSeveralCallersAtOneInstant) {
  RunOptions options = everyFault(5);
  options.workload.burstPpm = sim::kPpmOne;
  options.workload.burstCallers = 4;
  const Plan plan = drawPlan(options);
  ASSERT_GE(plan.operations.size(), 40U);
  ASSERT_EQ(plan.operations.size() % 4, 0U);
  std::set<std::uint64_t> ids;
  std::size_t spread = 0;
  for (std::size_t i = 0; i < plan.operations.size(); i += 4) {
    std::set<KeyId> keys;
    for (std::size_t caller = i; caller < i + 4; ++caller) {
      EXPECT_EQ(plan.operations[caller].at, plan.operations[i].at);
      EXPECT_EQ(plan.operations[caller].node, plan.operations[i].node);
      ids.insert(plan.operations[caller].id);
      keys.insert(plan.operations[caller].key);
    }
    EXPECT_TRUE(keys.size() == 4 || keys == std::set<KeyId>{KeyId{0}});
    spread += keys.size() == 4 ? 1 : 0;
  }
  EXPECT_EQ(ids.size(), plan.operations.size());
  EXPECT_GT(spread, 0U);
  EXPECT_LT(spread, plan.operations.size() / 4);
}

TEST(Swarm, OneNodeAndOneKeyAreEnough) {
  RunOptions options = everyFault(2);
  options.nodes = 1;
  options.keys = 1;
  const Plan plan = drawPlan(options);
  ASSERT_TRUE(validate(plan, options).has_value()) << validate(plan, options).error();
  EXPECT_FALSE(plan.operations.empty());
  EXPECT_TRUE(faultsOf(plan, FaultKind::partition).empty());
}

TEST(Swarm, ShortensTheRetentionOfTombstonesInAShareOfTheSeeds) {
  RunOptions options;
  options.faults.briefRetentionPpm = 125'000;
  int brief = 0;
  for (options.seed = 1; options.seed <= 4'000; ++options.seed) {
    const Duration kept = retentionOf(options);
    if (kept == options.protocol.tombstoneRetention) continue;
    ++brief;
    EXPECT_GE(kept, sim::seconds(5));
    EXPECT_LE(kept, sim::seconds(30));
  }
  EXPECT_NEAR(brief, 500, 100);
  options.faults.briefRetentionPpm = sim::kPpmOne;
  options.protocol.tombstoneRetention = sim::seconds(2);
  EXPECT_EQ(retentionOf(options), sim::seconds(2)) << "it is never lengthened";
  options.faults.briefRetentionPpm = 0;
  options.protocol.tombstoneRetention = sim::minutes(5);
  EXPECT_EQ(retentionOf(options), sim::minutes(5));
}

}  // namespace
}  // namespace holdfast::scenarios
