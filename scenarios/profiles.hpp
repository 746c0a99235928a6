// Profiles: named mixtures of faults for a sweep.
//
// Contract: a profile is a set of options and no more, from which single options may still be set; `ci` is
// the default options. `safetyOnly` has faults to the end of the run, and so no promise of liveness can be
// judged.
#pragma once

#include <cstdint>

#include "scenarios/options.hpp"

namespace holdfast::scenarios {

enum class Profile : std::uint8_t {
  calm,        ///< few faults, far between: what the protocol does on a good day
  ci,          ///< the default
  chaos,       ///< most kinds of faults in every seed, three times as often and for longer
  safetyOnly,  ///< as ci for three minutes, and nothing is ever healed for good: safety alone is judged
};
BOOST_DESCRIBE_ENUM(Profile, calm, ci, chaos, safetyOnly)

RunOptions optionsOf(Profile profile);

/// Whether runs of the profile are held to promises of liveness.
constexpr bool judgesLiveness(Profile profile) { return profile != Profile::safetyOnly; }

/// Whether its sweeps must reach what the default sweep must reach.
constexpr bool hasMustReach(Profile profile) { return profile == Profile::ci; }

}  // namespace holdfast::scenarios
