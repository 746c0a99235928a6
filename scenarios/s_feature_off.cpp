// The feature that is off (S-50): the write path neither sends nor stores anything else than without it.
//
// The same writes are made in a cluster whose nodes offer locks that nobody takes, and in one whose nodes do
// not. Logs are compared entry by entry, messages kind by kind, and every instant at which an entry became
// visible somewhere.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using parts::calmOptions;

/// What the writes of a run left behind.
struct WritePath {
  std::vector<protocol::LogEntry> entries;  // of all logs, one after the other
  std::vector<TrueInstant> appliedAt;
  decltype(ClusterStatistics::byKind) messages{};
  std::uint64_t durableCommits = 0;
  std::vector<obs::FieldValues> records;  // by node
};

WritePath writePathOf(Story& story) {
  WritePath path;
  for (const std::string& name : story.options().nodes) {
    const protocol::OwnLog& log = story.cluster().node(story.id(name))->replication().log();
    for (Position at = log.first; at <= log.head(); ++at) path.entries.push_back(log.at(at));
    path.records.push_back(story.cluster().record(story.id(name), story.key("k")).values);
  }
  story.forEach<obs::Applied>(
      [&](const obs::Stamped& stamped, const obs::Applied&) { path.appliedAt.push_back(stamped.at); });
  path.messages = story.cluster().statistics().byKind;
  path.durableCommits = story.cluster().statistics().durableCommits;
  return path;
}

/// Every node writes in every way, an erasure and a re-creation among them; then all is applied everywhere.
Task<> writeEverything(Story& story) {
  for (const std::string& name : story.options().nodes) {
    const StoryNode node = story.node(name);
    (void)co_await node.writeUnlocked("k", put(100, 7));
    (void)co_await node.writeUnlocked("k", patch(0, 150));
    (void)co_await node.writeUnlocked("k", increment(1, 5));
    (void)co_await node.writeUnlocked("k", erase());
    (void)co_await node.writeUnlocked("k", put(80, 1));
  }
  co_await story.sleep(1_s);
}

WritePath withoutTheFeature(const ScenarioContext& context, StoryOptions options, LockOutcome& refused) {
  ScenarioContext apart{context.seed, context.rules};
  options.protocol.enabled = false;
  Story story(apart, options);
  WritePath path;
  (void)story.run([&]() -> Task<> {
    co_await writeEverything(story);
    path = writePathOf(story);
    refused = co_await story.node("B").lock("k");
  });
  return path;
}

ScenarioResult featureOff(ScenarioContext& context) {
  const StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  LockOutcome refused;
  const WritePath off = withoutTheFeature(context, options, refused);
  Story story(context, options);
  return story.run([&]() -> Task<> {
    co_await writeEverything(story);
    const WritePath on = writePathOf(story);
    story.expectEqual(off.entries.size(), 15U, "log entries with the feature off: one a write");
    story.expect(off.entries == on.entries, "the logs are the same, entry by entry");
    story.expectEqual(off.appliedAt.size(), 30U, "times that an entry became visible at another node");
    story.expect(off.appliedAt == on.appliedAt, "each at the same instant");
    story.expect(off.messages == on.messages, "as many messages of each kind");
    story.expectEqual(off.durableCommits, on.durableCommits, "durable commits");
    story.expect(off.records == on.records, "the same records");
    story.expectEqual(story.lockMessages(), 0U, "lock messages with the feature on, and nobody locking");

    story.expectEqual(refused.error, obs::ErrorClass::lockUnavailable503, "the error of a lock that is off");
    story.expectEqual(refused.cause, Cause::disabled, "its cause");
    const LockOutcome lock = co_await story.node("B").lock("k");
    story.expect(lock.admitted(), "where the feature is on, the same call is admitted");
    const ReadOutcome read = co_await story.node("B").read(lock);
    story.expectEqual(read.values[0], 80, "what it reads");
    story.node("B").unlock(lock);
  });
}

/// The feature is off at B alone.
ScenarioResult lockWhileOff(ScenarioContext& context) {
  StoryOptions options = calmOptions({"A", "B", "C"}, "A");
  protocol::ProtocolOptions off = options.protocol;
  off.enabled = false;
  options.overrides.push_back({NodeId{1}, off, {}, {}, 0, {}});
  Story story(context, options);
  return story.run([&]() -> Task<> {
    const StoryNode b = story.node("B");
    const TrueInstant asked = story.now();
    const LockOutcome refused = co_await b.lock("k");
    story.expectEqual(refused.error, obs::ErrorClass::lockUnavailable503,
                      "B's lock, which may be tried again");
    story.expectEqual(refused.cause, Cause::disabled, "its cause names the switch");
    story.expectEqual(refused.at - asked, Duration{}, "how long B's caller was kept waiting");
    story.expectEqual(story.lockMessages(), 0U, "lock messages for it");
    const TxnOutcome written = co_await b.writeUnlocked("k", put(80));
    story.expect(written.committed, "B's unlocked write commits");
    const LockOutcome ofC = co_await story.node("C").lock("k");
    story.expectEqual(ofC.path, obs::Path::virgin, "C's path, where the feature is on");
    story.node("C").unlock(ofC);
  });
}

}  // namespace

std::vector<Scenario> featureOffScenarios() {
  return {
      {"S-50-feature-off",
       "LH-5",
       "The same writes with the feature off and on: the same logs, messages and instants, to the byte.",
       {},
       &featureOff},
      {"S-50-lock-while-off",
       "LH-5",
       "A lock at a node where the feature is off is refused at once with 503, and the cause names the "
       "switch.",
       {{protocol::Rule::LH5_OffIsUnavailable, checkers::Checker::errorClass}},
       &lockWhileOff},
  };
}

}  // namespace holdfast::scenarios
