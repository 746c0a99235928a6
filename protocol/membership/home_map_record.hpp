// What an operator publishes, what a change to it is, and what a node keeps of both on its disk (HM).
//
// A node has one durable record of its home map, complete in itself: what it may act on (`active`), what it
// has stopped for (`staged`), and, where the operator works, the change under way (`console`). So each step
// of a change is one atomic write. The map, the change and the activation carry the operator's seal: a list
// that some node made up proves nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "observations/types.hpp"

namespace holdfast::protocol {

/// Immutable: two maps of one generation are the same map. Sorted homes, each once (HM-1).
struct PublishedMap {
  std::uint32_t generation = 0;  // 0: none
  std::vector<sim::NodeId> homes;
  std::uint32_t ringVersion = 1;
  friend bool operator==(const PublishedMap&, const PublishedMap&) = default;
};
BOOST_DESCRIBE_STRUCT(PublishedMap, (), (generation, homes, ringVersion))

/// HM-3: the map to come, and everybody who may act on an older one or is to act on this one, sorted.
struct HomeMapChange {
  PublishedMap map;
  std::vector<sim::NodeId> participants;
  std::uint64_t seal = 0;
  friend bool operator==(const HomeMapChange&, const HomeMapChange&) = default;
};
BOOST_DESCRIBE_STRUCT(HomeMapChange, (), (map, participants, seal))

/// HM-4: an acknowledgement is that of one incarnation.
struct Acknowledged {
  sim::NodeId member;
  std::uint32_t incarnation = 0;
  friend bool operator==(const Acknowledged&, const Acknowledged&) = default;
};
BOOST_DESCRIBE_STRUCT(Acknowledged, (), (member, incarnation))

/// HM-3: what makes a generation active. Each participant is in one of the two sorted lists. `notBefore` is
/// how long the console has waited since the last of them. A map by birth has no evidence and no record.
struct ActivationRecord {
  PublishedMap map;
  std::vector<Acknowledged> acknowledged;
  std::vector<sim::NodeId> fenced;
  sim::Duration notBefore;
  std::uint64_t seal = 0;
  friend bool operator==(const ActivationRecord&, const ActivationRecord&) = default;
};
BOOST_DESCRIBE_STRUCT(ActivationRecord, (), (map, acknowledged, fenced, notBefore, seal))

/// A change that this node is the console of, with the fences that the operator has stated.
struct ConsoleRecord {
  HomeMapChange change;
  std::vector<sim::NodeId> fenced;  // sorted
  friend bool operator==(const ConsoleRecord&, const ConsoleRecord&) = default;
};
BOOST_DESCRIBE_STRUCT(ConsoleRecord, (), (change, fenced))

struct HomeMapRecord {
  ActivationRecord active;              // generation 0: the map by birth
  std::optional<HomeMapChange> staged;  // newer than `active`
  std::optional<ConsoleRecord> console;
  std::vector<sim::NodeId> former;  // who took part in an older map and in `active` does not; sorted
  friend bool operator==(const HomeMapRecord&, const HomeMapRecord&) = default;
};
BOOST_DESCRIBE_STRUCT(HomeMapRecord, (), (active, staged, console, former))

}  // namespace holdfast::protocol
