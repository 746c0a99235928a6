// What the command's exit code says; the design's list, in one place.
#pragma once

namespace holdfast::cli {

inline constexpr int kExitHeld = 0;          ///< Everything held, and every expectation was met.
inline constexpr int kExitSafety = 1;        ///< A safety violation.
inline constexpr int kExitLiveness = 2;      ///< A liveness violation.
inline constexpr int kExitInconclusive = 3;  ///< Inconclusive, or something expected was not reached.
inline constexpr int kExitDiverged = 4;      ///< Two runs of one description differed.
inline constexpr int kExitUsage = 64;        ///< Bad usage or bad input.
inline constexpr int kExitInternal = 70;     ///< A fault of the command itself.

}  // namespace holdfast::cli
