// The experiments of the measurement gate: one file each, experiment_<name>.cpp, and a line in the registry.
#pragma once

#include <span>
#include <string_view>

#include "measure/measurement.hpp"
#include "measure/rig.hpp"

namespace holdfast::measure {

struct Experiment {
  std::string_view name;
  std::string_view question;
  /// Fills in everything but name and question. Throws std::runtime_error if a promise is broken.
  Measurement (*run)(const Settings& settings) = nullptr;
};

/// In the order in which they are reported.
std::span<const Experiment> experiments();

/// The experiment of that name; null when there is none.
const Experiment* findExperiment(std::string_view name);

/// Runs it.
Measurement measure(const Experiment& experiment, const Settings& settings);

}  // namespace holdfast::measure
