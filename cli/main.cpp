// The program `holdfast`: hands its arguments to the command.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <utility>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "measure/allocations.hpp"

namespace {

/// An exception on a worker's thread can not be caught on this one; it has a code all the same.
[[noreturn]] void endOnTerminate() {
  const char* what = "terminated";
  try {
    if (const std::exception_ptr current = std::current_exception()) std::rethrow_exception(current);
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "an unknown exception";
  }
  std::fprintf(stderr, "holdfast: internal error: %s\n", what);
  std::_Exit(holdfast::cli::kExitInternal);
}

/// A standard stream that is closed leaves its number to the next file that is opened, which would then get
/// its text. The number is taken, for a use that the stream does not have: writing to it fails as it would.
void keepStandardStreams() {
  const std::pair<int, int> streams[] = {
      {STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDONLY}};
  for (const auto& [stream, use] : streams) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The smallest free number is given, which is this one.
    if (::open("/dev/null", use) != stream) std::_Exit(holdfast::cli::kExitInternal);
  }
}

}  // namespace

int main(int count, char** values) {
  keepStandardStreams();
  // Who reads may go away: what goes to files is written all the same.
  std::signal(SIGPIPE, SIG_IGN);
  std::set_terminate(endOnTerminate);
  std::ios::sync_with_stdio(false);
  return holdfast::cli::runCommand({values, values + count},
                                   {std::cout, std::cerr, ::isatty(STDERR_FILENO) != 0},
                                   holdfast::measure::allocationsSoFar);
}
