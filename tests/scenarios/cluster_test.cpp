// The cluster: what happens to processes, messages, disks and clocks, seen through its observations.
#include "scenarios/cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "scenarios/swarm.hpp"

namespace holdfast::scenarios {
namespace {

constexpr NodeId kA{0};
constexpr NodeId kB{1};
constexpr NodeId kC{2};

/// Keeps every observation.
struct Recorder : ObservationSink {
  std::vector<obs::Stamped> seen;
  std::uint64_t chain = 0;
  void observe(const obs::Stamped& stamped, std::uint64_t value) override {
    seen.push_back(stamped);
    chain = value;
  }
  template <class T>
  std::vector<std::pair<obs::Stamp, T>> all(
      std::function<bool(const obs::Stamp&, const T&)> filter = {}) const {
    std::vector<std::pair<obs::Stamp, T>> found;
    for (const obs::Stamped& stamped : seen) {
      const T* const what = std::get_if<T>(&stamped.what);
      const obs::Stamp stamp{stamped.at, stamped.node};
      if (what != nullptr && (!filter || filter(stamp, *what))) found.emplace_back(stamp, *what);
    }
    return found;
  }
};

/// Keeps every reply, by call and transaction.
struct Replies : ReplyListener {
  std::map<std::uint32_t, protocol::LockReply> locks;
  std::map<std::uint32_t, protocol::TxnReply> settled;
  std::vector<NodeId> lost;
  void replied(NodeId, const protocol::Reply& reply) override {
    if (const auto* lock = std::get_if<protocol::LockReply>(&reply)) locks[lock->call.value] = *lock;
    if (const auto* txn = std::get_if<protocol::TxnReply>(&reply)) {
      if (!txn->staged) settled[txn->txn.value] = *txn;
    }
  }
  void callsLost(NodeId node) override { lost.push_back(node); }
};

RunOptions steady(std::uint64_t seed = 1) {
  RunOptions options;
  options.seed = seed;
  options.nodes = 3;
  options.keys = 4;
  options.delays.link = LatencyDistribution::constant(sim::milliseconds(5));
  options.delays.apply = LatencyDistribution::constant(sim::milliseconds(1));
  options.delays.commit = LatencyDistribution::constant(sim::milliseconds(2));
  options.delays.persist = LatencyDistribution::constant(sim::milliseconds(1));
  return options;
}

/// A started cluster of three with its memberships live.
struct World {
  Recorder recorder;
  Replies replies;
  Cluster cluster;

  explicit World(const RunOptions& options = steady(), const std::vector<ClockSettings>& clocks = {})
      : cluster(setup(options, clocks)) {
    cluster.setSink(&recorder);
    cluster.setReplyListener(&replies);
    cluster.start();
    cluster.runUntil({sim::seconds(1).ns});
  }

  static ClusterSetup setup(const RunOptions& options, const std::vector<ClockSettings>& clocks) {
    ClusterSetup setup;
    setup.directory = makeDirectory(options);
    setup.options = options;
    setup.clocks = clocks;
    return setup;
  }

  void runFor(Duration duration) { cluster.runUntil(cluster.now() + duration); }

  obs::CallId lock(NodeId node, KeyId key, Duration wait = sim::seconds(10),
                   Duration lease = sim::seconds(3)) {
    protocol::CallLock call;
    call.call = cluster.newCall();
    call.key = key;
    call.wait = wait;
    call.lease = lease;
    EXPECT_TRUE(cluster.call(node, call));
    return call.call;
  }

  obs::TxnId submit(NodeId node, obs::CallId handle, KeyId key, std::int64_t value) {
    protocol::CallStage stage;
    stage.txn = cluster.newTxn();
    stage.call = handle;
    stage.key = key;
    stage.values = {value, 0, 0, 0};
    EXPECT_TRUE(cluster.call(node, stage));
    EXPECT_TRUE(cluster.call(node, protocol::CallSubmit{stage.txn}));
    return stage.txn;
  }

  bool admitted(obs::CallId call) const {
    const auto found = replies.locks.find(call.value);
    return found != replies.locks.end() && found->second.error == obs::ErrorClass::none;
  }

