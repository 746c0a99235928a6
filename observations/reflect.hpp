// Compile-time reflection of plain structs and enums: names and values of fields, in declaration order.
//
// Every struct that is hashed, written to a trace or sent over the wire is described once with
// BOOST_DESCRIBE_STRUCT; hashing, JSON and the check that no instant crosses the network (CK-2) are all
// derived from that one description, so that none of them can forget a field.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace holdfast::obs {

template <class T>
using FieldsOf = boost::describe::describe_members<T, boost::describe::mod_public>;

template <class T>
concept Described = boost::describe::has_describe_members<std::remove_cvref_t<T>>::value;

template <class T>
concept DescribedEnum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

/// Calls `visit(name, field)` for each described field of `object`, in declaration order.
template <Described T, class Visit>
constexpr void forEachField(T&& object, Visit&& visit) {
  boost::mp11::mp_for_each<FieldsOf<std::remove_cvref_t<T>>>(
      [&](auto field) { visit(std::string_view(field.name), object.*field.pointer); });
}

template <class T>
constexpr std::size_t kFieldCountOf = boost::mp11::mp_size<FieldsOf<T>>::value;

/// The enumerator's own spelling, or "?" for a value that has none.
template <DescribedEnum E>
constexpr std::string_view nameOf(E value) {
  std::string_view name = "?";
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto enumerator) {
    if (enumerator.value == value) name = enumerator.name;
  });
  return name;
}

/// The enumerator spelled `name`; false and no change when there is none.
template <DescribedEnum E>
constexpr bool enumFromName(std::string_view name, E& value) {
  bool found = false;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto enumerator) {
    if (name == enumerator.name) {
      value = enumerator.value;
      found = true;
    }
  });
  return found;
}

template <DescribedEnum E>
constexpr std::size_t kEnumeratorCount =
    boost::mp11::mp_size<boost::describe::describe_enumerators<E>>::value;

}  // namespace holdfast::obs
