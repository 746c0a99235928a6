// Who waits for whom, and the cycles in it.
//
// A node waits for another when one of its callers waits for a key on which a caller of the other is inside.
// A cycle of such waits is a deadlock if each node's two calls belong to one caller, which a run does not
// tell; it lasts until a wait or a lease runs out, as the protocol knows no order among keys.
#pragma once

#include <string>
#include <vector>

#include "explain/spans.hpp"

namespace holdfast::explain {

struct Wait {
  obs::NodeId waiter;
  obs::CallId call;
  obs::KeyId key;
  obs::NodeId holder;
  obs::CallId holding;

  friend bool operator==(const Wait&, const Wait&) = default;
};

/// Waits of which each one's holder is the next one's waiter, and the last one's holder the first's waiter.
using WaitCycle = std::vector<Wait>;

/// The cycles that stood right after `event`, one for each knot of nodes that wait for each other, by node.
std::vector<WaitCycle> waitCycles(std::span<const Span> spans, EventIndex event, obs::TrueInstant at);

/// "A waits for k (call 3), which B holds (call 5); B waits for ...".
std::string describe(const WaitCycle& cycle, const traces::Names& names);

}  // namespace holdfast::explain
