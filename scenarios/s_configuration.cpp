// What a cluster is set up with: names that tell nodes apart, keys of every shape, and any number of tables.
#include <string>
#include <vector>

#include "scenarios/families.hpp"
#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios {
namespace {

using namespace parts;

/// B's keys are strings of bytes, and their home is A.
ScenarioResult everyShape(ScenarioContext& context) {
  StoryOptions options = longEpochs();
  options.keys = {{"k", "A", "accounts", true}};
  options.checkers.livenessBound = 1_ms;
  Story story(context, options);
  return story.run([&]() -> Task<> {
    story.cluster().healEverything();
    co_await story.sleep(1_s);
    const LockOutcome ofA = co_await story.node("A").lock("k", callFor(2_s, 1_s));
    story.expect(ofA.admitted(), "A locks a key of bytes of which it is the home");
    if (ofA.admitted()) story.node("A").unlock(ofA);
    const LockOutcome ofB = co_await story.node("B").lock("k", callFor(2_s, 1_s));
    story.expect(ofB.admitted(), "and so does B, who has to ask for it");
    story.expectEqual(ofB.path, obs::Path::clean, "B's path");
    if (ofB.admitted()) story.node("B").unlock(ofB);
  });
}

/// A and B were given one name.
ScenarioResult distinctNames(ScenarioContext& context) {
  StoryOptions options = longEpochs();
  options.keys = {{"kA", "A"}, {"kC", "C"}};
  options.overrides.push_back({NodeId{0}, {}, {}, {}, 0, {NodeId{1}}});
  options.overrides.push_back({NodeId{1}, {}, {}, {}, 0, {NodeId{0}}});
  Story story(context, options);
  return story.run([&]() -> Task<> {
    for (const char* const name : {"A", "B"}) {
      const LockOutcome lock = co_await story.node(name).lock("kA", callFor(2_s, 4_s, true));
      story.expectEqual(lock.error, obs::ErrorClass::lockUnavailable503, "the lock of one of the two");
      story.expectEqual(lock.cause, Cause::notMember, "why it is refused");
    }
    const LockOutcome elsewhere = co_await story.node("C").lock("kA", callFor(1_s, 1_s));
    story.expectEqual(elsewhere.cause, Cause::notMember, "what C is told when it asks for their key");
    if (elsewhere.admitted()) story.node("C").unlock(elsewhere);
    const LockOutcome ofC = co_await story.node("C").lock("kC", callFor(1_s, 1_s));
    story.expectEqual(ofC.path, obs::Path::virgin, "C's path to a key of its own");
    if (ofC.admitted()) story.node("C").unlock(ofC);
  });
}

/// B asks for two keys in each of four tables, and may have two grants.
ScenarioResult capsOverTables(ScenarioContext& context) {
  constexpr int kTables = 4;
  constexpr std::uint32_t kCap = 2;
  StoryOptions options = longEpochs();
  options.keys.clear();
  for (int i = 0; i < kTables; ++i) {
    for (const char* const name : {"k", "m"}) {
      options.keys.push_back({fmt::format("{}{}", name, i), "A", fmt::format("accounts{}", i)});
    }
  }
  options.protocol.grantsPerTable = kCap;
  options.protocol.grantsPerRequester = kCap;
  options.settle = 500_ms;  // what is kept is counted while the grants run
  Story story(context, options);
  return story.run([&]() -> Task<> {
    std::vector<Pending<LockOutcome>> asked;
    for (const StoryKey& key : story.options().keys) {
      asked.push_back(story.node("B").lock(key.name, callFor(1_s, 5_s, true)));
    }
    std::uint32_t admitted = 0;
    std::uint32_t refused = 0;
    for (const Pending<LockOutcome>& one : asked) {
      const LockOutcome lock = co_await one.answer();
      admitted += lock.admitted() ? 1 : 0;
      refused += lock.cause == Cause::capacity ? 1 : 0;
    }
    story.expectEqual(admitted, kCap, "keys that B is granted, over all tables");
    story.expectEqual(refused, 2 * kTables - kCap, "keys that it is refused for the cap");
  });
}

}  // namespace

std::vector<Scenario> configurationScenarios() {
  using checkers::Checker;
  using protocol::Rule;
  return {
      {"R-RT-2-every-shape",
       "RT-2, DG-1",
       "A key that is a string of bytes is locked by its home, and by a node that has to ask for it.",
       {{Rule::RT2_EveryShape, Checker::liveness}},
       &everyShape},
      {"R-RT-4-distinct-names",
       "RT-4, DG-1",
       "Two nodes were given one name; neither locks nor homes a key, and the third goes on with its own.",
       {{Rule::RT4_DistinctNames, Checker::exclusion}},
       &distinctNames},
      {"R-BD-1-caps-over-tables",
       "BD-1",
       "The cap of a requester counts its grants in all tables, however many there are.",
       {{Rule::BD1_CapsOverTables, Checker::retention}},
       &capsOverTables},
  };
}

}  // namespace holdfast::scenarios
