// The operator of a cluster: dismisses, replaces and lets in, and gives back what he takes away for a time.
//
// Where members agree on themselves (EP-13) he talks to members that are in good health, one after the other,
// and keeps asking for those whom he wants to be let in: a proposal may fail, and whoever leads it may die. A
// home map he changes himself: see cluster_home_map.cpp.
#include <algorithm>

#include "scenarios/cluster.hpp"
#include "scenarios/cluster_draws.hpp"

namespace holdfast::scenarios {
namespace {

constexpr Duration kAsksAgain = sim::seconds(2);

}  // namespace

bool Cluster::isLiveMember(NodeId node) const {
  const Machine& m = machine(node);
  if (!m.process.running() || !m.node) return false;
  const protocol::Node* const state = m.node->delegation();
  if (state == nullptr) return false;
  const protocol::Membership& membership = state->membership();
  return membership.isMember(node) && m.monotonic.at(now_) < membership.deadline();
}

/// Tells the first member that has a lease; false when there is none.
bool Cluster::tellMembers(const protocol::AdminProposeMembership& change) {
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    // Whoever is to leave does not lead that.
    if (NodeId{i} == change.remove || !isLiveMember(NodeId{i})) continue;
    return call(NodeId{i}, change);
  }
  return false;
}

void Cluster::beginChange(const Fault& fault) {
  const bool replaces = fault.kind == FaultKind::replaceMember;
  if (publishesMaps()) {
    wantOut(fault.node, replaces ? fault.peer : NodeId::none());
    return;
  }
  (void)tellMembers({replaces ? fault.peer : NodeId::none(), fault.node});
}

void Cluster::endChange(const Fault& fault) {
  if (fault.kind == FaultKind::dismissMember || fault.kind == FaultKind::replaceMember) letIn(fault.node);
}

void Cluster::letIn(NodeId node) {
  if (publishesMaps()) {
    wantIn(node);
    return;
  }
  if (std::find(toLetIn_.begin(), toLetIn_.end(), node) == toLetIn_.end()) toLetIn_.push_back(node);
  if (!operating_) operate();
}

void Cluster::operate() {
  if (publishesMaps()) {
    operateHomeMap();
    return;
  }
  std::erase_if(toLetIn_, [&](NodeId node) {
    for (std::uint16_t i = 0; i < nodeCount(); ++i) {
      if (isLiveMember(NodeId{i})) return this->node(NodeId{i})->membership().isMember(node);
    }
    return false;
  });
  if (!toLetIn_.empty()) (void)tellMembers({toLetIn_.front(), NodeId::none()});
  // The next look is for the next in line.
  if (toLetIn_.size() > 1) std::rotate(toLetIn_.begin(), toLetIn_.begin() + 1, toLetIn_.end());
  operating_ = !toLetIn_.empty();
  if (!operating_) return;
  queue_.pushKeyed(now_ + kAsksAgain, draws::tie(draws::kOperatorTie, 0, 0),
                   {EventKind::operate, NodeId{0}, NodeId::none(), 0, 0, 0});
}

/// Whether agreement survives the loss of this node's records: a majority of the newest configuration, and of
/// any that was accepted after it, has its own still.
bool Cluster::canDoWithout(NodeId node) const {
  const auto survives = [&](const protocol::Configuration& configuration) {
    std::size_t intact = 0;
    for (const protocol::Member& member : configuration.members) {
      const Machine& m = machine(member.node);
      intact += member.node != node && m.stored.disk == member.identity && !isSpoilt(m) ? 1U : 0U;
    }
    // One more may be proposed away, for being silent, before the loss is made good.
    return intact > 0 && (intact - 1) * 2 > configuration.members.size() - 1;
  };
  protocol::MembershipNumber newest = 0;
  for (const Machine& m : machines_) {
    if (!m.stored.chain.empty()) newest = std::max(newest, m.stored.chain.back().number());
  }
  for (const Machine& m : machines_) {
    const auto& accepted = m.stored.acceptor.accepted;
    if (accepted && accepted->configuration.number > newest && !survives(accepted->configuration))
      return false;
    if (m.stored.chain.empty() || m.stored.chain.back().number() != newest) continue;
    if (!survives(m.stored.chain.back().value.configuration)) return false;
  }
  return newest > 0;
}

}  // namespace holdfast::scenarios
