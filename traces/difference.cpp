#include "traces/difference.hpp"

#include <algorithm>
#include <array>

#include "observations/hash_chain.hpp"

namespace holdfast::traces {
namespace {

using Fingerprints = std::array<std::vector<std::uint64_t>, obs::kKindCount>;

/// By kind the hashes of its observations, sorted.
Fingerprints fingerprintsOf(std::span<const obs::Stamped> run) {
  Fingerprints prints;
  for (const obs::Stamped& stamped : run) {
    obs::HashChain alone;
    prints[stamped.what.index()].push_back(alone.add(stamped));
  }
  for (auto& kind : prints) std::ranges::sort(kind);
  return prints;
}

std::uint64_t missing(const std::vector<std::uint64_t>& from, const std::vector<std::uint64_t>& in) {
  std::vector<std::uint64_t> only;
  std::ranges::set_difference(from, in, std::back_inserter(only));
  return only.size();
}

}  // namespace

std::vector<KindDifference> differencesByKind(std::span<const obs::Stamped> first,
                                              std::span<const obs::Stamped> second) {
  const Fingerprints ofFirst = fingerprintsOf(first);
  const Fingerprints ofSecond = fingerprintsOf(second);
  std::vector<KindDifference> differences;
  for (std::size_t kind = 0; kind < obs::kKindCount; ++kind) {
    const KindDifference one{obs::kKindNames[kind], ofFirst[kind].size(), ofSecond[kind].size(),
                             missing(ofFirst[kind], ofSecond[kind]), missing(ofSecond[kind], ofFirst[kind])};
    if (one.onlyFirst + one.onlySecond > 0) differences.push_back(one);
  }
  return differences;
}

}  // namespace holdfast::traces
