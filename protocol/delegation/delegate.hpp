// The delegate: a node's right to admit critical sections on a key, from the request to the release.
//
// For each key it keeps the local callers in arrival order (LH-1), at most one acquisition under way that all
// of them share, and at most one delegation. advance() moves a key on as far as it goes: it asks the home,
// waits for the fence, admits the next caller. A recall, or the node's own wish to let go, drains the
// delegation in four steps (DR-1..4).
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <vector>

#include "protocol/delegation/barriers.hpp"
#include "protocol/delegation/sessions.hpp"
#include "protocol/env.hpp"

namespace holdfast::protocol {

class Delegate {
 public:
  Delegate(const NodeSetup& setup, std::uint32_t incarnation);

  // ---- Local callers ----
  void lock(const CallLock& call, const Env& env);
  void reenter(const CallReenter& call, const Env& env);
  /// Handles of the key were unlocked or its transactions settled.
  void onTouched(const TouchedKeys& touched, const Env& env);

  // ---- From the home ----
  void onGrant(NodeId from, const LockGrant& grant, const Env& env);
  void onDeny(NodeId from, const LockDeny& deny, const Env& env);
  /// `worker`: the thread that the recall arrived on.
  void onRecall(NodeId from, const LockRecall& recall, std::uint8_t worker, const Env& env);
  void onBarrierReply(NodeId from, const BarrierReply& reply, const Env& env);

  // ---- From the node ----
  void onTimer(TimerKind kind, KeyId key, const Env& env);
  /// Something was applied or repaired: fences and barriers may be satisfied now.
  void onProgress(const Env& env);
  /// The membership has become live.
  void onLive(const Env& env);
  /// Another membership is the acting one; what was asked or held under the one before is let go of.
  void onMembership(MonotonicInstant oldDeadline, const Env& env);
  /// The append of a release entry is over.
  void onReleaseDone(const ReleaseEntry& release, CommitOutcome outcome, const Env& env);

  // ---- Administration ----
  void drop(KeyId key, const Env& env);
  void dropTable(std::uint16_t table, const Env& env);
  void shutDown(const Env& env);
  /// The coordinator is about to be re-created: callers settle, handles are fenced (BD-4).
  void abandonAll(const Env& env);

  std::size_t delegations() const;
  std::size_t localWaiters() const;
  std::size_t barriers() const { return barriers_.size(); }
  void addTo(StateHash& hash) const;

 private:
  struct Caller {
    CallId call;
    MonotonicInstant deadline;
    Duration lease;
    bool hold = false;
    Cause last = Cause::none;  // the latest valid observation of why it has to wait
  };

  enum class Drain : std::uint8_t { none, grace, settling, releasing, failed };

  struct Delegation {
    bool installed = false;
    bool fenced = false;  // what the predecessors wrote is visible here
    bool used = false;    // somebody may have been admitted under it
    bool recalled = false;
    bool renewedFromForgotten = false;  // the home renewed a grant that had lapsed here
    Drain drain = Drain::none;
    Path path = Path::virgin;
    std::uint32_t grant = 0;  // tells this node's delegations apart
    NodeId home;
    Token token;
    MonotonicInstant deadline;
    DependencySet dependencies;
  };

  struct Key {
    boost::container::small_vector<Caller, 4> callers;
    Delegation delegation;
    CallId inside;                // the admitted caller's handle; none when the critical section is free
    bool asking = false;          // a request is out and unanswered, or queued at the home
    bool askedBefore = false;     // an earlier attempt of this acquisition went unanswered
    RequestId request;            // the one out
    MonotonicInstant sentAt;      // when it was sent (DG-4)
    MonotonicInstant askAgainAt;  // when it counts as unanswered
    MonotonicInstant askNotBefore = MonotonicInstant::longAgo();
    Token lastInstalled;  // hand-backs never name this token or an older one
  };

  // acquisition (delegate.cpp)
  void advance(KeyId key, const Env& env);
  bool mayAdmit(Key& state, KeyId key, const Env& env);
  static FenceState fenceOf(const Delegation& delegation, KeyId key, const Env& env);
  void ask(Key& state, KeyId key, const Env& env);
  void admitNext(Key& state, KeyId key, const Env& env);
  MonotonicInstant boundedDeadline(const Delegation& delegation, Duration lease, Rule rule,
                                   const Env& env) const;
  void refuse(const Caller& caller, KeyId key, Cause cause, const Env& env) const;
  void refuseAll(Key& state, KeyId key, Cause cause, const Env& env);
  void refuseLate(Key& state, KeyId key, const Env& env);
  Cause whyLate(const Key& state, KeyId key, const Caller& caller, const Env& env) const;
  void armCallerTimer(const Key& state, KeyId key, const Env& env) const;
  void askAgainBy(Key& state, KeyId key, MonotonicInstant deadline, const Env& env) const;
  void leave(Key& state, KeyId key, CallId call, const Env& env);
  void concludeBarriers(const Env& env);
  void lapseInside(Key& state, KeyId key, const Env& env);

  // grants (delegate_grant.cpp)
  void install(Key& state, const LockGrant& grant, MonotonicInstant deadline, const Env& env);
  void reject(Key& state, NodeId home, const LockGrant& grant, obs::GrantRejection why, const Env& env);

  // recall and drain (drain.cpp)
  void beginDrain(Key& state, KeyId key, bool recalled, const Env& env);
  void continueDrain(Key& state, KeyId key, const Env& env);
  void release(Key& state, KeyId key, const Env& env);
  void failDrain(Key& state, KeyId key, Cause cause, const Env& env);
  void handBack(NodeId home, KeyId key, const Token& token, const Env& env) const;
  void lapseDelegation(Key& state, KeyId key, const Env& env);
  void forget(Key& state, KeyId key, const Env& env);
  bool closed(KeyId key, const Env& env) const;

  std::vector<Key> keys_;  // index: KeyId
  std::vector<bool> droppedTables_;
  std::vector<KeyId> fencing_;  // keys that wait for their fence; may name some that no longer do
  Barriers barriers_;
  std::uint32_t incarnation_ = 0;
  std::uint32_t sequence_ = 0;  // of requests
  std::uint32_t grants_ = 0;    // installed
  bool shutDown_ = false;
};

}  // namespace holdfast::protocol
