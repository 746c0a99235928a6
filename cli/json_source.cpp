#include "cli/json_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "cli/locate.hpp"
#include "traces/json_cursor.hpp"

namespace holdfast::cli {
namespace {

// As many bytes as a plan of ten million operations may have.
constexpr std::size_t kMostSourceBytes = std::size_t{256} << 20;

std::string systemReason() { return std::generic_category().message(errno); }

}  // namespace

std::expected<JsonSource, Failure> JsonSource::read(const std::string& path, std::string_view expected) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    return std::unexpected(Failure{fmt::format("{}: is a directory; expected {}", path, expected)});
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(Failure{fmt::format("{}: cannot be opened: {}", path, systemReason())});
  // A device or a pipe does not say beforehand how much it holds, and a device may never end.
  std::string text;
  std::vector<char> block(std::size_t{1} << 20);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMostSourceBytes) {
      return std::unexpected(Failure{fmt::format("{}: is larger than 256 MiB; expected {}", path, expected)});
    }
  }
  return JsonSource(std::move(text), path);
}

Failure JsonSource::at(std::size_t column, const std::string& what) const {
  const std::string_view before = std::string_view(text_).substr(0, column - 1);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t begin = before.rfind('\n') + 1;
  return Failure{fmt::format("{}:{}:{}: {}", name_, line, column - begin, what)};
}

Failure JsonSource::about(std::string_view path, const std::string& what) const {
  return at(columnOf(text_, path), what);
}

std::expected<nlohmann::json, Failure> JsonSource::parsed() const {
  traces::JsonCursor cursor(text_);
  const bool whole = cursor.skipValue();
  cursor.skipSpace();
  if (whole && !cursor.atEnd()) cursor.fail(cursor.at(), cursor.found() + " after the value");
  if (!whole || !cursor.atEnd()) {
    const traces::JsonError& error = cursor.error();
    return std::unexpected(
        at(error.column, error.what + (error.expected.empty() ? "" : "; expected " + error.expected)));
  }
  nlohmann::json json = nlohmann::json::parse(text_, nullptr, false);
  if (json.is_discarded()) return std::unexpected(at(1, "the text is not UTF-8; expected JSON"));
  return json;
}

}  // namespace holdfast::cli
