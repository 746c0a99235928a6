// Whether a path ends in a loop in which somebody waits for ever although everybody gets its turn.
//
// That is what FairCycles finds, judged from the path alone: it comes back to a state that it was in,
// somebody waits in every state in between, and whoever could act in all of them does act in one of the
// steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
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
/// none.
template <class M>
std::optional<std::size_t> fairLoopAt(const M& model, const std::vector<std::uint16_t>& path) {
  const std::vector<typename M::State> states = statesOf(model, path);
  const std::uint64_t last = model.fingerprint(states.back());
  for (std::size_t begin = 0; begin + 1 < states.size(); ++begin) {
    if (model.fingerprint(states[begin]) != last) continue;
    std::uint32_t waiting = 0xffffffff;
    std::vector<std::uint32_t> kept;  // who could act in all states so far
    std::vector<std::uint32_t> acting;
    for (std::size_t i = begin; i + 1 < states.size(); ++i) {
      waiting &= model.waiters(states[i]);
      const std::vector<std::uint32_t> turns = turnsIn(model, states[i]);
      if (i == begin) {
        kept = turns;
      } else {
        std::erase_if(kept, [&](std::uint32_t turn) { return !std::ranges::binary_search(turns, turn); });
      }
      std::vector<typename M::Choice> choices;
      model.choices(states[i], choices);
      const auto& taken = choices.at(path[i]);
      if (!model.mayStayAway(taken)) acting.push_back(model.turn(states[i], taken));
    }
    const bool fair = std::ranges::all_of(
        kept, [&](std::uint32_t turn) { return std::ranges::find(acting, turn) != acting.end(); });
    if (waiting != 0 && fair) return begin;
  }
  return std::nullopt;
}

}  // namespace holdfast::explore
