#include "cli/crash_note.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

namespace holdfast::cli {
namespace {

constexpr std::array kFatalSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

const scenarios::SeedsInFlight* seedsInFlight = nullptr;
std::array<char, 1024> recordedFile{};

void put(const char* text) {
  [[maybe_unused]] const auto done = ::write(STDERR_FILENO, text, std::strlen(text));
}

void put(std::uint64_t number) {
  std::array<char, 21> digits{};
  char* at = &digits[20];
  do {
    *--at = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  put(at);
}

extern "C" void noteCrash(int signal) {
  put("\nholdfast: died of signal ");
  put(static_cast<std::uint64_t>(signal));
  bool any = false;
  if (seedsInFlight != nullptr) {
    for (const auto& place : seedsInFlight->places) {
      if (!place.taken.load()) continue;
      put(any ? ", " : " while it ran seed ");
      put(place.seed.load());
      any = true;
    }
  }
  if (recordedFile[0] != '\0') {
    put("; the seeds before are recorded in ");
    put(recordedFile.data());
  }
  put("\n");
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

CrashNote::CrashNote(const scenarios::SeedsInFlight& inFlight, const std::string& recorded) {
  seedsInFlight = &inFlight;
  recordedFile.fill('\0');
  std::copy_n(recorded.begin(), std::min(recorded.size(), recordedFile.size() - 1), recordedFile.begin());
  for (const int signal : kFatalSignals) std::signal(signal, noteCrash);
}

CrashNote::~CrashNote() {
  for (const int signal : kFatalSignals) std::signal(signal, SIG_DFL);
  seedsInFlight = nullptr;
}

}  // namespace holdfast::cli
