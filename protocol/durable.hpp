// What a node finds on its disk when it starts, whichever protocol gives the locks.
#pragma once

#include <cstdint>

#include "protocol/membership/membership.hpp"
#include "protocol/replication/replica_state.hpp"
#include "protocol/ricart_agrawala/request_table.hpp"

namespace holdfast::protocol {

struct Durable {
  std::uint32_t incarnation = 0;  // the last one made durable; 0 on a new disk (TK-2)
  DurableMembership membership;
  ReplicaState replica;   // own log, applied streams, records
  RequestTable requests;  // of Ricart-Agrawala alone: what the entries in the replica leave to be granted
};

}  // namespace holdfast::protocol