  KeyId keyHomedAt(NodeId node) const {
    for (std::uint32_t key = 0; key < cluster.directory().keyCount(); ++key) {
      if (cluster.homeOf(KeyId{key}) == node) return KeyId{key};
    }
    ADD_FAILURE() << "no key is homed at node " << node.value;
    return KeyId{0};
  }
};

RunOptions manyKeys() {
  RunOptions options = steady();
  options.keys = 32;
  return options;
}

TEST(Cluster, TwoNodesLockOneAfterTheOther) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kA);
  const obs::CallId first = world.lock(kB, key);
  world.runFor(sim::milliseconds(100));
  ASSERT_TRUE(world.admitted(first));
  EXPECT_EQ(world.replies.locks[first.value].path, obs::Path::virgin);
  const obs::TxnId txn = world.submit(kB, first, key, 150);
  world.runFor(sim::milliseconds(100));
  EXPECT_TRUE(world.replies.settled[txn.value].committed);
  world.cluster.call(kB, protocol::CallUnlock{first});

  const obs::CallId second = world.lock(kC, key);
  world.runFor(sim::seconds(1));
  ASSERT_TRUE(world.admitted(second));
  EXPECT_EQ(world.replies.locks[second.value].path, obs::Path::clean);
  EXPECT_GT(world.replies.locks[second.value].token, world.replies.locks[first.value].token);
  for (const NodeId node : {kA, kB, kC}) {
    EXPECT_EQ(world.cluster.record(node, key).values[0], 150) << node.value;
    EXPECT_EQ(world.cluster.record(node, key).writers[0], txn) << node.value;
  }
  EXPECT_EQ(
      world.recorder.all<obs::ReleaseSeen>([](const auto&, const auto& seen) { return seen.cleared; }).size(),
      1U);
  world.cluster.finish();
  EXPECT_EQ(world.cluster.checkers().verdict(), checkers::Verdict::held);
}

TEST(Cluster, SaysAtTheStartHowClocksRun) {
  ClockSettings fast{{sim::seconds(50).ns}, 10'000'000, sim::hours(2), -3'000};
  const World world(steady(), {ClockSettings{}, fast});
  const auto rates = world.recorder.all<obs::ClockRate>();
  ASSERT_EQ(rates.size(), 3U);
  EXPECT_EQ(rates[1].first.at, TrueInstant{});
  EXPECT_EQ(rates[1].second.local, MonotonicInstant{sim::seconds(50).ns});
  EXPECT_EQ(rates[1].second.ratePpb, 10'000'000);
  const auto walls = world.recorder.all<obs::WallSet>();
  ASSERT_EQ(walls.size(), 3U);
  EXPECT_EQ(walls[1].second.wall.ns, sim::hours(2).ns);
  EXPECT_EQ(walls[1].second.ratePpb, -3'000);
  EXPECT_EQ(world.recorder.all<obs::NodeStarted>().size(), 3U);
}

// ---- Processes --------------------------------------------------------------------------------------------

TEST(Cluster, APausedProcessReceivesNothingUntilItResumes) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kA);
  world.cluster.pause(kA);
  const obs::CallId call = world.lock(kB, key, sim::seconds(8));
  world.runFor(sim::milliseconds(500));
  EXPECT_FALSE(world.admitted(call));
  const auto toA = [&](TrueInstant from) {
    std::vector<TrueInstant> instants;
    for (const auto& [stamp, what] : world.recorder.all<obs::MessageDelivered>()) {
      if (stamp.node == kA && stamp.at >= from) instants.push_back(stamp.at);
    }
    return instants;
  };
  const TrueInstant paused{sim::seconds(1).ns};
  EXPECT_TRUE(toA(paused).empty());
  world.cluster.resume(kA);
  const TrueInstant resumed = world.cluster.now();
  world.runFor(sim::milliseconds(100));
  ASSERT_FALSE(toA(paused).empty());
  EXPECT_EQ(toA(paused).front(), resumed) << "what waited is handled at once";
  EXPECT_TRUE(world.admitted(call));
}

