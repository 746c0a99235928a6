// The installed configurations in order, each proved by a majority of the one before (EP-5, EP-11).
//
// The chain begins with the first configuration, which every node is told and which founders hold by birth.
// So a node that missed any number of epochs checks them one by one, and believes nobody's word.
#pragma once

#include <cstddef>
#include <vector>

#include "protocol/membership/certificate.hpp"
#include "protocol/node_setup.hpp"
#include "protocol/state_hash.hpp"

namespace holdfast::protocol {

class CertificateChain {
 public:
  explicit CertificateChain(const NodeSetup& setup);

  /// Takes up what was found on the disk; false, and only the first configuration, when it is no chain.
  bool restore(const std::vector<Certificate>& durable);

  const Certificate& head() const { return links_.back(); }
  const Configuration& current() const { return links_.back().value.configuration; }
  /// The configuration before the current one; nothing when it is the first.
  const Configuration* predecessor() const;
  /// The configuration of that number; nothing when it is not in the chain.
  const Configuration* at(MembershipNumber number) const;
  /// Who was a member of an earlier configuration and is none now; of those that an operator dismissed only
  /// the latest. Sorted.
  std::vector<NodeId> formerMembers() const;
  bool everMember(NodeId node) const;

  void append(Certificate certificate) { links_.push_back(std::move(certificate)); }
  /// Drops `number` and what follows (rule EP11_RefuseOlder off).
  void rewindBefore(MembershipNumber number);

  /// What follows `number`, as much of it as goes into one message.
  std::vector<Certificate> after(MembershipNumber number) const;

  std::size_t size() const { return links_.size(); }
  void addTo(StateHash& hash) const;

 private:
  std::vector<Certificate> links_;  // numbers 1, 2, ...; the first has no votes
};

}  // namespace holdfast::protocol
