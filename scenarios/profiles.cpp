#include "scenarios/profiles.hpp"

#include <type_traits>

#include "sim/random.hpp"

namespace holdfast::scenarios {
namespace {

/// Changes the gap between two faults of every kind to gap * numerator / denominator.
void scaleGaps(FaultOptions& faults, std::int64_t numerator, std::int64_t denominator) {
  obs::forEachField(faults, [&](std::string_view, auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, FaultRate>) {
      field.meanGap.ns = field.meanGap.ns * numerator / denominator;
    }
  });
}

}  // namespace

RunOptions optionsOf(Profile profile) {
  RunOptions options;
  switch (profile) {
    case Profile::ci:
      break;
    case Profile::calm:
      options.faults.swarmOnPpm = 200'000;
      scaleGaps(options.faults, 3, 1);
      break;
    case Profile::chaos:
      options.faults.swarmOnPpm = 850'000;
      options.faultPhase = sim::seconds(90);
      scaleGaps(options.faults, 1, 3);
      break;
    case Profile::safetyOnly:
      // Faults as frequent as in chaos leave hardly a membership that lives, and so nothing to be unsafe.
      options.faultPhase = sim::seconds(180);
      options.healedPhase = {};
      options.workload.intoHealedPhase = {};
      break;
  }
  return options;
}

}  // namespace holdfast::scenarios
