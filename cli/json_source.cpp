#include "cli/json_source.hpp"

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
constexpr std::uintmax_t kMostSourceBytes = std::uintmax_t{2} << 30;

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
  if (std::filesystem::is_regular_file(status) &&
      std::filesystem::file_size(path, error) > kMostSourceBytes) {
    return std::unexpected(Failure{fmt::format("{}: is larger than 2 GiB; expected {}", path, expected)});
  }
  return JsonSource({std::istreambuf_iterator<char>(file), {}}, path);
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

std::expected<void, Failure> writeNewFile(const std::filesystem::path& path, std::string_view text,
                                          bool replace) {
  const auto fail = [&](const std::string& why) {
    return std::unexpected(Failure{fmt::format("cannot write '{}': {}", path.string(), why)});
  };
  if (std::filesystem::is_directory(path)) return fail("it is a directory");
  if (!replace && std::filesystem::exists(path)) return fail("it exists already");
  // Under a name of its own first, so that two writers do not mix and the final name never holds half a file.
  std::string partial = path.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(partial.data());
  if (descriptor < 0) return fail(systemReason());
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  std::string why = left.empty() ? "" : systemReason();
  ::fchmod(descriptor, 0644);
  if (::close(descriptor) != 0 && why.empty()) why = systemReason();
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

}  // namespace holdfast::cli
