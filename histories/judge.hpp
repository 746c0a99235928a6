// Whether a recorded history is linearizable as a history of a register, a lock, a queue ...
//
// Contract: judge() checks each object by itself: what --key-of tells apart, or the whole history. Objects
// stand in the order in which they were first used. An operation that the model does not have, or that lacks
// what the model needs, is an error with its line.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/linearizability/search.hpp"
#include "histories/history.hpp"

namespace holdfast::histories {

struct ModelName {
  std::string_view name;
  std::string_view operations;  ///< Functions and values that it knows.
  bool keyed = true;            ///< Its objects are told apart by key.
};

/// Every model that a history can be judged by.
std::span<const ModelName> models();

/// How the object that an operation is about is found.
enum class KeyOf : std::uint8_t {
  member,  ///< Member "key" of the event; one object if there is none.
  value,   ///< The value is a pair of key and value.
  none     ///< One object.
};

struct JudgeOptions {
  std::string model;
  KeyOf keyOf = KeyOf::member;
  std::int64_t permits = 1;  ///< Of a semaphore.
  linearizability::SearchLimits limits;
};

/// What became of one object. Operations are named by their index in the history.
struct Judged {
  std::string key;
  linearizability::Verdict verdict = linearizability::Verdict::linearizable;
  std::vector<std::uint32_t> operations;  ///< That had, or may have had, an effect; by invocation.
  std::vector<std::uint32_t> order;       ///< A linearization of all, or of the longest prefix that has one.
  std::uint32_t stuck = linearizability::kNever;
  std::vector<std::uint32_t> window;
  std::vector<std::string> states;
  std::uint64_t configurations = 0;
};

struct Judgement {
  /// notLinearizable if an object is; else unknown if one is.
  linearizability::Verdict verdict = linearizability::Verdict::linearizable;
  std::vector<Judged> objects;
};

std::expected<Judgement, ReadError> judge(const History& history, const JudgeOptions& options);

}  // namespace holdfast::histories
