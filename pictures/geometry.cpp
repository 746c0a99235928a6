#include <algorithm>
#include <array>

#include "pictures/space_time.hpp"

namespace holdfast::pictures {
namespace {

using explain::SpanKind;

/// Bars of one group share tracks, and the groups stand side by side.
struct BarGroup {
  SpanKind first;
  SpanKind last;
  std::size_t most;  // tracks; what finds none shares the last

  constexpr bool has(SpanKind kind) const { return first <= kind && kind <= last; }
};
constexpr std::array<BarGroup, 5> kGroups = {{{SpanKind::membership, SpanKind::stopped, 3},
                                              {SpanKind::grant, SpanKind::grant, 4},
                                              {SpanKind::delegation, SpanKind::delegation, 4},
                                              {SpanKind::section, SpanKind::waiting, 5},
                                              {SpanKind::commit, SpanKind::commit, 3}}};

/// The middle of the row of an event, or the line above the first row after it.
Place placeOf(const Scene& scene, EventIndex event) {
  const auto found = std::ranges::lower_bound(scene.events, event);
  const auto row = static_cast<Place>(found - scene.events.begin());
  return found != scene.events.end() && *found == event ? 2 * row + 1 : 2 * row;
}

Place placeAfter(const Scene& scene, obs::TrueInstant at) {
  const auto found = std::ranges::partition_point(
      scene.events, [&](EventIndex event) { return scene.source.material.run[event].at <= at; });
  return 2 * static_cast<Place>(found - scene.events.begin());
}

}  // namespace

Geometry::Geometry(const Scene& scene) {
  const bool small = scene.events.size() <= 150;
  rowHeight_ = small ? 42 : 30;
  labelLines_ = small ? 2 : 1;
  labelWidth_ = scene.lanes.size() <= 4 ? 300 : 250;
  tracks_.assign(scene.lanes.size(), 0);
  placeBars(scene);
  int x = kGutter;
  for (std::size_t lane = 0; lane < scene.lanes.size(); ++lane) {
    lefts_.push_back(x);
    axes_.push_back(x + 14 + static_cast<int>(tracks_[lane]) * kTrack);
    x = axes_.back() + labelWidth_ + 24;
  }
  lefts_.push_back(x);
  width_ = x + 8;
}

void Geometry::placeBars(const Scene& scene) {
  for (const explain::Span& span : scene.spans) {
    const auto lane = scene.laneOf(span.node);
    if (!lane) continue;
    Bar bar{span, placeOf(scene, span.first), 2 * scene.events.size(), *lane, 0, false};
    if (span.last != explain::kNoEvent) {
      bar.to = placeOf(scene, span.last);
    } else if (span.ended == explain::SpanEnd::deadline) {
      bar.to = placeAfter(scene, span.to);
    }
    if (span.closed != explain::kNoEvent) {
      Bar open = bar;
      open.span.closed = explain::kNoEvent;
      open.to = placeOf(scene, span.closed);
      bar.from = open.to;
      bar.closing = true;
      if (open.to > open.from) bars_.push_back(open);
    }
    if (bar.to > bar.from || span.isFault()) bars_.push_back(bar);
  }
  for (std::size_t lane = 0; lane < scene.lanes.size(); ++lane) {
    for (const BarGroup& group : kGroups) {
      std::vector<Place> ends;  // by track of this group
      for (Bar& bar : bars_) {
        if (bar.lane != lane || !group.has(bar.span.kind)) continue;
        const auto isFree = std::ranges::find_if(ends, [&](Place end) { return end <= bar.from; });
        auto track = static_cast<std::size_t>(isFree - ends.begin());
        if (track == group.most) track = group.most - 1;
        if (track == ends.size()) ends.push_back(0);
        ends[track] = std::max(ends[track], bar.to);
        bar.track = tracks_[lane] + track;
      }
      tracks_[lane] += ends.size();
    }
  }
}

}  // namespace holdfast::pictures
