// The counter run (S-68): nodes take turns at lock, read, add one, write; the whole history is asserted.
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

/// What the sections read and wrote, in the order in which they were admitted.
struct CounterHistory {
  std::vector<std::int64_t> read;
  std::vector<std::int64_t> written;
  std::vector<NodeId> by;
  std::size_t done = 0;
};

Task<> countUp(Story& story, StoryNode node, int times, CounterHistory& history) {
  for (int i = 0; i < times; ++i) {
    const LockOutcome lock = co_await node.lock("k", callFor(60_s, 3_s));
    story.expect(lock.admitted(), "every lock is admitted");
    const auto read = co_await node.read(lock);
    const std::size_t place = history.read.size();
    history.read.push_back(read.values[0]);
    history.written.push_back(0);
    history.by.push_back(node.id());
    const TxnOutcome txn = co_await node.write(lock, put(read.values[0] + 1));
    if (txn.committed) history.written[place] = read.values[0] + 1;
    node.unlock(lock);
    // Longer than minTenure, so that the key moves on before the node wants it again.
    co_await story.sleep(story.options().protocol.minTenure + sim::milliseconds(10 + 3 * node.id().value));
  }
  ++history.done;
}

/// Peers other than the home apply so late that the key could be at the next node before what was written.
void makePeersLate(Story& story, NodeId home) {
  const Duration late = story.options().protocol.minTenure + 50_ms;
  for (const std::string& to : story.options().nodes) {
    for (const std::string& from : story.options().nodes) {
      if (to == from || story.id(to) == home) continue;
      story.cluster().setApplyDelay(story.id(to), story.id(from), late);
    }
  }
}

template <int kNodes, int kTimes>
ScenarioResult counterRun(ScenarioContext& context) {
  std::vector<std::string> names;
  for (int i = 0; i < kNodes; ++i) names.emplace_back(1, static_cast<char>('A' + i));
  CounterHistory history;
  Story story(context, calmOptions(names, "A"));
  return story.run([&]() -> Task<> {
    makePeersLate(story, story.id("A"));
    for (const std::string& name : story.options().nodes) {
      story.also([&story, &history, node = story.node(name)]() -> Task<> {
        co_await countUp(story, node, kTimes, history);
      });
    }
    const auto allDone = [&] { return history.done == kNodes; };
    story.expect(co_await story.until(allDone, 10_min), "all nodes come to an end");
    co_await story.sleep(1_s);

    std::vector<std::int64_t> read;
    std::vector<std::int64_t> written;
    for (std::int64_t i = 0; i < kNodes * kTimes; ++i) {
      read.push_back(i);
      written.push_back(i + 1);
    }
    story.expectEqual(history.read, read, "the values read, section by section: each exactly once");
    story.expectEqual(history.written, written, "the values written: each exactly once");
    expectEverywhere(story, "k", kNodes * kTimes);
    int handoffs = 0;
    for (std::size_t i = 1; i < history.by.size(); ++i)
      handoffs += history.by[i] != history.by[i - 1] ? 1 : 0;
    story.expectAtLeast(handoffs, kNodes * kTimes / 2, "how often the key changed hands");
    story.note(fmt::format("{} nodes counted to {}; the key changed hands {} times", kNodes, kNodes * kTimes,
                           handoffs));
  });
}

}  // namespace

std::vector<Scenario> counterScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  constexpr auto kStory =
      "Nodes contend to count one record up; every value is read and written exactly once.";
  return {
      {"S-68-counter-3",
       "X-1, X-2, FR-1, FR-3",
       kStory,
       {{Rule::FR1_ReleaseCarriesPosition, Checker::serial}, {Rule::FR3_AppliedAndVisible, Checker::serial}},
       &counterRun<3, 12>},
      {"S-68-counter-5",
       "X-1, X-2, FR-2, FR-3",
       kStory,
       {{Rule::FR1_ReleaseCarriesPosition, Checker::serial},
        {Rule::FR1_ReleaseCarriesPosition, Checker::freshness}},
       &counterRun<5, 8>},
  };
}

}  // namespace holdfast::scenarios
