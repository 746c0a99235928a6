// The calls of a history, as the search for a linearization sees them: who called what, and between which
// two events.
//
// Contract: events are numbered in the order in which they were observed, an invocation and a return each
// having a number of its own. A call that never returned may have taken effect at any time after its
// invocation, or never (an outcome that is not known); a call that is known to have had no effect is no call.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace holdfast::linearizability {

/// The number of an event that has not been observed.
inline constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// One call of an operation. `invoked` < `returned`; `returned` is kNever if the outcome is not known.
template <class Operation>
struct Call {
  Operation operation{};
  std::uint32_t process = 0;
  std::uint32_t invoked = 0;
  std::uint32_t returned = kNever;

  bool pendingForever() const { return returned == kNever; }
};

template <class Operation>
using Calls = std::vector<Call<Operation>>;

}  // namespace holdfast::linearizability
