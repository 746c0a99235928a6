// JSON of described structs, from the same descriptions that hashing and traces use.
//
// Contract: a struct is an object with its described members in order, an enumerator its name, a struct of a
// single member (a Duration, an instant, an id) that member alone, an id of none and an optional of nothing
// are null. readJson() refuses what it does not know: the error names the path of the wrong member, what was
// found and what was expected. json_schema.hpp derives a schema that says the same.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "observations/reflect.hpp"

namespace holdfast::scenarios {

/// Members keep the order of their declaration.
using Json = nlohmann::ordered_json;

namespace detail {

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

template <class T>
inline constexpr bool kIsArray = false;
template <class T, std::size_t n>
inline constexpr bool kIsArray<std::array<T, n>> = true;

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
concept Single = obs::Described<T> && obs::kFieldCountOf<T> == 1;

template <class T>
concept Identity = Single<T> && requires { T::none(); };

/// The names of an enum as "one of a, b, c".
template <obs::DescribedEnum E>
std::string choices() {
  std::string text = "one of";
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>([&](auto enumerator) {
    text += text.back() == 'f' && text.size() == 6 ? " " : ", ";
    text += enumerator.name;
  });
  return text;
}

/// What was found, short enough for a message.
inline std::string shown(const auto& json) {
  std::string text = json.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

inline std::string wrong(const std::string& path, const std::string& expected, const auto& found) {
  return (path.empty() ? "" : path + ": ") + "expected " + expected + ", found " + shown(found);
}

/// The path of a member; the root's own path may be empty.
inline std::string memberOf(const std::string& path, std::string_view name) {
  return (path.empty() ? "" : path + ".") + std::string(name);
}

}  // namespace detail

template <class T>
Json writeJson(const T& value) {
  if constexpr (detail::Identity<T>) {
    return value.valid() ? Json(value.value) : Json(nullptr);
  } else if constexpr (detail::Single<T>) {
    Json json;
    obs::forEachField(value, [&](std::string_view, const auto& field) { json = writeJson(field); });
    return json;
  } else if constexpr (obs::Described<T>) {
    Json json = Json::object();
    obs::forEachField(
        value, [&](std::string_view name, const auto& field) { json[std::string(name)] = writeJson(field); });
    return json;
  } else if constexpr (obs::DescribedEnum<T>) {
    return std::string(obs::nameOf(value));
  } else if constexpr (detail::kIsVector<T> || detail::kIsArray<T>) {
    Json json = Json::array();
    for (const auto& element : value) json.push_back(writeJson(element));
    return json;
  } else if constexpr (detail::kIsOptional<T>) {
    return value ? writeJson(*value) : Json(nullptr);
  } else {
    static_assert(std::is_integral_v<T> || std::is_same_v<T, std::string>);
    return value;
  }
}

/// Whether members of structs may be left out; they keep the values they have.
enum class Missing : std::uint8_t { refused, kept };

/// Reads `json` into `value`; gives what is wrong, or nothing. `path` names the place for the message.
template <class J, class T>
std::optional<std::string> readJson(const J& json, T& value, const std::string& path, Missing missing) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return detail::wrong(path, "true or false", json);
    value = json.template get<bool>();
    return std::nullopt;
  } else if constexpr (std::is_integral_v<T>) {
    const std::string range = "an integer from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                              std::to_string(std::numeric_limits<T>::max());
    if (!json.is_number_integer()) return detail::wrong(path, range, json);
    if (json.is_number_unsigned()) {
      const auto number = json.template get<std::uint64_t>();
      if (number > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
        return detail::wrong(path, range, json);
      }
      value = static_cast<T>(number);
      return std::nullopt;
    }
    const auto number = json.template get<std::int64_t>();
    // A number that was put in by code is signed although it is positive.
    if (number > 0 &&
        static_cast<std::uint64_t>(number) > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
      return detail::wrong(path, range, json);
    }
    if constexpr (std::is_signed_v<T>) {
      if (number < static_cast<std::int64_t>(std::numeric_limits<T>::min())) {
        return detail::wrong(path, range, json);
      }
    } else if (number < 0) {
      return detail::wrong(path, range, json);
    }
    value = static_cast<T>(number);
    return std::nullopt;
  } else if constexpr (obs::DescribedEnum<T>) {
    if (!json.is_string() || !obs::enumFromName(json.template get<std::string>(), value)) {
      return detail::wrong(path, detail::choices<T>(), json);
    }
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return detail::wrong(path, "a string", json);
    value = json.template get<std::string>();
    return std::nullopt;
  } else if constexpr (detail::kIsOptional<T>) {
    value.reset();
    if (json.is_null()) return std::nullopt;
    return readJson(json, value.emplace(), path, missing);
  } else if constexpr (detail::kIsArray<T>) {
    if (!json.is_array() || json.size() != value.size()) {
      return detail::wrong(path, "an array of " + std::to_string(value.size()), json);
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto error = readJson(json[i], value[i], path + "[" + std::to_string(i) + "]", missing)) {
        return error;
      }
    }
    return std::nullopt;
  } else if constexpr (detail::kIsVector<T>) {
    if (!json.is_array()) return detail::wrong(path, "an array", json);
    value.clear();
    for (std::size_t i = 0; i < json.size(); ++i) {
      value.emplace_back();
      if (auto error = readJson(json[i], value.back(), path + "[" + std::to_string(i) + "]", missing)) {
        return error;
      }
    }
    return std::nullopt;
  } else if constexpr (detail::Single<T>) {
    if constexpr (detail::Identity<T>) {
      if (json.is_null()) {
        value = T::none();
        return std::nullopt;
      }
    }
    std::optional<std::string> error;
    obs::forEachField(value,
                      [&](std::string_view, auto& field) { error = readJson(json, field, path, missing); });
    return error;
  } else {
    static_assert(obs::Described<T>);
    if (!json.is_object()) return detail::wrong(path, "an object", json);
    std::optional<std::string> error;
    std::size_t known = 0;
    obs::forEachField(value, [&](std::string_view name, auto& field) {
      if (error) return;
      const std::string member = detail::memberOf(path, name);
      const auto found = json.find(std::string(name));
      if (found != json.end()) {
        ++known;
        error = readJson(*found, field, member, missing);
      } else if (missing == Missing::refused) {
        error = member + ": is missing";
      }
    });
    if (error || known == json.size()) return error;
    for (auto member = json.begin(); member != json.end(); ++member) {
      bool described = false;
      obs::forEachField(value,
                        [&](std::string_view name, const auto&) { described |= member.key() == name; });
      if (!described) return detail::memberOf(path, member.key()) + ": there is no such member";
    }
    return error;
  }
}

}  // namespace holdfast::scenarios
