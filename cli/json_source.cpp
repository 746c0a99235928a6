#include "cli/json_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

namespace {

/// Writes all of `text` and closes the file; gives why that failed, or nothing.
std::string writeAndClose(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  std::string why = text.empty() ? "" : systemReason();
  if (::close(descriptor) != 0 && why.empty()) why = systemReason();
  return why;
}

}  // namespace

std::expected<void, Failure> writeNewFile(const std::filesystem::path& wanted, std::string_view text,
                                          bool replace) {
  const auto fail = [&](const std::string& why) {
    return std::unexpected(Failure{fmt::format("cannot write '{}': {}", wanted.string(), why)});
  };
  std::error_code ignored;
  // A link keeps its name, and what it leads to is replaced.
  const std::filesystem::path resolved = std::filesystem::canonical(wanted, ignored);
  const std::filesystem::path& path = resolved.empty() ? wanted : resolved;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) return fail("it is a directory");
  if (!replace && std::filesystem::exists(status)) return fail("it exists already");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    // A device or a pipe is written to; put in its place, a file would take its name away.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const std::string why = descriptor < 0 ? systemReason() : writeAndClose(descriptor, text);
    if (!why.empty()) return fail(why);
    return {};
  }
  // Under a name of its own first, so that two writers do not mix and the final name never holds half a file.
  std::string partial = path.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(partial.data());
  if (descriptor < 0) return fail(systemReason());
  ::fchmod(descriptor, 0644);
  std::string why = writeAndClose(descriptor, text);
  if (why.empty()) {
    // link() refuses a name that appeared in the meantime, rename() replaces it.
    const int placed =
        replace ? ::rename(partial.c_str(), path.c_str()) : ::link(partial.c_str(), path.c_str());
    if (placed != 0) why = errno == EEXIST ? "it exists already" : systemReason();
  }
  ::unlink(partial.c_str());
  if (!why.empty()) return fail(why);
  return {};
}

std::string partialOf(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  return path.empty() || special ? "" : path + ".partial";
}

std::expected<void, Failure> checkWritable(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) {
    return std::unexpected(Failure{fmt::format("'{}' can not be written: {}", path.string(), why)});
  };
  std::error_code ignored;
  if (!path.has_filename() || std::filesystem::is_directory(path, ignored)) return fail("it is a directory");
  if (std::filesystem::exists(path, ignored)) {
    if (::access(path.c_str(), W_OK) != 0) return fail(systemReason());
    return {};
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored)) {
    return fail(fmt::format("there is no folder '{}'", folder.string()));
  }
  if (::access(folder.c_str(), W_OK) != 0) return fail(systemReason());
  return {};
}

}  // namespace holdfast::cli
