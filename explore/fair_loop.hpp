// Whether a path ends in a loop in which somebody waits for ever although everybody gets its turn.
//
// That is what FairCycles finds, judged from the path alone: it comes back to a state that it was in,
// somebody waits in every state in between, and whoever could act in all of them does act in one of the
// steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "explore/search.hpp"

namespace holdfast::explore {

/// Turn of a choice that may stay away.
inline constexpr std::uint32_t kFreeTurn = 0xffffffff;

/// Whose turns are possible in a state, sorted.
template <class M>
std::vector<std::uint32_t> turnsIn(const M& model, const typename M::State& state) {
  std::vector<typename M::Choice> choices;
  model.choices(state, choices);
  std::vector<std::uint32_t> turns;
  for (const auto& choice : choices) {
    if (!model.mayStayAway(choice)) turns.push_back(model.turn(state, choice));
  }
  std::ranges::sort(turns);
  return turns;
}

/// After how many steps the loop begins in which the path ends, the longest one; nothing when it ends in
/// none. Goes backward and widens the loop step by step, so that a long path costs no more than its steps.
template <class M>
std::optional<std::size_t> fairLoopAt(const M& model, const std::vector<std::uint16_t>& path) {
  const std::vector<typename M::State> states = statesOf(model, path);
  const std::uint64_t last = model.fingerprint(states.back());
  std::optional<std::size_t> longest;
  std::uint32_t waiting = 0xffffffff;  // in all states of the loop
  std::vector<std::uint32_t> kept;     // who could act in all of them
  std::set<std::uint32_t> acting;      // who does in one of its steps
  std::vector<typename M::Choice> choices;
  for (std::size_t begin = path.size(); begin-- > 0 && waiting != 0;) {
    waiting &= model.waiters(states[begin]);
    std::vector<std::uint32_t> turns = turnsIn(model, states[begin]);
    if (begin + 1 == path.size()) {
      kept = std::move(turns);
    } else {
      std::erase_if(kept, [&](std::uint32_t turn) { return !std::ranges::binary_search(turns, turn); });
    }
    choices.clear();
    model.choices(states[begin], choices);
    const auto& taken = choices.at(path[begin]);
    if (!model.mayStayAway(taken)) acting.insert(model.turn(states[begin], taken));
    if (waiting == 0 || model.fingerprint(states[begin]) != last) continue;
    if (std::ranges::all_of(kept, [&](std::uint32_t turn) { return acting.contains(turn); })) longest = begin;
  }
  return longest;
}

}  // namespace holdfast::explore
