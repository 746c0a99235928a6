// What an observation speaks of: the key, caller, transaction, token, peer, barrier and message in it.
//
// Contract: read off the observation's description by the types of its fields, so that a kind which is added
// later is understood without a line here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "observations/observation.hpp"

namespace holdfast::explain {

/// A run: its observations in the order in which they were made. Events are named by their index in it.
using Run = std::span<const obs::Stamped>;
using EventIndex = std::size_t;
inline constexpr EventIndex kNoEvent = SIZE_MAX;

struct Mentions {
  obs::KeyId key;
  obs::CallId call;
  obs::TxnId txn;
  obs::Token token;
  obs::NodeId peer;           ///< The last field that is a node.
  std::uint64_t nonce = 0;    ///< Of a barrier; 0 for none.
  std::uint64_t message = 0;  ///< Number of the message that was sent, delivered or lost; 0 for none.
};

Mentions mentionsOf(const obs::Observation& what);

/// The place in a log at which the observation says that an entry became durable; 0 for none.
obs::Position appendedAt(const obs::Observation& what);

/// Whether it came from outside the protocol: a caller did something, or a fault struck or ended.
bool fromOutside(const obs::Observation& what);
/// Whether it is a fault, the end of one, or a change of a clock.
bool isFault(const obs::Observation& what);

}  // namespace holdfast::explain
