// JSON Schema (draft 2020-12) of described structs, from the descriptions that reflected_json.hpp reads by.
//
// Contract: a text is valid under the schema if and only if readJson() accepts it with members left out. What
// the values mean together, and so what range they must be in, is for the document's own schema to add.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "observations/types.hpp"
#include "scenarios/reflected_json.hpp"

namespace holdfast::scenarios {

/// The schema of one type, without the members that only the root of a document has.
template <class T>
Json schemaOf() {
  if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_integral_v<T>) {
    return {{"type", "integer"},
            {"minimum", std::numeric_limits<T>::min()},
            {"maximum", std::numeric_limits<T>::max()}};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (obs::DescribedEnum<T>) {
    Json names = Json::array();
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
        [&](auto enumerator) { names.push_back(enumerator.name); });
    return {{"enum", std::move(names)}};
  } else if constexpr (detail::kIsOptional<T>) {
    return {{"anyOf", Json::array({schemaOf<typename T::value_type>(), Json{{"type", "null"}}})}};
  } else if constexpr (detail::kIsVector<T>) {
    return {{"type", "array"}, {"items", schemaOf<typename T::value_type>()}};
  } else if constexpr (detail::kIsArray<T>) {
    constexpr std::size_t kSize = std::tuple_size_v<T>;
    return {{"type", "array"},
            {"items", schemaOf<typename T::value_type>()},
            {"minItems", kSize},
            {"maxItems", kSize}};
  } else if constexpr (detail::Single<T>) {
    Json schema;
    const T value{};
    obs::forEachField(value, [&](std::string_view name, const auto& field) {
      schema = schemaOf<std::remove_cvref_t<decltype(field)>>();
      if (name == "ns") schema["description"] = "nanoseconds";
    });
    if constexpr (detail::Identity<T>) schema["type"] = Json::array({"integer", "null"});
    return schema;
  } else {
    static_assert(obs::Described<T>);
    Json members = Json::object();
    const T value{};
    obs::forEachField(value, [&](std::string_view name, const auto& field) {
      members[std::string(name)] = schemaOf<std::remove_cvref_t<decltype(field)>>();
    });
    return {{"type", "object"}, {"properties", std::move(members)}, {"additionalProperties", false}};
  }
}

}  // namespace holdfast::scenarios
