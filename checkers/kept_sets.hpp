// Which dependency sets each home keeps, as a bounded LRU over the releases that it was seen to accept
// (FR-6).
//
// A set may be missing because its home had to make room for another: that is so when the cap was reached by
// what was observed, and not when the home says so.
#pragma once

#include "checkers/flat_table.hpp"

namespace holdfast::checkers {

class KeptSets {
 public:
  /// `cap`: how many sets a home keeps. 0: not known, and then one more set may always have been too many.
  explicit KeptSets(std::uint32_t cap = 0) : cap_(cap == 0 ? 1 : cap) {}

  /// `home` keeps a set of `key` from now on, in the `life`-th life of its coordinator.
  void store(obs::KeyId key, obs::NodeId home, std::uint32_t life);
  /// The set of `key` is void, for a reason other than the cap.
  void lose(obs::KeyId key, obs::NodeId home);
  /// `home` keeps nothing any more.
  void loseAll(obs::NodeId home);

  /// Whether the latest set of `key` that `home` kept had to make room.
  bool evicted(obs::KeyId key, obs::NodeId home) const;

 private:
  enum class State : std::uint8_t { none, kept, evicted };
  struct Set {
    State state = State::none;
    std::uint64_t storedAt = 0;
  };
  struct Home {
    std::uint32_t life = 0;
    std::uint32_t count = 0;
  };

  void evictOldest(obs::NodeId home);

  NodeMatrix<Set> sets_;  // [key][home]
  FlatTable<Home> homes_;
  std::uint64_t clock_ = 0;
  std::uint32_t cap_;
};

}  // namespace holdfast::checkers
