#include "protocol/delegation/lineage.hpp"

#include <algorithm>
#include <bit>

namespace holdfast::protocol {

Lineage::Lineage(std::size_t keys, const ProtocolOptions& options, bool trusted)
    : entries_(keys),
      filter_(std::max<std::size_t>(1, std::bit_ceil(std::max(options.everDelegatedBits, 64U)) / 64U)),
      cap_(options.lineageSets),
      trusted_(trusted) {}

Path Lineage::classify(KeyId key, const Env& env, DependencySet& dependencies) const {
  const Entry& entry = entries_[key.value];
  if (entry.known) {
    dependencies = entry.dependencies;
    return Path::clean;
  }
  if (!env.on(Rule::FR6_EverDelegatedFilter)) return Path::virgin;
  const bool absenceCounts = trusted_ || !env.on(Rule::FR6_ColdHomeDistrusts);
  return absenceCounts && !everDelegated(key, env) ? Path::virgin : Path::recovery;
}

void Lineage::noteDelegated(KeyId key, const Env& env) {
  const std::uint64_t hash = ringHash("", env.setup.directory->key(key).canonicalBytes, kFirstRingVersion);
  const std::uint64_t bits = filter_.size() * 64;
  for (const std::uint64_t bit : {hash % bits, (hash >> 32) % bits}) filter_[bit / 64] |= 1ULL << (bit % 64);
}

bool Lineage::everDelegated(KeyId key, const Env& env) const {
  const std::uint64_t hash = ringHash("", env.setup.directory->key(key).canonicalBytes, kFirstRingVersion);
  const std::uint64_t bits = filter_.size() * 64;
  for (const std::uint64_t bit : {hash % bits, (hash >> 32) % bits}) {
    if ((filter_[bit / 64] >> (bit % 64) & 1U) == 0) return false;
  }
  return true;
}

void Lineage::store(KeyId key, const DependencySet& dependencies, const Env& env) {
  Entry& entry = entries_[key.value];
  if (!entry.known) {
    if (count_ >= cap_) evictOldest(env);
    entry.known = true;
    ++count_;
  }
  entry.storedAt = ++clock_;
  entry.dependencies = dependencies;
}

void Lineage::lose(KeyId key, obs::LineageLoss why, const Env& env) {
  Entry& entry = entries_[key.value];
  if (!entry.known) return;
  entry.known = false;
  entry.dependencies.clear();
  --count_;
  env.observe(obs::LineageLost{key, why});
}

void Lineage::evictOldest(const Env& env) {
  std::size_t oldest = entries_.size();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].known &&
        (oldest == entries_.size() || entries_[i].storedAt < entries_[oldest].storedAt)) {
      oldest = i;
    }
  }
  if (oldest < entries_.size()) {
    lose(KeyId{static_cast<std::uint32_t>(oldest)}, obs::LineageLoss::evicted, env);
  }
}

void Lineage::addTo(StateHash& hash) const {
  // The order in which sets were stored matters only when the cap can be reached.
  const bool order = cap_ < entries_.size();
  for (const Entry& entry : entries_) {
    hash.add(static_cast<std::uint64_t>(entry.known));
    if (!entry.known) continue;
    hash.add(entry.dependencies);
    if (order) hash.add(clock_ - entry.storedAt);
  }
  hash.addRange(filter_);
  hash.add(static_cast<std::uint64_t>(trusted_));
}

}  // namespace holdfast::protocol