TEST(Cluster, TheClockOfAPausedProcessRunsOn) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kB);
  const obs::CallId call = world.lock(kB, key, sim::seconds(1), sim::seconds(3));
  world.runFor(sim::milliseconds(10));
  ASSERT_TRUE(world.admitted(call));
  world.cluster.pause(kB);
  world.runFor(sim::seconds(4));
  world.cluster.resume(kB);
  world.runFor(sim::milliseconds(1));
  const obs::TxnId txn = world.submit(kB, call, key, 1);
  world.runFor(sim::milliseconds(10));
  EXPECT_FALSE(world.replies.settled[txn.value].committed);
  EXPECT_EQ(world.recorder.all<obs::Settled>().size(), 0U);
  const auto refused = world.recorder.all<obs::WriteRefused>();
  ASSERT_GE(refused.size(), 1U);
  EXPECT_EQ(refused[0].second.error, obs::ErrorClass::conflict409);
}

TEST(Cluster, TheClockOfASuspendedMachineStandsStill) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kB);
  const obs::CallId call = world.lock(kB, key, sim::seconds(1), sim::seconds(3));
  world.runFor(sim::milliseconds(10));
  ASSERT_TRUE(world.admitted(call));
  const MonotonicInstant stopped = world.cluster.monotonic(kB).at(world.cluster.now());
  const std::size_t changes = world.recorder.all<obs::ClockRate>().size();
  world.cluster.suspend(kB);
  world.runFor(sim::seconds(4));
  EXPECT_EQ(world.cluster.monotonic(kB).at(world.cluster.now()), stopped);
  world.cluster.resume(kB);
  world.runFor(sim::milliseconds(1));
  EXPECT_EQ(world.cluster.monotonic(kB).at(world.cluster.now()), stopped + sim::milliseconds(1));
  const auto rates = world.recorder.all<obs::ClockRate>();
  ASSERT_EQ(rates.size(), changes + 2);
  EXPECT_EQ(rates[changes].second.ratePpb, -1'000'000'000) << "no rate at all";
  EXPECT_EQ(rates[changes + 1].second.ratePpb, 0);
  // The lease goes on where it stood, which is what CK-1 rules out.
  const obs::TxnId txn = world.submit(kB, call, key, 1);
  world.runFor(sim::milliseconds(10));
  EXPECT_TRUE(world.replies.settled[txn.value].committed);
}

TEST(Cluster, ACrashEndsASuspension) {
  World world;
  world.cluster.suspend(kB);
  world.runFor(sim::seconds(1));
  world.cluster.crash(kB);
  const MonotonicInstant crashed = world.cluster.monotonic(kB).at(world.cluster.now());
  world.runFor(sim::seconds(1));
  EXPECT_EQ(world.cluster.monotonic(kB).at(world.cluster.now()), crashed + sim::seconds(1));
}

TEST(Cluster, CallsToAPausedProcessWaitAndToACrashedOneAreRefused) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kB);
  world.cluster.pause(kB);
  const obs::CallId call = world.lock(kB, key);
  world.runFor(sim::milliseconds(50));
  EXPECT_TRUE(world.recorder.all<obs::LockRequested>().empty());
  world.cluster.resume(kB);
  world.runFor(sim::milliseconds(50));
  EXPECT_TRUE(world.admitted(call));
  world.cluster.crash(kB);
  EXPECT_FALSE(world.cluster.call(kB, protocol::CallUnlock{call}));
  EXPECT_EQ(world.replies.lost, std::vector<NodeId>{kB});
}

