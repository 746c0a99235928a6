// The kinds of observations by name: a kind's name is the name of its struct, and its number the index of
// that struct in the variant, so that a new observation needs no line here.
//
// Numbers hold for one build of the tool. What outlives it, traces and their hashes, knows kinds by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "observations/observation.hpp"

namespace holdfast::obs {

inline constexpr std::size_t kKindCount = std::variant_size_v<Observation>;

template <std::size_t Kind>
using ObservationOf = std::variant_alternative_t<Kind, Observation>;

namespace detail {

template <class T>
constexpr std::string_view signatureNaming() {
  return __PRETTY_FUNCTION__;
}

}  // namespace detail

/// The unqualified name of a struct or enum, cut out of the compiler's spelling of a function that names it:
/// "... [T = a::b::Name]" from clang and "... [with T = a::b::Name; ...]" from g++.
template <class T>
constexpr std::string_view typeName() {
  std::string_view text = detail::signatureNaming<T>();
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

namespace detail {

template <std::size_t... Kind>
constexpr auto structNames(std::index_sequence<Kind...>) {
  return std::array<std::string_view, sizeof...(Kind)>{typeName<ObservationOf<Kind>>()...};
}

}  // namespace detail

/// Names of all kinds, by number.
inline constexpr std::array<std::string_view, kKindCount> kKindNames =
    detail::structNames(std::make_index_sequence<kKindCount>());
static_assert(kKindNames[0] == "LockRequested" && kKindNames[kKindCount - 1] == "RetainedCount");

/// The name of an observation's kind, e.g. "Admitted".
constexpr std::string_view kindName(const Observation& what) { return kKindNames[what.index()]; }

/// A number for a kind that other kinds coming and going does not change: FNV-1a of its name, 64 bits.
constexpr std::uint64_t kindTag(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace holdfast::obs
