// All checkers as one value: feed it every observation of a run in the order of true time, then finish().
//
// on() looks at the observation's kind once and calls exactly those checkers that have an overload for it.
// Copying a CheckerSet copies everything it has seen. An observation whose ids can not come from a run (ids
// are dense, see kMaxDenseId) is counted as malformed, ignored, and makes the verdict inconclusive.
//
// A new checker is a class in a file of its own with `static constexpr Checker kChecker`, overloads
// on(stamp, observation, context) and perhaps finish(at, context), and a place in the tuple below.
#pragma once

#include <tuple>

#include "checkers/callers.hpp"
#include "checkers/context.hpp"
#include "checkers/convergence.hpp"
#include "checkers/cost.hpp"
#include "checkers/coverage.hpp"
#include "checkers/error_class.hpp"
#include "checkers/exclusion.hpp"
#include "checkers/freshness.hpp"
#include "checkers/liveness.hpp"
#include "checkers/membership.hpp"
#include "checkers/membership_lease.hpp"
#include "checkers/outcome.hpp"
#include "checkers/retention.hpp"
#include "checkers/serial.hpp"

namespace holdfast::checkers {

class CheckerSet {
 public:
  /// The largest key, call and transaction id, and the number of nodes, that is taken for real.
  static constexpr std::uint32_t kMaxDenseId = 1U << 26;
  static constexpr std::uint16_t kMaxNodes = 1024;

  explicit CheckerSet(const CheckerOptions& options = {});

  void on(const obs::Stamped& stamped);
  /// The same for an observation whose kind is known where it is made.
  template <class Event>
  void on(const Stamp& stamp, const Event& event);

  /// Ends the run at `at`: unsettled callers, convergence and retention are judged now. Call it once.
  void finish(TrueInstant at);

  Verdict verdict() const;
  const Findings& findings() const { return findings_; }
  const History& history() const { return history_; }
  const Lineage& lineage() const { return lineage_; }
  const CheckerOptions& options() const { return options_; }
  /// Costs by acquisition path (section 13).
  const CostTable& costs() const { return std::get<Cost>(checkers_).table(); }
  /// What was exercised so far. Its findings are filled in by finish().
  const Coverage& coverage() const { return coverage_.coverage(); }
  /// Observations that no checker could use.
  std::uint64_t malformed() const { return malformed_; }
  /// Pairs of final records that differ but could not be judged because of a hole that was never repaired.
  std::uint64_t stillWaiting() const { return std::get<Callers>(checkers_).waiting(); }
  std::uint64_t unjudgedReplicas() const { return std::get<Convergence>(checkers_).unjudged(); }

 private:
  CheckerOptions options_;
  History history_;
  Lineage lineage_;
  std::tuple<Exclusion, Freshness, Serial, Convergence, Callers, ErrorClasses, Retention, Cost, Liveness,
             Membership, MembershipLease>
      checkers_;
  CoverageCounter coverage_;
  Findings findings_;
  std::uint64_t malformed_ = 0;
};

}  // namespace holdfast::checkers
