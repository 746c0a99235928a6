// What can be told of a published map by looking at it: whether it is well formed, its digest, its seal.
//
// HM-2: the digest covers generation, ring version and every name with its length, in the one order that a
// well-formed map has, so that different maps have different digests. It proves sameness among those who
// compare, and nothing about what others act on by now.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/directory.hpp"
#include "protocol/membership/certificate.hpp"
#include "protocol/membership/home_map_record.hpp"
#include "protocol/rules.hpp"

namespace holdfast::protocol {

/// HM-2. Needs known nodes.
std::uint64_t digestOf(const Directory& directory, const PublishedMap& map, const Rules& rules);

/// Whether the nodes are known, sorted and distinct, and not more than kMaxMembers (BD-1).
bool wellFormed(const Directory& directory, std::span<const NodeId> nodes);

/// What is wrong with a map at a node that routes by `ringVersion`; Cause::none when nothing is. Oversized:
/// capacity. Another ring version: version (RT-3). Not well formed, or without a home: malformed.
obs::Cause faultOf(const Directory& directory, const PublishedMap& map, std::uint32_t ringVersion,
                   const Rules& rules);

/// The operator's seal, which simulated forgers can not make.
std::uint64_t sealOf(HomeMapChange change);
std::uint64_t sealOf(ActivationRecord record);

/// The union of two sorted lists.
void include(std::vector<NodeId>& into, std::span<const NodeId> nodes);

bool contains(std::span<const NodeId> sorted, NodeId node);

}  // namespace holdfast::protocol
