// Comparing a re-executed run with its trace, event by event, while it runs.
//
// Contract: the first event in which the two differ (instant, node, kind or any field, or one side ending
// before the other) is found, whatever comes after it, and reported with up to kContext events around it on
// both sides. Until then an event costs a comparison and allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "observations/observation.hpp"
#include "traces/names.hpp"

namespace holdfast::traces {

struct Trace;

/// The first difference between two runs.
struct Divergence {
  std::uint64_t event = 0;             ///< Its number, from 1.
  std::vector<obs::Stamped> before;    ///< Events right before it, the same on both sides.
  std::vector<obs::Stamped> recorded;  ///< It and what follows it in the trace; empty: the trace ends before.
  std::vector<obs::Stamped>
      reexecuted;                   ///< It and what follows it in the new run; empty: that run ends before.
  std::vector<std::string> fields;  ///< Members of its JSON form that differ; empty if a side is empty.
};

class Verifier {
 public:
  /// How many events before and after the first difference are kept.
  static constexpr std::size_t kContext = 5;

  /// The trace must outlive the verifier.
  explicit Verifier(const Trace& trace);
  explicit Verifier(std::span<const obs::Stamped> recorded) : recorded_(recorded) {}

  /// The next observation of the re-executed run.
  void on(const obs::Stamped& stamped);

  /// The re-executed run is over.
  void finish();

  /// Whether nothing that is still to come can change the report, so that the run may be broken off.
  bool complete() const { return divergence_ && divergence_->reexecuted.size() > kContext; }

  /// The first difference, if there is one so far. After finish(): nothing means that the runs are the same.
  const std::optional<Divergence>& divergence() const { return divergence_; }

  /// How many events were found to be the same.
  std::uint64_t matched() const { return matched_; }

 private:
  void diverge();

  std::span<const obs::Stamped> recorded_;
  std::uint64_t matched_ = 0;
  std::optional<Divergence> divergence_;
};

/// What the two sides of a divergence are called.
struct Sides {
  std::string_view recorded = "recorded";
  std::string_view reexecuted = "re-executed";
};

/// The divergence as text of several lines; its first names the event and the fields that differ.
std::string describe(const Divergence& divergence, const Names& names, const Sides& sides = {});

}  // namespace holdfast::traces
