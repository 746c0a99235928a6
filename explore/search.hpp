// What every search is told and what it answers.
//
// A verdict is `verified` only when every reachable state within the model's own bounds was visited; a search
// that was cut short says `incomplete` and why. `violated` comes with the path to the bad state.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "explore/model.hpp"

namespace holdfast::explore {

enum class Verdict : std::uint8_t { verified, violated, incomplete };

/// Why a search ended before it had seen everything.
enum class Cut : std::uint8_t { none, depth, memory, time, states, schedules, asymmetry, interrupted };

std::string_view nameOf(Verdict verdict);
/// The reason as the end of a sentence: "the depth bound was reached".
std::string_view reason(Cut cut);

/// A snapshot of a search under way.
struct Progress {
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint32_t depth = 0;
  std::uint64_t queue = 0;  ///< States of this level and the next that are not expanded yet.
  std::size_t bytes = 0;
  double seconds = 0;
};

struct Limits {
  std::uint64_t memoryBytes = 0;  ///< 0: no bound.
  std::uint64_t states = 0;       ///< 0: no bound.
  std::uint32_t depth = 0;        ///< Steps from the initial state; 0: no bound.
  double seconds = 0;             ///< 0: no bound.
  unsigned jobs = 1;              ///< Threads; the result does not depend on it.
  bool reduce = false;            ///< Take one order of steps that commute, where the model tells them.
  const std::atomic<bool>* interrupted = nullptr;
  /// Called at most about twice a second from the thread that searches.
  std::function<void(const Progress&)> progress;
};

/// What a search for fair cycles has looked at.
struct CyclesSeen {
  std::uint32_t waiters = 0;     ///< Who waits in some state, a bit each as the model counts them.
  std::uint64_t states = 0;      ///< In which one of them waits, over all waiters.
  std::uint64_t components = 0;  ///< Strongly connected ones of these.
  std::uint64_t cyclic = 0;  ///< Of these, how many have a cycle: whoever is to wait for ever stays in one.
};

struct Result {
  Verdict verdict = Verdict::incomplete;
  Cut cut = Cut::none;
  std::uint64_t states = 0;         ///< Distinct fingerprints; 0 where schedules are sampled.
  std::uint64_t beyond = 0;         ///< Of these, how many lie beyond the model's own bounds.
  std::uint64_t transitions = 0;    ///< Choices of all expanded states that were taken.
  std::uint64_t asleep = 0;         ///< And those that reduction has left out.
  std::uint32_t depth = 0;          ///< The longest distance from the initial state that was reached.
  Judgement judgement;              ///< Of the last state of `path`.
  std::uint64_t cycle = 0;          ///< Of fairCycles(): states among which somebody waits for ever.
  CyclesSeen cycles;                ///< Of fairCycles(), up to the first waiter that has such a cycle.
  std::vector<std::uint16_t> path;  ///< Ordinals of the choices from the initial state to the bad one.
  std::size_t bytes = 0;            ///< The most that was used at once, the model's own tables included.
  std::size_t setBytes = 0;         ///< Of these, what each visited state costs for good: set and records.
  double seconds = 0;
  std::string unsaved;  ///< Why no checkpoint was written although one was wanted.
};

/// Measures the time of a search and decides when to tell of its progress.
class Stopwatch {
 public:
  Stopwatch();
  double seconds() const;
  /// True at most twice a second.
  bool tellsNow();

 private:
  double start_ = 0;
  double told_ = 0;
};

/// The states along a path, the initial one first.
template <Model M>
std::vector<typename M::State> statesOf(const M& model, const std::vector<std::uint16_t>& path) {
  std::vector<typename M::State> states{model.initial()};
  std::vector<typename M::Choice> choices;
  for (const std::uint16_t ordinal : path) {
    typename M::State state = states.back();
    choices.clear();
    model.choices(state, choices);
    model.apply(state, choices.at(ordinal));
    states.push_back(state);
  }
  return states;
}

}  // namespace holdfast::explore
