// Time, in four types that cannot be mixed.
//
// TrueInstant       what the simulator alone knows; observers are stamped with it.
// MonotonicInstant  a reading of one node's own monotonic clock; leases and deadlines live here (CK-2).
// WallInstant       a reading of one node's wall clock; only a write's timestamp is made from it (CK-5).
// Duration          the difference of two readings of one clock, and the only one of the four that a
//                   message may carry (CK-3).
//
// All are int64 nanoseconds. Arithmetic saturates nowhere: a run lasts at most about 292 years.
#pragma once

#include <compare>
#include <cstdint>

namespace holdfast::sim {

/// A length of time in nanoseconds; may be negative.
struct Duration {
  std::int64_t ns = 0;

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
  friend constexpr Duration operator-(Duration a) { return {-a.ns}; }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return {a.ns * n}; }
  friend constexpr Duration operator/(Duration a, std::int64_t n) { return {a.ns / n}; }
};

constexpr Duration nanoseconds(std::int64_t n) { return {n}; }
constexpr Duration microseconds(std::int64_t n) { return {n * 1'000}; }
constexpr Duration milliseconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000'000}; }
constexpr Duration minutes(std::int64_t n) { return seconds(n * 60); }
constexpr Duration hours(std::int64_t n) { return seconds(n * 3600); }

/// A point on one kind of clock. Two points of one kind differ by a Duration; points of different kinds
/// have no common operation, so that a comparison across clocks does not compile (CK-2).
template <class Clock>
struct Instant {
  std::int64_t ns = 0;

  static constexpr Instant never() { return {INT64_MAX}; }
  /// Before every reading of a run, and far enough from the ends for differences not to overflow.
  static constexpr Instant longAgo() { return {INT64_MIN / 2}; }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Duration operator-(Instant a, Instant b) { return {a.ns - b.ns}; }
  friend constexpr Instant operator+(Instant a, Duration d) { return {a.ns + d.ns}; }
  friend constexpr Instant operator-(Instant a, Duration d) { return {a.ns - d.ns}; }
};

using TrueInstant = Instant<struct TrueClockTag>;
using MonotonicInstant = Instant<struct MonotonicClockTag>;
using WallInstant = Instant<struct WallClockTag>;

}  // namespace holdfast::sim
