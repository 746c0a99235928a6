// Counters that are printed and added up by reflection, so that a new counter needs one line.
#pragma once

#include <algorithm>
#include <array>
#include <boost/mp11/algorithm.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "observations/reflect.hpp"

namespace holdfast::checkers {

/// One counter for each enumerator of E, whose values must be 0, 1, 2 ... .
template <obs::DescribedEnum E>
class CountBy {
 public:
  void add(E which, std::uint64_t n = 1) {
    const std::size_t i = static_cast<std::size_t>(which);
    if (i < counts_.size()) counts_[i] += n;
  }
  std::uint64_t operator[](E which) const {
    const std::size_t i = static_cast<std::size_t>(which);
    return i < counts_.size() ? counts_[i] : 0;
  }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : counts_) sum += n;
    return sum;
  }
  void merge(const CountBy& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  friend bool operator==(const CountBy&, const CountBy&) = default;

  /// Calls visit(enumerator's name, count) in the order of declaration.
  template <class Visit>
  void forEach(Visit&& visit) const {
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
        [&](auto enumerator) { visit(std::string_view(enumerator.name), (*this)[enumerator.value]); });
  }

 private:
  std::array<std::uint64_t, obs::kEnumeratorCount<E>> counts_{};
};

/// The smallest seed of a sweep at which each enumerator of E was met; the order of merging does not matter.
template <obs::DescribedEnum E>
class FirstSeed {
 public:
  static constexpr std::uint64_t kNever = UINT64_MAX;

  FirstSeed() { seeds_.fill(kNever); }
  void note(E which, std::uint64_t seed) {
    std::uint64_t& mine = seeds_[static_cast<std::size_t>(which)];
    mine = std::min(mine, seed);
  }
  /// kNever when it was not met.
  std::uint64_t operator[](E which) const { return seeds_[static_cast<std::size_t>(which)]; }
  void merge(const FirstSeed& other) {
    for (std::size_t i = 0; i < seeds_.size(); ++i) seeds_[i] = std::min(seeds_[i], other.seeds_[i]);
  }
  friend bool operator==(const FirstSeed&, const FirstSeed&) = default;

 private:
  std::array<std::uint64_t, obs::kEnumeratorCount<E>> seeds_;
};

template <obs::Described T>
void mergeFields(T& into, const T& from);

namespace detail {
template <class T>
void mergeOne(T& into, const T& from) {
  if constexpr (std::is_integral_v<T>) {
    into += from;
  } else if constexpr (requires { into.merge(from); }) {
    into.merge(from);
  } else {
    mergeFields(into, from);
  }
}
}  // namespace detail

/// Adds every field of `from` to that of `into`: integers are summed, values with merge() are merged, and
/// described structs are taken field by field.
template <obs::Described T>
void mergeFields(T& into, const T& from) {
  boost::mp11::mp_for_each<obs::FieldsOf<T>>(
      [&](auto field) { detail::mergeOne(into.*field.pointer, from.*field.pointer); });
}

/// Calls visit(name, value) for every counter in a described struct, with names like
/// "callers.admissions.cached". A FirstSeed is no counter and is passed over.
template <obs::Described T, class Visit>
void forEachCounter(const T& counters, Visit&& visit, const std::string& stem = {}) {
  obs::forEachField(counters, [&]<class Field>(std::string_view name, const Field& field) {
    std::string full = stem + std::string(name);
    if constexpr (std::is_integral_v<Field>) {
      visit(std::string_view(full), static_cast<std::uint64_t>(field));
    } else if constexpr (requires { field.forEach([](std::string_view, std::uint64_t) {}); }) {
      full += '.';
      field.forEach([&](std::string_view enumerator, std::uint64_t n) {
        visit(std::string_view(full + std::string(enumerator)), n);
      });
    } else if constexpr (obs::Described<Field>) {
      forEachCounter(field, visit, full + '.');
    }
  });
}

}  // namespace holdfast::checkers