TEST(Cluster, ACrashLosesCommitsUnderWayAndARestartFindsThoseThatSurvived) {
  for (const std::uint32_t survivors : {0U, 1U}) {
    World world(manyKeys());
    const KeyId key = world.keyHomedAt(kB);
    world.cluster.setCommitDelay(kB, sim::seconds(1));
    const obs::CallId call = world.lock(kB, key);
    const obs::TxnId txn = world.submit(kB, call, key, 77);
    world.runFor(sim::milliseconds(100));
    world.cluster.crashKeeping(kB, survivors);
    const auto crashes = world.recorder.all<obs::NodeCrashed>();
    ASSERT_EQ(crashes.size(), 1U);
    EXPECT_EQ(crashes[0].second.lostCommits, 1U - survivors);
    EXPECT_EQ(world.cluster.node(kB), nullptr);
    world.runFor(sim::seconds(2));
    world.cluster.restart(kB);
    const auto settled = world.recorder.all<obs::Settled>();
    ASSERT_EQ(settled.size(), survivors);
    world.runFor(sim::seconds(2));
    for (const NodeId node : {kA, kB, kC}) {
      EXPECT_EQ(world.cluster.record(node, key).values[0], survivors == 1 ? 77 : 0) << node.value;
    }
    if (survivors == 0) continue;
    EXPECT_EQ(settled[0].second.txn, txn);
    EXPECT_TRUE(settled[0].second.recovered);
    EXPECT_EQ(settled[0].second.position, 1U);
  }
}

TEST(Cluster, ADurableCommitThatThePausedProcessNeverHeardOfSurvivesItsCrash) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kB);
  const obs::CallId call = world.lock(kB, key);
  world.runFor(sim::milliseconds(10));
  world.submit(kB, call, key, 5);
  world.cluster.pause(kB);
  world.runFor(sim::milliseconds(100));
  EXPECT_EQ(world.cluster.statistics().durableCommits, 1U);
  EXPECT_TRUE(world.recorder.all<obs::Settled>().empty());
  world.cluster.crashKeeping(kB, 0);
  world.cluster.restart(kB);
  const auto settled = world.recorder.all<obs::Settled>();
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_TRUE(settled[0].second.recovered);
  EXPECT_EQ(world.cluster.statistics().durableCommits, 1U) << "it became durable once";
}

TEST(Cluster, ARestartAdvancesTheIncarnationAndARebootTheClock) {
  World world;
  world.cluster.crash(kC);
  world.runFor(sim::seconds(200));
  world.cluster.restart(kC, true);
  EXPECT_LT(world.cluster.monotonic(kC).at(world.cluster.now()).ns, sim::seconds(100).ns);
  world.runFor(sim::seconds(1));
  const auto started = world.recorder.all<obs::CoordinatorStarted>(
      [](const obs::Stamp& stamp, const auto&) { return stamp.node == kC; });
  ASSERT_EQ(started.size(), 2U);
  EXPECT_FALSE(started[0].second.quarantined);
  EXPECT_TRUE(started[1].second.quarantined);
  EXPECT_GT(started[1].second.incarnation, started[0].second.incarnation);
}

// ---- Messages ---------------------------------------------------------------------------------------------

TEST(Cluster, EveryMessageIsDeliveredOrLostOnce) {
  RunOptions options;
  options.seed = 21;
  options.faultPhase = sim::seconds(15);
  options.healedPhase = sim::seconds(20);
  options.workload.intoHealedPhase = sim::seconds(2);
  options.faults.duplication.meanGap = {};
  const Plan plan = drawPlan(options);
  Recorder recorder;
  ClusterSetup setup;
  setup.directory = makeDirectory(options);
  setup.options = options;
  setup.clocks = plan.clocks;
  Cluster cluster(std::move(setup));
  cluster.setSink(&recorder);
  cluster.load(plan);
  cluster.start();
  cluster.runUntil(plan.endAt + sim::seconds(30));
  std::map<std::uint64_t, int> fates;
  for (const auto& [stamp, what] : recorder.all<obs::MessageDelivered>()) ++fates[what.id];
  for (const auto& [stamp, what] : recorder.all<obs::MessageLost>()) ++fates[what.id];
  const auto sent = recorder.all<obs::MessageSent>();
  ASSERT_GT(sent.size(), 500U);
  EXPECT_FALSE(recorder.all<obs::MessageLost>().empty());
  std::size_t underWay = 0;
  for (const auto& [stamp, what] : sent) {
    if (fates[what.id] == 0 && stamp.at + sim::seconds(5) > cluster.now()) {
      ++underWay;
      continue;
    }
    EXPECT_EQ(fates[what.id], 1) << "message " << what.id;
  }
  EXPECT_LT(underWay, 60U);
  EXPECT_EQ(cluster.statistics().messages, sent.size());
}

