// Which entries of one origin's log show in one replica: a prefix with holes (FR-3, FR-8, LW-1).
//
// Entries are applied in the order of their positions. A position that was passed over, failed to apply, or
// was purged before delivery is a hole until it is repaired. Holes are rare, so they are a short sorted list.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>

#include "observations/observation.hpp"

namespace holdfast::checkers {

class ReplicaView {
 public:
  /// Position `p` was applied and shows. One that was passed over before is filled in.
  void applied(obs::Position p) {
    lastJump_ = 0;
    if (p == reached_ + 1) {
      reached_ = p;
      return;
    }
    if (p <= reached_) {
      repaired(p);
      return;
    }
    lastJump_ = p - reached_ - 1;
    addHole(reached_ + 1, p - 1);
    reached_ = p;
  }
  void failed(obs::Position p) {
    lastJump_ = 0;
    if (p <= reached_) {
      if (shows(p)) addHole(p, p);
      return;
    }
    addHole(reached_ + 1, p);
    reached_ = p;
  }
  /// Positions [from, to] will never arrive; those that show already stay.
  void gap(obs::Position from, obs::Position to) {
    if (to <= reached_ || from > to) return;
    addHole(reached_ + 1, to);
    reached_ = to;
  }
  void repaired(obs::Position p) {
    for (std::size_t i = 0; i < holes_.size(); ++i) {
      Range& hole = holes_[i];
      if (p < hole.from || p > hole.to) continue;
      const Range tail{p + 1, hole.to};
      hole.to = p - 1;
      if (tail.from <= tail.to) holes_.insert(holes_.begin() + static_cast<std::ptrdiff_t>(i) + 1, tail);
      if (holes_[i].from > holes_[i].to) holes_.erase(holes_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  bool shows(obs::Position p) const {
    if (p > reached_) return false;
    for (const Range& hole : holes_) {
      if (p >= hole.from && p <= hole.to) return false;
    }
    return true;
  }
  /// Whether every position up to `p` shows.
  bool showsAllUpTo(obs::Position p) const {
    return p <= reached_ && (holes_.empty() || holes_.front().from > p);
  }
  /// The last position of the unbroken prefix.
  obs::Position prefix() const { return holes_.empty() ? reached_ : holes_.front().from - 1; }
  /// The last position met, be it applied or a hole.
  obs::Position reached() const { return reached_; }
  bool hasHoles() const { return !holes_.empty(); }
  /// How many positions the latest application passed over without a word (LW-1); 0: none.
  obs::Position lastJump() const { return lastJump_; }

 private:
  struct Range {
    obs::Position from = 0;
    obs::Position to = 0;
  };

  void addHole(obs::Position from, obs::Position to) {
    std::size_t i = holes_.size();
    while (i > 0 && holes_[i - 1].from > from) --i;
    holes_.insert(holes_.begin() + static_cast<std::ptrdiff_t>(i), Range{from, to});
  }

  obs::Position reached_ = 0;
  obs::Position lastJump_ = 0;
  boost::container::small_vector<Range, 2> holes_;
};

}  // namespace holdfast::checkers
