// The safety rules of the record-lock protocols as switches.
//
// All are on by default. A run with one switched off is a mutant: the protocol as it would be without the
// rule. A name starts with the rule's id; the text says what the mutant does, so that the list reads as the
// list of ways to get the protocol wrong. Protocol code asks `rules.on(Rule::...)` at the line that keeps the
// rule.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::protocol {

// clang-format off
#define HOLDFAST_RULES(X) \
  X(CK2_DurationsOnly, \
    "a grant carries the home's own deadline reading, and the delegate compares it with its clock") \
  X(CK3_SkewMargin, \
    "the home waits out the bare duration, without the margin for diverging clock rates") \
  X(CK4_ExpiryChecked, \
    "a lease ends only when its timer fires; staging and submission do not look at the clock") \
  X(CK5_MonotonicLeases, \
    "a handle's lease is measured on the wall clock") \
  X(EP1_TotalOrder, \
    "ballots are compared by their counter alone, and equal counters pass") \
  X(EP2_PersistPromise, \
    "a promise is answered before it is durable, and is never written") \
  X(EP2_ReportAccepted, \
    "a promise keeps silent about a value that was accepted before") \
  X(EP3_PromiseRetires, \
    "an acceptor that promised a successor goes on acknowledging renewals") \
  X(EP4_AdoptAccepted, \
    "a proposer sends its own value although a promise reported an accepted one") \
  X(EP4_PersistAccepted, \
    "an acceptance is answered before it is durable, and is never written") \
  X(EP5_Majority, \
    "a single vote makes a certificate") \
  X(EP5_VotersDistinct, \
    "one voter is counted as often as it is named") \
  X(EP5_VotersAreMembers, \
    "votes count whether or not the voter belongs to the preceding configuration") \
  X(EP5_VotesAuthenticated, \
    "a list of votes is believed on the word of whoever sends it") \
  X(EP5_DurableChain, \
    "installed configurations are kept in memory only") \
  X(EP6_LeaseAtSend, \
    "the membership lease starts when the acknowledgements arrive, not when the renewal was sent") \
  X(EP6_MinorityStops, \
    "a node acts without a live membership lease") \
  X(EP7_Reservation, \
    "a promise reports no reservation") \
  X(EP8_AnchorAtReceipt, \
    "the wait for activation counts from the sending of the prepare") \
  X(EP8_WaitsOut, \
    "activation waits out the reservation but not the delegations granted under it") \
  X(EP9_ProtectionTravels, \
    "the protection stays with the proposer and is no part of the accepted value") \
  X(EP9_Transitive, \
    "a successor forgets the protection that its predecessor still carried") \
  X(EP9_GatesEveryKey, \
    "only keys that moved wait for the activation") \
  X(EP10_RestartReserves, \
    "a restarted acceptor reports no reservation for what it acknowledged before") \
  X(EP11_BlankIsJoining, \
    "a node without records votes in the configuration that names it") \
  X(EP11_RefuseOlder, \
    "a certificate for an older number is installed") \
  X(EP12_DurableAcceptors, \
    "a restarted acceptor remembers neither promises nor accepted values") \
  X(EP13_SameAgreement, \
    "an administrative change is installed on the word of the member that was told") \
  X(EP14_NameTheStart, \
    "an acknowledgement counts for the renewal of its number, whichever start of the process sent that") \
  X(EP14_RoundsNameTheStart, \
    "a promise or a vote counts for the ballot it names, whichever start of the proposer sent that") \
  X(HM1_NamedOnly, \
    "a node that the home map does not name homes and locks all the same") \
  X(HM2_CompareDigests, \
    "nodes work together without comparing the digests of their maps") \
  X(HM2_UnambiguousDigest, \
    "names are joined by a comma before they are hashed, so that different maps have one digest") \
  X(HM2_NoStickyVerdict, \
    "a digest that differed once counts as a mismatch for ever") \
  X(HM2_DigestIsNoFreshness, \
    "a node that stopped goes on once a peer acts on the same map as it does") \
  X(HM3_StageUnion, \
    "a change is staged to the homes of the new map only") \
  X(HM3_ParticipantsPersist, \
    "a change that replaces a staged one takes that for the old map, and forgets who acts on an older one") \
  X(HM3_StopBeforeAcknowledging, \
    "a node acknowledges the new generation and goes on serving the old one") \
  X(HM3_WaitsForAll, \
    "the drain is measured from the publication of the map, whoever has stopped by then") \
  X(HM3_WaitsOut, \
    "the new generation is activated without waiting out the last acknowledgement or fence") \
  X(HM3_MonotonicDrain, \
    "the console measures the drain on its wall clock") \
  X(HM3_RelativeWait, \
    "the last acknowledgement names the end of the drain as a reading of its sender's clock") \
  X(HM3_ActiveOnly, \
    "a node answers with the new generation before its activation record is durable") \
  X(HM4_AcknowledgementDies, \
    "an acknowledgement counts for the node's name, and a restart forgets it") \
  X(HM5_RemovalIsNoFence, \
    "a node that the operator declares removed counts as fenced") \
  X(HM6_Monotonic, \
    "a lower generation than one already acted on is taken up") \
  X(HM6_ReadingRaisesNothing, \
    "a generation that was only heard of counts as acted on") \
  X(HM7_NoRehoming, \
    "the keys of a silent home move without the operator") \
  X(RT1_MemberHomes, \
    "a key's home is chosen among all known names, members or not") \
  X(RT3_VersionsAgree, \
    "nodes with different ring versions work together") \
  X(RT4_NamesIdentify, \
    "routing uses a short id that differs from node to node") \
  X(RT2_EveryShape, \
    "the home refuses keys that are bytes, which the encoder of its peers knows") \
  X(RT4_DistinctNames, \
    "a node goes on although another one has its name, and takes itself for that one") \
  X(DG1_OneArbiter, \
    "any node that is asked arbitrates the key") \
  X(DG2_MembersOnly, \
    "a home grants to a requester that is no member") \
  X(DG3_OneDelegate, \
    "a successor is granted as soon as the predecessor was recalled") \
  X(DG4_AnchorAtSend, \
    "a delegation starts when the reply arrives, not when the request was sent") \
  X(DG5_MinUseful, \
    "a reply that leaves too little time is stretched to a useful length") \
  X(DG5_HandBack, \
    "a grant that is of no use any more is dropped in silence") \
  X(DG6_MatchRequestId, \
    "a grant reply is accepted whatever request it answers") \
  X(DG6_NoMintForDuplicate, \
    "a duplicate of a request mints a new token") \
  X(DG7_MembershipRecheck, \
    "a grant of a superseded membership is installed") \
  X(DG7_DenialsLapse, \
    "a caller is told in the end what the home of a superseded membership had answered") \
  X(DG8_NoHandBackWhileHolding, \
    "a reply nobody waits for is handed back even while the key is held") \
  X(DG9_Quarantine, \
    "a restarted home grants at once") \
  X(DG10_ArrivalOrder, \
    "the home serves its latest waiter first") \
  X(DG10_RecallStands, \
    "a home renews a grant that it has recalled, and takes the recall for done") \
  X(TK1_FullToken, \
    "tokens are compared by their counter alone") \
  X(TK2_DurableIncarnation, \
    "a restart does not advance the home's incarnation") \
  X(TK2_AdvanceOnReplacement, \
    "a coordinator that is re-created in a living process keeps the incarnation of the one before") \
  X(TK2_RetryAdvances, \
    "after a failed write of the incarnation the coordinator starts under the old one") \
  X(TK2_Ordered, \
    "incarnations are drawn at random: each is new, and they have no order") \
  X(TK3_TokenOutlivesRecord, \
    "deleting a record resets its key's token counter") \
  X(LH1_LocalExclusion, \
    "local callers of one key are admitted side by side") \
  X(LH1_LocalFifo, \
    "the latest local caller is served first") \
  X(LH1_OwnHandle, \
    "a re-entry goes by the key: who has left the critical section enters the handle of who is inside") \
  X(LH2_LapseIsFinal, \
    "re-entry brings back a handle whose lease has run out") \
  X(LH2_BoundedHandle, \
    "a handle lasts for its requested lease, whatever its delegation allows") \
  X(LH2_BoundedReentry, \
    "re-entry and the upgrade to hold compute a fresh, unbounded lease") \
  X(LH3_CheckAtSubmission, \
    "expiry and revocation are checked when a write is staged, not when it is submitted") \
  X(LH4_UnlockIsNoRevocation, \
    "unlocking revokes what was staged before") \
  X(LH4_SettlesBeforeNext, \
    "the next local caller is admitted while what was submitted before is still on its way") \
  X(LH5_UnlockedWritesFree, \
    "an unlocked write is refused while somebody holds the key") \
  X(LH5_NothingChecked, \
    "each submission looks at all of its writes, also where none is under a lock") \
  X(LH5_OffIsUnavailable, \
    "a lock while the feature is off ends in an error that nobody tries again after") \
  X(DR1_CloseAdmission, \
    "a recalled delegation goes on admitting") \
  X(DR2_RevokeHandles, \
    "a recall leaves the outstanding handles their write capability") \
  X(DR2_RevokeUnlockedStaged, \
    "a recall overlooks writes that were staged and then unlocked") \
  X(DR3_AwaitSettlement, \
    "the release does not wait for commits already submitted") \
  X(DR4_NoLateRelease, \
    "a drain cut short by the deadline writes its release all the same") \
  X(DR5_HomeNeverForgets, \
    "the home forgets a grant whose recall goes unanswered") \
  X(DR6_NoFabricatedRelease, \
    "a recall that failed is treated as a release") \
  X(DR6_UndeliveredIsNotDrained, \
    "a recall that meets no running coordinator is answered as if there were nothing to give back") \
  X(FR1_ReleaseCarriesPosition, \
    "a release carries no dependencies and a successor waits for nothing") \
  X(FR2_InheritDependencies, \
    "a dependency set names only the last holder") \
  X(FR2_EveryOrigin, \
    "a dependency set is reduced to the origin of the record's newest field") \
  X(FR3_AppliedAndVisible, \
    "entries that were received but not applied satisfy the fence") \
  X(FR3_PositionsNotVersions, \
    "a successor waits until its record is as new as the predecessor's, and for no positions") \
  X(FR3_PositionsNotStamps, \
    "a successor waits until any write of the predecessor's log is as new as its last under the lock") \
  X(FR4_ExactToken, \
    "a release clears a grant when its counter matches") \
  X(FR4_AuthorBound, \
    "a release is believed whoever wrote it") \
  X(FR4_OldFormRecovers, \
    "an old-form release without lineage counts as clean") \
  X(FR5_FailClosed, \
    "a position that can not be satisfied any more counts as satisfied") \
  X(FR6_EverDelegatedFilter, \
    "a key without a dependency set counts as never delegated") \
  X(FR6_ColdHomeDistrusts, \
    "a restarted home trusts its empty filter") \
  X(FR6_HandBackKeepsSet, \
    "a grant that is handed back unused takes the dependency set of its key with it") \
  X(FR7_ExpiryVoidsLineage, \
    "the dependency set survives a grant that expired without its release") \
  X(FR8_Barrier, \
    "recovery admits without a barrier") \
  X(FR8_WaitsForMembers, \
    "a barrier leaves out whoever has not answered after a sixteenth of the timeout") \
  X(FR8_AnswerIsEnough, \
    "an answer counts only if the entry that it tells of has come already") \
  X(FR8_HolesRefuse, \
    "a barrier is believed although an earlier entry failed to apply") \
  X(FR8_CopyIsNoRepair, \
    "a copy of another node's rows closes the holes that failed entries have left") \
  X(FR8_FailClosed, \
    "a member that answers without a barrier is left out") \
  X(FR9_EntryIsTheFence, \
    "recovery drains what has been received instead of waiting for the barrier's own entry") \
  X(FR9_AppendOrder, \
    "a member's fence is its entry with the highest timestamp, as if timestamps were in log order") \
  X(LW1_OrderedApply, \
    "entries of one origin may be applied out of order") \
  X(LW2_HandleFloor, \
    "a holder's later stamp may go backwards with its wall clock") \
  X(LW3_TotalOrder, \
    "equal timestamps are resolved by arrival") \
  X(LW3_OneOrder, \
    "two locked writes are compared by their tokens, and any others by their timestamps") \
  X(LW3_TombstoneRetention, \
    "a tombstone is reclaimed at once") \
  X(LW3_ReclaimBehindLogs, \
    "a tombstone is reclaimed by the clock alone, whatever is still on its way") \
  X(BD1_Caps, \
    "a home at its cap forgets its oldest grant") \
  X(BD1_CapsOverTables, \
    "the cap of a requester is counted in each table anew") \
  X(BD2_Sweep, \
    "finished handles are never swept") \
  X(BD3_RefuseSuperseded, \
    "messages of another membership are processed") \
  X(BD3_MalformedContained, \
    "a malformed entry breaks off the application of all that was received with it") \
  X(BD3_MalformedPassed, \
    "an entry that makes no sense is refused on its stream, so that nothing behind it is ever applied") \
  X(BD4_FenceOnReplacement, \
    "a re-created coordinator starts empty while its predecessor's handles live on") \
  X(BD5_OneCoordinator, \
    "a call on a worker that does not coordinate is admitted by that worker") \
  X(BD5_OwnerAnswers, \
    "a recall on a worker that does not coordinate is answered by it: there is no such delegation") \
  X(RA1_EveryParticipant, \
    "a requester enters once a majority has granted its request") \
  X(RA2_StampsAdvance, \
    "a request's stamp counts its node's own requests, and does not pass those that it has seen") \
  X(RA2_StampsSurvive, \
    "a restarted participant begins its stamps anew") \
  X(RA2_NamesBreakTies, \
    "equal stamps are ordered by a private numbering of the nodes") \
  X(RA3_HolderDefers, \
    "a holder grants at once what others request") \
  X(RA3_EarlierDefers, \
    "a participant grants at once although its own request comes first") \
  X(RA3_GrantInLog, \
    "a grant is sent to its requester alone, and is no entry of the log") \
  X(RA4_WithdrawnIsVoid, \
    "a grant of a request that was withdrawn counts for the next one") \
  X(RA4_LeaseBounds, \
    "a holder whose lease has run out goes on deferring")
