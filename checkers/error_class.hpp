// Section 12: which error a caller may see.
//
// 423 (Locked) only if somebody else held the key at some time while the caller waited (or shortly before:
// CheckerOptions::holderSlack, for the home's answer travels), and in the membership that the caller's node
// is in by now, because the word of an earlier one is void (DG-7): a delegation of another node was
// outstanding at the home, another handle was inside, or the caller's own node held the delegation and
// another of its calls was ahead. 503 names a cause that is a reason to retry. 409 only through a handle that
// had lapsed, was revoked, or was lost in a crash or a re-creation of the coordinator; an unlocked handle
// inside its lease still writes (LH-4), and an unlocked write is never refused (LH-5).
#pragma once

#include "checkers/context.hpp"

namespace holdfast::checkers {

/// The class that a cause belongs to; none for causes that are no lock error.
constexpr obs::ErrorClass classOf(obs::Cause cause) {
  using obs::Cause;
  using obs::ErrorClass;
  switch (cause) {
    case Cause::none:
    case Cause::aborted:
      return ErrorClass::none;
    case Cause::contended:
      return ErrorClass::locked423;
    case Cause::expired:
    case Cause::revoked:
    case Cause::unknownHandle:
      return ErrorClass::conflict409;
    default:
      return ErrorClass::lockUnavailable503;
  }
}

class ErrorClasses {
 public:
  static constexpr Checker kChecker = Checker::errorClass;

  void on(const Stamp& stamp, const obs::LockRefused& event, const Context& context);
  void on(const Stamp& stamp, const obs::WriteRefused& event, const Context& context);
  void on(const Stamp& stamp, const obs::Granted& event, const Context& context);
  void on(const Stamp& stamp, const obs::ReleaseSeen& event, const Context& context);
  void on(const Stamp& stamp, const obs::HandBackSeen& event, const Context& context);
  void on(const Stamp& stamp, const obs::GrantExpired& event, const Context& context);
  void on(const Stamp& stamp, const obs::NodeCrashed& event, const Context& context);
  void on(const Stamp& stamp, const obs::CoordinatorReplaced& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipInstalled& event, const Context& context);

 private:
  /// The home's grants of one key, as far as a wait can look back: the delegate now, and for each of the last
  /// two different delegates when its grant ended.
  struct Past {
    NodeId to;
    std::uint32_t membership = 0;
    TrueInstant until{INT64_MIN};
  };
  struct KeyGrants {
    bool outstanding = false;
    std::uint32_t membership = 0;
    NodeId to;
    NodeId home;
    std::array<Past, 2> past{};
  };

  static void endGrant(KeyGrants& row, TrueInstant at);
  void forgetGrantsOf(NodeId home, TrueInstant at);
  bool unknownHere(const Stamp& stamp, TxnId txn, const Context& context) const;
  bool heldByOther(CallId id, const Call& call, const Context& context) const;
  void judgeConflict(const Stamp& stamp, TxnId txn, CallId id, KeyId key, obs::Cause cause,
                     const Context& context) const;

  /// The membership that a node is in, and since when.
  struct Installation {
    std::uint32_t number = 0;
    TrueInstant at{INT64_MIN};
  };

  FlatTable<KeyGrants> keys_;
  FlatTable<Installation> installations_;  // by node
};

}  // namespace holdfast::checkers
