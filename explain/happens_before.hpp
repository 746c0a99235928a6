// The happens-before order of a run: which events can have had a part in which others.
//
// An edge leads from an event to one that it happened before: to the next event of its node (program order),
// from the sending of a message to each delivery, from the submission of a transaction to its settlement, and
// from an entry of a log to its application elsewhere. The transitive closure is the order of Lamport, "Time,
// Clocks, and the Ordering of Events in a Distributed System" (1978); vector clocks answer whether two events
// are in it in constant time. A crash does not break program order: what is durable leads on.
//
// Events of the harness that belong to no node have a lane of their own.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "explain/mentions.hpp"

namespace holdfast::explain {

/// `path`: other events lie between.
enum class EdgeKind : std::uint8_t { programOrder, message, settle, logEntry, path };
BOOST_DESCRIBE_ENUM(EdgeKind, programOrder, message, settle, logEntry, path)

struct Edge {
  EventIndex from = 0;
  EventIndex to = 0;
  EdgeKind kind = EdgeKind::programOrder;

  friend bool operator==(const Edge&, const Edge&) = default;
};

class HappensBefore {
 public:
  explicit HappensBefore(Run run);

  std::size_t size() const { return lanes_.size(); }
  /// Nodes that have events are lanes 0, 1, ... in the order of their ids; the harness's own is the last.
  std::size_t laneCount() const { return laneCount_; }
  std::size_t lane(EventIndex event) const { return lanes_[event]; }

  /// How many events of each lane happened before `event`, itself included.
  std::span<const std::uint32_t> clock(EventIndex event) const {
    return std::span(clocks_).subspan(event * laneCount_, laneCount_);
  }
  /// Whether `a` happened before `b`; no event happens before itself.
  bool before(EventIndex a, EventIndex b) const { return a != b && clock(b)[lane(a)] >= clock(a)[lane(a)]; }
  bool concurrent(EventIndex a, EventIndex b) const { return a != b && !before(a, b) && !before(b, a); }

  /// All edges but those that program order makes needless, by `to`.
  std::span<const Edge> edges() const { return edges_; }

  /// The causal past of `targets`, themselves included: one flag an event.
  std::vector<bool> pastOf(std::span<const EventIndex> targets) const;

  /// The order among `events` (ascending) alone, with no edge that follows from others; by (to, from).
  std::vector<Edge> reduced(std::span<const EventIndex> events) const;

 private:
  using Backward = boost::compressed_sparse_row_graph<boost::directedS>;

  void connect(Run run);
  void countClocks();
  EdgeKind kindOf(EventIndex from, EventIndex to) const;

  std::vector<obs::NodeId> nodes_;  // by lane
  std::size_t laneCount_ = 0;
  std::vector<std::uint32_t> lanes_;  // by event
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> clocks_;
  Backward backward_;
};

}  // namespace holdfast::explain
