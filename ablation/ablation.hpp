// What a safety rule buys: the protocol without it, searched until a promise breaks.
//
// Contract: each search is a pure function of the rules that are off and the bounds, whatever the number of
// threads; only a request to stop ends one early. What it gives was seen by a checker in a run of the
// protocol's own code: a path of the explorer counts if its replay shows the same anomaly to the checkers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/rules.hpp"
#include "scenarios/options.hpp"

namespace holdfast::ablation {

enum class Method : std::uint8_t { explorer, story, sweep };

/// "explorer", "story", "sweep".
std::string_view nameOf(Method method);

/// A broken promise, and where it was met.
struct Breakage {
  Method method = Method::explorer;
  std::string where;                ///< The configuration, the scenario, or the random workload.
  std::string checker;              ///< That found it; "" of a caller that waits for ever in the explorer.
  std::string anomaly;              ///< What was observed; "stuck" of such a caller.
  std::uint64_t effort = 0;         ///< States met, or seeds run; 1 of a story.
  std::uint64_t seed = 1;           ///< Of a sweep: the seed that failed.
  std::vector<std::uint16_t> path;  ///< Of the explorer: the choices from the first state.
};

struct Bounds {
  std::uint64_t states = 100'000;  ///< In each configuration of the explorer.
  std::uint64_t seeds = 500;       ///< Of the sweep, from 1 on.
  unsigned jobs = 1;
  std::function<bool()> endsEarly;  ///< Asked now and then; may be empty.
};

/// Whether a configuration of the explorer can show anything of the rule: its nodes agree on the ring and
/// lock by delegations, so that rules of routing and of other protocols are idle there, and so are those
/// about what nobody does in any of them.
bool canBeExplored(protocol::Rule rule);

/// The shortest schedule within the bounds that breaks a promise, over those shipped configurations in which
/// the rule `about` has something to do and which are quick to search.
std::optional<Breakage> explore(protocol::Rule about, const protocol::Rules& rules, const Bounds& bounds);

/// The twins of directed scenarios that are without the rule and go wrong as they must, in the order of the
/// scenarios.
std::vector<Breakage> tellStories(protocol::Rule rule);

/// The random workload in which a rule has something to do: with its kind of membership and its protocol.
scenarios::RunOptions workloadFor(protocol::Rule rule);

/// The first seed of the random workload that breaks a promise, which it keeps with all rules on.
std::optional<Breakage> sweep(const protocol::Rules& rules, const scenarios::RunOptions& workload,
                              const Bounds& bounds);

}  // namespace holdfast::ablation
