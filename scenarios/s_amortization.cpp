// What a lock costs and how a key changes hands (S-01 to S-05): the figures of the cost table, counted.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"

namespace holdfast::scenarios {
namespace {

/// What had been spent on locking at some instant.
struct Spent {
  std::uint64_t lockMessages = 0;
  std::uint64_t unicast = 0;  // request, grant, deny, recall, hand-back
  std::uint64_t commits = 0;
  TrueInstant at;
};

Spent spentBy(Story& story) {
  Spent spent;
  spent.lockMessages = story.lockMessages();
  for (const MessageKind kind : {MessageKind::lockRequest, MessageKind::lockGrant, MessageKind::lockDeny,
                                 MessageKind::lockRecall, MessageKind::lockHandBack}) {
    spent.unicast += story.messages(kind);
  }
  spent.commits = story.cluster().statistics().durableCommits;
  spent.at = story.now();
  return spent;
}

std::vector<std::string> firstNodes(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(1, static_cast<char>('A' + i));
  return names;
}

LockCall shortCall() {
  LockCall call;
  call.lease = 500_ms;
  return call;
}

// ---- S-01 -------------------------------------------------------------------------------------------------

ScenarioResult coldKey(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.protocol.maxDelegation = 30_s;
  options.clocks.resize(3);
  options.clocks[1].ratePpb = -4'000'000;  // B's clock loses 4 ms in every second
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const LockCall call = shortCall();
    const Spent before = spentBy(story);
    const MonotonicInstant begun = b.monotonicNow();
    std::size_t cached = 0;
    for (int second = 0; second <= 25; ++second) {
      co_await b.sleep(begun + sim::seconds(second) - b.monotonicNow());
      const TrueInstant asked = story.now();
      const LockOutcome lock = co_await b.lock("k", call);
      story.expect(lock.admitted(), "every one of the 26 locks is admitted");
      if (second == 0) {
        story.expectEqual(lock.path, obs::Path::virgin, "the path of the first lock");
        story.expectEqual(lock.at - asked, story.options().latency * 2,
                          "the first lock takes one round trip");
        story.expectEqual(spentBy(story).unicast - before.unicast, 2U, "unicast messages of the first lock");
      } else {
        story.expectEqual(lock.at - asked, Duration{}, "a repeat takes no time");
        cached += lock.path == obs::Path::cached ? 1 : 0;
      }
      b.unlock(lock);
    }
    const Spent after = spentBy(story);
    story.expectEqual(cached, 25U, "repeats under the live delegation");
    story.expectEqual(b.monotonicNow() - begun, Duration(25_s), "time that passed on B's own clock");
    story.expectEqual(after.lockMessages - before.lockMessages, 2U, "messages of all 26 locks");
    story.expectEqual(after.commits - before.commits, 0U, "durable commits of all 26 locks");
    story.expectEqual(story.count<obs::Granted>(), 1U, "grants: 26 locks are one round");
    story.note(fmt::format("26 locks in 25 s of B's clock ({:.3f} s of true time): {} messages",
                           static_cast<double>((after.at - before.at).ns) / 1e9,
                           after.lockMessages - before.lockMessages));
  });
}

// ---- S-02 -------------------------------------------------------------------------------------------------

