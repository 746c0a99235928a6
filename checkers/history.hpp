// The facts of a run that several checkers need: nodes and their clocks, calls, transactions, writes, the
// order of critical sections, and what each replica shows. It judges nothing.
//
// History consumes each observation before the checkers do, so they all see the state with that observation
// in it. It is a plain value of flat tables; copying one copies a run's past, which is what an explorer
// needs.
#pragma once

#include <boost/container/small_vector.hpp>
#include <vector>

#include "checkers/flat_table.hpp"
#include "checkers/node_clock.hpp"
#include "checkers/replica_view.hpp"
#include "observations/observation.hpp"

namespace holdfast::checkers {

using obs::CallId;
using obs::KeyId;
using obs::NodeId;
using obs::Position;
using obs::Stamp;
using obs::TrueInstant;
using obs::TxnId;

inline constexpr std::uint32_t kNothing = 0xffffffff;

enum class CallState : std::uint8_t { unknown, pending, live, unlocked, revoked, refused };

/// A caller's call and the handle and critical section that it became. `live` holds until Unlocked or Revoked
/// is observed; whether the lease has run out is asked of the node's clock.
struct Call {
  CallState state = CallState::unknown;
  obs::Path path = obs::Path::cached;
  std::uint8_t answers = 0;
  bool behind = false;    // another call of its node waited for the key when this one was made
  bool stray = false;     // its latest answer came while it was not waiting
  bool admitted = false;  // it has been a handle
  NodeId node;
  KeyId key;
  std::uint32_t crashes = 0;       // of its node, when it was made
  std::uint32_t replacements = 0;  // of its node's coordinator, when it was admitted
  std::uint32_t rank = 0;          // ordinal of its section among the key's, from 1
  CallId nextSection;              // the key's next section
  std::uint32_t order = 0;         // of its admission, among admissions and submissions
  TrueInstant requestedAt;
  TrueInstant admittedAt;
  TrueInstant endedAt;  // of Unlocked or Revoked, the earlier
  TrueInstant revokedAt;
  obs::MonotonicInstant requestedLocal;
  obs::MonotonicInstant deadline;
  obs::Duration wait;
  obs::Duration pausedBefore;  // how long its node had been paused in all when it was made
};

enum class TxnState : std::uint8_t { unknown, staged, submitted, refused, committed, aborted };

struct Txn {
  TxnState state = TxnState::unknown;
  bool recovered = false;
  std::uint8_t settlements = 0;
  NodeId node;
  std::uint8_t refusals = 0;  // of a stage or a submission
  std::uint32_t submissions = 0;
  std::uint32_t crashes = 0;  // of its node, when it was last staged or submitted
  Position position = 0;
  std::uint32_t firstWrite = kNothing;
  std::uint32_t lastWrite = kNothing;
  std::uint32_t order = 0;  // of its first submission, among admissions and submissions; 0: none
  TrueInstant submittedAt;
  TrueInstant settledAt;
};

struct Write {
  TxnId txn;
  CallId call;
  KeyId key;
  obs::WriteOp op = obs::WriteOp::put;
  obs::FieldMask fields = 0;
  bool callerStamp = false;
  obs::Timestamp stamp;
  TrueInstant stagedAt;
  obs::FieldValues values{};
  std::uint32_t nextOfTxn = kNothing;

  /// The fields whose content this write decides: a put and an erase decide all.
  obs::FieldMask touched() const {
    return op == obs::WriteOp::put || op == obs::WriteOp::erase ? obs::kAllFields : fields;
  }
  /// The fields that hold a value after it.
  obs::FieldMask leavesPresent() const { return op == obs::WriteOp::erase ? obs::FieldMask{0} : fields; }
};

struct NodeFacts {
  NodeClock clock;
  bool up = true;
  bool paused = false;
  bool member = false;
  std::uint32_t crashes = 0;
  std::uint32_t replacements = 0;
  TrueInstant crashedAt;
  TrueInstant startedAt;
  TrueInstant pausedAt;
  TrueInstant resumedAt;
  obs::MonotonicInstant pausedAtLocal;
  obs::Duration pausedInAll;  // on the node's own clock, as its callers' waits are
  obs::MonotonicInstant membershipDeadline;
};

/// What a re-entry found. `inside`: the call was in its section up to then. `fresh`: it had not been
/// answered, so that the re-entry admits it.
struct Reentry {
  CallState state = CallState::unknown;
  bool inside = false;
  bool fresh = false;
  bool lapsed = false;
  TrueInstant lapsedAt;
};

struct KeyFacts {
  /// Admitted calls whose end has not been observed; those that lapsed are swept when a successor comes.
  boost::container::small_vector<CallId, 4> open;
  /// Calls that wait.
  boost::container::small_vector<CallId, 4> pending;
  CallId firstSection;
  CallId lastSection;
  std::uint32_t sections = 0;
  /// The latest end of a critical section on this key, as far as it was swept.
  TrueInstant lastEnd{INT64_MIN};
};

class History {
 public:
  void reserveNodes(std::size_t nodes);

