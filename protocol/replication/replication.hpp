// Replication: the own log, one ordered stream from every other origin, and the replica they make (LW-1).
//
// A node appends to its own log in commit order and sees its own commits at once. Every other node of the
// directory subscribes to it and gets the log as an ordered stream of frames. A received entry waits in its
// origin's queue until the driver lets it be applied: one entry at a time of each origin, the origins
// independent of each other. "Applied and visible" is the only notion of progress that a fence believes
// (FR-3); holes and gaps make it fail closed (FR-5, FR-8).
//
// Assumes of the transport: frames of one origin arrive in order as long as the connection lasts, and
// whoever loses a connection gets a PeerUp once it is back. Everything else (duplicates, jumps in the
// positions, frames of an earlier connection) is tolerated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/context.hpp"
#include "protocol/dependency_set.hpp"
#include "protocol/node_setup.hpp"
#include "protocol/replication/record.hpp"
#include "protocol/replication/replica_state.hpp"
#include "protocol/replication/stream_queue.hpp"
#include "protocol/state_hash.hpp"

namespace holdfast::protocol {

/// Whether a dependency set is met by this replica. `origin` and `position` name the first dependency that
/// is not (of the unsatisfiable ones, if there is any).
struct FenceState {
  enum class Kind : std::uint8_t {
    satisfied,
    waiting,       // entries are still on their way or queued
    unsatisfiable  // a hole or gap lies at or below the position; only a repair helps (FR-5, FR-8)
  };
  Kind kind = Kind::satisfied;
  NodeId origin;
  Position position = 0;

  bool satisfied() const { return kind == Kind::satisfied; }
};

/// An entry of another node that was just applied. `entry` is valid until the next call of onApplyReady().
struct AppliedEntry {
  NodeId origin;
  Position position = 0;
  const LogEntry* entry = nullptr;
};

class Replication {
 public:
  /// `setup` is not kept. `state` is what survived on the disk; empty on a new disk.
  Replication(const NodeSetup& setup, ReplicaState state);

  // ---- The own log ----

  /// Appends a durable entry, applies its writes here, and sends it to every subscriber. Returns its
  /// position.
  Position append(const LogEntry& entry, const Context& context);

  /// Drops own entries up to `through`, at most up to head() (AdminPurgeLog, FR-5).
  void purge(Position through, const Context& context);

  /// The position of the last own entry; 0 when there is none.
  Position head() const { return state_.log.head(); }

  const OwnLog& log() const { return state_.log; }

  // ---- Streams. The bool functions return false, and change nothing, for a malformed message (BD-3). ----

  /// Subscribes to every other node of the directory, and starts the retention of tombstones anew.
  void boot(const Context& context);

  /// The connection to `peer` is back: subscribe again, from behind what was received.
  void onPeerUp(NodeId peer, const Context& context);

  bool onSubscribe(NodeId from, const Subscribe& message, const Context& context);
  bool onFrame(NodeId origin, const LogFrame& message, const Context& context);
  bool onGap(NodeId origin, const LogGap& message, const Context& context);
  bool onLogHead(NodeId origin, const LogHead& message);

  /// Takes the next entry of the origin out of its queue and applies it; failed: leaves a hole instead
  /// (FR-8). Asks for the next Apply. Returns the entry unless it failed; nothing also for an origin of
  /// which no entry is waiting. LW1_OrderedApply off: takes the latest entry of the queue.
  std::optional<AppliedEntry> onApplyReady(const ApplyReady& ready, const Context& context);

  /// Applies the entry of a hole or gap position and closes it. False, and no change, when `position` of
  /// `origin` is neither, or the entry is malformed. The caller hands control entries on itself.
  bool repair(NodeId origin, Position position, const LogEntry& entry, const Context& context);

  /// Merges rows that were copied from another node. No position is reached by that: a copy brings no
  /// deletions, so that holes and gaps stay (FR-8).
  void takeRows(const std::vector<CopiedRow>& rows, const Context& context);

  // ---- Progress ----

  /// FR-3, FR-5, FR-8 for a whole dependency set. Own positions are satisfied up to head().
  FenceState fence(const DependencySet& dependencies) const;

  // What the mutants of FR-2, FR-3 and FR-9 take for a fence.
  /// Who wrote the record's newest field; none when there is no record.
  NodeId newestWriterOf(KeyId key) const;
  /// The record's newest timestamp, in the place of a position; of the second in ms, as those of streams.
  Position versionAsPosition(KeyId key) const;
  Position stampAsPosition(KeyId key) const;
  /// Whether the record is as new as `dependencies`, which are made of versions.
  FenceState versionFence(KeyId key, const DependencySet& dependencies) const;
  /// Whether each origin's stream has shown a timestamp as late as in `dependencies`, which are made of them.
  FenceState stampFence(const DependencySet& dependencies) const;
  /// Where the newest timestamp stands in the own log; its end if there is none.
  Position newestStamped() const;

