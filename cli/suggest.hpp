// "Did you mean": the known words that are most like one that is not known.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// How many letters have to be changed, added, removed, or swapped with their neighbour to get from one word
/// to the other.
std::size_t editDistance(std::string_view a, std::string_view b);

/// At most three of `known`, the most alike first; case does not count. Empty when nothing is much alike.
std::vector<std::string> nearMatches(std::string_view word, std::span<const std::string> known);

/// "; did you mean 'a' or 'b'?", or "" when nothing is much alike.
std::string didYouMean(std::string_view word, std::span<const std::string> known);

}  // namespace holdfast::cli
