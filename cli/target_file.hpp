// Files that the command writes, under one rule.
//
// Contract: a file that exists is replaced only where --force says so; a link keeps its name, and a device or
// a pipe is written to. What can be told of a file is told before the work, so that no work is lost for it;
// what can not be written in the end costs neither the verdict nor the other files, and ends in one exit
// code. After an interrupt what was done is in FILE.partial, and FILE is as it was.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// Adds --force. `files`: the options that name them ("--trace and --save-plan"). `force` must outlive `app`.
void addForceOption(CLI::App& app, bool& force, std::string_view files);

/// A file that is to be written, and the option that names it. No file for an empty path.
struct Target {
  std::string_view option;
  std::filesystem::path path;
};

/// Whether each file can be made, or replaced if it exists, as far as that shows before it is, and whether
/// they are different ones.
std::expected<void, Failure> checkTargets(const std::vector<Target>& targets, bool force);

/// Writes the whole file.
std::expected<void, Failure> writeTarget(const Target& target, std::string_view text, bool force);

/// Where a part of what `path` is to hold is kept until it is whole; "" beside a device or a pipe, or for "".
std::string partialOf(const std::string& path);

/// Removes the part that was kept of `path`, now that it is whole.
void removePartial(const std::string& path);

/// Says what could not be written, and gives the exit code of work that would end in `exitCode` otherwise:
/// that of bad input, unless a violation or a divergence was found, which outweighs it.
int reportUnwritten(Output& out, const Failure& failure, int exitCode);

}  // namespace holdfast::cli
