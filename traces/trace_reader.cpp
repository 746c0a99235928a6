#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <system_error>
#include <utility>

#include "observations/hash_chain.hpp"
#include "traces/json.hpp"
#include "traces/json_cursor.hpp"
#include "traces/kinds.hpp"
#include "traces/trace.hpp"
#include "traces/trace_lines.hpp"

namespace holdfast::traces {

namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

/// Cuts a stream into lines, none of them longer than kMaxLineBytes.
class LineSource {
 public:
  enum class Result : std::uint8_t { line, end, tooLong, failed };

  explicit LineSource(std::istream& input) : input_(&input) {}

  /// Reads the next line, which stays valid until the next call.
  Result next() {
    begin_ = end_;
    std::size_t searched = begin_;
    while (true) {
      const void* const found = std::memchr(buffer_.data() + searched, '\n', filled_ - searched);
      if (found != nullptr) {
        lineEnd_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
        end_ = lineEnd_ + 1;
        ended_ = true;
        ++number_;
        return Result::line;
      }
      if (filled_ - begin_ > kMaxLineBytes) return ++number_, Result::tooLong;
      searched = filled_;
      const std::size_t moved = begin_;
      if (!refill()) break;
      searched -= moved;
    }
    if (input_->bad()) return Result::failed;
    if (begin_ == filled_) return Result::end;
    lineEnd_ = end_ = filled_;
    ended_ = false;
    ++number_;
    return Result::line;
  }

  /// The next byte of the stream, if there is one.
  std::optional<char> peek() {
    if (end_ == filled_) {
      begin_ = end_;
      if (!refill()) return std::nullopt;
    }
    return buffer_[end_];
  }

  std::string_view line() const { return std::string_view(buffer_).substr(begin_, lineEnd_ - begin_); }
  /// Whether the line ended with a line feed rather than with the stream.
  bool ended() const { return ended_; }
  /// The number of the line, from 1.
  std::uint64_t number() const { return number_; }
  bool failed() const { return input_->bad(); }

 private:
  /// Moves what is left of the buffer to its front and reads on behind it; false at the end of the stream.
  bool refill() {
    const std::size_t left = filled_ - begin_;
    if (begin_ != 0) std::memmove(buffer_.data(), buffer_.data() + begin_, left);
    end_ -= begin_;
    begin_ = 0;
    filled_ = left;
    if (buffer_.size() < left + kReadBytes) buffer_.resize(std::max(2 * buffer_.size(), left + kReadBytes));
    errno = 0;
    input_->read(buffer_.data() + left, static_cast<std::streamsize>(buffer_.size() - left));
    filled_ += static_cast<std::size_t>(input_->gcount());
    return input_->gcount() > 0;
  }

  std::istream* input_;
  std::string buffer_ = std::string(kReadBytes, '\0');
  std::size_t begin_ = 0;    // of the line
  std::size_t lineEnd_ = 0;  // of the line, without its line feed
  std::size_t end_ = 0;      // of the line, with its line feed
  std::size_t filled_ = 0;
  std::uint64_t number_ = 0;
  bool ended_ = true;
};

}  // namespace

struct TraceReader::State {
  State(std::unique_ptr<std::istream> file, std::istream& input, std::string streamName)
      : owned(std::move(file)), lines(input), name(std::move(streamName)) {}

  TraceError at(std::uint64_t line, std::size_t column, std::string what, std::string expected = {}) const {
    return {name, line, column, std::move(what), std::move(expected)};
  }
  TraceError here(JsonError error) const {
    return at(lines.number(), error.column, std::move(error.what), std::move(error.expected));
  }

  /// The error if no line could be read; `missing()` says what was there instead.
  template <class Missing>
  std::optional<TraceError> nextLine(Missing&& missing, std::string_view expected) {
    const LineSource::Result result = lines.next();
    if (result == LineSource::Result::line) return std::nullopt;
    if (result == LineSource::Result::tooLong) {
      return at(lines.number(), kMaxLineBytes + 1, "the line is too long",
                fmt::format("at most {} bytes a line", kMaxLineBytes));
    }
    if (result == LineSource::Result::failed) {
      const std::string why = errno != 0 ? std::generic_category().message(errno) : "the stream has failed";
      return at(lines.number() + 1, 1, "cannot be read: " + why);
    }
    if (lines.number() == 0) return at(1, 1, "the file is empty", "a trace");
    return at(lines.number() + 1, 1, "truncated: " + missing(), std::string(expected));
  }

  /// An error in the line of an observation. A trace of other observations than this tool's is not damaged.
  TraceError inEvent(TraceError error) const {
    if (header.vocabulary != vocabularyHash()) {
      error.what +=
          fmt::format(" (version {} wrote this trace and its observations are not those of {}, this one)",
                      header.tool, toolVersion());
    }
    return error;
  }

  /// The error of a line that could not be parsed, which may be due to a cut.
  TraceError lineError(JsonError error) const {
    if (lines.ended() || splitObject(lines.line())) return here(std::move(error));
    return at(lines.number(), lines.line().size() + 1, "truncated: the file ends inside this line",
              "the rest of the line");
  }

  std::optional<TraceError> readStart();
  std::expected<bool, TraceError> next(obs::Stamped& out);
  std::optional<TraceError> readEnding();

