// What a run exercised: counts of everything that a sweep must be seen to reach, and of every limitation.
//
// A sweep merges the coverage of its seeds; the sum does not depend on the order. Zero losses in a run in
// which a key hardly moved prove nothing, so handoffs and overtaken waiters are counted too.
#pragma once

#include "checkers/context.hpp"
#include "checkers/counters.hpp"

namespace holdfast::checkers {

struct CallerCounts {
  std::uint64_t lockRequests = 0;
  CountBy<obs::Path> admissions;
  std::uint64_t handoffs = 0;  // consecutive sections of a key on different nodes
  std::uint64_t holds = 0;
  std::uint64_t reentries = 0;
  std::uint64_t unlocks = 0;
  CountBy<obs::ErrorClass> lockErrors;
  CountBy<obs::Cause> lockCauses;
  std::uint64_t revocations = 0;
  std::uint64_t revokedUnlocked = 0;  // of these, unlocked already (S-21)
  std::uint64_t overtaken = 0;        // waiters not served while another node was served twice
  friend bool operator==(const CallerCounts&, const CallerCounts&) = default;
};
BOOST_DESCRIBE_STRUCT(CallerCounts, (),
                      (lockRequests, admissions, handoffs, holds, reentries, unlocks, lockErrors, lockCauses,
                       revocations, revokedUnlocked, overtaken))

struct WriteCounts {
  std::uint64_t reads = 0;
  std::uint64_t staged = 0;
  std::uint64_t unlocked = 0;  // staged without a lock (LH-5)
  std::uint64_t callerStamps = 0;
  std::uint64_t submissions = 0;
  std::uint64_t attemptsAborted = 0;
  std::uint64_t commits = 0;
  std::uint64_t commitsRecovered = 0;  // found in the log after a crash
  std::uint64_t aborts = 0;
  CountBy<obs::ErrorClass> errors;
  CountBy<obs::Cause> causes;
  friend bool operator==(const WriteCounts&, const WriteCounts&) = default;
};
BOOST_DESCRIBE_STRUCT(WriteCounts, (),
                      (reads, staged, unlocked, callerStamps, submissions, attemptsAborted, commits,
                       commitsRecovered, aborts, errors, causes))

struct DelegationCounts {
  CountBy<obs::Path> grants;
  std::uint64_t renewals = 0;
  CountBy<obs::Cause> denials;
  std::uint64_t queued = 0;
  CountBy<obs::GrantRejection> rejected;
  std::uint64_t handBacks = 0;
  std::uint64_t handBacksCleared = 0;
  std::uint64_t recalls = 0;
  CountBy<obs::Cause> recallsFailed;
  std::uint64_t earlyDrops = 0;
  std::uint64_t drains = 0;
  std::uint64_t drainsCutShort = 0;
  std::uint64_t lapses = 0;
  std::uint64_t releases = 0;
  std::uint64_t releasesCleared = 0;
  std::uint64_t releasesIgnored = 0;
  std::uint64_t expiries = 0;
  CountBy<obs::LineageLoss> lineageLost;
  std::uint64_t quarantines = 0;
  friend bool operator==(const DelegationCounts&, const DelegationCounts&) = default;
};
BOOST_DESCRIBE_STRUCT(DelegationCounts, (),
                      (grants, renewals, denials, queued, rejected, handBacks, handBacksCleared, recalls,
                       recallsFailed, earlyDrops, drains, drainsCutShort, lapses, releases, releasesCleared,
                       releasesIgnored, expiries, lineageLost, quarantines))

struct FreshnessCounts {
  std::uint64_t fencesWaited = 0;
  std::uint64_t fencesSatisfied = 0;
  std::uint64_t barriersStarted = 0;
  std::uint64_t barriersSatisfied = 0;
  std::uint64_t barriersFailed = 0;
  std::uint64_t membersSkipped = 0;
  std::uint64_t recoveriesJoined = 0;
  friend bool operator==(const FreshnessCounts&, const FreshnessCounts&) = default;
};
BOOST_DESCRIBE_STRUCT(FreshnessCounts, (),
                      (fencesWaited, fencesSatisfied, barriersStarted, barriersSatisfied, barriersFailed,
                       membersSkipped, recoveriesJoined))

struct ReplicationCounts {
  std::uint64_t applied = 0;
  std::uint64_t appliesFailed = 0;
  std::uint64_t gaps = 0;
  std::uint64_t holesRepaired = 0;
  std::uint64_t tombstonesReclaimed = 0;
  CountBy<obs::EntryKind> durableEntries;
  std::uint64_t durableMetadata = 0;
  friend bool operator==(const ReplicationCounts&, const ReplicationCounts&) = default;
};
BOOST_DESCRIBE_STRUCT(ReplicationCounts, (),
                      (applied, appliesFailed, gaps, holesRepaired, tombstonesReclaimed, durableEntries,
                       durableMetadata))

struct FaultCounts {
  std::uint64_t crashes = 0;
  std::uint64_t commitsLost = 0;
  std::uint64_t restarts = 0;
  std::uint64_t pauses = 0;
  std::uint64_t coordinatorReplacements = 0;
  std::uint64_t linkCuts = 0;
  std::uint64_t clockRateChanges = 0;
  std::uint64_t wallChanges = 0;
  std::uint64_t membershipRenewals = 0;
  std::uint64_t membershipLapses = 0;
  CountBy<obs::Cause> messagesRefused;
  friend bool operator==(const FaultCounts&, const FaultCounts&) = default;
};
BOOST_DESCRIBE_STRUCT(FaultCounts, (),
                      (crashes, commitsLost, restarts, pauses, coordinatorReplacements, linkCuts,
                       clockRateChanges, wallChanges, membershipRenewals, membershipLapses, messagesRefused))

struct MessageCounts {
  CountBy<obs::MessageKind> sent;
  CountBy<obs::MessageKind> delivered;
  CountBy<obs::LossReason> lost;
  friend bool operator==(const MessageCounts&, const MessageCounts&) = default;
};
BOOST_DESCRIBE_STRUCT(MessageCounts, (), (sent, delivered, lost))

/// Limitations reached and violations found, added by Coverage::seal().
struct FindingCounts {
  CountBy<Route> routes;
  CountBy<Checker> violations;
  FirstSeed<Route> firstSeeds;
  friend bool operator==(const FindingCounts&, const FindingCounts&) = default;
};
BOOST_DESCRIBE_STRUCT(FindingCounts, (), (routes, violations, firstSeeds))

struct Coverage {
  std::uint64_t runs = 0;
  CallerCounts callers;
  WriteCounts writes;
  DelegationCounts delegations;
  FreshnessCounts freshness;
  ReplicationCounts replication;
  FaultCounts faults;
  MessageCounts messages;
  FindingCounts findings;

