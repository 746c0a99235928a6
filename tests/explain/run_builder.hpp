// A run written down event by event, for the tests of what explains and draws it.
#pragma once

#include <string>
#include <vector>

#include "explain/story.hpp"

namespace holdfast::explain {

inline constexpr obs::NodeId kA{0};
inline constexpr obs::NodeId kB{1};
inline constexpr obs::NodeId kC{2};
inline constexpr obs::KeyId kAlice{0};
inline constexpr obs::KeyId kBob{1};
inline constexpr std::int64_t kMillisecond = 1'000'000;

inline traces::Names builderNames() { return {{"A", "B", "C"}, {"alice", "bob"}}; }

/// Adds events and gives the index of each. Instants are in milliseconds and must not go back.
class RunBuilder {
 public:
  EventIndex add(std::int64_t ms, obs::NodeId node, const obs::Observation& what) {
    run.push_back({{ms * 1'000'000}, node, what});
    return run.size() - 1;
  }
  EventIndex send(std::int64_t ms, obs::NodeId from, obs::NodeId to, std::uint64_t id,
                  obs::MessageKind kind = obs::MessageKind::lockRequest, obs::KeyId key = kAlice) {
    return add(ms, from, obs::MessageSent{id, to, kind, key});
  }
  EventIndex deliver(std::int64_t ms, obs::NodeId to, obs::NodeId from, std::uint64_t id,
                     obs::MessageKind kind = obs::MessageKind::lockRequest) {
    return add(ms, to, obs::MessageDelivered{id, from, kind});
  }

  std::vector<obs::Stamped> run;
};

/// The run in which B is admitted while A, which heard nothing of it, is still inside; home is C.
struct OverlapRun : RunBuilder {
  static constexpr obs::Token kFirst{1, 1, 1};
  static constexpr obs::Token kSecond{1, 1, 2};

  OverlapRun() {
    add(0, kA, obs::ClockRate{{5'000'000'000}, 0});
    add(0, kC, obs::NodeStarted{1});
    noise = add(1, kB, obs::LockRequested{{9}, kBob, sim::seconds(1), sim::seconds(1)});
    asked = add(10, kA, obs::LockRequested{{1}, kAlice, sim::seconds(2), sim::seconds(9)});
    send(10, kA, kC, 100);
    deliver(20, kC, kA, 100);
    granted = add(20, kC, obs::Granted{kAlice, kA, kFirst, obs::Path::virgin, false, sim::seconds(9)});
    send(20, kC, kA, 101, obs::MessageKind::lockGrant);
    deliver(30, kA, kC, 101, obs::MessageKind::lockGrant);
    add(30, kA, obs::Installed{kAlice, kFirst, obs::Path::virgin, false, {14'010'000'000}});
    inside = add(30, kA, obs::Admitted{{1}, kAlice, kFirst, obs::Path::virgin, false, {14'000'000'000}});
    secondAsked = add(100, kB, obs::LockRequested{{2}, kAlice, sim::seconds(2), sim::seconds(9)});
    send(100, kB, kC, 102);
    deliver(110, kC, kB, 102);
    send(111, kC, kA, 103, obs::MessageKind::lockRecall);
    lost = add(115, kC, obs::MessageLost{103, kA, obs::MessageKind::lockRecall, obs::LossReason::random});
    add(120, kC, obs::Granted{kAlice, kB, kSecond, obs::Path::virgin, false, sim::seconds(9)});
    send(120, kC, kB, 104, obs::MessageKind::lockGrant);
    deliver(130, kB, kC, 104, obs::MessageKind::lockGrant);
    add(130, kB, obs::Installed{kAlice, kSecond, obs::Path::virgin, false, {9'100'000'000}});
    overlap = add(130, kB, obs::Admitted{{2}, kAlice, kSecond, obs::Path::virgin, false, {9'100'000'000}});
    later = add(500, kA, obs::Unlocked{{1}, kAlice});
    incident.title = "overlappingAdmissions (X-1)";
    incident.event = overlap;
    incident.keys = {kAlice};
    incident.calls = {{2}, {1}};
    incident.nodes = {kB, kA};
    incident.violation = true;
  }

  EventIndex noise, asked, granted, inside, secondAsked, lost, overlap, later;
  Incident incident;
};

}  // namespace holdfast::explain
