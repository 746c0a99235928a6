// The page's own look and behaviour, which are the same for every run.
#pragma once

#include <string_view>

namespace holdfast::pictures {

/// Style of what stands around the diagram.
std::string_view pageStyle();

/// The script: it reads the page's data, filters rows and closes the gaps, shows details, and takes keys.
std::string_view pageScript();

}  // namespace holdfast::pictures
