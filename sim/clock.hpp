// A node's clocks as piecewise-linear maps of true time (CK-1).
//
// Contract: a clock is a plain value that is read with at(true instant). Between changes a local clock
// advances 1e9 + ppb nanoseconds for every 1e9 true ones, exactly; a reading is the floor of that, and a
// change of rate keeps the sub-nanosecond remainder, so no sequence of changes makes a clock gain or lose
// time. Changes must be made in the order of true time; one that is dated before the last change counts as
// made at the last one. A monotonic clock never goes back. Readings saturate at the ends of int64 instead of
// wrapping.
//
// Pausing a process is no matter of its clock: the clock keeps running (CK-1, CK-4). A suspended machine,
// whose clock does stop, is freeze() and thaw().
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/time.hpp"
#include "sim/wide_integer.hpp"

namespace holdfast::sim {

/// The largest deviation of a clock's rate, in parts per billion either way: a clock may run at half speed.
inline constexpr std::int64_t kMaxRatePpb = 500'000'000;

/// The rate that will be in force when `ppb` is asked for: the nearest in [-kMaxRatePpb, kMaxRatePpb].
constexpr std::int32_t clampedRate(std::int64_t ppb) {
  return static_cast<std::int32_t>(std::clamp(ppb, -kMaxRatePpb, kMaxRatePpb));
}

namespace detail {

constexpr std::int64_t kBillion = 1'000'000'000;

constexpr std::int64_t saturate(Int128 x) {
  if (x > INT64_MAX) return INT64_MAX;
  if (x < INT64_MIN) return INT64_MIN;
  return static_cast<std::int64_t>(x);
}

constexpr Int128 floorDivide(Int128 a, std::int64_t positive) {
  const Int128 q = a / positive;
  return a % positive < 0 ? q - 1 : q;
}

/// The map shared by both clocks. From `anchorTrue` on, local * 1e9 = anchorLocal * 1e9 + fraction +
/// elapsed * (1e9 + ppb), with fraction in [0, 1e9).
struct LinearMap {
  std::int64_t anchorTrue = 0;
  std::int64_t anchorLocal = 0;
  std::int32_t fraction = 0;
  std::int32_t ratePpb = 0;
  bool frozen = false;

  constexpr std::int64_t slope() const { return frozen ? 0 : kBillion + ratePpb; }

  constexpr std::int64_t at(std::int64_t trueNs) const {
    if (trueNs <= anchorTrue || frozen) return anchorLocal;
    const Int128 elapsed = Int128{trueNs} - anchorTrue;
    if (ratePpb == 0) return saturate(anchorLocal + elapsed);
    // The deviation of a few seconds fits 64 bits, where division by a constant is a multiplication.
    std::int64_t deviation = 0;
    const bool wide = elapsed > INT64_MAX / kMaxRatePpb - 4;
    if (!wide) {
      const std::int64_t scaled = static_cast<std::int64_t>(elapsed) * ratePpb + fraction;
      deviation = scaled / kBillion - (scaled % kBillion < 0 ? 1 : 0);
    } else {
      deviation = static_cast<std::int64_t>(floorDivide(elapsed * ratePpb + fraction, kBillion));
    }
    return saturate(anchorLocal + elapsed + deviation);
  }

  constexpr std::int64_t whenReads(std::int64_t localNs) const {
    const Int128 need = (Int128{localNs} - anchorLocal) * kBillion - fraction;
    if (need <= 0) return anchorTrue;
    if (frozen || localNs == INT64_MAX) return INT64_MAX;
    if (ratePpb == 0) return saturate(anchorTrue + (Int128{localNs} - anchorLocal));
    const std::int64_t step = slope();
    return saturate(anchorTrue + (need + step - 1) / step);
  }

  /// Makes `trueNs` the anchor without changing any reading from there on.
  constexpr void reanchor(std::int64_t trueNs) {
    if (trueNs <= anchorTrue) return;
    const Int128 elapsed = Int128{trueNs} - anchorTrue;
    const Int128 gained = elapsed * slope() + fraction;
    anchorLocal = saturate(anchorLocal + floorDivide(gained, kBillion));
    fraction = static_cast<std::int32_t>(gained - floorDivide(gained, kBillion) * kBillion);
    anchorTrue = trueNs;
  }

