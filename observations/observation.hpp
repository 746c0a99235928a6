// Observations: what nodes and the harness say has happened. Checkers and traces consume nothing else.
//
// An observation is a small trivially copyable struct; `Stamped` adds the true instant and the node, which
// the harness fills in, so no observer ever depends on a skewed clock. Fields named `deadline` are readings
// of the observing node's own monotonic clock; ClockRate tells an observer how to relate them to true time.
//
// A foreign implementation is judged by the same checkers when it emits these.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "observations/types.hpp"

namespace holdfast::obs {

// ---- Callers ----------------------------------------------------------------------------------------------

/// A caller asks for `key` and is ready to wait.
struct LockRequested {
  CallId call;
  KeyId key;
  Duration wait;
  Duration lease;
};
BOOST_DESCRIBE_STRUCT(LockRequested, (), (call, key, wait, lease))

/// A critical section begins. It ends at Unlocked, at Revoked, or when the node's clock reaches `deadline`.
struct Admitted {
  CallId call;
  KeyId key;
  Token token;
  Path path = Path::cached;
  bool hold = false;
  MonotonicInstant deadline;
};
BOOST_DESCRIBE_STRUCT(Admitted, (), (call, key, token, path, hold, deadline))

/// `call` entered the live `handle` again or upgraded it to hold; `deadline` replaces the earlier one (LH-2).
/// A handle is its own caller's: in a sound protocol the two are the same.
struct Reentered {
  CallId call;
  KeyId key;
  bool hold = false;
  MonotonicInstant deadline;
  CallId handle;
};
BOOST_DESCRIBE_STRUCT(Reentered, (), (call, key, hold, deadline, handle))

struct LockRefused {
  CallId call;
  KeyId key;
  ErrorClass error = ErrorClass::none;
  Cause cause = Cause::none;
};
BOOST_DESCRIBE_STRUCT(LockRefused, (), (call, key, error, cause))

struct Unlocked {
  CallId call;
  KeyId key;
};
BOOST_DESCRIBE_STRUCT(Unlocked, (), (call, key))

/// The write capability of a handle ended before its lease (DR-2). `unlocked` tells whether the caller had
/// already left the critical section.
struct Revoked {
  CallId call;
  KeyId key;
  bool unlocked = false;
};
BOOST_DESCRIBE_STRUCT(Revoked, (), (call, key, unlocked))

/// A read of the node's own replica. `writers[i]` is the transaction whose write field i shows (none: absent
/// or never written); `present` has a bit per field that holds a value. `call` is none outside a lock.
struct Read {
  CallId call;
  KeyId key;
  FieldMask present = 0;
  std::array<TxnId, kRecordFields> writers{};
  FieldValues values{};
};
BOOST_DESCRIBE_STRUCT(Read, (), (call, key, present, writers, values))

/// A write joins a transaction and gets its timestamp (LW-2). `callerStamp`: given by the caller.
struct Staged {
  TxnId txn;
  CallId call;
  KeyId key;
  WriteOp op = WriteOp::put;
  FieldMask fields = 0;
  bool callerStamp = false;
  Timestamp stamp;
  FieldValues values{};
};
BOOST_DESCRIBE_STRUCT(Staged, (), (txn, call, key, op, fields, callerStamp, stamp, values))

/// One write of a transaction goes to native commit: the point of no return (LH-3). Emitted once a write
/// and attempt; `call` is none for an unlocked write.
struct Submitted {
  TxnId txn;
  CallId call;
  KeyId key;
  std::uint32_t attempt = 1;
};
BOOST_DESCRIBE_STRUCT(Submitted, (), (txn, call, key, attempt))

/// A native attempt aborted and the logical transaction will try again (DR-3, S-23).
struct AttemptAborted {
  TxnId txn;
  std::uint32_t attempt = 1;
};
BOOST_DESCRIBE_STRUCT(AttemptAborted, (), (txn, attempt))

/// The logical transaction is over. Committed: durable at `position` of this node's log and visible here.
/// `recovered`: found in the log after a crash, its caller was never answered.
struct Settled {
  TxnId txn;
  bool committed = false;
  bool recovered = false;
  Position position = 0;
};
BOOST_DESCRIBE_STRUCT(Settled, (), (txn, committed, recovered, position))

/// A stage or a submission was refused; the transaction has no effect (section 12: 409).
struct WriteRefused {
  TxnId txn;
  CallId call;
  KeyId key;
  ErrorClass error = ErrorClass::none;
  Cause cause = Cause::none;
};
BOOST_DESCRIBE_STRUCT(WriteRefused, (), (txn, call, key, error, cause))

/// Before a submission `writes` writes were looked at for the handles that they stand under, and none stands
/// under any: work that an unlocked write must not cost (LH-5).
struct UnlockedWritesChecked {
  TxnId txn;
  std::uint32_t writes = 0;
};
BOOST_DESCRIBE_STRUCT(UnlockedWritesChecked, (), (txn, writes))

// ---- Home and delegate ------------------------------------------------------------------------------------

/// The home gives `key` to `to` (DG-3). `path` is virgin, clean or recovery.
struct Granted {
  KeyId key;
  NodeId to;
  Token token;
  Path path = Path::virgin;
  bool renewal = false;
  Duration duration;
};
BOOST_DESCRIBE_STRUCT(Granted, (), (key, to, token, path, renewal, duration))

struct Denied {
  KeyId key;
  NodeId to;
  Cause cause = Cause::none;
};
BOOST_DESCRIBE_STRUCT(Denied, (), (key, to, cause))

/// A waiter joined the home's queue behind the present delegate (DG-10).
struct Queued {
  KeyId key;
  NodeId requester;
};
BOOST_DESCRIBE_STRUCT(Queued, (), (key, requester))

struct Installed {
  KeyId key;
  Token token;
  Path path = Path::virgin;
  bool renewal = false;
  MonotonicInstant deadline;
};
BOOST_DESCRIBE_STRUCT(Installed, (), (key, token, path, renewal, deadline))

struct GrantRejected {
  KeyId key;
  Token token;
  GrantRejection why = GrantRejection::late;
};
BOOST_DESCRIBE_STRUCT(GrantRejected, (), (key, token, why))

/// The delegate gave back a grant under which nobody was admitted.
struct HandedBack {
  KeyId key;
  Token token;
};
BOOST_DESCRIBE_STRUCT(HandedBack, (), (key, token))

/// The home met a hand-back; `cleared` only on an exact match with the live grant.
struct HandBackSeen {
  KeyId key;
  NodeId author;
  Token token;
  bool cleared = false;
};
BOOST_DESCRIBE_STRUCT(HandBackSeen, (), (key, author, token, cleared))

struct RecallSent {
  KeyId key;
  NodeId holder;
  Token token;
};
BOOST_DESCRIBE_STRUCT(RecallSent, (), (key, holder, token))

struct RecallFailed {
  KeyId key;
  Token token;
  Cause cause = Cause::none;
};
BOOST_DESCRIBE_STRUCT(RecallFailed, (), (key, token, cause))

/// DR-1: no new admission under this delegation. `recalled` is false for an early drop (DR-5).
struct AdmissionClosed {
  KeyId key;
  Token token;
  bool recalled = true;
};
BOOST_DESCRIBE_STRUCT(AdmissionClosed, (), (key, token, recalled))

/// DR-3 is done (`settled`), or the deadline came first and no release will be written (DR-4).
struct Drained {
  KeyId key;
  Token token;
  bool settled = true;
};
BOOST_DESCRIBE_STRUCT(Drained, (), (key, token, settled))

/// A delegation lapsed on its own at the delegate.
struct DelegationLapsed {
  KeyId key;
  Token token;
};
BOOST_DESCRIBE_STRUCT(DelegationLapsed, (), (key, token))

/// A control entry became durable in this node's own log (FR-1, FR-8, RA-3). `nonce` identifies a barrier;
/// `token` is that of the release, or of the request that is made or granted.
struct ControlAppended {
  EntryKind entry = EntryKind::release;
  KeyId key;
  Token token;
  std::uint64_t nonce = 0;
  Position position = 0;
};
BOOST_DESCRIBE_STRUCT(ControlAppended, (), (entry, key, token, nonce, position))

/// The home met a release entry; `cleared` only on an exact match with the live grant (FR-4).
struct ReleaseSeen {
  KeyId key;
  NodeId author;
  Token token;
  bool cleared = false;
};
BOOST_DESCRIBE_STRUCT(ReleaseSeen, (), (key, author, token, cleared))

/// The home waited out a grant (DG-3) and the key's dependency set is void (FR-7).
struct GrantExpired {
  KeyId key;
  NodeId delegate;
  Token token;
};
BOOST_DESCRIBE_STRUCT(GrantExpired, (), (key, delegate, token))

struct LineageLost {
  KeyId key;
  LineageLoss why = LineageLoss::expired;
};
BOOST_DESCRIBE_STRUCT(LineageLost, (), (key, why))

/// The delegate waits until `origin` is applied and visible to `position` (FR-3).
struct FenceWaiting {
  KeyId key;
  NodeId origin;
  Position position = 0;
};
BOOST_DESCRIBE_STRUCT(FenceWaiting, (), (key, origin, position))

struct FenceSatisfied {
  KeyId key;
  Token token;
};
BOOST_DESCRIBE_STRUCT(FenceSatisfied, (), (key, token))

/// FR-8: the acquirer asks the members for a barrier entry; `keys` recoveries share it.
struct BarrierStarted {
  std::uint64_t nonce = 0;
  std::uint32_t keys = 0;
  std::uint32_t members = 0;
};
BOOST_DESCRIBE_STRUCT(BarrierStarted, (), (nonce, keys, members))

/// The acquirer learnt where `member` put its barrier entry.
struct BarrierMeasured {
  std::uint64_t nonce = 0;
  NodeId member;
  Position position = 0;
};
BOOST_DESCRIBE_STRUCT(BarrierMeasured, (), (nonce, member, position))

/// `member` did not answer and is left out: the unreachable writer's route (L-2a, L-2b).
struct BarrierSkipped {
  std::uint64_t nonce = 0;
  NodeId member;
};
BOOST_DESCRIBE_STRUCT(BarrierSkipped, (), (nonce, member))

struct BarrierDone {
  std::uint64_t nonce = 0;
  bool satisfied = false;
};
BOOST_DESCRIBE_STRUCT(BarrierDone, (), (nonce, satisfied))

/// A recovery of `key` is bound to barrier `nonce`.
struct RecoveryJoined {
  KeyId key;
  std::uint64_t nonce = 0;
};
BOOST_DESCRIBE_STRUCT(RecoveryJoined, (), (key, nonce))

// ---- Membership -------------------------------------------------------------------------------------------

struct MembershipRenewed {
  std::uint32_t number = 0;
  MonotonicInstant deadline;
};
BOOST_DESCRIBE_STRUCT(MembershipRenewed, (), (number, deadline))

struct MembershipLapsed {
  std::uint32_t number = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipLapsed, (), (number))

/// EP-13: this member proposes `members` as configuration `number` under ballot (`counter`, itself): because
/// somebody missed renewals or agreement had come to a halt, or because an operator said so.
struct ProposalStarted {
  std::uint32_t number = 0;
  std::uint32_t counter = 0;
  NodeBits members;
  std::uint32_t ringVersion = 0;
  bool administrative = false;
};
BOOST_DESCRIBE_STRUCT(ProposalStarted, (), (number, counter, members, ringVersion, administrative))

/// The proposal ended without a decision of its own.
struct ProposalAbandoned {
  std::uint32_t number = 0;
  std::uint32_t counter = 0;
  Cause cause = Cause::none;
};
BOOST_DESCRIBE_STRUCT(ProposalAbandoned, (), (number, counter, cause))

/// EP-7: this acceptor acknowledged a renewal of `holder`; `number` may be live there for `remaining` more.
struct ReservationMade {
  std::uint32_t number = 0;
  NodeId holder;
  Duration remaining;
};
BOOST_DESCRIBE_STRUCT(ReservationMade, (), (number, holder, remaining))

/// EP-2: this acceptor promised ballot (`counter`, `proposer`) for `number`, durably, and answers it now.
/// `reservation` and `carried` are what it reports as remaining (EP-7, EP-9); `accepted`: with a value it had
/// accepted before.
struct MembershipPromised {
  std::uint32_t number = 0;
  std::uint32_t counter = 0;
  NodeId proposer;
  Duration reservation;
  Duration carried;
  bool accepted = false;
};
BOOST_DESCRIBE_STRUCT(MembershipPromised, (), (number, counter, proposer, reservation, carried, accepted))

/// EP-4: this acceptor accepted `members` as `number` under the ballot, durably, and answers it now.
struct MembershipAccepted {
  std::uint32_t number = 0;
  std::uint32_t counter = 0;
  NodeId proposer;
  NodeBits members;
  std::uint32_t ringVersion = 0;
  Duration protection;
};
BOOST_DESCRIBE_STRUCT(MembershipAccepted, (), (number, counter, proposer, members, ringVersion, protection))

/// EP-5: the proposer holds a majority of Accepted: `voters`, each heard from itself.
struct MembershipDecided {
  std::uint32_t number = 0;
  std::uint32_t counter = 0;
  NodeBits members;
  std::uint32_t ringVersion = 0;
  NodeBits voters;
  Duration protection;
};
BOOST_DESCRIBE_STRUCT(MembershipDecided, (), (number, counter, members, ringVersion, voters, protection))

/// From here on this node routes and arbitrates by `number` alone. It grants nothing for `activateAfter` more
/// (EP-8). `voters` is the certificate: none for what a founder holds by birth, or for a home map.
struct MembershipInstalled {
  std::uint32_t number = 0;
  NodeBits members;
  std::uint32_t ringVersion = 0;
  NodeBits voters;
  Duration activateAfter;
};
BOOST_DESCRIBE_STRUCT(MembershipInstalled, (), (number, members, ringVersion, voters, activateAfter))

/// The protection of all predecessors has elapsed here: this node may grant under `number` while it is live.
struct MembershipActive {
  std::uint32_t number = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipActive, (), (number))

/// EP-5, EP-11: a certificate for `number` that came from `from` changed nothing.
struct CertificateRefused {
  NodeId from;
  std::uint32_t number = 0;
  CertificateFault fault = CertificateFault::malformed;
};
BOOST_DESCRIBE_STRUCT(CertificateRefused, (), (from, number, fault))

/// EP-11: this node starts without trustworthy records. It is no acceptor until a configuration admits the
/// `identity` it has now.
struct MembershipJoining {
  JoiningReason why = JoiningReason::blank;
  std::uint32_t identity = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipJoining, (), (why, identity))

/// HM-3: this node has staged generation `generation`, naming `homes`, durably.
struct HomeMapStaged {
  std::uint32_t generation = 0;
  NodeBits homes;
};
BOOST_DESCRIBE_STRUCT(HomeMapStaged, (), (generation, homes))

/// HM-3: this node grants and honours nothing of the older generation any more, and says so with its
/// incarnation; `again` when the incarnation had said so before and was asked once more (HM-4).
struct HomeMapAcknowledged {
  std::uint32_t generation = 0;
  std::uint32_t incarnation = 0;
  bool again = false;
};
BOOST_DESCRIBE_STRUCT(HomeMapAcknowledged, (), (generation, incarnation, again))

/// HM-3, HM-5: the operator states that `member` was stopped or isolated for the change to `generation`.
struct HomeMapFenced {
  std::uint32_t generation = 0;
  NodeId member;
};
BOOST_DESCRIBE_STRUCT(HomeMapFenced, (), (generation, member))

/// What the operator asked of this console for `generation` was refused and changed nothing (HM-5, HM-6).
struct HomeMapRefused {
  std::uint32_t generation = 0;
  Cause cause = Cause::malformed;
};
BOOST_DESCRIBE_STRUCT(HomeMapRefused, (), (generation, cause))

/// HM-3: the activation record of `generation` is durable here. `acknowledged` and `fenced` are its evidence.
/// Said again after each start.
struct HomeMapActivated {
  std::uint32_t generation = 0;
  NodeBits homes;
  NodeBits acknowledged;
  NodeBits fenced;
};
BOOST_DESCRIBE_STRUCT(HomeMapActivated, (), (generation, homes, acknowledged, fenced))

/// DG-9: a coordinator was constructed. It grants nothing while `quarantined` until its clock reads `until`.
struct CoordinatorStarted {
  std::uint32_t incarnation = 0;
  bool quarantined = false;
  MonotonicInstant until;
};
BOOST_DESCRIBE_STRUCT(CoordinatorStarted, (), (incarnation, quarantined, until))

/// A malformed, unauthenticated or superseded message was refused and changed nothing (BD-3).
struct MessageRefused {
  NodeId from;
  MessageKind message = MessageKind::lockRequest;
  Cause cause = Cause::malformed;
};
BOOST_DESCRIBE_STRUCT(MessageRefused, (), (from, message, cause))

// ---- Replication ------------------------------------------------------------------------------------------

/// An entry of `origin` was applied here and is visible, or failed to apply and left a hole (FR-8).
struct Applied {
  NodeId origin;
  Position position = 0;
  bool failed = false;
};
BOOST_DESCRIBE_STRUCT(Applied, (), (origin, position, failed))

/// Positions [from, to] of `origin` will never arrive by the stream: purged before they were delivered.
struct GapFound {
  NodeId origin;
  Position from = 0;
  Position to = 0;
};
BOOST_DESCRIBE_STRUCT(GapFound, (), (origin, from, to))

struct HoleRepaired {
  NodeId origin;
  Position position = 0;
};
BOOST_DESCRIBE_STRUCT(HoleRepaired, (), (origin, position))

struct TombstoneReclaimed {
  KeyId key;
};
BOOST_DESCRIBE_STRUCT(TombstoneReclaimed, (), (key))

// ---- Harness ----------------------------------------------------------------------------------------------

struct NodeStarted {
  std::uint32_t start = 1;
};
BOOST_DESCRIBE_STRUCT(NodeStarted, (), (start))

/// Volatile state is gone; `lostCommits` submitted commits had not become durable.
struct NodeCrashed {
  std::uint32_t lostCommits = 0;
};
BOOST_DESCRIBE_STRUCT(NodeCrashed, (), (lostCommits))

struct NodePaused {};
BOOST_DESCRIBE_STRUCT(NodePaused, (), ())
struct NodeResumed {};
BOOST_DESCRIBE_STRUCT(NodeResumed, (), ())

/// The record-lock coordinator was re-created inside a living process (BD-4).
struct CoordinatorReplaced {};
BOOST_DESCRIBE_STRUCT(CoordinatorReplaced, (), ())

/// The link from this node to `to` was cut or healed, one way.
struct LinkCut {
  NodeId to;
};
BOOST_DESCRIBE_STRUCT(LinkCut, (), (to))
struct LinkHealed {
  NodeId to;
};
BOOST_DESCRIBE_STRUCT(LinkHealed, (), (to))

/// From this true instant on, the node's monotonic clock reads `local` and advances by 1 + ratePpb·1e-9.
struct ClockRate {
  MonotonicInstant local;
  std::int64_t ratePpb = 0;
};
BOOST_DESCRIBE_STRUCT(ClockRate, (), (local, ratePpb))

/// From this true instant on, the node's wall clock reads `wall`.
struct WallSet {
  WallInstant wall;
  std::int64_t ratePpb = 0;
};
BOOST_DESCRIBE_STRUCT(WallSet, (), (wall, ratePpb))

struct MessageSent {
  std::uint64_t id = 0;
  NodeId to;
  MessageKind message = MessageKind::lockRequest;
  KeyId key;
};
BOOST_DESCRIBE_STRUCT(MessageSent, (), (id, to, message, key))

struct MessageDelivered {
  std::uint64_t id = 0;
  NodeId from;
  MessageKind message = MessageKind::lockRequest;
};
BOOST_DESCRIBE_STRUCT(MessageDelivered, (), (id, from, message))

/// `id` is 0 for what was rejected where it should have been sent, and never left.
struct MessageLost {
  std::uint64_t id = 0;
  NodeId to;
  MessageKind message = MessageKind::lockRequest;
  LossReason why = LossReason::random;
};
BOOST_DESCRIBE_STRUCT(MessageLost, (), (id, to, message, why))

/// A record or counter reached the disk with an fsync: the unit of the cost table's "durable commits".
struct DurableWrite {
  EntryKind entry = EntryKind::transaction;
  bool metadata = false;
};
BOOST_DESCRIBE_STRUCT(DurableWrite, (), (entry, metadata))

struct PhaseChanged {
  Phase phase = Phase::faults;
};
BOOST_DESCRIBE_STRUCT(PhaseChanged, (), (phase))

/// At the end of a run: what this node's replica holds for `key`. `stamps` and `origins` are those that won.
struct FinalRecord {
  KeyId key;
  FieldMask present = 0;
  std::array<TxnId, kRecordFields> writers{};
  FieldValues values{};
};
BOOST_DESCRIBE_STRUCT(FinalRecord, (), (key, present, writers, values))

/// At the end of a run: how much of `what` this node keeps, and the most it may keep.
struct RetainedCount {
  Retained what = Retained::grants;
  std::uint64_t count = 0;
  std::uint64_t bound = 0;
};
BOOST_DESCRIBE_STRUCT(RetainedCount, (), (what, count, bound))

using Observation = std::variant<
    LockRequested, Admitted, Reentered, LockRefused, Unlocked, Revoked, Read, Staged, Submitted,
    AttemptAborted, Settled, WriteRefused, UnlockedWritesChecked, Granted, Denied, Queued, Installed,
    GrantRejected, HandedBack, HandBackSeen, RecallSent, RecallFailed, AdmissionClosed, Drained,
    DelegationLapsed, ControlAppended, ReleaseSeen, GrantExpired, LineageLost, FenceWaiting, FenceSatisfied,
    BarrierStarted, BarrierMeasured, BarrierSkipped, BarrierDone, RecoveryJoined, MembershipRenewed,
    MembershipLapsed, ProposalStarted, ProposalAbandoned, ReservationMade, MembershipPromised,
    MembershipAccepted, MembershipDecided, MembershipInstalled, MembershipActive, CertificateRefused,
    MembershipJoining, HomeMapStaged, HomeMapAcknowledged, HomeMapFenced, HomeMapRefused, HomeMapActivated,
    CoordinatorStarted, MessageRefused, Applied, GapFound, HoleRepaired, TombstoneReclaimed, NodeStarted,
    NodeCrashed, NodePaused, NodeResumed, CoordinatorReplaced, LinkCut, LinkHealed, ClockRate, WallSet,
    MessageSent, MessageDelivered, MessageLost, DurableWrite, PhaseChanged, FinalRecord, RetainedCount>;

static_assert(std::is_trivially_copyable_v<Observation>);

/// An observation with the true instant at which, and the node at which, it was made.
struct Stamped {
  TrueInstant at;
  NodeId node;
  Observation what;
};

/// When and where, as passed to a checker beside the typed observation.
struct Stamp {
  TrueInstant at;
  NodeId node;
};

}  // namespace holdfast::obs
