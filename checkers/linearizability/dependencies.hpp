// What the reads of a history tell of the dependencies among its transactions.
#pragma once

#include <vector>

#include "checkers/linearizability/transactions.hpp"

namespace holdfast::linearizability {

struct Dependencies {
  std::vector<Link> links;           ///< Among transactions that committed; none to itself.
  std::vector<AnomalyFound> direct;  ///< What shows without a cycle, one of each kind.
};

Dependencies dependenciesOf(const std::vector<Transaction>& history, Workload workload);

}  // namespace holdfast::linearizability
