// Last words: when a fault of the program ends the process in the midst of a sweep, the seeds that were
// running are named, and where everything recorded before them is.
//
// Contract: the handler does only what may be done in one, and lets the signal end the process as it would
// have.
#pragma once

#include <string>

#include "scenarios/sweep.hpp"

namespace holdfast::cli {

/// While it lives, fatal signals (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) are accompanied by a note. One at
/// a time.
class CrashNote {
 public:
  /// `inFlight` must outlive the note. `recorded`: the file with what was done so far; "" for none.
  CrashNote(const scenarios::SeedsInFlight& inFlight, const std::string& recorded);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;
};

}  // namespace holdfast::cli
