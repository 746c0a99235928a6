// What was generated, and what the runs of it met: counts, so that a reader sees what a verdict rests on.
//
// Contract: a value that adds up; a distribution of cases is the sum of those of its parts, in any order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/run.hpp"
#include "skew/generate.hpp"

namespace holdfast::skew {

/// Counts of numbers between limits; the last place has what is not below any.
template <std::size_t Limits>
struct Histogram {
  std::array<std::uint64_t, Limits + 1> counts{};

  constexpr void add(const std::array<std::int64_t, Limits>& limits, std::int64_t number) {
    std::size_t place = 0;
    while (place < Limits && number >= limits[place]) ++place;
    ++counts[place];
  }
};

/// A few counts with a title, for people and machines.
struct CountGroup {
  std::string title;
  std::vector<std::pair<std::string, std::uint64_t>> counts;
};

class Distribution {
 public:
  void add(const Generated& made, const scenarios::RunReport& report);
  Distribution& operator+=(const Distribution& other);

  std::uint64_t cases() const { return cases_; }
  /// Cases whose clocks leave what the protocol assumes, and by how much the rates of any did at most, in
  /// ppb.
  std::uint64_t outside() const { return outside_; }
  std::int64_t largestExcessPpb() const { return largestExcess_; }
  std::uint64_t admissions() const { return admissions_; }
  /// Everything, in a fixed order.
  std::vector<CountGroup> groups() const;

 private:
  std::uint64_t cases_ = 0;
  std::uint64_t outside_ = 0;
  std::int64_t largestExcess_ = 0;
  std::uint64_t admissions_ = 0;
  std::array<std::uint64_t, obs::kEnumeratorCount<Family>> families_{};
  std::array<std::uint64_t, obs::kEnumeratorCount<protocol::MembershipKind>> memberships_{};
  Histogram<5> leases_;
  Histogram<5> bounds_;
  std::array<std::uint64_t, obs::kEnumeratorCount<RateStyle>> rates_{};
  std::array<std::uint64_t, obs::kEnumeratorCount<WallStyle>> walls_{};
  std::array<std::uint64_t, obs::kEnumeratorCount<StallStyle>> stalls_{};
  Histogram<5> shares_;
  Histogram<4> wallSteps_;
  Histogram<4> stops_;
  std::array<std::uint64_t, obs::kEnumeratorCount<scenarios::FaultKind>> faults_{};
  std::array<std::uint64_t, scenarios::kPaths> paths_{};
  std::array<std::uint64_t, scenarios::kMilestones> milestones_{};
  std::array<std::uint64_t, checkers::kRoutes> routes_{};
};

}  // namespace holdfast::skew
