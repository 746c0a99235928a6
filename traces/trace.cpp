#include "traces/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "observations/hash_chain.hpp"

namespace holdfast::traces {

#ifndef HOLDFAST_VERSION
#define HOLDFAST_VERSION "unversioned"
#endif

std::string_view toolVersion() { return HOLDFAST_VERSION; }

std::string_view compilerName() {
#define HOLDFAST_TEXT_OF(x) #x
#define HOLDFAST_TEXT(x) HOLDFAST_TEXT_OF(x)
#if defined(__clang__)
  return "clang " HOLDFAST_TEXT(__clang_major__) "." HOLDFAST_TEXT(__clang_minor__) "." HOLDFAST_TEXT(
      __clang_patchlevel__);
#elif defined(__GNUC__)
  return "g++ " HOLDFAST_TEXT(__GNUC__) "." HOLDFAST_TEXT(__GNUC_MINOR__) "." HOLDFAST_TEXT(
      __GNUC_PATCHLEVEL__);
#else
  return "unknown compiler";
#endif
#undef HOLDFAST_TEXT
#undef HOLDFAST_TEXT_OF
}

std::uint64_t optionHashOf(const Header& header) {
  std::vector<std::string> off = header.rulesOff;
  std::sort(off.begin(), off.end());
  off.erase(std::unique(off.begin(), off.end()), off.end());
  // nlohmann::json keeps the members of an object sorted by name, so equal options have one text.
  const nlohmann::json whole{
      {"scenario", header.scenario}, {"options", header.options}, {"off", std::move(off)}};
  const std::string text = whole.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return XXH3_64bits(text.data(), text.size());
}

std::string TraceError::text() const {
  std::string out = file;
  if (line != 0) out += fmt::format(":{}:{}", line, column);
  out += ": " + what;
  if (!expected.empty()) out += "; expected " + expected;
  return out;
}

}  // namespace holdfast::traces
