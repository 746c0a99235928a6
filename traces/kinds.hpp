// The kinds of observations by name: a kind's name is the name of its struct, and its number the index of
// that struct in the variant, so that a new observation needs no line here.
#pragma once

#include <array>
#include <boost/mp11/list.hpp>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "observations/observation.hpp"

namespace holdfast::traces {

inline constexpr std::size_t kKindCount = std::variant_size_v<obs::Observation>;

template <std::size_t Kind>
using ObservationOf = std::variant_alternative_t<Kind, obs::Observation>;

namespace detail {

template <class T>
constexpr std::string_view signatureNaming() {
  return __PRETTY_FUNCTION__;
}

/// The unqualified name of a struct, cut out of the compiler's spelling of a function that names it: "... [T
/// = a::b::Name]" from clang and "... [with T = a::b::Name; ...]" from g++.
template <class T>
constexpr std::string_view structName() {
  std::string_view text = signatureNaming<T>();
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

template <std::size_t... Kind>
constexpr auto structNames(std::index_sequence<Kind...>) {
  return std::array<std::string_view, sizeof...(Kind)>{structName<ObservationOf<Kind>>()...};
}

}  // namespace detail

/// Names of all kinds, by number.
inline constexpr std::array<std::string_view, kKindCount> kKindNames =
    detail::structNames(std::make_index_sequence<kKindCount>());
static_assert(kKindNames[0] == "LockRequested" && kKindNames[kKindCount - 1] == "RetainedCount");

/// The name of an observation's kind, e.g. "Admitted".
constexpr std::string_view kindName(const obs::Observation& what) { return kKindNames[what.index()]; }

/// The number of the kind of that name, if there is one.
std::optional<std::size_t> kindFromName(std::string_view name);

/// The kind whose name is most like `name`, for "did you mean".
std::string_view nearestKindName(std::string_view name);

}  // namespace holdfast::traces
