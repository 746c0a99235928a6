// Whole-cluster liveness (S-70): faults of many kinds at once; then they stop, and everything must come right
// within a bound that follows from the options.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

constexpr Duration kLease = 500_ms;
constexpr int kWaitersPerKey = 4;

/// By when, after the end of all faults, whoever waits for a key is served: one term for each thing that can
/// be in the way, as if they came one after the other.
Duration servedWithin(const StoryOptions& options) {
  const protocol::ProtocolOptions& protocol = options.protocol;
  const Duration round = options.latency * 2;
  const Duration reachable = options.reconnect + protocol.renewEvery + round;      // EP-6
  const Duration oldGrants = protocol.maxDelegation + protocol.skew;               // DG-3, and DG-9 meanwhile
  const Duration asksAgain = protocol.retryEvery + round;                          // a request that got lost
  const Duration barrier = protocol.barrierTimeout + round + options.commitDelay;  // FR-8
  const Duration turn = protocol.minTenure + protocol.recallEvery + kLease + protocol.recallGrace +
                        round * 2 + options.commitDelay * 2 + options.applyDelay;  // DG-10, DR
  return reachable + oldGrants + asksAgain + barrier + turn * kWaitersPerKey;
}

struct Waiter {
  std::string node;
  std::string key;
  Duration wait;
  LockOutcome lock;
  TrueInstant asked;
  bool done = false;
};

Task<> waitAndCount(Story& story, Waiter& waiter) {
  const StoryNode node = story.node(waiter.node);
  waiter.asked = story.now();
  waiter.lock = co_await node.lock(waiter.key, callFor(waiter.wait, kLease));
  waiter.done = true;
  if (!waiter.lock.admitted()) co_return;
  const TxnOutcome written = co_await node.write(waiter.lock, increment(0, 1));
  story.expect(written.committed, "who is served can write");
  node.unlock(waiter.lock);
}

/// The faults, over five seconds; nobody mends them. B is inside k1 as they begin.
Task<> breakEverything(Story& story) {
  Cluster& cluster = story.cluster();
  const NodeId b = story.id("B");
  const NodeId d = story.id("D");
  const LockOutcome inside = co_await story.node("B").lock("k1", callFor(5_s, 5_s, true));
  story.expect(inside.admitted(), "B is inside k1");
  const auto ofD = co_await story.node("D").update("k2", increment(0, 1));
  story.expect(ofD.write.committed, "D's write commits");
  cluster.setCommitDelay(b, 2_s);
  cluster.failNextApply(d, b);
  story.also([&story, inside]() -> Task<> {
    const TxnOutcome late = co_await story.node("B").write(inside, increment(0, 1));
    story.expect(late.committed, "B's slow commit settles in the end");
  });
  co_await story.sleep(500_ms);
  story.node("A").crash();  // the home of k1
  const std::vector<NodeId> side{d, story.id("E")};
  cluster.partition(side);
  co_await story.sleep(500_ms);
  story.node("C").pause();  // the home of k2
  cluster.setClockRate(d, 10'000'000);
  cluster.jumpWall(story.id("E"), 2_h);
  const obs::Timestamp tie = story.node("B").wallNow();
  const TxnOutcome here = co_await story.node("B").writeUnlocked("k3", put(1).stamped(tie));
  const TxnOutcome there = co_await story.node("D").writeUnlocked("k3", put(2).stamped(tie));
  story.expect(here.committed && there.committed, "either side writes k3 with the same timestamp");
}

/// The replicas agree on every field of every key, and on who wrote it.
void expectConverged(Story& story) {
  for (const StoryKey& key : story.options().keys) {
    const obs::FinalRecord ofA = story.cluster().record(story.id("A"), story.key(key.name));
    for (const std::string& name : story.options().nodes) {
      const obs::FinalRecord record = story.cluster().record(story.id(name), story.key(key.name));
      story.expect(
          record.present == ofA.present && record.values == ofA.values && record.writers == ofA.writers,
          "the replica of " + key.name + " at " + name + " equals that at A");
    }
  }
  story.expectEqual(valueAt(story, "A", "k3"), 2, "k3: of equal timestamps the greater name's write wins");
}

