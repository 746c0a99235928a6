// The operator's home map as a membership (HM): an immutable (generation, homes), published and not agreed
// on.
//
// A node is a member of the map it acts on, and may be the operator's console of a change besides; the two
// share one durable record. There is no lease and no failure-driven change (HM-7): a map is live until the
// operator puts another in its place.
#pragma once

#include <span>
#include <vector>

#include "protocol/membership/home_map_console.hpp"
#include "protocol/membership/home_map_member.hpp"

namespace holdfast::protocol {

class HomeMap {
 public:
  HomeMap(const NodeSetup& setup, DurableMembership durable);

  MembershipChange boot(const MembershipEnv& env);
  /// The node's incarnation is durable now.
  void onIncarnation(const MembershipEnv& env) { member_.onIncarnation(desk(env)); }
  MembershipChange onMessage(NodeId from, const Message& message, const MembershipEnv& env);
  MembershipChange onTimer(TimerKind timer, const MembershipEnv& env);
  MembershipChange onPersisted(const PersistDone& done, const MembershipEnv& env);
  /// The operator's inputs to this node as the console (HM-3, HM-5).
  MembershipChange stage(const AdminStageHomeMap& change, const MembershipEnv& env);
  MembershipChange fence(const AdminFenceHome& fence, const MembershipEnv& env);

  MembershipNumber number() const { return member_.acting().generation; }
  std::span<const NodeId> members() const { return member_.homes(); }
  std::span<const NodeId> predecessors() const { return {}; }
  std::span<const NodeId> former() const { return store_.record.former; }
  bool isMember(NodeId node) const;
  std::uint32_t ringVersion() const { return member_.acting().ringVersion; }
  /// A home map has no lease: it is live for ever, or not at all.
  MonotonicInstant deadline() const {
    return member_.takesPart() ? MonotonicInstant::never() : MonotonicInstant::longAgo();
  }
  /// The console has waited for everything before it activated (HM-3).
  MonotonicInstant grantsFrom() const { return MonotonicInstant::longAgo(); }
  bool active() const { return true; }
  bool first() const { return member_.first(); }
  /// For the operator: whether this node is the console of a change to `generation`, and who keeps it
  /// waiting.
  bool stages(MembershipNumber generation) const {
    return store_.record.console && store_.record.console->change.map.generation == generation;
  }
  std::vector<NodeId> awaited() const { return console_.awaited(); }
  /// HM-2: whether `peer` acts on the same map as this node.
  bool agrees(const NodeSetup& setup, NodeId peer) const { return member_.agrees(setup, peer); }

  void addTo(StateHash& hash) const;

 private:
  HomeMapDesk desk(const MembershipEnv& env) { return {env, store_, loopback_}; }
  MembershipChange dispatch(NodeId from, const Message& message, const HomeMapDesk& desk);
  MembershipChange finish(MembershipChange change, const HomeMapDesk& desk);
  void announce(const HomeMapDesk& desk) const;

  HomeMapMember member_;
  HomeMapConsole console_;
  HomeMapStore store_;
  std::uint32_t announceAt_ = 0;   // the write that holds this console's activation record; 0: none to tell
  bool rewrite_ = false;           // the last write failed
  std::vector<Message> loopback_;  // empty between inputs
};

}  // namespace holdfast::protocol
