#include "protocol/membership/epoch_membership.hpp"

#include <algorithm>

namespace holdfast::protocol {

EpochMembership::EpochMembership(const NodeSetup& setup, DurableMembership) : members_(setup.members) {}

MembershipChange EpochMembership::boot(const MembershipEnv&) { return {}; }
MembershipChange EpochMembership::onMessage(NodeId, const Message&, const MembershipEnv&) { return {}; }
MembershipChange EpochMembership::onTimer(TimerKind, const MembershipEnv&) { return {}; }
MembershipChange EpochMembership::onPersisted(const PersistDone&, const MembershipEnv&) { return {}; }
MembershipChange EpochMembership::propose(const AdminProposeMembership&, const MembershipEnv&) { return {}; }

bool EpochMembership::isMember(NodeId node) const {
  return std::binary_search(members_.begin(), members_.end(), node);
}

void EpochMembership::addTo(StateHash& hash) const {
  hash.addRange(members_);
  hash.add(lease_);
}

}  // namespace holdfast::protocol
