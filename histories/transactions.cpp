#include "histories/transactions.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

namespace holdfast::histories {
namespace {

namespace lin = linearizability;

std::optional<lin::Access> accessOf(const Value& step, lin::Workload workload, Names& names) {
  if (!step.isList() || step.items.size() != 3 || !step.items[0].isText()) return std::nullopt;
  const std::string& function = step.items[0].text;
  const Value& value = step.items[2];
  lin::Access access;
  access.key = names.numberOf(step.items[1]);
  if (function == "r" || function == "read") {
    if (workload == lin::Workload::registers) {
      access.value = names.numberOf(value);
      return access;
    }
    if (!value.isList() && !value.isNil()) return std::nullopt;
    for (const Value& item : value.items) access.list.push_back(names.numberOf(item));
    return access;
  }
  const bool lists = workload == lin::Workload::listAppend;
  if (lists && function != "append") return std::nullopt;
  if (!lists && function != "w" && function != "write") return std::nullopt;
  access.kind = lists ? lin::Access::Kind::append : lin::Access::Kind::write;
  access.value = names.numberOf(value);
  return access;
}

}  // namespace

std::expected<TransactionHistory, ReadError> transactionsOf(const History& history, lin::Workload workload) {
  TransactionHistory result;
  for (const Operation& operation : history.operations) {
    lin::Transaction transaction;
    const bool answered = operation.outcome == Outcome::ok;
    transaction.ending = answered                               ? lin::Ending::committed
                         : operation.outcome == Outcome::failed ? lin::Ending::aborted
                                                                : lin::Ending::unknown;
    transaction.invoked = operation.invoked;
    if (operation.outcome != Outcome::unknown) transaction.returned = operation.returned;
    // What was asked, and, once it is answered, what was read.
    const Value& steps = answered && operation.result.isList() ? operation.result : operation.argument;
    for (const Value& step : steps.items) {
      auto access = accessOf(step, workload, result.names);
      if (!access) {
        return std::unexpected(ReadError{
            operation.line, 1,
            fmt::format("the step {} is none; expected {} or [r KEY {}]", step.printed(),
                        workload == lin::Workload::listAppend ? "[append KEY VALUE]" : "[w KEY VALUE]",
                        workload == lin::Workload::listAppend ? "LIST" : "VALUE")});
      }
      if (answered || access->kind != lin::Access::Kind::read)
        transaction.accesses.push_back(std::move(*access));
    }
    result.transactions.push_back(std::move(transaction));
  }
  return result;
}

}  // namespace holdfast::histories
