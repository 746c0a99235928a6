// The database's side of a lock: handles, the transactions staged under them, and their settlement.
//
// A handle's lease is checked where it counts: when a write is staged and again right before it is submitted
// (CK-4, LH-3). Submission is the point of no return; a transaction is settled once it has committed or
// aborted for good, through all its native attempts (DR-3).
//
// Sessions outlive the lock coordinator: when that is re-created (BD-4), the handles it had admitted are
// here.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <vector>

#include "protocol/env.hpp"

namespace holdfast::protocol {

struct Handle {
  CallId call;
  KeyId key;
  Token token;
  MonotonicInstant deadline;
  WallInstant wallDeadline;  // only without CK5_MonotonicLeases
  Timestamp floor{INT64_MIN};
  std::uint32_t unsettled = 0;  // transactions that staged under it and are not over
  bool hold = false;
  bool unlocked = false;
  bool revoked = false;
  bool lapsed = false;  // its timer has fired

  /// Still inside the critical section, as far as the node's bookkeeping knows.
  bool inside() const { return !unlocked && !revoked && !lapsed; }
};

/// A key whose handles or transactions changed, so that a drain may go on or a local caller may enter.
struct Touched {
  KeyId key;
  CallId unlocked;  // the handle that left its critical section by this; none otherwise
};
using TouchedKeys = boost::container::small_vector<Touched, 4>;

class Sessions {
 public:
  /// Opens a handle; its deadline is already bounded (LH-2).
  Handle& open(CallId call, KeyId key, const Token& token, MonotonicInstant deadline, bool hold,
               Duration lease, const LocalEnv& env);

  Handle* find(CallId call);

  /// Why nothing may be written under the handle now: expired, revoked, or none.
  Cause lapse(const Handle& handle, const LocalEnv& env) const;

  void stage(const CallStage& call, const LocalEnv& env);
  TouchedKeys submit(TxnId txn, const LocalEnv& env);
  TouchedKeys abandon(TxnId txn, const LocalEnv& env);

  /// A native commit of the transaction is over; `position` is where it was appended when it committed.
  TouchedKeys onCommitDone(const TransactionEntry& entry, std::uint32_t attempt, CommitOutcome outcome,
                           Position position, const LocalEnv& env);

  /// LH-4: leaves the critical section; what was staged before may still be submitted.
  TouchedKeys unlock(CallId call, const LocalEnv& env);

  /// The lease timer of the handle fired.
  void noteLapse(CallId call);

  /// DR-2: ends the write capability of the key's handles as if their leases had lapsed.
  void revoke(KeyId key, const LocalEnv& env);

  /// Whether anyone may still write under a handle of the key: inside, or unlocked with something staged.
  bool active(KeyId key, const LocalEnv& env) const;

  /// DR-3: whether a submitted transaction that wrote the key under a handle is not over.
  bool settling(KeyId key) const;

  /// BD-2: drops handles that are over and have nothing unsettled.
  void sweep(const LocalEnv& env);

  std::size_t handles() const { return handles_.size(); }
  std::size_t transactions() const { return transactions_.size(); }
  void addTo(StateHash& hash) const;

 private:
  struct Transaction {
    TxnId txn;
    bool submitted = false;
    bool locked = false;  // a write of it stands under a handle
    Writes writes;
    boost::container::small_vector<CallId, 1> calls;  // the handle of each write; none for an unlocked one
  };

  Transaction* findTransaction(TxnId txn);
  /// The first handle under which the transaction must not be submitted now; none when it may.
  Cause refusal(const Transaction& txn, CallId& call, KeyId& key, const LocalEnv& env);
  void refuse(const Transaction& txn, CallId call, KeyId key, Cause cause, bool staging, const LocalEnv& env);
  void announce(const Transaction& txn, std::uint32_t attempt, const LocalEnv& env);
  TouchedKeys finish(Transaction& txn, const LocalEnv& env);
  void dropIfOver(CallId call, const LocalEnv& env);

  std::vector<Handle> handles_;            // sorted by call
  std::vector<Transaction> transactions_;  // sorted by txn
};

}  // namespace holdfast::protocol
