// The rules of the source tree, as a function from one file to what is wrong with it.
//
// A file is judged by its path from the repository's root and its lines, so that the rules can be tested on
// made-up files as well as applied to the real ones. A complaint is one line, "path:line: what is wrong".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::tidy {

struct SourceFile {
  std::string path;  // from the root, with '/' between the parts
  std::vector<std::string> lines;
};

inline constexpr std::size_t kMaxColumns = 110;
inline constexpr std::size_t kMaxLines = 700;

/// Every complaint about `file`, in the order of its lines. Rules:
/// includes follow the arrows between the folders; Asio stays in the folders that may see it; the folders
/// whose behaviour must be a function of the seed use no clock, locale, thread or random generator of the
/// standard library; no line is wider than kMaxColumns code points, no file longer than kMaxLines; no
/// unfinished-work marker is left; a header has `#pragma once` and opens with a comment.
std::vector<std::string> complaints(const SourceFile& file);

/// Whether code in `includer` may include the project's header `included`; both are paths from the root.
bool mayInclude(std::string_view includer, std::string_view included);

}  // namespace holdfast::tidy
