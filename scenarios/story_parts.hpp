// What many stories do: a calm cluster, a key that is given back, a value that stands everywhere.
//
// Contract: nothing here expects anything on its own except where its name says so; a part waits no longer
// than Story::until() does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "scenarios/story.hpp"

namespace holdfast::scenarios::parts {

LockCall callFor(Duration wait, Duration lease, bool hold = false);

/// Nodes of these names and key k at `home`. Membership leases outlast whatever happens to the rest.
StoryOptions calmOptions(std::vector<std::string> nodes, std::string home);

/// Key k at home A, and membership leases that outlast the story.
StoryOptions longEpochs();

/// An unlocked write of `value` to field 0 of `key` by `author`, there before the story begins (LH-5).
Task<> preset(Story& story, std::string author, std::string key, std::int64_t value);

/// `node` lets `key` go (DR-5); waits until the home has cleared the grant by the release.
Task<bool> giveBack(Story& story, StoryNode node, std::string key);

/// Waits until `node` has applied that entry; counted from the start of the run.
Task<bool> untilApplied(Story& story, NodeId node, NodeId origin, Position position);

/// When `node` applied that entry; never() if it has not.
TrueInstant appliedAt(const Story& story, NodeId node, NodeId origin, Position position);

/// Field `field` of `key` as the replica of `node` shows it.
std::int64_t valueAt(Story& story, std::string_view node, std::string_view key, std::size_t field = 0);

/// Expects each replica to show `value` in field 0 of `key`.
void expectEverywhere(Story& story, std::string_view key, std::int64_t value);

/// Entries of the kind in all logs that are no transactions.
std::size_t controlEntries(const Story& story, EntryKind kind);

/// While B is inside, C has one caller that waits, which is all that waitersPerKey = 1 allows; the next one
/// of C's is refused at once, and the first is admitted when B leaves (BD-1).
Task<> oneLocalWaiter(Story& story);

/// From a request to the answer of a home that has nothing to wait for.
inline Duration roundTrip(const Story& story) { return story.options().latency * 2; }

/// From the start of a barrier until the last member's answer (FR-8).
inline Duration barrierRound(const Story& story) {
  return story.options().latency * 2 + story.options().commitDelay;
}

/// How long after its grant a delegation that nobody released blocks its key (DG-3).
inline Duration untilExpired(const Story& story) {
  return story.options().protocol.maxDelegation + story.options().protocol.skew;
}

}  // namespace holdfast::scenarios::parts
