// The program `holdfast`: hands its arguments to the command.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

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

}  // namespace

int main(int count, char** values) {
  std::set_terminate(endOnTerminate);
  std::ios::sync_with_stdio(false);
  return holdfast::cli::runCommand({values, values + count},
                                   {std::cout, std::cerr, ::isatty(STDERR_FILENO) != 0},
                                   holdfast::measure::allocationsSoFar);
}
