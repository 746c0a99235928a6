// What a run exercised: counts of everything that the protocol can do, taken from the observations alone.
//
// Contract: a value that adds up; the coverage of a sweep is the sum over its seeds. Counting costs an
// increment or two for each observation. kMilestones lists what a default sweep must reach, because a sweep
// that never met it proves nothing about it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "observations/observation.hpp"

namespace holdfast::scenarios {

inline constexpr std::size_t kPaths = obs::kEnumeratorCount<obs::Path>;
inline constexpr std::size_t kErrorClasses = obs::kEnumeratorCount<obs::ErrorClass>;
inline constexpr std::size_t kCauses = obs::kEnumeratorCount<obs::Cause>;
inline constexpr std::size_t kObservationKinds = std::variant_size_v<obs::Observation>;

/// Something a sweep must have reached at least once.
enum class Milestone : std::uint8_t {
  admittedCached,
  admittedVirgin,
  admittedClean,
  admittedRecovery,
  handoff,  // a grant after a clean release, to another node
  renewal,  // a grant to the node that was the delegate already
  recall,
  recallFailed,
  drainSettled,
  drainCutShort,     // DR-4: the deadline came before everything was settled
  earlyDrop,         // DR-5
  delegationLapsed,  // at the delegate
  grantExpired,      // at the home (DG-3)
  grantRejected,     // DG-5, DG-6, DG-7
  handedBack,
  queued,  // DG-10
  barrier,
  barrierShared,   // one barrier for several recoveries
  barrierSkipped,  // L-2a, L-2b
  barrierFailed,
  lineageLost,
  fenceWaited,
  quarantine,
  coordinatorReplaced,
  membershipLapsed,
  reentered,
  revoked,
  attemptAborted,  // S-23
  commitFailed,
  recoveredCommit,  // a commit found durable after a crash
  applyFailed,
  gapFound,
  holeRepaired,
  crashed,
  paused,
  messageLost,
  messageRefused,
  refused503Quarantine,
  refused503HomeUnreachable,
  refused503NoMembership,
  refused503Barrier,
  refused423Contended,
  refused409Expired,
  refused409Revoked,
};
BOOST_DESCRIBE_ENUM(Milestone, admittedCached, admittedVirgin, admittedClean, admittedRecovery, handoff,
                    renewal, recall, recallFailed, drainSettled, drainCutShort, earlyDrop, delegationLapsed,
                    grantExpired, grantRejected, handedBack, queued, barrier, barrierShared, barrierSkipped,
                    barrierFailed, lineageLost, fenceWaited, quarantine, coordinatorReplaced,
                    membershipLapsed, reentered, revoked, attemptAborted, commitFailed, recoveredCommit,
                    applyFailed, gapFound, holeRepaired, crashed, paused, messageLost, messageRefused,
                    refused503Quarantine, refused503HomeUnreachable, refused503NoMembership,
                    refused503Barrier, refused423Contended, refused409Expired, refused409Revoked)
inline constexpr std::size_t kMilestones = obs::kEnumeratorCount<Milestone>;

class Coverage {
 public:
  /// Counts one observation.
  template <class T>
  void add(const T& what);

  std::uint64_t count(Milestone milestone) const;
  std::uint64_t admissions(obs::Path path) const { return admissions_[static_cast<std::size_t>(path)]; }
  std::uint64_t admissions() const;
  /// Refusals of locks and writes.
  std::uint64_t refusals(obs::ErrorClass error, obs::Cause cause) const {
    return refusals_[static_cast<std::size_t>(error)][static_cast<std::size_t>(cause)];
  }
  std::uint64_t refusals(obs::ErrorClass error) const;
  /// Observations of the kind with this index in obs::Observation.
  std::uint64_t kind(std::size_t index) const { return kinds_[index]; }
  template <class T>
  std::uint64_t kind() const {
    return kinds_[boost::mp11::mp_find<obs::Observation, T>::value];
  }

  /// All counts in a fixed order, for a file; numbered() reads them, and gives nothing if they are of another
  /// form.
  std::vector<std::uint64_t> numbers() const;
  static std::optional<Coverage> numbered(const std::vector<std::uint64_t>& numbers);

  Coverage& operator+=(const Coverage& other);
  friend bool operator==(const Coverage&, const Coverage&) = default;

 private:
  void reach(Milestone milestone, bool when = true) {
    milestones_[static_cast<std::size_t>(milestone)] += when ? 1 : 0;
  }
  void refuse(obs::ErrorClass error, obs::Cause cause);

  std::array<std::uint64_t, kObservationKinds> kinds_{};
  std::array<std::uint64_t, kPaths> admissions_{};
  std::array<std::array<std::uint64_t, kCauses>, kErrorClasses> refusals_{};
  std::array<std::uint64_t, kMilestones> milestones_{};
};

template <class T>
void Coverage::add(const T& what) {
  ++kinds_[boost::mp11::mp_find<obs::Observation, T>::value];
  if constexpr (std::is_same_v<T, obs::Admitted>) {
    ++admissions_[static_cast<std::size_t>(what.path)];
  } else if constexpr (std::is_same_v<T, obs::LockRefused> || std::is_same_v<T, obs::WriteRefused>) {
    refuse(what.error, what.cause);
  } else if constexpr (std::is_same_v<T, obs::Granted>) {
    reach(Milestone::renewal, what.renewal);
    reach(Milestone::handoff, !what.renewal && what.path == obs::Path::clean);
  } else if constexpr (std::is_same_v<T, obs::Drained>) {
    reach(what.settled ? Milestone::drainSettled : Milestone::drainCutShort);
  } else if constexpr (std::is_same_v<T, obs::AdmissionClosed>) {
    reach(Milestone::earlyDrop, !what.recalled);
  } else if constexpr (std::is_same_v<T, obs::BarrierStarted>) {
    reach(Milestone::barrierShared, what.keys > 1);
  } else if constexpr (std::is_same_v<T, obs::BarrierDone>) {
    reach(Milestone::barrierFailed, !what.satisfied);
  } else if constexpr (std::is_same_v<T, obs::CoordinatorStarted>) {
    reach(Milestone::quarantine, what.quarantined);
  } else if constexpr (std::is_same_v<T, obs::Settled>) {
    reach(Milestone::commitFailed, !what.committed);
    reach(Milestone::recoveredCommit, what.recovered);
  } else if constexpr (std::is_same_v<T, obs::Applied>) {
    reach(Milestone::applyFailed, what.failed);
  }
}

}  // namespace holdfast::scenarios
