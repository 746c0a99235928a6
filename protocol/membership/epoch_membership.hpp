// Membership by durable epochs (EP): configurations that their own members agree on, one number after
// another.
//
// The roles do the work: the chain of certificates says who the members are, the acceptor votes for the next
// configuration, the proposer leads a round, the lease holder keeps the present one live, and the joiner
// catches up. This class lets them talk: it routes messages, decides when a proposal is due, and makes a
// certificate the acting configuration once it is durable (EP-5).
//
// A proposal is due when a member has been silent for missedRenewals renewal periods, when agreement has come
// to a halt after promises were made (EP-3), when a former member asks to be one again, or when an operator
// says so; all are the same protocol (EP-13). Nobody proposes without hearing a majority.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/membership/acceptor.hpp"
#include "protocol/membership/certificate_chain.hpp"
#include "protocol/membership/environment.hpp"
#include "protocol/membership/joiner.hpp"
#include "protocol/membership/lease_holder.hpp"
#include "protocol/membership/proposer.hpp"

namespace holdfast::protocol {

class EpochMembership {
 public:
  EpochMembership(const NodeSetup& setup, DurableMembership durable);

  MembershipChange boot(const MembershipEnv& env);
  MembershipChange onMessage(NodeId from, const Message& message, const MembershipEnv& env);
  MembershipChange onTimer(TimerKind timer, const MembershipEnv& env);
  MembershipChange onPersisted(const PersistDone& done, const MembershipEnv& env);
  /// EP-13: an operator's proposal. Abandoned at once when this node may not propose, or has not heard of the
  /// node to be added.
  MembershipChange propose(const AdminProposeMembership& change, const MembershipEnv& env);
  /// Somebody names a newer configuration than is known here: asks it for the certificates (EP-11).
  void noteNewer(NodeId from, MembershipNumber number, const MembershipEnv& env) const;

  /// Counts anew what nothing under way refers to, so that states which differ in that alone become equal.
  void renumber() {
    lease_.renumber();
    renumberWrites();
  }
  /// The same of what is written: nothing that is on its way to the disk is numbered.
  void renumberWrites() {
    acceptor_.renumber();
    if (keeping_.empty()) certificateSequence_ = 0;
  }

  MembershipNumber number() const { return chain_.current().number; }
  std::span<const NodeId> members() const { return members_; }
  std::span<const NodeId> predecessors() const { return predecessors_; }
  std::span<const NodeId> former() const { return former_; }
  bool isMember(NodeId node) const;
  std::uint32_t ringVersion() const { return chain_.current().ringVersion; }
  MonotonicInstant deadline() const { return lease_.deadline(); }
  MonotonicInstant grantsFrom() const { return protectedUntil_; }
  bool active() const { return active_; }
  bool first() const { return number() == 1 && !joiner_.joining() && identity_ == 0; }

  const CertificateChain& chain() const { return chain_; }
  const Acceptor& acceptor() const { return acceptor_; }
  const Proposer& proposer() const { return proposer_; }
  /// Whether an operator has told this node to take a member away, and that has not come about yet (EP-13).
  bool isToDismiss() const { return admin_ && admin_->remove.valid(); }
  const Candidates& candidates() const { return candidates_; }
  bool joining() const { return joiner_.joining(); }
  /// Whether a round of this node's, or the pause before one, is under way.
  bool proposing() const { return !proposer_.idle(); }

  void addTo(StateHash& hash) const;

 private:
  /// An operator's wish that no round has brought about is given up after so many.
  static constexpr std::uint32_t kMaxAdminAttempts = 12;

  /// Whether this node, with the disk it has now, is a member of the current configuration (EP-11).
  bool selfIsMember(const MembershipEnv& env) const;
  bool mayVote(const MembershipEnv& env) const { return founded_ && !joiner_.joining() && selfIsMember(env); }

