// All checkers as one value: feed it every observation of a run in the order of true time, then finish().
//
// on() visits the observation once and calls exactly those checkers that have an overload for it. Copying a
// CheckerSet copies everything it has seen. An observation whose ids lie beyond kMaxDenseId can not come from
// a run (ids are dense); it is counted as malformed, ignored, and makes the verdict inconclusive.
#pragma once

#include <tuple>

#include "checkers/context.hpp"
#include "checkers/exclusion.hpp"
#include "checkers/outcome.hpp"

namespace holdfast::checkers {

class CheckerSet {
 public:
  /// The largest key, call and transaction id, and the number of nodes, that is taken for real.
  static constexpr std::uint32_t kMaxDenseId = 1U << 26;
  static constexpr std::uint16_t kMaxNodes = 1024;

  explicit CheckerSet(const CheckerOptions& options = {});

  void on(const obs::Stamped& stamped);

  /// Ends the run at `at`: unsettled callers, convergence and retention are judged now. Call it once.
  void finish(TrueInstant at);

  Verdict verdict() const;
  const Findings& findings() const { return findings_; }
  const History& history() const { return history_; }
  const CheckerOptions& options() const { return options_; }
  /// Observations that no checker could use.
  std::uint64_t malformed() const { return malformed_; }

 private:
  CheckerOptions options_;
  History history_;
  Lineage lineage_;
  std::tuple<Exclusion> checkers_;
  Findings findings_;
  std::uint64_t malformed_ = 0;
};

}  // namespace holdfast::checkers