// clang-format on

enum class Rule : std::uint8_t {
#define HOLDFAST_RULE_ENUMERATOR(name, text) name,
  HOLDFAST_RULES(HOLDFAST_RULE_ENUMERATOR)
#undef HOLDFAST_RULE_ENUMERATOR
};

inline constexpr std::size_t kRuleCount = 0
#define HOLDFAST_RULE_ONE(name, text) +1
    HOLDFAST_RULES(HOLDFAST_RULE_ONE)
#undef HOLDFAST_RULE_ONE
    ;

/// The rule's name as it is written in code, traces and on the command line, e.g. "DG4_AnchorAtSend".
std::string_view nameOf(Rule rule);

/// What the protocol does without the rule, in one clause.
std::string_view withoutRule(Rule rule);

/// The rule of that name; nothing when there is none.
std::optional<Rule> ruleFromName(std::string_view name);

/// Which rules a run keeps. A value; equal sets compare equal.
class Rules {
 public:
  bool on(Rule rule) const { return !off_[static_cast<std::size_t>(rule)]; }
  Rules& switchOff(Rule rule) {
    off_.set(static_cast<std::size_t>(rule));
    return *this;
  }
  Rules without(Rule rule) const { return Rules(*this).switchOff(rule); }
  bool allOn() const { return off_.none(); }
  friend bool operator==(const Rules&, const Rules&) = default;

 private:
  std::bitset<kRuleCount> off_;
};

}  // namespace holdfast::protocol
