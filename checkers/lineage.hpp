// What a section of a key owes to the sections before it, as far as observations tell.
//
// A node that is admitted must show every write that earlier sections had committed, unless the lineage
// of the key was lost on the way. Lineage mirrors that from observations alone: for each key and origin, up
// to which log position the present lineage reaches, and by which documented route the rest was lost. A clean
// release extends it (FR-2); a recovery replaces it by the positions its barrier measured (FR-7, FR-8). A
// member that the barrier left out is lost by L-2a when it was down and by L-2b when it could not be
// reached; what settles after a barrier was measured is lost by L-2c. Everything else that is missing has no
// excuse.
#pragma once

#include <array>
#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>
#include <vector>

#include "checkers/finding.hpp"
#include "checkers/flat_table.hpp"
#include "checkers/history.hpp"

namespace holdfast::checkers {

/// What a recovery barrier learnt of one member.
struct BarrierMember {
  NodeId node;
  bool appended = false;
  bool measured = false;
  bool skipped = false;
  Position position = 0;  // as measured
  TrueInstant appendedAt;
  TrueInstant measuredAt;
  TrueInstant skippedAt;
  TrueInstant answeredAt{INT64_MAX};  // when the acquirer first got the answer to this very barrier
};

struct Barrier {
  std::uint64_t nonce = 0;
  NodeId node;
  bool done = false;
  bool satisfied = false;
  TrueInstant startedAt;
  boost::container::small_vector<BarrierMember, 8> members;

  const BarrierMember* member(NodeId id) const {
    for (const BarrierMember& one : members) {
      if (one.node == id) return &one;
    }
    return nullptr;
  }
};

/// Why a write may be missing. `route` none: nothing excuses it.
struct Excuse {
  Route route = Route::none;
  /// The latest recovery of the key, which replaced the lineage that the write belonged to.
  TrueInstant recoveredAt{INT64_MIN};
  /// With l2a: the origin's crash. With l2b: when it was given up. With l2c: when it was measured.
  TrueInstant lostAt{INT64_MIN};
  Position covered = 0;
};

class Lineage {
 public:
  void on(const Stamp& stamp, const obs::Admitted& event, const History& history);
  void on(const Stamp& stamp, const obs::Settled& event, const History& history);
  void on(const Stamp& stamp, const obs::Granted& event, const History& history);
  void on(const Stamp& stamp, const obs::ControlAppended& event, const History& history);
  void on(const Stamp& stamp, const obs::ReleaseSeen& event, const History& history);
  void on(const Stamp& stamp, const obs::HandBackSeen& event, const History& history);
  void on(const Stamp& stamp, const obs::LineageLost& event, const History& history);
  void on(const Stamp& stamp, const obs::BarrierStarted& event, const History& history);
  void on(const Stamp& stamp, const obs::BarrierMeasured& event, const History& history);
  void on(const Stamp& stamp, const obs::BarrierSkipped& event, const History& history);
  void on(const Stamp& stamp, const obs::BarrierDone& event, const History& history);
  void on(const Stamp& stamp, const obs::RecoveryJoined& event, const History& history);
  void on(const Stamp& stamp, const obs::MembershipInstalled& event, const History& history);
  void on(const Stamp& stamp, const obs::LinkCut& event, const History& history);
  void on(const Stamp& stamp, const obs::LinkHealed& event, const History& history);
  void on(const Stamp& stamp, const obs::MessageSent& event, const History& history);
  void on(const Stamp& stamp, const obs::MessageLost& event, const History& history);
  void on(const Stamp& stamp, const obs::MessageDelivered& event, const History& history);

  /// Calls `visit(txn)` for each locked write of `key` that was committed at `origin` and does not show in
  /// `node`'s replica, the latest first.
  template <class Visit>
  void forEachHidden(const History& history, KeyId key, NodeId node, NodeId origin, Visit&& visit) const {
    const Lane* lane = lanes_.find(key.value, origin);
    if (lane == nullptr || lane->top == 0 || node == origin) return;
    const ReplicaView& view = history.replica(node, origin);
    if (view.showsAllUpTo(lane->top)) return;
    const Position prefix = view.prefix();
    for (std::uint32_t i = lane->head; i != kNothing; i = committed_[i].previous) {
      const Txn& txn = history.txn(committed_[i].txn);
      if (txn.position <= prefix) return;
      if (!view.shows(txn.position)) visit(committed_[i].txn, committed_[i].call);
    }
  }
  /// How many origins forEachHidden knows of.
  std::uint16_t origins() const { return lanes_.width(); }

  /// What excuses that a section admitted since does not show the write that `txn` made on `key` in the
  /// section `writer`.
  Excuse excuseFor(KeyId key, const Txn& txn, const Call& writer) const;

  /// The barrier that the latest recovery of `key` on `node` joined, or null.
  const Barrier* barrierOf(KeyId key, NodeId node) const;
  /// Whether that recovery was joined since `node` was last granted the key.
  bool joinedSinceGrant(KeyId key, NodeId node) const;