template <int kNodes>
ScenarioResult handoff(ScenarioContext& context) {
  StoryOptions options;
  options.nodes = firstNodes(kNodes);
  options.keys = {{"k", "A"}};
  options.checkers.maxMessages[static_cast<std::size_t>(obs::Path::virgin)] = 2;
  options.checkers.maxMessages[static_cast<std::size_t>(obs::Path::clean)] = 3;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const StoryNode c = story.node("C");
    const LockOutcome first = co_await b.lock("k");
    const TxnOutcome written = co_await b.write(first, put(5));
    story.expect(written.committed, "B's write commits");
    co_await story.sleep(1_s);  // past minTenure, and long after B's write has arrived everywhere

    const Spent before = spentBy(story);
    const std::size_t framesBefore = story.messages(MessageKind::logFrame);
    const LockOutcome next = co_await c.lock("k");
    const Spent after = spentBy(story);
    story.expectEqual(next.path, obs::Path::clean, "the path of the handoff");
    story.expectEqual(after.unicast - before.unicast, 3U, "request, recall and grant");
    story.expectEqual(after.commits - before.commits, 1U, "durable commits: B's release");
    story.expectEqual(story.count<obs::ControlAppended>(), 1U, "control entries in all logs");
    story.expectEqual(next.at - before.at,
                      story.options().latency * 4 + story.options().commitDelay + story.options().applyDelay,
                      "two round trips, the release's commit, and its apply at the home");
    const auto read = co_await c.read(next);
    story.expectEqual(read.values[0], 5, "what C reads");
    c.unlock(next);

    co_await story.sleep(200_ms);
    const auto release = story.first<obs::ControlAppended>();
    const auto isRelease = [&](const obs::Applied& applied, NodeId) {
      return applied.origin == b.id() && release && applied.position == release->second.position;
    };
    constexpr std::size_t kPeers = kNodes - 1;
    story.expectEqual(story.messages(MessageKind::logFrame) - framesBefore, kPeers, "frames of the release");
    story.expectEqual(story.count<obs::Applied>(isRelease), kPeers, "peers that applied the release");
    story.note(fmt::format("P = {}: 3 unicast, 1 durable commit, {} deliveries, {} ms", kNodes, kPeers,
                           (next.at - before.at).ns / 1'000'000));
  });
}

// ---- S-03 -------------------------------------------------------------------------------------------------

/// Eight callers of one node, a millisecond apart, each inside for 20 ms. `order` gets the order of their
/// admission; it must outlive the story's run.
Task<> eightCallers(Story& story, StoryNode node, std::vector<int>& order) {
  const std::size_t left = story.count<obs::Unlocked>();
  for (int i = 0; i < 8; ++i) {
    story.also([&story, &order, node, i]() -> Task<> {
      co_await story.sleep(sim::milliseconds(i));
      const LockOutcome lock = co_await node.lock("k");
      order.push_back(i);
      story.expect(lock.admitted(), "each local caller is admitted");
      co_await story.sleep(20_ms);
      node.unlock(lock);
    });
  }
  const bool ended = co_await story.untilSeen<obs::Unlocked>({}, left + 8);
  story.expect(ended, "all eight callers come to an end");
}

ScenarioResult localContention(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  Story story(context, options);
  std::vector<int> cold;
  std::vector<int> warm;
  return story.run([&]() -> Task<> {
    const std::vector<int> arrival{0, 1, 2, 3, 4, 5, 6, 7};
    const StoryNode b = story.node("B");
    const Spent before = spentBy(story);
    co_await eightCallers(story, b, cold);
    const Spent between = spentBy(story);
    co_await eightCallers(story, b, warm);
    const Spent after = spentBy(story);
    story.expectEqual(cold, arrival, "the order in which callers of a cold key are served");
    story.expectEqual(warm, arrival, "the order in which callers under a delegation are served");
    story.expectEqual(between.lockMessages - before.lockMessages, 2U,
                      "eight callers who wait at once share one acquisition");
    story.expectEqual(after.lockMessages - between.lockMessages, 0U, "under a delegation nobody sends");
    story.expectEqual(story.count<obs::Granted>(), 1U, "grants");
    story.expectEqual(after.commits - before.commits, 0U, "durable commits");
  });
}

// ---- S-04 -------------------------------------------------------------------------------------------------

/// What the contenders of a hot key experienced.
struct Contention {
  std::vector<std::int64_t> waits;  // ns, one a lock
  std::size_t refused = 0;
  std::size_t finished = 0;
};

constexpr int kRounds = 20;