TEST(Cluster, ACutLosesWhatIsUnderWayAndHealingOpensTheStreamsAgain) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kB);
  const obs::CallId call = world.lock(kB, key);
  world.runFor(sim::milliseconds(10));
  world.submit(kB, call, key, 9);
  world.runFor(sim::milliseconds(3));
  world.cluster.isolate(kC);
  world.runFor(sim::seconds(1));
  EXPECT_EQ(world.cluster.record(kA, key).values[0], 9);
  EXPECT_EQ(world.cluster.record(kC, key).values[0], 0);
  const auto lost = world.recorder.all<obs::MessageLost>([](const obs::Stamp&, const obs::MessageLost& what) {
    return what.to == kC && what.message == MessageKind::logFrame && what.why == obs::LossReason::cut;
  });
  EXPECT_GE(lost.size(), 1U);
  EXPECT_EQ(world.recorder.all<obs::LinkCut>().size(), 4U);
  world.cluster.healAll();
  EXPECT_EQ(world.recorder.all<obs::LinkHealed>().size(), 4U);
  world.runFor(sim::seconds(1));
  EXPECT_EQ(world.cluster.record(kC, key).values[0], 9);
}

TEST(Cluster, DirectivesDropHoldRepeatAndForgeMessages) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kA);
  world.cluster.holdMessages(kA, kB, MessageKind::lockGrant);
  const obs::CallId call = world.lock(kB, key);
  world.runFor(sim::milliseconds(300));
  EXPECT_FALSE(world.admitted(call));
  EXPECT_EQ(world.cluster.heldCount(), 1U);
  EXPECT_EQ(world.cluster.releaseHeld(kA, kB, MessageKind::lockGrant), 1U);
  world.runFor(sim::milliseconds(1));
  EXPECT_TRUE(world.admitted(call));

  world.cluster.dropNext(kC, kA, MessageKind::lockRequest);
  const obs::CallId other = world.lock(kC, world.keyHomedAt(kA));
  world.runFor(sim::milliseconds(100));
  EXPECT_FALSE(world.admitted(other));
  const auto lost = world.recorder.all<obs::MessageLost>([](const obs::Stamp& stamp, const auto& what) {
    return stamp.node == kC && what.message == MessageKind::lockRequest;
  });
  EXPECT_EQ(lost.size(), 1U);

  const auto renewalsAt = [&](NodeId node) {
    return world.recorder
        .all<obs::MessageDelivered>([&](const obs::Stamp& stamp, const auto& what) {
          return stamp.node == node && what.from == kB && what.message == MessageKind::membershipRenew;
        })
        .size();
  };
  const std::size_t before = renewalsAt(kA);
  world.cluster.duplicate(kB, kA, MessageKind::membershipRenew, sim::milliseconds(7));
  world.runFor(world.cluster.checkers().options().waitTolerance + sim::milliseconds(2'500));
  EXPECT_EQ((renewalsAt(kA) - before) % 2, 0U);
  EXPECT_GE(renewalsAt(kA) - before, 2U);

  protocol::LockGrant forged;
  forged.key = key;
  world.cluster.injectMessage(kC, kB, forged);
  const std::size_t refusedBefore =
      world.recorder.all<obs::MessageRefused>().size() + world.recorder.all<obs::GrantRejected>().size();
  world.runFor(sim::milliseconds(1));
  EXPECT_GT(
      world.recorder.all<obs::MessageRefused>().size() + world.recorder.all<obs::GrantRejected>().size(),
      refusedBefore)
      << "a forged grant is refused, and says so";
}

// ---- Storage ----------------------------------------------------------------------------------------------

TEST(Cluster, CommitsAbortFailAndTakeTheirTimeAsTold) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kB);
  const obs::CallId call = world.lock(kB, key);
  world.runFor(sim::milliseconds(10));
  world.cluster.abortNextCommit(kB, EntryKind::transaction);
  const obs::TxnId retried = world.submit(kB, call, key, 1);
  world.runFor(sim::milliseconds(100));
  EXPECT_EQ(world.recorder.all<obs::AttemptAborted>().size(), 1U);
  EXPECT_TRUE(world.replies.settled[retried.value].committed);
  EXPECT_EQ(world.cluster.statistics().durableCommits, 1U);

  world.cluster.failNextCommit(kB, EntryKind::transaction);
  // A transaction that is over ends the section of a handle without hold: each needs a lock of its own.
  const obs::CallId second = world.lock(kB, key);
  const obs::TxnId failed = world.submit(kB, second, key, 2);
  world.runFor(sim::milliseconds(100));
  ASSERT_TRUE(world.replies.settled.contains(failed.value));
  EXPECT_FALSE(world.replies.settled[failed.value].committed);
  EXPECT_EQ(world.cluster.record(kB, key).values[0], 1);

  world.cluster.delayNextCommit(kB, EntryKind::transaction, sim::milliseconds(700));
  const TrueInstant asked = world.cluster.now();
  const obs::CallId third = world.lock(kB, key);
  const obs::TxnId slow = world.submit(kB, third, key, 3);
  world.runFor(sim::seconds(1));
  const auto settled = world.recorder.all<obs::Settled>(
      [&](const auto&, const obs::Settled& what) { return what.txn == slow; });
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_EQ(settled[0].first.at - asked, sim::milliseconds(700));
}

