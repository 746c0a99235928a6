#include "protocol/directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace holdfast::protocol {
namespace {

constexpr std::size_t kMaxNames = 65'534;
constexpr std::size_t kMaxNodeNameBytes = 255;

/// Names by which every machine means itself: two nodes with such a name would be one node to routing.
bool meansMyself(std::string_view name) {
  constexpr std::array<std::string_view, 5> kSelfNames{"localhost", "::1", "::", "0.0.0.0", "[::1]"};
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto same = [&](std::string_view other) {
    return name.size() == other.size() &&
           std::equal(name.begin(), name.end(), other.begin(), [&](char a, char b) { return lower(a) == b; });
  };
  return name.starts_with("127.") || std::any_of(kSelfNames.begin(), kSelfNames.end(), same);
}

}  // namespace

Directory::Directory(std::vector<std::string> names, std::vector<KeyInfo> keys)
    : names_(std::move(names)), keys_(std::move(keys)) {
  std::sort(names_.begin(), names_.end());
  for (const KeyInfo& key : keys_) tables_ = std::max(tables_, key.table + std::size_t{1});
}

sim::NodeId Directory::find(std::string_view name) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), name);
  if (at == names_.end() || *at != name) return sim::NodeId::none();
  return {static_cast<std::uint16_t>(at - names_.begin())};
}

std::expected<void, std::string> validateNames(const std::vector<std::string>& names) {
  if (names.empty()) return std::unexpected("no node names: a cluster needs at least one");
  if (names.size() > kMaxNames) {
    return std::unexpected(fmt::format("{} node names: at most {} are allowed", names.size(), kMaxNames));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (name.empty()) return std::unexpected(fmt::format("node name {} is empty", i + 1));
    if (name.size() > kMaxNodeNameBytes) {
      return std::unexpected(fmt::format("node name {} has {} bytes: at most {} are allowed", i + 1,
                                         name.size(), kMaxNodeNameBytes));
    }
    if (name.find('\0') != std::string::npos) {
      return std::unexpected(
          fmt::format("node name {} contains a NUL byte, which separates it from the key "
                      "in routing; leave it out",
                      i + 1));
    }
    if (meansMyself(name)) {
      return std::unexpected(
          fmt::format("node name {} is \"{}\", which every machine calls itself; use a name "
                      "that no other node has",
                      i + 1, name));
    }
  }
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return std::unexpected(fmt::format("node name \"{}\" occurs twice; names must be distinct", *twice));
  }
  return {};
}

}  // namespace holdfast::protocol
