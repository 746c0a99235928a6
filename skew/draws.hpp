// The draws of one thing that is generated: independent words, each for a purpose of its own.
//
// Contract: a value; whether a draw is made, and in which order, changes no other (see sim/random.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/random.hpp"

namespace holdfast::skew {

using sim::Duration;

struct Draws {
  std::uint64_t word = 0;

  constexpr std::uint64_t bits(std::uint64_t purpose) const { return sim::mix(word, purpose); }
  /// Draws of a part of the thing.
  constexpr Draws of(std::uint64_t part) const { return {sim::mix(sim::scramble(word), part)}; }
  /// Uniform in [0, bound).
  constexpr std::uint64_t below(std::uint64_t bound, std::uint64_t purpose) const {
    return sim::scaleBelow(bits(purpose), bound);
  }
  /// Uniform in [lo, hi].
  constexpr Duration between(Duration lo, Duration hi, std::uint64_t purpose) const {
    return sim::scaleBetween(bits(purpose), lo, hi);
  }
  /// Uniform in [-bound, bound].
  constexpr std::int64_t either(std::int64_t bound, std::uint64_t purpose) const {
    return between({-bound}, {bound}, purpose).ns;
  }
  constexpr bool percent(std::uint32_t percent, std::uint64_t purpose) const {
    return sim::scaleChance(bits(purpose), percent * 10'000);
  }
  /// The index of one of the weights, as likely as it is heavy.
  constexpr std::size_t weighted(std::span<const std::uint32_t> weights, std::uint64_t purpose) const {
    std::uint64_t sum = 0;
    for (const std::uint32_t weight : weights) sum += weight;
    std::uint64_t left = below(sum, purpose);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (left < weights[i]) return i;
      left -= weights[i];
    }
    return 0;
  }
};

}  // namespace holdfast::skew
