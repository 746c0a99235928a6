// The proposer (EP-2, EP-4, EP-8): one round of agreement at a time, under a ballot of its own.
//
// A round asks the members for promises, waits out what they report, sends the value that they force upon it
// or its own, and ends with a certificate, with a rejection or with its timeout. Which members it asks, and
// what it would like to propose, is the caller's to say.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/membership/acceptor.hpp"
#include "protocol/membership/environment.hpp"

namespace holdfast::protocol {

class Proposer {
 public:
  enum class Phase : std::uint8_t { idle, backingOff, preparing, accepting };

  /// `start`: of the process, which every message of a round names (EP-14).
  explicit Proposer(std::uint64_t start) : start_(start) {}

  Phase phase() const { return phase_; }
  bool idle() const { return phase_ == Phase::idle; }
  bool inRound() const { return phase_ == Phase::preparing || phase_ == Phase::accepting; }

  /// Starts a round later, at a keyed draw of this node and attempt, so that duelling proposers part ways.
  void backOff(MembershipNumber number, const MembershipEnv& env);
  /// Starts a round for `wanted` among the members of `present`. Messages go out through `out`.
  void start(const Configuration& present, Configuration wanted, Ballot promised, bool administrative,
             std::vector<Answer>& out, const MembershipEnv& env);
  /// Ends what is under way without a decision.
  void abandon(Cause cause, const MembershipEnv& env);
  /// Another configuration is the present one: attempts count anew.
  void reset(const MembershipEnv& env);

  /// `present` is the configuration whose members vote; `carried` what this node itself protects (EP-9).
  void onPromise(NodeId from, const MembershipPromise& promise, const Configuration& present,
                 MonotonicInstant carried, std::vector<Answer>& out, const MembershipEnv& env);
  void onReject(NodeId from, const MembershipReject& reject, const MembershipEnv& env);
  /// The certificate, once a majority has accepted.
  std::optional<Certificate> onAccepted(NodeId from, const MembershipAccepted& accepted,
                                        const Configuration& present, const MembershipEnv& env);

  /// EP-8: when this node's own round says that `configuration` may be activated.
  std::optional<MonotonicInstant> activationOf(const Configuration& configuration) const;
  std::uint32_t attempts() const { return attempts_; }
  /// Of any ballot that it has made, or that an acceptor has told it of.
  std::uint32_t highestCounter() const { return highestCounter_; }

  void addTo(StateHash& hash) const;

 private:
  void sendAccept(const Configuration& present, std::vector<Answer>& out, const MembershipEnv& env);
  bool answersThisStart(std::uint64_t start, const MembershipEnv& env) const;

  std::uint64_t start_ = 0;
  Phase phase_ = Phase::idle;
  std::uint32_t attempts_ = 0;        // rounds of this number so far
  std::uint32_t highestCounter_ = 0;  // of any ballot seen
  Ballot ballot_;
  MonotonicInstant sentAt_;  // of the prepare
  Configuration wanted_;
  std::vector<NodeId> promises_;
  std::optional<AcceptedValue> forced_;  // the highest accepted value that a promise reported (EP-4)
  MonotonicInstant activateAt_ = MonotonicInstant::longAgo();
  AcceptedValue value_;
  std::vector<Vote> votes_;
};

}  // namespace holdfast::protocol
