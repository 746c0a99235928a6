// Everything that a small model can reach, bad states and what follows them included: a search of a few lines
// to hold the engine and its reductions against.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "explore/independence.hpp"

namespace holdfast::explore {

template <class State>
struct ReachableStates {
  std::vector<State> states;  ///< Each once, nearest first.
  std::set<std::uint64_t> fingerprints;
  std::set<std::pair<std::uint32_t, bool>> judgements;  ///< Violation and stuck, of every state.
  std::uint64_t transitions = 0;
};

/// With `reduce`, without the choices that sleep. `depth`: steps from the first state.
template <CommutingModel M>
ReachableStates<typename M::State> reachable(const M& model, bool reduce,
                                             std::size_t depth = ~std::size_t{0}) {
  ReachableStates<typename M::State> all;
  std::vector<Sleepers> asleep;
  std::vector<typename M::Choice> choices;
  std::vector<typename M::Choice> next;
  const auto meet = [&](const typename M::State& state, Sleepers sleepers) {
    all.states.push_back(state);
    asleep.push_back(sleepers);
    const Judgement judgement = model.judge(state);
    all.judgements.insert({judgement.violation, judgement.stuck});
  };
  all.fingerprints.insert(model.fingerprint(model.initial()));
  meet(model.initial(), 0);
  std::size_t level = 0;
  std::size_t levelEnds = 1;
  for (std::size_t at = 0; at < all.states.size(); ++at) {
    if (at == levelEnds) {
      ++level;
      levelEnds = all.states.size();
    }
    if (level == depth) break;
    const typename M::State before = all.states[at];
    choices.clear();
    model.choices(before, choices);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (sleeps(asleep[at], i)) continue;
      ++all.transitions;
      typename M::State after = before;
      model.apply(after, choices[i]);
      if (!all.fingerprints.insert(model.fingerprint(after)).second) continue;
      next.clear();
      if (reduce) model.choices(after, next);
      meet(after, reduce ? sleepersOf(model, before, choices[i], after, next) : 0);
    }
  }
  return all;
}

}  // namespace holdfast::explore
