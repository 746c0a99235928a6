// A node whose locks Ricart-Agrawala gives (RA), as a value: the peer of protocol::Node.
//
// It stands on the same context, observations, log, replication and sessions, and its participants are
// NodeSetup::members for ever: there is no home, no membership that is renewed, and no delegation, so an
// input that concerns one of these changes nothing.
#pragma once

#include <cstdint>

#include "protocol/commits.hpp"
#include "protocol/context.hpp"
#include "protocol/delegation/sessions.hpp"
#include "protocol/durable.hpp"
#include "protocol/node_setup.hpp"
#include "protocol/replication/replication.hpp"
#include "protocol/ricart_agrawala/participant.hpp"
#include "protocol/timers.hpp"

namespace holdfast::protocol {

class RicartAgrawalaNode {
 public:
  /// `setup.directory` must outlive the node and all its copies.
  RicartAgrawalaNode(const NodeSetup& setup, Durable durable);

  void handle(const Input& input, const Context& context);
  MonotonicInstant nextWake() const { return timers_.next(); }
  std::uint64_t canonicalHash(MonotonicInstant now, Duration horizon = StateHash::kNoHorizon) const;

  /// See protocol::Node.
  Durable takeDurable();
  static Position recover(Durable& durable, const NodeSetup& setup, const LogEntry& entry);
  void reportRetained(const Context& context) const;
  const Replication& replication() const { return replication_; }

 private:
  struct Dispatch;

  void onMessage(NodeId from, const Message& message, const ParticipantEnv& env);
  void onCommitDone(const CommitDone& done, const ParticipantEnv& env);
  void onEntryVisible(NodeId origin, Position position, const LogEntry& entry, const ParticipantEnv& env);
  void onWake(const ParticipantEnv& env);

  NodeSetup setup_;
  TimerSet timers_;
  Commits commits_;
  Replication replication_;
  RequestTable requests_;
  Sessions sessions_;
  Participant participant_;
};

}  // namespace holdfast::protocol
