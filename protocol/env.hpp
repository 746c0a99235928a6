// What a role of a node may touch while it handles one input.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "protocol/commits.hpp"
#include "protocol/context.hpp"
#include "protocol/membership/membership.hpp"
#include "protocol/node_setup.hpp"
#include "protocol/replication/replication.hpp"
#include "protocol/routing.hpp"
#include "protocol/timers.hpp"

namespace holdfast::protocol {

class Sessions;

/// What the database's own side needs, whichever protocol gives the locks.
struct LocalEnv {
  const NodeSetup& setup;
  const Context& context;
  TimerSet& timers;
  Replication& replication;
  Commits& commits;

  MonotonicInstant now() const { return context.now; }
  const ProtocolOptions& options() const { return setup.options; }
  bool on(Rule rule) const { return setup.rules.on(rule); }

  template <class T>
  void observe(T&& observation) const {
    context.observe(std::forward<T>(observation));
  }
};

/// The same with what the roles of the delegation protocol share.
struct Env : LocalEnv {
  Membership& membership;
  Sessions& sessions;
  const RouteCache& routes;
  std::vector<Message>& loopback;  // messages of the node to itself, handled before handle() returns

  MembershipEnv membershipEnv(std::uint32_t incarnation) const {
    return {setup, context, timers, incarnation};
  }
  bool live() const { return membership.live(setup, context.now); }
  /// RT-4: whether this node's name is its own; it neither homes nor locks otherwise.
  bool distinct() const { return setup.namesakes.empty() || !on(Rule::RT4_DistinctNames); }
  NodeId homeOf(KeyId key) const {
    const NodeId home = routes.home(key);
    return setup.namesakes.empty() ? home : homeAmongNamesakes(home);
  }
  /// A node that goes by another's name finds that it is the other's keys' home itself.
  NodeId homeAmongNamesakes(NodeId home) const {
    const bool named =
        std::find(setup.namesakes.begin(), setup.namesakes.end(), home) != setup.namesakes.end();
    return named ? setup.self : home;
  }

  /// Whether this node was the key's home in the configuration before, too (rule EP9_GatesEveryKey off).
  bool keptHome(KeyId key) const {
    return sim::NodeId{protocol::homeOf(*setup.directory, membership.predecessors(), key,
                                        membership.ringVersion())} == setup.self;
  }

  /// A node that is its own home talks to itself without the network (S-05).
  void send(NodeId to, Message message) const {
    if (to == setup.self) {
      loopback.push_back(std::move(message));
    } else {
      context.send(to, std::move(message));
    }
  }

  /// FR-4, DG-6: whether two tokens name the same grant.
  bool sameToken(const Token& a, const Token& b) const {
    return on(Rule::TK1_FullToken) ? a == b : a.counter == b.counter;
  }
};

}  // namespace holdfast::protocol