/// Nothing is left but what is in use.
void expectNothingLeft(Story& story) {
  for (const std::string& name : story.options().nodes) {
    const StoryNode node = story.node(name);
    const protocol::Node* const state = story.cluster().node(node.id());
    protocol::Effects effects;
    state->reportRetained(protocol::Context{node.monotonicNow(), {node.wallNow().ns}, effects});
    for (const obs::Observation& observation : effects.observations) {
      const auto* const kept = std::get_if<obs::RetainedCount>(&observation);
      if (kept == nullptr) continue;
      const std::string what = std::string(obs::nameOf(kept->what)) + " at " + name;
      story.expectAtMost(kept->count, kept->bound, what);
      const bool isOver = kept->what == obs::Retained::waiters || kept->what == obs::Retained::localWaiters ||
                          kept->what == obs::Retained::handles || kept->what == obs::Retained::barriers;
      if (isOver) story.expectEqual(kept->count, 0U, what + " when all is over");
    }
    story.expectEqual(state->replication().receivedQueued(), 0U, "received entries not applied at " + name);
  }
}

StoryOptions fiveNodes() {
  StoryOptions options;
  options.nodes = {"A", "B", "C", "D", "E"};
  options.keys = {{"k1", "A", "accounts"}, {"k2", "C", "accounts"}, {"k3", "E", "accounts"}};
  options.checkers.livenessBound = servedWithin(options);
  return options;
}

ScenarioResult afterAllFaults(ScenarioContext& context) {
  std::vector<Waiter> waiters;
  for (const char* const key : {"k1", "k2"}) {
    for (const char* const node : {"B", "D", "E"}) waiters.push_back({node, key, 60_s, {}, {}, false});
    waiters.push_back({"E", key, 8_s, {}, {}, false});
  }
  Story story(context, fiveNodes());
  return story.run([&]() -> Task<> {
    const Duration bound = servedWithin(story.options());
    co_await breakEverything(story);
    for (Waiter& waiter : waiters) {
      story.also([&story, &waiter]() -> Task<> { co_await waitAndCount(story, waiter); });
    }
    co_await story.sleep(4_s);
    story.cluster().healEverything();
    const TrueInstant healed = story.now();
    co_await story.sleep(bound);

    Duration longest{};
    for (const Waiter& waiter : waiters) {
      const std::string who = waiter.node + " waiting for " + waiter.key;
      story.expect(waiter.done, who + " has its answer within the bound");
      const TrueInstant latest = std::min(waiter.asked + waiter.wait, healed + bound);
      story.expectAtMost(waiter.lock.at, latest, "when " + who + " is answered");
      if (waiter.wait > bound) story.expect(waiter.lock.admitted(), who + " is served");
      longest = std::max(longest, waiter.lock.at - healed);
    }
    for (const std::string& name : story.options().nodes) {
      for (const StoryKey& key : story.options().keys) {
        const LockOutcome lock = co_await story.node(name).lock(key.name, callFor(5_s, kLease));
        story.expect(lock.admitted(), "after the bound " + name + " is served " + key.name);
        story.node(name).unlock(lock);
      }
    }
    co_await story.sleep(story.options().protocol.sweepEvery + 1_s);
    expectConverged(story);
    expectNothingLeft(story);
    story.note(
        fmt::format("after the last fault everyone was answered within {:.3f} s; the bound is {:.3f} s",
                    static_cast<double>(longest.ns) / 1e9, static_cast<double>(bound.ns) / 1e9));
    story.note(
        "bound = reconnect + renewEvery + (maxDelegation + skew) + retryEvery + barrierTimeout + "
        "waiters * (minTenure + recallEvery + lease + recallGrace + 4 latency + 2 commit + apply) + "
        "6 latency + commit");
  });
}

}  // namespace

std::vector<Scenario> livenessScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"S-70-after-all-faults",
       "DG-9, DG-10, LW-3, BD-2, EP-6",
       "A crash, a pause, a partition, a hole and slow commits at once; when they stop, everything comes "
       "right.",
       {{Rule::BD2_Sweep, Checker::retention}, {Rule::LW3_TotalOrder, Checker::convergence}},
       &afterAllFaults},
  };
}

}  // namespace holdfast::scenarios
