// A cluster to measure: calls made one after the other or at once, and what they cost.
//
// Contract: a rig runs in simulated time alone, and what it counts follows from its options. The checkers
// look on; close() throws std::runtime_error when one of them found a violation, because figures of a run
// that broke a promise mean nothing. Clusters beyond 64 nodes are not judged: the checkers' sets end there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "measure/profile.hpp"
#include "scenarios/cluster.hpp"

namespace holdfast::measure {

using obs::CallId;
using obs::Cause;
using obs::KeyId;
using obs::NodeId;
using sim::Duration;

/// What all experiments are run with.
struct Settings {
  std::uint64_t seed = 1;
  std::vector<std::uint16_t> nodes{3, 5, 12, 48};  // P, each from 3 to 200
  const NetworkProfile* network = nullptr;
  const DiskProfile* disk = nullptr;
  /// Tells how many heap allocations the calling thread has made; null: they are not measured.
  std::uint64_t (*allocations)() = nullptr;

  friend bool operator==(const Settings&, const Settings&) = default;
};

struct RigOptions {
  std::uint16_t nodes = 5;
  std::uint32_t keys = 64;
  protocol::LockAlgorithm algorithm = protocol::LockAlgorithm::delegation;
  /// Changes the protocol's options, whose leases are the specification's worked numbers.
  std::function<void(protocol::ProtocolOptions&)> adjust;
};

/// An answered call of lock(); the handle of what follows.
struct Lock {
  NodeId node;
  KeyId key;
  CallId call;
  obs::Path path = obs::Path::cached;
  Cause cause = Cause::none;  // none: admitted
  Duration waited;

  bool admitted() const { return cause == Cause::none; }
};

/// What had been spent since the start.
struct Spent {
  std::uint64_t commits = 0;     // log entries made durable
  std::uint64_t deliveries = 0;  // log entries delivered to a peer
  std::uint64_t unicast = 0;     // messages about locks: request, grant, denial, recall, hand-back
  std::uint64_t barrier = 0;     // barrier requests and replies
  std::uint64_t renewals = 0;    // of memberships, and their acknowledgements
  std::uint64_t records = 0;     // records about membership and incarnation made durable

  Spent since(const Spent& before) const {
    return {commits - before.commits, deliveries - before.deliveries, unicast - before.unicast,
            barrier - before.barrier, renewals - before.renewals,     records - before.records};
  }
};

class Rig : private scenarios::ReplyListener, private scenarios::ObservationSink {
 public:
  Rig(const Settings& settings, const RigOptions& options);
  ~Rig() override = default;
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  scenarios::Cluster& cluster() { return cluster_; }
  sim::TrueInstant now() const { return cluster_.now(); }
  const protocol::ProtocolOptions& protocol() const { return options_.protocol; }
  std::uint16_t nodes() const { return cluster_.nodeCount(); }

  // ---- One call after the other
  Lock lock(NodeId node, KeyId key, Duration wait = sim::seconds(60), Duration lease = sim::seconds(5));
  /// Stages and submits one write under the handle, and waits until it has settled; whether it committed.
  bool write(const Lock& lock, std::int64_t value);
  void unlock(const Lock& lock);
  /// A write without a lock; whether it committed.
  bool writeUnlocked(NodeId node, KeyId key, std::int64_t value);
  void run(Duration time);

  // ---- Many at once
  using OnLock = std::function<void(const Lock&)>;
  using OnDone = std::function<void(bool committed)>;
  /// The callbacks run after the step that brings the answer, and may call the rig again.
  void ask(NodeId node, KeyId key, Duration wait, Duration lease, OnLock done);
  void submit(NodeId node, KeyId key, CallId call, std::int64_t value, OnDone done);
  void after(Duration time, std::function<void()> what);

  Spent spent() const { return spent_; }
  /// A key whose home is `home`, the `nth` of them from 0; nothing if there are not so many.
  std::optional<KeyId> keyOf(NodeId home, std::uint32_t nth = 0) const;

  void close();

 private:
  struct Asked {
    Lock lock;
    sim::TrueInstant at;
    OnLock done;
  };

  bool step(sim::TrueInstant until);
  void waitFor(const bool& done);
  void settleReplies();
  void replied(NodeId node, const protocol::Reply& reply) override;
  void callsLost(NodeId node) override;
  void observe(const obs::Stamped& stamped, std::uint64_t chain) override;

  scenarios::RunOptions options_;
  scenarios::Cluster cluster_;
  Spent spent_;
  std::map<std::uint32_t, Asked> locks_;  // by call
  std::map<std::uint32_t, std::pair<NodeId, OnDone>> txns_;
  std::vector<std::function<void()>> ready_;
  std::multimap<sim::TrueInstant, std::function<void()>> timers_;
};

/// The value at or below which `percent` of the sorted values lie; zero of none.
Duration percentile(const std::vector<Duration>& sorted, unsigned percent);

}  // namespace holdfast::measure
