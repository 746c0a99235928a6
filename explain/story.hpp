// A slice told in words: numbered steps, each with true time, the node's own clocks, what led to it, and the
// authority that the node believed it had.
#pragma once

#include <string>
#include <vector>

#include "explain/slice.hpp"
#include "explain/wait_for.hpp"
#include "traces/names.hpp"

namespace holdfast::explain {

struct Step {
  std::size_t number = 0;  ///< From 1.
  EventIndex event = 0;
  obs::TrueInstant at;
  obs::NodeId node;
  obs::MonotonicInstant monotonic;  ///< The node's own clocks at that instant.
  obs::WallInstant wall;
  std::string text;                  ///< What happened, without the node's name.
  std::vector<std::size_t> follows;  ///< Steps of other nodes that led to it, and its own last one if other.
  std::vector<std::string> authority;  ///< What the node believed right after it.
  std::vector<std::string> conflicts;  ///< Beliefs of other nodes that exclude its own.
};

struct Story {
  Incident incident;
  std::vector<Step> steps;
  std::vector<std::string> remarks;  ///< Concurrency, wait-for cycles, and when it became inevitable.
  std::size_t leftOut = 0;
  std::size_t inevitableFrom = 0;  ///< Number of the last step that came from outside; 0 for none.
};

struct Material {
  Run run;
  const HappensBefore& order;
  const Clocks& clocks;
  std::span<const Span> spans;
  const traces::Names& names;
};

Story storyOf(const Material& material, const Incident& incident, const Slice& slice);

/// The steps as lines of text.
std::vector<std::string> linesOf(const Story& story, const traces::Names& names);

/// Seconds with as many of nine decimals as are needed, three at least: "12.345s".
std::string shortTime(std::int64_t ns);

}  // namespace holdfast::explain
