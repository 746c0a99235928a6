#include "cli/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::cli {
namespace {

constexpr std::size_t kMostSuggestions = 3;
// A longer word is no slip of the fingers, and the distance takes quadratic time.
constexpr std::size_t kLongestWord = 200;

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// How unlike a known word is: its distance as a whole or of its beginning, and less if the word is part of
/// it.
std::size_t unlikeness(std::string_view word, std::string_view known) {
  if (known.find(word) != std::string_view::npos) return known.starts_with(word) ? 0 : 1;
  std::size_t least = editDistance(word, known);
  if (known.size() > word.size()) {
    // A beginning is worth a little less than a whole word.
    least = std::min(least, editDistance(word, known.substr(0, word.size())) + 1);
  }
  return least;
}

}  // namespace

std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, previous[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return previous[b.size()];
}

std::vector<std::string> nearMatches(std::string_view word, std::span<const std::string> known) {
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string typed = lowered(word);
  const std::size_t tolerated = std::max<std::size_t>(2, typed.size() / 3);
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // unlikeness and index
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::size_t rank = unlikeness(typed, lowered(known[i]));
    if (rank <= tolerated && rank < typed.size()) ranked.emplace_back(rank, i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> out;
  for (const auto& [rank, index] : ranked) {
    // Beside a close match, a distant one is noise.
    if (out.size() == kMostSuggestions || rank > ranked.front().first + 1) break;
    out.push_back(known[index]);
  }
  return out;
}

std::string didYouMean(std::string_view word, std::span<const std::string> known) {
  const std::vector<std::string> near = nearMatches(word, known);
  if (near.empty()) return "";
  std::string out = "; did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    out += fmt::format("{}'{}'", i == 0 ? "" : i + 1 == near.size() ? " or " : ", ", near[i]);
  }
  return out + "?";
}

}  // namespace holdfast::cli
