// What an observer knows of one node's monotonic clock: the last ClockRate observation (CK-1).
//
// local(t) = anchor + floor((t - anchor instant) * (1e9 + ppb) / 1e9). A node whose clock was never observed
// is taken to read true time. A change of rate in mid-run may carry a fraction of a nanosecond that the
// observation does not show, so after one a reading is sure to one nanosecond only: hence two questions,
// surelyBefore() and surelyReached(), with a gap between them in which nobody is blamed.
#pragma once

#include "observations/observation.hpp"
#include "sim/wide_integer.hpp"

namespace holdfast::checkers {

class NodeClock {
 public:
  void set(obs::TrueInstant at, const obs::ClockRate& rate) {
    slack_ = known_ ? 1 : 0;
    known_ = true;
    anchor_ = at;
    local_ = rate.local;
    ratePpb_ = rate.ratePpb;
  }

  obs::MonotonicInstant at(obs::TrueInstant t) const {
    const std::int64_t elapsed = t.ns - anchor_.ns;
    if (elapsed <= 0) return local_;
    return {local_.ns + elapsed + deviation(elapsed)};
  }

  /// Whether the clock has certainly not reached `reading` at `t`.
  bool surelyBefore(obs::MonotonicInstant reading, obs::TrueInstant t) const {
    return at(t).ns + slack_ < reading.ns;
  }
  /// Whether the clock has certainly reached `reading` at `t`.
  bool surelyReached(obs::MonotonicInstant reading, obs::TrueInstant t) const {
    return at(t).ns >= reading.ns;
  }

  /// The true instant at which the clock reads `reading`, by the rate now in force; an instant before the
  /// last change of rate is not known any more and given as that change.
  obs::TrueInstant whenReads(obs::MonotonicInstant reading) const {
    const sim::Int128 need = (sim::Int128{reading.ns} - local_.ns) * kBillion;
    if (need <= 0) return anchor_;
    const std::int64_t slope = kBillion + ratePpb_;
    if (slope <= 0) return obs::TrueInstant::never();
    const sim::Int128 t = sim::Int128{anchor_.ns} + (need + slope - 1) / slope;
    return t > INT64_MAX ? obs::TrueInstant::never() : obs::TrueInstant{static_cast<std::int64_t>(t)};
  }

 private:
  static constexpr std::int64_t kBillion = 1'000'000'000;

  std::int64_t deviation(std::int64_t elapsed) const {
    if (ratePpb_ == 0) return 0;
    const sim::Int128 scaled = sim::Int128{elapsed} * ratePpb_;
    if (scaled <= INT64_MAX && scaled >= INT64_MIN) {
      // Division by a constant of 64 bits is a multiplication; that of 128 bits is a call.
      const std::int64_t narrow = static_cast<std::int64_t>(scaled);
      return narrow / kBillion - (narrow % kBillion < 0 ? 1 : 0);
    }
    const sim::Int128 quotient = scaled / kBillion;
    return static_cast<std::int64_t>(scaled % kBillion < 0 ? quotient - 1 : quotient);
  }

  obs::TrueInstant anchor_;
  obs::MonotonicInstant local_;
  std::int64_t ratePpb_ = 0;
  std::int64_t slack_ = 0;
  bool known_ = false;
};

}  // namespace holdfast::checkers
