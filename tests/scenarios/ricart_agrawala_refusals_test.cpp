// What a participant of Ricart-Agrawala tells a caller whose time is up (section 12): 423 when somebody has
// held the key while it waited, 503 when a participant is merely silent (RA-6).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "scenarios/cluster.hpp"
#include "scenarios/sweep.hpp"

namespace holdfast::scenarios {
namespace {

using testing::ElementsAre;

constexpr NodeId kHolder{0};
constexpr NodeId kWaiter{1};

struct Refusals : ObservationSink {
  void observe(const obs::Stamped& stamped, std::uint64_t) override {
    if (const auto* refused = std::get_if<obs::LockRefused>(&stamped.what)) causes.push_back(refused->cause);
    if (std::holds_alternative<obs::Admitted>(stamped.what)) ++admitted;
  }
  std::vector<obs::Cause> causes;
  int admitted = 0;
};

/// Two participants and one key; messages take 2 ms, and commits as long as the test says.
struct TwoParticipants {
  explicit TwoParticipants(Duration commit) {
    options.nodes = 2;
    options.keys = 1;
    options.protocol.algorithm = protocol::LockAlgorithm::ricartAgrawala;
    options.protocol.membership = protocol::MembershipKind::fixed;
    options.delays.link = LatencyDistribution::constant(sim::milliseconds(2));
    options.delays.apply = LatencyDistribution::constant(sim::milliseconds(1));
    options.delays.commit = LatencyDistribution::constant(commit);
    plan.healAt = TrueInstant{} + sim::seconds(20);
    plan.endAt = TrueInstant{} + sim::seconds(21);
  }

  TwoParticipants& asks(NodeId node, std::int64_t ms, OperationKind kind, std::int64_t waitMs,
                        std::int64_t leaseMs, std::int64_t thinkMs = 0) {
    Operation operation;
    operation.id = plan.operations.size() + 1;
    operation.at = TrueInstant{} + sim::milliseconds(ms);
    operation.node = node;
    operation.kind = kind;
    operation.key = KeyId{0};
    operation.wait = sim::milliseconds(waitMs);
    operation.lease = sim::milliseconds(leaseMs);
    operation.think = sim::milliseconds(thinkMs);
    plan.operations.push_back(operation);
    return *this;
  }

  TwoParticipants& fault(FaultKind kind, std::int64_t ms, NodeId node, std::int64_t forMs,
                         std::int64_t amount = 0) {
    Fault one;
    one.id = plan.faults.size() + 100;
    one.kind = kind;
    one.at = TrueInstant{} + sim::milliseconds(ms);
    one.node = node;
    one.duration = sim::milliseconds(forMs);
    one.amount = amount;
    plan.faults.push_back(one);
    return *this;
  }

  RunReport run() { return runPlan(options, {}, plan, &seen); }

  RunOptions options;
  Plan plan;
  Refusals seen;
};

/// A's caller is admitted at 2 s, after two commits, and leaves by its lease at 5 s; B, who has asked since,
/// has A's grant half a second later.
TwoParticipants withHolderUntilFiveSeconds() {
  TwoParticipants two(sim::milliseconds(500));
  two.asks(kHolder, 1'000, OperationKind::abandon, 5'000, 3'000);
  return two;
}

TEST(RicartAgrawalaRefusals, AHolderThatLeftWhileALaterCallerWaitedIsA423) {
  TwoParticipants two = withHolderUntilFiveSeconds();
  two.asks(kWaiter, 2'500, OperationKind::lockedUpdate, 6'000, 1'000)
      .asks(kWaiter, 4'000, OperationKind::lockedUpdate, 1'300, 1'000);
  EXPECT_EQ(two.run().verdict, checkers::Verdict::held);
  EXPECT_THAT(two.seen.causes, ElementsAre(obs::Cause::contended));
  EXPECT_EQ(two.seen.admitted, 2);
}

TEST(RicartAgrawalaRefusals, AHolderThatLeftBeforeTheCallerCameIsNone) {
  TwoParticipants two = withHolderUntilFiveSeconds();
  two.asks(kWaiter, 2'500, OperationKind::lockedUpdate, 6'000, 1'000)
      .asks(kWaiter, 5'050, OperationKind::lockedUpdate, 200, 1'000);
  EXPECT_EQ(two.run().verdict, checkers::Verdict::held);
  EXPECT_THAT(two.seen.causes, ElementsAre(obs::Cause::participant));
  EXPECT_EQ(two.seen.admitted, 2);
}

TEST(RicartAgrawalaRefusals, WhoeverWaitsBehindTheOneWhoAskedIsNotMeant) {
  TwoParticipants two = withHolderUntilFiveSeconds();
  // The earlier caller asks at 5.15 s and hears that A was inside; the other one came after that.
  two.asks(kWaiter, 4'000, OperationKind::lockedUpdate, 1'300, 1'000)
      .asks(kWaiter, 5'050, OperationKind::lockedUpdate, 300, 1'000);
  EXPECT_EQ(two.run().verdict, checkers::Verdict::held);
  EXPECT_THAT(two.seen.causes, ElementsAre(obs::Cause::contended, obs::Cause::participant));
}

TEST(RicartAgrawalaRefusals, WhoLapsedWhileItsProcessWasSuspendedIsNoHolder) {
  // A's caller is inside when the process is paused, and has lapsed when it goes on; B is slow to grant anew.
  TwoParticipants two(sim::milliseconds(1));
  two.asks(kHolder, 1'000, OperationKind::lockedUpdate, 2'000, 1'000, 100)
      .fault(FaultKind::pause, 1'050, kHolder, 2'000)
      .fault(FaultKind::slowCommit, 1'050, kWaiter, 6'000, sim::seconds(8).ns)
      .asks(kHolder, 1'060, OperationKind::lockedUpdate, 1'000, 1'000);
  EXPECT_EQ(two.run().verdict, checkers::Verdict::held);
  EXPECT_THAT(two.seen.causes, ElementsAre(obs::Cause::participant));
  EXPECT_EQ(two.seen.admitted, 1);
}

TEST(RicartAgrawalaRefusals, WhoLeavesAfterItsLeaseHadLeftBefore) {
  // A's caller unlocks when the process goes on at 4.05 s, long after its lease; B came between the two.
  TwoParticipants two(sim::milliseconds(500));
  two.asks(kHolder, 1'000, OperationKind::lockedUpdate, 2'000, 1'000, 100)
      .fault(FaultKind::pause, 2'050, kHolder, 2'000)
      .asks(kWaiter, 3'300, OperationKind::lockedUpdate, 1'000, 1'000);
  EXPECT_EQ(two.run().verdict, checkers::Verdict::held);
  EXPECT_THAT(two.seen.causes, ElementsAre(obs::Cause::participant));
  EXPECT_EQ(two.seen.admitted, 1);
}

}  // namespace
}  // namespace holdfast::scenarios
