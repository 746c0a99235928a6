#include "traces/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace holdfast::traces {
namespace {

namespace fs = std::filesystem;

// As many as the system follows.
constexpr int kMostLinks = 40;
// Names that processes of other machines, or of long ago, may have left.
constexpr int kMostAttempts = 100;
constexpr std::string_view kPartial = ".partial";

WriteError failedTo(std::string_view verb, const fs::path& path, std::string_view why) {
  return {fmt::format("cannot {} '{}': {}", verb, path.string(), why)};
}

WriteError failedTo(std::string_view verb, const fs::path& path, int error) {
  return failedTo(verb, path, std::generic_category().message(error));
}

// The name of a file that is being written is that of the file, this, its process and a number.
constexpr std::string_view kUnfinished = ".holdfast-";

fs::path unfinished(const fs::path& path, unsigned count) {
  return fmt::format("{}{}{}-{}", path.string(), kUnfinished, ::getpid(), count);
}

/// Takes a number off the front of `text`; 0 if there is none.
pid_t takeNumber(std::string_view& text) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Whether `entry` is what unfinished() makes of `name`, or of any, by a process that this machine has not.
bool isLeftover(std::string_view entry, std::string_view name) {
  const std::size_t at = entry.rfind(kUnfinished);
  if (at == std::string_view::npos) return false;
  std::string_view of = entry.substr(0, at);
  if (of.ends_with(kPartial) && of.substr(0, of.size() - kPartial.size()) == name) of = name;
  if (!name.empty() && of != name) return false;
  std::string_view rest = entry.substr(at + kUnfinished.size());
  const pid_t process = takeNumber(rest);
  if (process <= 0 || !rest.starts_with('-')) return false;
  rest.remove_prefix(1);
  if (takeNumber(rest) <= 0 || !rest.empty()) return false;
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

void removeLeftovers(const fs::path& folder, std::string_view name) {
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end;
       at.increment(error)) {
    if (!isLeftover(at->path().filename().string(), name)) continue;
    // A process of another machine may write it on a shared disk, and holds its lock then.
    const int descriptor = ::open(at->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(at->path().c_str());
    ::close(descriptor);
  }
}

fs::path behindLinks(const fs::path& path) {
  fs::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(at, error)); ++i) {
    const fs::path to = fs::read_symlink(at, error);
    if (error) break;
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  return at;
}

WholeFile::WholeFile(fs::path path, fs::path beside, IfExists ifExists, Leftover leftover, int descriptor)
    : path_(std::move(path)),
      beside_(std::move(beside)),
      ifExists_(ifExists),
      leftover_(leftover),
      descriptor_(descriptor) {}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : path_(std::move(other.path_)),
      beside_(std::move(other.beside_)),
      ifExists_(other.ifExists_),
      leftover_(other.leftover_),
      descriptor_(std::exchange(other.descriptor_, -1)) {
  other.beside_.clear();
}

WholeFile::~WholeFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (leftover_ == Leftover::nothing && !beside_.empty()) ::unlink(beside_.c_str());
}

std::expected<WholeFile, WriteError> WholeFile::create(const fs::path& wanted, IfExists ifExists,
                                                       Leftover leftover) {
  const auto fail = [&](auto why) { return std::unexpected(failedTo("create", wanted, why)); };
  if (!wanted.has_filename()) return fail("that is no name of a file");
  const fs::path path = behindLinks(wanted);
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(path, ignored))) return fail(ELOOP);
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return fail("it is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return fail(errno);
    return WholeFile(path, {}, ifExists, leftover, descriptor);
  }
  if (ifExists == IfExists::refuse && fs::exists(status)) return fail("it exists already");
  if (leftover == Leftover::partial) {
    fs::path beside = path;
    beside += kPartial;
    const int mode = O_WRONLY | O_CREAT | O_CLOEXEC | (ifExists == IfExists::refuse ? O_EXCL : O_TRUNC);
    const int descriptor = ::open(beside.c_str(), mode, 0666);
    if (descriptor < 0 && errno == EEXIST) {
      return fail(
          fmt::format("'{}' is being written, or was left by a run that was cut short", beside.string()));
    }
    if (descriptor < 0) return std::unexpected(failedTo("create", beside, errno));
    return WholeFile(path, std::move(beside), ifExists, leftover, descriptor);
  }
  removeLeftovers(path.parent_path(), path.filename().string());
  // A name of its own, so that two writers do not mix.
  static std::atomic<unsigned> count = 0;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const fs::path beside = unfinished(path, ++count);
    const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      (void)::flock(descriptor, LOCK_EX | LOCK_NB);
      return WholeFile(path, beside, ifExists, leftover, descriptor);
    }
    if (errno != EEXIST) return fail(errno);
  }
  return fail(EEXIST);
}

std::optional<WriteError> WholeFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failedTo("write", written(), errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return std::nullopt;
}

std::optional<WriteError> WholeFile::finish() {
  // The data have to be on the disk before the name is, or a power cut could leave half a file under it. Some
  // file systems cannot sync, nor can a pipe, and say EINVAL.
  if (!beside_.empty() && ::fsync(descriptor_) != 0 && errno != EINVAL) {
    return failedTo("write", written(), errno);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) return failedTo("write", written(), errno);
  if (beside_.empty()) return std::nullopt;
  return name();
}

std::optional<WriteError> WholeFile::name() {
  if (ifExists_ == IfExists::refuse) {
    // A link, unlike a rename, fails if the name is taken. Where links are not supported, a look has to do.
    if (::link(beside_.c_str(), path_.c_str()) == 0) {
      ::unlink(beside_.c_str());
      beside_.clear();
      return std::nullopt;
    }
    if (errno == EEXIST || fs::exists(fs::symlink_status(path_))) {
      if (leftover_ == Leftover::nothing) return failedTo("create", path_, "it exists already");
      return WriteError{fmt::format("'{}' appeared while the trace was written, which is now in '{}'",
                                    path_.string(), beside_.string())};
    }
  }
  if (::rename(beside_.c_str(), path_.c_str()) != 0) return failedTo("create", path_, errno);
  beside_.clear();
  return std::nullopt;
}

std::expected<void, WriteError> writeWholeFile(const fs::path& path, std::string_view text,
                                               IfExists ifExists) {
  auto file = WholeFile::create(path, ifExists, Leftover::nothing);
  if (!file) return std::unexpected(file.error());
  auto failed = file->write(text);
  if (!failed) failed = file->finish();
  if (failed) return std::unexpected(*failed);
  return {};
}

}  // namespace holdfast::traces
