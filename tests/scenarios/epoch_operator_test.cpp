// The operator of a plan's epochs: one loss of a member or of its records is made good before there is
// another (EP-11, EP-13).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "scenarios/cluster.hpp"
#include "scenarios/sweep.hpp"

namespace holdfast::scenarios {
namespace {

constexpr NodeId kFirst{0};
constexpr NodeId kSecond{1};
constexpr NodeId kThird{2};
constexpr NodeId kFourth{3};
constexpr NodeId kFifth{4};

struct SeenOfEpochs : ObservationSink {
  void observe(const obs::Stamped& stamped, std::uint64_t) override { all.push_back(stamped); }
  std::vector<obs::Stamped> all;
};

/// A plan of faults, of members that agree on themselves, and of one caller at its end.
struct EpochRun {
  EpochRun() {
    options.faults.sparePpm = 0;
    options.workload.gap = sim::hours(1);
    options.workload.intoHealedPhase = {};
    plan.healAt = TrueInstant{} + options.faultPhase;
    plan.endAt = plan.healAt + options.healedPhase;
    // Somebody asks when all is over: agreement has not been lost for good (S-70).
    Operation last;
    last.id = 1;
    last.at = plan.healAt + sim::seconds(80);
    last.node = kFirst;
    last.kind = OperationKind::lockedUpdate;
    last.key = KeyId{0};
    last.wait = last.lease = sim::seconds(2);
    plan.operations.push_back(last);
  }

  EpochRun& fault(FaultKind kind, std::int64_t at, NodeId node, std::int64_t seconds) {
    Fault one;
    one.id = plan.faults.size() + 1;
    one.kind = kind;
    one.at = TrueInstant{} + sim::seconds(at);
    one.node = node;
    one.duration = sim::seconds(seconds);
    plan.faults.push_back(one);
    return *this;
  }

  RunReport run() { return runPlan(options, {}, plan, &seen); }

  /// Whether the node's process went down: it does when its records are lost or spoilt.
  bool wentDown(NodeId node) const {
    return std::ranges::any_of(seen.all, [&](const obs::Stamped& stamped) {
      return stamped.node == node && std::holds_alternative<obs::NodeCrashed>(stamped.what);
    });
  }

  /// How many members the configuration has that was installed last before `seconds`.
  std::size_t membersAt(std::int64_t seconds) const {
    std::size_t members = 0;
    for (const obs::Stamped& stamped : seen.all) {
      const auto* const installed = std::get_if<obs::MembershipInstalled>(&stamped.what);
      if (installed != nullptr && stamped.at < TrueInstant{} + sim::seconds(seconds))
        members = static_cast<std::size_t>(std::popcount(installed->members.bits));
    }
    return members;
  }

  RunOptions options;
  Plan plan;
  SeenOfEpochs seen;
};

// ---- Beside a dismissal that waits ------------------------------------------------------------------------

/// The first member, on its own from the fourth second on, is told to take the second away: it can not, and
/// keeps that in mind until it hears a majority again.
EpochRun withDismissalThatWaits() {
  EpochRun epochs;
  epochs.fault(FaultKind::isolate, 4, kFirst, 20).fault(FaultKind::dismissMember, 5, kSecond, 30);
  return epochs;
}

TEST(EpochOperator, ADismissalWaitsInAMemberThatHearsNoMajority) {
  EpochRun epochs = withDismissalThatWaits();
  EXPECT_EQ(epochs.run().verdict, checkers::Verdict::held);
  EXPECT_EQ(epochs.membersAt(23), 4U) << "only the silent first was left out";
}

TEST(EpochOperator, NoRecordsAreLostBesideADismissalThatWaits) {
  EpochRun epochs = withDismissalThatWaits();
  epochs.fault(FaultKind::corruptDisk, 22, kThird, 1);
  EXPECT_EQ(epochs.run().verdict, checkers::Verdict::held);
  EXPECT_FALSE(epochs.wentDown(kThird));
}

TEST(EpochOperator, WithoutTheDismissalTheSameRecordsAreLost) {
  EpochRun epochs;
  epochs.fault(FaultKind::isolate, 4, kFirst, 20).fault(FaultKind::corruptDisk, 22, kThird, 1);
  EXPECT_EQ(epochs.run().verdict, checkers::Verdict::held);
  EXPECT_TRUE(epochs.wentDown(kThird));
}

// ---- Beside a candidate whose records are spoilt ----------------------------------------------------------

/// The fifth node is dismissed, and its records are spoilt while it is away: members know it by its old disk.
EpochRun withSpoiltCandidate() {
  EpochRun epochs;
  epochs.fault(FaultKind::dismissMember, 4, kFifth, 34).fault(FaultKind::corruptDisk, 20, kFifth, 10);
  return epochs;
}

TEST(EpochOperator, NoRecordsAreLostBesideASpoiltCandidate) {
  EpochRun epochs = withSpoiltCandidate();
  epochs.fault(FaultKind::replaceDisk, 22, kThird, 1);
  EXPECT_EQ(epochs.run().verdict, checkers::Verdict::held);
  EXPECT_TRUE(epochs.wentDown(kFifth));
  EXPECT_FALSE(epochs.wentDown(kThird));
}

TEST(EpochOperator, WithoutTheSpoiltCandidateTheSameRecordsAreLost) {
  EpochRun epochs;
  epochs.fault(FaultKind::dismissMember, 4, kFifth, 34).fault(FaultKind::replaceDisk, 22, kThird, 1);
  EXPECT_EQ(epochs.run().verdict, checkers::Verdict::held);
  EXPECT_TRUE(epochs.wentDown(kThird));
}

TEST(EpochOperator, OneMoreMemberIsDismissedBesideASpoiltCandidate) {
  EpochRun epochs = withSpoiltCandidate();
  epochs.fault(FaultKind::dismissMember, 22, kFourth, 10);
  EXPECT_EQ(epochs.run().verdict, checkers::Verdict::held);
  EXPECT_EQ(epochs.membersAt(21), 4U);
  EXPECT_EQ(epochs.membersAt(29), 3U);
}

TEST(EpochOperator, NotTwoMoreMembersAreDismissedBesideASpoiltCandidate) {
  EpochRun epochs = withSpoiltCandidate();
  epochs.fault(FaultKind::dismissMember, 22, kFourth, 15).fault(FaultKind::dismissMember, 26, kThird, 10);
  EXPECT_EQ(epochs.run().verdict, checkers::Verdict::held);
  EXPECT_EQ(epochs.membersAt(29), 3U);
}

TEST(EpochOperator, TwoMoreMembersAreDismissedBesideACandidateThatIsWhole) {
  EpochRun epochs;
  epochs.fault(FaultKind::dismissMember, 4, kFifth, 34)
      .fault(FaultKind::dismissMember, 22, kFourth, 15)
      .fault(FaultKind::dismissMember, 26, kThird, 10);
  EXPECT_EQ(epochs.run().verdict, checkers::Verdict::held);
  EXPECT_EQ(epochs.membersAt(29), 2U);
}

TEST(EpochOperator, ACandidateLosesItsRecordsOnlyWhereItsVoteCanBeDoneWithout) {
  EpochRun three;
  three.options.nodes = 3;
  three.fault(FaultKind::dismissMember, 4, kThird, 34).fault(FaultKind::corruptDisk, 20, kThird, 1);
  EXPECT_EQ(three.run().verdict, checkers::Verdict::held);
  EXPECT_EQ(three.membersAt(20), 2U);
  EXPECT_FALSE(three.wentDown(kThird));
}

}  // namespace
}  // namespace holdfast::scenarios