TEST(Cluster, AFailedApplyLeavesAHoleThatARepairCloses) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kB);
  world.cluster.failNextApply(kC, kB);
  const obs::CallId call = world.lock(kB, key);
  world.runFor(sim::milliseconds(10));
  world.submit(kB, call, key, 4);
  world.runFor(sim::milliseconds(100));
  EXPECT_EQ(world.cluster.record(kC, key).values[0], 0);
  const auto failed =
      world.recorder.all<obs::Applied>([](const auto&, const obs::Applied& what) { return what.failed; });
  ASSERT_EQ(failed.size(), 1U);
  ASSERT_TRUE(world.cluster.repairHole(kC, kB, failed[0].second.position));
  EXPECT_EQ(world.cluster.record(kC, key).values[0], 4);
  EXPECT_EQ(world.recorder.all<obs::HoleRepaired>().size(), 1U);
  EXPECT_FALSE(world.cluster.repairHole(kC, kB, 99)) << "there is no such entry";
}

TEST(Cluster, APurgeLeavesAGapAtWhoeverWasAwayAndTheArchiveClosesIt) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kB);
  world.cluster.isolate(kC);
  const obs::CallId call = world.lock(kB, key);
  world.runFor(sim::milliseconds(10));
  world.submit(kB, call, key, 6);
  world.runFor(sim::milliseconds(100));
  world.cluster.purgeLog(kB, 1);
  world.cluster.healAll();
  world.runFor(sim::milliseconds(200));
  const auto gaps = world.recorder.all<obs::GapFound>();
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].first.node, kC);
  EXPECT_EQ(gaps[0].second.to, 1U);
  ASSERT_TRUE(world.cluster.repairHole(kC, kB, 1));
  EXPECT_EQ(world.cluster.record(kC, key).values[0], 6);
}

TEST(Cluster, AnEntryOfAnotherVersionCanBePutIntoALogOnlyWhileItsNodeIsDown) {
  World world(manyKeys());
  const KeyId key = world.keyHomedAt(kC);
  protocol::TransactionEntry entry;
  entry.writes.push_back({key, obs::WriteOp::put, obs::kAllFields, 0, {5}, {42, 0, 0, 0}});
  EXPECT_FALSE(world.cluster.injectEntry(kB, entry));
  world.cluster.crash(kB);
  EXPECT_TRUE(world.cluster.injectEntry(kB, entry));
  world.cluster.restart(kB);
  world.runFor(sim::seconds(1));
  for (const NodeId node : {kA, kB, kC}) EXPECT_EQ(world.cluster.record(node, key).values[0], 42);
}

// ---- Clocks -----------------------------------------------------------------------------------------------

