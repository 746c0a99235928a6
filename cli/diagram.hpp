// The space-time diagram of a trace as a page, for those who keep the run and do not look at it now.
#pragma once

#include <expected>
#include <string>

#include "cli/output.hpp"

namespace holdfast::cli {

/// The page that `holdfast show <trace> --html` writes.
std::expected<std::string, Failure> pageOf(const std::string& trace);

}  // namespace holdfast::cli
