// The space-time diagram: a lane a node, time downwards, an event a row.
//
// Contract: rows stand in the order of the run, so that no two labels meet, however close in time their
// events are; true time is written at each row, and how much passed where it is much. A lane shows its node's
// own clocks at each event. Bars left of a lane are what its node believed itself entitled to; shades are
// faults; an arrow is a message, and ends in a cross where it was lost. Meaning never rests on colour alone,
// and the colours are those of Okabe and Ito, which colour-blind people can tell apart.
#pragma once

#include <string>
#include <vector>

#include "pictures/scene.hpp"

namespace holdfast::pictures {

/// A complete SVG document.
std::string svg(const Scene& scene);

/// A complete HTML page with the diagram in it: filters, keyboard, and details of the event pointed at. It
/// loads nothing from anywhere.
std::string page(const Scene& scene);

/// A place between top and bottom: 2 * row + 1 is the middle of a row, 2 * row the line above it.
using Place = std::size_t;

/// A span as a bar beside its node's lane.
struct Bar {
  explain::Span span;
  Place from = 0;
  Place to = 0;
  std::size_t lane = 0;
  std::size_t track = 0;  ///< From the left; faults have none.
  bool closing = false;   ///< The part of a delegation in which it admits nobody any more (DR-1).
};

/// Where everything stands from left to right, and the sizes of what stands from top to bottom.
class Geometry {
 public:
  explicit Geometry(const Scene& scene);

  static constexpr int kGutter = 128;  // true time
  static constexpr int kTrack = 15;    // a bar and the space behind it
  static constexpr int kHeader = 34;   // names of the nodes

  int rowHeight() const { return rowHeight_; }
  int labelLines() const { return labelLines_; }
  int width() const { return width_; }
  int height(std::size_t rows) const { return static_cast<int>(rows) * rowHeight_ + 12; }
  int laneLeft(std::size_t lane) const { return lefts_[lane]; }
  int axis(std::size_t lane) const { return axes_[lane]; }
  int laneWidth(std::size_t lane) const { return lefts_[lane + 1] - lefts_[lane]; }
  /// How many characters of a label fit on one line.
  std::size_t labelLength() const { return static_cast<std::size_t>(labelWidth_) / 6; }
  int y(Place place) const { return static_cast<int>(place) * rowHeight_ / 2; }
  const std::vector<Bar>& bars() const { return bars_; }

 private:
  void placeBars(const Scene& scene);

  std::vector<Bar> bars_;
  std::vector<std::size_t> tracks_;  // by lane
  std::vector<int> lefts_;
  std::vector<int> axes_;
  int rowHeight_ = 30;
  int labelLines_ = 1;
  int labelWidth_ = 300;
  int width_ = 0;
};

/// The names of the nodes, as SVG elements for a strip of Geometry::kHeader in height.
std::string headerElements(const Scene& scene, const Geometry& geometry);
/// All below it, as SVG elements from 0 down.
std::string bodyElements(const Scene& scene, const Geometry& geometry);
/// What shapes, bars and arrows mean, as SVG elements in two lines.
std::string legendElements();
inline constexpr int kLegendHeight = 44;
/// Patterns and arrow heads that the elements refer to.
std::string definitions();
/// The look of the elements, for a <style>.
std::string_view diagramStyle();

}  // namespace holdfast::pictures
