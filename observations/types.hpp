// The vocabulary that nodes, harness and checkers share: identities, tokens, error classes, paths.
//
// All are trivially copyable. A foreign implementation that wants to be judged by the checkers maps its own
// notions to these and nothing else.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "observations/reflect.hpp"
#include "sim/ids.hpp"
#include "sim/time.hpp"

namespace holdfast::sim {
BOOST_DESCRIBE_STRUCT(Duration, (), (ns))
BOOST_DESCRIBE_STRUCT(TrueInstant, (), (ns))
BOOST_DESCRIBE_STRUCT(MonotonicInstant, (), (ns))
BOOST_DESCRIBE_STRUCT(WallInstant, (), (ns))
BOOST_DESCRIBE_STRUCT(NodeId, (), (value))
BOOST_DESCRIBE_STRUCT(KeyId, (), (value))
}  // namespace holdfast::sim

namespace holdfast::obs {

using sim::Duration;
using sim::KeyId;
using sim::MonotonicInstant;
using sim::NodeId;
using sim::TrueInstant;
using sim::WallInstant;

/// A caller's lock call, and the handle that it becomes once admitted. Unique in a run; 0 is "no handle".
struct CallId {
  std::uint32_t value = 0;
  constexpr bool valid() const { return value != 0; }
  friend constexpr auto operator<=>(CallId, CallId) = default;
};
BOOST_DESCRIBE_STRUCT(CallId, (), (value))

/// A logical transaction, through all its native commit attempts (DR-3). Unique in a run; 0 is "none".
struct TxnId {
  std::uint32_t value = 0;
  constexpr bool valid() const { return value != 0; }
  friend constexpr auto operator<=>(TxnId, TxnId) = default;
};
BOOST_DESCRIBE_STRUCT(TxnId, (), (value))

/// A place in one origin's log: 1 for the first entry, in append order; 0 is "before the first".
using Position = std::uint32_t;

/// A write's last-write-wins timestamp in nanoseconds (LW-2): data, not an instant of any clock. It is made
/// from a wall reading or given by a caller, and never compared with a clock reading.
struct Timestamp {
  std::int64_t ns = 0;
  friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
};
BOOST_DESCRIBE_STRUCT(Timestamp, (), (ns))

/// A fencing token, ordered lexicographically (TK-1).
struct Token {
  std::uint32_t membership = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t counter = 0;
  constexpr bool valid() const { return counter != 0; }
  friend constexpr auto operator<=>(const Token&, const Token&) = default;
};
BOOST_DESCRIBE_STRUCT(Token, (), (membership, incarnation, counter))

/// Fields of a record. Plain integers: enough to tell every lost, stale and torn value apart.
inline constexpr std::size_t kRecordFields = 4;
using FieldValues = std::array<std::int64_t, kRecordFields>;
using FieldMask = std::uint8_t;
inline constexpr FieldMask kAllFields = (1U << kRecordFields) - 1;

enum class WriteOp : std::uint8_t { put, patch, increment, erase };
BOOST_DESCRIBE_ENUM(WriteOp, put, patch, increment, erase)

/// How an admission came about; the cost table and the freshness promise depend on it.
/// cached: under a live delegation. virgin: key never delegated in this membership (FR-6).
/// clean: after a release whose dependency set was satisfied (FR-3). recovery: after a barrier (FR-8).
enum class Path : std::uint8_t { cached, virgin, clean, recovery };
BOOST_DESCRIBE_ENUM(Path, cached, virgin, clean, recovery)

/// Section 12: the errors a caller can see, and nothing else.
enum class ErrorClass : std::uint8_t { none, lockUnavailable503, locked423, conflict409 };
BOOST_DESCRIBE_ENUM(ErrorClass, none, lockUnavailable503, locked423, conflict409)

/// Why a caller got its error.
enum class Cause : std::uint8_t {
  none,
  noMembership,      // 503: this node holds no live membership (EP-6)
  homeUnreachable,   // 503: the home never answered
  homeNoMembership,  // 503: the home holds no live membership
  quarantine,        // 503: the home restarted and grants nothing yet (DG-9)
  notHome,           // 503: the node asked is not the key's home (DG-1)
  notMember,         // 503: the requester is not a member (DG-2)
  membership,        // 503: requester and home are in different memberships (DG-1)
  fence,             // 503: the dependency set was not satisfied in time (FR-3)
  unsatisfiable,     // 503: the dependency set can not be satisfied now: purge or hole (FR-5)
  barrier,           // 503: the recovery barrier failed or did not finish (FR-8)
  capacity,          // 503: a cap was reached (BD-1)
  shutdown,          // 503: the node or the table is going away (DR-6)
  disabled,          // 503: record locks are switched off
  version,           // 503: protocol or ring versions differ (RT-3)
  malformed,         // 503: key or request refused by validation (BD-3)
  ownGrant,          // 503: an earlier delegation of this very node has to run out first (DR-6)
  contended,         // 423: held by another for the whole wait
  expired,           // 409: the handle's lease had lapsed
  revoked,           // 409: the handle had been revoked
  unknownHandle,     // 409: no such handle here (never issued, swept, or lost in a crash)
  aborted,           // the native commit failed for good; no lock error
  activation,   // 503: the home's membership may not grant yet: protection of its predecessors (EP-8, HM-3)
  superseded,   // a ballot, certificate or generation was overtaken by a greater one
  durability,   // a record could not be made durable
  participant,  // 503: a participant has not granted the request (RA-6)
};
BOOST_DESCRIBE_ENUM(Cause, none, noMembership, homeUnreachable, homeNoMembership, quarantine, notHome,
                    notMember, membership, fence, unsatisfiable, barrier, capacity, shutdown, disabled,
                    version, malformed, ownGrant, contended, expired, revoked, unknownHandle, aborted,
                    activation, superseded, durability, participant)

enum class MessageKind : std::uint8_t {
  membershipRenew,
  membershipRenewAck,
  lockRequest,
  lockGrant,
  lockDeny,
  lockRecall,
  lockHandBack,
  barrierRequest,
  barrierReply,
  subscribe,
  logFrame,
  logGap,
  membershipPrepare,
  membershipPromise,
  membershipReject,
  membershipAccept,
  membershipAccepted,
  membershipCertificates,
  membershipQuery,
  homeMapHello,
  homeMapStage,
  homeMapAcknowledgement,
  homeMapQuery,
  homeMapActivation,
  logHead,
};
BOOST_DESCRIBE_ENUM(MessageKind, membershipRenew, membershipRenewAck, lockRequest, lockGrant, lockDeny,
                    lockRecall, lockHandBack, barrierRequest, barrierReply, subscribe, logFrame, logGap,
                    membershipPrepare, membershipPromise, membershipReject, membershipAccept,
                    membershipAccepted, membershipCertificates, membershipQuery, homeMapHello, homeMapStage,
                    homeMapAcknowledgement, homeMapQuery, homeMapActivation, logHead)

enum class EntryKind : std::uint8_t { transaction, release, barrier, request, grant };
BOOST_DESCRIBE_ENUM(EntryKind, transaction, release, barrier, request, grant)

/// What made a home forget, or distrust, a key's dependency set (FR-4, FR-6, FR-7).
enum class LineageLoss : std::uint8_t {
  expired,
  evicted,
  coldHome,
  membershipChange,
  oldForm,
  handedBackRenewal
};
BOOST_DESCRIBE_ENUM(LineageLoss, expired, evicted, coldHome, membershipChange, oldForm, handedBackRenewal)

/// Why a delegate refused to install a grant.
enum class GrantRejection : std::uint8_t { late, unmatched, superseded, callerGone };
BOOST_DESCRIBE_ENUM(GrantRejection, late, unmatched, superseded, callerGone)

/// Why a configuration certificate counted for nothing (EP-5, EP-11, RT-3).
/// forged: a vote's signature is not its voter's. partial: fewer votes than a majority of the predecessor.
/// duplicatedVoter: one voter more than once. notMember: a voter outside the predecessor. obsolete: a number
/// that is installed or superseded here. gap: its predecessor is unknown here. oversized: over a bound.
enum class CertificateFault : std::uint8_t {
  forged,
  partial,
  duplicatedVoter,
  notMember,
  obsolete,
  gap,
  oversized,
  version,
  malformed
};
BOOST_DESCRIBE_ENUM(CertificateFault, forged, partial, duplicatedVoter, notMember, obsolete, gap, oversized,
                    version, malformed)

/// Why a node takes no part in agreement until it has learnt the chain (EP-11).
/// blank: it finds no records on its disk. corrupted: it finds some that fail their checksum.
enum class JoiningReason : std::uint8_t { blank, corrupted };
BOOST_DESCRIBE_ENUM(JoiningReason, blank, corrupted)

/// A set of nodes of a run as a number: bit i is the node with id i. Nodes from 64 on have no bit.
struct NodeBits {
  std::uint64_t bits = 0;
  constexpr bool contains(NodeId node) const { return node.value < 64 && (bits >> node.value & 1U) != 0; }
  constexpr void insert(NodeId node) { bits |= node.value < 64 ? std::uint64_t{1} << node.value : 0; }
  friend constexpr bool operator==(NodeBits, NodeBits) = default;
};
BOOST_DESCRIBE_STRUCT(NodeBits, (), (bits))

enum class LossReason : std::uint8_t { random, cut, receiverDown, rejected };
BOOST_DESCRIBE_ENUM(LossReason, random, cut, receiverDown, rejected)

/// The phases of a run: faults may strike; then everything is healed and liveness is judged; then it ends.
enum class Phase : std::uint8_t { faults, healed, end };
BOOST_DESCRIBE_ENUM(Phase, faults, healed, end)

/// State whose size must be bounded (BD-1, BD-2, FR-6), reported by the harness at the end of a run.
enum class Retained : std::uint8_t {
  grants,
  waiters,
  lineage,
  delegations,
  handles,
  localWaiters,
  transactions,
  receivedQueue,
  pendingCommits,
  barriers,
  timers,
  tombstones,
};
BOOST_DESCRIBE_ENUM(Retained, grants, waiters, lineage, delegations, handles, localWaiters, transactions,
                    receivedQueue, pendingCommits, barriers, timers, tombstones)

}  // namespace holdfast::obs
