// The part of a run's past that the safety properties depend on, as a few bytes of the state.
//
// The checkers remember a whole run and would make every path a state of its own. The ghost keeps of each
// lock call whether it is inside its section and for how long yet, of each transaction how far it is and who
// has applied it, and of each recovery what its barrier measured: whatever the verdict on a future admission,
// submission, settlement or grant depends on. It judges, by the same rules as the checkers,
//   - exclusion: X-1, submissions after the lapse or the revocation (LH-3, DR-2), tokens that do not grow
//     (TK-1), answers to a call that does not wait;
//   - freshness: an admission that hides a committed write that no recovery has excused (X-2, FR-8), a
//     recovery without its barrier, a write that settles behind the back of a successor (DR-3).
// States with equal ghosts and equal nodes have equal verdicts from then on, so merging them is sound for
// these properties. What the ghost does not keep (costs, error classes, lateness, the values of records) is
// judged by the checkers when a path is replayed, and in no other place.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "explore/configuration.hpp"
#include "observations/observation.hpp"

namespace holdfast::explore {

/// Why a state is bad; the name is that of the anomaly that the checkers report.
enum class Breach : std::uint8_t {
  none,
  overlappingAdmissions,
  submittedWithoutHandle,
  submittedAfterLapse,
  submittedAfterRevocation,
  tokenNotIncreasing,
  answeredUnasked,
  staleAdmission,
  admittedWithoutBarrier,
  lateSettlement,
  twoConfigurations,
  twoLiveRings,
  activatedTooEarly,
  membershipWentBack,
  grantedBeforeActivation,
  certificateWithoutMajority,
  grantedWithoutMembership,
  servedAfterAcknowledging,
  strangerTakesPart,
};
const char* nameOf(Breach breach);

/// What is fixed about calls and transactions: who makes them, and on which key. Index: id - 1.
struct Cast {
  struct Call {
    std::uint8_t node = 0;
    std::uint8_t key = 0;
  };
  struct Txn {
    std::uint8_t call = 0;  // index of its call
  };
  std::array<Call, kMaxCalls> calls{};
  std::array<Txn, kMaxTxns> txns{};
  std::uint8_t callCount = 0;
  std::uint8_t txnCount = 0;
  std::uint8_t nodes = 0;
};

/// What remains until the deadline, in whole ticks from 0 to 255.
std::uint8_t ticksUntil(obs::MonotonicInstant deadline, obs::MonotonicInstant now);

struct Ghost {
  enum class CallPhase : std::uint8_t { idle, waiting, inside, left, over };
  // `found`: durable when its node crashed, which nobody can see before the node restarts and tells of it.
  enum class TxnPhase : std::uint8_t { none, staged, submitted, found, committed, over };

  struct Call {
    CallPhase phase = CallPhase::idle;
    std::uint8_t remaining = 0;  // ticks of its node's clock until the handle's deadline
    std::uint8_t revoked = 0;

    bool inForce() const { return phase == CallPhase::inside && remaining > 0 && revoked == 0; }
  };
  struct Txn {
    TxnPhase phase = TxnPhase::none;
    std::uint8_t position = 0;
  };
  struct LastToken {
    std::uint8_t membership = 0;
    /// In full, as without TK2_Ordered it is any number; most significant first, because a state is hashed
    /// by its bytes and must not have any that mean nothing.
    std::array<std::uint8_t, 4> incarnation{};
    std::uint8_t counter = 0;
    friend auto operator<=>(const LastToken&, const LastToken&) = default;
  };
  struct Recovery {
    std::uint8_t joined = 0;   // keys that wait for the barrier under way
    std::uint8_t fenced = 0;   // keys whose barrier was satisfied since the grant
    std::uint8_t covered = 0;  // transactions that the barrier under way has measured
  };

  std::array<Call, kMaxCalls> calls{};
  std::array<Txn, kMaxTxns> txns{};
  std::array<std::uint8_t, kMaxNodes> visible{};  // transactions that the node's replica shows
  std::array<Recovery, kMaxNodes> recoveries{};
  std::array<LastToken, kMaxKeys> tokens{};
  std::array<std::uint8_t, kMaxNodes> newest{};  // number of a membership that the node has installed
  std::array<std::uint8_t, kMaxNodes> served{};  // and of one that it was active under
  std::uint8_t acknowledged = 0;  // nodes that have stopped for the next home map, in this life (HM-4)
  std::uint8_t excused = 0;       // transactions that a recovery has lost by a documented route
  std::uint8_t overtaken = 0;     // transactions behind whose back another node was admitted
  Breach breach = Breach::none;

  /// `node`, whose clock reads `now`, says that something has happened. The first breach stays.
  void on(std::uint8_t node, const obs::Observation& what, obs::MonotonicInstant now, const Cast& cast);
  /// Whether a handle is in force, on any node.
  bool admits() const;
  /// The clock of `node` has advanced by a tick.
  void tick(std::uint8_t node, const Cast& cast);
  void crash(std::uint8_t node, const Cast& cast);
  /// Before a crash(): a transaction of the node has reached the disk. It settles when the node restarts.
  void found(obs::TxnId txn, obs::Position position);
  void restart(std::uint8_t node, const Cast& cast);
  /// Whether a caller of a running node waits for its lock.
  bool waits(std::uint8_t node, const Cast& cast) const;

 private:
  struct Observer;
};

}  // namespace holdfast::explore
