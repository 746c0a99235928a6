// What numbers that grow without end are called when nothing but their order counts.
//
// Tokens and request ids are compared, and a new one is greater than all of its issuer's. So two states that
// differ in these numbers, but neither in their order nor in which of them are equal, behave alike from now
// on: whatever one does the other does, with its own numbers. Renumbered, the numbers of a state are those of
// their ranks among all that it holds, and a cluster that hands a key to and fro comes back to where it was.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace holdfast::protocol {

/// Kinds of numbers that are compared with their own kind only.
enum class Growing : std::uint8_t { token, request };

class Renumbering {
 public:
  /// While it collects, every number that it is asked for is noted and stays as it is.
  std::uint64_t of(Growing kind, std::uint64_t number) {
    std::vector<std::uint64_t>& met = met_[static_cast<std::size_t>(kind)];
    if (collects_) {
      met.push_back(number);
      return number;
    }
    // 0 says that there is none, and must go on saying so.
    if (number == 0) return 0;
    return static_cast<std::uint64_t>(std::ranges::lower_bound(met, number) - met.begin()) + 1;
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
  std::array<std::vector<std::uint64_t>, 2> met_;
  bool collects_ = true;
};

}  // namespace holdfast::protocol