  /// The last position of `origin` that arrived here (or that is known never to arrive).
  Position received(NodeId origin) const;

  /// The last position that was taken out of the queue, whether it was applied or left a hole.
  Position applied(NodeId origin) const;

  /// The last position up to which everything of `origin` is applied and visible, without hole or gap.
  Position visible(NodeId origin) const;

  // ---- The replica ----

  /// nullptr when `key` was never written here, was reclaimed, or does not exist.
  const Record* record(KeyId key) const;
  obs::Read readOf(CallId call, KeyId key) const;
  obs::FinalRecord finalRecord(KeyId key) const;

  /// LW-3: reclaims the tombstones that have been kept for options.tombstoneRetention, once all that any
  /// origin had logged by then is applied and visible here. So a write of that time never comes back, however
  /// long it was on its way; and while an origin can not be asked, no tombstone is reclaimed.
  void sweepTombstones(const Context& context);

  /// When the next tombstone may be reclaimed; never() when there is none.
  MonotonicInstant nextTombstone() const;

  // ---- Crash, retention, hashing ----

  /// What a crash leaves; the object must not be used afterwards.
  ReplicaState takeState() { return std::move(state_); }

  /// Appends an entry that had reached the disk before the crash although nobody was told.
  static Position recover(ReplicaState& state, const NodeSetup& setup, const LogEntry& entry);

  /// Received entries that wait to be applied, over all origins, and how many positions lie between what was
  /// received and what was applied: the most that may wait.
  std::size_t receivedQueued() const;
  std::uint64_t receivedAhead() const;
  std::size_t tombstones() const { return tombstones_.size(); }

  void addTo(StateHash& hash) const;

 private:
  // Not the least instant of all, whose distance from now might overflow.
  static constexpr MonotonicInstant kAskAtOnce{INT64_MIN / 2};

  struct Incoming {
    StreamQueue queue;
    Position received = 0;
    // While a subscription is under way, frames that do not fit are no reason to ask before this instant.
    MonotonicInstant askAgainAt = kAskAtOnce;
    bool applying = false;  // an Apply effect is under way
    Position doubted = 0;   // an entry that was refused there and asked for once more

    void addTo(StateHash& hash) const;
  };

  struct Tombstone {
    KeyId key;
    MonotonicInstant reclaimAt;
  };

  /// What a reclaim waits for: how far each origin's log reached once the retention was over.
  struct Heads {
    static constexpr Position kNotKnown = UINT32_MAX;
    // Of the last question, so that no answer to an earlier one counts. It needs no start of the process
    // (EP-14): questions and answers travel on the stream, which ends with either process.
    std::uint32_t round = 0;
    MonotonicInstant due;        // when this round began; tombstones that were due by then are at stake
    std::vector<Position> upTo;  // index: NodeId; empty: no round is under way
  };

  bool isPeer(NodeId node) const { return node != self_ && node.value < state_.origins.size(); }
  static bool wellFormed(const LogEntry& entry, std::size_t keys, std::size_t nodes);
  bool standsInLog(NodeId origin, Position position, const Context& context);
  void subscribe(NodeId origin, const Context& context, std::uint32_t round = 0);
  /// Asks for the Apply of the head of the queue, if there is one and none is under way.
  void askApply(NodeId origin, const Context& context);
  void applyWrites(NodeId origin, Position position, const LogEntry& entry, const Context& context);
  void noteTombstone(KeyId key, bool wasTombstone, const Context& context);
  Version newestVersionOf(KeyId key) const;
  bool caughtUpWithHeads(const Context& context);
  void reclaim(MonotonicInstant due, const Context& context);
  void noteStamps(NodeId origin, const LogEntry& entry);
  FenceState fenceOf(const Dependency& dependency) const;

  NodeId self_;
  Rules rules_;
  Duration retention_;
  Duration askAgain_;
  std::uint32_t keyCount_ = 0;
  ReplicaState state_;
  std::vector<Incoming> incoming_;     // index: NodeId
  std::vector<NodeId> subscribers_;    // sorted
  std::vector<Tombstone> tombstones_;  // sorted by reclaimAt
  Heads heads_;
  LogEntry taken_;  // what the last onApplyReady() returned; no part of the state
};

}  // namespace holdfast::protocol
