// What stories about agreed memberships do: propose, wait for a configuration, ask where a key is homed.
//
// Contract: as in story_parts.hpp. Nodes of a story that are no founders are blank identities: they join when
// somebody proposes them.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/membership/certificate.hpp"
#include "scenarios/story.hpp"

namespace holdfast::scenarios::parts {

/// Founders agree on what follows; each of `keys` is named after its first home: "kA" is homed at A.
StoryOptions epochOptions(std::vector<std::string> nodes, std::vector<std::string> founders,
                          std::vector<std::string> keys);

/// An operator tells `by` to propose this change (EP-13); an empty name is none.
void propose(Story& story, std::string_view by, std::string_view add, std::string_view remove);

/// The membership that `node` goes by; 0 while it is down.
std::uint32_t numberAt(Story& story, std::string_view node);
/// Whether `node` goes by membership `number` and has waited out what came before it (EP-8).
bool activeAt(Story& story, std::string_view node, std::uint32_t number);
/// Whether the lease of `node` on its membership runs (EP-6).
bool liveAt(Story& story, std::string_view node);

/// Waits until `node` goes by membership `number`, or a later one.
Task<bool> untilNumber(Story& story, std::string node, std::uint32_t number, Duration limit = 60_s);
/// Waits until `node` has a lease on membership `number`, or a later one: an operator's proposal needs one.
Task<bool> untilLive(Story& story, std::string node, std::uint32_t number, Duration limit = 60_s);
/// Waits until `node` may grant under membership `number`.
Task<bool> untilActive(Story& story, std::string node, std::uint32_t number, Duration limit = 60_s);

/// The nodes of these names, one bit each.
obs::NodeBits setOf(const Story& story, std::initializer_list<std::string_view> names);

/// When `node` installed `number`, and what.
std::optional<std::pair<obs::Stamp, obs::MembershipInstalled>> installation(const Story& story,
                                                                            std::string_view node,
                                                                            std::uint32_t number);
/// When `node` might first grant under `number`; never() if it might not.
TrueInstant activation(const Story& story, std::string_view node, std::uint32_t number);

/// Where `key` is homed among these members (RT-1).
std::string homeUnder(const Story& story, std::string_view key,
                      std::initializer_list<std::string_view> members);

/// EP-8: how long an activation waits at most after its promises: a reservation that was made just before, as
/// long as another clock may take for it, and the delegations granted under it.
Duration longestActivation(const protocol::ProtocolOptions& options);

/// From the death of a member to the activation of a membership without it, at most: its silence is noticed
/// at a renewal, one proposer draws the longest pause, and its round goes through at once.
Duration rehomedWithin(const StoryOptions& options);

/// A configuration of first-disk members.
protocol::Configuration configurationOf(const Story& story, std::uint32_t number,
                                        std::initializer_list<std::string_view> members);
/// What `voters` sign for `configuration` under ballot (`counter`, `proposer`).
protocol::Certificate certify(const Story& story, protocol::Configuration configuration,
                              std::uint32_t counter, std::string_view proposer,
                              std::initializer_list<std::string_view> voters);

}  // namespace holdfast::scenarios::parts
