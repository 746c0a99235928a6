#include "cli/interrupt.hpp"

#include <csignal>

namespace holdfast::cli {
namespace {

// Of the two types that a signal handler may touch, the one that is not a lock in disguise.
volatile std::sig_atomic_t interrupted = 0;

extern "C" void noteInterrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = 0;
  std::signal(SIGINT, noteInterrupt);
  std::signal(SIGTERM, noteInterrupt);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::requested() { return interrupted != 0; }

}  // namespace holdfast::cli
