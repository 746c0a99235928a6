// All that a picture of a made-up run refers to, in one place.
#pragma once

#include <utility>
#include <vector>

#include "pictures/scene.hpp"
#include "tests/explain/run_builder.hpp"

namespace holdfast::pictures {

struct PictureSource {
  explicit PictureSource(std::vector<obs::Stamped> events, const explain::Incident* incident = nullptr,
                         traces::Names theirNames = explain::builderNames())
      : run(std::move(events)),
        names(std::move(theirNames)),
        order(run),
        clocks(run),
        spans(explain::spansOf(run, clocks)),
        source{{run, order, clocks, spans, names}, "a story seed 1", incident, nullptr} {
    if (incident == nullptr) return;
    slice = explain::sliceOf(run, order, *incident);
    source.slice = &slice;
  }
  PictureSource(const PictureSource&) = delete;
  PictureSource& operator=(const PictureSource&) = delete;

  std::vector<obs::Stamped> run;
  traces::Names names;
  explain::HappensBefore order;
  explain::Clocks clocks;
  std::vector<explain::Span> spans;
  explain::Slice slice;
  Source source;
};

}  // namespace holdfast::pictures
