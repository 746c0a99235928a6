#include "cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "cli/option_list.hpp"
#include "cli/suggest.hpp"
#include "scenarios/plan.hpp"

namespace holdfast::cli {
namespace {

constexpr std::size_t kCommitDigits = 40;
constexpr std::size_t kLongCommitDigits = 64;
constexpr std::size_t kSeedDigits = 16;

bool isHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// The whole of `text` as an integer; nothing if it is none or too large.
std::optional<std::uint64_t> wholeNumber(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What was typed, short enough for a message and without anything a terminal would obey.
std::string typed(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string out;
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x20 && byte != 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out + (text.size() > kMost ? "..." : "");
}

std::string withoutDashes(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::vector<std::string> ruleNames() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < protocol::kRuleCount; ++i) {
    names.emplace_back(protocol::nameOf(static_cast<protocol::Rule>(i)));
  }
  return names;
}

}  // namespace

Parsed<std::uint64_t> parseSeed(std::string_view text) {
  std::optional<std::uint64_t> seed;
  if (text.size() == kCommitDigits && std::ranges::all_of(text, isHexDigit)) {
    seed = wholeNumber(text.substr(0, kSeedDigits), 16);
  } else if (text.starts_with("0x") || text.starts_with("0X")) {
    seed = wholeNumber(text.substr(2), 16);
  } else {
    seed = wholeNumber(text);
  }
  if (seed) return *seed;
  return std::unexpected(fmt::format(
      "'{}' is no seed; expected a number from 0 to {}, hexadecimal after 0x, or the 40 digits of a commit",
      typed(text), std::numeric_limits<std::uint64_t>::max()));
}

Parsed<SeedRange> parseSeeds(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto count = wholeNumber(text);
    if (count && *count > 0) return SeedRange{1, *count};
    return std::unexpected(fmt::format(
        "'{}' is no range of seeds; expected how many (1000) or the first and the last (5000..5999)",
        typed(text)));
  }
  const auto first = parseSeed(text.substr(0, dots));
  if (!first) return std::unexpected(first.error());
  const auto last = parseSeed(text.substr(dots + 2));
  if (!last) return std::unexpected(last.error());
  if (*last < *first) {
    return std::unexpected(
        fmt::format("the seeds {} end before they begin; expected the smaller number first", typed(text)));
  }
  if (*last - *first == std::numeric_limits<std::uint64_t>::max()) {
    return std::unexpected(fmt::format("the seeds {} are too many to count; expected at most {}", typed(text),
                                       std::numeric_limits<std::uint64_t>::max()));
  }
  return SeedRange{*first, *last - *first + 1};
}

Parsed<SeedRange> seedsOfCommit(std::string_view text, std::uint64_t count) {
  constexpr std::uint64_t kLowBits = std::numeric_limits<std::int64_t>::max();
  const bool whole = text.size() == kCommitDigits || text.size() == kLongCommitDigits;
  if (whole && std::ranges::all_of(text, isHexDigit) && count <= kLowBits) {
    return SeedRange{*wholeNumber(text.substr(0, kSeedDigits), 16) & kLowBits, count};
  }
  return std::unexpected(
      fmt::format("'{}' is no commit; expected its 40 hexadecimal digits (git rev-parse HEAD)", typed(text)));
}

Parsed<SeedRange> shardOf(std::string_view text, const SeedRange& seeds) {
  const auto slash = std::min(text.find('/'), text.size());
  const auto part = wholeNumber(text.substr(0, slash));
  const auto parts = wholeNumber(text.substr(std::min(slash + 1, text.size())));
  if (!part || !parts || *part == 0 || *part > *parts) {
    return std::unexpected(
        fmt::format("'{}' is no shard; expected i/n with i from 1 to n, such as 2/8", typed(text)));
  }
  if (*parts > seeds.count) {
    return std::unexpected(fmt::format("{} shards of {} seeds leave some without any; expected at most {}",
                                       *parts, seeds.count, seeds.count));
  }
  // The first `count % parts` shards have one seed more.
  const std::uint64_t each = seeds.count / *parts;
  const std::uint64_t longer = std::min(*part - 1, seeds.count % *parts);
  const std::uint64_t size = each + (*part <= seeds.count % *parts ? 1 : 0);
  return SeedRange{seeds.first + each * (*part - 1) + longer, size};
}

