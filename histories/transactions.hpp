// A recorded history of transactions, and its anomalies.
//
// Contract: the value of each operation is a list of steps [FUNCTION KEY VALUE], with the functions append,
// r or read, and w or write, as Elle's histories have them. A step that is none of these is an error with its
// line.
#pragma once

#include <expected>
#include <vector>

#include "checkers/linearizability/transactions.hpp"
#include "histories/history.hpp"
#include "histories/names.hpp"

namespace holdfast::histories {

struct TransactionHistory {
  std::vector<linearizability::Transaction> transactions;  ///< By the index of their operation.
  Names names;                                             ///< Of keys and values.
};

std::expected<TransactionHistory, ReadError> transactionsOf(const History& history,
                                                            linearizability::Workload workload);

}  // namespace holdfast::histories
