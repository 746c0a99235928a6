// What a home remembers of a key's past holders: the dependency sets and the ever-delegated filter (FR-2,
// FR-6).
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/env.hpp"

namespace holdfast::protocol {

class Lineage {
 public:
  /// `trusted`: this home has observed its membership from the beginning, so that absence from the filter
  /// means "never delegated". A restarted home trusts no absence (FR-6).
  Lineage(std::size_t keys, const ProtocolOptions& options, bool trusted);

  /// How the next delegate gets fresh data: virgin, clean with `dependencies` filled in, or recovery.
  Path classify(KeyId key, const Env& env, DependencySet& dependencies) const;

  /// The key is being delegated: from now on it is in the filter.
  void noteDelegated(KeyId key, const Env& env);

  /// Remembers the set of a clean release. Over the cap, the least recently stored set is dropped (FR-6).
  void store(KeyId key, const DependencySet& dependencies, const Env& env);

  /// Forgets the key's set: its next delegate takes recovery.
  void lose(KeyId key, obs::LineageLoss why, const Env& env);

  /// From now on this home trusts no absence: it has not observed the membership from the beginning (FR-6).
  void distrust() { trusted_ = false; }

  std::size_t size() const { return count_; }
  void addTo(StateHash& hash) const;

 private:
  struct Entry {
    bool known = false;
    std::uint64_t storedAt = 0;  // order of storing, for the cap
    DependencySet dependencies;
  };

  bool everDelegated(KeyId key, const Env& env) const;
  void evictOldest(const Env& env);

  std::vector<Entry> entries_;         // index: KeyId
  std::vector<std::uint64_t> filter_;  // add-only, two bits a key; false positives cost a barrier
  std::uint32_t cap_ = 0;
  std::uint64_t clock_ = 0;
  std::size_t count_ = 0;
  bool trusted_ = false;
};

}  // namespace holdfast::protocol
