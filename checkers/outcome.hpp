// The verdict of a run, from its findings.
//
// An empty history proves nothing: a run without a single admission is inconclusive, never held.
#pragma once

#include <cstdint>

#include "checkers/finding.hpp"

namespace holdfast::checkers {

enum class Verdict : std::uint8_t { held, safetyViolation, livenessViolation, inconclusive };
BOOST_DESCRIBE_ENUM(Verdict, held, safetyViolation, livenessViolation, inconclusive)

/// Safety outranks liveness, and both outrank "inconclusive": a violation stays one in however short a run.
/// `admissions` counts critical sections begun; `malformed` counts observations no checker could use.
constexpr Verdict verdictOf(std::uint64_t safety, std::uint64_t liveness, std::uint64_t admissions,
                            std::uint64_t malformed) {
  if (safety > 0) return Verdict::safetyViolation;
  if (liveness > 0) return Verdict::livenessViolation;
  if (admissions == 0 || malformed > 0) return Verdict::inconclusive;
  return Verdict::held;
}

/// The exit code of the command: 0 held, 1 safety violation, 2 liveness violation, 3 inconclusive.
constexpr int exitCodeOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::held:
      return 0;
    case Verdict::safetyViolation:
      return 1;
    case Verdict::livenessViolation:
      return 2;
    case Verdict::inconclusive:
      return 3;
  }
  return 3;
}

}  // namespace holdfast::checkers
