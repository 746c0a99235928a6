// S-70: after everything was healed, every key can be obtained again within a stated bound.
//
// Judged when CheckerOptions::livenessBound is not 0, for calls made later than that after Phase::healed:
// - none is refused with 503, except for causes that healing does not mend: a cap, an orderly shutdown, a
//   switched-off feature, versions that differ, a malformed key, a node that is no member, and a dependency
//   set that a hole in this node's replica still blocks (FR-5);
// - each key that was asked for was obtained at least once.
// Who waited behind somebody inside until shortly before is not judged: a live holder may outlast a waiter.
#pragma once

#include "checkers/context.hpp"

namespace holdfast::checkers {

class Liveness {
 public:
  static constexpr Checker kChecker = Checker::liveness;

  void on(const Stamp& stamp, const obs::Admitted& event, const Context& context);
  void on(const Stamp& stamp, const obs::LockRefused& event, const Context& context);
  void finish(TrueInstant at, const Context& context);

 private:
  struct KeyLiveness {
    std::uint32_t obtained = 0;
    std::uint32_t refused = 0;
    CallId lastRefused;
  };

  FlatTable<KeyLiveness> keys_;
  bool isContention(const Stamp& stamp, const obs::LockRefused& refused, const Call& waiter,
                    const Context& context) const;
  static TrueInstant endOf(CallId section, const History& history);

  NodeMatrix<CallId> lastInside_;  // [key][node]: the caller of the node that was admitted last
};

}  // namespace holdfast::checkers
