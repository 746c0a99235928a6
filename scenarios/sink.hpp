// Where the observations of a run may go besides the checkers: a trace, a directed scenario, a person.
//
// Contract: the sink is called once for each observation in the order in which they are made, after the hash
// chain and the checkers have seen it. It must not touch the cluster. Without a sink no call is made.
#pragma once

#include <cstdint>

#include "observations/observation.hpp"

namespace holdfast::scenarios {

class ObservationSink {
 public:
  virtual ~ObservationSink() = default;

  /// `chain` is the value of the hash chain after this observation.
  virtual void observe(const obs::Stamped& stamped, std::uint64_t chain) = 0;
};

}  // namespace holdfast::scenarios
