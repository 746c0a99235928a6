// CK-2 as a fact of the compiler: no type that is sent over the network holds an instant.
//
// WireSafe<T> walks T recursively through its described fields and through the containers that messages are
// made of. It is false as soon as an instant of any clock turns up, and for whatever it cannot look into: a
// pointer, a class that is not described, or one whose description leaves a field out.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/pfr/tuple_size.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "observations/reflect.hpp"
#include "protocol/dependency_set.hpp"
#include "protocol/messages.hpp"
#include "sim/time.hpp"

namespace holdfast::protocol {
namespace wire_safety {

template <class T>
struct Safe;

/// All described fields are safe, and there are no others.
template <class T>
constexpr bool fieldsAreSafe() {
  if constexpr (!obs::Described<T> || !std::is_aggregate_v<T>) {
    return false;
  } else if constexpr (obs::kFieldCountOf<T> != boost::pfr::tuple_size_v<T>) {
    return false;
  } else {
    bool safe = true;
    boost::mp11::mp_for_each<obs::FieldsOf<T>>([&](auto field) {
      using Field = std::remove_cvref_t<decltype(std::declval<T>().*field.pointer)>;
      safe = safe && Safe<Field>::value;
    });
    return safe;
  }
}

template <class T>
struct Safe {
  static constexpr bool value = std::is_arithmetic_v<T> || std::is_enum_v<T> || fieldsAreSafe<T>();
};

template <class Clock>
struct Safe<sim::Instant<Clock>> : std::false_type {};
template <>
struct Safe<DependencySet> : Safe<DependencySet::Entries::value_type> {};
template <class... T>
struct Safe<std::variant<T...>> : std::bool_constant<(Safe<T>::value && ...)> {};
template <class T>
struct Safe<std::optional<T>> : Safe<T> {};
template <class T, std::size_t N>
struct Safe<std::array<T, N>> : Safe<T> {};
template <class T, std::size_t N, class... Options>
struct Safe<boost::container::small_vector<T, N, Options...>> : Safe<T> {};
template <class T>
struct Safe<std::vector<T>> : Safe<T> {};
template <>
struct Safe<std::monostate> : std::true_type {};

}  // namespace wire_safety

/// T may be sent to another node.
template <class T>
concept WireSafe = wire_safety::Safe<T>::value;

static_assert(WireSafe<Message>, "CK-2: a message holds an instant; send the remaining Duration instead");

}  // namespace holdfast::protocol