Task<> contend(Story& story, StoryNode node, Contention& seen) {
  LockCall call;
  call.wait = 5_min;
  for (int round = 0; round < kRounds; ++round) {
    const TrueInstant asked = story.now();
    const LockOutcome lock = co_await node.lock("k", call);
    if (!lock.admitted()) {
      ++seen.refused;
      continue;
    }
    seen.waits.push_back((lock.at - asked).ns);
    const auto read = co_await node.read(lock);
    co_await story.sleep(40_ms);
    const TxnOutcome written = co_await node.write(lock, put(read.values[0] + 1));
    if (!written.committed) ++seen.refused;
    co_await story.sleep(5_ms);
  }
  ++seen.finished;
}

/// Waits during which some other node was granted the key twice: the mark of a queue that is not fair.
std::size_t starvedWaits(const Story& story) {
  struct Wait {
    NodeId node;
    TrueInstant from;
    TrueInstant to;
  };
  std::vector<Wait> waits;
  std::vector<std::pair<obs::CallId, Wait>> open;
  story.forEach<obs::LockRequested>([&](const obs::Stamped& at, const obs::LockRequested& call) {
    open.push_back({call.call, {at.node, at.at, TrueInstant::never()}});
  });
  story.forEach<obs::Admitted>([&](const obs::Stamped& at, const obs::Admitted& admitted) {
    for (auto& [call, wait] : open) {
      if (call == admitted.call) wait.to = at.at;
    }
  });
  std::size_t starved = 0;
  for (const auto& [call, wait] : open) {
    std::array<int, 16> grants{};
    bool twice = false;
    story.forEach<obs::Granted>([&](const obs::Stamped& at, const obs::Granted& granted) {
      const bool meanwhile = at.at > wait.from && at.at < wait.to && granted.to != wait.node;
      if (meanwhile && !granted.renewal) twice = ++grants[granted.to.value] > 1 || twice;
    });
    starved += twice ? 1 : 0;
  }
  return starved;
}

double percentileMs(const std::vector<std::int64_t>& sorted, int percent) {
  if (sorted.empty()) return 0;
  const std::size_t index = (sorted.size() - 1) * static_cast<std::size_t>(percent) / 100;
  return static_cast<double>(sorted[index]) / 1e6;
}

template <int kContenders>
ScenarioResult pingPong(ScenarioContext& context) {
  StoryOptions options;
  options.nodes = firstNodes(kContenders + 1);
  options.keys = {{"k", "A"}};
  options.checkers.judgeQueueOrder = true;
  Story story(context, options);
  Contention seen;
  return story.run([&]() -> Task<> {
    for (int i = 1; i <= kContenders; ++i) {
      const StoryNode node = story.node(story.options().nodes[static_cast<std::size_t>(i)]);
      story.also([&story, &seen, node]() -> Task<> { co_await contend(story, node, seen); });
    }
    const bool ended = co_await story.until([&] { return seen.finished == kContenders; }, 10_min);
    story.expect(ended, "every contender gets through its rounds");
    co_await story.sleep(1_s);

    constexpr std::size_t kSections = kContenders * kRounds;
    story.expectEqual(seen.refused, 0U, "locks and writes that were refused");
    story.expectEqual(seen.waits.size(), kSections, "critical sections");
    const auto record = story.cluster().record(story.id("A"), story.key("k"));
    story.expectEqual(record.values[0], static_cast<std::int64_t>(kSections),
                      "the count that all of them made");
    const std::size_t grants =
        story.count<obs::Granted>([](const obs::Granted& granted, NodeId) { return !granted.renewal; });
    story.expectAtLeast(grants, static_cast<std::size_t>(kContenders), "grants");
    story.expectAtLeast(kSections, 2 * grants, "locks served, against two for each handoff");
    const std::size_t starved = starvedWaits(story);
    story.expectEqual(starved, 0U, "waits in which another node was granted the key twice (DG-10)");

    std::sort(seen.waits.begin(), seen.waits.end());
    story.note(fmt::format("{} contenders: {} locks over {} handoffs, {:.1f} locks a handoff", kContenders,
                           kSections, grants - 1,
                           static_cast<double>(kSections) / static_cast<double>(grants)));
    story.note(fmt::format("waiting time: median {:.0f} ms, 90 % {:.0f} ms, 99 % {:.0f} ms, worst {:.0f} ms",
                           percentileMs(seen.waits, 50), percentileMs(seen.waits, 90),
                           percentileMs(seen.waits, 99), percentileMs(seen.waits, 100)));
    story.note(fmt::format("starved waits: {}", starved));
  });
}

