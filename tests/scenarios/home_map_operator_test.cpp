// The operator of a plan's home maps: stages, waits, fences who is silent, and lets them return one at a
// time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "scenarios/cluster.hpp"
#include "scenarios/profiles.hpp"
#include "scenarios/sweep.hpp"

namespace holdfast::scenarios {
namespace {

struct Seen : ObservationSink {
  void observe(const obs::Stamped& stamped, std::uint64_t) override { all.push_back(stamped); }

  template <class T>
  std::vector<std::pair<obs::Stamp, T>> of(const std::function<bool(const T&, NodeId)>& filter = {}) const {
    std::vector<std::pair<obs::Stamp, T>> found;
    for (const obs::Stamped& stamped : all) {
      const T* const what = std::get_if<T>(&stamped.what);
      if (what != nullptr && (!filter || filter(*what, stamped.node)))
        found.emplace_back(obs::Stamp{stamped.at, stamped.node}, *what);
    }
    return found;
  }

  std::vector<obs::Stamped> all;
};

struct MapRun {
  MapRun() {
    options.protocol.membership = protocol::MembershipKind::homeMap;
    options.faults.sparePpm = 0;
    options.workload.gap = sim::hours(1);
    options.workload.intoHealedPhase = {};
    plan.healAt = TrueInstant{} + options.faultPhase;
    plan.endAt = plan.healAt + options.healedPhase;
  }
  void fault(FaultKind kind, std::int64_t at, NodeId node, std::int64_t seconds,
             NodeId peer = NodeId::none()) {
    Fault one;
    one.id = plan.faults.size() + 1;
    one.kind = kind;
    one.at = TrueInstant{} + sim::seconds(at);
    one.node = node;
    one.peer = peer;
    one.duration = sim::seconds(seconds);
    plan.faults.push_back(one);
  }
  RunReport run() { return runPlan(options, {}, plan, &seen); }
  Duration drain() const { return options.protocol.maxDelegation + options.protocol.skew; }

