// Routing: which member is a key's home (RT).
//
// Rendezvous hashing: the home is the member with the greatest hash of its name and the key, so that a
// membership change moves only the keys of members that left or joined. The hash belongs to a ring version
// (RT-3); versions differ on purpose, and nodes with different ones must not work together.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/directory.hpp"
#include "sim/ids.hpp"

namespace holdfast::protocol {

/// Ring versions that exist: 1 hashes with XXH3_64bits, 2 with XXH64 (seed 0 both).
inline constexpr std::uint32_t kFirstRingVersion = 1;
inline constexpr std::uint32_t kLastRingVersion = 2;
constexpr bool isRingVersion(std::uint32_t version) {
  return version >= kFirstRingVersion && version <= kLastRingVersion;
}

/// H(name 00 canonicalKey) of the ring version; an unknown version hashes like the last one.
std::uint64_t ringHash(std::string_view name, std::string_view canonicalKey, std::uint32_t ringVersion);

/// RT-1: the member with the greatest hash, ties to the lexically greater name. `members` in any order;
/// none() when there are none. `key` must be in the directory.
sim::NodeId homeOf(const Directory& directory, std::span<const sim::NodeId> members, sim::KeyId key,
                   std::uint32_t ringVersion);

/// What routing would be by a private numbering of the peers (rule RT4_NamesIdentify off): the members in
/// the order of their short ids, indexed by the key's hash. `shortIds` has an entry for each node.
sim::NodeId homeByShortId(const Directory& directory, std::span<const sim::NodeId> members,
                          std::span<const std::uint16_t> shortIds, sim::KeyId key, std::uint32_t ringVersion);

/// The homes of one membership, computed when first asked for. A value; one instance is for one thread.
class RouteCache {
 public:
  RouteCache() = default;
  /// `directory` must outlive the cache and its copies. `shortIds` empty: by name (RT-4), else by short id.
  RouteCache(const Directory& directory, std::vector<sim::NodeId> members, std::uint32_t ringVersion,
             std::vector<std::uint16_t> shortIds = {});

  /// none() for a key that is not in the directory, and when there are no members.
  sim::NodeId home(sim::KeyId key) const;

  const std::vector<sim::NodeId>& members() const { return members_; }
  std::uint32_t ringVersion() const { return ringVersion_; }

 private:
  const Directory* directory_ = nullptr;
  std::vector<sim::NodeId> members_;
  std::vector<std::uint16_t> shortIds_;
  std::uint32_t ringVersion_ = kFirstRingVersion;
  mutable std::vector<sim::NodeId> homes_;  // index: KeyId; none(): not computed yet
};

}  // namespace holdfast::protocol