  /// The route by which the recovery now granted to `node` came about although the last release was clean.
  Route cleanReleaseRoute(KeyId key, NodeId node) const;
  TrueInstant releasedAt(KeyId key) const;
  obs::LineageLoss lossOf(KeyId key) const;
  /// Whether `author`'s release of `key` was accepted in the interval (from, to].
  bool releasedBetween(KeyId key, NodeId author, TrueInstant from, TrueInstant to) const;
  /// Whether a delegate recovered `key` in the interval (from, to] and released it without admitting anybody.
  bool recoveredUnusedBetween(KeyId key, TrueInstant from, TrueInstant to) const;

 private:
  /// One origin's part of one key.
  struct Lane {
    std::uint32_t head = kNothing;  // the latest committed locked write, into committed_
    Position top = 0;               // its position
    Position covered = 0;           // how far the lineage reaches since the last recovery
    Route lost = Route::none;       // by what route the rest was lost
    TrueInstant lostAt{INT64_MIN};
    TrueInstant lostSince{INT64_MIN};  // what settled before this can not have been lost by l2c
    obs::Token releaseToken;
    Position releasePosition = 0;
    TrueInstant releasedAt{INT64_MIN};
    std::uint64_t nonce = 0;  // of the barrier that this node's recovery of the key joined
    bool joined = false;
    TrueInstant joinedAt{INT64_MIN};
    TrueInstant grantedAt{INT64_MIN};
  };
  struct KeyLineage {
    std::uint32_t recoveryRank = 0;  // the last section admitted by recovery
    TrueInstant recoveredAt{INT64_MIN};
    TrueInstant recoveredUnusedAt{INT64_MIN};
    bool cleanlyReleased = false;
    bool wasClean = false;  // before the present grant, which may be handed back unused
    NodeId releaseHome;
    std::uint32_t homeLives = 0;  // crashes and replacements of the home at the release
    TrueInstant releasedAt{INT64_MIN};
    bool lost = false;
    obs::LineageLoss loss = obs::LineageLoss::expired;
    Route pendingRoute = Route::none;
    NodeId pendingNode;
  };
  struct Committed {
    TxnId txn;
    CallId call;
    std::uint32_t previous = kNothing;
  };
  struct Link {
    bool cut = false;
    TrueInstant cutAt{INT64_MIN};
    TrueInstant healedAt{INT64_MIN};
    TrueInstant barrierLostAt{INT64_MIN};
    TrueInstant refusedAt{INT64_MIN};  // [acquirer][member]: last reply delivered that tells of no entry
  };
  /// An answer under way, and the barrier whose entry it tells of.
  struct Reply {
    std::uint64_t message = 0;
    std::uint64_t nonce = 0;
  };
  struct Appended {
    std::uint64_t nonce = 0;
    TrueInstant at{INT64_MIN};
  };

  static constexpr std::size_t kBarriersKept = 4096;
  static constexpr std::size_t kRepliesKept = 256;

  Barrier* find(std::uint64_t nonce);
  BarrierMember& memberOf(Barrier& barrier, NodeId node);
  /// By which route what a member had written is lost, which a barrier left out.
  Route lossOfSkipped(const History& history, const Barrier& barrier, const BarrierMember& member,
                      TrueInstant& lostAt) const;
  /// The same of a node that was not asked, because it had been dismissed two memberships before or earlier:
  /// lost is what it had not replicated, if it was down or out of reach.
  Route lossOfUnasked(const History& history, const Barrier& barrier, obs::NodeId origin,
                      TrueInstant& lostAt) const;
  void replaceLineage(const Stamp& stamp, KeyId key, const History& history);

  FlatTable<KeyLineage> keys_;
  FlatTable<obs::NodeBits> members_;  // by node: of the membership that it installed last
  NodeMatrix<Lane> lanes_;
  NodeMatrix<Link> links_;
  std::vector<Committed> committed_;
  std::vector<Barrier> barriers_;
  std::size_t oldest_ = 0;
  boost::container::flat_map<std::uint64_t, std::uint32_t> byNonce_;
  FlatTable<Appended> appended_;  // by node: the barrier entry that it appended last
  std::array<Reply, kRepliesKept> replies_{};
  std::size_t nextReply_ = 0;
};

/// Visits the sections after that of `write` which were admitted before `txn`, to which it belongs, settled:
/// visit(section's call id, route). A later local section is passed by LH-4; the first one that was admitted
/// on another node, or after a release, or by recovery, ends the walk with the route that excuses it, or
/// with Route::none when nothing does (DR-3). A recovery in between that admitted nobody excuses as one that
/// did.
template <class Visit>
void forEachOvertaker(const History& history, const Lineage& lineage, const Txn& txn, const Write& write,
                      Visit&& visit) {
  const Call& writer = history.call(write.call);
  for (CallId id = writer.nextSection; id.valid(); id = history.call(id).nextSection) {
    const Call& later = history.call(id);
    if (later.path == obs::Path::recovery ||
        lineage.recoveredUnusedBetween(write.key, writer.admittedAt, later.admittedAt)) {
      visit(id, lineage.excuseFor(write.key, txn, writer).route);
      return;
    }
    const bool handedOver = later.node != txn.node ||
                            lineage.releasedBetween(write.key, txn.node, writer.admittedAt, later.admittedAt);
    visit(id, handedOver ? Route::none : Route::lh4);
    if (handedOver) return;
  }
}

}  // namespace holdfast::checkers
