// A node's own part in a home map (HM): which map it acts on, whom it acts with, and when it stops.
//
// It acts on the map of the newest activation record that is durable here, or on the one it was born with.
// It stops, and stays so across restarts, as soon as a newer one is staged (HM-3); only an activation record
// starts it again, whether the console sends it or a peer that was asked for it. Every node tells every other
// one which map it acts on (HM-2): a node works with those who act on the same, and with nobody before
// one of them has answered its present incarnation, or as long as another map of its own generation is about.
// A node that has lost its records acts on nothing until a change that it has acknowledged is activated: what
// others act on is no evidence of what it had stopped for.
#pragma once

#include <span>
#include <vector>

#include "protocol/membership/home_map_desk.hpp"

namespace holdfast::protocol {

class HomeMapMember {
 public:
  HomeMapMember(const NodeSetup& setup, const DurableMembership& durable);

  MembershipChange boot(const HomeMapDesk& desk);
  /// This incarnation is durable, and may ask in its own name.
  void onIncarnation(const HomeMapDesk& desk) const { greet(!compared_, desk); }
  MembershipChange onHello(NodeId from, const HomeMapHello& hello, const HomeMapDesk& desk);
  MembershipChange onStage(NodeId from, const HomeMapStage& stage, const HomeMapDesk& desk);
  void onQuery(NodeId from, const HomeMapQuery& query, const HomeMapDesk& desk) const;
  /// Cause::none: the record was taken up. Cause::superseded: it is genuine, and comes too late for this
  /// node.
  Cause onActivation(NodeId from, const HomeMapActivation& activation, const HomeMapDesk& desk);
  MembershipChange onTick(const HomeMapDesk& desk);
  /// More of the record is durable now.
  MembershipChange onDurable(const HomeMapDesk& desk);

  /// Makes a record that was found to be good the acting one, as soon as it is durable.
  void adopt(ActivationRecord record, const HomeMapDesk& desk);

  const PublishedMap& acting() const { return acting_; }
  /// The generation below which, itself included, nothing is taken up (HM-6).
  std::uint32_t floor(const HomeMapDesk& desk) const;
  /// Acting on nothing, for want of records.
  bool blank() const { return blank_; }
  bool takesPart() const { return !blank_ && !stopped_ && !withheld_ && compared_; }
  bool agrees(const NodeSetup& setup, NodeId peer) const;
  std::span<const NodeId> homes() const { return homes_; }
  bool first() const { return first_; }

  void addTo(StateHash& hash, const HomeMapStore& store) const;

 private:
  /// What a peer last said it acts on.
  struct Peer {
    std::uint32_t generation = 0;  // 0: nothing
    std::uint64_t digest = 0;
    bool answered = false;                                   // to a question of this incarnation
    bool refused = false;                                    // only without HM2_NoStickyVerdict
    MonotonicInstant heardAt = MonotonicInstant::longAgo();  // only without HM7_NoRehoming
  };

  Cause faultOfStage(const HomeMapChange& change, const HomeMapDesk& desk) const;
  Cause faultOfActivation(const ActivationRecord& record, const HomeMapDesk& desk) const;
  void act(const PublishedMap& map, const HomeMapDesk& desk);
  MembershipChange install(const HomeMapDesk& desk);
  void sayActivated(const HomeMapDesk& desk) const;
  void sayInstalled(const HomeMapDesk& desk) const;
  void acknowledge(const HomeMapDesk& desk);
  bool conflict() const;
  bool agreesWithSomebody(NodeId self) const;
  /// Looks again whether the map is withheld; true when that has just ended.
  bool compare(const HomeMapDesk& desk);
  HomeMapHello hello(std::uint32_t asks, std::uint32_t answers) const;
  void greet(bool ask, const HomeMapDesk& desk) const;
  bool dropSilent(const HomeMapDesk& desk);

  PublishedMap acting_;
  std::uint64_t digest_ = 0;
  std::vector<NodeId> homes_;  // those of acting_, save for mutants; sorted
  std::vector<Peer> peers_;    // index: NodeId
  std::uint32_t disk_ = 0;     // serial number of the disk with the records
  bool corrupted_ = false;     // it held some that can not be read
  bool blank_ = false;
  bool first_ = true;                 // nothing came before acting_
  bool stopped_ = false;              // for the staged change
  bool withheld_ = false;             // another map of this generation is about
  bool compared_ = false;             // a peer was found to agree since the start
  std::uint32_t floor_ = 0;           // only without HM6_ReadingRaisesNothing
  NodeId console_;                    // whom the acknowledgement goes to
  RequestId request_;                 // and which request of its it answers
  bool owes_ = false;                 // it has yet to be given
  bool fresh_ = false;                // the staged change has yet to be observed
  std::uint32_t stagedAt_ = 0;        // the write that holds the staged change
  std::uint32_t activeAt_ = 0;        // the write that holds the next acting map; 0: none
  std::uint32_t saidGeneration_ = 0;  // of the acknowledgement that was observed last
  std::uint32_t saidIncarnation_ = 0;
  RequestId saidTo_;  // the request that it answered
};

}  // namespace holdfast::protocol
