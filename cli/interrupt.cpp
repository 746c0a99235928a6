#include "cli/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace holdfast::cli {
namespace {

// Written by a signal handler, which may touch no lock, and asked by every thread that searches.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void noteInterrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

// What nohup has told the process to ignore stays ignored.
void (*hangup)(int) = SIG_DFL;

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = false;
  std::signal(SIGINT, noteInterrupt);
  std::signal(SIGTERM, noteInterrupt);
  hangup = std::signal(SIGHUP, SIG_IGN);
  if (hangup != SIG_IGN) std::signal(SIGHUP, noteInterrupt);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, hangup);
}

bool InterruptGuard::requested() { return interrupted; }

}  // namespace holdfast::cli
