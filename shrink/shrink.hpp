// Makes a failing plan small: the fewest steps on the fewest nodes and keys, with round numbers, that still
// fail in the same way.
//
// Contract: the result fails with the wanted signature, which was tried by running it. It is the same for any
// number of jobs; only the time limit depends on real time, and what it ends with fails too. Draws are keyed
// by the step they are made for, so taking one step out leaves the draws of all others as they were; that is
// what makes a failure survive it.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/signature.hpp"
#include "protocol/rules.hpp"
#include "scenarios/run.hpp"
#include "shrink/case.hpp"

namespace holdfast::shrink {

/// How far it is: called on the thread that shrinks, between two batches of runs.
class ShrinkProgress {
 public:
  virtual ~ShrinkProgress() = default;
  /// `stage`: what is tried now, in a few words. Returns whether to go on.
  virtual bool reached(std::string_view stage, const Size& size, std::uint64_t runs) = 0;
  /// Whether to end by now; called from all jobs, amid runs.
  virtual bool ends() const { return false; }
};

struct ShrinkOptions {
  protocol::Rules rules;
  unsigned jobs = 1;
  std::optional<std::uint64_t> timeLimitNs;  ///< Of real time.
  /// The failure, or the limitation, to keep; else the run's first violation.
  std::optional<checkers::Signature> signature;
  /// What a failure is instead, if it is nothing that one run can be seen to end in; called from all jobs.
  std::function<bool(const Case&)> fails;
  ShrinkProgress* progress = nullptr;
};

struct ShrinkResult {
  Case smallest;
  checkers::Signature signature;  ///< Means nothing where `fails` says what a failure is.
  Size before;
  Size after;
  std::uint64_t runs = 0;
  bool complete = true;         ///< False: ended by the time limit or by the progress callback.
  scenarios::RunReport report;  ///< Of the smallest case.
};

/// Shrinks a case, which must be valid. The error says why there is nothing to shrink: the run does not fail,
/// or not with the wanted signature.
std::expected<ShrinkResult, std::string> shrink(const Case& whole, const ShrinkOptions& options);

}  // namespace holdfast::shrink