  RunOptions options;
  Plan plan;
  Seen seen;
};

constexpr NodeId kThirdNode{2};
constexpr NodeId kFourthNode{3};
constexpr NodeId kFifthNode{4};

TEST(HomeMapOperator, PublishesWhatHeWantsAndGivesBackWhatHeTakes) {
  MapRun map;
  map.fault(FaultKind::dismissMember, 2, kFifthNode, 20);
  EXPECT_TRUE(map.run().findings.violations().empty());
  const auto activated = map.seen.of<obs::HomeMapActivated>();
  ASSERT_FALSE(activated.empty());
  EXPECT_FALSE(activated.front().second.homes.contains(kFifthNode));
  EXPECT_GE(activated.front().first.at, TrueInstant{} + sim::seconds(2) + map.drain());
  EXPECT_EQ(activated.back().second.homes.bits, 31U) << "all five in the end";
  EXPECT_EQ(activated.back().second.generation, 3U);
  EXPECT_TRUE(map.seen.of<obs::HomeMapFenced>().empty()) << "nobody was silent";
}

TEST(HomeMapOperator, FencesTheSilentAndLetsThemReturnOneAtATime) {
  MapRun map;
  map.fault(FaultKind::crash, 1, kThirdNode, 6);  // it would be back long before the activation
  map.fault(FaultKind::isolate, 1, kFourthNode, 30);
  map.fault(FaultKind::dismissMember, 2, kFifthNode, 38);
  EXPECT_TRUE(map.run().findings.violations().empty());
  const auto fenced = map.seen.of<obs::HomeMapFenced>();
  ASSERT_EQ(fenced.size(), 2U);
  EXPECT_EQ(fenced[0].second.member, kThirdNode);
  EXPECT_EQ(fenced[1].second.member, kFourthNode);
  EXPECT_GE(fenced[0].first.at, TrueInstant{} + sim::seconds(2) + kOperatorPatience);
  const auto activated = map.seen.of<obs::HomeMapActivated>();
  ASSERT_FALSE(activated.empty());
  EXPECT_GE(activated.front().first.at, fenced[1].first.at + map.drain()) << "HM-3: counted from the fence";
  const auto starts =
      map.seen.of<obs::NodeStarted>([](const obs::NodeStarted& s, NodeId) { return s.start == 2; });
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_GE(starts[0].first.at, activated.front().first.at) << "HM-5: a fence is a stop that lasts";
  const NodeId first = starts[0].first.node;
  const auto learned = map.seen.of<obs::HomeMapActivated>(
      [&](const obs::HomeMapActivated&, NodeId node) { return node == first; });
  ASSERT_FALSE(learned.empty());
  EXPECT_GE(starts[1].first.at, learned.front().first.at) << "the other waits until the first has learned";
}

TEST(HomeMapOperator, LeavesAConsoleThatDiesAndOvertakesItsChange) {
  MapRun map;
  map.fault(FaultKind::dismissMember, 2, kFifthNode, 38);
  // Whoever is the console: all but one die in the drain, and one after the other comes back.
  for (std::uint16_t i = 0; i < 4; ++i) map.fault(FaultKind::crash, 3, NodeId{i}, 5 + i);
  EXPECT_TRUE(map.run().findings.violations().empty());
  const auto staged = map.seen.of<obs::HomeMapStaged>();
  const auto activated = map.seen.of<obs::HomeMapActivated>();
  ASSERT_FALSE(activated.empty());
  EXPECT_GT(activated.back().second.generation, 2U);
  EXPECT_EQ(activated.back().second.homes.bits, 31U);
  std::uint32_t greatest = 0;
  for (const auto& one : staged) greatest = std::max(greatest, one.second.generation);
  EXPECT_EQ(activated.back().second.generation, greatest) << "nothing is left half done";
}

TEST(HomeMapOperator, BringsAClusterBackInWhichEverybodyIsKeptDown) {
  RunOptions options = optionsOf(Profile::chaos);
  options.protocol.membership = protocol::MembershipKind::homeMap;
  for (const std::uint64_t seed : {500'000U, 500'001U, 500'009U, 500'031U}) {
    options.seed = seed;
    Seen seen;
    EXPECT_EQ(runSeed(options, {}, &seen).verdict, checkers::Verdict::held) << seed;
    TrueInstant healed = TrueInstant::never();
    std::size_t down = 0;
    bool allDown = false;
    std::size_t admitted = 0;
    for (const obs::Stamped& stamped : seen.all) {
      const auto* const phase = std::get_if<obs::PhaseChanged>(&stamped.what);
      if (phase != nullptr && phase->phase == obs::Phase::healed) healed = stamped.at;
      if (std::holds_alternative<obs::NodeCrashed>(stamped.what)) ++down;
      const auto* const start = std::get_if<obs::NodeStarted>(&stamped.what);
      if (start != nullptr && start->start > 1) --down;
      allDown = allDown || down == options.nodes;
      if (std::holds_alternative<obs::Admitted>(stamped.what) && stamped.at > healed) ++admitted;
    }
    EXPECT_TRUE(allDown) << seed;
    EXPECT_GT(admitted, 0U) << seed << ": locks can be had again";
  }
}

TEST(HomeMapOperator, RaisesNobodyWhomADeadConsoleTakesForFenced) {
  MapRun map;
  map.options.nodes = 3;
  const NodeId a{0};
  const NodeId b{1};
  map.fault(FaultKind::dismissMember, 0, a, 1);
  map.fault(FaultKind::isolate, 0, a, 12);
  map.fault(FaultKind::dismissMember, 5, a, 12);
  map.fault(FaultKind::dismissMember, 23, b, 12);
  map.fault(FaultKind::isolate, 33, b, 13);
  map.fault(FaultKind::isolate, 48, a, 5);
  map.fault(FaultKind::crash, 55, a, 1);
  map.options.seed = 5014281;
  EXPECT_TRUE(map.run().findings.violations().empty());
  // Everybody is down at 55 s, A as the console of a change for which the other two are fenced.
  const auto starts =
      map.seen.of<obs::NodeStarted>([](const obs::NodeStarted& start, NodeId) { return start.start > 1; });
  const auto fences = map.seen.of<obs::HomeMapFenced>();
  const auto activated = map.seen.of<obs::HomeMapActivated>();
  ASSERT_FALSE(fences.empty());
  for (const auto& [stamp, start] : starts) {
    for (const auto& [fencedAt, fence] : fences) {
      if (fence.member != stamp.node || fencedAt.at >= stamp.at) continue;
      const bool over = std::ranges::any_of(activated, [&](const auto& one) {
        return one.second.generation >= fence.generation && one.first.at <= stamp.at;
      });
      EXPECT_TRUE(over) << "start " << start.start << " of node " << stamp.node.value;
    }
  }
}

TEST(HomeMapOperator, ASweepReachesWhatOnlyMapsCan) {
  SweepOptions options;
  options.run.protocol.membership = protocol::MembershipKind::homeMap;
  options.count = 24;
  const SweepReport report = sweep(options);
  EXPECT_EQ(report.held, report.ran);
  for (const Milestone milestone :
       {Milestone::homeMapActivated, Milestone::homeMapFenced, Milestone::acknowledgementDied,
        Milestone::changeOvertaken, Milestone::memberRemoved, Milestone::memberAdded}) {
    EXPECT_GT(report.milestones[static_cast<std::size_t>(milestone)].seeds, 0U) << obs::nameOf(milestone);
  }
}

}  // namespace
}  // namespace holdfast::scenarios
