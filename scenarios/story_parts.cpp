#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios::parts {

LockCall callFor(Duration wait, Duration lease, bool hold) {
  LockCall call;
  call.wait = wait;
  call.lease = lease;
  call.hold = hold;
  return call;
}

StoryOptions longEpochs() {
  StoryOptions options;
  options.keys = {{"k", "A"}};
  options.protocol.epochLease = 60_s;
  options.protocol.renewEvery = 10_s;
  return options;
}

StoryOptions calmOptions(std::vector<std::string> nodes, std::string home) {
  StoryOptions options;
  options.nodes = std::move(nodes);
  options.keys = {{"k", std::move(home)}};
  options.protocol.epochLease = 60_s;
  options.protocol.renewEvery = 10_s;
  return options;
}

Task<> preset(Story& story, std::string author, std::string key, std::int64_t value) {
  const TxnOutcome written = co_await story.node(author).writeUnlocked(key, put(value));
  story.expect(written.committed, "the record is there before the story begins");
  co_await story.sleep(200_ms);
}

Task<bool> giveBack(Story& story, StoryNode node, std::string key) {
  const auto cleared = [](const obs::ReleaseSeen& seen, NodeId) { return seen.cleared; };
  const std::size_t before = story.count<obs::ReleaseSeen>(cleared);
  story.cluster().call(node.id(), protocol::AdminDrop{story.key(key)});
  co_return co_await story.untilSeen<obs::ReleaseSeen>(cleared, before + 1);
}

Task<bool> untilApplied(Story& story, NodeId node, NodeId origin, Position position) {
  co_return co_await story.untilSeen<obs::Applied>([=](const obs::Applied& applied, NodeId at) {
    return at == node && applied.origin == origin && applied.position == position;
  });
}

TrueInstant appliedAt(const Story& story, NodeId node, NodeId origin, Position position) {
  const auto found = story.first<obs::Applied>([=](const obs::Applied& applied, NodeId at) {
    return at == node && applied.origin == origin && applied.position == position;
  });
  return found ? found->first.at : TrueInstant::never();
}

std::int64_t valueAt(Story& story, std::string_view node, std::string_view key, std::size_t field) {
  return story.cluster().record(story.id(node), story.key(key)).values[field];
}

void expectEverywhere(Story& story, std::string_view key, std::int64_t value) {
  for (const std::string& name : story.options().nodes) {
    story.expectEqual(valueAt(story, name, key), value,
                      fmt::format("the record '{}' at {} in the end", key, name));
  }
}

std::size_t controlEntries(const Story& story, EntryKind kind) {
  return story.count<obs::ControlAppended>(
      [kind](const obs::ControlAppended& entry, NodeId) { return entry.entry == kind; });
}

Task<> oneLocalWaiter(Story& story) {
  const StoryNode b = story.node("B");
  const StoryNode c = story.node("C");
  const LockOutcome ofB = co_await b.lock("k", callFor(5_s, 5_s, true));
  story.expect(ofB.admitted(), "B is inside");
  const Pending<LockOutcome> first = c.lock("k", callFor(10_s, 2_s));
  co_await story.sleep(100_ms);
  const TrueInstant asked = story.now();
  const LockOutcome second = co_await c.lock("k", callFor(10_s, 2_s));
  story.expectEqual(second.error, obs::ErrorClass::lockUnavailable503, "C's second caller");
  story.expectEqual(second.cause, Cause::capacity, "why it is refused");
  story.expectEqual(second.at, asked, "when it is told");
  b.unlock(ofB);
  const LockOutcome admitted = co_await first.answer();
  story.expect(admitted.admitted(), "C's first caller keeps its place");
  const Pending<LockOutcome> third = c.lock("k", callFor(10_s, 2_s));
  c.unlock(admitted);
  const LockOutcome next = co_await third.answer();
  story.expect(next.admitted(), "there is room for another one then");
  c.unlock(next);
}

}  // namespace holdfast::scenarios::parts
