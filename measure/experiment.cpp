#include "measure/experiment.hpp"

#include <algorithm>
#include <array>

#include "measure/experiments.hpp"

namespace holdfast::measure {
namespace {

constexpr std::array kExperiments = {
    Experiment{"cost", "What does a lock cost in commits, deliveries and messages, next to section 13?",
               &measureCost},
    Experiment{"latency", "How long does a caller wait, by the path that its acquisition takes?",
               &measureLatency},
    Experiment{"reacquire", "How often must a lock be acquired again, by the length of a delegation?",
               &measureReacquisition},
    Experiment{"quarantine", "For how long are a home's keys unavailable when it restarts (DG-9)?",
               &measureQuarantine},
    Experiment{"renewal", "What does it cost to keep a membership live (EP-6)?", &measureRenewal},
    Experiment{"hot", "How fast, and how fairly, is a key passed on among nodes that all want it (DG-10)?",
               &measureHotKey},
    Experiment{"cold", "How many keys that nobody holds can one node lock in a second?", &measureColdKeys},
    Experiment{"backlog", "How does recovery depend on what is still to be applied (FR-8)?", &measureBacklog},
    Experiment{"cached", "What does a repeated lock cost under a live delegation (BD-2)?", &measureCached},
    Experiment{"caps", "What happens at the caps (BD-1)?", &measureCaps},
    Experiment{"disabled", "What do unlocked writes pay for the feature, switched on or off (LH-5)?",
               &measureDisabled},
    Experiment{"one-down", "How much can still be locked while one node is down (RA-6)?", &measureOneDown},
};

}  // namespace

std::span<const Experiment> experiments() { return kExperiments; }

const Experiment* findExperiment(std::string_view name) {
  const auto found = std::ranges::find(kExperiments, name, &Experiment::name);
  return found == kExperiments.end() ? nullptr : &*found;
}

Measurement measure(const Experiment& experiment, const Settings& settings) {
  Measurement measurement = experiment.run(settings);
  measurement.name = experiment.name;
  measurement.question = experiment.question;
  return measurement;
}

}  // namespace holdfast::measure
