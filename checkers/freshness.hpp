// a node admitted to a key shows every write that the key's earlier sections had committed.
//
// Judged at each admission, and again when a write settles after a later section began (DR-3). What is
// missing is excused only by a documented route, by the evidence in lineage.hpp; the path that the admission
// claims is no excuse in itself. A recovery must rest on a barrier that was joined for it and satisfied
// (FR-8), and that barrier must have waited for its members. A recovery after a clean release is counted by
// what was seen to lose the dependency set, stale or not, and a violation when nothing was (FR-6).
#pragma once

#include "checkers/context.hpp"

namespace holdfast::checkers {

class Freshness {
 public:
  static constexpr Checker kChecker = Checker::freshness;

  void on(const Stamp& stamp, const obs::Admitted& event, const Context& context);
  void on(const Stamp& stamp, const obs::Settled& event, const Context& context);
  void on(const Stamp& stamp, const obs::BarrierSkipped& event, const Context& context);
  void on(const Stamp& stamp, const obs::Applied& event, const Context& context);

 private:
  void judgeHidden(const Stamp& stamp, const obs::Admitted& event, NodeId origin,
                   const Context& context) const;
  void judgeRecovery(const Stamp& stamp, const obs::Admitted& event, const Context& context) const;
};

}  // namespace holdfast::checkers
