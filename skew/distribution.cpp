#include "skew/distribution.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace holdfast::skew {
namespace {

using scenarios::Fault;
using scenarios::FaultKind;
using scenarios::Milestone;

constexpr std::int64_t kMs = 1'000'000;

// Limits and how the places between them are called. Leases in ns, rates in ppb, shares in percent.
constexpr std::array<std::int64_t, 5> kLeaseLimits{2'000 * kMs, 3'000 * kMs, 5'000 * kMs, 7'000 * kMs,
                                                   9'000 * kMs};
constexpr std::array<std::string_view, 6> kLeaseNames{"below 2 s", "2 to 3 s", "3 to 5 s",
                                                      "5 to 7 s",  "7 to 9 s", "9 s or more"};
constexpr std::array<std::int64_t, 5> kBoundLimits{2'500'000, 5'000'000, 10'000'000, 20'000'000, 40'000'001};
constexpr std::array<std::string_view, 6> kBoundNames{"below 2,500 ppm", "to 5,000 ppm",  "to 10,000 ppm",
                                                      "to 20,000 ppm",   "to 40,000 ppm", "more"};
constexpr std::array<std::int64_t, 5> kShareLimits{1, 25, 50, 75, 100};
constexpr std::array<std::string_view, 6> kShareNames{"none",       "below 25 %", "25 to 50 %",
                                                      "50 to 75 %", "75 to 99 %", "all of it"};
constexpr std::array<std::int64_t, 4> kStepLimits{1'000 * kMs, 60'000 * kMs, 3'600'000 * kMs,
                                                  6 * 3'600'000 * kMs};
constexpr std::array<std::string_view, 5> kStepNames{"below 1 s", "1 s to 1 min", "1 min to 1 h",
                                                     "1 h to 6 h", "6 h or more"};
constexpr std::array<std::int64_t, 4> kStopLimits{100 * kMs, 1'000 * kMs, 3'000 * kMs, 10'000 * kMs};
constexpr std::array<std::string_view, 5> kStopNames{"below 100 ms", "100 ms to 1 s", "1 to 3 s", "3 to 10 s",
                                                     "10 s or more"};

// Of what a run can meet, what these properties are about.
constexpr std::array kShown{Milestone::handoff,
                            Milestone::renewal,
                            Milestone::recall,
                            Milestone::delegationLapsed,
                            Milestone::grantExpired,
                            Milestone::grantRejected,
                            Milestone::drainCutShort,
                            Milestone::fenceWaited,
                            Milestone::barrier,
                            Milestone::membershipLapsed,
                            Milestone::epochDecided,
                            Milestone::refused409Expired,
                            Milestone::refused503Activation};

template <std::size_t N>
void sum(std::array<std::uint64_t, N>& into, const std::array<std::uint64_t, N>& from) {
  for (std::size_t i = 0; i < N; ++i) into[i] += from[i];
}

template <std::size_t Limits>
CountGroup groupOf(std::string title, const Histogram<Limits>& histogram,
                   const std::array<std::string_view, Limits + 1>& names) {
  CountGroup group{std::move(title), {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (histogram.counts[i] > 0) group.counts.emplace_back(names[i], histogram.counts[i]);
  }
  return group;
}

template <class Enum, std::size_t N>
CountGroup groupOf(std::string title, const std::array<std::uint64_t, N>& counts, bool zeros = true) {
  CountGroup group{std::move(title), {}};
  for (std::size_t i = 0; i < N; ++i) {
    if (zeros || counts[i] > 0) group.counts.emplace_back(obs::nameOf(static_cast<Enum>(i)), counts[i]);
  }
  return group;
}

/// The largest rate, either way, that a node's monotonic clock ever has.
std::int64_t largestRate(const NodeHistory& history) {
  std::int64_t largest = std::abs(history.clock.ratePpb);
  for (const Fault& fault : history.faults) {
    if (fault.kind == FaultKind::rateChange) largest = std::max(largest, std::abs(fault.amount));
  }
  return largest;
}

}  // namespace

void Distribution::add(const Generated& made, const scenarios::RunReport& report) {
  ++cases_;
  if (!made.insideAssumption()) ++outside_;
  largestExcess_ = std::max(largestExcess_, made.driftPpb - made.coveredPpb);
  ++families_[static_cast<std::size_t>(made.family)];
  const protocol::ProtocolOptions& protocol = made.whole.options.protocol;
  ++memberships_[static_cast<std::size_t>(protocol.membership)];
  leases_.add(kLeaseLimits, protocol.maxDelegation.ns);
  bounds_.add(kBoundLimits, made.driftPpb);
  for (const NodeHistory& history : made.histories) {
    ++rates_[static_cast<std::size_t>(history.rate)];
    ++walls_[static_cast<std::size_t>(history.wall)];
    ++stalls_[static_cast<std::size_t>(history.stall)];
    shares_.add(kShareLimits, made.driftPpb == 0 ? 0 : largestRate(history) * 100 / made.driftPpb);
  }
  for (const Fault& fault : made.whole.plan.faults) {
    ++faults_[static_cast<std::size_t>(fault.kind)];
    if (fault.kind == FaultKind::wallJump) wallSteps_.add(kStepLimits, std::abs(fault.amount));
    if (fault.kind == FaultKind::pause || fault.kind == FaultKind::suspend) {
      stops_.add(kStopLimits, fault.duration.ns);
    }
  }
  admissions_ += report.coverage.admissions();
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    paths_[i] += report.coverage.admissions(static_cast<obs::Path>(i));
  }
  for (std::size_t i = 0; i < milestones_.size(); ++i) {
    milestones_[i] += report.coverage.count(static_cast<Milestone>(i));
  }
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    if (report.findings.count(static_cast<checkers::Route>(i)) > 0) ++routes_[i];
  }
}

Distribution& Distribution::operator+=(const Distribution& other) {
  cases_ += other.cases_;
  outside_ += other.outside_;
  largestExcess_ = std::max(largestExcess_, other.largestExcess_);
  admissions_ += other.admissions_;
  sum(families_, other.families_);
  sum(memberships_, other.memberships_);
  sum(leases_.counts, other.leases_.counts);
  sum(bounds_.counts, other.bounds_.counts);
  sum(rates_, other.rates_);
  sum(walls_, other.walls_);
  sum(stalls_, other.stalls_);
  sum(shares_.counts, other.shares_.counts);
  sum(wallSteps_.counts, other.wallSteps_.counts);
  sum(stops_.counts, other.stops_.counts);
  sum(faults_, other.faults_);
  sum(paths_, other.paths_);
  sum(milestones_, other.milestones_);
  sum(routes_, other.routes_);
  return *this;
}

std::vector<CountGroup> Distribution::groups() const {
  std::vector<CountGroup> groups;
  groups.push_back(groupOf<Family>("cases by family", families_));
  groups.push_back(groupOf<protocol::MembershipKind>("cases by membership", memberships_, false));
  groups.push_back(groupOf("cases by lease", leases_, kLeaseNames));
  groups.push_back(groupOf("cases by bound of rates", bounds_, kBoundNames));
  groups.push_back(groupOf<RateStyle>("monotonic clocks", rates_));
  groups.push_back(groupOf("monotonic clocks by share of the bound", shares_, kShareNames));
  groups.push_back(groupOf<WallStyle>("wall clocks", walls_));
  groups.push_back(groupOf("wall clock settings by size", wallSteps_, kStepNames));
  groups.push_back(groupOf<StallStyle>("processes", stalls_));
  groups.push_back(groupOf("pauses and stops by length", stops_, kStopNames));
  groups.push_back(groupOf<FaultKind>("faults", faults_, false));
  groups.push_back(groupOf<obs::Path>("admissions by path", paths_));
  CountGroup met{"met", {}};
  for (const Milestone milestone : kShown) {
    met.counts.emplace_back(obs::nameOf(milestone), milestones_[static_cast<std::size_t>(milestone)]);
  }
  groups.push_back(std::move(met));
  CountGroup routes = groupOf<checkers::Route>("cases by documented limitation", routes_);
  routes.counts.erase(routes.counts.begin());  // none
  groups.push_back(std::move(routes));
  return groups;
}

}  // namespace holdfast::skew