// ---- S-05 -------------------------------------------------------------------------------------------------

ScenarioResult homeIsRequester(ScenarioContext& context) {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode a = story.node("A");
    const Spent before = spentBy(story);
    const LockOutcome lock = co_await a.lock("k");
    story.expectEqual(lock.path, obs::Path::virgin, "the path of the first lock");
    story.expectEqual(lock.at - before.at, Duration{}, "time to the first lock");
    a.unlock(lock);
    const LockOutcome again = co_await a.lock("k");
    story.expectEqual(again.path, obs::Path::cached, "the path of the second lock");
    a.unlock(again);
    const Spent after = spentBy(story);
    story.expectEqual(after.lockMessages - before.lockMessages, 0U, "messages");
    story.expectEqual(after.commits - before.commits, 0U, "durable commits");
    const auto aboutTheKey = [&](const obs::MessageSent& sent, NodeId) { return sent.key == story.key("k"); };
    story.expectEqual(story.count<obs::MessageSent>(aboutTheKey), 0U, "messages that name the key");
    story.expectEqual(story.count<obs::Granted>(), 1U, "grants, which the home makes to itself all the same");
  });
}

}  // namespace

std::vector<Scenario> amortizationScenarios() {
  using protocol::Rule;
  constexpr auto kExclusion = checkers::Checker::exclusion;
  constexpr auto kCallers = checkers::Checker::callers;
  const std::string_view handoffStory =
      "B wrote and left; C asks: request, recall, B's release in B's log, grant; nothing else is sent.";
  const std::string_view contentionStory =
      "Nodes that all want one key pass it on in the order in which they asked, and use it well meanwhile.";
  return {
      {"S-01-cold-key",
       "DG-3, DG-4",
       "B locks a cold key for one round trip and then 25 times more in 25 s of its own clock for nothing.",
       {},
       &coldKey},
      {"S-02-handoff-3", "DR-4, FR-1, DG-10", handoffStory, {}, &handoff<3>},
      {"S-02-handoff-5", "DR-4, FR-1, DG-10", handoffStory, {}, &handoff<5>},
      {"S-02-handoff-12", "DR-4, FR-1, DG-10", handoffStory, {}, &handoff<12>},
      {"S-03-local-contention",
       "LH-1",
       "Eight callers of one node want one key, cold and then under the delegation: first come, first "
       "served.",
       {{Rule::LH1_LocalExclusion, kExclusion}, {Rule::LH1_LocalFifo, kCallers}},
       &localContention},
      {"S-04-ping-pong-2", "DG-10", contentionStory, {}, &pingPong<2>},
      {"S-04-ping-pong-3", "DG-10", contentionStory, {{Rule::DG10_ArrivalOrder, kCallers}}, &pingPong<3>},
      {"S-04-ping-pong-12", "DG-10", contentionStory, {{Rule::DG10_ArrivalOrder, kCallers}}, &pingPong<12>},
      {"S-05-home-is-requester",
       "RT-1, DG-1",
       "A locks a key whose home it is itself, and no message is sent at all.",
       {},
       &homeIsRequester},
  };
}

}  // namespace holdfast::scenarios
