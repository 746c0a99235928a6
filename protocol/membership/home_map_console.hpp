// The operator's console of a change of the home map (HM-3): a role that any node can take.
//
// It stages the change to everybody who may act on the old map or is to act on the new one, collects an
// acknowledgement or a fence for each, waits out on its own monotonic clock whatever was granted before the
// last of them, makes sure that no acknowledgement has died meanwhile (HM-4), and draws up the activation
// record. What is not durable is asked again: a console that restarts takes the change up with the fences and
// without the acknowledgements, and its wait starts anew.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "protocol/membership/home_map_member.hpp"

namespace holdfast::protocol {

class HomeMapConsole {
 public:
  /// Takes a change up that an earlier incarnation had begun.
  void boot(const HomeMapDesk& desk);
  void stage(const AdminStageHomeMap& input, const HomeMapMember& member, const HomeMapDesk& desk);
  void fence(const AdminFenceHome& input, const HomeMapDesk& desk);
  void onAcknowledgement(NodeId from, const HomeMapAcknowledgement& message, const HomeMapDesk& desk);
  /// There is proof that `map` is active, whether or not this node takes it up.
  void onActivation(const PublishedMap& map, const HomeMapDesk& desk);
  void onTimer(const HomeMapDesk& desk);
  /// More of the record is durable now.
  void onDurable(const HomeMapDesk& desk);

  /// The activation record, when everything that it takes is there; asks for what is missing. Looked for
  /// after every input.
  std::optional<ActivationRecord> conclude(const HomeMapDesk& desk);

  /// Those of the change under way who are not fenced and have not answered what was asked last; sorted.
  std::vector<NodeId> awaited() const;

  void addTo(StateHash& hash) const;

 private:
  struct Participant {
    NodeId node;
    std::uint32_t incarnation = 0;  // the one that acknowledged; 0: none has
    bool fenced = false;
    bool confirmed = false;    // said so again after the drain
    MonotonicInstant drained;  // what it may have granted or held before is over
    bool accountedFor() const { return fenced || incarnation != 0; }
    bool owes(bool confirming) const { return !fenced && (confirming ? !confirmed : incarnation == 0); }
  };

  void begin(const HomeMapDesk& desk);
  Participant* find(NodeId node);
  void involve(std::span<const NodeId> nodes, const HomeMapDesk& desk);
  void ask(bool everybody, const HomeMapDesk& desk);
  void nextRound();
  void reckon(const HomeMapDesk& desk);
  static Duration waitedOut(Duration wait, const HomeMapDesk& desk);
  bool drained(const HomeMapDesk& desk) const;
  ActivationRecord recordOf(const HomeMapDesk& desk) const;
  void arm(const HomeMapDesk& desk) const;
  Cause faultOf(const HomeMapAcknowledgement& message, const HomeMapDesk& desk) const;

  std::vector<Participant> participants_;  // of the change under way, sorted; none: no change
  std::uint32_t changeAt_ = 0;             // the write that holds the change or its latest fence
  bool told_ = false;                      // it is durable and was told to the participants
  std::vector<NodeId> fencing_;            // fences that are not durable yet
  std::uint32_t round_ = 0;                // of asking, in this incarnation
  bool confirming_ = false;                // the drain is over, acknowledgements are asked for once more
  MonotonicInstant drainedAt_ = MonotonicInstant::never();  // never(): somebody is not accounted for
  sim::WallInstant drainedAtWall_;                          // only without HM3_MonotonicDrain
};

}  // namespace holdfast::protocol
