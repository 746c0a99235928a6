#include "protocol/membership/published_map.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "protocol/routing.hpp"
#include "protocol/state_hash.hpp"

namespace holdfast::protocol {
namespace {

void appendNumber(std::string& bytes, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
}

template <class Statement>
std::uint64_t seal(Statement& statement) {
  statement.seal = 0;
  StateHash hash{MonotonicInstant{}};
  hash.add(ringHash("the operator", "seal", kLastRingVersion));
  hash.add(statement);
  return hash.value();
}

}  // namespace

std::uint64_t digestOf(const Directory& directory, const PublishedMap& map, const Rules& rules) {
  std::string bytes;
  appendNumber(bytes, map.generation);
  appendNumber(bytes, map.ringVersion);
  const bool joined = !rules.on(Rule::HM2_UnambiguousDigest);
  for (const NodeId home : map.homes) {
    const std::string& name = directory.name(home);
    if (joined) {
      bytes += ',';
    } else {
      appendNumber(bytes, name.size());  // HM-2: "A,B" is not "A" and "B"
    }
    bytes += name;
  }
  return ringHash("home map", bytes, kFirstRingVersion);
}

bool wellFormed(const Directory& directory, std::span<const NodeId> nodes) {
  if (nodes.size() > kMaxMembers) return false;
  const auto disordered =
      std::adjacent_find(nodes.begin(), nodes.end(), [](NodeId a, NodeId b) { return a >= b; });
  return disordered == nodes.end() && (nodes.empty() || nodes.back().value < directory.nodeCount());
}

obs::Cause faultOf(const Directory& directory, const PublishedMap& map, std::uint32_t ringVersion,
                   const Rules& rules) {
  if (map.homes.size() > kMaxMembers) return obs::Cause::capacity;
  const bool versionsAgree = map.ringVersion == ringVersion || !rules.on(Rule::RT3_VersionsAgree);
  if (!versionsAgree || !isRingVersion(map.ringVersion)) return obs::Cause::version;
  if (map.generation == 0 || map.homes.empty() || !wellFormed(directory, map.homes)) {
    return obs::Cause::malformed;
  }
  return obs::Cause::none;
}

std::uint64_t sealOf(HomeMapChange change) { return seal(change); }

std::uint64_t sealOf(ActivationRecord record) { return seal(record); }

void include(std::vector<NodeId>& into, std::span<const NodeId> nodes) {
  std::vector<NodeId> merged;
  std::set_union(into.begin(), into.end(), nodes.begin(), nodes.end(), std::back_inserter(merged));
  into = std::move(merged);
}

bool contains(std::span<const NodeId> sorted, NodeId node) {
  return std::binary_search(sorted.begin(), sorted.end(), node);
}

}  // namespace holdfast::protocol
