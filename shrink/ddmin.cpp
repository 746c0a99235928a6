#include "shrink/ddmin.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace holdfast::shrink {
namespace {

/// `kept` in `parts` chunks whose sizes differ by one at most; none is empty.
std::vector<Subset> chunksOf(const Subset& kept, std::size_t parts) {
  std::vector<Subset> chunks;
  for (std::size_t i = 0; i < parts; ++i) {
    const auto begin = kept.begin() + static_cast<std::ptrdiff_t>(kept.size() * i / parts);
    const auto end = kept.begin() + static_cast<std::ptrdiff_t>(kept.size() * (i + 1) / parts);
    chunks.emplace_back(begin, end);
  }
  return chunks;
}

Subset without(const Subset& kept, const Subset& chunk) {
  Subset rest;
  std::ranges::set_difference(kept, chunk, std::back_inserter(rest));
  return rest;
}

}  // namespace

Subset ddmin(std::size_t size, const FirstFailing& firstFailing) {
  // The paper takes for granted that nothing at all passes.
  if (firstFailing(std::vector<Subset>{{}})) return {};
  Subset kept(size);
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  std::size_t parts = 2;
  while (kept.size() >= 2) {
    std::vector<Subset> candidates = chunksOf(kept, parts);
    // Of two chunks each is the other's complement.
    for (std::size_t i = 0; parts > 2 && i < parts; ++i) candidates.push_back(without(kept, candidates[i]));
    if (const auto failing = firstFailing(candidates)) {
      kept = std::move(candidates[*failing]);
      parts = *failing < parts ? 2 : std::max<std::size_t>(parts - 1, 2);
    } else if (parts < kept.size()) {
      parts = std::min(parts * 2, kept.size());
    } else {
      break;
    }
    parts = std::min(parts, std::max<std::size_t>(kept.size(), 2));
  }
  return kept;
}

}  // namespace holdfast::shrink
