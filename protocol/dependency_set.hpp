// A dependency set: for each origin the log position that a successor must have applied (FR-1, FR-2).
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstddef>

#include "observations/types.hpp"

namespace holdfast::protocol {

using obs::Position;
using sim::NodeId;

/// "The stream of `origin`, applied and visible to at least `position`."
struct Dependency {
  NodeId origin;
  Position position = 0;
  friend bool operator==(const Dependency&, const Dependency&) = default;
};
BOOST_DESCRIBE_STRUCT(Dependency, (), (origin, position))

/// A map origin -> position, sorted by origin; at most one entry a member. Up to 8 origins live inline.
class DependencySet {
 public:
  using Entries = boost::container::small_vector<Dependency, 8>;

  /// Requires at least `position` of `origin`; never lowers what is there.
  void require(NodeId origin, Position position) {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), origin,
                                     [](const Dependency& d, NodeId o) { return d.origin < o; });
    if (at != entries_.end() && at->origin == origin) {
      at->position = std::max(at->position, position);
    } else {
      entries_.insert(at, Dependency{origin, position});
    }
  }

  void require(const DependencySet& other) {
    for (const Dependency& d : other.entries_) require(d.origin, d.position);
  }

  const Entries& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  void clear() { entries_.clear(); }
  /// Drops what is required of any other origin.
  void keepOnly(NodeId origin) {
    const auto others = [&](const Dependency& d) { return d.origin != origin; };
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), others), entries_.end());
  }
  friend bool operator==(const DependencySet& a, const DependencySet& b) { return a.entries_ == b.entries_; }

 private:
  Entries entries_;
};

}  // namespace holdfast::protocol
