// What numbers that grow without end are called when nothing but their order counts.
//
// Tokens and request ids are compared, and a new one is greater than all of its issuer's. So two states that
// differ in these numbers, but neither in their order nor in which of them are equal, behave alike from now
// on: whatever one does the other does, with its own numbers. Renumbered, the numbers of a state are those of
// their ranks among all that it holds, and a cluster that hands a key to and fro comes back to where it was.
//
// A ballot's counter (EP-1) is compared, too, but a new one is greater by one than all that its proposer has
// seen, and others may have seen greater ones: how far they are apart counts. Yet nobody makes one that is
// not greater than the least of what the proposers have seen. Up to there, the floor, order is all that
// counts; beyond it, distance. And how many rounds a proposer has begun is of no account where it does not
// pause in between. So two proposers that outbid each other for ever come back to where they were.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace holdfast::protocol {

/// Kinds of numbers that are compared with their own kind only.
enum class Growing : std::uint8_t { token, request, ballot, attempt };

class Renumbering {
 public:
  /// `pauses`: proposers pause before a round, for how long depends on how many they have begun.
  explicit Renumbering(bool pauses = true) : pauses_(pauses) {}

  /// A proposer makes none but greater ballots; 0 if it makes any. To be noted of each that may make one.
  void noteFloor(std::uint64_t counter) { floor_ = std::min(floor_, counter); }

  /// While it collects, every number that it is asked for is noted and stays as it is.
  std::uint64_t of(Growing kind, std::uint64_t number) {
    std::vector<std::uint64_t>& met = met_[static_cast<std::size_t>(kind)];
    if (kind == Growing::attempt) return pauses_ ? number : 0;
    if (collects_) {
      met.push_back(number);
      return number;
    }
    // 0 says that there is none, and must go on saying so.
    if (number == 0) return 0;
    if (kind != Growing::ballot) return rankOf(met, number);
    return number <= floor_ ? rankOf(met, number) : ranksTo(met, floor_) + (number - floor_);
  }

  /// From now on numbers are ranks, from 1. Precondition: all that will be asked for were noted.
  void settle() {
    collects_ = false;
    for (std::vector<std::uint64_t>& met : met_) {
      std::ranges::sort(met);
      met.erase(std::ranges::unique(met).begin(), met.end());
      std::erase(met, std::uint64_t{0});
    }
  }

 private:
  using Numbers = std::vector<std::uint64_t>;

  static std::uint64_t rankOf(const Numbers& met, std::uint64_t number) {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(met, number) - met.begin()) + 1;
  }
  static std::uint64_t ranksTo(const Numbers& met, std::uint64_t number) {
    return static_cast<std::uint64_t>(std::ranges::upper_bound(met, number) - met.begin());
  }

  std::array<Numbers, 4> met_;
  std::uint64_t floor_ = UINT64_MAX;
  bool pauses_ = true;
  bool collects_ = true;
};

}  // namespace holdfast::protocol