  /// Adds another run's coverage.
  void merge(const Coverage& other);
  /// Notes that this was a run with `seed` and these findings. Call it once, before merging.
  void seal(const Findings& found, std::uint64_t seed);

  friend bool operator==(const Coverage&, const Coverage&) = default;
};
BOOST_DESCRIBE_STRUCT(Coverage, (),
                      (runs, callers, writes, delegations, freshness, replication, faults, messages,
                       findings))

/// Keeps Coverage up to date. It judges nothing.
class CoverageCounter {
 public:
  const Coverage& coverage() const { return counts_; }
  Coverage& coverage() { return counts_; }

  void on(const Stamp&, const obs::LockRequested&, const Context&) { ++counts_.callers.lockRequests; }
  void on(const Stamp& stamp, const obs::Admitted& event, const Context& context);
  void on(const Stamp&, const obs::Reentered&, const Context&) { ++counts_.callers.reentries; }
  void on(const Stamp& stamp, const obs::LockRefused& event, const Context& context);
  void on(const Stamp&, const obs::Unlocked&, const Context&) { ++counts_.callers.unlocks; }
  void on(const Stamp&, const obs::Revoked& event, const Context&) {
    ++counts_.callers.revocations;
    counts_.callers.revokedUnlocked += event.unlocked ? 1U : 0U;
  }
  void on(const Stamp&, const obs::Read&, const Context&) { ++counts_.writes.reads; }
  void on(const Stamp&, const obs::Staged& event, const Context&) {
    ++counts_.writes.staged;
    counts_.writes.unlocked += event.call.valid() ? 0U : 1U;
    counts_.writes.callerStamps += event.callerStamp ? 1U : 0U;
  }
  void on(const Stamp&, const obs::Submitted&, const Context&) { ++counts_.writes.submissions; }
  void on(const Stamp&, const obs::AttemptAborted&, const Context&) { ++counts_.writes.attemptsAborted; }
  void on(const Stamp&, const obs::Settled& event, const Context&) {
    ++(event.committed ? counts_.writes.commits : counts_.writes.aborts);
    counts_.writes.commitsRecovered += event.recovered ? 1U : 0U;
  }
  void on(const Stamp&, const obs::WriteRefused& event, const Context&) {
    counts_.writes.errors.add(event.error);
    counts_.writes.causes.add(event.cause);
  }
  void on(const Stamp& stamp, const obs::Granted& event, const Context& context);
  void on(const Stamp& stamp, const obs::Denied& event, const Context& context);
  void on(const Stamp& stamp, const obs::Queued& event, const Context& context);
  void on(const Stamp&, const obs::GrantRejected& event, const Context&) {
    counts_.delegations.rejected.add(event.why);
  }
  void on(const Stamp&, const obs::HandedBack&, const Context&) { ++counts_.delegations.handBacks; }
  void on(const Stamp&, const obs::HandBackSeen& event, const Context&) {
    counts_.delegations.handBacksCleared += event.cleared ? 1U : 0U;
  }
  void on(const Stamp&, const obs::RecallSent&, const Context&) { ++counts_.delegations.recalls; }
  void on(const Stamp&, const obs::RecallFailed& event, const Context&) {
    counts_.delegations.recallsFailed.add(event.cause);
  }
  void on(const Stamp&, const obs::AdmissionClosed& event, const Context&) {
    counts_.delegations.earlyDrops += event.recalled ? 0U : 1U;
  }
  void on(const Stamp&, const obs::Drained& event, const Context&) {
    ++(event.settled ? counts_.delegations.drains : counts_.delegations.drainsCutShort);
  }
  void on(const Stamp&, const obs::DelegationLapsed&, const Context&) { ++counts_.delegations.lapses; }
  void on(const Stamp&, const obs::ControlAppended& event, const Context&) {
    counts_.delegations.releases += event.entry == obs::EntryKind::release ? 1U : 0U;
  }
  void on(const Stamp&, const obs::ReleaseSeen& event, const Context&) {
    ++(event.cleared ? counts_.delegations.releasesCleared : counts_.delegations.releasesIgnored);
  }
  void on(const Stamp&, const obs::GrantExpired&, const Context&) { ++counts_.delegations.expiries; }
  void on(const Stamp&, const obs::LineageLost& event, const Context&) {
    counts_.delegations.lineageLost.add(event.why);
  }
  void on(const Stamp&, const obs::FenceWaiting&, const Context&) { ++counts_.freshness.fencesWaited; }
  void on(const Stamp&, const obs::FenceSatisfied&, const Context&) { ++counts_.freshness.fencesSatisfied; }
  void on(const Stamp&, const obs::BarrierStarted&, const Context&) { ++counts_.freshness.barriersStarted; }
  void on(const Stamp&, const obs::BarrierSkipped&, const Context&) { ++counts_.freshness.membersSkipped; }
  void on(const Stamp&, const obs::BarrierDone& event, const Context&) {
    ++(event.satisfied ? counts_.freshness.barriersSatisfied : counts_.freshness.barriersFailed);
  }
  void on(const Stamp&, const obs::RecoveryJoined&, const Context&) { ++counts_.freshness.recoveriesJoined; }
  void on(const Stamp&, const obs::MembershipRenewed&, const Context&) {
    ++counts_.faults.membershipRenewals;
  }
  void on(const Stamp&, const obs::MembershipLapsed&, const Context&) { ++counts_.faults.membershipLapses; }
  void on(const Stamp&, const obs::CoordinatorStarted& event, const Context&) {
    counts_.delegations.quarantines += event.quarantined ? 1U : 0U;
  }
  void on(const Stamp&, const obs::MessageRefused& event, const Context&) {
    counts_.faults.messagesRefused.add(event.cause);
  }
  void on(const Stamp&, const obs::Applied& event, const Context&) {
    ++(event.failed ? counts_.replication.appliesFailed : counts_.replication.applied);
  }
  void on(const Stamp&, const obs::GapFound&, const Context&) { ++counts_.replication.gaps; }
  void on(const Stamp&, const obs::HoleRepaired&, const Context&) { ++counts_.replication.holesRepaired; }
  void on(const Stamp&, const obs::TombstoneReclaimed&, const Context&) {
    ++counts_.replication.tombstonesReclaimed;
  }
  void on(const Stamp&, const obs::DurableWrite& event, const Context&) {
    if (event.metadata) {
      ++counts_.replication.durableMetadata;
    } else {
      counts_.replication.durableEntries.add(event.entry);
    }
  }
  void on(const Stamp&, const obs::NodeStarted& event, const Context&) {
    counts_.faults.restarts += event.start > 1 ? 1U : 0U;
  }
  void on(const Stamp& stamp, const obs::NodeCrashed& event, const Context& context);
  void on(const Stamp&, const obs::NodePaused&, const Context&) { ++counts_.faults.pauses; }
  void on(const Stamp& stamp, const obs::CoordinatorReplaced& event, const Context& context);
  void on(const Stamp&, const obs::LinkCut&, const Context&) { ++counts_.faults.linkCuts; }
  void on(const Stamp& stamp, const obs::ClockRate& event, const Context& context);
  void on(const Stamp& stamp, const obs::WallSet& event, const Context& context);
  void on(const Stamp&, const obs::MessageSent& event, const Context&) {
    counts_.messages.sent.add(event.message);
  }
  void on(const Stamp&, const obs::MessageDelivered& event, const Context&) {
    counts_.messages.delivered.add(event.message);
  }
  void on(const Stamp&, const obs::MessageLost& event, const Context&) {
    counts_.messages.lost.add(event.why);
  }

 private:
  /// A node in the home's queue; `served` has a bit for each other node (below 64) granted the key meanwhile.
  struct Waiter {
    NodeId node;
    NodeId home;
    std::uint64_t served = 0;
    bool counted = false;
  };
  struct KeyRow {
    NodeId lastHolder;
    boost::container::small_vector<Waiter, 4> waiters;
  };

  void forgetQueueOf(NodeId home);
  static void leaveQueue(KeyRow& row, NodeId node);

  Coverage counts_;
  FlatTable<KeyRow> keys_;
  FlatTable<std::uint8_t> clockSeen_;
  FlatTable<std::uint8_t> wallSeen_;
};

}  // namespace holdfast::checkers
