#include "cli/option_list.hpp"

#include <fmt/format.h>

#include <string_view>
#include <type_traits>

namespace holdfast::cli {
namespace {

using scenarios::RunOptions;

/// An exact duration that --set reads: an integer and the largest unit that leaves one.
std::string settable(sim::Duration duration) {
  struct Unit {
    std::string_view name;
    std::int64_t ns;
  };
  constexpr Unit kUnits[] = {{"h", 3'600'000'000'000}, {"min", 60'000'000'000}, {"s", 1'000'000'000},
                             {"ms", 1'000'000},        {"us", 1'000},           {"ns", 1}};
  if (duration.ns == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (duration.ns % unit.ns == 0) return fmt::format("{}{}", duration.ns / unit.ns, unit.name);
  }
  return "";
}

template <class T>
constexpr bool kIsLeaf = std::is_same_v<T, sim::Duration> || std::is_integral_v<T> || obs::DescribedEnum<T>;

template <class T>
std::string valueText(const T& value) {
  if constexpr (std::is_same_v<T, sim::Duration>) {
    return settable(value);
  } else if constexpr (obs::DescribedEnum<T>) {
    return std::string(obs::nameOf(value));
  } else {
    return fmt::format("{}", value);
  }
}

template <class T>
std::string unitOf(std::string_view name) {
  if constexpr (std::is_same_v<T, sim::Duration>) return "duration";
  if constexpr (std::is_same_v<T, bool>) return "switch";
  if constexpr (obs::DescribedEnum<T>) return "choice";
  if (name.ends_with("Ppm")) return "ppm";
  if (name.ends_with("Ppb")) return "ppb";
  return "number";
}

template <class T>
void collect(std::vector<OptionValue>& out, const std::string& path, const T& value) {
  obs::forEachField(value, [&](std::string_view name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    const std::string inner = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
    if constexpr (kIsLeaf<Field>) {
      if (inner != "seed") out.push_back({inner, valueText(field), unitOf<Field>(name)});
    } else {
      collect(out, inner, field);
    }
  });
}

/// "name value", and "name (part value, part value)" for an option of parts.
template <class T>
std::string itemText(std::string_view name, const T& value) {
  if constexpr (kIsLeaf<T>) {
    return fmt::format("{} {}", name, valueText(value));
  } else {
    std::string parts;
    obs::forEachField(value, [&](std::string_view part, const auto& field) {
      parts += (parts.empty() ? "" : " ") + itemText(part, field);
    });
    return fmt::format("{} ({})", name, parts);
  }
}

}  // namespace

std::vector<OptionValue> optionValues(const RunOptions& options) {
  std::vector<OptionValue> out;
  collect(out, "", options);
  return out;
}

std::vector<std::string> optionPaths() {
  std::vector<std::string> paths;
  for (OptionValue& option : optionValues({})) paths.push_back(std::move(option.path));
  return paths;
}

std::vector<std::string> changedOptions(const RunOptions& options) {
  const std::vector<OptionValue> now = optionValues(options);
  const std::vector<OptionValue> defaults = optionValues({});
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].value != defaults[i].value) changed.push_back(now[i].path + "=" + now[i].value);
  }
  return changed;
}

std::vector<std::string> optionParagraphs(const RunOptions& options, std::size_t width) {
  std::vector<std::string> lines;
  std::vector<std::string> loose;
  std::vector<std::string> rest;
  obs::forEachField(options, [&](std::string_view name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (kIsLeaf<Field>) {
      if (name != "seed") loose.push_back(itemText(name, field));
    } else {
      std::vector<std::string> items;
      obs::forEachField(
          field, [&](std::string_view part, const auto& inner) { items.push_back(itemText(part, inner)); });
      for (std::string& line : paragraph(std::string(name), items, width)) rest.push_back(std::move(line));
    }
  });
  lines = paragraph("run", loose, width);
  lines.insert(lines.end(), rest.begin(), rest.end());
  return lines;
}

std::vector<std::string> paragraph(const std::string& title, const std::vector<std::string>& items,
                                   std::size_t width) {
  constexpr std::size_t kIndent = 12;
  std::vector<std::string> lines;
  std::string line = fmt::format("{:<{}}", title, kIndent);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    const bool first = line.size() <= kIndent;
    if (!first && line.size() + 1 + item.size() > width) {
      lines.push_back(std::move(line));
      line.assign(kIndent, ' ');
      line += item;
    } else {
      line += (first ? "" : " ") + item;
    }
  }
  lines.push_back(std::move(line));
  return lines;
}

}  // namespace holdfast::cli
