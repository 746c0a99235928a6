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

std::size_t timesNamed(const protocol::Configuration& configuration, NodeId node) {
  return static_cast<std::size_t>(std::ranges::count(configuration.members, node, &protocol::Member::node));
}

/// Whether `voting` of so many members are a majority, also when one of them is proposed away for being
/// silent.
constexpr bool agreesWithOneLess(std::size_t members, std::size_t voting) {
  return voting > 1 && (voting - 1) * 2 > members - 1;
}

}  // namespace

bool Cluster::isLiveMember(NodeId node) const {
  const Machine& m = machine(node);
  if (!m.process.running() || !m.node) return false;
  const protocol::Node* const state = m.node->delegation();
  if (state == nullptr) return false;
  const protocol::Membership& membership = state->membership();
  return membership.isMember(node) && m.monotonic.at(now_) < membership.deadline();
}

const protocol::EpochMembership* Cluster::epochOf(const Machine& m) {
  const protocol::Node* const state = m.node ? m.node->delegation() : nullptr;
  return state != nullptr ? state->membership().epoch() : nullptr;
}

/// Whether the node runs, has its records, and goes by the identity under which `member` would let it in.
bool Cluster::isFitToJoin(NodeId node, NodeId member) const {
  const Machine& m = machine(node);
  if (!m.process.running() || isSpoilt(m)) return false;
  const auto* const epoch = epochOf(machine(member));
  const auto known = epoch != nullptr ? epoch->candidates().identityOf(node) : std::nullopt;
  return known.value_or(m.stored.disk) == m.stored.disk;
}

/// Tells the first member that has a lease; false when there is none, or none that may let in whom it should.
bool Cluster::tellMembers(const protocol::AdminProposeMembership& change) {
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    // Whoever is to leave does not lead that.
    if (NodeId{i} == change.remove || !isLiveMember(NodeId{i})) continue;
    return (!change.add.valid() || isFitToJoin(change.add, NodeId{i})) && call(NodeId{i}, change);
  }
  return false;
}

void Cluster::beginChange(const Fault& fault) {
  const bool replaces = fault.kind == FaultKind::replaceMember;
  if (publishesMaps()) {
    wantOut(fault.node, replaces ? fault.peer : NodeId::none());
    return;
  }
  if (!canDismiss(fault.node)) return;
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

/// Visits the newest configuration, and any that was accepted after it; false when there is none yet, or
/// `visit` was false for one.
template <class Visit>
bool Cluster::allConfigurations(Visit&& visit) const {
  protocol::MembershipNumber newest = 0;
  for (const Machine& m : machines_) {
    if (!m.stored.chain.empty()) newest = std::max(newest, m.stored.chain.back().number());
  }
  for (const Machine& m : machines_) {
    const auto& accepted = m.stored.acceptor.accepted;
    if (accepted && accepted->configuration.number > newest && !visit(accepted->configuration)) return false;
    if (m.stored.chain.empty() || m.stored.chain.back().number() != newest) continue;
    if (!visit(m.stored.chain.back().value.configuration)) return false;
  }
  return newest > 0;
}

/// Whether all members but `node` have their records, and nobody would let a node in that has lost its own:
/// one loss is made good before there is another, or a member is taken away.
bool Cluster::allOthersAreWhole(NodeId node) const {
  for (const Machine& m : machines_) {
    const auto* const epoch = epochOf(m);
    if (epoch == nullptr) continue;
    for (std::uint16_t i = 0; i < nodeCount(); ++i) {
      if (NodeId{i} == node) continue;
      const auto known = epoch->candidates().identityOf(NodeId{i});
      if (known && *known != machine(NodeId{i}).stored.disk) return false;
    }
  }
  return allConfigurations([&](const protocol::Configuration& configuration) {
    return std::ranges::all_of(configuration.members, [&](const protocol::Member& member) {
      const Machine& m = machine(member.node);
      return member.node == node || (m.stored.disk == member.identity && !isSpoilt(m));
    });
  });
}

/// How many nodes, `node` left aside, have spoilt records and may not have found that out, so that members
/// know them by the disk that they had and let them in under an identity which votes no more (EP-11, EP-13).
std::size_t Cluster::mutedCandidates(NodeId node) const {
  std::size_t muted = 0;
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    if (NodeId{i} != node && isSpoilt(machine(NodeId{i})) && isCandidate(NodeId{i})) ++muted;
  }
  return muted;
}

bool Cluster::isCandidate(NodeId node) const {
  return std::ranges::any_of(machines_, [&](const Machine& m) {
    const auto* const epoch = epochOf(m);
    return epoch != nullptr && epoch->candidates().identityOf(node).has_value();
  });
}

/// Whether an operator's dismissal has yet to come about: a member that can not lead it now keeps it in mind.
bool Cluster::isDismissing() const {
  return std::ranges::any_of(machines_, [](const Machine& m) {
    const auto* const epoch = epochOf(m);
    return epoch != nullptr && epoch->isToDismiss();
  });
}

/// Whether the member may be taken away: agreement must do without the votes of those who may be let in
/// muted.
bool Cluster::canDismiss(NodeId node) const {
  if (!allOthersAreWhole(node)) return false;
  const std::size_t muted = mutedCandidates(NodeId::none());
  return muted == 0 || allConfigurations([&](const protocol::Configuration& configuration) {
           const auto left = configuration.members.size() - timesNamed(configuration, node);
           return agreesWithOneLess(left + muted, left);
         });
}

/// Whether agreement survives the loss of this node's records, before that is made good. A change under way
/// may take away others.
bool Cluster::canDoWithout(NodeId node) const {
  const bool changing = std::ranges::any_of(machines_, [](const Machine& m) {
    const auto* const epoch = epochOf(m);
    return epoch != nullptr && epoch->proposing();
  });
  if (changing || isDismissing() || !allOthersAreWhole(node)) return false;
  const std::size_t muted = mutedCandidates(node);
  return allConfigurations([&](const protocol::Configuration& configuration) {
    const std::size_t members = configuration.members.size();
    const std::size_t lost = timesNamed(configuration, node);
    // Who is no member yet may become one after the loss, and by the disk that was lost.
    const std::size_t joins = lost == 0 && isCandidate(node) ? 1 : 0;
    return agreesWithOneLess(members + muted + joins, members - lost);
  });
}

}  // namespace holdfast::scenarios
