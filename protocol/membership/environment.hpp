// What a membership may touch while it handles one input, and what it tells the node afterwards.
#pragma once

#include "protocol/context.hpp"
#include "protocol/node_set.hpp"
#include "protocol/node_setup.hpp"
#include "protocol/timers.hpp"

namespace holdfast::protocol {

struct MembershipEnv {
  const NodeSetup& setup;
  const Context& context;
  TimerSet& timers;
  std::uint32_t incarnation = 0;  // of the coordinator at work (TK-2, HM-4); 0 while it is not durable

  MonotonicInstant now() const { return context.now; }
  const ProtocolOptions& options() const { return setup.options; }
  bool on(Rule rule) const { return setup.rules.on(rule); }
  NodeId self() const { return setup.self; }
  const Directory& directory() const { return *setup.directory; }

  template <class T>
  void observe(T&& observation) const {
    context.observe(std::forward<T>(observation));
  }
  void send(NodeId to, Message message) const { context.send(to, std::move(message)); }
  void persist(DurableRecord record, std::uint32_t sequence) const {
    context.out.persists.push_back({std::move(record), sequence});
  }
};

/// `live`: the membership has just become live. `installed`: another configuration is the acting one, routing
/// and everything that hangs on number and members must be looked at again. `ready`: grantsFrom() has passed.
struct MembershipChange {
  bool live = false;
  bool installed = false;
  bool ready = false;
  /// What the lease of the superseded configuration allowed its delegates; with `installed` only.
  MonotonicInstant oldDeadline = MonotonicInstant::longAgo();

  MembershipChange& operator|=(const MembershipChange& other) {
    live = live || other.live;
    ready = ready || other.ready;
    if (other.installed)
      oldDeadline = installed ? std::min(oldDeadline, other.oldDeadline) : other.oldDeadline;
    installed = installed || other.installed;
    return *this;
  }
};

}  // namespace holdfast::protocol
