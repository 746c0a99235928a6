#include "scenarios/coverage.hpp"

#include <numeric>

namespace holdfast::scenarios {
namespace {

template <class Array>
void addTo(Array& sum, const Array& other) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if constexpr (std::is_integral_v<typename Array::value_type>) {
      sum[i] += other[i];
    } else {
      addTo(sum[i], other[i]);
    }
  }
}

/// Calls `visit` for each number of an array of any depth.
template <class Array, class Visit>
void forEachNumber(Array& array, Visit&& visit) {
  for (auto& element : array) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(element)>>) {
      visit(element);
    } else {
      forEachNumber(element, visit);
    }
  }
}

}  // namespace

std::vector<std::uint64_t> Coverage::numbers() const {
  std::vector<std::uint64_t> all;
  const auto add = [&](std::uint64_t number) { all.push_back(number); };
  forEachNumber(kinds_, add);
  forEachNumber(admissions_, add);
  forEachNumber(refusals_, add);
  forEachNumber(milestones_, add);
  return all;
}

std::optional<Coverage> Coverage::numbered(const std::vector<std::uint64_t>& numbers) {
  Coverage coverage;
  if (numbers.size() != coverage.numbers().size()) return std::nullopt;
  auto next = numbers.begin();
  const auto take = [&](std::uint64_t& number) { number = *next++; };
  forEachNumber(coverage.kinds_, take);
  forEachNumber(coverage.admissions_, take);
  forEachNumber(coverage.refusals_, take);
  forEachNumber(coverage.milestones_, take);
  return coverage;
}

std::uint64_t Coverage::count(Milestone milestone) const {
  using enum Milestone;
  using obs::Cause;
  using obs::ErrorClass;
  switch (milestone) {
    // Those that are the number of observations of a kind, or of a path, or of a refusal.
    case admittedCached:
      return admissions(obs::Path::cached);
    case admittedVirgin:
      return admissions(obs::Path::virgin);
    case admittedClean:
      return admissions(obs::Path::clean);
    case admittedRecovery:
      return admissions(obs::Path::recovery);
    case recall:
      return kind<obs::RecallSent>();
    case recallFailed:
      return kind<obs::RecallFailed>();
    case delegationLapsed:
      return kind<obs::DelegationLapsed>();
    case grantExpired:
      return kind<obs::GrantExpired>();
    case grantRejected:
      return kind<obs::GrantRejected>();
    case handedBack:
      return kind<obs::HandedBack>();
    case queued:
      return kind<obs::Queued>();
    case barrier:
      return kind<obs::BarrierStarted>();
    case barrierSkipped:
      return kind<obs::BarrierSkipped>();
    case lineageLost:
      return kind<obs::LineageLost>();
    case fenceWaited:
      return kind<obs::FenceWaiting>();
    case coordinatorReplaced:
      return kind<obs::CoordinatorReplaced>();
    case membershipLapsed:
      return kind<obs::MembershipLapsed>();
    case reentered:
      return kind<obs::Reentered>();
    case revoked:
      return kind<obs::Revoked>();
    case attemptAborted:
      return kind<obs::AttemptAborted>();
    case gapFound:
      return kind<obs::GapFound>();
    case holeRepaired:
      return kind<obs::HoleRepaired>();
    case crashed:
      return kind<obs::NodeCrashed>();
    case paused:
      return kind<obs::NodePaused>();
    case messageLost:
      return kind<obs::MessageLost>();
    case messageRefused:
      return kind<obs::MessageRefused>();
    case refused503Quarantine:
      return refusals(ErrorClass::lockUnavailable503, Cause::quarantine);
    case refused503HomeUnreachable:
      return refusals(ErrorClass::lockUnavailable503, Cause::homeUnreachable);
    case refused503NoMembership:
      return refusals(ErrorClass::lockUnavailable503, Cause::noMembership);
    case refused503Barrier:
      return refusals(ErrorClass::lockUnavailable503, Cause::barrier);
    case refused423Contended:
      return refusals(ErrorClass::locked423, Cause::contended);
    case refused409Expired:
      return refusals(ErrorClass::conflict409, Cause::expired);
    case refused409Revoked:
      return refusals(ErrorClass::conflict409, Cause::revoked);
    case epochDecided:
      return kind<obs::MembershipDecided>();
    case certificateRefused:
      return kind<obs::CertificateRefused>();
    case refused503Activation:
      return refusals(ErrorClass::lockUnavailable503, Cause::activation);
    case refused503NotMember:
      return refusals(ErrorClass::lockUnavailable503, Cause::notMember);
    case homeMapActivated:
      return kind<obs::HomeMapActivated>();
    case tombstoneReclaimed:
      return kind<obs::TombstoneReclaimed>();
    case homeMapFenced:
      return kind<obs::HomeMapFenced>();
    default:
      return milestones_[static_cast<std::size_t>(milestone)];
  }
}

std::uint64_t Coverage::admissions() const {
  return std::accumulate(admissions_.begin(), admissions_.end(), std::uint64_t{0});
}

std::uint64_t Coverage::refusals(obs::ErrorClass error) const {
  const auto& row = refusals_[static_cast<std::size_t>(error)];
  return std::accumulate(row.begin(), row.end(), std::uint64_t{0});
}

void Coverage::refuse(obs::ErrorClass error, obs::Cause cause) {
  ++refusals_[static_cast<std::size_t>(error)][static_cast<std::size_t>(cause)];
}

void Coverage::install(const obs::MembershipInstalled& what, sim::NodeId node) {
  reach(Milestone::caughtUp, what.number < newest_ && what.number > 1);
  if (joining_.contains(node) && what.members.contains(node) && what.number > 1) {
    reach(Milestone::joinerInstalled);
    joining_.bits &= ~(std::uint64_t{1} << node.value);
  }
  if (what.number <= newest_) return;
  if (newest_ > 0) {
    const bool removed = (members_.bits & ~what.members.bits) != 0;
    const bool added = (what.members.bits & ~members_.bits) != 0;
    reach(Milestone::memberRemoved, removed);
    reach(Milestone::memberAdded, added);
    reach(Milestone::memberReplaced, removed && added);
  }
  newest_ = what.number;
  members_ = what.members;
}

void Coverage::stage(std::uint32_t generation) {
  if (generation <= staged_) return;
  reach(Milestone::changeOvertaken, staged_ > newest_);
  staged_ = generation;
  acknowledged_ = {};
}

void Coverage::acknowledge(std::uint32_t generation, sim::NodeId node) {
  if (generation == staged_) acknowledged_.insert(node);
}

Coverage& Coverage::operator+=(const Coverage& other) {
  addTo(kinds_, other.kinds_);
  addTo(admissions_, other.admissions_);
  addTo(refusals_, other.refusals_);
  addTo(milestones_, other.milestones_);
  return *this;
}

}  // namespace holdfast::scenarios
