// Who built this command, from what: the first words of every report.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

/// The commit this command was built from, as git describes it, or the version's own tag outside a checkout.
std::string_view commitName();

/// "Release", "Debug" ..., as the build calls it.
std::string_view buildType();

/// "holdfast 0.1.0 (13532d6) g++ 12.2.0 Release".
std::string toolLine();

}  // namespace holdfast::cli
