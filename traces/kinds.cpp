#include "traces/kinds.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace holdfast::traces {

namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Insertions, deletions and substitutions that turn `a` into `b`, case ignored.
std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::size_t> kindFromName(std::string_view name) {
  const auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kKindNames.begin());
}

std::string_view nearestKindName(std::string_view name) {
  // The longest name has some 20 letters; more of a hostile one adds nothing but work.
  const std::string_view start = name.substr(0, 40);
  std::string_view nearest = kKindNames[0];
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : kKindNames) {
    const std::size_t distance = editDistance(start, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace holdfast::traces
