// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

/// `text` with everything replaced that markup would take for its own, or that XML does not allow.
std::string xmlText(std::string_view text);

}  // namespace holdfast::cli
