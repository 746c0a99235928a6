// What a section of a key owes to the sections before it, as far as observations tell.
//
// A node that is admitted must show every write that earlier sections had committed, unless the lineage
// of the key was lost on the way. Lineage mirrors that from observations alone: for each key and origin, up
// to which log position the present lineage reaches, and by which documented route the rest was lost. A clean
// release extends it (FR-2); a recovery replaces it by the positions its barrier measured (FR-7, FR-8). A
// member that was asked and had not answered that very barrier when it was left out, at the timeout on the
// acquirer's clock, is lost: by L-2a when it had been down since the barrier began, by L-2b otherwise. What
// settles after a barrier was measured is lost by L-2c. Everything else that is missing has no excuse.
//
// A recovery after a clean release is excused by what was seen to void the set: an installation of another
// membership, a crash or replacement of the home, or so many sets that the home kept since that it had to
// make room (FR-6).
#pragma once

#include <array>
#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>
#include <optional>
#include <vector>

#include "checkers/finding.hpp"
#include "checkers/flat_table.hpp"
#include "checkers/history.hpp"
#include "checkers/kept_sets.hpp"
#include "checkers/options.hpp"

namespace holdfast::checkers {

/// What a recovery barrier learnt of one member.
struct BarrierMember {
  NodeId node;
  bool appended = false;
  bool measured = false;
  bool skipped = false;
  bool asked = false;     // a request of this very barrier was sent to it, or rejected on the way out
  bool answered = false;  // the acquirer has got its answer to this very barrier
  LeftOut leftOut = LeftOut::no;
  Position position = 0;  // as measured
  TrueInstant appendedAt;
  TrueInstant measuredAt;
  TrueInstant answeredAt;
  // What was known when it was left out, or when the barrier was done that did not ask it:
  Route lost = Route::none;  // by which route what it had written is lost
  TrueInstant lostAt;
  bool cutOff = false;               // its link to the acquirer was down at some time since the start
  TrueInstant crashedAt{INT64_MIN};  // its latest crash
};

struct Barrier {
  std::uint64_t nonce = 0;
  NodeId node;
  bool done = false;
  bool satisfied = false;
  bool asks = false;  // its requests are observed
  TrueInstant startedAt;
  obs::MonotonicInstant givesUpAt;  // by the acquirer's clock
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
  explicit Lineage(const CheckerOptions& options = {})
      : barrierTimeout_(options.barrierTimeout), kept_(options.lineageSets) {}

  void on(const Stamp& stamp, const obs::Admitted& event, const History& history);
  void on(const Stamp& stamp, const obs::Settled& event, const History& history);
  void on(const Stamp& stamp, const obs::Granted& event, const History& history);
  void on(const Stamp& stamp, const obs::ControlAppended& event, const History& history);
  void on(const Stamp& stamp, const obs::ReleaseSeen& event, const History& history);
  void on(const Stamp& stamp, const obs::HandBackSeen& event, const History& history);
  void on(const Stamp& stamp, const obs::GrantExpired& event, const History& history);
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
  void on(const Stamp& stamp, const obs::MessageRefused& event, const History& history);

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

  /// The barrier of that nonce, or null when it is not known any more.
  const Barrier* barrier(std::uint64_t nonce) const;
  /// The barrier that the latest recovery of `key` on `node` joined, or null.
  const Barrier* barrierOf(KeyId key, NodeId node) const;
  /// Whether that recovery was joined since `node` was last granted the key.
  bool joinedSinceGrant(KeyId key, NodeId node) const;

  /// If a recovery was granted to `node` although the last release was clean: the route that explains it, or
  /// Route::none when nothing that was seen does.
  std::optional<Route> cleanReleaseRoute(KeyId key, NodeId node) const;
  TrueInstant releasedAt(KeyId key) const;
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
    bool releaseFound = false;  // in the log when its author started again
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
    bool renewed = false;   // the present grant is a renewal, under which somebody may have been admitted
    bool virgin = false;    // and this one of a key that had never been delegated
    NodeId releaseHome;
    std::uint32_t homeLives = 0;   // crashes and replacements of the home at the release
    std::uint32_t membership = 0;  // that the home had installed by then
    TrueInstant releasedAt{INT64_MIN};
    std::optional<Route> pendingRoute;
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
    boost::container::small_vector<std::uint64_t, 2> open;  // [acquirer][member]: unanswered barriers there
  };
  /// A request or an answer under way, and the barrier that it is about.
  struct Letter {
    std::uint64_t message = 0;
    std::uint64_t nonce = 0;
  };
  struct Dated {
    std::uint64_t nonce = 0;
    TrueInstant at{INT64_MIN};
  };
  struct Membership {
    obs::NodeBits members;
    std::uint32_t number = 0;
  };

  static constexpr std::size_t kBarriersKept = 4096;
  static constexpr std::size_t kLettersKept = 512;
  static constexpr std::size_t kOpenKept = 8;

  Barrier* find(std::uint64_t nonce);
  BarrierMember& memberOf(Barrier& barrier, NodeId node);
  void noteLetter(std::uint64_t message, std::uint64_t nonce);
  std::uint64_t nonceOf(std::uint64_t message) const;
  void noteAsked(const Stamp& stamp, NodeId member);
  /// The barrier that a reply of `stamp.node` to `acquirer` is about; 0: it can not be told.
  std::uint64_t answeredBy(const Stamp& stamp, NodeId acquirer);
  /// Takes down what is known of `member`, whom the barrier does not wait for any more, and by which route
  /// what it had written is lost.
  void judgeAbsent(const Stamp& stamp, const Barrier& barrier, BarrierMember& member,
                   const History& history) const;
  /// A dismissed node that the barrier did not ask, because that was two memberships before or earlier: lost
  /// is what it had not replicated, if it was down or out of reach meanwhile.
  void judgeDismissed(const Stamp& stamp, Barrier& barrier, NodeId node, const History& history) const;
  std::uint32_t membershipOf(NodeId node) const;
  Route reasonOfRecovery(const KeyLineage& row, KeyId key, NodeId home, const History& history) const;
  void replaceLineage(const Stamp& stamp, KeyId key, const History& history);

  FlatTable<KeyLineage> keys_;
  FlatTable<Membership> memberships_;  // by node: the one that it installed last
  NodeMatrix<Lane> lanes_;
  NodeMatrix<Link> links_;
  std::vector<Committed> committed_;
  std::vector<Barrier> barriers_;
  std::size_t oldest_ = 0;
  boost::container::flat_map<std::uint64_t, std::uint32_t> byNonce_;
  FlatTable<Dated> started_;   // by node: its latest barrier
  FlatTable<Dated> appended_;  // by node: the barrier entry that it appended last, until it tells of it
  std::array<Letter, kLettersKept> letters_{};
  std::size_t nextLetter_ = 0;
  Duration barrierTimeout_;
  KeptSets kept_;
};

/// Visits the sections after that of `write` which were admitted before `txn`, to which it belongs, settled:
/// visit(section's call id, route). A later local section is passed by LH-4 if the write was submitted only
/// after its admission. The first one that had to wait for the write ends the walk, with the route that
/// excuses it or with Route::none when nothing does (DR-3): a local one that came after the submission, or
/// one that was admitted on another node, after a release, or by recovery. A recovery in between that
/// admitted nobody excuses as one that did.
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
    const bool submittedLater = txn.order > later.order;
    visit(id, handedOver || !submittedLater ? Route::none : Route::lh4);
    if (handedOver || !submittedLater) return;
  }
}

}  // namespace holdfast::checkers
