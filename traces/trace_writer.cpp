#include <ostream>
#include <utility>

#include "observations/hash_chain.hpp"
#include "traces/json.hpp"
#include "traces/trace.hpp"
#include "traces/trace_lines.hpp"

namespace holdfast::traces {

namespace {

constexpr std::size_t kFlushBytes = std::size_t{256} << 10;

/// Where the text goes: a stream, or a file that gets its name at the end.
class Sink {
 public:
  explicit Sink(std::ostream& output) : output_(&output) {}
  explicit Sink(WholeFile file) : file_(std::move(file)) {}

  std::optional<WriteError> write(std::string_view text) {
    if (file_) return file_->write(text);
    if (output_->write(text.data(), static_cast<std::streamsize>(text.size()))) return std::nullopt;
    return WriteError{"cannot write the trace: the stream has failed"};
  }

  std::optional<WriteError> finish() {
    if (file_) return file_->finish();
    if (output_->flush()) return std::nullopt;
    return WriteError{"cannot write the trace: the stream has failed"};
  }

 private:
  std::ostream* output_ = nullptr;
  std::optional<WholeFile> file_;
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
  auto file = WholeFile::create(path, ifExists, Leftover::partial);
  if (!file) return std::unexpected(file.error());
  return TraceWriter(std::make_unique<State>(header.names, std::move(*text), std::move(*file)));
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

std::expected<void, WriteError> TraceWriter::flush() {
  state_->flush();
  if (state_->failure) return std::unexpected(*state_->failure);
  return {};
}

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
