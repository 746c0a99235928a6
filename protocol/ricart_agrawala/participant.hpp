// A participant of Ricart-Agrawala: it asks everybody for what its callers want, and grants what others ask.
//
// RA-1: to lock a key a node appends a request to its log and enters once every participant, itself included,
// has granted it. RA-2: requests are ordered by (stamp, name of the requester), and whoever asks takes a
// stamp beyond all it has seen. RA-3: a participant that holds the key, or whose own request comes first,
// grants only when it has left; each grant is an entry of its log behind all that it wrote under the lock, so
// that whoever has applied the grants has applied the writes. RA-4: a request whose callers are gone is
// withdrawn and grants for it are void; a lease ends what its caller does not.
//
// Nothing here rests on clocks that agree: the holder itself grants its successor. The price is P+1
// commits and P*P-1 deliveries for every lock, repeated or not (RA-5), and that one silent participant blocks
// every key (RA-6). A waiter can not tell it from one that defers: it gets a 423 only if a grant came from
// somebody who had held the key meanwhile, or if one of those that are missing says so, whom it asks shortly
// before its deadline, naming how long it has waited.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/delegation/sessions.hpp"
#include "protocol/env.hpp"
#include "protocol/node_set.hpp"
#include "protocol/ricart_agrawala/request_table.hpp"

namespace holdfast::protocol {

struct ParticipantEnv : LocalEnv {
  Sessions& sessions;
  RequestTable& requests;
};

class Participant {
 public:
  explicit Participant(const NodeSetup& setup);

  /// Grants what an earlier incarnation had left open: whoever was inside then is not any more.
  void boot(const ParticipantEnv& env);

  // ---- Callers
  void lock(const CallLock& call, const ParticipantEnv& env);
  void reenter(const CallReenter& call, const ParticipantEnv& env);
  /// Handles or transactions of these keys have changed.
  void onTouched(const TouchedKeys& touched, const ParticipantEnv& env);

  // ---- The log
  /// A request of `requester` is visible here.
  void onRequest(NodeId requester, const RequestEntry& request, const ParticipantEnv& env);
  /// A grant by `grantor` is visible here, at `position` of its log.
  void onGrant(NodeId grantor, Position position, const GrantEntry& grant, const ParticipantEnv& env);
  /// The commit of a request or grant of this node failed.
  void onCommitFailed(const PendingCommit& failed, const ParticipantEnv& env);
  /// Something else became visible, or a hole was closed.
  void onProgress(const ParticipantEnv& env);

  void onMessage(NodeId from, const Message& message, const ParticipantEnv& env);
  void onTimer(TimerKind kind, KeyId key, const ParticipantEnv& env);

  // ---- Administration
  /// Callers are told 503 shutdown, and nobody is admitted to the table's keys any more (DR-6).
  void dropTable(std::uint16_t table, const ParticipantEnv& env);
  void shutDown(const ParticipantEnv& env);
  /// The lock service is re-created in the living process: callers end, handles are fenced (BD-4).
  void abandonAll(const ParticipantEnv& env);

  std::size_t localWaiters() const;
  void addTo(StateHash& hash) const;

 private:
  struct Caller {
    CallId call;
    MonotonicInstant since;  // waiting
    MonotonicInstant deadline;
    Duration lease;
    bool hold = false;
    bool probed = false;       // those who are missing were asked whether they hold the key
    std::uint32_t stamp = 0;   // of the request, if that was made with this caller waiting already
    Cause last = Cause::none;  // contended: somebody said so
  };

  struct Key {
    std::vector<Caller> callers;  // in the order of their arrival
    CallId inside;                // the handle in its critical section
    // When the section inside ends by its lease; with nobody inside, when the last one ended.
    MonotonicInstant until = MonotonicInstant::longAgo();
    std::uint32_t stamp = 0;  // of the own request: wanted, or held while somebody is inside; 0: none
    NodeSet granted;          // who has granted it
    DependencySet grants;     // and where (RA-3)
  };

  bool isParticipant(NodeId node) const;
  bool closed(KeyId key, const ParticipantEnv& env) const;
  void advance(KeyId key, const ParticipantEnv& env);
  void request(Key& state, KeyId key, const ParticipantEnv& env);
  void withdraw(Key& state, const ParticipantEnv& env);
  bool allGranted(const Key& state, const ParticipantEnv& env) const;
  bool mayAdmit(const Key& state, KeyId key, const ParticipantEnv& env);
  void admitNext(Key& state, KeyId key, const ParticipantEnv& env);
  void leave(Key& state, KeyId key, CallId call, const ParticipantEnv& env);
  void lapseInside(Key& state, KeyId key, const ParticipantEnv& env);
  void expel(Key& state, KeyId key, const ParticipantEnv& env);

  bool comesFirst(const Key& state, const OpenRequest& other, const ParticipantEnv& env) const;
  bool mayGrant(const Key& state, KeyId key, OpenRequest& request, const ParticipantEnv& env);
  void grantOpen(Key& state, KeyId key, const ParticipantEnv& env);
  void count(NodeId grantor, Position position, const GrantEntry& grant, const ParticipantEnv& env);

  void refuse(const Caller& caller, KeyId key, Cause cause, const ParticipantEnv& env) const;
  void refuseAll(Key& state, KeyId key, Cause cause, const ParticipantEnv& env);
  void refuseLate(Key& state, KeyId key, const ParticipantEnv& env);
  Cause whyLate(const Key& state, KeyId key, const Caller& caller, const ParticipantEnv& env) const;
  void probe(Key& state, KeyId key, const ParticipantEnv& env) const;
  void onProbe(NodeId from, const LockRequest& probe, const ParticipantEnv& env);
  void onDeny(const LockDeny& deny);
  void armTimers(const Key& state, KeyId key, const ParticipantEnv& env) const;

  std::vector<NodeId> participants_;  // sorted
  std::vector<Key> keys_;             // index: KeyId
  std::vector<bool> droppedTables_;
  std::vector<KeyId> fencing_;  // keys that have all grants but not all that lies before them
  bool shutDown_ = false;
};

}  // namespace holdfast::protocol
