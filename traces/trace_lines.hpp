// The lines of a trace that are not observations: header, plan and last line, between structs and text.
//
// Contract: what the writing functions give, without a line's end, the parsing functions accept. Bad JSON and
// bad types are reported with their column.
#pragma once

#include <cstddef>
#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "traces/json.hpp"
#include "traces/trace.hpp"

namespace holdfast::traces {

std::expected<std::string, WriteError> headerLine(const Header& header);
std::expected<std::string, WriteError> planLine(const nlohmann::json& plan);
std::expected<std::string, WriteError> endingLine(const Ending& ending);

std::expected<Header, JsonError> parseHeader(std::string_view line);
std::expected<nlohmann::json, JsonError> parsePlan(std::string_view line);

/// The last line, and where the values to be compared with the rest of the trace stand.
struct EndingLine {
  Ending ending;
  std::size_t eventsColumn = 1;
  std::size_t hashColumn = 1;
};
std::expected<EndingLine, JsonError> parseEnding(std::string_view line);

/// Whether a line is meant to be the last: its first member is "verdict".
bool isEndingLine(std::string_view line);

}  // namespace holdfast::traces
