// The joiner (EP-11): a node without trustworthy records learns the chain from a majority before it counts as
// anything, and every other node notes who would like to be a member, and with which identity.
//
// A node whose disk was replaced may have promised and accepted things that it no longer knows of. So it is
// never again the member that its name was: it votes only in configurations that admit its new identity, and
// those were decided after it had made itself known.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/membership/environment.hpp"

namespace holdfast::protocol {

class Joiner {
 public:
  /// `start`: of the process, which its questions name (EP-14).
  explicit Joiner(std::uint64_t start) : start_(start) {}

  /// Until learnt() this node is no acceptor.
  void begin(obs::JoiningReason why, std::uint32_t identity, const MembershipEnv& env);
  bool joining() const { return joining_; }

  /// `from` tells what it knows, up to number `head`; `current` is the newest configuration here. It counts
  /// only as an answer to this start of the process: what was asked before may long be out of date.
  void heard(NodeId from, MembershipNumber head, std::uint64_t answers, const Configuration& current,
             const MembershipEnv& env);

  /// Asks the members of `current`, and those of the first configuration, for what follows it.
  void ask(const Configuration& current, std::uint32_t identity, bool join, const MembershipEnv& env) const;

 private:
  std::uint64_t start_ = 0;
  bool joining_ = false;
  NodeSet answered_;  // members whose newest configuration is known here

 public:
  void addTo(StateHash& hash) const {
    hash.add(static_cast<std::uint64_t>(joining_));
    hash.add(answered_);
  }
};

/// Nodes that made themselves known and are no members with their identity: what an operator, or rejoin, may
/// add (EP-13). At most one entry a node of the directory.
class Candidates {
 public:
  void note(Member member, bool wantsIn, const MembershipEnv& env);
  void forget(const Configuration& members);
  /// The identity that the node has given lately; nothing when it was not heard of.
  const Member* find(NodeId node, const MembershipEnv& env) const;
  /// The identity that the node gave last, however long ago.
  std::optional<std::uint32_t> identityOf(NodeId node) const;
  /// Those who asked lately to be members again.
  std::vector<Member> wantingIn(const MembershipEnv& env) const;
  void addTo(StateHash& hash) const;

 private:
  struct Candidate {
    Member member;
    bool wantsIn = false;
    MonotonicInstant freshUntil;
  };

  std::vector<Candidate> candidates_;  // sorted by node
};

}  // namespace holdfast::protocol
