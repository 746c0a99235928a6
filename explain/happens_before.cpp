#include "explain/happens_before.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/transitive_reduction.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace holdfast::explain {
namespace {

/// The nodes that something was observed at, ascending; nobody, which the harness is, comes last.
std::vector<obs::NodeId> nodesIn(Run run) {
  std::set<obs::NodeId> nodes{obs::NodeId::none()};
  for (const obs::Stamped& event : run) nodes.insert(event.node);
  return {nodes.begin(), nodes.end()};
}

/// Pairs each event with the one that it answers, other than the one before it on its node.
class EdgeFinder {
 public:
  /// The cause of `event`, which has the given index; every event is to be asked about, in order.
  std::optional<Edge> causeOf(const obs::Stamped& event, EventIndex index) {
    const Mentions mentions = mentionsOf(event.what);
    std::optional<Edge> cause;
    if (std::holds_alternative<obs::MessageSent>(event.what)) {
      sent_[mentions.message] = index;
    } else if (mentions.message != 0) {
      cause = edgeFrom(sent_, mentions.message, index, EdgeKind::message);
    } else if (std::holds_alternative<obs::Submitted>(event.what)) {
      submitted_[mentions.txn.value] = index;
    } else if (std::holds_alternative<obs::Settled>(event.what)) {
      cause = edgeFrom(submitted_, mentions.txn.value, index, EdgeKind::settle);
    } else if (const auto* applied = std::get_if<obs::Applied>(&event.what)) {
      cause = edgeFrom(appended_, std::pair(applied->origin, applied->position), index, EdgeKind::logEntry);
    }
    if (const obs::Position position = appendedAt(event.what); position != 0) {
      appended_.try_emplace(std::pair(event.node, position), index);
    }
    return cause;
  }

 private:
  template <class Map, class Key>
  static std::optional<Edge> edgeFrom(const Map& map, const Key& key, EventIndex to, EdgeKind kind) {
    const auto found = map.find(key);
    if (found == map.end()) return std::nullopt;
    return Edge{found->second, to, kind};
  }

  std::map<std::uint64_t, EventIndex> sent_;
  std::map<std::uint32_t, EventIndex> submitted_;
  std::map<std::pair<obs::NodeId, obs::Position>, EventIndex> appended_;
};

}  // namespace

HappensBefore::HappensBefore(Run run) : nodes_(nodesIn(run)), laneCount_(nodes_.size()) {
  lanes_.reserve(run.size());
  for (const obs::Stamped& event : run) {
    const auto found = std::ranges::lower_bound(nodes_, event.node);
    lanes_.push_back(static_cast<std::uint32_t>(found - nodes_.begin()));
  }
  connect(run);
  countClocks();
}

void HappensBefore::connect(Run run) {
  EdgeFinder finder;
  std::vector<EventIndex> last(laneCount_, kNoEvent);
  for (EventIndex i = 0; i < run.size(); ++i) {
    if (last[lanes_[i]] != kNoEvent) edges_.push_back({last[lanes_[i]], i, EdgeKind::programOrder});
    const auto cause = finder.causeOf(run[i], i);
    // An edge within a node adds nothing to program order but its name.
    if (cause && lanes_[cause->from] != lanes_[i]) edges_.push_back(*cause);
    last[lanes_[i]] = i;
  }
  std::vector<std::pair<EventIndex, EventIndex>> pairs;
  pairs.reserve(edges_.size());
  for (const Edge& edge : edges_) pairs.emplace_back(edge.to, edge.from);
  backward_ = Backward(boost::edges_are_unsorted_multi_pass, pairs.begin(), pairs.end(), run.size());
}

void HappensBefore::countClocks() {
  clocks_.assign(size() * laneCount_, 0);
  std::vector<std::uint32_t> counts(laneCount_, 0);
  auto edge = edges_.begin();
  for (EventIndex i = 0; i < size(); ++i) {
    const auto mine = clocks_.begin() + static_cast<std::ptrdiff_t>(i * laneCount_);
    for (; edge != edges_.end() && edge->to == i; ++edge) {
      const auto theirs = clock(edge->from);
      std::transform(theirs.begin(), theirs.end(), mine, mine,
                     [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    }
    mine[static_cast<std::ptrdiff_t>(lanes_[i])] = ++counts[lanes_[i]];
  }
}

std::vector<bool> HappensBefore::pastOf(std::span<const EventIndex> targets) const {
  std::vector<bool> past(size(), false);
  std::vector<boost::default_color_type> colours(size(), boost::white_color);
  boost::queue<EventIndex> frontier;
  for (const EventIndex target : targets) {
    if (colours[target] != boost::white_color) continue;
    boost::breadth_first_visit(
        backward_, target, frontier, boost::default_bfs_visitor(),
        boost::make_iterator_property_map(colours.begin(), get(boost::vertex_index, backward_)));
  }
  for (EventIndex i = 0; i < size(); ++i) past[i] = colours[i] != boost::white_color;
  return past;
}

EdgeKind HappensBefore::kindOf(EventIndex from, EventIndex to) const {
  if (lanes_[from] == lanes_[to]) return EdgeKind::programOrder;
  const auto first = std::ranges::lower_bound(edges_, to, {}, &Edge::to);
  for (auto edge = first; edge != edges_.end() && edge->to == to; ++edge) {
    if (edge->from == from) return edge->kind;
  }
  return EdgeKind::path;
}

std::vector<Edge> HappensBefore::reduced(std::span<const EventIndex> events) const {
  if (events.empty()) return {};  // boost::transitive_reduction takes the address of a first vertex
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Graph order(events.size());
  std::vector<std::vector<std::size_t>> byLane(laneCount_);  // numbers in `events`
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto known = clock(events[i]);
    for (std::size_t lane = 0; lane < laneCount_; ++lane) {
      // Of each lane only the last event that happened before this one matters.
      const auto later = std::ranges::partition_point(
          byLane[lane], [&](std::size_t k) { return clock(events[k])[lane] <= known[lane]; });
      if (later != byLane[lane].begin()) boost::add_edge(*std::prev(later), i, order);
    }
    byLane[lanes_[events[i]]].push_back(i);
  }
  Graph least;
  std::vector<Graph::vertex_descriptor> copies(events.size());
  boost::transitive_reduction(
      order, least, boost::make_iterator_property_map(copies.begin(), get(boost::vertex_index, order)),
      get(boost::vertex_index, order));
  std::vector<std::size_t> originals(events.size());
  for (std::size_t i = 0; i < copies.size(); ++i) originals[copies[i]] = i;
  std::vector<Edge> edges;
  for (const auto& edge : boost::make_iterator_range(boost::edges(least))) {
    const EventIndex from = events[originals[boost::source(edge, least)]];
    const EventIndex to = events[originals[boost::target(edge, least)]];
    edges.push_back({from, to, kindOf(from, to)});
  }
  std::ranges::sort(
      edges, [](const Edge& a, const Edge& b) { return std::pair(a.to, a.from) < std::pair(b.to, b.from); });
  return edges;
}

}  // namespace holdfast::explain
