// Configurations and the certificates that prove them decided (EP-1, EP-5): values that travel and are
// stored.
//
// A configuration is (number, members, ring version), and whom an operator has dismissed. A member is a node
// together with the identity of its disk: a node whose disk was replaced is not the member that its name was
// (EP-11). A certificate holds the votes of one ballot. What a vote signs is (number, ballot, digest of the
// configuration, protection): all that is the same for everybody who accepted under the ballot. So a
// certificate proves itself whoever passes it on, and nobody on the way can shorten the protection: who
// learns of a configuration by its certificate counts the whole protection from the receipt, which is later
// than needed and never too early (EP-9).
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "observations/types.hpp"
#include "protocol/directory.hpp"
#include "protocol/renumbering.hpp"
#include "protocol/rules.hpp"

namespace holdfast::protocol {

using sim::Duration;
using sim::MonotonicInstant;
using sim::NodeId;

/// The number of a membership: an epoch or a home map generation.
using MembershipNumber = std::uint32_t;

/// EP-1: ordered by counter, then by the proposer's name, which is what the order of node ids is.
struct Ballot {
  std::uint32_t counter = 0;  // 0: no ballot
  NodeId proposer;
  constexpr bool valid() const { return counter != 0; }
  template <class Hash>
  void addTo(Hash& hash) const {
    hash.addGrowing(Growing::ballot, counter);
    hash.add(proposer);
  }
  friend constexpr auto operator<=>(Ballot, Ballot) = default;
};
BOOST_DESCRIBE_STRUCT(Ballot, (), (counter, proposer))

/// `identity` is the serial number of the disk that the member's records are on: 0 for the first one.
struct Member {
  NodeId node;
  std::uint32_t identity = 0;
  friend constexpr auto operator<=>(Member, Member) = default;
};
BOOST_DESCRIBE_STRUCT(Member, (), (node, identity))

struct Configuration {
  MembershipNumber number = 0;
  std::vector<Member> members;  // sorted; a node at most once
  std::uint32_t ringVersion = 1;
  std::vector<NodeId>
      dismissed;  // sorted; removed by an operator, and no members until one adds them (EP-13)

  const Member* find(NodeId node) const {
    const auto at = std::find_if(members.begin(), members.end(), [&](Member m) { return m.node == node; });
    return at == members.end() ? nullptr : &*at;
  }
  bool contains(NodeId node) const { return find(node) != nullptr; }
  bool contains(Member member) const {
    const Member* const found = find(member.node);
    return found != nullptr && *found == member;
  }
  /// Votes or acknowledgements that are more than half of the members.
  std::size_t majority() const { return members.size() / 2 + 1; }
  friend bool operator==(const Configuration&, const Configuration&) = default;
};
BOOST_DESCRIBE_STRUCT(Configuration, (), (number, members, ringVersion, dismissed))

/// EP-5: one Accepted answer. The signature is the voter's over what its certificate says (see above).
struct Vote {
  NodeId voter;
  std::uint64_t signature = 0;
  template <class Hash>
  void addTo(Hash& hash) const {
    hash.add(voter);
    hash.addDerived(signature);
  }
  friend bool operator==(const Vote&, const Vote&) = default;
};
BOOST_DESCRIBE_STRUCT(Vote, (), (voter, signature))

/// A value that was accepted under a ballot, with the protection that travels in it (EP-9).
struct AcceptedValue {
  Ballot ballot;  // of the acceptance
  Configuration configuration;
  Duration protection;
  friend bool operator==(const AcceptedValue&, const AcceptedValue&) = default;
};
BOOST_DESCRIBE_STRUCT(AcceptedValue, (), (ballot, configuration, protection))

struct Certificate {
  AcceptedValue value;
  std::vector<Vote> votes;
  MembershipNumber number() const { return value.configuration.number; }
  friend bool operator==(const Certificate&, const Certificate&) = default;
};
BOOST_DESCRIBE_STRUCT(Certificate, (), (value, votes))

/// Bounds that are checked before anything is kept (BD-1, BD-3).
inline constexpr std::size_t kMaxMembers = 128;
inline constexpr std::size_t kMaxCertificatesPerMessage = 64;
inline constexpr std::uint32_t kMaxBallotCounter = 1U << 30;
/// Reported remainders and protections lie between nothing and this.
inline constexpr Duration kLongestProtection = sim::hours(24 * 365);
constexpr bool plausible(Duration remaining) {
  return remaining >= Duration{} && remaining <= kLongestProtection;
}

/// What `voter` signs for `value`. The secret is the voter's own; simulated forgers do not have it.
std::uint64_t signVote(const Directory& directory, NodeId voter, const AcceptedValue& value);

/// Names a configuration in a vote: of all that it consists of.
std::uint64_t digestOf(const Configuration& configuration);

/// Whether a configuration is well formed: known nodes, sorted and distinct, at least one, within the bound.
bool wellFormed(const Directory& directory, const Configuration& configuration);

/// EP-5: whether `certificate` proves its configuration to be the successor of `predecessor`; why not.
std::expected<void, obs::CertificateFault> verify(const Directory& directory,
                                                  const Configuration& predecessor,
                                                  const Certificate& certificate, const Rules& rules);

/// The nodes of a configuration or of votes as an observation names them.
obs::NodeBits bitsOf(const Configuration& configuration);
obs::NodeBits bitsOf(std::span<const Vote> votes);
obs::NodeBits bitsOf(std::span<const NodeId> nodes);

}  // namespace holdfast::protocol
