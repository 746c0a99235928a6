// Turns the reason why a write may be missing into the evidence of a finding.
#pragma once

#include "checkers/finding.hpp"
#include "checkers/lineage.hpp"

namespace holdfast::checkers {

inline void addExcuse(Finding& finding, const Excuse& excuse, const Barrier* barrier, NodeId origin) {
  switch (excuse.route) {
    case Route::l2a:
      finding.because(Fact::crashed, origin, excuse.lostAt);
      break;
    case Route::l2b:
      finding.because(Fact::barrierSkipped, origin, excuse.lostAt,
                      barrier == nullptr ? 0 : static_cast<std::int64_t>(barrier->nonce));
      break;
    case Route::l2c:
      finding.because(Fact::barrierMeasured, origin, excuse.lostAt, excuse.covered);
      break;
    default:
      break;
  }
  if (excuse.recoveredAt.ns != INT64_MIN) {
    finding.because(Fact::recovered, barrier == nullptr ? NodeId::none() : barrier->node, excuse.recoveredAt);
  }
}

}  // namespace holdfast::checkers
