// What the stories of the operator's home map have in common (S-49): keys that move with a change, the
// operator's words to a console, callers who do not give up.
//
// Contract: nothing here expects anything on its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/story.hpp"
#include "scenarios/story_parts.hpp"

namespace holdfast::scenarios::maps {

/// Nodes of these names, of which the first map names `members`, and a dozen keys that are homed at `home`.
/// All nodes may come to be members.
StoryOptions options(std::vector<std::string> nodes, std::vector<std::string> members,
                     const std::string& home);

/// The first of those keys that `home` has in a map of these homes. Throws std::invalid_argument for none.
std::string movedKey(Story& story, const std::vector<std::string>& homes, std::string_view home);

/// The operator asks `console` for the change to `generation`.
void stage(Story& story, std::string_view console, std::uint32_t generation,
           const std::vector<std::string>& homes);

/// The operator tells `console` that `member` is fenced: stopped, or no more than declared removed.
void fence(Story& story, std::string_view console, std::uint32_t generation, std::string_view member,
           bool stopped);

/// Waits until `node` acts on `generation`.
Task<bool> untilActing(Story& story, std::string_view node, std::uint32_t generation,
                       Duration limit = sim::seconds(60));

/// How many activation records of `generation` have become durable.
std::size_t activations(const Story& story, std::uint32_t generation);

/// How many acknowledgements were given, an incarnation's of one generation once.
std::size_t acknowledgements(const Story& story);

/// Waits until there are `count` of them.
Task<bool> untilAcknowledged(Story& story, std::size_t count);

/// When the last acknowledgement of `generation` was given, confirmations aside.
TrueInstant lastAcknowledgement(const Story& story, std::uint32_t generation);

/// Messages of the kind that were refused for this cause.
std::size_t refused(const Story& story, MessageKind kind, Cause cause);

/// HM-3: how long a console waits after the last acknowledgement or fence.
inline Duration drain(const Story& story) {
  return story.options().protocol.maxDelegation + story.options().protocol.skew;
}

/// A caller at `node` who enters again and again for `length`, two seconds at a time; `admitted` counts.
Task<> keepEntering(Story& story, std::string node, std::string key, Duration length, std::size_t& admitted);

}  // namespace holdfast::scenarios::maps
