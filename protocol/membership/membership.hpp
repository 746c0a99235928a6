// Who may arbitrate and lock, as the delegation protocol sees it: whatever agrees on members offers this.
//
// A membership has a number, members and a ring version. It is live on a node while the node's lease on it
// runs (EP-6); a node without a live membership neither grants nor admits. FixedEpoch is the membership that
// never changes: its members are given, its number is 1, and only its lease is at stake.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "protocol/context.hpp"
#include "protocol/node_set.hpp"
#include "protocol/node_setup.hpp"
#include "protocol/timers.hpp"

namespace holdfast::protocol {

/// A configuration that was given, not agreed on, kept live by renewals against a majority of its members
/// (EP-6).
class FixedEpoch {
 public:
  explicit FixedEpoch(const NodeSetup& setup);

  void boot(const NodeSetup& setup, const Context& context, TimerSet& timers);
  void onRenew(const NodeSetup& setup, NodeId from, const MembershipRenew& renew,
               const Context& context) const;
  /// Returns whether the membership has just become live.
  bool onRenewAck(const NodeSetup& setup, NodeId from, const MembershipRenewAck& ack, const Context& context,
                  TimerSet& timers);
  void onRenewTimer(const NodeSetup& setup, const Context& context, TimerSet& timers);
  /// The lease timer fired: says so when the lease has really lapsed.
  void onLapseTimer(const Context& context);

  MembershipNumber number() const { return number_; }
  std::span<const NodeId> members() const { return members_; }
  bool isMember(NodeId node) const;
  MonotonicInstant deadline() const { return deadline_; }

  void addTo(StateHash& hash) const;

 private:
  void conclude(const NodeSetup& setup, const Context& context, TimerSet& timers);

  MembershipNumber number_ = 1;
  std::vector<NodeId> members_;  // sorted
  MonotonicInstant deadline_ = MonotonicInstant::longAgo();
  std::uint32_t sequence_ = 0;  // of the renewal in flight
  MonotonicInstant sentAt_;     // when it was sent
  NodeSet acknowledged_;
  bool concluded_ = true;  // the renewal in flight has its majority, or there is none
  bool everLive_ = false;
};

/// The membership in use. A further kind is a further alternative.
class Membership {
 public:
  explicit Membership(const NodeSetup& setup) : kind_(FixedEpoch(setup)) {}

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
  std::span<const NodeId> members() const {
    return std::visit([](const auto& kind) { return kind.members(); }, kind_);
  }
  bool isMember(NodeId node) const {
    return std::visit([&](const auto& kind) { return kind.isMember(node); }, kind_);
  }

  void boot(const NodeSetup& setup, const Context& context, TimerSet& timers) {
    std::visit([&](auto& kind) { kind.boot(setup, context, timers); }, kind_);
  }
  /// Returns whether the membership has just become live.
  bool onMessage(const NodeSetup& setup, NodeId from, const Message& message, const Context& context,
                 TimerSet& timers);
  void onTimer(const NodeSetup& setup, TimerKind timer, const Context& context, TimerSet& timers);

  void addTo(StateHash& hash) const {
    std::visit([&](const auto& kind) { kind.addTo(hash); }, kind_);
  }

 private:
  std::variant<FixedEpoch> kind_;
};

}  // namespace holdfast::protocol
