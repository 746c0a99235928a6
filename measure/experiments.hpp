// The function of each experiment. experiment.cpp puts them together.
#pragma once

#include "measure/experiment.hpp"

namespace holdfast::measure {

Measurement measureCost(const Settings& settings);
Measurement measureLatency(const Settings& settings);
Measurement measureReacquisition(const Settings& settings);
Measurement measureQuarantine(const Settings& settings);
Measurement measureRenewal(const Settings& settings);
Measurement measureHotKey(const Settings& settings);
Measurement measureColdKeys(const Settings& settings);
Measurement measureBacklog(const Settings& settings);
Measurement measureCached(const Settings& settings);
Measurement measureCaps(const Settings& settings);
Measurement measureDisabled(const Settings& settings);
Measurement measureOneDown(const Settings& settings);

}  // namespace holdfast::measure
