// The acceptor (EP-2, EP-3, EP-4, EP-7, EP-10): what a member has promised and accepted for the successor of
// its configuration, and until when it must take the configuration for live somewhere.
//
// A promise or an acceptance changes the state at once and is answered only when it is durable. Whatever came
// in between and overtook it turns the answer into a rejection.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/membership/environment.hpp"

namespace holdfast::protocol {

/// A duration measured on one clock, as long as it may take on another (EP-8): rounded up.
Duration onAnotherClock(Duration duration, const ProtocolOptions& options);

/// An answer, and whom it is for; the acceptor's own node may be that.
struct Answer {
  NodeId to;
  Message message;
};

class Acceptor {
 public:
  /// Takes up what was found on the disk for `next`; a record for another number is over.
  void restore(const AcceptorRecord& durable, MembershipNumber next, const MembershipEnv& env);
  /// EP-10: whatever was reserved before the restart counts as reserved anew.
  void reserveAfterRestart(const MembershipEnv& env);
  /// `next` is to be decided now. Reservations stay: nobody else remembers them.
  void begin(MembershipNumber next);

  /// EP-3: whether the present configuration is renewed here no longer.
  bool retired() const { return record_.promised.valid(); }
  /// When agreement on the successor has come to a halt, if nothing is installed before; never() when no
  /// promise was made.
  MonotonicInstant stallsAt() const { return stallsAt_; }
  const Ballot& promised() const { return record_.promised; }

  /// EP-7: acknowledges a renewal of `number` by `holder`.
  void reserve(MembershipNumber number, NodeId holder, const MembershipEnv& env);

  /// EP-2. The sender is a member and `prepare` is for the number that is to be decided. A rejection comes at
  /// once, a promise with onPersisted() (at once without EP2_PersistPromise).
  std::optional<Answer> onPrepare(NodeId from, const MembershipPrepare& prepare, MonotonicInstant carried,
                                  const MembershipEnv& env);
  /// EP-4, likewise. The value is well formed.
  std::optional<Answer> onAccept(NodeId from, const MembershipAccept& accept, const MembershipEnv& env);
  /// The record of this sequence is durable. `carried`: until when predecessors are protected here (EP-9).
  std::optional<Answer> onPersisted(const PersistDone& done, MonotonicInstant carried,
                                    const MembershipEnv& env);

  /// Until when the accepted value's protection runs here, if `configuration` is what was accepted (EP-9).
  std::optional<MonotonicInstant> protectionOf(const Configuration& configuration) const;

  /// Counts records anew; only while none is under way.
  void renumber() {
    if (pending_.empty()) sequence_ = 0;
  }
  void addTo(StateHash& hash) const;

 private:
  struct Pending {
    std::uint32_t sequence = 0;
    NodeId to;
    Ballot ballot;
    bool acceptance = false;
    std::uint64_t start = 0;  // of the proposer (EP-14)
  };

  void retire(const Ballot& ballot, const MembershipEnv& env);
  std::optional<Answer> write(Pending pending, Rule rule, MonotonicInstant carried, const MembershipEnv& env);
  Answer answer(const Pending& pending, MonotonicInstant carried, const MembershipEnv& env) const;
  Answer promise(const Pending& pending, MonotonicInstant carried, const MembershipEnv& env) const;
  Answer acceptance(const Pending& pending, const MembershipEnv& env) const;

  AcceptorRecord record_;  // of the number that is to be decided
  MonotonicInstant stallsAt_ = MonotonicInstant::never();
  MonotonicInstant reservedUntil_ = MonotonicInstant::longAgo();
  MonotonicInstant acceptedUntil_ = MonotonicInstant::longAgo();  // protection of the accepted value
  std::vector<Pending> pending_;                                  // being written, in order
  std::uint32_t sequence_ = 0;                                    // of records
};

}  // namespace holdfast::protocol
