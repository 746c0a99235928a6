// The command as a function: arguments in, exit code out.
//
// Contract: nothing escapes. Bad usage and bad input end in code 64 with a message that says what was wrong
// and what would be right; an exception that nobody expected ends in code 70 with its text.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace holdfast::cli {

struct Streams {
  std::ostream& standardOutput;
  std::ostream& standardError;
  bool errorIsTerminal = false;
};

/// Runs the command. `arguments[0]` is the command's own name, as it was typed. `allocations` tells how many
/// heap allocations the calling thread has made; null where the program does not count them.
int runCommand(const std::vector<std::string>& arguments, const Streams& streams,
               std::uint64_t (*allocations)() = nullptr);

}  // namespace holdfast::cli
