// What the two roles of a home map share on their node: its one durable record, and the way to the peers.
#pragma once

#include <utility>
#include <vector>

#include "protocol/membership/environment.hpp"

namespace holdfast::protocol {

/// The record as it was last given to the disk. Each write is the whole record, so that the last one that
/// became durable says it all.
struct HomeMapStore {
  HomeMapRecord record;
  std::uint32_t written = 0;  // sequence of the last write
  std::uint32_t durable = 0;  // of the last one that is durable

  std::uint32_t write(const MembershipEnv& env) {
    env.persist(record, ++written);
    return written;
  }
  bool holds(std::uint32_t sequence) const { return durable >= sequence; }
};

struct HomeMapDesk {
  const MembershipEnv& env;
  HomeMapStore& store;
  std::vector<Message>& loopback;  // of the node to itself, handled before the input is over

  bool on(Rule rule) const { return env.on(rule); }
  HomeMapRecord& record() const { return store.record; }

  void tell(NodeId to, Message message) const {
    if (to == env.self()) {
      loopback.push_back(std::move(message));
    } else {
      env.send(to, std::move(message));
    }
  }
  void refuse(NodeId from, const MessageKind message, Cause cause) const {
    env.observe(obs::MessageRefused{from, message, cause});
  }
  /// HM-3: how long what was granted before may still be honoured.
  Duration drain() const { return env.options().maxDelegation + env.options().skew; }
};

}  // namespace holdfast::protocol