Parsed<std::uint64_t> parseRealTime(std::string_view text) {
  struct Unit {
    std::string_view name;
    std::uint64_t ns;
  };
  constexpr Unit kUnits[] = {{"ns", 1},
                             {"us", 1'000},
                             {"ms", 1'000'000},
                             {"s", 1'000'000'000},
                             {"min", 60'000'000'000},
                             {"h", 3'600'000'000'000}};
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = wholeNumber(text.substr(0, digits));
  const auto unit = std::ranges::find(kUnits, text.substr(digits), &Unit::name);
  // A century and a half, so that no clock overflows when it is added to the present.
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  if (number && *number > 0 && unit != std::end(kUnits) && *number <= kMost / unit->ns) {
    return *number * unit->ns;
  }
  return std::unexpected(
      fmt::format("'{}' is no length of time; expected an integer and a unit such as 500ms, 30s or 10min "
                  "(ns, us, ms, s, min, h)",
                  typed(text)));
}

Parsed<std::uint64_t> parseCount(std::string_view what, std::string_view text, std::uint64_t least,
                                 std::uint64_t most) {
  const auto number = wholeNumber(text);
  if (number && *number >= least && *number <= most) return *number;
  return std::unexpected(
      fmt::format("{} is '{}'; expected an integer from {} to {}", what, typed(text), least, most));
}

Parsed<protocol::Rule> parseRule(std::string_view text) {
  const std::vector<std::string> names = ruleNames();
  const std::string wanted = withoutDashes(text);
  std::vector<std::string> sharing;  // rules of the same id
  std::optional<protocol::Rule> last;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = withoutDashes(names[i]);
    if (name == wanted) return static_cast<protocol::Rule>(i);
    if (wanted.empty() || !name.starts_with(wanted + "_")) continue;
    sharing.push_back(names[i]);
    last = static_cast<protocol::Rule>(i);
  }
  if (sharing.size() == 1) return *last;
  if (!sharing.empty()) {
    return std::unexpected(fmt::format("'{}' names {} rules; expected one of {}", typed(text), sharing.size(),
                                       fmt::join(sharing, ", ")));
  }
  return std::unexpected(fmt::format("there is no rule '{}'{} ('holdfast list rules' names them all)",
                                     typed(text), didYouMean(text, names)));
}

Parsed<protocol::Rules> parseRules(std::span<const std::string> off) {
  protocol::Rules rules;
  for (const std::string& name : off) {
    const auto rule = parseRule(name);
    if (!rule) return std::unexpected(rule.error());
    rules.switchOff(*rule);
  }
  return rules;
}

std::vector<std::string> rulesOff(const protocol::Rules& rules) {
  std::vector<std::string> off;
  for (std::size_t i = 0; i < protocol::kRuleCount; ++i) {
    const auto rule = static_cast<protocol::Rule>(i);
    if (!rules.on(rule)) off.emplace_back(protocol::nameOf(rule));
  }
  return off;
}

Parsed<scenarios::RunOptions> applySettings(scenarios::RunOptions options,
                                            std::span<const std::string> settings) {
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return std::unexpected(
          fmt::format("'{}' is no setting; expected option=value such as nodes=3", typed(setting)));
    }
    const std::string path = setting.substr(0, equals);
    if (path == "seed") return std::unexpected(std::string("the seed is no setting; expected --seed"));
    const std::vector<std::string> paths = optionPaths();
    if (std::ranges::find(paths, path) == paths.end()) {
      return std::unexpected(fmt::format("there is no option '{}'{} ('holdfast list options' names them all)",
                                         typed(path), didYouMean(path, paths)));
    }
    if (auto set = scenarios::setOption(options, path, setting.substr(equals + 1)); !set) {
      return std::unexpected(set.error());
    }
  }
  if (auto valid = scenarios::validate(options); !valid) return std::unexpected(valid.error());
  return options;
}

std::string shellWord(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace holdfast::cli
