// What is to be drawn: the events of a run that a picture shows, with what lasts beside them.
//
// Contract: a scene is a choice, not a copy: it refers to the run and what was worked out about it, which
// must outlive it. All renderers draw the same scene. Kinds of observations that are added later are drawn by
// their general form.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/story.hpp"

namespace holdfast::pictures {

using explain::EventIndex;

/// What an event is about; people filter by it, and colour and shape follow it.
enum class Category : std::uint8_t {
  caller,       // calls, sections, reads
  write,        // staged, submitted, settled
  authority,    // home and delegate
  freshness,    // fences, barriers, lineage
  membership,   // and whatever else nodes say of themselves
  replication,  // log entries and their application
  message,      // of the lock protocol
  traffic,      // all other messages, and the renewals they bring
  fault,        // from the harness
  bookkeeping   // disk writes and final counts
};
BOOST_DESCRIBE_ENUM(Category, caller, write, authority, freshness, membership, replication, message, traffic,
                    fault, bookkeeping)

Category categoryOf(const obs::Observation& what);

/// Everything known of a run that pictures are made of.
struct Source {
  explain::Material material;
  std::string title;
  const explain::Incident* incident = nullptr;  ///< May be null.
  const explain::Slice* slice = nullptr;        ///< Of the incident; may be null.
};

struct SceneOptions {
  std::optional<obs::TrueInstant> from;
  std::optional<obs::TrueInstant> to;
  std::optional<obs::KeyId> key;  ///< Only what is about this key, and faults.
  bool sliceOnly = false;
  std::size_t most = 5'000;  ///< Events; of more, those around the incident or the first.
};

struct Scene {
  Source source;
  std::string subtitle;              ///< What part of the run it is.
  std::vector<EventIndex> events;    ///< Ascending.
  std::vector<std::size_t> steps;    ///< By event: its step in the slice, from 1; 0 for none.
  std::vector<bool> opensStep;       ///< By event: whether it is the first of its step.
  std::vector<obs::NodeId> lanes;    ///< Ascending.
  std::vector<explain::Span> spans;  ///< Those that overlap the scene in time, on its lanes.
  std::optional<obs::KeyId> key;

  const obs::Stamped& at(std::size_t row) const { return source.material.run[events[row]]; }
  const traces::Names& names() const { return source.material.names; }
  bool isIncident(std::size_t row) const {
    return source.incident != nullptr && events[row] == source.incident->event;
  }
  /// The lane of a node, by number; nothing for a node that has none.
  std::optional<std::size_t> laneOf(obs::NodeId node) const;
};

Scene sceneOf(const Source& source, const SceneOptions& options);

/// A message as an arrow; rows count the scene's events.
struct Arrow {
  std::uint64_t id = 0;
  std::size_t from = 0;           ///< The row of its sending.
  std::optional<std::size_t> to;  ///< The row of its delivery or loss, if the scene has it.
  std::size_t fromLane = 0;
  std::size_t toLane = 0;
  bool lost = false;
  obs::MessageKind kind{};
};

/// Messages in the order of their sending; a copy that was delivered too is one of its own.
std::vector<Arrow> arrowsOf(const Scene& scene);

/// `text` with what XML and HTML give a meaning replaced, and nothing that they forbid.
std::string escaped(std::string_view text);

/// `text` as a JSON string; any bytes are allowed and those that are no UTF-8 are replaced.
std::string jsonString(std::string_view text);

}  // namespace holdfast::pictures
