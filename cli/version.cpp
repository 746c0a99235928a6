#include "cli/version.hpp"

#include <fmt/format.h>

#include "traces/trace.hpp"

#if __has_include(<holdfast_commit.hpp>)
#include <holdfast_commit.hpp>
#endif
#ifndef HOLDFAST_COMMIT
#define HOLDFAST_COMMIT "unknown"
#endif
#ifndef HOLDFAST_BUILD_TYPE
#define HOLDFAST_BUILD_TYPE ""
#endif

namespace holdfast::cli {

std::string_view commitName() { return HOLDFAST_COMMIT; }

std::string_view buildType() {
  constexpr std::string_view kType = HOLDFAST_BUILD_TYPE;
  return kType.empty() ? std::string_view("plain") : kType;
}

std::string toolLine() {
  return fmt::format("holdfast {} ({}) {} {}", traces::toolVersion(), commitName(), traces::compilerName(),
                     buildType());
}

}  // namespace holdfast::cli
