#include "explain/clocks.hpp"

#include <algorithm>
#include <variant>

#include "sim/wide_integer.hpp"

namespace holdfast::explain {
namespace {

constexpr std::int64_t kBillion = 1'000'000'000;

}  // namespace

Clocks::Clocks(Run run) {
  for (const obs::Stamped& event : run) {
    if (!event.node.valid()) continue;
    if (const auto* rate = std::get_if<obs::ClockRate>(&event.what)) {
      of(monotonic_, event.node).push_back({event.at, rate->local.ns, rate->ratePpb});
    } else if (const auto* wall = std::get_if<obs::WallSet>(&event.what)) {
      of(wall_, event.node).push_back({event.at, wall->wall.ns, wall->ratePpb});
    }
  }
}

Clocks::Timeline& Clocks::of(std::vector<Timeline>& all, obs::NodeId node) {
  if (all.size() <= node.value) all.resize(node.value + std::size_t{1});
  return all[node.value];
}

Clocks::Segment Clocks::segmentAt(const std::vector<Timeline>& all, obs::NodeId node, obs::TrueInstant at) {
  if (node.value >= all.size() || all[node.value].empty()) return {};
  const Timeline& timeline = all[node.value];
  const auto later = std::ranges::upper_bound(timeline, at, {}, &Segment::at);
  return later == timeline.begin() ? timeline.front() : *std::prev(later);
}

std::int64_t Clocks::readingAt(const Segment& segment, obs::TrueInstant at) {
  const sim::Int128 elapsed = sim::Int128{at.ns} - segment.at.ns;
  const sim::Int128 scaled = elapsed * segment.ratePpb;
  const sim::Int128 floored = scaled / kBillion - (scaled % kBillion < 0 ? 1 : 0);
  const sim::Int128 reading = segment.reading + elapsed + floored;
  // A trace from elsewhere may claim any reading; what does not fit is shown as the nearest that does.
  return static_cast<std::int64_t>(std::clamp(reading, sim::Int128{INT64_MIN}, sim::Int128{INT64_MAX}));
}

obs::MonotonicInstant Clocks::monotonic(obs::NodeId node, obs::TrueInstant at) const {
  return {readingAt(segmentAt(monotonic_, node, at), at)};
}

obs::WallInstant Clocks::wall(obs::NodeId node, obs::TrueInstant at) const {
  return {readingAt(segmentAt(wall_, node, at), at)};
}

std::int64_t Clocks::ratePpb(obs::NodeId node, obs::TrueInstant at) const {
  return segmentAt(monotonic_, node, at).ratePpb;
}

obs::TrueInstant Clocks::whenReads(obs::NodeId node, obs::MonotonicInstant reading,
                                   obs::TrueInstant from) const {
  if (reading == obs::MonotonicInstant::never()) return obs::TrueInstant::never();
  Timeline segments{segmentAt(monotonic_, node, from)};
  segments.front() = {from, readingAt(segments.front(), from), segments.front().ratePpb};
  if (node.value < monotonic_.size()) {
    const Timeline& all = monotonic_[node.value];
    segments.insert(segments.end(), std::ranges::upper_bound(all, from, {}, &Segment::at), all.end());
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (segment.reading >= reading.ns) return segment.at;
    const std::int64_t slope = kBillion + segment.ratePpb;
    if (slope <= 0) continue;
    const sim::Int128 need = (sim::Int128{reading.ns} - segment.reading) * kBillion;
    const sim::Int128 at = sim::Int128{segment.at.ns} + (need + slope - 1) / slope;
    if (i + 1 < segments.size() && at >= segments[i + 1].at.ns) continue;
    return at > INT64_MAX ? obs::TrueInstant::never() : obs::TrueInstant{static_cast<std::int64_t>(at)};
  }
  return obs::TrueInstant::never();
}

}  // namespace holdfast::explain
