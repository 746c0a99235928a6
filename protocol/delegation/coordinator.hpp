// The record-lock coordinator of a node: home and delegate together, for one coordination incarnation.
//
// A coordinator works only once its incarnation number is durable (TK-2). When it is constructed over an
// incarnation that may have granted before, it is quarantined as a home (DG-9).
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/delegation/delegate.hpp"
#include "protocol/delegation/home.hpp"

namespace holdfast::protocol {

class Coordinator {
 public:
  /// `incarnation` is the one to become durable; `mayHaveGranted`: an earlier one existed.
  Coordinator(const NodeSetup& setup, std::uint32_t incarnation, bool mayHaveGranted, MonotonicInstant now);

  /// Asks for the incarnation to be made durable.
  void begin(const Env& env);
  void onPersisted(const PersistDone& done, const Env& env);
  /// Works from now on under its incarnation.
  void run(const Env& env);

  /// Not before the incarnation is durable does the node arbitrate or ask for anything.
  bool running() const { return running_; }
  std::uint32_t incarnation() const { return incarnation_; }

  /// `worker`: the thread that the message arrived on.
  void onMessage(NodeId from, const Message& message, std::uint8_t worker, const Env& env);
  /// Another membership is the acting one. `oldDeadline`: the end of the node's lease on the one before.
  void onMembership(MonotonicInstant oldDeadline, const Env& env);
  void onTimer(const Timer& timer, const Env& env);

  /// FR-8, at the member: the barrier entry is durable at `position`, or could not be appended.
  void onBarrierAppended(const BarrierEntry& entry, CommitOutcome outcome, Position position,
                         const Env& env) const;

  Home& home() { return home_; }
  Delegate& delegate() { return delegate_; }
  const Home& home() const { return home_; }
  const Delegate& delegate() const { return delegate_; }
  void addTo(StateHash& hash) const;

 private:
  void noteNewer(NodeId from, const Message& message, const Env& env) const;
  void onBarrierRequest(NodeId from, const BarrierRequest& request, const Env& env);

  Home home_;
  Delegate delegate_;
  std::uint32_t incarnation_ = 0;
  bool running_ = false;
  bool quarantined_ = false;
  MonotonicInstant quarantineUntil_;
};

}  // namespace holdfast::protocol
