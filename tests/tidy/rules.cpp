// How the rules are decided; the tables are the specification.
#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

namespace holdfast::tidy {
namespace {

// A folder and what it may include besides itself; tests/ and bench/ may include everything. An entry that
// ends in '/' stands for the whole folder. The first row whose folder is a prefix of the path decides, so
// inner folders come before outer ones.
struct Arrows {
  std::string_view folder;
  std::array<std::string_view, 16> targets;  // unused places are empty
};

constexpr std::array kArrows = {
    Arrows{"sim/asio/", {"sim/"}},
    Arrows{"sim/", {}},
    Arrows{"observations/", {"sim/time.hpp", "sim/ids.hpp"}},
    Arrows{"protocol/", {"observations/", "sim/time.hpp", "sim/ids.hpp"}},
    Arrows{"checkers/linearizability/", {}},
    Arrows{"histories/", {"checkers/linearizability/"}},
    Arrows{"checkers/", {"observations/", "sim/time.hpp", "sim/ids.hpp", "sim/wide_integer.hpp"}},
    Arrows{"scenarios/", {"sim/", "sim/asio/", "protocol/", "checkers/", "observations/"}},
    Arrows{"shrink/", {"sim/", "protocol/", "checkers/", "scenarios/", "observations/"}},
    Arrows{"measure/", {"sim/", "protocol/", "checkers/", "scenarios/", "observations/"}},
    Arrows{"skew/", {"sim/", "protocol/", "checkers/", "scenarios/", "shrink/", "observations/"}},
    Arrows{"traces/", {"observations/", "sim/time.hpp", "sim/ids.hpp"}},
    Arrows{"explain/", {"traces/", "observations/", "sim/time.hpp", "sim/ids.hpp", "sim/wide_integer.hpp"}},
    Arrows{"pictures/", {"explain/", "traces/", "observations/", "sim/time.hpp", "sim/ids.hpp"}},
    Arrows{"explore/", {"sim/", "protocol/", "checkers/", "scenarios/", "observations/"}},
    Arrows{"ablation/", {"sim/", "protocol/", "checkers/", "scenarios/", "observations/", "explore/"}},
    Arrows{"cli/",
           {"sim/", "sim/asio/", "observations/", "protocol/", "checkers/", "scenarios/", "shrink/", "skew/",
            "measure/", "traces/", "explain/", "pictures/", "explore/", "ablation/", "histories/",
            "checkers/linearizability/"}},
    Arrows{"tests/", {}},
    Arrows{"bench/", {}},
};

// Folders whose every output must be a function of the seed alone. sim/asio/ is not among them because Asio's
// own interface is made of <chrono> types.
constexpr std::array<std::string_view, 4> kSeeded = {"sim/", "observations/", "protocol/", "checkers/"};
constexpr std::array<std::string_view, 8> kUnseededHeaders = {"chrono", "ctime",  "future", "iostream",
                                                              "locale", "random", "thread", "time.h"};

// The marker words are written in halves so that this file passes its own rule.
constexpr std::array<std::string_view, 2> kMarkers = {
    "FIX"
    "ME",
    "XX"
    "X"};

bool isHeader(std::string_view path) { return path.ends_with(".hpp"); }
bool isSource(std::string_view path) { return isHeader(path) || path.ends_with(".cpp"); }

bool covers(std::string_view entry, std::string_view path) {
  if (entry.ends_with('/')) {
    // sim/asio/ is a library of its own: an arrow to sim/ does not reach it.
    const bool intoAsio = path.starts_with("sim/asio/");
    return path.starts_with(entry) && (!intoAsio || entry != "sim/");
  }
  return path == entry;
}

bool maySeeAsio(std::string_view path) {
  const bool directed = path.starts_with("scenarios/") && path.find("directed") != std::string_view::npos;
  return path.starts_with("sim/asio/") || path.starts_with("cli/") || path.starts_with("tests/") ||
         path.starts_with("bench/") || directed;
}

bool isSeeded(std::string_view path) {
  return !path.starts_with("sim/asio/") &&
         std::ranges::any_of(kSeeded, [&](std::string_view folder) { return path.starts_with(folder); });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

struct Include {
  std::string_view name;
  bool quoted;
};

std::optional<Include> includeOf(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = trimmed(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = trimmed(line.substr(std::string_view("include").size()));
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
  const bool quoted = line[0] == '"';
  const auto end = line.find(quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return Include{line.substr(1, end - 1), quoted};
}

// The columns a terminal shows, near enough: UTF-8 continuation bytes take none.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(
      std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool hasWord(std::string_view line, std::string_view word) {
  const auto isWordCharacter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !isWordCharacter(line[at - 1])) && (end == line.size() || !isWordCharacter(line[end]))) {
      return true;
    }
  }
  return false;
}

std::optional<std::string> judgeInclude(std::string_view path, const Include& include) {
  const std::string name(include.name);
  if (include.name.starts_with("boost/asio") || include.name.starts_with("asio")) {
    if (!maySeeAsio(path)) return "Asio may be included only in sim/asio and in directed scenarios";
    return std::nullopt;
  }
  if (!include.quoted) {
    const auto ours = [&](const Arrows& row) { return include.name.starts_with(row.folder); };
    if (std::ranges::any_of(kArrows, ours)) return "write #include \"" + name + "\" with quotes";
    if (isSeeded(path) && std::ranges::find(kUnseededHeaders, include.name) != kUnseededHeaders.end()) {
      return "<" + name + "> has no place where everything is a function of the seed";
    }
    return std::nullopt;
  }
  if (include.name.find("..") != std::string_view::npos || include.name.find('/') == std::string_view::npos) {
    return "\"" + name + "\" must be a path from the root of the repository";
  }
  if (!mayInclude(path, include.name)) return "no arrow leads from here to \"" + name + "\"";
  return std::nullopt;
}

}  // namespace

bool mayInclude(std::string_view includer, std::string_view included) {
  const auto row =
      std::ranges::find_if(kArrows, [&](const Arrows& r) { return includer.starts_with(r.folder); });
  if (row == kArrows.end()) return false;
  if (covers(row->folder, included)) return true;
  const bool everything = row->folder == "tests/" || row->folder == "bench/";
  return everything || std::ranges::any_of(row->targets, [&](std::string_view target) {
           return !target.empty() && covers(target, included);
         });
}

std::vector<std::string> complaints(const SourceFile& file) {
  std::vector<std::string> result;
  const auto complain = [&](std::size_t line, const std::string& what) {
    result.push_back(file.path + ":" + std::to_string(line) + ": " + what);
  };

  bool pragmaOnce = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (columns(line) > kMaxColumns) {
      complain(i + 1, std::to_string(columns(line)) + " columns, at most " + std::to_string(kMaxColumns));
    }
    for (const std::string_view marker : kMarkers) {
      if (hasWord(line, marker)) complain(i + 1, std::string(marker) + " is left in the text");
    }
    if (!isSource(file.path)) continue;
    pragmaOnce = pragmaOnce || line == "#pragma once";
    if (const auto include = includeOf(line)) {
      if (const auto wrong = judgeInclude(file.path, *include)) complain(i + 1, *wrong);
    }
  }

  if (file.lines.size() > kMaxLines) {
    complain(kMaxLines + 1, std::to_string(file.lines.size()) + " lines, at most " +
                                std::to_string(kMaxLines) + "; split the file");
  }
  if (isHeader(file.path) && (file.lines.empty() || !file.lines.front().starts_with("//"))) {
    complain(1, "the header must open with a comment that states the contract it keeps");
  }
  if (isHeader(file.path) && !pragmaOnce) complain(1, "the header lacks #pragma once");
  return result;
}

}  // namespace holdfast::tidy
