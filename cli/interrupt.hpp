// Ctrl-C while something long is going on: the first one asks it to end in good order, the second kills.
#pragma once

namespace holdfast::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP are noted instead of ending the process. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether a signal came since construction.
  static bool requested();
};

}  // namespace holdfast::cli
