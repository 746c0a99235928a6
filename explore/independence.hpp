// Partial-order reduction: of two orders of steps that commute, one is taken.
//
// Each visited state but the first was met by some step `first` from a state `before`, whichever way came
// first. A choice `then` of such a state is left asleep, that is not taken, when
//   - it was possible in `before` already, and either of the two leaves the other possible;
//   - both orders end in the same state;
//   - its rank is lower than that of `first`; ranks are numbers that a model gives to its choices.
// The other order goes through the state to which `then` leads from `before`.
//
// Every reachable state is still visited. Say a choice c of a visited state u is *covered* when the state
// that it leads to is visited. By induction over the rank of c, the highest first, and then over the number
// of steps by which the search came to u: a choice that is taken is covered. One that sleeps was possible in
// `before`, where it has the same rank and the way is a step shorter, so the state it leads to from there is
// visited; from that state `first`, of a higher rank, leads to where c leads, and is covered.
//
// The same argument with distances instead of visits shows that breadth-first search meets each state at its
// distance, so depths and shortest paths are as without reduction, and that depth-first search within a bound
// misses nothing within the bound. It needs no memory of past sleepers: a sleep set of the last step alone
// (Godefroid's sleep sets hand it on, which is what makes them hard to combine with a visited set). States
// are all kept, so whatever is a property of states is judged as without reduction: exclusion, tokens,
// freshness, and callers that are stuck. Steps are not all kept, so cycles are not: no reduction for
// liveness. A search that ends at its first bad state is, up to there, the one that goes on, so it ends in
// time.
//
// Under symmetry a state stands for its images, and ranks must be those of the images too.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <vector>

#include "explore/model.hpp"

namespace holdfast::explore {

template <class M>
concept CommutingModel =
    Model<M> && requires(const M& model, const typename M::State& state, const typename M::Choice& choice) {
      { model.rank(choice) } -> std::same_as<std::uint32_t>;
      // before, first, after, then: may be false where the two do commute, never true where they do not.
      { model.commutes(state, choice, state, choice) } -> std::same_as<bool>;
    };

/// A bit for each of the first 64 choices; the others are always awake.
using Sleepers = std::uint64_t;
inline constexpr std::size_t kMostSleepers = 64;

inline bool sleeps(Sleepers sleepers, std::size_t ordinal) {
  return ordinal < kMostSleepers && (sleepers >> ordinal & 1U) != 0;
}

/// Which of the `choices` of `after`, to which `first` led from `before`, need not be taken.
template <CommutingModel M>
Sleepers sleepersOf(const M& model, const typename M::State& before, const typename M::Choice& first,
                    const typename M::State& after, const std::vector<typename M::Choice>& choices) {
  Sleepers sleepers = 0;
  const std::uint32_t rank = model.rank(first);
  for (std::size_t i = 0; i < std::min(choices.size(), kMostSleepers); ++i) {
    const bool asleep = model.rank(choices[i]) < rank && model.commutes(before, first, after, choices[i]);
    if (asleep) sleepers |= Sleepers{1} << i;
  }
  return sleepers;
}

}  // namespace holdfast::explore
