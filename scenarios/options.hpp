// What a run is made of: one struct that is printed in full and from which, with its seed, the run follows.
//
// Contract: every number that shapes a run is here or in a plan; nothing is read from the environment. The
// struct and its parts are described, so that text, JSON and the option hash are derived from one list.
// Durations are ns, probabilities ppm (1'000'000 is certainty), rates ppb. "Mean gap" is the average true
// time between two faults of a kind while the kind is switched on; 0 switches it off for good.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "observations/reflect.hpp"
#include "observations/types.hpp"
#include "protocol/options.hpp"
#include "sim/disk.hpp"
#include "sim/network.hpp"
#include "sim/random.hpp"

namespace holdfast::scenarios {

using sim::Duration;
using sim::LatencyDistribution;

/// How long things take when nothing is wrong.
struct DelayOptions {
  /// One way, datagrams and stream segments alike.
  LatencyDistribution link{sim::microseconds(200), sim::milliseconds(2), sim::milliseconds(25), 20'000};
  /// From the receipt of a log entry that is next in line to its being applied and visible (LW-1).
  LatencyDistribution apply{sim::microseconds(100), sim::milliseconds(8), sim::milliseconds(250), 30'000};
  /// A native commit attempt, from submission to durable.
  LatencyDistribution commit{sim::microseconds(300), sim::milliseconds(5), sim::milliseconds(400), 20'000};
  /// Making the incarnation counter durable (TK-2).
  LatencyDistribution persist{sim::microseconds(300), sim::milliseconds(3), sim::milliseconds(50), 10'000};
  /// From the healing of a link, or a restart, to both transports being up again.
  Duration reconnect = sim::milliseconds(20);
  /// What a lost segment of a stream costs.
  Duration retransmit = sim::milliseconds(200);

  friend bool operator==(const DelayOptions&, const DelayOptions&) = default;
};
BOOST_DESCRIBE_STRUCT(DelayOptions, (), (link, apply, commit, persist, reconnect, retransmit))

/// What the clients do. The shares are weights among each other, not probabilities.
struct WorkloadOptions {
  /// Each node begins one operation (or burst) in each `gap` of true time, at a uniform instant of it.
  Duration gap = sim::milliseconds(2'400);
  /// How long a caller waits for its lock, and the lease it asks for: uniform in [1/2, 3/2] of it.
  Duration wait = sim::milliseconds(3'000);
  Duration lease = sim::milliseconds(2'500);
  /// How long a client thinks between two of its steps; the tail outlasts the lease (409 expired).
  LatencyDistribution think{sim::milliseconds(1), sim::milliseconds(120), sim::milliseconds(3'500), 40'000};
  /// How far in the future the stamps of futureStamp are: uniform in (0, this].
  Duration futureStampBy = sim::hours(2);

  std::uint32_t lockedUpdate = 400;    ///< lock, read, stage, submit, settle, unlock
  std::uint32_t earlyUnlock = 80;      ///< lock, read, stage, unlock, submit later (LH-4)
  std::uint32_t holdAndReenter = 60;   ///< lock, re-enter with an upgrade to hold, write, unlock (LH-2)
  std::uint32_t readOnlySection = 60;  ///< lock, read, unlock
  std::uint32_t unlockedWrite = 110;   ///< put, patch, increment or erase without a lock (LH-5)
  std::uint32_t futureStamp = 25;      ///< a locked update whose timestamp the caller gives (L-1b)
  std::uint32_t lockedErase = 25;      ///< delete under the lock; a later section re-creates (TK-3)
  std::uint32_t transfer = 60;         ///< two keys locked in order, one transaction
  std::uint32_t abandon = 30;          ///< lock, stage, roll back, leave without unlocking
  std::uint32_t dropDelegation = 15;   ///< the node gives a key's delegation up early (DR-5)

  /// Probability that an operation is a burst: `burstCallers` local callers at once, half of the time all of
  /// the hot key (LH-1) and otherwise each of another key, whose recoveries then share barriers (FR-8).
  std::uint32_t burstPpm = 25'000;
  std::uint32_t burstCallers = 3;
  /// Probability that an operation aims at the hot key, which is key 0; otherwise all keys are as likely.
  std::uint32_t hotKeyPpm = 250'000;
  /// The workload goes on for this much of the healed phase, so that its liveness is judged on new work.
  Duration intoHealedPhase = sim::seconds(80);

  friend bool operator==(const WorkloadOptions&, const WorkloadOptions&) = default;
};
BOOST_DESCRIBE_STRUCT(WorkloadOptions, (),
                      (gap, wait, lease, think, futureStampBy, lockedUpdate, earlyUnlock, holdAndReenter,
                       readOnlySection, unlockedWrite, futureStamp, lockedErase, transfer, abandon,
                       dropDelegation, burstPpm, burstCallers, hotKeyPpm, intoHealedPhase))

/// One kind of fault: how often it strikes anywhere in the cluster, and for how long at a time.
struct FaultRate {
  Duration meanGap{};
  Duration shortest{};
  Duration longest{};

  friend bool operator==(const FaultRate&, const FaultRate&) = default;
};
BOOST_DESCRIBE_STRUCT(FaultRate, (), (meanGap, shortest, longest))

/// The faults. A seed switches each kind on with probability `swarmOnPpm`, each by a draw of its own, so that
/// seeds differ in which faults meet which.
struct FaultOptions {
  std::uint32_t swarmOnPpm = 500'000;

  FaultRate crash{sim::seconds(20), sim::milliseconds(50), sim::seconds(14)};  ///< lasts until the restart
  std::uint32_t rebootPpm = 300'000;  ///< a crash takes the machine down: its monotonic clock starts anew
  FaultRate replaceCoordinator{sim::seconds(40), {}, {}};                      // BD-4
  FaultRate pause{sim::seconds(18), sim::milliseconds(20), sim::seconds(12)};  // CK-4
  FaultRate cutOneWay{sim::seconds(20), sim::milliseconds(100), sim::seconds(6)};
  FaultRate partition{sim::seconds(25), sim::milliseconds(200), sim::seconds(14)};
  FaultRate isolate{sim::seconds(25), sim::milliseconds(200), sim::seconds(15)};
  FaultRate loss{sim::seconds(15), sim::seconds(1), sim::seconds(8)};
  std::uint32_t lossPpm = 150'000;
  FaultRate duplication{sim::seconds(15), sim::seconds(1), sim::seconds(8)};
  std::uint32_t duplicationPpm = 200'000;
  FaultRate reordering{sim::seconds(15), sim::seconds(1), sim::seconds(8)};
  std::uint32_t reorderingPpm = 300'000;
  Duration reorderExtra = sim::milliseconds(400);
  FaultRate latencySpike{sim::seconds(12), sim::milliseconds(200), sim::seconds(5)};
  Duration spikeExtra = sim::milliseconds(3'000);  ///< added to one link: uniform in [0, this]
  FaultRate slowApply{sim::seconds(14), sim::seconds(1), sim::seconds(8)};
  Duration slowApplyExtra = sim::milliseconds(5'000);
  FaultRate slowCommit{sim::seconds(16), sim::seconds(1), sim::seconds(6)};
  Duration slowCommitExtra = sim::milliseconds(10'000);
  FaultRate commitAbort{sim::seconds(15), sim::seconds(1), sim::seconds(6)};  ///< attempts abort (DR-3)
  std::uint32_t commitAbortPpm = 350'000;
  FaultRate commitFailure{sim::seconds(30), sim::milliseconds(500), sim::seconds(3)};  ///< fail for good
  std::uint32_t commitFailurePpm = 400'000;
  FaultRate applyFailure{sim::seconds(35), sim::seconds(1), sim::seconds(8)};  ///< lasts until the repair
  FaultRate sendFailure{sim::seconds(25), sim::milliseconds(500), sim::seconds(4)};
  std::uint32_t sendFailurePpm = 300'000;
  // Of memberships that change: by agreement (EP) or by an operator's home map (HM).
  FaultRate admitMember{sim::seconds(25), {}, {}};  ///< an operator has the last node let in
  FaultRate dismissMember{sim::seconds(35), sim::seconds(3), sim::seconds(20)};  ///< one has a node left out
  FaultRate replaceMember{sim::seconds(40), sim::seconds(3),
                          sim::seconds(20)};  ///< and the last let in for it
  // Of agreed memberships only (EP).
  FaultRate replaceDisk{sim::seconds(35), sim::milliseconds(50), sim::seconds(10)};  ///< records lost (EP-11)
  FaultRate corruptDisk{sim::seconds(35), sim::milliseconds(50), sim::seconds(10)};  ///< records spoilt
  /// Probability that the last node of a seed is no founder: a blank identity that may be let in (EP-11).
  std::uint32_t sparePpm = 400'000;
  FaultRate logPurge{sim::seconds(45), sim::seconds(2), sim::seconds(8)};  ///< gaps last until repaired
  FaultRate rateChange{sim::seconds(10), {}, {}};  ///< a monotonic clock changes its rate (CK-1)
  FaultRate wallJump{sim::seconds(12), {}, {}};    ///< a wall clock is set, either way (CK-5)
  Duration wallJumpBy = sim::hours(6);             ///< uniform in [-this, this]

  /// Probability that the homes of a seed keep a single dependency set each, so that they evict (FR-6).
  std::uint32_t scarceLineagePpm = 100'000;
  /// Probability that a seed keeps tombstones for 5 to 30 s only, so that they are reclaimed in it (LW-3).
  std::uint32_t briefRetentionPpm = 125'000;
  /// Unsynced records at a crash: see sim::Disk.
  std::uint32_t tornPpm = 250'000;
  /// Bound of every monotonic clock's rate, either way. `skew` must cover it (CK-3): see validate().
  std::int64_t maxDriftPpb = 20'000'000;
  /// Wall clocks start uniform in [-this, this] off true time, if `wallOffset` is on in the seed.
  Duration wallOffsetUpTo = sim::hours(3);
  std::int64_t wallDriftPpb = 50'000'000;

  friend bool operator==(const FaultOptions&, const FaultOptions&) = default;
};
BOOST_DESCRIBE_STRUCT(FaultOptions, (),
                      (swarmOnPpm, crash, rebootPpm, replaceCoordinator, pause, cutOneWay, partition, isolate,
                       loss, lossPpm, duplication, duplicationPpm, reordering, reorderingPpm, reorderExtra,
                       latencySpike, spikeExtra, slowApply, slowApplyExtra, slowCommit, slowCommitExtra,
                       commitAbort, commitAbortPpm, commitFailure, commitFailurePpm, applyFailure,
                       sendFailure, sendFailurePpm, admitMember, dismissMember, replaceMember, replaceDisk,
                       corruptDisk, sparePpm, logPurge, rateChange, wallJump, wallJumpBy, scarceLineagePpm,
                       briefRetentionPpm, tornPpm, maxDriftPpb, wallOffsetUpTo, wallDriftPpb))

/// The protocol of runs of plans: as it is by default, with members that agree on themselves (EP).
constexpr protocol::ProtocolOptions epochs() {
  protocol::ProtocolOptions options;
  options.membership = protocol::MembershipKind::epoch;
  return options;
}

/// A whole run.
struct RunOptions {
  std::uint64_t seed = 1;
  std::uint16_t nodes = 5;  ///< 1 to 63; named A, B, ... (N00, N01, ... when there are more than 26)
  std::uint32_t keys = 6;   ///< 1 to 1'000'000; named accounts/k0, accounts/k1, ...
  Duration faultPhase = sim::seconds(40);
  Duration healedPhase = sim::seconds(90);
  protocol::ProtocolOptions protocol = epochs();
  DelayOptions delays;
  WorkloadOptions workload;
  FaultOptions faults;

  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};
BOOST_DESCRIBE_STRUCT(RunOptions, (),
                      (seed, nodes, keys, faultPhase, healedPhase, protocol, delays, workload, faults))

/// Nothing, or what is wrong and what would be right: "faults.maxDriftPpb is ...; expected ...".
std::expected<void, std::string> validate(const RunOptions& options);

/// The largest rate deviation, in ppb either way, of which `skew` covers a lease of `maxDelegation` (CK-3):
/// with the holder slowest and the home fastest, maxDelegation / (1 - d) <= (maxDelegation + skew) / (1 + d).
std::int64_t driftCovered(const protocol::ProtocolOptions& options);

/// Every option as "path = value unit", one a line.
std::string describe(const RunOptions& options);

/// How often the operator of a home map looks, and how long he sees a change stall before he steps in.
inline constexpr Duration kOperatorLooks = sim::seconds(1);
inline constexpr Duration kOperatorPatience = sim::seconds(4);

}  // namespace holdfast::scenarios
