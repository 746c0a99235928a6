// The hash chain: one 64-bit number that stands for a whole run up to now.
//
// Contract: the value after n observations is a function of their described fields alone. Each observation is
// packed as 64-bit little-endian words (true instant, node, tag of its kind, then each field in order of
// declaration) and hashed with XXH3 seeded by the value before it, so that compilers, optimisation, padding
// and word order have no say in it. It costs a few nanoseconds an observation and allocates nothing, so it is
// kept for every run, whether or not a trace is written.
#pragma once

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/mp11/algorithm.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "observations/kinds.hpp"
#include "observations/observation.hpp"

namespace holdfast::obs {

template <class T>
inline constexpr bool kIsArray = false;
template <class T, std::size_t N>
inline constexpr bool kIsArray<std::array<T, N>> = true;

/// How many 64-bit words packWords writes for a T.
template <class T>
constexpr std::size_t wordCount() {
  if constexpr (Described<T>) {
    std::size_t words = 0;
    boost::mp11::mp_for_each<FieldsOf<T>>([&](auto field) {
      words += wordCount<std::remove_cvref_t<decltype(std::declval<T>().*field.pointer)>>();
    });
    return words;
  } else if constexpr (kIsArray<T>) {
    return std::tuple_size_v<T> * wordCount<typename T::value_type>();
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "describe it, or give it a packing");
    return 1;
  }
}

/// Writes the described fields of `value` to `out`, a word each, and returns the end of what was written.
/// Signed integers are sign-extended, an enumerator is its number, a bool is 0 or 1.
template <class T>
[[gnu::always_inline]] constexpr std::uint64_t* packWords(const T& value, std::uint64_t* out) {
  if constexpr (Described<T>) {
    boost::mp11::mp_for_each<FieldsOf<T>>(
        [&](auto field) __attribute__((always_inline)) { out = packWords(value.*field.pointer, out); });
    return out;
  } else if constexpr (kIsArray<T>) {
    for (const auto& element : value) out = packWords(element, out);
    return out;
  } else {
    *out = static_cast<std::uint64_t>(value);
    return out + 1;
  }
}

namespace detail {

template <class Variant>
struct MostWords;
template <class... T>
struct MostWords<std::variant<T...>> {
  static constexpr std::size_t value = std::max({wordCount<T>()...});
};

}  // namespace detail

/// Words before an observation's own fields: true instant, node, tag of the kind.
inline constexpr std::size_t kStampWords = 3;
/// Room for any packed observation.
inline constexpr std::size_t kMaxWords = kStampWords + detail::MostWords<Observation>::value;
// Beyond 240 bytes XXH3 derives a secret from the seed for every call, ten times the cost.
static_assert(kMaxWords * sizeof(std::uint64_t) <= 240,
              "an observation has too many words to be hashed cheaply");

using WordBuffer = std::array<std::uint64_t, kMaxWords>;

/// Packs one observation whose type is known; returns how many words were written.
template <class T>
[[gnu::always_inline]] inline std::size_t packObservation(TrueInstant at, NodeId node, const T& what,
                                                          WordBuffer& words) {
  constexpr std::uint64_t tag = kindTag(typeName<T>());
  words[0] = static_cast<std::uint64_t>(at.ns);
  words[1] = node.value;
  words[2] = tag;
  return static_cast<std::size_t>(packWords(what, words.data() + kStampWords) - words.data());
}

/// Packs one observation; returns how many words were written.
inline std::size_t packObservation(const Stamped& stamped, WordBuffer& words) {
  return boost::mp11::mp_with_index<std::variant_size_v<Observation>>(
      stamped.what.index(), [&](auto kind) __attribute__((always_inline)) {
        return packObservation(stamped.at, stamped.node, *std::get_if<kind>(&stamped.what), words);
      });
}

/// Whether two observations agree in instant, node, kind and every field.
inline bool sameObservation(const Stamped& a, const Stamped& b) {
  WordBuffer wordsOfA;
  WordBuffer wordsOfB;
  const std::size_t count = packObservation(a, wordsOfA);
  return count == packObservation(b, wordsOfB) &&
         std::equal(wordsOfA.begin(), wordsOfA.begin() + static_cast<std::ptrdiff_t>(count),
                    wordsOfB.begin());
}

/// Chains observations into one number; a value that can be copied along with a run.
class HashChain {
 public:
  /// Chains one more observation and returns the new value.
  std::uint64_t add(const Stamped& stamped) {
    return boost::mp11::mp_with_index<kKindCount>(
        stamped.what.index(), [&](auto kind) __attribute__((always_inline)) {
          return add(Stamp{stamped.at, stamped.node}, *std::get_if<kind>(&stamped.what));
        });
  }

  /// The same for an observation whose type is known where it is made, which saves the dispatch.
  template <class T>
  std::uint64_t add(Stamp stamp, const T& what) {
    static_assert(boost::mp11::mp_find<Observation, T>::value < kKindCount, "no observation");
    WordBuffer words;
    return addWords(words, packObservation(stamp.at, stamp.node, what, words));
  }

  /// The value after all observations so far; 0 before the first.
  std::uint64_t value() const { return value_; }
  /// How many observations were chained.
  std::uint64_t count() const { return count_; }

  friend bool operator==(const HashChain&, const HashChain&) = default;

 private:
  std::uint64_t addWords(WordBuffer& words, std::size_t count) {
    if constexpr (std::endian::native == std::endian::big) {
      for (std::size_t i = 0; i < count; ++i) words[i] = std::byteswap(words[i]);
    }
    value_ = XXH3_64bits_withSeed(words.data(), count * sizeof(std::uint64_t), value_);
    ++count_;
    return value_;
  }

  std::uint64_t value_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace holdfast::obs
