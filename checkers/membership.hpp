// Who may arbitrate: one value for each membership number, one live ring at any instant of true time, and no
// successor that grants while a predecessor's authority still runs (EP, HM).
//
// A ring is a membership with its members: a number can have two of them only by a violation. A node acts
// under the ring it installed once that is active there, while its lease on it runs by its own clock; a home
// map has no lease, and its node acts until it acknowledges a greater generation or stops. A delegation is
// authority that outlives its grantor: it runs until its holder's clock reaches the installed deadline, or it
// was released, handed back, drained, lapsed, or lost in a crash (DG-3).
//
// Judged, each from observations alone:
// - agreement: what acceptors promise, accept and reserve (EP-1, EP-2, EP-3, EP-4, EP-7, EP-10), and that a
//   certificate is a majority of distinct members of its predecessor, each of whom did accept (EP-5);
// - succession: numbers grow on every node (EP-11, HM-6), each has one value (EP-4), and nothing but a
//   certificate, an activation record (HM-3) or a founder's birth installs one;
// - activation: not before the last instant at which a lease or a delegation of any predecessor could admit
//   (EP-8), nor forgetting what is still owed to earlier ones (EP-9), nor before every participant of a home
//   map has stopped (HM-3, HM-4, HM-5);
// - minority silence: nobody grants without a running lease (EP-6), before activation, or to or as a stranger
//   (DG-2, HM-1).
// Whether a lease is rightly taken is judged in membership_lease.hpp. Runs in which no membership is ever
// installed, as under a fixed one, are not judged.
#pragma once

#include <boost/container/small_vector.hpp>
#include <vector>

#include "checkers/context.hpp"

namespace holdfast::checkers {

class Membership {
 public:
  static constexpr Checker kChecker = Checker::membership;

  void on(const Stamp& stamp, const obs::MembershipPromised& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipAccepted& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipDecided& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipInstalled& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipActive& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipRenewed& event, const Context& context);
  void on(const Stamp& stamp, const obs::ReservationMade& event, const Context& context);
  void on(const Stamp& stamp, const obs::MembershipJoining& event, const Context& context);
  void on(const Stamp& stamp, const obs::HomeMapAcknowledged& event, const Context& context);
  void on(const Stamp& stamp, const obs::HomeMapFenced& event, const Context& context);
  void on(const Stamp& stamp, const obs::HomeMapActivated& event, const Context& context);
  void on(const Stamp& stamp, const obs::Granted& event, const Context& context);
  void on(const Stamp& stamp, const obs::Admitted& event, const Context& context);
  void on(const Stamp& stamp, const obs::Installed& event, const Context& context);
  void on(const Stamp& stamp, const obs::HandedBack& event, const Context& context);
  void on(const Stamp& stamp, const obs::Drained& event, const Context& context);
  void on(const Stamp& stamp, const obs::DelegationLapsed& event, const Context& context);
  void on(const Stamp& stamp, const obs::ControlAppended& event, const Context& context);
  void on(const Stamp& stamp, const obs::NodeCrashed& event, const Context& context);
  void on(const Stamp& stamp, const obs::NodeStarted& event, const Context& context);
  void on(const Stamp& stamp, const obs::CoordinatorReplaced& event, const Context& context);

 private:
  using RingIndex = std::uint32_t;  // into rings_; kNothing: none

  struct Ring {
    std::uint32_t number = 0;
    obs::NodeBits members;
    std::uint32_t ringVersion = 0;
    obs::NodeBits voters;  // of the first certificate seen
    NodeId by;             // who decided or installed it first, and when
    TrueInstant at;
  };
  struct Ballot {
    std::uint32_t counter = 0;
    std::uint16_t proposer = 0;
    friend auto operator<=>(const Ballot&, const Ballot&) = default;
  };
  /// What an acceptor accepted; of each number the latest.
  struct Vote {
    std::uint32_t number = 0;
    Ballot ballot;
    obs::NodeBits members;
    std::uint32_t ringVersion = 0;
  };
  struct Node {
    RingIndex ring = kNothing;
    bool active = false;
    std::uint32_t newest = 0;  // the greatest number it ever installed
    obs::MonotonicInstant lease;
    bool leased = false;
    obs::MonotonicInstant protectedUntil;  // as it installed its ring (EP-8, EP-9)
    bool protects = false;
    // As an acceptor.
    std::uint32_t promisedNumber = 0;
    Ballot promised;
    boost::container::small_vector<Vote, 2> votes;
    boost::container::small_vector<Vote, 1> formerVotes;  // under an identity that it has lost (EP-11)
    obs::MonotonicInstant reservedUntil;
    bool reserved = false;   // it has made a reservation in this life or an earlier one
    bool restarted = false;  // and has restarted since the latest
    // Of a home map.
    std::uint32_t acknowledged = 0;  // generation; ends with the incarnation (HM-4),
    std::uint32_t confirmed = 0;     // unless it was said again in the drain's last part
  };
  struct Delegation {
    NodeId node;
    obs::MonotonicInstant deadline;
    obs::Token token;
  };
  using Delegations = boost::container::small_vector<Delegation, 4>;

  RingIndex ringOf(const Stamp& stamp, std::uint32_t number, obs::NodeBits members, std::uint32_t ringVersion,
                   obs::NodeBits voters, const Context& context);
  void judgeCertificate(const Stamp& stamp, RingIndex ring, obs::NodeBits voters, const Ballot* ballot,
                        const Context& context) const;
  void judgeBallot(const Stamp& stamp, const Node& node, std::uint32_t number, Ballot ballot,
                   const Context& context) const;
  void judgeChoice(const Stamp& stamp, const Vote& vote, const Context& context);
  void judgeReservation(const Stamp& stamp, const Node& node, const obs::MembershipPromised& event,
                        const Context& context) const;
  void judgeProtection(const Stamp& stamp, const Node& node, obs::Duration reckoned, std::uint32_t number,
                       const Context& context) const;
  void judgeLiveRings(const Stamp& stamp, bool activation, const Context& context);
  void judgeDelegations(const Stamp& stamp, const Context& context) const;
  void judgeKey(const Stamp& stamp, KeyId key, std::uint32_t number, const Context& context) const;
  bool acts(NodeId id, TrueInstant at, const Context& context) const;
  bool accepted(NodeId voter, const Ring& ring, const Ballot* ballot) const;
  void addCertificate(Finding& finding, std::uint32_t number) const;
  void drop(NodeId node, KeyId key, const obs::Token& token);
  void dropAll(NodeId node);
  void startDrain(std::uint32_t generation);

  std::vector<Ring> rings_;
  FlatTable<Node> nodes_;
  FlatTable<Delegations> keys_;
  std::vector<std::uint64_t> reported_;  // pairs of rings that were found live together
  std::uint32_t activatedMap_ = 0;       // the greatest generation with an activation record
  obs::Duration fullReservation_;        // the longest reservation that was made (EP-7)
};

}  // namespace holdfast::checkers
