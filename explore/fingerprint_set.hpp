// The visited set: 64-bit fingerprints in flat open addressing.
//
// A set is split into shards by the upper bits, so that several threads can insert at once, each into shards
// of its own, and so that growing copies a small part at a time; yet a large shard fills huge pages. Linear
// probing at a load of at most 7/8 costs 9 to 18 bytes a fingerprint. A fingerprint that collides with
// another state's makes the search omit a state: expectedOmissions() says how many that are on average.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "explore/huge_pages.hpp"

namespace holdfast::explore {

class FingerprintSet {
 public:
  static constexpr unsigned kShardBits = 4;
  static constexpr std::size_t kShards = std::size_t{1} << kShardBits;

  static std::size_t shardOf(std::uint64_t fingerprint) { return fingerprint >> (64 - kShardBits); }

  /// True when it was not in the set. Different shards may be used by different threads at once.
  bool insert(std::uint64_t fingerprint) { return shards_[shardOf(fingerprint)].insert(fingerprint); }

  /// Is inlined because g++ 12 takes a function that does nothing but prefetch for one without an effect.
  [[gnu::always_inline]] void prefetch(std::uint64_t fingerprint) const {
    shards_[shardOf(fingerprint)].prefetch(fingerprint);
  }

  std::size_t size() const {
    std::size_t sum = 0;
    for (const Shard& shard : shards_) sum += shard.size;
    return sum;
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Shard& shard : shards_) sum += shard.slots.capacity() * sizeof(std::uint64_t);
    return sum;
  }
  /// The most that bytes() may grow by when `more` fingerprints are inserted, copies in the making included.
  std::size_t growth(std::size_t more) const {
    std::size_t sum = 0;
    for (const Shard& shard : shards_) {
      const std::size_t expected = shard.size + more / kShards + 1;
      std::size_t slots = shard.slots.size();
      while (expected * 8 > slots * 7) slots *= 2;
      if (slots > shard.slots.size()) sum += slots * sizeof(std::uint64_t);
    }
    return sum;
  }
  void clear() {
    for (Shard& shard : shards_) shard = Shard{};
  }

 private:
  using Slots = std::vector<std::uint64_t, HugePages<std::uint64_t>>;

  struct Shard {
    static constexpr std::size_t kFirst = 64;

    Slots slots = Slots(kFirst);
    std::size_t size = 0;

    // 0 marks an empty slot; the state that has it shares the fingerprint of 1.
    static std::uint64_t stored(std::uint64_t fingerprint) { return fingerprint == 0 ? 1 : fingerprint; }
    std::size_t home(std::uint64_t value) const { return value & (slots.size() - 1); }

    [[gnu::always_inline]] void prefetch(std::uint64_t fingerprint) const {
      __builtin_prefetch(slots.data() + home(stored(fingerprint)), 1);
    }

    bool insert(std::uint64_t fingerprint) {
      const std::uint64_t value = stored(fingerprint);
      std::size_t place = home(value);
      while (slots[place] != 0) {
        if (slots[place] == value) return false;
        place = (place + 1) & (slots.size() - 1);
      }
      slots[place] = value;
      if (++size * 8 > slots.size() * 7) grow();
      return true;
    }

    void grow() {
      Slots old(slots.size() * 2);
      old.swap(slots);
      for (const std::uint64_t value : old) {
        if (value == 0) continue;
        std::size_t place = home(value);
        while (slots[place] != 0) place = (place + 1) & (slots.size() - 1);
        slots[place] = value;
      }
    }
  };

  std::array<Shard, kShards> shards_;
};

/// How many of `states` distinct states one expects to be taken for another one: n(n-1)/2 pairs, each alike
/// with probability 2^-64.
inline double expectedOmissions(std::uint64_t states) {
  const double n = static_cast<double>(states);
  return n < 2 ? 0.0 : n * (n - 1.0) / 2.0 / 18446744073709551616.0;
}

}  // namespace holdfast::explore
