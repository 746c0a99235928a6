// LW-3: once everything is applied, all replicas hold the same record, and each holds what it has applied.
//
// Whatever a replica has applied, its final record must be the last-write-wins fold of just that: for each
// field the greatest put, patch or erase by (timestamp, origin), plus the increments above it. This is worked
// out anew from the observed writes, for locked and unlocked ones alike. A record of which a tombstone was
// reclaimed at that node has forgotten part of it and is not judged.
//
// Judged at the end of a run that was healed and reached its last phase, over the FinalRecord observations of
// the nodes that live. Two replicas that differ although both applied everything break LW-3. When one of them
// lags, that is a matter of liveness; when it has a hole that was never repaired, it can not be judged
// (FR-5). Nor can a write that was logged later than a tombstone's retention after the erase that outranks
// it: one replica has forgotten that erase, and another, which applied it later, has not. A field without a
// value is the same whoever removed it, for a tombstone may be reclaimed here and kept there.
#pragma once

#include <vector>

#include "checkers/context.hpp"

namespace holdfast::checkers {

class Convergence {
 public:
  static constexpr Checker kChecker = Checker::convergence;

  void on(const Stamp& stamp, const obs::Settled& event, const Context& context);
  void on(const Stamp& stamp, const obs::ControlAppended& event, const Context& context);
  void on(const Stamp& stamp, const obs::FinalRecord& event, const Context& context);
  void finish(TrueInstant at, const Context& context);

  /// Pairs of differing replicas that a hole, or an erase that was forgotten, kept from being judged.
  std::uint64_t unjudged() const { return unjudged_; }

 private:
  struct Final {
    NodeId node;
    obs::FinalRecord record;
  };

  void judgeAgreement(TrueInstant at, const Context& context);
  void judgeResolution(TrueInstant at, const Context& context) const;
  /// An origin whose log `node` has not applied to its end, or none; `hole` tells whether it never will.
  NodeId behindOn(NodeId node, const History& history, bool& hole) const;

  /// Whether `field` of `final` is excused: History::showsForgottenErase().
  static bool forgotErase(const Final& final, unsigned field, const Context& context);

  std::vector<Final> finals_;
  FlatTable<std::uint32_t> firstOfKey_;  // index + 1 into finals_
  FlatTable<Position> logTop_;           // by origin
  std::uint64_t unjudged_ = 0;
};

}  // namespace holdfast::checkers