  // epoch_membership.cpp: installing, leases, catching up
  MembershipChange dispatch(NodeId from, const Message& message, const MembershipEnv& env);
  MembershipChange drain(const MembershipEnv& env);
  void deliver(std::optional<Answer> answer, const MembershipEnv& env);
  MembershipChange onRenew(NodeId from, const MembershipRenew& renew, const MembershipEnv& env);
  MembershipChange onRenewAck(NodeId from, const MembershipRenewAck& ack, const MembershipEnv& env);
  MembershipChange onCertificates(NodeId from, const MembershipCertificates& message,
                                  const MembershipEnv& env);
  bool refuse(NodeId from, const Certificate& certificate, const MembershipEnv& env) const;
  MembershipChange onQuery(NodeId from, const MembershipQuery& query, const MembershipEnv& env);
  MembershipChange begin(const MembershipEnv& env);
  MembershipChange renew(const MembershipEnv& env);
  MembershipChange onKept(const PersistDone& done, const MembershipEnv& env);
  MembershipChange keep(Certificate certificate, const MembershipEnv& env);
  MembershipChange install(Certificate certificate, const MembershipEnv& env);
  void adoptHead();
  void listen(const MembershipEnv& env);
  void protect(const Certificate& certificate, const MembershipEnv& env);
  void observeInstalled(const MembershipEnv& env);
  void announce(const MembershipEnv& env) const;
  const Configuration& newest() const;

  // epoch_proposals.cpp: who votes, and when a proposal is due
  MembershipChange onPrepare(NodeId from, const MembershipPrepare& prepare, const MembershipEnv& env);
  MembershipChange onAccept(NodeId from, const MembershipAccept& accept, const MembershipEnv& env);
  MembershipChange onVote(NodeId from, const Message& message, const MembershipEnv& env);
  Cause ballotRefusal(NodeId from, const Ballot& ballot, std::uint32_t ringVersion,
                      const MembershipEnv& env) const;
  MembershipChange onProposeTimer(const MembershipEnv& env);
  void considerProposal(const MembershipEnv& env);
  /// What this node would propose now; nothing when nothing is due or no majority is heard.
  std::optional<Configuration> wanted(const MembershipEnv& env) const;
  bool silent(std::size_t member, const MembershipEnv& env) const;
  bool stalled(const MembershipEnv& env) const;
  void startRound(Configuration wanted, const MembershipEnv& env);
  bool fulfilled(const AdminProposeMembership& change, const MembershipEnv& env) const;
  Cause adminRefusal(const AdminProposeMembership& change, const MembershipEnv& env) const;

  CertificateChain chain_;
  Acceptor acceptor_;
  Proposer proposer_;
  LeaseHolder lease_;
  Joiner joiner_;
  Candidates candidates_;
  DurableMembership found_;  // on the disk, until boot() has looked at it

  std::uint32_t identity_ = 0;  // serial number of the disk
  std::uint64_t start_ = 0;     // of the process (EP-14)
  bool founded_ = false;        // the chain is on the disk
  bool active_ = false;         // the protection of the predecessors has elapsed and was said to have
  std::vector<NodeId> members_;
  std::vector<NodeId> predecessors_;
  std::vector<NodeId> former_;
  std::vector<MonotonicInstant> silentAfter_;  // by position in members_: patience without a renewal
  MonotonicInstant protectedUntil_ = MonotonicInstant::longAgo();  // EP-8, EP-9
  std::optional<AdminProposeMembership> admin_;                    // an operator's wish, until it is true

  struct Keeping {
    std::uint32_t sequence = 0;
    Certificate certificate;
    bool durable = false;  // and waits for the ones before it
  };
  std::vector<Keeping> keeping_;  // certificates on their way to the disk, in order
  std::uint32_t certificateSequence_ = 0;
  std::vector<Message> own_;  // what the roles of this node say to each other; empty between inputs
};

}  // namespace holdfast::protocol
