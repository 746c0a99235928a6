// A recorded history of some system: who invoked what, what came back, and on which line that stands.
//
// Contract: read() takes JSON lines (docs/history-format.md), Jepsen's EDN as one vector or list of maps or a
// map a line, and Jepsen's older log lines, and tells them apart by what they begin with. Each return is
// joined to the invocation of its process that it answers. What belongs to no client (a nemesis) is passed
// over. An error names line and column; nothing is half read.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "histories/edn.hpp"
#include "histories/value.hpp"

namespace holdfast::histories {

/// What became of an operation. `failed`: it is known to have had no effect. `unknown`: it may have had one,
/// then or at any time since, or none.
enum class Outcome : std::uint8_t { ok, failed, unknown };

/// An operation from its invocation to its return. Events are numbered from 0 over the whole history.
struct Operation {
  std::string process;
  std::string function;
  Value key;       ///< Member "key" of the invocation; nil if it has none.
  Value argument;  ///< Member "value" of the invocation.
  Value result;    ///< Member "value" of the return.
  Outcome outcome = Outcome::unknown;
  bool error = false;   ///< The return says why: it is no answer of the object itself.
  bool logged = false;  ///< From a log line, where a compare-and-set that failed is one that did not match.
  std::uint32_t invoked = 0;
  std::uint32_t returned = 0;    ///< Meaningful when the outcome is not unknown.
  std::uint32_t line = 0;        ///< Of the invocation, from 1.
  std::uint32_t returnLine = 0;  ///< 0: never returned.
};

struct History {
  std::vector<Operation> operations;  ///< In the order of their invocations.
  std::uint32_t events = 0;
};

std::expected<History, ReadError> read(std::string_view text);

}  // namespace holdfast::histories