  void on(const Stamp& stamp, const obs::LockRequested& event);
  void on(const Stamp& stamp, const obs::Admitted& event);
  void on(const Stamp& stamp, const obs::Reentered& event);
  void on(const Stamp& stamp, const obs::LockRefused& event);
  void on(const Stamp& stamp, const obs::Unlocked& event);
  void on(const Stamp& stamp, const obs::Revoked& event);
  void on(const Stamp& stamp, const obs::Staged& event);
  void on(const Stamp& stamp, const obs::Submitted& event);
  void on(const Stamp& stamp, const obs::Settled& event);
  void on(const Stamp& stamp, const obs::WriteRefused& event);
  void on(const Stamp& stamp, const obs::MembershipRenewed& event);
  void on(const Stamp& stamp, const obs::MembershipLapsed& event);
  void on(const Stamp& stamp, const obs::Applied& event);
  void on(const Stamp& stamp, const obs::GapFound& event);
  void on(const Stamp& stamp, const obs::HoleRepaired& event);
  void on(const Stamp& stamp, const obs::TombstoneReclaimed& event);
  void on(const Stamp& stamp, const obs::NodeStarted& event);
  void on(const Stamp& stamp, const obs::NodeCrashed& event);
  void on(const Stamp& stamp, const obs::NodePaused& event);
  void on(const Stamp& stamp, const obs::NodeResumed& event);
  void on(const Stamp& stamp, const obs::CoordinatorReplaced& event);
  void on(const Stamp& stamp, const obs::ClockRate& event);
  void on(const Stamp& stamp, const obs::PhaseChanged& event);

  // ---- Nodes
  const NodeFacts& node(NodeId id) const;
  std::size_t nodes() const { return nodes_.size(); }
  /// Whether any node ever renewed a membership: without one, EP-6 can not be judged.
  bool membershipSeen() const { return membershipSeen_; }
  /// How long `id` has been paused in all until `at`, on its own clock.
  obs::Duration pausedInAll(NodeId id, TrueInstant at) const;

  // ---- Calls and sections
  const Call& call(CallId id) const;
  /// Of the latest Reentered.
  const Reentry& reentry() const { return reentry_; }
  std::size_t calls() const { return calls_.size(); }
  const KeyFacts& key(KeyId id) const;
  std::size_t keys() const { return keys_.size(); }
  /// Whether the node that holds this handle forgot it in a crash.
  bool lostInCrash(const Call& call) const { return node(call.node).crashes != call.crashes; }
  /// Whether the critical section certainly still goes on at `at`: neither ended nor lapsed nor lost.
  bool surelyInside(const Call& call, TrueInstant at) const {
    return call.state == CallState::live && !lostInCrash(call) &&
           node(call.node).clock.surelyBefore(call.deadline, at);
  }
  bool surelyLapsed(const Call& call, TrueInstant at) const {
    return node(call.node).clock.surelyReached(call.deadline, at);
  }

  // ---- Writes
  const Txn& txn(TxnId id) const;
  std::size_t txns() const { return txns_.size(); }
  const Write& write(std::uint32_t index) const { return writes_[index]; }
  std::size_t writes() const { return writes_.size(); }
  /// The last write of `txn` that decides `field` of `key`, or null.
  const Write* writeOf(TxnId txn, KeyId key, unsigned field) const;
  /// LW-3: whether `a` wins against `b`. The origin of a write is the node of its transaction.
  bool outranks(const Write& a, const Write& b) const;
  /// LW-3's one excuse for a field of `key` that `node` shows to be of `writer`: the node has forgotten an
  /// erase there, and what it shows contains a write that outlives an erase. Such a write stands wherever the
  /// erase is forgotten, and nowhere else. `retention`: see outlivesErase().
  bool showsForgottenErase(NodeId node, KeyId key, unsigned field, TxnId writer,
                           obs::Duration retention) const;
  /// Whether an erase outranks `write`, which was logged later than `retention`, in true time, after it
  /// (0: erases are kept for ever). What was logged before that is kept out however late it comes.
  bool outlivesErase(const Write& write, obs::Duration retention) const;
  /// Whether the committed transaction's writes show in `node`'s replica.
  bool visible(NodeId node, const Txn& txn) const;
  const ReplicaView& replica(NodeId node, NodeId origin) const;
  /// Whether `node` has ever reclaimed a tombstone of `key`.
  bool reclaimed(KeyId key, NodeId node) const;

  // ---- Phases
  bool phased() const { return phased_; }
  bool ended() const { return phase_ == obs::Phase::end; }
  bool healed() const { return phased_ && phase_ != obs::Phase::faults; }
  TrueInstant healedAt() const { return healedAt_; }

  std::uint64_t admissions() const { return admissions_; }

 private:
  const Write* baseOf(NodeId node, KeyId key, unsigned field, const Write& top) const;
  bool outrankedByErase(const Write& write) const;
  void sweep(KeyFacts& key, TrueInstant at);
  void end(Call& call, CallState state, TrueInstant at);
  void begin(CallId id, const Stamp& stamp, KeyId keyId, obs::Path path, obs::MonotonicInstant deadline);

  FlatTable<NodeFacts> nodes_;
  FlatTable<Call> calls_;
  FlatTable<KeyFacts> keys_;
  FlatTable<Txn> txns_;
  std::vector<Write> writes_;
  NodeMatrix<ReplicaView> replicas_;    // [node][origin]
  NodeMatrix<std::uint8_t> reclaimed_;  // [key][node]
  Reentry reentry_;
  std::uint64_t admissions_ = 0;
  std::uint32_t order_ = 0;  // admissions and submissions so far
  TrueInstant healedAt_ = TrueInstant::never();
  obs::Phase phase_ = obs::Phase::faults;
  bool phased_ = false;
  bool membershipSeen_ = false;
};

}  // namespace holdfast::checkers
