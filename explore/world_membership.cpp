// What a membership that changes adds to the world: heartbeats, bounds, and its own properties.
//
// Judged when a node says that it is active or live, by the values of all nodes: one live ring (EP-8, EP-9,
// HM-3), and one value for each number (EP-4). Of the numbers that a node installs the ghost remembers the
// greatest (EP-11, HM-6).
#include <algorithm>
#include <bit>

#include "explore/world.hpp"

namespace holdfast::explore {

using protocol::MembershipKind;

/// Renewals, comparisons of maps, and their answers: what is sent all the time. Subscriptions to streams,
/// which each restart brings about, are as quick.
bool World::isHeartbeat(const Item& item) const {
  if (configuration_.membership == MembershipKind::fixed ||
      (item.kind != ItemKind::datagram && item.kind != ItemKind::stream)) {
    return false;
  }
  const protocol::MessageKind kind = protocol::kindOf(std::get<protocol::Deliver>(item.input).message);
  return kind == protocol::MessageKind::membershipRenew ||
         kind == protocol::MessageKind::membershipRenewAck ||
         kind == protocol::MessageKind::membershipQuery || kind == protocol::MessageKind::homeMapHello ||
         kind == protocol::MessageKind::subscribe;
}

/// How many heartbeats a timer of the node brings about.
std::uint16_t World::heartbeatsOf(const State& state, std::uint8_t node) const {
  if (configuration_.membership == MembershipKind::fixed) return 0;
  State after = state;
  UnderWay way;
  advance(after, way, node, wakes_[node]);
  return way.heartbeats;
}

/// Whether the last membership that is of interest is active on all its members that run, and nobody wants
/// more.
bool World::isOver(const State& state) const {
  for (std::size_t client = 0; client < programs_.size(); ++client) {
    if (state.places[client] < programs_[client].steps.size()) return false;
  }
  const auto waits = [](const Ghost::Call& call) { return call.phase == Ghost::CallPhase::waiting; };
  if (std::ranges::any_of(state.ghost.calls, waits)) return false;
  std::uint8_t active = 0;
  for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
    if ((state.down >> node & 1U) != 0) continue;
    const protocol::Membership& membership = table_->node(state.nodes[node]).node->membership();
    if (membership.number() < configuration_.epochs) continue;
    const bool serves = membership.active() && membership.deadline() != obs::MonotonicInstant::longAgo();
    if (membership.isMember(sim::NodeId{node}) && !serves) return false;
    for (const sim::NodeId member : membership.members()) {
      const bool runs = (state.down >> member.value & 1U) == 0;
      const auto& other = table_->node(state.nodes[member.value]);
      if (runs && other.node->membership().number() < configuration_.epochs) return false;
    }
    ++active;
  }
  return active > 0;
}

bool World::isBeyond(const State& state) const {
  if (configuration_.membership == MembershipKind::fixed) return false;
  if (isOver(state)) return true;
  if (configuration_.membership != MembershipKind::epoch) return false;
  for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
    if ((state.down >> node & 1U) != 0) continue;
    const auto& epoch = *table_->node(state.nodes[node]).node->membership().epoch();
    const protocol::Ballot& promised = epoch.acceptor().promised();
    if (epoch.number() > configuration_.epochs || promised.counter > configuration_.ballots ||
        (epoch.number() == configuration_.epochs && promised.valid())) {
      return true;
    }
  }
  return false;
}

/// Whether the node may grant and admit.
bool World::acts(const State& state, std::uint8_t node) const {
  if ((state.down >> node & 1U) != 0) return false;
  const StoredNode& stored = table_->node(state.nodes[node]);
  const protocol::Membership& membership = stored.node->membership();
  return membership.active() && membership.isMember(sim::NodeId{node}) &&
         !hasStopped(state, node, membership) && stored.now < membership.deadline();
}

void World::judgeMembership(State& state, std::uint8_t node, const LocalStep& step) const {
  if (configuration_.membership == MembershipKind::fixed || state.ghost.breach != Breach::none) return;
  const protocol::Membership& membership = table_->node(step.node).node->membership();
  for (const obs::Observation& what : step.observations) {
    if (const auto* installed = std::get_if<obs::MembershipInstalled>(&what)) {
      std::uint8_t& newest = state.ghost.newest[node];
      if (installed->number < newest) state.ghost.breach = Breach::membershipWentBack;
      newest = std::max(newest, static_cast<std::uint8_t>(installed->number));
      if (membership.epoch() != nullptr) judgeValues(state, node);
    } else if (const auto* active = std::get_if<obs::MembershipActive>(&what)) {
      judgeActivation(state, node, *active);
    } else if (std::holds_alternative<obs::MembershipRenewed>(what)) {
      judgeRings(state, node, false);
    } else if (std::holds_alternative<obs::Granted>(what)) {
      judgeGrant(state, node, membership, step.now, std::get<obs::Granted>(what));
    } else if (const auto* decided = std::get_if<obs::MembershipDecided>(&what)) {
      judgeCertificate(state, table_->node(step.before).node->membership(), *decided);
    }
    if (state.ghost.breach != Breach::none) return;
  }
}

