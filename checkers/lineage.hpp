// Placeholder contract: the dependency lineage of each key, as observed.
#pragma once

#include "checkers/history.hpp"

namespace holdfast::checkers {

class Lineage {
 public:
  void on(const Stamp&, const obs::BarrierStarted&) {}
};

}  // namespace holdfast::checkers
