// The options of a run as the command prints and lists them: by path, with values that --set takes back.
//
// Contract: derived from the options' description, so that an option added there needs no line here.
#pragma once

#include <string>
#include <vector>

#include "scenarios/options.hpp"

namespace holdfast::cli {

/// One option: "protocol.skew" and its value as --set takes it, "400ms".
struct OptionValue {
  std::string path;
  std::string value;
  std::string unit;  ///< "duration", "ppm", "ppb", "switch", "choice" or "number".
};

/// Every option in the order of declaration, the seed left out.
std::vector<OptionValue> optionValues(const scenarios::RunOptions& options);

/// The paths of optionValues().
std::vector<std::string> optionPaths();

/// What differs from the default, each as "path=value".
std::vector<std::string> changedOptions(const scenarios::RunOptions& options);

/// All options in a few lines, a paragraph for each group, in lines of at most `width` columns.
std::vector<std::string> optionParagraphs(const scenarios::RunOptions& options, std::size_t width);

/// `items` joined by ", " behind `title`, broken into lines of at most `width` columns where they fit.
std::vector<std::string> paragraph(const std::string& title, const std::vector<std::string>& items,
                                   std::size_t width);

}  // namespace holdfast::cli