/// EP-8, HM-3: what was granted under an earlier membership is in force nowhere when the first node activates
/// a later one.
void World::judgeActivation(State& state, std::uint8_t node, const obs::MembershipActive& active) const {
  const bool first = std::ranges::max(state.ghost.served) < active.number;
  std::uint8_t& served = state.ghost.served[node];
  served = std::max(served, static_cast<std::uint8_t>(active.number));
  judgeRings(state, node, true);
  if (first && state.ghost.admits()) state.ghost.breach = Breach::activatedTooEarly;
}

/// EP-6, EP-8, DG-2, HM-1: who grants is live and active, and whoever grants or is granted is named.
void World::judgeGrant(State& state, std::uint8_t node, const protocol::Membership& membership,
                       obs::MonotonicInstant now, const obs::Granted& event) const {
  const auto named = [&](sim::NodeId id) {
    return membership.epoch() != nullptr ? membership.isMember(id)
                                         : (homesOf(membership.number()) >> id.value & 1U) != 0;
  };
  if (!membership.active()) {
    state.ghost.breach = Breach::grantedBeforeActivation;
  } else if (membership.epoch() != nullptr && now >= membership.deadline()) {
    state.ghost.breach = Breach::grantedWithoutMembership;
  } else if (membership.epoch() == nullptr && hasStopped(state, node, membership)) {
    state.ghost.breach = Breach::servedAfterAcknowledging;
  } else if (!named(event.to) || !named(sim::NodeId{node})) {
    state.ghost.breach = Breach::strangerTakesPart;
  }
}

/// The homes of a published map, a bit each; each node is born with the first one.
std::uint8_t World::homesOf(std::uint32_t generation) const {
  if (generation < configuration_.epochs) return configuration_.members;
  for (const Client& client : configuration_.clients) {
    for (const ClientStep& step : client.steps) {
      if (step.act == Act::publish) return step.homes;
    }
  }
  return 0;
}

/// HM-3: who has acknowledged the next map has no authority under the present one, whatever it does.
bool World::hasStopped(const State& state, std::uint8_t node, const protocol::Membership& membership) const {
  return (state.ghost.acknowledged >> node & 1U) != 0 && membership.number() < configuration_.epochs;
}

/// EP-5: the votes are those of a majority of the members before.
void World::judgeCertificate(State& state, const protocol::Membership& before,
                             const obs::MembershipDecided& decided) const {
  std::size_t voters = 0;
  for (const sim::NodeId member : before.members()) voters += decided.voters.contains(member) ? 1U : 0U;
  const auto all = static_cast<std::size_t>(std::popcount(decided.voters.bits));
  const bool majority = voters == all && voters * 2 > before.members().size();
  if (before.number() + 1 == decided.number && !majority) {
    state.ghost.breach = Breach::certificateWithoutMajority;
  }
}

/// Nobody acts under another ring than this node, which begins to act or goes on to. Whoever has just
/// activated one answers for the leases of its predecessors, whether or not it has one itself.
void World::judgeRings(State& state, std::uint8_t node, bool activation) const {
  const bool acting = acts(state, node);
  const protocol::Membership& mine = table_->node(state.nodes[node]).node->membership();
  for (std::uint8_t other = 0; other < configuration_.nodes; ++other) {
    if (other == node || !acts(state, other)) continue;
    const std::uint32_t theirs = table_->node(state.nodes[other]).node->membership().number();
    if (activation && theirs < mine.number()) {
      state.ghost.breach = Breach::activatedTooEarly;
    } else if (acting && theirs != mine.number()) {
      state.ghost.breach = Breach::twoLiveRings;
    }
  }
}

/// A number has one value, on every node that runs.
void World::judgeValues(State& state, std::uint8_t node) const {
  const protocol::Membership& mine = table_->node(state.nodes[node]).node->membership();
  for (std::uint8_t other = 0; other < configuration_.nodes; ++other) {
    if (other == node || (state.down >> other & 1U) != 0) continue;
    const protocol::Membership& theirs = table_->node(state.nodes[other]).node->membership();
    if (theirs.number() == mine.number() && !std::ranges::equal(theirs.members(), mine.members())) {
      state.ghost.breach = Breach::twoConfigurations;
    }
  }
}

}  // namespace holdfast::explore
