#include "pictures/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

namespace holdfast::pictures {
namespace {

template <class... Kinds>
bool isAny(const obs::Observation& what) {
  return (std::holds_alternative<Kinds>(what) || ...);
}

/// Whether the lock protocol sent it, as its name tells.
bool ofLocks(obs::MessageKind kind) {
  const std::string_view name = obs::nameOf(kind);
  return name.starts_with("lock") || name.starts_with("barrier");
}

std::optional<obs::MessageKind> messageKindOf(const obs::Observation& what) {
  if (const auto* sent = std::get_if<obs::MessageSent>(&what)) return sent->message;
  if (const auto* delivered = std::get_if<obs::MessageDelivered>(&what)) return delivered->message;
  if (const auto* lost = std::get_if<obs::MessageLost>(&what)) return lost->message;
  return std::nullopt;
}

/// Which events a picture of the whole run has: all that the options do not exclude.
std::vector<EventIndex> wholeRun(const Source& source, const SceneOptions& options) {
  const explain::Run run = source.material.run;
  std::vector<EventIndex> events;
  std::set<std::uint64_t> messages;
  for (EventIndex i = 0; i < run.size(); ++i) {
    if (options.from && run[i].at < *options.from) continue;
    if (options.to && run[i].at > *options.to) break;
    const explain::Mentions m = explain::mentionsOf(run[i].what);
    const bool isIncident = source.incident != nullptr && source.incident->event == i;
    if (options.key && !isIncident) {
      const bool carried = m.message != 0 && messages.contains(m.message);
      if (m.key != *options.key && !carried && !explain::isFault(run[i].what)) continue;
      if (m.message != 0) messages.insert(m.message);
    }
    events.push_back(i);
  }
  return events;
}

/// At most `most` of the events: around the incident, or the first.
void shorten(std::vector<EventIndex>& events, const Source& source, std::size_t most) {
  if (events.size() <= most) return;
  std::size_t begin = 0;
  if (source.incident != nullptr) {
    const auto incident = std::ranges::lower_bound(events, source.incident->event) - events.begin();
    const std::size_t behind = most / 10;
    const std::size_t end = std::min(static_cast<std::size_t>(incident) + behind + 1, events.size());
    begin = end > most ? end - most : 0;
  }
  events = {events.begin() + static_cast<std::ptrdiff_t>(begin),
            events.begin() + static_cast<std::ptrdiff_t>(begin + most)};
}

void addLanesAndSpans(Scene& scene) {
  const explain::Run run = scene.source.material.run;
  std::set<obs::NodeId> lanes;
  for (const EventIndex event : scene.events) {
    if (run[event].node.valid()) lanes.insert(run[event].node);
    if (const obs::NodeId peer = explain::mentionsOf(run[event].what).peer; peer.valid()) lanes.insert(peer);
  }
  scene.lanes.assign(lanes.begin(), lanes.end());
  if (scene.events.empty()) return;
  const obs::TrueInstant from = scene.at(0).at;
  const obs::TrueInstant to = scene.at(scene.events.size() - 1).at;
  const auto& incident = scene.source.incident;
  for (const explain::Span& span : scene.source.material.spans) {
    if (span.to < from || span.from > to || !lanes.contains(span.node)) continue;
    // A slice is about its own keys; bars of all others would only be in the way.
    const bool foreign = scene.source.slice != nullptr &&
                         scene.events.size() == scene.source.slice->events.size() && incident != nullptr &&
                         !incident->keys.empty() && span.key.valid() &&
                         std::ranges::find(incident->keys, span.key) == incident->keys.end();
    if (foreign || (scene.key && span.key.valid() && span.key != *scene.key)) continue;
    scene.spans.push_back(span);
  }
}

}  // namespace

Category categoryOf(const obs::Observation& what) {
  if (const auto kind = messageKindOf(what)) return ofLocks(*kind) ? Category::message : Category::traffic;
  if (explain::isFault(what) || isAny<obs::PhaseChanged>(what)) return Category::fault;
  if (isAny<obs::LockRequested, obs::Admitted, obs::Reentered, obs::LockRefused, obs::Unlocked, obs::Revoked,
            obs::Read>(what)) {
    return Category::caller;
  }
  if (isAny<obs::Staged, obs::Submitted, obs::AttemptAborted, obs::Settled, obs::WriteRefused,
            obs::UnlockedWritesChecked>(what)) {
    return Category::write;
  }
  if (isAny<obs::Granted, obs::Denied, obs::Queued, obs::Installed, obs::GrantRejected, obs::HandedBack,
            obs::HandBackSeen, obs::RecallSent, obs::RecallFailed, obs::AdmissionClosed, obs::Drained,
            obs::DelegationLapsed, obs::ReleaseSeen, obs::GrantExpired>(what)) {
    return Category::authority;
  }
  if (isAny<obs::LineageLost, obs::FenceWaiting, obs::FenceSatisfied, obs::BarrierStarted,
            obs::BarrierMeasured, obs::BarrierSkipped, obs::BarrierDone, obs::RecoveryJoined>(what)) {
    return Category::freshness;
  }
  if (isAny<obs::ControlAppended, obs::Applied, obs::GapFound, obs::HoleRepaired, obs::TombstoneReclaimed>(
          what)) {
    return Category::replication;
  }
  if (isAny<obs::MembershipRenewed>(what)) return Category::traffic;
  if (isAny<obs::DurableWrite, obs::FinalRecord, obs::RetainedCount>(what)) return Category::bookkeeping;
  return Category::membership;
}

std::optional<std::size_t> Scene::laneOf(obs::NodeId node) const {
  const auto found = std::ranges::lower_bound(lanes, node);
  if (found == lanes.end() || *found != node) return std::nullopt;
  return static_cast<std::size_t>(found - lanes.begin());
}

Scene sceneOf(const Source& source, const SceneOptions& options) {
  Scene scene{source, {}, {}, {}, {}, {}, {}, options.key};
  const bool slice = options.sliceOnly && source.slice != nullptr;
  scene.events = slice ? source.slice->events : wholeRun(source, options);
  const std::size_t before = scene.events.size();
  shorten(scene.events, source, options.most);
  scene.subtitle = slice ? fmt::format("the {} of {} events that led to it", scene.events.size(),
                                       source.material.run.size())
                         : fmt::format("{} of {} events", scene.events.size(), source.material.run.size());
  if (before > scene.events.size()) {
    scene.subtitle += fmt::format(", because a picture has at most {}", options.most);
  }
  scene.steps.assign(scene.events.size(), 0);
  scene.opensStep.assign(scene.events.size(), false);
  if (source.slice != nullptr) {
    for (std::size_t row = 0; row < scene.events.size(); ++row) {
      const auto& events = source.slice->events;
      const auto found = std::ranges::lower_bound(events, scene.events[row]);
      if (found == events.end() || *found != scene.events[row]) continue;
      const auto& steps = source.slice->steps;
      const auto step = steps.begin() + (found - events.begin());
      scene.steps[row] = *step;
      scene.opensStep[row] = std::find(steps.begin(), step, *step) == step;
    }
  }
  addLanesAndSpans(scene);
  return scene;
}

std::vector<Arrow> arrowsOf(const Scene& scene) {
  std::vector<Arrow> arrows;
  std::map<std::uint64_t, std::size_t> sent;  // message to the index of its first arrow
  for (std::size_t row = 0; row < scene.events.size(); ++row) {
    const obs::Stamped& event = scene.at(row);
    const explain::Mentions m = explain::mentionsOf(event.what);
    if (m.message == 0) continue;
    if (const auto* start = std::get_if<obs::MessageSent>(&event.what)) {
      const auto from = scene.laneOf(event.node);
      const auto to = scene.laneOf(start->to);
      if (!from || !to) continue;
      sent[m.message] = arrows.size();
      arrows.push_back({m.message, row, std::nullopt, *from, *to, false, start->message});
      continue;
    }
    const auto found = sent.find(m.message);
    if (found == sent.end()) continue;
    const bool lost = std::holds_alternative<obs::MessageLost>(event.what);
    if (arrows[found->second].to) arrows.push_back(arrows[found->second]);  // a duplicate
    Arrow& arrow = arrows[arrows[found->second].to ? arrows.size() - 1 : found->second];
    arrow.to = row;
    arrow.lost = lost;
  }
  return arrows;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string jsonString(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace holdfast::pictures
