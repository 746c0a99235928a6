// What a lock costs under Ricart-Agrawala (RA-5), counted at several numbers of participants.
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/ricart_agrawala_parts.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

struct RaSpent {
  std::uint64_t commits = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t unicast = 0;
};

RaSpent raSpentBy(Story& story) {
  return {story.cluster().statistics().durableCommits, story.messages(MessageKind::logFrame),
          story.lockMessages()};
}

/// One lock by `node`, everything it causes included, and how long its caller waited.
Task<Duration> lockOnce(Story& story, StoryNode node, RaSpent& spent) {
  const RaSpent before = raSpentBy(story);
  const TrueInstant asked = story.now();
  const LockOutcome lock = co_await node.lock("k", callFor(10_s, 1_s));
  story.expect(lock.admitted(), "the lock is admitted");
  node.unlock(lock);
  co_await story.sleep(1_s);
  const RaSpent after = raSpentBy(story);
  spent = {after.commits - before.commits, after.deliveries - before.deliveries,
           after.unicast - before.unicast};
  co_return lock.at - asked;
}

template <std::uint64_t kP>
ScenarioResult raCost(ScenarioContext& context) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < kP; ++i) names.push_back(fmt::format("N{:02}", i));
  Story story(context, ricartAgrawala(names));
  return story.run([&]() -> Task<> {
    const StoryNode first = story.node("N00");
    const StoryNode second = story.node("N01");
    RaSpent spent;
    for (int i = 0; i < 3; ++i) {
      const StoryNode node = i < 2 ? first : second;
      const Duration waited = co_await lockOnce(story, node, spent);
      story.expectEqual(spent.commits, kP + 1, "durable commits: the request, and a grant of each (RA-5)");
      story.expectEqual(spent.deliveries, kP * kP - 1, "each of them delivered to each other (RA-5)");
      story.expectEqual(spent.unicast, 0U, "unicast messages");
      story.expectEqual(waited, grantRound(story) * 2, "request and grants, to the slowest and back");
    }
    story.note(fmt::format("P = {}: {} durable commits, {} deliveries, the first lock and the repeats alike",
                           kP, spent.commits, spent.deliveries));
    // And that is what freshness costs: it is there when the writer's log is slow, too (RA-3).
    story.cluster().setApplyDelay(second.id(), first.id(), 500_ms);
    const auto written = co_await first.update("k", put(5), callFor(10_s, 1_s));
    story.expect(written.write.committed, "the first participant writes");
    const LockOutcome lock = co_await second.lock("k", callFor(10_s, 1_s));
    const auto read = co_await second.read(lock);
    story.expectEqual(read.values[0], 5, "what the second reads");
    second.unlock(lock);
  });
}

}  // namespace

std::vector<Scenario> ricartAgrawalaCostScenarios() {
  const Twin unlogged{protocol::Rule::RA3_GrantInLog, checkers::Checker::freshness};
  constexpr auto kStory =
      "A lock costs P+1 commits and P*P-1 deliveries, first or repeated, and saving the grants' loses "
      "freshness.";
  return {
      {"R-RA-5-cost-3", "RA-5, RA-1, RA-3", kStory, {unlogged}, &raCost<3>},
      {"R-RA-5-cost-5", "RA-5, RA-1, RA-3", kStory, {unlogged}, &raCost<5>},
      {"R-RA-5-cost-12", "RA-5, RA-1, RA-3", kStory, {unlogged}, &raCost<12>},
      {"R-RA-5-cost-48", "RA-5, RA-1, RA-3", kStory, {unlogged}, &raCost<48>},
  };
}

}  // namespace holdfast::scenarios
