// What the checkers are to judge and the figures they judge by. A plain value; every default is the strictest
// reading of the rules that needs no knowledge of the run.
#pragma once

#include <array>
#include <cstdint>

#include "checkers/finding.hpp"

namespace holdfast::checkers {

struct CheckerOptions {
  /// One bit a Checker; all on.
  std::uint16_t enabled = (1U << obs::kEnumeratorCount<Checker>)-1;
  /// How many nodes to make room for at once; more are taken in as they appear.
  std::uint16_t nodes = 0;
  /// How much longer than its own `wait` a caller may be kept, on its node's clock and without pauses.
  Duration waitTolerance = sim::milliseconds(10);
  /// How old the news may be on which a 423 rests: the home's answer travels while the holder leaves.
  Duration holderSlack = sim::seconds(1);
  /// How long after healing every key must be obtainable again: at least maxDelegation + skew plus the
  /// quarantine, the longest lease and one wait. 0: liveness after healing is not judged.
  Duration livenessBound{0};
  /// Whether a later native attempt of a transaction needs live authority as the first one does (LH-3).
  bool judgeRetries = true;
  /// Whether a handle's deadline is held against the delegation's and the membership's (LH-2).
  bool judgeHandleBounds = true;
  /// One bit a node: those to which a home may grant (DG-2). 0: not known, not judged.
  std::uint64_t members = 0;
  /// How long a membership lease lasts from the sending of its renewal (EP-6). 0: not judged.
  Duration epochLease{0};
  /// How long an acquirer waits, on its own clock, before it leaves a member out of a barrier (FR-8). 0: not
  /// judged.
  Duration barrierTimeout{0};
  /// How many dependency sets a home keeps (FR-6). 0: not known; then any further set may have been too many.
  std::uint32_t lineageSets = 0;
  /// How long a tombstone certainly keeps older writes out, in true time (LW-3). 0: for ever.
  Duration tombstoneRetention{0};
  /// Of the run, for Coverage: the first seed at which each limitation was reached.
  std::uint64_t seed = 0;
  /// Whether a home is held to the order in which its waiters were queued (DG-10). Off by default: a waiter
  /// that the home dropped at its deadline is not observed, so a fault may make one look overtaken.
  bool judgeQueueOrder = false;
  /// Whether Coverage is counted.
  bool countCoverage = true;
  /// By obs::Path, the most messages one acquisition may cost in this run; 0: no bound. For directed runs.
  std::array<std::uint32_t, 4> maxMessages{};

  constexpr bool on(Checker checker) const { return (enabled >> static_cast<unsigned>(checker) & 1U) != 0; }
  constexpr CheckerOptions& only(Checker checker) {
    enabled = static_cast<std::uint16_t>(1U << static_cast<unsigned>(checker));
    return *this;
  }
};

}  // namespace holdfast::checkers
