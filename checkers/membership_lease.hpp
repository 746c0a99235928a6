// Whether a membership lease rests on what it must rest on: a majority that acknowledged this very renewal of
// this very start of the process, and that keeps itself free for as long (EP-6, EP-7, EP-14).
//
// A renewal is known by the message that carried it. An acknowledgement answers the renewal that its sender
// was handed last, and is counted where and when it arrives. So a lease is held against what the network saw,
// and not against the number of a round, which its holder may have used before.
//
// Judged where CheckerOptions tells the length of a lease, and the members are known: from
// MembershipInstalled, or from the options under a membership that is given, which makes no reservations and
// lets a holder count itself. A lease that has run out before it is taken is nobody's concern.
#pragma once

#include <boost/container/small_vector.hpp>
#include <vector>

#include "checkers/context.hpp"

namespace holdfast::checkers {

class MembershipLease {
 public:
  static constexpr Checker kChecker = Checker::membership;

  void on(const Stamp& stamp, const obs::MessageSent& event, const Context& context);
  void on(const Stamp& stamp, const obs::MessageDelivered& event, const Context& context);
  void on(const Stamp& stamp, const obs::ReservationMade& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipInstalled& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipRenewed& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipJoining& event, const Context& context);
  void on(const Stamp& stamp, const obs::NodeStarted& event, const Context& context);
  void on(const Stamp& stamp, const obs::NodeCrashed& event, const Context& context);

 private:
  /// A renewal under way, or the acknowledgement that answers it.
  struct Renewal {
    std::uint64_t message = 0;
    NodeId holder;
    obs::MonotonicInstant sentAt;  // by the holder's clock
    std::uint32_t crashes = 0;     // of the holder, when it was sent
    std::uint32_t number = 0;      // of the membership that the holder went by
  };
  struct Acknowledged {
    NodeId by;
    obs::MonotonicInstant sentAt;  // the latest renewal that it has acknowledged
  };
  struct Holder {
    std::uint32_t number = 0;  // 0: the membership is given
    obs::NodeBits members;
    boost::container::small_vector<Acknowledged, 6> acknowledged;  // in this life, of this membership
    bool asked = false;                                            // it was seen to send a renewal
  };
  struct Reservation {
    bool made = false;
    /// The acceptor has restarted since, and counts all it may have promised anew (EP-10), or has lost its
    /// disk and votes in that membership no more (EP-11).
    bool anew = false;
    obs::MonotonicInstant until;  // by the acceptor's clock
  };

  void acknowledge(NodeId holder, NodeId by, obs::MonotonicInstant sentAt);
  void keep(const Renewal& renewal, TrueInstant now, const Context& context);
  const Renewal* find(std::uint64_t message) const;
  void countAnew(NodeId acceptor);
  void judgeReservations(const Stamp& stamp, const obs::MembershipRenewed& event, obs::NodeBits members,
                         const Context& context) const;

  std::vector<Renewal> underWay_;  // by message, ascending
  std::size_t sweepAt_ = 64;       // its size at which what is over is taken out
  FlatTable<Holder> holders_;
  NodeMatrix<Renewal> handed_;            // acceptor, holder: the renewal that it was handed last
  NodeMatrix<Reservation> reservations_;  // acceptor, holder
};

}  // namespace holdfast::checkers
