// The messages of the protocol: a closed variant of small structs.
//
// No message holds an instant, only durations (CK-2); wire_safety.hpp makes that a compile-time fact. The
// sender is not part of a message: it comes authenticated with the delivery (DG-6).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/dependency_set.hpp"
#include "protocol/log_entry.hpp"
#include "protocol/membership/certificate.hpp"
#include "protocol/membership/home_map_record.hpp"
#include "protocol/renumbering.hpp"

namespace holdfast::protocol {

using obs::Cause;
using obs::MessageKind;
using obs::Path;

/// A requester's attempt (DG-6): ordered within one incarnation of the requester, never reused. The
/// incarnation is durable before anything is asked in its name, so that no two starts share one (EP-14).
struct RequestId {
  std::uint32_t incarnation = 0;
  std::uint32_t sequence = 0;
  constexpr bool valid() const { return sequence != 0; }
  template <class Hash>
  void addTo(Hash& hash) const {
    hash.add(static_cast<std::uint64_t>(incarnation));
    hash.addGrowing(Growing::request, sequence);
  }
  friend constexpr auto operator<=>(RequestId, RequestId) = default;
};
BOOST_DESCRIBE_STRUCT(RequestId, (), (incarnation, sequence))

// EP-14: `start` is that of the process that asks, and the answer gives it back: numbers and ballots that a
// process counts begin anew with it. What an incarnation numbers needs none, for it is durable before
// anything is said in its name (TK-2): requests, grants, tokens, barriers' nonces, a console's rounds,
// greetings.

/// EP-6: "may I go on being live in membership `number`?" Acknowledged by its members.
struct MembershipRenew {
  MembershipNumber number = 0;
  std::uint32_t ringVersion = 0;
  std::uint32_t sequence = 0;
  std::uint64_t start = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipRenew, (), (number, ringVersion, sequence, start))

struct MembershipRenewAck {
  MembershipNumber number = 0;
  std::uint32_t sequence = 0;
  std::uint64_t start = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipRenewAck, (), (number, sequence, start))

/// Delegate to home. `wait` is how long the requester can still wait (DG-10), `retry` whether an earlier
/// attempt of the same acquisition went unanswered.
struct LockRequest {
  MembershipNumber membership = 0;
  RequestId request;
  KeyId key;
  Duration wait;
  bool retry = false;
};
BOOST_DESCRIBE_STRUCT(LockRequest, (), (membership, request, key, wait, retry))

/// Home to delegate. `duration` counts from the requester's own send (DG-4). `renewal`: the requester was
/// the delegate already. `dependencies` is what path clean must satisfy (FR-3).
struct LockGrant {
  Token token;
  RequestId request;
  KeyId key;
  Path path = Path::virgin;
  bool renewal = false;
  Duration duration;
  DependencySet dependencies;
};
BOOST_DESCRIBE_STRUCT(LockGrant, (), (token, request, key, path, renewal, duration, dependencies))

/// Home to requester. `membership` is the home's current one; `retryAfter` how long asking again is useless.
struct LockDeny {
  MembershipNumber membership = 0;
  RequestId request;
  KeyId key;
  Cause cause = Cause::none;
  Duration retryAfter;
};
BOOST_DESCRIBE_STRUCT(LockDeny, (), (membership, request, key, cause, retryAfter))

struct LockRecall {
  Token token;
  KeyId key;
};
BOOST_DESCRIBE_STRUCT(LockRecall, (), (token, key))

/// Delegate to home: nobody was ever admitted under this token (DG-5, DG-7).
struct LockHandBack {
  Token token;
  KeyId key;
};
BOOST_DESCRIBE_STRUCT(LockHandBack, (), (token, key))

struct BarrierRequest {
  MembershipNumber membership = 0;
  std::uint64_t nonce = 0;
};
BOOST_DESCRIBE_STRUCT(BarrierRequest, (), (membership, nonce))

/// `position` of the barrier entry in the member's own log, or `cause` when it could not produce one.
struct BarrierReply {
  std::uint64_t nonce = 0;
  Position position = 0;
  Cause cause = Cause::none;
};
BOOST_DESCRIBE_STRUCT(BarrierReply, (), (nonce, position, cause))

/// "Send me your log from `from` on." Starts, or restarts, the ordered stream from origin to subscriber. A
/// `round` other than 0 asks for a LogHead behind what there is of it.
struct Subscribe {
  Position from = 1;
  std::uint32_t round = 0;
};
BOOST_DESCRIBE_STRUCT(Subscribe, (), (from, round))

/// One entry of the sender's log, on the ordered stream.
struct LogFrame {
  Position position = 0;
  LogEntry entry;
};
BOOST_DESCRIBE_STRUCT(LogFrame, (), (position, entry))

/// The sender's log starts at `first`; what lies before has been purged (FR-5).
struct LogGap {
  Position first = 1;
};
BOOST_DESCRIBE_STRUCT(LogGap, (), (first))

/// EP-2: "promise to accept nothing below `ballot` as configuration `number`." To the members of number - 1.
struct MembershipPrepare {
  MembershipNumber number = 0;
  Ballot ballot;
  std::uint32_t ringVersion = 0;
  std::uint64_t start = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipPrepare, (), (number, ballot, ringVersion, start))

/// EP-2. `reservation` is how long the present configuration may still be live (EP-7), `carried` how long the
/// protection of its predecessors still runs here (EP-9). `accepted` has the ballot of the acceptance and
/// what remains of its protection.
struct MembershipPromise {
  MembershipNumber number = 0;
  Ballot ballot;
  Duration reservation;
  Duration carried;
  std::optional<AcceptedValue> accepted;
  std::uint64_t start = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipPromise, (), (number, ballot, reservation, carried, accepted, start))

/// A prepare or accept of `ballot` came too late: `promised` is greater. It lets the proposer back off.
struct MembershipReject {
  MembershipNumber number = 0;
  Ballot ballot;
  Ballot promised;
  std::uint64_t start = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipReject, (), (number, ballot, promised, start))

/// EP-4.
struct MembershipAccept {
  AcceptedValue value;
  std::uint64_t start = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipAccept, (), (value, start))

/// EP-4, EP-5: the voter's own Accepted. `digest` names the configuration.
struct MembershipAccepted {
  MembershipNumber number = 0;
  Ballot ballot;
  std::uint64_t digest = 0;
  std::uint64_t signature = 0;
  std::uint64_t start = 0;
  template <class Hash>
  void addTo(Hash& hash) const {
    hash.add(static_cast<std::uint64_t>(number));
    hash.add(ballot);
    hash.add(digest);
    hash.addDerived(signature);
    hash.add(start);
  }
};
BOOST_DESCRIBE_STRUCT(MembershipAccepted, (), (number, ballot, digest, signature, start))

/// EP-5, EP-11: installed configurations in order, to whoever is behind. `head` is the sender's newest
/// number. `answers`: the start of the receiver that had asked for them, 0: none that counts answers.
struct MembershipCertificates {
  MembershipNumber head = 0;
  std::vector<Certificate> certificates;
  std::uint64_t answers = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipCertificates, (), (head, certificates, answers))

/// EP-11: "which configurations follow `number`?" `identity` is the asker's disk; `join`: it wants to be a
/// member again.
struct MembershipQuery {
  MembershipNumber number = 0;
  std::uint32_t identity = 0;
  bool join = false;
  std::uint64_t start = 0;
};
BOOST_DESCRIBE_STRUCT(MembershipQuery, (), (number, identity, join, start))

/// HM-2: which map the sender acts on; generation 0: on none. `asks`: the incarnation of the sender that
/// wants to hear the receiver's, 0: none. `answers`: the incarnation of the receiver that had asked, 0: none.
struct HomeMapHello {
  std::uint32_t generation = 0;
  std::uint64_t digest = 0;
  std::uint32_t asks = 0;
  std::uint32_t answers = 0;
};
BOOST_DESCRIBE_STRUCT(HomeMapHello, (), (generation, digest, asks, answers))

/// HM-3: "stop granting and honouring what you act on, and acknowledge." Repeated until it is acknowledged,
/// and once more before the activation (HM-4).
struct HomeMapStage {
  HomeMapChange change;
  RequestId request;  // the console's round of asking
};
BOOST_DESCRIBE_STRUCT(HomeMapStage, (), (change, request))

/// HM-3, HM-4: the sender has stopped, in this incarnation of its, and answers `request`. `wait` is how long
/// what was granted before may still be honoured, from now on. `participants` are all that the sender knows
/// of.
struct HomeMapAcknowledgement {
  RequestId request;
  std::uint32_t generation = 0;
  std::uint64_t digest = 0;
  std::uint32_t incarnation = 0;
  Duration wait;
  std::vector<NodeId> participants;
};
BOOST_DESCRIBE_STRUCT(HomeMapAcknowledgement, (),
                      (request, generation, digest, incarnation, wait, participants))

/// "Show me the activation record of what you act on, if it is newer than `generation`."
struct HomeMapQuery {
  std::uint32_t generation = 0;
};
BOOST_DESCRIBE_STRUCT(HomeMapQuery, (), (generation))

/// HM-3: the record that makes a generation active, from the console or from whoever has it.
struct HomeMapActivation {
  ActivationRecord record;
};
BOOST_DESCRIBE_STRUCT(HomeMapActivation, (), (record))

/// How far the sender's log reached when the subscriber asked in its `round` (LW-3); on the ordered stream.
struct LogHead {
  std::uint32_t round = 0;
  Position position = 0;
};
BOOST_DESCRIBE_STRUCT(LogHead, (), (round, position))

/// The alternatives are in the order of obs::MessageKind.
using Message = std::variant<MembershipRenew, MembershipRenewAck, LockRequest, LockGrant, LockDeny,
                             LockRecall, LockHandBack, BarrierRequest, BarrierReply, Subscribe, LogFrame,
                             LogGap, MembershipPrepare, MembershipPromise, MembershipReject, MembershipAccept,
                             MembershipAccepted, MembershipCertificates, MembershipQuery, HomeMapHello,
                             HomeMapStage, HomeMapAcknowledgement, HomeMapQuery, HomeMapActivation, LogHead>;

inline MessageKind kindOf(const Message& message) { return static_cast<MessageKind>(message.index()); }

}  // namespace holdfast::protocol
