// Who may arbitrate and lock, as the delegation protocol sees it: whatever agrees on members offers this.
//
// A membership has a number, members and a ring version. It is live on a node while the node's lease on it
// runs (EP-6); a node without a live membership neither grants nor admits. Three kinds offer the same:
// FixedEpoch (given), EpochMembership (agreed on, EP) and HomeMap (published by an operator, HM).
#pragma once

#include <span>
#include <variant>

#include "protocol/membership/environment.hpp"
#include "protocol/membership/epoch_membership.hpp"
#include "protocol/membership/fixed_epoch.hpp"
#include "protocol/membership/home_map.hpp"

namespace holdfast::protocol {

/// The membership in use. A further kind is a further alternative.
class Membership {
 public:
  Membership(const NodeSetup& setup, DurableMembership durable);

  /// Whether this node may grant and admit at `now`: its lease on the membership runs (EP-6).
  bool live(const NodeSetup& setup, MonotonicInstant now) const {
    return now < deadline() || !setup.rules.on(Rule::EP6_MinorityStops);
  }
  MembershipNumber number() const {
    return std::visit([](const auto& kind) { return kind.number(); }, kind_);
  }
  /// The bound that the membership lease puts on every handle (LH-2).
  MonotonicInstant deadline() const {
    return std::visit([](const auto& kind) { return kind.deadline(); }, kind_);
  }
  /// Before this reading a home grants nothing (EP-8, EP-9, HM-3); longAgo() when nothing is to be waited
  /// out.
  MonotonicInstant grantsFrom() const {
    return std::visit([](const auto& kind) { return kind.grantsFrom(); }, kind_);
  }
  /// Whether the wait is over and was said to be, by MembershipActive.
  bool active() const {
    return std::visit([](const auto& kind) { return kind.active(); }, kind_);
  }
  /// Whether no configuration came before this one, so that absence from a home's memory may count (FR-6).
  bool first() const {
    return std::visit([](const auto& kind) { return kind.first(); }, kind_);
  }
  std::uint32_t ringVersion() const {
    return std::visit([](const auto& kind) { return kind.ringVersion(); }, kind_);
  }
  std::span<const NodeId> members() const {
    return std::visit([](const auto& kind) { return kind.members(); }, kind_);
  }
  bool isMember(NodeId node) const {
    return std::visit([&](const auto& kind) { return kind.isMember(node); }, kind_);
  }
  /// Whether `peer` is known to act on the very same members (HM-2); where these are agreed on, the number
  /// says it.
  bool agrees(const NodeSetup& setup, NodeId peer) const {
    return std::visit(
        [&](const auto& kind) {
          if constexpr (requires { kind.agrees(setup, peer); }) {
            return kind.agrees(setup, peer);
          } else {
            return true;
          }
        },
        kind_);
  }
  /// The members of the configuration before this one; nobody when it is the first.
  std::span<const NodeId> predecessors() const {
    return std::visit([](const auto& kind) { return kind.predecessors(); }, kind_);
  }

  /// Nodes that were members once and are none now, but may have written under the lock: recovery asks them,
  /// too (FR-8).
  std::span<const NodeId> former() const {
    return std::visit([](const auto& kind) { return kind.former(); }, kind_);
  }

  MembershipChange boot(const MembershipEnv& env) {
    return std::visit([&](auto& kind) { return kind.boot(env); }, kind_);
  }
  MembershipChange onMessage(NodeId from, const Message& message, const MembershipEnv& env) {
    return std::visit([&](auto& kind) { return kind.onMessage(from, message, env); }, kind_);
  }
  MembershipChange onTimer(TimerKind timer, const MembershipEnv& env) {
    return std::visit([&](auto& kind) { return kind.onTimer(timer, env); }, kind_);
  }
  MembershipChange onPersisted(const PersistDone& done, const MembershipEnv& env) {
    return std::visit([&](auto& kind) { return kind.onPersisted(done, env); }, kind_);
  }
  /// `from` names a newer membership than this node knows: the epochs' members ask it for certificates.
  void noteNewer(NodeId from, MembershipNumber number, const MembershipEnv& env) const {
    if (const EpochMembership* agreed = epoch()) agreed->noteNewer(from, number, env);
  }
  /// The kind that this is, or null; for the inputs that only one kind knows.
  EpochMembership* epoch() { return std::get_if<EpochMembership>(&kind_); }
  const EpochMembership* epoch() const { return std::get_if<EpochMembership>(&kind_); }
  HomeMap* homeMap() { return std::get_if<HomeMap>(&kind_); }
  const HomeMap* homeMap() const { return std::get_if<HomeMap>(&kind_); }

  void addTo(StateHash& hash) const {
    hash.add(static_cast<std::uint64_t>(kind_.index()));
    std::visit([&](const auto& kind) { kind.addTo(hash); }, kind_);
  }

 private:
  using Kind = std::variant<FixedEpoch, EpochMembership, HomeMap>;
  static Kind make(const NodeSetup& setup, DurableMembership durable);

  Kind kind_;
};

/// Which messages are the membership's.
constexpr bool isMembershipMessage(MessageKind kind) {
  return kind == MessageKind::membershipRenew || kind == MessageKind::membershipRenewAck ||
         (kind >= MessageKind::membershipPrepare && kind <= MessageKind::homeMapActivation);
}

}  // namespace holdfast::protocol
