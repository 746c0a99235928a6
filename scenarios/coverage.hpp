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

// Something a sweep must have reached at least once.
// clang-format off
#define HOLDFAST_MILESTONES(X) \
  X(admittedCached) \
  X(admittedVirgin) \
  X(admittedClean) \
  X(admittedRecovery) \
  X(handoff) /* a grant after a clean release, to another node */ \
  X(renewal) /* a grant to the node that was the delegate already */ \
  X(recall) \
  X(recallFailed) \
  X(drainSettled) \
  X(drainCutShort) /* DR-4: the deadline came before everything was settled */ \
  X(earlyDrop) /* DR-5 */ \
  X(delegationLapsed) /* at the delegate */ \
  X(grantExpired) /* at the home (DG-3) */ \
  X(grantRejected) /* DG-5, DG-6, DG-7 */ \
  X(handedBack) \
  X(queued) /* DG-10 */ \
  X(barrier) \
  X(barrierShared) /* one barrier for several recoveries */ \
  X(barrierSkipped) /* L-2a, L-2b */ \
  X(barrierFailed) \
  X(lineageLost) \
  X(fenceWaited) \
  X(quarantine) \
  X(coordinatorReplaced) \
  X(membershipLapsed) \
  X(reentered) \
  X(revoked) \
  X(attemptAborted) /* S-23 */ \
  X(commitFailed) \
  X(recoveredCommit) /* a commit found durable after a crash */ \
  X(applyFailed) \
  X(gapFound) \
  X(holeRepaired) \
  X(tombstoneReclaimed) /* LW-3 */ \
  X(crashed) \
  X(paused) \
  X(messageLost) \
  X(messageRefused) \
  X(refused503Quarantine) \
  X(refused503HomeUnreachable) \
  X(refused503NoMembership) \
  X(refused503Barrier) \
  X(refused423Contended) \
  X(refused409Expired) \
  X(refused409Revoked) \
  /* Of agreed memberships (EP). */ \
  X(proposalFailureDriven) /* somebody was silent, or agreement had come to a halt */ \
  X(proposalAdministrative) \
  X(duel) /* a round was given up for a greater ballot */ \
  X(acceptedBefore) /* a promise reported a value (EP-2) */ \
  X(epochDecided) \
  X(memberRemoved) \
  X(memberAdded) \
  X(memberReplaced) /* one out and one in, at once */ \
  X(joinerInstalled) /* a node without trustworthy records became a member (EP-11) */ \
  X(joiningCorrupted) /* a node found its records spoilt */ \
  X(caughtUp) /* a configuration was installed when a newer one was about */ \
  X(protectionCarried) /* a promise reported what predecessors were owed (EP-9) */ \
  X(certificateRefused) /* EP-5, EP-11 */ \
  X(refused503Activation) \
  X(refused503NotMember) \
  /* Of home maps that an operator publishes (HM). */ \
  X(homeMapActivated) \
  X(homeMapFenced) /* somebody was stopped, for he did not acknowledge (HM-5) */ \
  X(acknowledgementDied) /* HM-4: with the incarnation that gave it */ \
  X(changeOvertaken) /* a greater generation was staged before the one under way was active (HM-6) */
// clang-format on

enum class Milestone : std::uint8_t {
#define HOLDFAST_MILESTONE_ENUMERATOR(name) name,
  HOLDFAST_MILESTONES(HOLDFAST_MILESTONE_ENUMERATOR)
#undef HOLDFAST_MILESTONE_ENUMERATOR
};
// One by one, because BOOST_DESCRIBE_ENUM takes no more than 52 at once.
#define HOLDFAST_MILESTONE_ENTRY(name) BOOST_DESCRIBE_ENUM_ENTRY(Milestone, name)
BOOST_DESCRIBE_ENUM_BEGIN(Milestone)
HOLDFAST_MILESTONES(HOLDFAST_MILESTONE_ENTRY)
BOOST_DESCRIBE_ENUM_END(Milestone)
#undef HOLDFAST_MILESTONE_ENTRY
inline constexpr std::size_t kMilestones = obs::kEnumeratorCount<Milestone>;

/// Whether a run whose members agree on themselves can reach it.
constexpr bool isOfEpochs(Milestone milestone) { return milestone < Milestone::homeMapActivated; }

/// Whether a run whose members an operator publishes can reach it. A map has no lease that could lapse.
constexpr bool isOfHomeMaps(Milestone milestone) {
  switch (milestone) {
    case Milestone::memberRemoved:
    case Milestone::memberAdded:
    case Milestone::memberReplaced:
    case Milestone::caughtUp:
    case Milestone::refused503NotMember:
      return true;
    default:
      return milestone != Milestone::membershipLapsed &&
             (milestone < Milestone::proposalFailureDriven || milestone >= Milestone::homeMapActivated);
  }
}

/// Whether a run whose members are given can reach it.
constexpr bool isOfFixedMembers(Milestone milestone) { return milestone < Milestone::proposalFailureDriven; }

class Coverage {
 public:
  /// Counts one observation of `node`.
  template <class T>
  void add(const T& what, sim::NodeId node = sim::NodeId::none());

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
  void install(const obs::MembershipInstalled& what, sim::NodeId node);
  void stage(std::uint32_t generation);
  void acknowledge(std::uint32_t generation, sim::NodeId node);

  // Of the run that is going on: its newest membership, and who waits for the first one with a new identity.
  std::uint32_t newest_ = 0;
  obs::NodeBits members_;
  obs::NodeBits joining_;
  std::uint32_t staged_ = 0;    // the greatest generation that was staged
  obs::NodeBits acknowledged_;  // by whom it was acknowledged

  std::array<std::uint64_t, kObservationKinds> kinds_{};
  std::array<std::uint64_t, kPaths> admissions_{};
  std::array<std::array<std::uint64_t, kCauses>, kErrorClasses> refusals_{};
  std::array<std::uint64_t, kMilestones> milestones_{};
};

template <class T>
void Coverage::add(const T& what, sim::NodeId node) {
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
  } else if constexpr (std::is_same_v<T, obs::ProposalStarted>) {
    reach(what.administrative ? Milestone::proposalAdministrative : Milestone::proposalFailureDriven);
  } else if constexpr (std::is_same_v<T, obs::ProposalAbandoned>) {
    reach(Milestone::duel, what.cause == obs::Cause::superseded && what.counter > 0);
  } else if constexpr (std::is_same_v<T, obs::MembershipPromised>) {
    reach(Milestone::acceptedBefore, what.accepted);
    reach(Milestone::protectionCarried, what.carried > sim::Duration{});
  } else if constexpr (std::is_same_v<T, obs::MembershipJoining>) {
    joining_.insert(node);
    reach(Milestone::joiningCorrupted, what.why == obs::JoiningReason::corrupted);
  } else if constexpr (std::is_same_v<T, obs::MembershipInstalled>) {
    install(what, node);
  } else if constexpr (std::is_same_v<T, obs::HomeMapStaged>) {
    stage(what.generation);
  } else if constexpr (std::is_same_v<T, obs::HomeMapAcknowledged>) {
    acknowledge(what.generation, node);
  } else if constexpr (std::is_same_v<T, obs::NodeCrashed>) {
    reach(Milestone::acknowledgementDied, acknowledged_.contains(node) && newest_ < staged_);
  }
}

}  // namespace holdfast::scenarios
