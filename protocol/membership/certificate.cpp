#include "protocol/membership/certificate.hpp"

#include <iterator>

#include "protocol/routing.hpp"
#include "protocol/state_hash.hpp"

namespace holdfast::protocol {
namespace {

/// Every node's own; a simulated forger can sign as nobody but itself.
std::uint64_t voteSecret(const Directory& directory, NodeId voter) {
  return ringHash(directory.name(voter), "vote secret", kLastRingVersion);
}

/// How many of the votes count, or the fault of the first that does not.
std::expected<std::size_t, obs::CertificateFault> countVotes(const Configuration& predecessor,
                                                             const Certificate& certificate,
                                                             const Directory& directory, const Rules& rules) {
  using obs::CertificateFault;
  std::vector<NodeId> voters;
  for (const Vote& vote : certificate.votes) {
    if (vote.voter.value >= directory.nodeCount()) return std::unexpected(CertificateFault::malformed);
    if (!predecessor.contains(vote.voter) && rules.on(Rule::EP5_VotersAreMembers)) {
      return std::unexpected(CertificateFault::notMember);
    }
    const bool authentic = vote.signature == signVote(directory, vote.voter, certificate.value);
    if (!authentic && rules.on(Rule::EP5_VotesAuthenticated))
      return std::unexpected(CertificateFault::forged);
    const bool again = std::find(voters.begin(), voters.end(), vote.voter) != voters.end();
    if (again && rules.on(Rule::EP5_VotersDistinct))
      return std::unexpected(CertificateFault::duplicatedVoter);
    voters.push_back(vote.voter);
  }
  return voters.size();
}

}  // namespace

std::uint64_t signVote(const Directory& directory, NodeId voter, const AcceptedValue& value) {
  StateHash hash{MonotonicInstant{}};
  hash.add(voteSecret(directory, voter));
  hash.add(digestOf(value.configuration));
  hash.add(value.ballot);
  hash.add(value.protection);
  return hash.value();
}

std::uint64_t digestOf(const Configuration& configuration) {
  StateHash hash{MonotonicInstant{}};
  hash.add(configuration);
  return hash.value();
}

bool wellFormed(const Directory& directory, const Configuration& configuration) {
  const std::vector<Member>& members = configuration.members;
  if (members.empty() || members.size() > kMaxMembers || configuration.number == 0) return false;
  if (!isRingVersion(configuration.ringVersion)) return false;
  const auto disordered =
      std::adjacent_find(members.begin(), members.end(), [](Member a, Member b) { return a.node >= b.node; });
  if (disordered != members.end() || members.back().node.value >= directory.nodeCount()) return false;
  const std::vector<NodeId>& dismissed = configuration.dismissed;
  const bool strictly = std::adjacent_find(dismissed.begin(), dismissed.end(),
                                           [](NodeId a, NodeId b) { return a >= b; }) == dismissed.end();
  return strictly && (dismissed.empty() || dismissed.back().value < directory.nodeCount());
}

std::expected<void, obs::CertificateFault> verify(const Directory& directory,
                                                  const Configuration& predecessor,
                                                  const Certificate& certificate, const Rules& rules) {
  using obs::CertificateFault;
  const Configuration& configuration = certificate.value.configuration;
  const std::size_t bound = rules.on(Rule::EP5_VotersDistinct) ? kMaxMembers : 2 * kMaxMembers;
  if (configuration.members.size() > kMaxMembers || configuration.dismissed.size() > kMaxMembers ||
      certificate.votes.size() > bound) {
    return std::unexpected(CertificateFault::oversized);
  }
  if (!isRingVersion(configuration.ringVersion)) return std::unexpected(CertificateFault::version);
  if (!wellFormed(directory, configuration) || !plausible(certificate.value.protection)) {
    return std::unexpected(CertificateFault::malformed);
  }
  if (configuration.number <= predecessor.number) return std::unexpected(CertificateFault::obsolete);
  if (configuration.number != predecessor.number + 1) return std::unexpected(CertificateFault::gap);
  // EP-1: the ballot is one of a member of the predecessor, for nobody else proposes.
  if (!predecessor.contains(certificate.value.ballot.proposer) && rules.on(Rule::EP5_VotersAreMembers)) {
    return std::unexpected(CertificateFault::notMember);
  }
  const auto votes = countVotes(predecessor, certificate, directory, rules);
  if (!votes) return std::unexpected(votes.error());
  const std::size_t needed = rules.on(Rule::EP5_Majority) ? predecessor.majority() : 1;
  if (*votes < needed) return std::unexpected(CertificateFault::partial);
  return {};
}

obs::NodeBits bitsOf(const Configuration& configuration) {
  obs::NodeBits bits;
  for (const Member& member : configuration.members) bits.insert(member.node);
  return bits;
}

obs::NodeBits bitsOf(std::span<const Vote> votes) {
  obs::NodeBits bits;
  for (const Vote& vote : votes) bits.insert(vote.voter);
  return bits;
}

obs::NodeBits bitsOf(std::span<const NodeId> nodes) {
  obs::NodeBits bits;
  for (const NodeId node : nodes) bits.insert(node);
  return bits;
}

}  // namespace holdfast::protocol
