#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ostream>
#include <system_error>
#include <utility>

#include "observations/hash_chain.hpp"
#include "traces/json.hpp"
#include "traces/trace.hpp"
#include "traces/trace_lines.hpp"

namespace holdfast::traces {

namespace {

constexpr std::size_t kFlushBytes = std::size_t{256} << 10;

WriteError failedTo(std::string_view verb, const std::filesystem::path& path, int error) {
  return {fmt::format("cannot {} '{}': {}", verb, path.string(), std::generic_category().message(error))};
}

/// Where the text goes: a stream, or a file that gets its final name at the end.
class Sink {
 public:
  explicit Sink(std::ostream& output) : output_(&output) {}
  Sink(std::filesystem::path path, std::filesystem::path partial, IfExists ifExists, int descriptor)
      : path_(std::move(path)), partial_(std::move(partial)), ifExists_(ifExists), descriptor_(descriptor) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  std::optional<WriteError> write(std::string_view text) {
    if (output_ != nullptr) {
      if (output_->write(text.data(), static_cast<std::streamsize>(text.size()))) return std::nullopt;
      return WriteError{"cannot write the trace: the stream has failed"};
    }
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failedTo("write", partial_, errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return std::nullopt;
  }

  std::optional<WriteError> finish() {
    if (output_ != nullptr) {
      if (output_->flush()) return std::nullopt;
      return WriteError{"cannot write the trace: the stream has failed"};
    }
    // The data have to be on the disk before the name is, or a power cut could leave half a trace under it.
    // Some file systems cannot sync, and say EINVAL.
    if (::fsync(descriptor_) != 0 && errno != EINVAL) return failedTo("write", partial_, errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) return failedTo("write", partial_, errno);
    return rename();
  }

 private:
  std::optional<WriteError> rename() {
    if (ifExists_ == IfExists::refuse) {
      // A link, unlike a rename, fails if the name is taken. Where links are not supported, a look has to do.
      if (::link(partial_.c_str(), path_.c_str()) == 0) {
        ::unlink(partial_.c_str());
        return std::nullopt;
      }
      if (errno == EEXIST || std::filesystem::exists(std::filesystem::symlink_status(path_))) {
        return WriteError{fmt::format("'{}' appeared while the trace was written, which is now in '{}'",
                                      path_.string(), partial_.string())};
      }
    }
    if (::rename(partial_.c_str(), path_.c_str()) == 0) return std::nullopt;
    return failedTo("create", path_, errno);
  }

  std::ostream* output_ = nullptr;
  std::filesystem::path path_;
  std::filesystem::path partial_;
  IfExists ifExists_ = IfExists::refuse;
  int descriptor_ = -1;
};

std::expected<std::string, WriteError> firstLines(const Header& header, const nlohmann::json& plan) {
  auto first = headerLine(header);
  if (!first) return first;
  auto second = planLine(plan);
  if (!second) return second;
  return *first + '\n' + *second + '\n';
}

}  // namespace

struct TraceWriter::State {
  template <class... SinkArguments>
  State(const Names& names, std::string text, SinkArguments&&... arguments)
      : observations(names), buffer(std::move(text)), sink(std::forward<SinkArguments>(arguments)...) {}

  void flush() {
    if (!failure) failure = sink.write(buffer);
    buffer.clear();
  }

  ObservationWriter observations;
  std::string buffer;
  Sink sink;
  obs::HashChain chain;
  std::optional<WriteError> failure;
  bool finished = false;
};

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->buffer.reserve(kFlushBytes + 4096);
  state_->flush();
}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() {
  if (state_ && !state_->finished) state_->flush();
}

std::expected<TraceWriter, WriteError> TraceWriter::create(const std::filesystem::path& path,
                                                           const Header& header, const nlohmann::json& plan,
                                                           IfExists ifExists) {
  auto text = firstLines(header, plan);
  if (!text) return std::unexpected(text.error());
  const auto fail = [&](std::string_view what) {
    return std::unexpected(WriteError{fmt::format("cannot create '{}': {}", path.string(), what)});
  };
  std::error_code ignored;
  const auto status = std::filesystem::symlink_status(path, ignored);
  if (!path.has_filename()) return fail("that is no name of a file");
  if (std::filesystem::is_directory(status)) return fail("it is a directory");
  if (ifExists == IfExists::refuse && std::filesystem::exists(status)) return fail("it exists already");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return fail("it is no regular file, and replacing it would take its name away");
  }
  std::filesystem::path partial = path;
  partial += ".partial";
  const int mode = O_WRONLY | O_CREAT | O_CLOEXEC | (ifExists == IfExists::refuse ? O_EXCL : O_TRUNC);
  const int descriptor = ::open(partial.c_str(), mode, 0666);
  if (descriptor < 0 && errno == EEXIST) {
    return fail(
        fmt::format("'{}' is being written, or was left by a run that was cut short", partial.string()));
  }
  if (descriptor < 0) return std::unexpected(failedTo("create", partial, errno));
  return TraceWriter(std::make_unique<State>(header.names, std::move(*text), path, std::move(partial),
                                             ifExists, descriptor));
}

std::expected<TraceWriter, WriteError> TraceWriter::to(std::ostream& output, const Header& header,
                                                       const nlohmann::json& plan) {
  auto text = firstLines(header, plan);
  if (!text) return std::unexpected(text.error());
  return TraceWriter(std::make_unique<State>(header.names, std::move(*text), output));
}

void TraceWriter::on(const obs::Stamped& stamped) {
  State& state = *state_;
  const std::uint64_t hash = state.chain.add(stamped);
  if (state.failure) return;
  state.observations.append(state.buffer, state.chain.count(), stamped, hash);
  state.buffer += '\n';
  if (state.buffer.size() >= kFlushBytes) state.flush();
}

const std::optional<WriteError>& TraceWriter::failure() const { return state_->failure; }
std::uint64_t TraceWriter::events() const { return state_->chain.count(); }
std::uint64_t TraceWriter::hash() const { return state_->chain.value(); }

std::expected<void, WriteError> TraceWriter::finish(const nlohmann::json& verdict, obs::TrueInstant end) {
  State& state = *state_;
  const auto line = endingLine({verdict, events(), end.ns, hash()});
  if (!line) return std::unexpected(line.error());
  state.buffer += *line;
  state.buffer += '\n';
  state.flush();
  if (!state.failure) state.failure = state.sink.finish();
  state.finished = true;
  if (state.failure) return std::unexpected(*state.failure);
  return {};
}

}  // namespace holdfast::traces
