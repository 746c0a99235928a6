#include "protocol/routing.hpp"

#include <xxhash.h>

#include <algorithm>
#include <string>

namespace holdfast::protocol {

using sim::KeyId;
using sim::NodeId;

std::uint64_t ringHash(std::string_view name, std::string_view canonicalKey, std::uint32_t ringVersion) {
  std::string bytes;
  bytes.reserve(name.size() + 1 + canonicalKey.size());
  bytes.append(name).push_back('\0');
  bytes.append(canonicalKey);
  return ringVersion == kFirstRingVersion ? XXH3_64bits(bytes.data(), bytes.size())
                                          : XXH64(bytes.data(), bytes.size(), 0);
}

NodeId homeOf(const Directory& directory, std::span<const NodeId> members, KeyId key,
              std::uint32_t ringVersion) {
  NodeId home = NodeId::none();
  std::uint64_t greatest = 0;
  for (const NodeId member : members) {
    const std::uint64_t hash =
        ringHash(directory.name(member), directory.key(key).canonicalBytes, ringVersion);
    const bool wins = !home.valid() || hash > greatest || (hash == greatest && member > home);
    if (!wins) continue;
    home = member;
    greatest = hash;
  }
  return home;
}

NodeId homeByShortId(const Directory& directory, std::span<const NodeId> members,
                     std::span<const std::uint16_t> shortIds, KeyId key, std::uint32_t ringVersion) {
  if (members.empty()) return NodeId::none();
  std::vector<NodeId> numbered(members.begin(), members.end());
  std::sort(numbered.begin(), numbered.end(), [&](NodeId a, NodeId b) {
    if (shortIds[a.value] != shortIds[b.value]) return shortIds[a.value] < shortIds[b.value];
    return a < b;
  });
  return numbered[ringHash("", directory.key(key).canonicalBytes, ringVersion) % numbered.size()];
}

RouteCache::RouteCache(const Directory& directory, std::vector<NodeId> members, std::uint32_t ringVersion,
                       std::vector<std::uint16_t> shortIds)
    : directory_(&directory),
      members_(std::move(members)),
      shortIds_(std::move(shortIds)),
      ringVersion_(ringVersion),
      homes_(directory.keyCount(), NodeId::none()) {}

NodeId RouteCache::home(KeyId key) const {
  if (key.value >= homes_.size()) return NodeId::none();
  NodeId& home = homes_[key.value];
  if (!home.valid()) {
    home = shortIds_.empty() ? homeOf(*directory_, members_, key, ringVersion_)
                             : homeByShortId(*directory_, members_, shortIds_, key, ringVersion_);
  }
  return home;
}

}  // namespace holdfast::protocol
