#include "ablation/statements.hpp"

#include <algorithm>
#include <array>

namespace holdfast::ablation {
namespace {

using protocol::Rule;

struct Statement {
  Rule rule;
  std::string_view text;
};

constexpr std::array kStatements = {
    // Clocks
    Statement{Rule::CK2_DurationsOnly,
              "Messages carry durations only; a deadline is compared with readings of the clock that it was "
              "made from."},
    Statement{
        Rule::CK3_SkewMargin,
        "A home waits out a grant by a margin that covers how far two clocks can diverge over one lease."},
    Statement{Rule::CK4_ExpiryChecked,
              "A suspended process looks at its clock before it stages and before it submits; no timer has "
              "to fire first."},
    Statement{Rule::CK5_MonotonicLeases,
              "Leases are measured on the monotonic clock; the wall clock gives timestamps of writes and "
              "nothing else."},
    // Agreed memberships
    Statement{Rule::EP1_TotalOrder,
              "Ballots are ordered by counter and then by the proposer's name, so that no two are equal."},
    Statement{Rule::EP2_PersistPromise, "A promise is durable before it is answered."},
    Statement{Rule::EP2_ReportAccepted, "A promise reports the value that the acceptor has accepted before."},
    Statement{Rule::EP3_PromiseRetires,
              "Whoever promised a successor acknowledges no more renewals of the configuration before it."},
    Statement{Rule::EP4_AdoptAccepted,
              "A proposer sends the value of the highest accepted ballot that a promise reported, and its "
              "own only if none did."},
    Statement{Rule::EP4_PersistAccepted, "An acceptance is durable before it is answered."},
    Statement{Rule::EP5_Majority, "A certificate needs votes of a majority of the preceding configuration."},
    Statement{Rule::EP5_VotersDistinct, "The voters of a certificate are distinct."},
    Statement{Rule::EP5_VotersAreMembers,
              "The voters of a certificate are members of the preceding configuration."},
    Statement{Rule::EP5_VotesAuthenticated,
              "Each vote is authenticated by itself; a list on the word of one sender is no evidence."},
    Statement{Rule::EP5_DurableChain,
              "Certificates and the chain of installed configurations survive a restart."},
    Statement{Rule::EP6_LeaseAtSend,
              "The lease on a membership counts from the instant at which the renewal was sent."},
    Statement{
        Rule::EP6_MinorityStops,
        "A node acts only while it holds an unexpired lease on its membership, which a majority renews."},
    Statement{Rule::EP7_Reservation,
              "A promise reports for how long the old configuration may still be live because of what the "
              "acceptor acknowledged."},
    Statement{Rule::EP8_AnchorAtReceipt,
              "The wait for the activation counts from the receipt of each promise."},
    Statement{Rule::EP8_WaitsOut,
              "Activation waits out the reservation and, beyond it, the longest delegation that may have "
              "been granted under it."},
    Statement{
        Rule::EP9_ProtectionTravels,
        "The protection of predecessors is part of the value that is decided, and every acceptor keeps it."},
    Statement{Rule::EP9_Transitive,
              "A configuration carries on whatever protection of its own predecessors has not elapsed."},
    Statement{Rule::EP9_GatesEveryKey, "The wait for the activation holds for every key, moved or not."},
    Statement{Rule::EP10_RestartReserves,
              "A restarted acceptor takes each configuration that it has a certificate for as reserved for a "
              "whole lease."},
    Statement{Rule::EP11_BlankIsJoining,
              "A node without records votes nowhere until it has learned the chain of configurations from a "
              "majority."},
    Statement{Rule::EP11_RefuseOlder, "A certificate of a number that is behind is refused."},
    Statement{Rule::EP12_DurableAcceptors,
              "Acceptors keep promises and accepted values over a restart; waiting out old leases is no "
              "substitute."},
    Statement{Rule::EP13_SameAgreement,
              "An administrative change goes through the same agreement as one that a failure drives."},
    Statement{
        Rule::EP14_NameTheStart,
        "A renewal and its acknowledgement name the start of the process that sent it: what was asked by "
        "an earlier start prolongs nothing."},
    Statement{
        Rule::EP14_RoundsNameTheStart,
        "So do the messages of a round: a promise or vote for an earlier start's ballot counts for nothing."},
    // Home maps
    Statement{Rule::HM1_NamedOnly, "A node that the map does not name neither homes keys nor locks them."},
    Statement{Rule::HM2_CompareDigests,
              "Nodes compare the digests of their maps before they work together, and refuse each other if "
              "they differ."},
    Statement{Rule::HM2_UnambiguousDigest,
              "Different maps have different digests: each name is hashed with its length."},
    Statement{Rule::HM2_NoStickyVerdict, "Whether digests agree is decided anew when either side's changes."},
    Statement{Rule::HM2_DigestIsNoFreshness,
              "Equal digests prove that two nodes act on the same map, and not that it is the newest."},
    Statement{Rule::HM3_StageUnion, "A change is staged to the homes of the old map and of the new one."},
    Statement{Rule::HM3_ParticipantsPersist,
              "Who takes part in a change is remembered with it, also when another change takes its place."},
    Statement{Rule::HM3_StopBeforeAcknowledging,
              "A node stops granting and honouring the old generation before it acknowledges the new one."},
    Statement{
        Rule::HM3_WaitsForAll,
        "The drain counts from the last acknowledgement or fence; who has not been heard of may go on."},
    Statement{Rule::HM3_WaitsOut,
              "Activation waits a delegation and the margin after the last acknowledgement or fence."},
    Statement{Rule::HM3_MonotonicDrain, "That wait is measured on a monotonic clock."},
    Statement{Rule::HM3_RelativeWait, "That wait travels as a duration, and the receiver measures it."},
    Statement{Rule::HM3_ActiveOnly,
              "Nodes answer with a generation only once its activation record is durable."},
    Statement{Rule::HM4_AcknowledgementDies, "An acknowledgement dies with the incarnation that gave it."},
    Statement{Rule::HM5_RemovalIsNoFence,
              "Declaring a node removed fences nothing; only a node that is stopped or isolated is fenced."},
    Statement{Rule::HM6_Monotonic,
              "A generation below one that was acted on is refused, also after a restart."},
    Statement{Rule::HM6_ReadingRaisesNothing,
              "Only acting on a generation raises the floor; hearing of one does not."},
    Statement{Rule::HM7_NoRehoming, "Keys of an unavailable home stay unavailable until the operator acts."},
    // Routing
    Statement{Rule::RT1_MemberHomes, "The home of a key is chosen among the members."},
    Statement{Rule::RT3_VersionsAgree, "Nodes with different versions of the ring refuse each other."},
    Statement{Rule::RT4_NamesIdentify,
              "Nodes are told apart by their names, never by short ids that differ from node to node."},
    Statement{Rule::RT2_EveryShape,
              "Whatever the encoding makes a key of is a key, at its home as at whoever asks for it."},
    Statement{Rule::RT4_DistinctNames, "A node whose name another node has as well does not take part."},
    // Delegations and tokens
    Statement{Rule::DG1_OneArbiter,
              "A node grants a key only if it is the key's home in its live membership."},
    Statement{Rule::DG2_MembersOnly,
              "A home refuses a requester that is no member before it allocates anything."},
    Statement{Rule::DG3_OneDelegate,
              "A successor is granted only after the predecessor's exact release, or after its expiry by the "
              "home's own clock."},
    Statement{Rule::DG4_AnchorAtSend, "A delegation counts from the instant at which its request was sent."},
    Statement{Rule::DG5_MinUseful,
              "A reply that leaves too little time is handed back, and never stretched."},
    Statement{Rule::DG5_HandBack, "A grant that its requester can not use is handed back to the home."},
    Statement{Rule::DG6_MatchRequestId,
              "A grant that does not answer the outstanding request is not installed."},
    Statement{Rule::DG6_NoMintForDuplicate,
              "A duplicate of a request is told from a renewal by its id, and mints no token."},
    Statement{Rule::DG7_MembershipRecheck,
              "The membership is read again after every wait: what was granted under a superseded one admits "
              "nobody."},
    Statement{Rule::DG7_DenialsLapse,
              "A denial counts as long as the membership in which it was given: a caller is told of nothing "
              "older."},
    Statement{Rule::DG8_NoHandBackWhileHolding,
              "Nothing is handed back for a key while any delegation of it is held."},
    Statement{
        Rule::DG9_Quarantine,
        "A home that has started grants nothing until all that it may have granted before has expired."},
    Statement{Rule::DG10_ArrivalOrder, "Waiters are served in the order of their arrival."},
    Statement{Rule::DG10_RecallStands, "What was recalled for a waiter is not renewed before its turn."},
    Statement{Rule::TK1_FullToken,
              "Tokens are compared by membership, incarnation and counter, in this order."},
    Statement{Rule::TK2_DurableIncarnation, "Each start of a home advances a durable incarnation."},
    Statement{Rule::TK2_AdvanceOnReplacement, "So does each new coordinator in a process that lives on."},
    Statement{Rule::TK2_RetryAdvances,
              "A coordinator works once its own incarnation is durable, however often the write has to be "
              "tried."},
    Statement{Rule::TK2_Ordered, "Incarnations are counted, so that later tokens order above earlier ones."},
    Statement{Rule::TK3_TokenOutlivesRecord,
              "A key's tokens go on growing when its record is deleted and made again."},
    // Local handles
    Statement{Rule::LH1_LocalExclusion, "One local caller of a key is inside at a time."},
    Statement{Rule::LH1_LocalFifo, "Local callers are served in the order of their calls."},
    Statement{Rule::LH1_OwnHandle, "A handle is entered again by its own caller, and by nobody else."},
    Statement{Rule::LH2_LapseIsFinal, "A handle whose lease has run out does not come back."},
    Statement{Rule::LH2_BoundedHandle,
              "A handle ends with its requested lease, its delegation or its membership's lease, whichever "
              "is first."},
    Statement{Rule::LH2_BoundedReentry, "Re-entry and the upgrade to hold are bounded in the same way."},
    Statement{Rule::LH3_CheckAtSubmission,
              "Expiry and revocation are checked once more right before a write is submitted."},
    Statement{Rule::LH4_UnlockIsNoRevocation,
              "What was staged before the unlock may still be submitted within the lease."},
    Statement{Rule::LH5_UnlockedWritesFree, "Writes without a lock are never refused because of one."},
    Statement{Rule::LH5_NothingChecked,
              "A transaction without a lock is submitted without a look at any of its writes."},
    Statement{Rule::LH5_OffIsUnavailable,
              "Where the feature is off a lock is refused with 503, and the cause names the switch."},
    // Recall and drain
    Statement{Rule::DR1_CloseAdmission,
              "A recalled delegation admits nobody: no caller, no re-entry, no upgrade."},
    Statement{Rule::DR2_RevokeHandles, "A recall takes the write capability of every outstanding handle."},
    Statement{Rule::DR2_RevokeUnlockedStaged,
              "It also takes that of handles that were unlocked with a write still staged."},
    Statement{
        Rule::DR3_AwaitSettlement,
        "The release waits until every transaction that was submitted under the delegation has settled."},
    Statement{Rule::LH4_SettlesBeforeNext,
              "What was submitted under a key settles before the next local caller is admitted."},
    Statement{Rule::DR4_NoLateRelease, "A drain that the deadline cuts short writes no release, ever."},
    Statement{Rule::DR5_HomeNeverForgets, "A home keeps a grant until its exact release or its expiry."},
    Statement{Rule::DR6_NoFabricatedRelease,
              "A recall that fails in whatever way goes the way of expiry; no release is made up."},
    Statement{Rule::DR6_UndeliveredIsNotDrained,
              "A recall that meets no running coordinator is answered by nobody, and is sent again."},
    // Releases and freshness
    Statement{Rule::FR1_ReleaseCarriesPosition,
              "A release carries the positions that the successor has to see before it is admitted."},
    Statement{Rule::FR2_InheritDependencies,
              "A holder's release names its own position and everything that it had inherited."},
    Statement{
        Rule::FR2_EveryOrigin,
        "Every origin stays in a dependency set, for a later patch has not the fields of an earlier one."},
    Statement{Rule::FR3_AppliedAndVisible,
              "A position is reached when it is applied and visible, not when it was received."},
    Statement{Rule::FR3_PositionsNotVersions,
              "The fence is made of log positions; the version of a record is no substitute."},
    Statement{Rule::FR3_PositionsNotStamps,
              "A stream has reached a write when it has reached its position; later stamps may come first."},
    Statement{Rule::FR4_ExactToken, "A release clears a grant only by the grant's exact token."},
    Statement{Rule::FR4_AuthorBound,
              "A release counts only if its author, as the log has it, is the holder."},
    Statement{Rule::FR4_OldFormRecovers,
              "A release of the old form says nothing of its lineage, so that the successor recovers."},
    Statement{Rule::FR5_FailClosed,
              "A position that can not be reached any more refuses the caller, and the lineage is kept."},
    Statement{Rule::FR6_EverDelegatedFilter,
              "A key that was ever delegated and has no dependency set recovers; only others are virgin."},
    Statement{Rule::FR6_ColdHomeDistrusts,
              "A home that has not seen the whole membership trusts no absence from its filter."},
    Statement{Rule::FR6_HandBackKeepsSet,
              "A grant that is handed back unused leaves the dependency set as it was."},
    Statement{Rule::FR7_ExpiryVoidsLineage,
              "A grant that expires without its release voids the key's dependency set."},
    Statement{Rule::FR8_Barrier,
              "Recovery asks every reachable member for a barrier in its log, and admits once all of them "
              "are applied."},
    Statement{Rule::FR8_HolesRefuse,
              "An entry that failed to apply refuses every later position of that origin."},
    Statement{Rule::FR8_WaitsForMembers,
              "A barrier leaves a member out only after the timeout on the acquirer's own clock."},
    Statement{Rule::FR8_AnswerIsEnough,
              "A member that has answered is waited for, however late its entry comes."},
    Statement{Rule::FR8_CopyIsNoRepair,
              "A hole stays until its own entry is made good: a copy of rows brings no deletions."},
    Statement{Rule::FR8_FailClosed, "A member that answers but has no barrier to show fails the recovery."},
    Statement{Rule::FR9_EntryIsTheFence,
              "Only the barrier's own entry proves that what was committed before it has arrived."},
    Statement{Rule::FR9_AppendOrder, "Timestamps are not in the order of the log; a position in the log is."},
    // Replication
    Statement{Rule::LW1_OrderedApply, "Entries of one origin are applied in the order of its log."},
    Statement{Rule::LW2_HandleFloor, "The stamps of one holder never go backwards."},
    Statement{Rule::LW3_TotalOrder,
              "Equal timestamps are resolved by the origin's name, the same way everywhere."},
    Statement{Rule::LW3_OneOrder,
              "Locked and unlocked writes are resolved by one total order, in which tokens have no part."},
    Statement{Rule::LW3_TombstoneRetention,
              "A tombstone is kept for a retention, so that it outranks what comes behind it."},
    Statement{Rule::LW3_ReclaimBehindLogs,
              "A tombstone is reclaimed once all that was logged anywhere in its retention is applied."},
    // Ricart-Agrawala
    Statement{Rule::RA1_EveryParticipant,
              "A requester enters once every participant has granted its request."},
    Statement{Rule::RA2_StampsAdvance,
              "A request's stamp is greater than every stamp that its node has seen."},
    Statement{Rule::RA2_StampsSurvive, "Stamps go on growing over a restart."},
    Statement{Rule::RA2_NamesBreakTies, "Equal stamps are ordered by the requesters' names."},
    Statement{Rule::RA3_HolderDefers, "Whoever is inside answers requests only when it has left."},
    Statement{Rule::RA3_EarlierDefers,
              "Whoever waits with an earlier request answers a later one only when it has had its turn."},
    Statement{Rule::RA3_GrantInLog,
              "A grant is an entry of its author's log, behind what the author has written."},
    Statement{Rule::RA4_WithdrawnIsVoid, "A grant counts for the request that it names, and for no other."},
    Statement{Rule::RA4_LeaseBounds, "A holder whose lease has run out defers nobody any more."},
    // Bounds
    Statement{Rule::BD1_Caps, "A home at its cap refuses; it never makes room by forgetting a grant."},
    Statement{Rule::BD1_CapsOverTables,
              "What a requester may be granted is counted over all tables together."},
    Statement{Rule::BD2_Sweep, "Handles that are over are swept."},
    Statement{Rule::BD3_RefuseSuperseded, "Messages of another membership are refused."},
    Statement{Rule::BD3_MalformedContained,
              "A malformed entry is refused where it arrives, and what comes with it is applied."},
    Statement{Rule::BD3_MalformedPassed,
              "A malformed entry that stands in its author's log is passed over, and what comes behind it is "
              "applied."},
    Statement{Rule::BD4_FenceOnReplacement,
              "A coordinator that is made anew fences what its predecessor admitted, and waits."},
    Statement{Rule::BD5_OneCoordinator,
              "One worker of a node coordinates; calls that arrive on others are relayed to it."},
    Statement{Rule::BD5_OwnerAnswers,
              "Recalls are relayed to it as well; no other worker says what is delegated."},
};

}  // namespace

std::string_view statementOf(Rule rule) {
  const auto* const found = std::ranges::find(kStatements, rule, &Statement::rule);
  return found == kStatements.end() ? std::string_view{} : found->text;
}

}  // namespace holdfast::ablation
