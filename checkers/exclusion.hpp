// at most one node is inside a critical section of a key at any instant of true time; and nothing is
// written through authority that has ended.
//
// A section lasts from Admitted to the earliest of Unlocked, Revoked, the crash of its node, and the instant
// at which its node's own clock reaches `deadline`. A handle that has ended does not come back by re-entry
// (DR-1), none is entered by another call than its own, and whoever is let in by one is admitted as any other
// is. Re-creating a coordinator ends no section by itself: what
// is still outstanding then must be revoked (BD-4). A handle that was unlocked may still submit what it
// staged, inside its lease and unless revoked (LH-4).
//
// Beside X-1: LH-3 and CK-4 (no submission after the lapse), DR-2 (none after a revocation), EP-6 (nobody
// admits without a live membership, judged once any node was seen to renew one), LH-2 (a deadline is bounded
// by the delegation and the membership), TK-1 (the tokens that a home grants for a key increase), DG-9 (a
// home in quarantine grants nothing). Where CheckerOptions tells them, also DG-2 (a home grants to members
// only). Whether a membership lease is rightly taken is judged in membership_lease.hpp.
#pragma once

#include "checkers/context.hpp"

namespace holdfast::checkers {

class Exclusion {
 public:
  static constexpr Checker kChecker = Checker::exclusion;

  void on(const Stamp& stamp, const obs::Admitted& event, const Context& context);
  void on(const Stamp& stamp, const obs::Reentered& event, const Context& context);
  void on(const Stamp& stamp, const obs::Submitted& event, const Context& context);
  void on(const Stamp& stamp, const obs::Granted& event, const Context& context);
  void on(const Stamp& stamp, const obs::Installed& event, const Context& context);
  void on(const Stamp& stamp, const obs::CoordinatorStarted& event, const Context& context);

 private:
  struct Delegation {
    NodeId node;
    obs::MonotonicInstant deadline;
  };
  struct KeyTokens {
    NodeId home;
    obs::Token last;
    /// The latest delegation that each node installed for the key.
    boost::container::small_vector<Delegation, 4> delegations;
  };

  /// X-1 and EP-6: whether `call`, which is let in now, may be.
  void judgeAdmission(const Stamp& stamp, CallId call, KeyId key, obs::Path path,
                      const Context& context) const;
  void judgeBounds(const Stamp& stamp, CallId call, KeyId key, obs::MonotonicInstant deadline,
                   const Context& context) const;

  struct Quarantine {
    bool on = false;
    obs::MonotonicInstant until;
  };

  FlatTable<KeyTokens> keys_;
  FlatTable<Quarantine> quarantines_;  // by home
};

}  // namespace holdfast::checkers
