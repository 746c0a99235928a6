// The home: the one arbiter of its keys (DG-1), with one delegate a key (DG-3) and a queue of waiters
// (DG-10).
//
// A home's memory is volatile. It forgets a grant only on its exact release, its hand-back, or after it has
// waited out the grant on its own clock; a restarted home waits out everything it may have granted before
// (DG-9).
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/delegation/lineage.hpp"
#include "protocol/env.hpp"

namespace holdfast::protocol {

class Home {
 public:
  /// `quarantineUntil`: grants nothing before (DG-9); longAgo() when no earlier incarnation can have granted.
  Home(const NodeSetup& setup, std::uint32_t incarnation, MonotonicInstant quarantineUntil, bool trusted);

  void onRequest(NodeId from, const LockRequest& request, const Env& env);
  void onHandBack(NodeId from, const LockHandBack& handBack, const Env& env);
  /// A release entry of `author` was applied here, or appended when the author is this node (FR-1, FR-4).
  void onRelease(NodeId author, Position position, const ReleaseEntry& release, const Env& env);
  void onRecallSendFailed(KeyId key, const Env& env);
  void onTimer(TimerKind kind, KeyId key, const Env& env);
  /// Another membership is the acting one: nothing granted or remembered under the one before counts (FR-6).
  void onMembership(const Env& env);
  /// Grants nothing more; waiters are refused (DR-6).
  void shutDown(const Env& env);

  std::size_t grants() const { return grants_; }
  std::size_t waiters() const;
  std::size_t lineageSets() const { return lineage_.size(); }
  void sweep(const Env& env);
  void addTo(StateHash& hash) const;

 private:
  struct Grant {
    bool live = false;
    bool recalling = false;
    bool renewed = false;  // the delegate may have admitted under an earlier token of this grant
    Path path = Path::virgin;
    NodeId delegate;
    Token token;
    RequestId request;
    MonotonicInstant issued;
    MonotonicInstant expires;  // on this home's clock: issue + duration + skew (DG-3)
  };
  struct Waiter {
    NodeId requester;
    RequestId request;
    MonotonicInstant deadline;
  };
  struct Seen {
    NodeId requester;
    RequestId request;
  };
  struct Key {
    Grant grant;
    boost::container::small_vector<Waiter, 4> waiters;
    boost::container::small_vector<Seen, 4> seen;  // the latest request of each requester (DG-6)
    MonotonicInstant touched = MonotonicInstant::longAgo();
    std::uint64_t counter = 0;  // only without TK3_TokenOutlivesRecord
  };

  Cause refusal(NodeId from, const LockRequest& request, const Env& env) const;
  Duration untilGrants(Cause cause, const Env& env) const;
  static Cause whyWait(const Key& state, NodeId requester);
  void deny(NodeId to, RequestId request, KeyId key, Cause cause, Duration retryAfter, const Env& env) const;
  /// Whether this request was met before, or is older than one that was; remembers it otherwise.
  bool duplicate(Key& state, NodeId from, RequestId request);
  void requestFromDelegate(Key& state, NodeId from, const LockRequest& request, bool old, const Env& env);
  void enqueue(Key& state, NodeId from, const LockRequest& request, const Env& env);
  bool roomFor(KeyId key, NodeId requester, const Env& env);
  void grant(Key& state, KeyId key, NodeId to, RequestId request, bool renewal, const Env& env);
  void sendGrant(const Key& state, KeyId key, const Env& env) const;
  Token mint(Key& state, KeyId key, const Env& env);
  void recall(Key& state, KeyId key, const Env& env);
  void clear(Key& state, KeyId key, const Env& env);
  void expire(Key& state, KeyId key, const Env& env);
  void serve(Key& state, KeyId key, const Env& env);
  void dropLateWaiters(Key& state, KeyId key, const Env& env);
  void armWaiterTimer(const Key& state, KeyId key, const Env& env) const;
  std::uint32_t& requesterCount(KeyId key, NodeId requester, const Env& env);

  std::vector<Key> keys_;                     // index: KeyId
  std::vector<std::uint32_t> grantsOfTable_;  // index: table
  // Index: node; without BD1_CapsOverTables table * nodes + node.
  std::vector<std::uint32_t> grantsOfRequester_;
  Lineage lineage_;
  std::uint32_t incarnation_ = 0;
  std::uint64_t counter_ = 0;
  std::size_t grants_ = 0;
  MonotonicInstant quarantineUntil_;
  bool shutDown_ = false;
};

}  // namespace holdfast::protocol