  std::unique_ptr<std::istream> owned;
  LineSource lines;
  std::string name;
  Header header;
  nlohmann::json plan;
  std::optional<ObservationReader> observations;
  obs::HashChain chain;
  Ending ending;
};

std::optional<TraceError> TraceReader::State::readStart() {
  // Anything else than a trace is recognised by its first byte, however long its first line may be.
  if (const auto first = lines.peek(); first && *first != '{') {
    return at(1, 1, "not a trace: " + JsonCursor(std::string_view(&*first, 1)).found(),
              fmt::format("{{\"holdfast-trace\":{}, ...", kTraceVersion));
  }
  if (auto error = nextLine([] { return std::string(); }, "")) return error;
  auto parsedHeader = parseHeader(lines.line());
  if (!parsedHeader) return lineError(std::move(parsedHeader.error()));
  header = std::move(*parsedHeader);
  observations.emplace(header.names);
  const auto headerOnly = [] { return std::string("the trace ends after its header"); };
  if (auto error = nextLine(headerOnly, "{\"plan\":...}")) return error;
  auto parsedPlan = parsePlan(lines.line());
  if (!parsedPlan) return lineError(std::move(parsedPlan.error()));
  plan = std::move(*parsedPlan);
  return std::nullopt;
}

std::expected<bool, TraceError> TraceReader::State::next(obs::Stamped& out) {
  const auto missing = [&] { return fmt::format("the trace ends after event {}", chain.count()); };
  if (auto error = nextLine(missing, "more events or the last line, {\"verdict\":...}")) {
    return std::unexpected(std::move(*error));
  }
  if (isEndingLine(lines.line())) {
    if (auto error = readEnding()) return std::unexpected(std::move(*error));
    return false;
  }
  auto line = observations->parse(lines.line());
  if (!line) return std::unexpected(inEvent(lineError(std::move(line.error()))));
  const std::uint64_t n = chain.count() + 1;
  if (line->n != n) {
    return std::unexpected(
        here({line->numberColumn, fmt::format("event {} in the place of event {}", line->n, n),
              "events numbered 1, 2, 3 ..."}));
  }
  const std::uint64_t hash = chain.add(line->stamped);
  if (line->hash != hash) {
    const auto what = fmt::format(
        "the hash chain breaks at event {}: this line was changed, or belongs to another trace", n);
    return std::unexpected(inEvent(here({line->hashColumn, what, fmt::format("\"{}\"", hexHash(hash))})));
  }
  out = line->stamped;
  return true;
}

std::optional<TraceError> TraceReader::State::readEnding() {
  auto line = parseEnding(lines.line());
  if (!line) return lineError(std::move(line.error()));
  ending = std::move(line->ending);
  if (ending.events != chain.count()) {
    return here({line->eventsColumn,
                 fmt::format("\"events\" is {}, but {} are in the trace", ending.events, chain.count()),
                 fmt::format("{}", chain.count())});
  }
  if (ending.hash != chain.value()) {
    return here({line->hashColumn, "\"hash\" is not that of the events before",
                 fmt::format("\"{}\"", hexHash(chain.value()))});
  }
  if (lines.peek()) return at(lines.number() + 1, 1, "text after the last line", "the end of the file");
  return std::nullopt;
}

TraceReader::TraceReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

std::expected<TraceReader, TraceError> TraceReader::open(const std::filesystem::path& path) {
  const auto fail = [&](std::string what) {
    return std::unexpected(TraceError{path.string(), 0, 0, std::move(what), "a trace file"});
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return fail("is a directory");
  errno = 0;
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file) return fail("cannot be opened: " + std::generic_category().message(errno));
  std::istream& input = *file;
  auto state = std::make_unique<State>(std::move(file), input, path.string());
  if (auto bad = state->readStart()) return std::unexpected(std::move(*bad));
  return TraceReader(std::move(state));
}

std::expected<TraceReader, TraceError> TraceReader::from(std::istream& input, std::string name) {
  auto state = std::make_unique<State>(nullptr, input, std::move(name));
  if (auto error = state->readStart()) return std::unexpected(std::move(*error));
  return TraceReader(std::move(state));
}

const Header& TraceReader::header() const { return state_->header; }
const nlohmann::json& TraceReader::plan() const { return state_->plan; }
const Ending& TraceReader::ending() const { return state_->ending; }
std::expected<bool, TraceError> TraceReader::next(obs::Stamped& out) { return state_->next(out); }

namespace {

std::expected<Trace, TraceError> readAll(std::expected<TraceReader, TraceError> reader) {
  if (!reader) return std::unexpected(std::move(reader.error()));
  Trace trace;
  obs::Stamped stamped;
  while (true) {
    const auto more = reader->next(stamped);
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    trace.observations.push_back(stamped);
  }
  trace.header = reader->header();
  trace.plan = reader->plan();
  trace.ending = reader->ending();
  return trace;
}

}  // namespace

std::expected<Trace, TraceError> readTrace(const std::filesystem::path& path) {
  return readAll(TraceReader::open(path));
}
std::expected<Trace, TraceError> readTrace(std::istream& input, std::string name) {
  return readAll(TraceReader::from(input, std::move(name)));
}

}  // namespace holdfast::traces
