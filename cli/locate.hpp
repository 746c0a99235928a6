// Where in a line of JSON a path such as "plan.faults[2].kind" stands, for messages with a column.
#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::cli {

/// The column, from 1, of the value that the path at the beginning of `text` names; of its innermost part
/// that is there, if not all of it is; 1 if the line is no JSON object. The path ends at the first character
/// that can not belong to one, so that `text` may be a sentence that begins with a path.
std::size_t columnOf(std::string_view line, std::string_view text);

}  // namespace holdfast::cli
