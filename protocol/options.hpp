// The tunables of a node, in one struct: durations of the node's own monotonic clock unless said otherwise.
#pragma once

#include <cstdint>

#include "observations/types.hpp"

namespace holdfast::protocol {

using sim::Duration;

/// Who says who may arbitrate and lock. fixed: NodeSetup::members for ever, only their leases are at stake.
/// epoch: agreed on by the members themselves (EP). homeMap: published by an operator (HM).
enum class MembershipKind : std::uint8_t { fixed, epoch, homeMap };
BOOST_DESCRIBE_ENUM(MembershipKind, fixed, epoch, homeMap)

/// Which protocol gives the locks. delegation: a home for each key (DG). ricartAgrawala: every participant
/// grants every request (RA); of the options below only those of handles, records and commits concern it.
enum class LockAlgorithm : std::uint8_t { delegation, ricartAgrawala };
BOOST_DESCRIBE_ENUM(LockAlgorithm, delegation, ricartAgrawala)

struct ProtocolOptions {
  LockAlgorithm algorithm = LockAlgorithm::delegation;
  // Membership (EP-6, EP-7)
  Duration epochLease = sim::seconds(6);  // how long a renewal keeps a membership live
  Duration renewEvery = sim::seconds(2);  // how often a node renews
  // Agreement on epochs (EP)
  MembershipKind membership = MembershipKind::fixed;
  std::uint32_t rateErrorPpb = 50'000'000;  // bound of how much two monotonic clocks differ in rate (EP-8)
  std::uint32_t missedRenewals = 4;  // renewal periods of silence after which a member is proposed away
  std::uint32_t minMembers = 2;      // nobody is proposed away below so many members
  Duration proposalTimeout = sim::seconds(1);         // a round without its majority is given up
  Duration proposalBackoff = sim::milliseconds(500);  // the first pause before a round is uniform up to this
  bool rejoin = true;  // a node that was proposed away asks to be a member again, and members let it
  // Delegations (DG)
  Duration maxDelegation = sim::seconds(8);        // the longest delegation a home gives
  Duration skew = sim::milliseconds(400);          // margin for rate divergence over one lease (CK-3)
  Duration minUseful = sim::seconds(1);            // a grant with less left is refused (DG-5)
  Duration retryEvery = sim::milliseconds(900);    // an unanswered request is sent again
  Duration answerMargin = sim::milliseconds(150);  // a home answers a waiter that much before its deadline
  Duration recallEvery = sim::milliseconds(700);   // an unanswered recall is sent again
  Duration minTenure = sim::milliseconds(250);     // a grant younger than this is not recalled (DG-10)
  Duration recallGrace = sim::milliseconds(300);   // fairness to live handles in a drain (DR-2)
  // Recovery (FR-8)
  Duration barrierTimeout = sim::milliseconds(600);  // members silent for so long count as unreachable
  // Records (LW-3)
  Duration tombstoneRetention = sim::minutes(5);
  Duration sweepEvery = sim::seconds(5);  // finished handles and tombstones are swept (BD-2)
  // Caps (BD-1)
  std::uint32_t grantsPerTable = 10'000;
  std::uint32_t grantsPerRequester = 2'000;  // over all tables
  std::uint32_t expiriesPerTick = 256;
  std::uint32_t waitersPerKey = 1'024;
  std::uint32_t lineageSets = 4'096;        // dependency sets kept, least recently used first out (FR-6)
  std::uint32_t everDelegatedBits = 1'024;  // size of the ever-delegated filter, a power of two (FR-6)
  std::uint32_t commitAttempts = 4;         // native attempts of one logical transaction (DR-3)
  // Capability
  std::uint32_t ringVersion = 1;  // version of routing hash and key encoding (RT-3)
  bool enabled = true;            // off: lock() answers 503 disabled, writes are untouched (LH-5)

  friend bool operator==(const ProtocolOptions&, const ProtocolOptions&) = default;
};
BOOST_DESCRIBE_STRUCT(ProtocolOptions, (),
                      (algorithm, epochLease, renewEvery, membership, rateErrorPpb, missedRenewals,
                       minMembers, proposalTimeout, proposalBackoff, rejoin, maxDelegation, skew, minUseful,
                       retryEvery, answerMargin, recallEvery, minTenure, recallGrace, barrierTimeout,
                       tombstoneRetention, sweepEvery, grantsPerTable, grantsPerRequester, expiriesPerTick,
                       waitersPerKey, lineageSets, everDelegatedBits, commitAttempts, ringVersion, enabled))

}  // namespace holdfast::protocol