TEST(Cluster, AChangeOfRateMovesTheAlarm) {
  World slow;
  World fast;
  slow.cluster.setClockRate(kA, -400'000'000);
  fast.cluster.setClockRate(kA, 400'000'000);
  const auto renewals = [](World& world) {
    world.runFor(sim::seconds(60));
    return world.recorder
        .all<obs::MembershipRenewed>([](const obs::Stamp& stamp, const auto&) { return stamp.node == kA; })
        .size();
  };
  const std::size_t few = renewals(slow);
  const std::size_t many = renewals(fast);
  EXPECT_NEAR(static_cast<double>(many) / static_cast<double>(few), 1.4 / 0.6, 0.25);
}

// ---- Determinism ------------------------------------------------------------------------------------------

std::uint64_t chainOf(const RunOptions& options, const Plan& plan, Recorder* recorder = nullptr) {
  ClusterSetup setup;
  setup.directory = makeDirectory(options);
  setup.options = options;
  setup.clocks = plan.clocks;
  Cluster cluster(std::move(setup));
  cluster.setSink(recorder);
  cluster.load(plan);
  cluster.start();
  cluster.runUntil(plan.endAt);
  cluster.finish();
  EXPECT_GT(cluster.statistics().events, 1'000U);
  if (recorder != nullptr) {
    EXPECT_EQ(recorder->chain, cluster.chain().value());
  }
  return cluster.chain().value();
}

TEST(Cluster, OneSeedOneHistory) {
  RunOptions options;
  options.seed = 5;
  Recorder recorder;
  const std::uint64_t chain = chainOf(options, drawPlan(options), &recorder);
  EXPECT_EQ(chainOf(options, drawPlan(options)), chain) << "whether anybody looks on makes no difference";
  options.seed = 6;
  EXPECT_NE(chainOf(options, drawPlan(options)), chain);
}

/// The latencies of the messages on each link, in order, up to an instant.
std::map<std::pair<NodeId, NodeId>, std::vector<std::int64_t>> latencies(const Recorder& recorder,
                                                                         TrueInstant until) {
  std::map<std::uint64_t, obs::Stamp> sent;
  std::map<std::pair<NodeId, NodeId>, std::vector<std::int64_t>> found;
  for (const auto& [stamp, what] : recorder.all<obs::MessageSent>()) sent.emplace(what.id, stamp);
  for (const auto& [stamp, what] : recorder.all<obs::MessageDelivered>()) {
    const obs::Stamp& origin = sent.at(what.id);
    if (stamp.at < until) found[{origin.node, stamp.node}].push_back((stamp.at - origin.at).ns);
  }
  return found;
}

TEST(Cluster, AFaultThatIsTakenOutLeavesEveryDrawThatItDoesNotTouch) {
  RunOptions options;
  options.seed = 9;
  options.nodes = 4;
  options.faults.swarmOnPpm = 0;
  Plan plan = drawPlan(options);
  ASSERT_TRUE(plan.faults.empty());
  const TrueInstant strikes{sim::seconds(12).ns};
  plan.faults.push_back(
      {1, strikes, FaultKind::latencySpike, kA, kB, sim::seconds(5), sim::milliseconds(1'500).ns});
  plan.faults.push_back(
      {2, {sim::seconds(4).ns}, FaultKind::loss, NodeId::none(), NodeId::none(), sim::seconds(3), 200'000});
  Recorder with;
  const std::uint64_t one = chainOf(options, plan, &with);
  plan.faults.erase(plan.faults.begin());
  Recorder without;
  EXPECT_NE(chainOf(options, plan, &without), one);
  // Before the fault everything is the same, to the nanosecond.
  EXPECT_EQ(latencies(with, strikes), latencies(without, strikes));
  // The pause of the messages that are not locks' is the same afterwards as well: renewals between C and D.
  const auto renewals = [](const Recorder& recorder) {
    std::vector<std::int64_t> instants;
    for (const auto& [stamp, what] : recorder.all<obs::MembershipRenewed>()) {
      if (stamp.node == kC) instants.push_back(stamp.at.ns);
    }
    return instants;
  };
  EXPECT_GT(renewals(with).size(), 20U);
  EXPECT_EQ(renewals(with).size(), renewals(without).size());
}

}  // namespace
}  // namespace holdfast::scenarios
