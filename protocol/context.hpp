// The boundary of a node: inputs come in, effects go out, and nothing else passes.
//
// `Node::handle(input, context)` is the only entry. The context gives the node's own clock readings and a
// buffer for its effects; whoever drives the node (simulator, explorer, real sockets) carries the effects out
// after handle() returned and feeds their completions back as inputs.
//
// A node has one alarm clock: Node::nextWake() is the reading of its monotonic clock at which it wants a
// Wake.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "observations/observation.hpp"
#include "protocol/log_entry.hpp"
#include "protocol/membership/records.hpp"
#include "protocol/messages.hpp"
#include "protocol/options.hpp"
#include "protocol/replication/record.hpp"
#include "protocol/rules.hpp"

namespace holdfast::protocol {

using obs::CallId;
using obs::ErrorClass;

// ---- Inputs -----------------------------------------------------------------------------------------------

/// The first input of every incarnation. The node's durable state was given to its constructor.
struct Boot {};

/// A message arrived; `from` is authenticated by the transport. `worker`: the worker thread that it arrived
/// on (BD-5).
struct Deliver {
  NodeId from;
  Message message;
  std::uint8_t worker = 0;
};

/// The monotonic clock has reached nextWake(), or passed it while the process was suspended (CK-4).
struct Wake {};

/// A send effect failed at once or later: the peer is gone or its queue refused (DR-6).
struct SendFailed {
  NodeId to;
  MessageKind message = MessageKind::lockRecall;
  KeyId key;
};
BOOST_DESCRIBE_STRUCT(SendFailed, (), (to, message, key))

enum class CommitOutcome : std::uint8_t { committed, aborted, failed };
BOOST_DESCRIBE_ENUM(CommitOutcome, committed, aborted, failed)

/// A commit effect is over. committed: durable, append it now. aborted: may be tried again. failed: for good.
struct CommitDone {
  std::uint32_t commit = 0;
  CommitOutcome outcome = CommitOutcome::committed;
};
BOOST_DESCRIBE_STRUCT(CommitDone, (), (commit, outcome))

/// The record of this kind and sequence is durable (TK-2, EP-2), or writing it failed.
struct PersistDone {
  std::uint32_t sequence = 0;
  bool failed = false;
  RecordKind record = RecordKind::incarnation;
};
BOOST_DESCRIBE_STRUCT(PersistDone, (), (sequence, failed, record))

/// The next received entry of `origin` may be applied now; `failed` makes it a hole (FR-8).
struct ApplyReady {
  NodeId origin;
  bool failed = false;
};
BOOST_DESCRIBE_STRUCT(ApplyReady, (), (origin, failed))

/// The transport to `peer` is up (again): streams must be subscribed anew.
struct PeerUp {
  NodeId peer;
};
BOOST_DESCRIBE_STRUCT(PeerUp, (), (peer))

/// lock(key). Answered by exactly one LockReply. `worker`: the worker thread that the call arrived on (BD-5).
struct CallLock {
  CallId call;
  KeyId key;
  Duration wait;
  Duration lease;
  bool hold = false;
  std::uint8_t worker = 0;
};
BOOST_DESCRIBE_STRUCT(CallLock, (), (call, key, wait, lease, hold, worker))

/// Re-entrant acquisition, or the upgrade to hold, under a live handle (LH-2). Answered by a LockReply.
struct CallReenter {
  CallId call;
  Duration lease;
  bool hold = false;
};
BOOST_DESCRIBE_STRUCT(CallReenter, (), (call, lease, hold))

/// Read the node's own replica; answered at once by a ReadReply. `call` may be none.
struct CallRead {
  CallId call;
  KeyId key;
};
BOOST_DESCRIBE_STRUCT(CallRead, (), (call, key))

/// Stage one write of a transaction under a handle, or unlocked when `call` is none. Answered at once.
struct CallStage {
  TxnId txn;
  CallId call;
  KeyId key;
  WriteOp op = WriteOp::put;
  FieldMask fields = obs::kAllFields;
  FieldValues values{};
  bool callerStamp = false;
  Timestamp stamp;
};
BOOST_DESCRIBE_STRUCT(CallStage, (), (txn, call, key, op, fields, values, callerStamp, stamp))

/// Submit the transaction to native commit. Answered by one TxnReply once the logical transaction is over.
struct CallSubmit {
  TxnId txn;
};
BOOST_DESCRIBE_STRUCT(CallSubmit, (), (txn))

/// Roll the transaction back before it was submitted.
struct CallAbandon {
  TxnId txn;
};
BOOST_DESCRIBE_STRUCT(CallAbandon, (), (txn))

struct CallUnlock {
  CallId call;
};
BOOST_DESCRIBE_STRUCT(CallUnlock, (), (call))

/// Give a key's delegation up early, by the same four steps (DR-5).
struct AdminDrop {
  KeyId key;
};
BOOST_DESCRIBE_STRUCT(AdminDrop, (), (key))

/// The lock coordinator is re-created in the living process: transport swap, component reload (BD-4).
struct AdminReplaceCoordinator {};
BOOST_DESCRIBE_STRUCT(AdminReplaceCoordinator, (), ())

/// Drop own log entries up to `through` (FR-5).
struct AdminPurgeLog {
  Position through = 0;
};
BOOST_DESCRIBE_STRUCT(AdminPurgeLog, (), (through))

/// A failed or missing entry of `origin` was made good by a fresh clone: apply it now (FR-8).
struct AdminRepair {
  NodeId origin;
  Position position = 0;
  LogEntry entry;
};

/// A row as it stands at another node.
struct CopiedRow {
  KeyId key;
  Record record;
};

/// Rows that another node has, all of one copy: what that node has deleted is not among them (FR-8).
struct AdminCopyRows {
  std::vector<CopiedRow> rows;
};

/// The table of `key` goes away: its callers settle with 503 shutdown and admission stays closed (DR-6).
struct AdminDropTable {
  std::uint16_t table = 0;
};
BOOST_DESCRIBE_STRUCT(AdminDropTable, (), (table))

/// EP-13: propose a successor of the present configuration in which `remove` is no member any more and `add`
/// is one, each may be none(). The same node in both restarts its membership: it is admitted with the
/// identity that it has now. Only a member with a live lease proposes; a node to be added must have been
/// heard of.
struct AdminProposeMembership {
  NodeId add;
  NodeId remove;
};
BOOST_DESCRIBE_STRUCT(AdminProposeMembership, (), (add, remove))

/// HM-3: the operator asks this node, whatever its own part, to be the console of the change to `generation`
/// with these homes: to stage it, to wait out what was granted before, and to activate it. The same change
/// given again is taken up again; a greater generation replaces it. Refused with HomeMapRefused.
/// `earlier`: the homes of what the operator has published before and that may be active somewhere. He alone
/// is sure to know them: this node may have missed those maps, and whoever acts on them may be fenced.
struct AdminStageHomeMap {
  std::uint32_t generation = 0;
  std::vector<NodeId> homes;         // in any order
  std::vector<NodeId> earlier = {};  // in any order; the console adds those that it knows
};
BOOST_DESCRIBE_STRUCT(AdminStageHomeMap, (), (generation, homes, earlier))

/// HM-3, HM-5: the operator states to this console that `member` need not acknowledge `generation`.
/// `stopped`: because its process was stopped, and stays so until it can be told of the new generation. A
/// node that is only declared removed is not fenced.
struct AdminFenceHome {
  std::uint32_t generation = 0;
  NodeId member;
  bool stopped = true;
};
BOOST_DESCRIBE_STRUCT(AdminFenceHome, (), (generation, member, stopped))

/// Orderly stop: callers settle, nothing more is admitted or granted (DR-6).
struct AdminShutdown {};
BOOST_DESCRIBE_STRUCT(AdminShutdown, (), ())

using Input =
    std::variant<Boot, Deliver, Wake, SendFailed, CommitDone, PersistDone, ApplyReady, PeerUp, CallLock,
                 CallReenter, CallRead, CallStage, CallSubmit, CallAbandon, CallUnlock, AdminDrop,
                 AdminReplaceCoordinator, AdminPurgeLog, AdminRepair, AdminDropTable, AdminShutdown,
                 AdminProposeMembership, AdminStageHomeMap, AdminFenceHome, AdminCopyRows>;

// ---- Effects ----------------------------------------------------------------------------------------------

struct Send {
  NodeId to;
  Message message;
};

/// Make `entry` durable; the driver answers CommitDone with the same `commit`. The node appends the entry to
/// its log only then (LW-1: commit order). After a crash the driver may find it durable all the same.
struct Commit {
  std::uint32_t commit = 0;
  std::uint32_t attempt = 1;
  LogEntry entry;
};

/// Make the record durable with an fsync; answered by PersistDone with the same kind and sequence. Records of
/// one kind become durable in the order asked. `sequence` is the node's own count for the kind, in an
/// incarnation; of the incarnation counter it is its value.
struct Persist {
  DurableRecord record;
  std::uint32_t sequence = 0;
};

/// Entry `position` of `origin` is received and next in line; answered by ApplyReady after the apply delay.
struct Apply {
  NodeId origin;
  Position position = 0;
};

/// The answer to CallLock and CallReenter: admitted when `error` is none.
struct LockReply {
  CallId call;
  KeyId key;
  ErrorClass error = ErrorClass::none;
  Cause cause = Cause::none;
  Path path = Path::cached;
  Token token;
  Duration lease;  // how long the handle is good for, from now
};

struct ReadReply {
  CallId call;
  KeyId key;
  FieldMask present = 0;
  FieldValues values{};
};

/// The answer to CallStage (at once) and to CallSubmit (when the logical transaction is over).
struct TxnReply {
  TxnId txn;
  bool staged = false;     // answers CallStage
  bool committed = false;  // answers CallSubmit
  ErrorClass error = ErrorClass::none;
  Cause cause = Cause::none;
};

using Reply = std::variant<LockReply, ReadReply, TxnReply>;

/// What handle() asks of its driver, kept by kind in the order asked. Cleared, not freed, between inputs.
struct Effects {
  std::vector<Send> sends;
  std::vector<Commit> commits;
  std::vector<Persist> persists;
  std::vector<Apply> applies;
  std::vector<Reply> replies;
  std::vector<obs::Observation> observations;

  void clear() {
    sends.clear();
    commits.clear();
    persists.clear();
    applies.clear();
    replies.clear();
    observations.clear();
  }
};

/// What a node may know while it handles one input.
struct Context {
  MonotonicInstant now;
  WallInstant wall;
  Effects& out;

  template <class T>
  void observe(T&& observation) const {
    out.observations.emplace_back(std::forward<T>(observation));
  }
  void send(NodeId to, Message message) const { out.sends.push_back({to, std::move(message)}); }
  void reply(Reply reply) const { out.replies.push_back(std::move(reply)); }
};

}  // namespace holdfast::protocol
