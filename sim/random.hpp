// Keyed randomness: a draw is a pure function of (seed, stream, entity, index) and there is no state to
// advance.
//
// Contract: whether a draw is made, and in which order, never changes any other draw. That is what lets a
// plan be shrunk: with one fault or one operation taken away, the latency of every remaining message stays as
// it was. The same key gives the same bits on every compiler and machine; nothing here uses floating point or
// a standard distribution.
//
// A stream names what is being drawn (for instance "loss on a link"), an entity whom it concerns (the link),
// and the index which one of its draws it is (the n-th message). Streams are constants chosen by the caller.
#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <string>

#include "sim/time.hpp"
#include "sim/wide_integer.hpp"

namespace holdfast::sim {

/// One part in a million, the unit of every probability in this project; 1'000'000 is certainty.
inline constexpr std::uint32_t kPpmOne = 1'000'000;

/// A bijection of 64-bit words in which every input bit changes every output bit with probability near 1/2.
constexpr std::uint64_t scramble(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ULL;
  x ^= x >> 29;
  x *= 0xa0761d6478bd642fULL;
  x ^= x >> 32;
  return x;
}

/// Combines two words into one; not symmetric, and a bijection in either argument when the other is fixed.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return scramble(scramble(a + 0x9e3779b97f4a7c15ULL) ^ (b * 0xe7037ed1a0b428dbULL));
}

/// The value in [0, bound) that `bits` selects; 0 when bound is 0. The bias is below bound / 2^64.
constexpr std::uint64_t scaleBelow(std::uint64_t bits, std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<Uint128>(bits) * bound) >> 64);
}

/// Whether `bits` falls within the first `ppm` millionths: never for 0, always from 1'000'000 on.
constexpr bool scaleChance(std::uint64_t bits, std::uint32_t ppm) { return scaleBelow(bits, kPpmOne) < ppm; }

/// The duration in [lo, hi], both ends included, that `bits` selects; lo when hi <= lo.
constexpr Duration scaleBetween(std::uint64_t bits, Duration lo, Duration hi) {
  if (hi <= lo) return lo;
  const std::uint64_t span = static_cast<std::uint64_t>(hi.ns) - static_cast<std::uint64_t>(lo.ns);
  const std::uint64_t step = span == UINT64_MAX ? bits : scaleBelow(bits, span + 1);
  return {static_cast<std::int64_t>(static_cast<std::uint64_t>(lo.ns) + step)};
}

/// The source of all draws of one run (or of one part of it, with a derived seed).
struct KeyedRandom {
  std::uint64_t seed = 0;

  /// 64 bits that look independent for any two different keys.
  constexpr std::uint64_t bits(std::uint64_t stream, std::uint64_t entity, std::uint64_t index) const {
    std::uint64_t h = scramble(seed + 0x9e3779b97f4a7c15ULL);
    h = scramble(h ^ (stream * 0xe7037ed1a0b428dbULL));
    h = scramble(h + entity * 0x8ebc6af09c88c6e3ULL);
    return scramble(h ^ (index * 0x589965cc75374cc3ULL));
  }

  /// Uniform in [0, bound); 0 when bound is 0.
  constexpr std::uint64_t below(std::uint64_t bound, std::uint64_t stream, std::uint64_t entity,
                                std::uint64_t index) const {
    return scaleBelow(bits(stream, entity, index), bound);
  }

  /// True with probability ppm / 1'000'000.
  constexpr bool chance(std::uint32_t ppm, std::uint64_t stream, std::uint64_t entity,
                        std::uint64_t index) const {
    return scaleChance(bits(stream, entity, index), ppm);
  }

  /// Uniform in [lo, hi], both ends included; lo when hi <= lo.
  constexpr Duration between(Duration lo, Duration hi, std::uint64_t stream, std::uint64_t entity,
                             std::uint64_t index) const {
    return scaleBetween(bits(stream, entity, index), lo, hi);
  }

  /// A source whose draws are unrelated to this one's, e.g. one for each node.
  constexpr KeyedRandom derived(std::uint64_t salt) const { return {mix(seed, salt)}; }

  friend constexpr bool operator==(const KeyedRandom&, const KeyedRandom&) = default;
};

/// A latency with a body and a tail: uniform in [minimum, typical], or, with probability tailPpm, uniform in
/// [typical, tail]. Durations are non-negative and ascending; a pair out of order counts as its lower end.
struct LatencyDistribution {
  Duration minimum{};
  Duration typical{};
  Duration tail{};
  std::uint32_t tailPpm = 0;

  /// The latency that one 64-bit draw selects; coin and value are derived from it separately.
  constexpr Duration sample(std::uint64_t draw) const {
    if (tailPpm != 0 && scaleChance(scramble(draw), tailPpm)) return scaleBetween(draw, typical, tail);
    return scaleBetween(draw, minimum, typical);
  }

  /// The latency that the keyed draw selects.
  constexpr Duration sample(const KeyedRandom& random, std::uint64_t stream, std::uint64_t entity,
                            std::uint64_t index) const {
    return sample(random.bits(stream, entity, index));
  }

  /// Every sample is `d`.
  static constexpr LatencyDistribution constant(Duration d) { return {d, d, d, 0}; }

  friend constexpr bool operator==(const LatencyDistribution&, const LatencyDistribution&) = default;
};

BOOST_DESCRIBE_STRUCT(LatencyDistribution, (), (minimum, typical, tail, tailPpm))

/// One line of text with every option and its unit.
std::string describe(const LatencyDistribution& latency);

}  // namespace holdfast::sim
