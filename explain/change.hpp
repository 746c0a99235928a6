// The change of membership in which an incident happened: from the oldest membership that one of its parties
// acted under to the newest, what was published, promised, accepted, acknowledged, decided and activated, and
// who went over when.
//
// Contract: epochs (EP) and home maps (HM) alike, by their numbers. An incident whose parties all acted under
// one membership, and that is about no step of a change itself, has no change.
#pragma once

#include <cstdint>
#include <span>

#include "explain/slice.hpp"

namespace holdfast::explain {

/// The number of the membership, or generation of the home map, of which `what` is a step; 0 if it is none.
std::uint32_t stepOfChange(const obs::Observation& what);

class MembershipChange {
 public:
  MembershipChange(Run run, const Incident& incident, std::span<const EventIndex> parties);

  bool happened() const { return oldest_ < newest_; }
  /// The first event that belongs to it: where a party went over to the oldest membership.
  EventIndex begin() const { return begin_; }
  /// Whether the event is a step of the change, or the going over of a node to the membership before.
  bool has(EventIndex event) const;

 private:
  /// The membership under which the node of `event` acted in it; 0 if it had none.
  std::uint32_t actedUnder(EventIndex event) const;

  Run run_;
  std::uint32_t oldest_ = 0;
  std::uint32_t newest_ = 0;
  EventIndex begin_ = 0;
};

}  // namespace holdfast::explain
