// What is typed behind the options, turned into values: seeds, durations, rules, settings.
//
// Contract: each function gives a value or a sentence that says what was wrong with the text and what would
// be right. No text makes one crash or take long.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/rules.hpp"
#include "scenarios/options.hpp"

namespace holdfast::cli {

/// As many threads as may be asked for.
inline constexpr std::uint64_t kMostJobs = 1'024;

template <class T>
using Parsed = std::expected<T, std::string>;

/// A seed: decimal from 0 to 2^64 - 1, hexadecimal after "0x", or the 40 digits of a commit, whose first 16
/// are taken.
Parsed<std::uint64_t> parseSeed(std::string_view text);

struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t count = 0;  ///< At least 1; first + count - 1 does not overflow.

  friend bool operator==(const SeedRange&, const SeedRange&) = default;
};

/// "N": the seeds 1 to N; "A..B": A to B, both included.
Parsed<SeedRange> parseSeeds(std::string_view text);

/// The seeds that a commit stands for, `count` of them: from its first 16 digits on, the highest bit left
/// out, so that every commit explores seeds of its own. `text`: its 40 (or 64) hexadecimal digits.
Parsed<SeedRange> seedsOfCommit(std::string_view text, std::uint64_t count);

/// Shard "i/n" of seeds, i from 1 to n: of n parts that follow each other and differ by one seed at most.
Parsed<SeedRange> shardOf(std::string_view text, const SeedRange& seeds);

/// An integer with a unit (ns, us, ms, s, min, h), as ns from 1 to 2^62; the unit may not be left out.
Parsed<std::uint64_t> parseRealTime(std::string_view text);

/// An integer from `least` to `most`; `what` names it in the error.
Parsed<std::uint64_t> parseCount(std::string_view what, std::string_view text, std::uint64_t least,
                                 std::uint64_t most);

/// The rule of that name ("DG3_OneDelegate", in any case), or the only one with that id ("DG-3").
Parsed<protocol::Rule> parseRule(std::string_view text);

/// All rules but the named ones.
Parsed<protocol::Rules> parseRules(std::span<const std::string> off);

/// Names of the rules that are off, in the order of the list of rules.
std::vector<std::string> rulesOff(const protocol::Rules& rules);

/// Applies settings "path=value" in their order. The result is valid: see scenarios::validate().
Parsed<scenarios::RunOptions> applySettings(scenarios::RunOptions options,
                                            std::span<const std::string> settings);

/// `text` as a word of a POSIX shell.
std::string shellWord(std::string_view text);

}  // namespace holdfast::cli