  friend constexpr bool operator==(const LinearMap&, const LinearMap&) = default;
};

}  // namespace detail

/// A clock that never goes back and that leases and deadlines are measured on (CK-1, CK-2).
class MonotonicClock {
 public:
  constexpr MonotonicClock() = default;

  /// Reads `start` at true instant `born` and runs at `ppb` from there on; before `born` it reads `start`.
  constexpr explicit MonotonicClock(MonotonicInstant start, std::int64_t ppb = 0, TrueInstant born = {})
      : map_{born.ns, start.ns, 0, clampedRate(ppb), false} {}

  /// The reading at a true instant; an instant before the last change reads as that change did.
  constexpr MonotonicInstant at(TrueInstant t) const { return {map_.at(t.ns)}; }

  /// The earliest true instant, not before the last change, at which the reading is at least `m` under the
  /// rate now in force; never() if the clock is frozen short of `m`. Hence at(whenReads(m)) >= m.
  constexpr TrueInstant whenReads(MonotonicInstant m) const { return {map_.whenReads(m.ns)}; }

  /// From `at` on the clock runs at `ppb` parts per billion off true time, clamped to +-kMaxRatePpb. On a
  /// frozen clock the rate takes effect when it is thawed.
  constexpr void setRate(TrueInstant at, std::int64_t ppb) {
    map_.reanchor(at.ns);
    map_.ratePpb = clampedRate(ppb);
  }

  /// Stops the clock at `at`, as the suspension of a whole machine does; idempotent.
  constexpr void freeze(TrueInstant at) {
    map_.reanchor(at.ns);
    map_.frozen = true;
  }

  /// Lets a frozen clock run on from the reading it stopped at; no effect on a running one.
  constexpr void thaw(TrueInstant at) {
    map_.reanchor(at.ns);
    map_.frozen = false;
  }

  /// The deviation of the rate in ppb, also while frozen.
  constexpr std::int64_t ratePpb() const { return map_.ratePpb; }
  constexpr bool frozen() const { return map_.frozen; }
  /// The true instant of the last change.
  constexpr TrueInstant lastChange() const { return {map_.anchorTrue}; }

  friend constexpr bool operator==(const MonotonicClock&, const MonotonicClock&) = default;

 private:
  detail::LinearMap map_;
};

/// A clock that shows the time of day, possibly wrong by any amount, and may be set to another (CK-1). Only
/// the timestamp of a write is made from it (CK-5).
class WallClock {
 public:
  constexpr WallClock() = default;

  /// Reads true time + `offset` at true instant 0 and runs at `ppb` from there on.
  constexpr explicit WallClock(Duration offset, std::int64_t ppb = 0)
      : map_{0, offset.ns, 0, clampedRate(ppb), false} {}

  /// The reading at a true instant; an instant before the last change reads as just after that change.
  constexpr WallInstant at(TrueInstant t) const { return {map_.at(t.ns)}; }

  /// Sets the clock forward (positive) or back (negative) by `step`, in one jump at `at`.
  constexpr void jump(TrueInstant at, Duration step) {
    map_.reanchor(at.ns);
    map_.anchorLocal = detail::saturate(Int128{map_.anchorLocal} + step.ns);
  }

  /// From `at` on the clock runs at `ppb` parts per billion off true time, clamped to +-kMaxRatePpb.
  constexpr void setRate(TrueInstant at, std::int64_t ppb) {
    map_.reanchor(at.ns);
    map_.ratePpb = clampedRate(ppb);
  }

  /// How far the clock is ahead of true time at `t`.
  constexpr Duration offsetAt(TrueInstant t) const {
    return {detail::saturate(Int128{map_.at(t.ns)} - t.ns)};
  }
  constexpr std::int64_t ratePpb() const { return map_.ratePpb; }

  friend constexpr bool operator==(const WallClock&, const WallClock&) = default;

 private:
  detail::LinearMap map_;
};

}  // namespace holdfast::sim
