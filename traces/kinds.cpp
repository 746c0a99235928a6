#include "traces/kinds.hpp"

#include <algorithm>
#include <boost/mp11/algorithm.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "observations/hash_chain.hpp"

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

/// Spells out the type of a field, down to bits and enumerators.
template <class T>
void appendType(std::string& out) {
  if constexpr (obs::Described<T>) {
    out += '{';
    obs::forEachField(T{}, [&](std::string_view name, const auto& field) {
      out += name;
      out += ':';
      appendType<std::remove_cvref_t<decltype(field)>>(out);
      out += ';';
    });
    out += '}';
  } else if constexpr (obs::kIsArray<T>) {
    for (std::size_t i = 0; i < std::tuple_size_v<T>; ++i) appendType<typename T::value_type>(out);
  } else if constexpr (obs::DescribedEnum<T>) {
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
      out += enumerator.name;
      out += ',';
    });
  } else {
    out +=
        std::is_same_v<T, bool> ? "bool" : (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
  }
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

std::uint64_t vocabularyHash() {
  static const std::uint64_t hash = [] {
    // Sorted by name, as numbers of kinds mean nothing.
    std::vector<std::string> kinds;
    boost::mp11::mp_for_each<boost::mp11::mp_iota_c<kKindCount>>([&](auto kind) {
      std::string& text = kinds.emplace_back(kKindNames[kind]);
      appendType<ObservationOf<kind>>(text);
    });
    std::sort(kinds.begin(), kinds.end());
    std::string all;
    for (const std::string& kind : kinds) all += kind + '\n';
    return XXH3_64bits(all.data(), all.size());
  }();
  return hash;
}

}  // namespace holdfast::traces
