#include "cli/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <ostream>
#include <system_error>

namespace holdfast::cli {
namespace {

// Work that takes less than this shows no progress.
constexpr std::chrono::milliseconds kPatience{1'000};
constexpr std::chrono::milliseconds kProgressEvery{200};

/// The text with every control character but the line feed and the tab as its number.
std::string harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out;
}

}  // namespace

Output::Output(std::ostream& standardOutput, std::ostream& standardError, Settings settings)
    : standardOutput_(standardOutput),
      standardError_(standardError),
      settings_(settings),
      nextProgress_(Clock::now() + kPatience) {}

Output::~Output() { clearProgress(); }

void Output::say(std::string_view line) {
  if (settings_.quiet) return;
  clearProgress();
  standardError_ << harmless(line) << '\n';
}

void Output::print(std::string_view line) {
  if (settings_.json) return;
  clearProgress();
  errno = 0;
  standardOutput_ << line << '\n';
  noteFailedWrite();
}

void Output::object(const Json& object) {
  if (!settings_.json) return;
  clearProgress();
  errno = 0;
  standardOutput_ << object.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  noteFailedWrite();
}

void Output::noteFailedWrite() {
  if (!standardOutput_ && failedWrite_ == 0) failedWrite_ = errno;
}

void Output::fail(const Failure& failure) {
  clearProgress();
  standardError_ << "holdfast: " << harmless(failure.text) << '\n';
  object({{"is", "error"}, {"text", failure.text}, {"exitCode", failure.exitCode}});
}

bool Output::wantsProgress() const {
  return settings_.terminal && !settings_.quiet && Clock::now() >= nextProgress_;
}

void Output::progress(std::string_view line) {
  if (!wantsProgress()) return;
  // Carriage return, the text, and "erase to the end of the line".
  standardError_ << '\r' << line << "\x1b[K" << std::flush;
  progressShown_ = true;
  nextProgress_ = Clock::now() + kProgressEvery;
}

void Output::clearProgress() {
  if (!progressShown_) return;
  standardError_ << "\r\x1b[K" << std::flush;
  progressShown_ = false;
}

std::expected<void, Failure> Output::flush() {
  standardError_.flush();
  errno = 0;
  if (standardOutput_.flush()) return {};
  noteFailedWrite();
  const std::string why = failedWrite_ != 0 ? ": " + std::generic_category().message(failedWrite_) : "";
  return std::unexpected(Failure{fmt::format("standard output cannot be written{}", why)});
}

}  // namespace holdfast::cli
