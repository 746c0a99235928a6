// Members of a ring, and what they do about memberships, told in a line each.
#pragma once

#include <initializer_list>

#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {

inline constexpr NodeId E{4}, F{5};

inline obs::NodeBits setOf(std::initializer_list<NodeId> nodes) {
  obs::NodeBits set;
  for (const NodeId node : nodes) set.insert(node);
  return set;
}

inline const obs::NodeBits kNobody{};
inline const obs::NodeBits kFirst = setOf({A, B, C});   // membership 1
inline const obs::NodeBits kSecond = setOf({A, B, D});  // and its successor

/// Tells what members do about memberships.
class Ring {
 public:
  explicit Ring(CheckerOptions options = CheckerOptions{}.only(Checker::membership)) : story(options) {}

  Ring& at(Duration t) {
    story.at(t);
    return *this;
  }
  Ring& promise(NodeId acceptor, std::uint32_t number, std::uint32_t counter, NodeId proposer,
                Duration reservation = 1000_s, bool accepted = false, Duration carried = {}) {
    story.tell(acceptor, obs::MembershipPromised{number, counter, proposer, reservation, carried, accepted});
    return *this;
  }
  Ring& accept(NodeId acceptor, std::uint32_t number, obs::NodeBits members, std::uint32_t counter,
               NodeId proposer) {
    story.tell(acceptor, obs::MembershipAccepted{number, counter, proposer, members, 1, {}});
    return *this;
  }
  Ring& decide(NodeId proposer, std::uint32_t number, obs::NodeBits members, obs::NodeBits voters,
               std::uint32_t counter = 1) {
    story.tell(proposer, obs::MembershipDecided{number, counter, members, 1, voters, {}});
    return *this;
  }
  Ring& install(NodeId node, std::uint32_t number, obs::NodeBits members, obs::NodeBits voters = kNobody,
                Duration activateAfter = {}) {
    story.tell(node, obs::MembershipInstalled{number, members, 1, voters, activateAfter});
    return *this;
  }
  Ring& activate(NodeId node, std::uint32_t number) {
    story.tell(node, obs::MembershipActive{number});
    return *this;
  }
  /// `node` renews for `lease` of its own clock.
  Ring& renew(NodeId node, std::uint32_t number, Duration lease = 100_s) {
    story.tell(node, obs::MembershipRenewed{number, story.local(node) + lease});
    return *this;
  }
  Ring& reserve(NodeId acceptor, std::uint32_t number, NodeId holder, Duration remaining = 101_s) {
    story.tell(acceptor, obs::ReservationMade{number, holder, remaining});
    return *this;
  }
  Ring& grant(NodeId home, NodeId to, std::uint32_t number, KeyId key = K) {
    story.tell(home, obs::Granted{key, to, {number, 1, ++counter_}, Path::virgin, false, 10_s});
    return *this;
  }
  /// `node` installs what was granted last.
  Ring& hold(NodeId node, std::uint32_t number, Duration duration = 10_s, KeyId key = K) {
    story.tell(node,
               obs::Installed{key, {number, 1, counter_}, Path::virgin, false, story.local(node) + duration});
    return *this;
  }
  Ring& release(NodeId node, std::uint32_t number, KeyId key = K) {
    story.tell(node, obs::ControlAppended{EntryKind::release, key, {number, 1, counter_}, 0, 1});
    return *this;
  }
  /// The founders of membership 1 act under it.
  Ring& found() {
    for (const NodeId node : {A, B, C}) install(node, 1, kFirst).activate(node, 1).renew(node, 1);
    return *this;
  }
  /// A and B vote for membership 2, which A proposed.
  Ring& agree() {
    for (const NodeId node : {A, B}) promise(node, 2, 1, A);
    for (const NodeId node : {A, B}) accept(node, 2, kSecond, 1, A);
    return decide(A, 2, kSecond, setOf({A, B}));
  }

  Finding expect(Anomaly anomaly) { return expectViolation(story, Checker::membership, anomaly); }
  void expectHolds() {
    story.lock(F, 99, Path::virgin, K2);  // a history without an admission proves nothing
    expectHeld(story);
  }

  Story story;

 private:
  std::uint64_t counter_ = 0;
};

}  // namespace holdfast::checkers::testing
