// Every node's clocks over a whole run, from what the run says of them (CK-1).
//
// Contract: readings follow the last ClockRate or WallSet at or before the instant; to the nanosecond where
// the trace tells all, within one nanosecond after a change of rate in mid-run. A node that never said what
// its clock reads is taken to read true time.
#pragma once

#include <vector>

#include "explain/mentions.hpp"

namespace holdfast::explain {

class Clocks {
 public:
  explicit Clocks(Run run);

  obs::MonotonicInstant monotonic(obs::NodeId node, obs::TrueInstant at) const;
  obs::WallInstant wall(obs::NodeId node, obs::TrueInstant at) const;
  /// The rate of the monotonic clock at `at`, in parts per billion beside true time.
  std::int64_t ratePpb(obs::NodeId node, obs::TrueInstant at) const;

  /// The first true instant from `from` on at which the node's monotonic clock reads `reading` or more, with
  /// all changes of rate that the run saw; never() if it does not come to that.
  obs::TrueInstant whenReads(obs::NodeId node, obs::MonotonicInstant reading, obs::TrueInstant from) const;

 private:
  /// From `at` on a clock reads `reading` and advances by 1 + ratePpb * 1e-9.
  struct Segment {
    obs::TrueInstant at;
    std::int64_t reading = 0;
    std::int64_t ratePpb = 0;
  };
  using Timeline = std::vector<Segment>;

  static Timeline& of(std::vector<Timeline>& all, obs::NodeId node);
  static Segment segmentAt(const std::vector<Timeline>& all, obs::NodeId node, obs::TrueInstant at);
  static std::int64_t readingAt(const Segment& segment, obs::TrueInstant at);

  std::vector<Timeline> monotonic_;  // by node
  std::vector<Timeline> wall_;
};

}  // namespace holdfast::explain
