// A node's deadlines: the set behind its one alarm clock.
//
// A timer is a (kind, key) slot with a reading of the node's monotonic clock; setting it again moves it. The
// set is a flat array sorted latest first, so that the next one is at the back: a node has few timers, most
// of them are set later than all others, and a sorted array is copied, compared and hashed as it stands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "protocol/state_hash.hpp"
#include "sim/time.hpp"

namespace holdfast::protocol {

enum class TimerKind : std::uint8_t {
  membershipRenew,     // send the next renewal
  membershipLapse,     // the live membership ends
  persistRetry,        // the incarnation could not be made durable (TK-2)
  grantExpiry,         // home, per key: DG-3
  waiterDeadline,      // home, per key: the earliest waiter's
  recallRetry,         // home, per key
  requestRetry,        // delegate, per key
  callerDeadline,      // delegate, per key: the earliest local caller's
  delegationLapse,     // delegate, per key
  handleLapse,         // delegate, per key: the admitted handle's
  recallGrace,         // delegate, per key: DR-2
  barrierTimeout,      // FR-8
  sweep,               // BD-2
  membershipPropose,   // proposer: back-off or round over (EP-13)
  membershipActivate,  // the protection of the predecessors ends (EP-8)
  membershipQuery,     // joiner: ask for the chain (EP-11)
  homeMap,             // member: compare digests (HM-2)
  homeMapConsole,      // console: ask again, or the drain is over (HM-3)
};

struct Timer {
  sim::MonotonicInstant at;
  std::uint32_t key = 0;
  TimerKind kind = TimerKind::sweep;
};

class TimerSet {
 public:
  sim::MonotonicInstant next() const {
    return timers_.empty() ? sim::MonotonicInstant::never() : timers_.back().at;
  }

  void set(TimerKind kind, std::uint32_t key, sim::MonotonicInstant at) {
    const auto old = find(kind, key);
    if (old != timers_.end()) {
      if (old->at == at) return;
      timers_.erase(old);
    }
    if (at == sim::MonotonicInstant::never()) return;
    const Timer timer{at, key, kind};
    timers_.insert(std::lower_bound(timers_.begin(), timers_.end(), timer, firesAfter), timer);
  }

  void cancel(TimerKind kind, std::uint32_t key) {
    const auto old = find(kind, key);
    if (old != timers_.end()) timers_.erase(old);
  }

  /// Takes the earliest timer that is due at `now`; false when none is.
  bool takeDue(sim::MonotonicInstant now, Timer& due) {
    if (timers_.empty() || timers_.back().at > now) return false;
    due = timers_.back();
    timers_.pop_back();
    return true;
  }

  std::size_t size() const { return timers_.size(); }

  void addTo(StateHash& hash) const {
    hash.add(static_cast<std::uint64_t>(timers_.size()));
    std::uint64_t far = 0;  // a sum, for those beyond the horizon fire in no order
    for (const Timer& timer : timers_) {
      const std::uint64_t name =
          static_cast<std::uint64_t>(timer.key) << 8 | static_cast<std::uint64_t>(timer.kind);
      if (hash.isBeyond(timer.at)) {
        StateHash one(timer.at);
        one.add(name);
        far += one.value();
      } else {
        hash.add(timer.at);
        hash.add(name);
      }
    }
    hash.add(far);
  }

 private:
  // Kind and key break ties, so that equal sets are equal arrays.
  static bool firesAfter(const Timer& a, const Timer& b) {
    if (a.at != b.at) return a.at > b.at;
    if (a.kind != b.kind) return a.kind > b.kind;
    return a.key > b.key;
  }

  std::vector<Timer>::iterator find(TimerKind kind, std::uint32_t key) {
    return std::find_if(timers_.begin(), timers_.end(),
                        [&](const Timer& t) { return t.kind == kind && t.key == key; });
  }

  std::vector<Timer> timers_;
};

}  // namespace holdfast::protocol
