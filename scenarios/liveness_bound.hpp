// How long after healing every key must be obtainable again (S-70), and for which options that can be said.
//
// The bound is a sum of named terms, each of which follows from the options; docs/membership.md has the part
// of it that a change of epochs takes. Where the bound lies beyond the workload nobody asks late enough to be
// judged by it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/options.hpp"

namespace holdfast::scenarios {

/// The bound in true time from the healing, for valid options.
Duration livenessBound(const RunOptions& options);

/// What keeps calls from being served however long after the healing they are made, and what would do
/// instead; nothing where liveness is not judged (healedPhase 0).
std::optional<std::string> whyNeverLive(const RunOptions& options);

/// `counted` * (1 + ppb): what it may last by a clock that is so much slower, or with so much error allowed.
Duration stretched(Duration counted, std::int64_t ppb);

/// What `counted` lasts at least by a clock that may be fast by `ppb`.
Duration shortened(Duration counted, std::int64_t ppb);

}  // namespace holdfast::scenarios
