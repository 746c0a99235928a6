#include "ablation/known_bugs.hpp"

#include <array>

namespace holdfast::ablation {
namespace {

using checkers::Checker;
using checkers::Route;
using protocol::Rule;

constexpr KnownBug off(std::uint16_t number, Rule rule, std::string_view story, Checker checker,
                       std::string_view what) {
  return {number, what, Expression::ruleOff, story, rule, checker, Route::none, ""};
}

constexpr KnownBug right(std::uint16_t number, std::string_view story, std::string_view what) {
  return {number, what, Expression::outcome, story, std::nullopt, Checker::callers, Route::none, ""};
}

constexpr KnownBug limit(std::uint16_t number, Route route, std::string_view story, std::string_view what) {
  return {number, what, Expression::limitation, story, std::nullopt, Checker::serial, route, ""};
}

constexpr auto kExclusion = Checker::exclusion;
constexpr auto kFreshness = Checker::freshness;
constexpr auto kMembership = Checker::membership;

// clang-format off: two lines a bug.
constexpr std::array kBugs = {
    // Grant, install, hand-back
    off(1, Rule::DG4_AnchorAtSend, "S-11-anchored-at-send", kExclusion,
        "the delegate counts its time from the arrival of the reply"),
    off(2, Rule::DG5_MinUseful, "S-10-grant-too-short", kExclusion,
        "a reply that comes too late is stretched to something useful"),
    off(3, Rule::DG7_MembershipRecheck, "R-DG-7-superseded-grant", kExclusion,
        "a grant is installed although the membership has moved on during the request"),
    off(4, Rule::DG7_MembershipRecheck, "R-DG-7-superseded-grant", kExclusion,
        "a delegation of a superseded membership goes on admitting from the cache"),
    off(5, Rule::DG7_MembershipRecheck, "R-DG-7-superseded-grant", kExclusion,
        "handles outlive the delegation that a change of membership has ended"),
    off(6, Rule::DG2_MembersOnly, "R-DG-2-members-only", kExclusion,
        "the home grants to a node that is no member"),
    off(7, Rule::HM1_NamedOnly, "S-49-left-out", kExclusion,
        "a node that others leave out goes on with a ring of its own"),
    off(8, Rule::RT4_DistinctNames, "R-RT-4-distinct-names", kExclusion,
        "two nodes have one name, and each takes itself for the home"),
    off(9, Rule::RT3_VersionsAgree, "R-RT-3-versions-agree", kExclusion,
        "nodes with different versions of the ring hash work together"),
    off(11, Rule::RT2_EveryShape, "R-RT-2-every-shape", Checker::liveness,
        "the home's check of keys is narrower or wider than their encoder"),
    off(12, Rule::DG8_NoHandBackWhileHolding, "R-DG-8-duplicate-grant", kExclusion,
        "the clean-up after a late reply hands back the grant under which somebody is inside"),
    off(14, Rule::DG5_HandBack, "R-DG-5-abandoned-grant", Checker::liveness,
        "a grant that nobody waits for any more is dropped, and the key is stuck"),
    right(16, "S-48-home-restart",
          "a home that can not grant yet is reported as a key that somebody holds"),
    off(17, Rule::DG7_DenialsLapse, "R-DG-7-denial-lapses", Checker::errorClass,
        "the error tells of a home that has been replaced while the caller waited"),
    // Renewal and recall
    off(20, Rule::DG10_RecallStands, "R-DG-10-recall-stands", Checker::callers,
        "the home renews a grant that it has recalled already"),
    off(25, Rule::DR2_RevokeHandles, "S-20-recall-live-handle", kExclusion,
        "a recall stops admission and leaves handles their write capability"),
    off(26, Rule::DR2_RevokeUnlockedStaged, "S-21-recall-unlocked-staged", kFreshness,
        "a drain overlooks writes that were staged and then unlocked"),
    off(28, Rule::BD5_OwnerAnswers, "R-BD-5-recall-on-a-worker", kExclusion,
        "a recall is answered by a worker that does not coordinate"),
    off(29, Rule::DR6_UndeliveredIsNotDrained, "R-DR-6-no-coordinator", kFreshness,
        "a recall that reached nobody counts as done"),
    right(31, "S-24-rejected-send-sync",
          "a recall whose sending throws at once is never sent again"),
    off(34, Rule::DR3_AwaitSettlement, "S-22-recall-in-flight-commit", kFreshness,
        "a release is appended before a commit that was already submitted"),
    // Release entry and the log
    off(37, Rule::FR4_ExactToken, "S-25-release-in-later-incarnation", kExclusion,
        "a release clears a grant by its counter alone"),
    off(38, Rule::TK2_AdvanceOnReplacement, "S-25-release-after-replacement", kExclusion,
        "a new coordinator issues tokens under the old incarnation"),
    off(39, Rule::TK2_RetryAdvances, "S-25-release-after-failed-write", kExclusion,
        "after a failed write of the incarnation the retry skips it"),
    off(41, Rule::TK2_Ordered, "S-48-home-restarts-again", kExclusion,
        "incarnations are random and can not be ordered"),
    off(42, Rule::FR4_AuthorBound, "S-25-forged-release", kExclusion,
        "a release is believed whoever wrote it"),
    off(47, Rule::BD3_MalformedContained, "R-BD-3-malformed-entry", kFreshness,
        "a malformed entry throws out of the loop that applies entries"),
    off(48, Rule::DR6_NoFabricatedRelease, "S-24-failed-append-async", kFreshness,
        "a release that could not be written counts as written"),
    off(49, Rule::FR4_OldFormRecovers, "R-FR-4-other-forms", kFreshness,
        "a release of another version is read as if it were of this one"),
    // Dependency sets, barriers, freshness
    off(50, Rule::FR1_ReleaseCarriesPosition, "S-30-applied-and-visible", kFreshness,
        "a release says nothing of what the successor must have applied"),
    off(51, Rule::FR3_PositionsNotVersions, "S-32-equal-timestamps", kFreshness,
        "the successor waits for the version of the record instead of positions"),
    off(52, Rule::FR2_InheritDependencies, "S-31-transitive", kFreshness,
        "a release names the position of the last holder only"),
    off(53, Rule::FR2_EveryOrigin, "S-33-dependent-patch", kFreshness,
        "a dependency set is reduced to its newest writer, whose patch has one field of several"),
    off(54, Rule::FR3_PositionsNotStamps, "R-FR-3-stamps-are-no-positions", kFreshness,
        "the fence is the timestamp of the holder's write, which later entries have overtaken"),
    off(56, Rule::FR9_AppendOrder, "R-FR-9-timestamps-are-no-order", kFreshness,
        "recovery takes a member's highest timestamp for the end of its log"),
    off(57, Rule::FR9_EntryIsTheFence, "R-FR-9-entry-is-the-fence", kFreshness,
        "recovery waits for what has been received, and not for the barrier itself"),
    off(60, Rule::FR6_EverDelegatedFilter, "S-36-evicted-set", kFreshness,
        "a key whose dependency set was evicted counts as never locked"),
    off(61, Rule::FR6_ColdHomeDistrusts, "S-38-home-restart-after-release", kFreshness,
        "a restarted home trusts its empty filter"),
    off(63, Rule::FR7_ExpiryVoidsLineage, "R-FR-7-expired-holder", kFreshness,
        "a grant that expired without a release leaves the dependency set as it was"),
    off(66, Rule::FR5_FailClosed, "S-35-purged-origin", kFreshness,
        "a position that was purged before it arrived counts as reached"),
    off(68, Rule::FR8_HolesRefuse, "S-35-apply-hole", kFreshness,
        "a barrier is believed behind an entry that failed to apply"),
    off(69, Rule::FR8_CopyIsNoRepair, "R-FR-8-copy-is-no-repair", kFreshness,
        "a copy of the records clears the mark of an entry that failed to apply"),
    limit(74, Route::l2b, "S-63-unreachable-author", "recovery leaves out a writer that can not be reached"),
    limit(75, Route::l2c, "S-64-late-settlement", "a commit settles after the barrier was measured"),
    // Last write wins
    limit(76, Route::l1a, "S-60-skewed-clock-in-flight",
          "the predecessor's clock is ahead, and its write wins"),
    limit(77, Route::l1b, "S-61-future-timestamp", "a caller's future timestamp outranks the successor"),
    off(78, Rule::LW3_OneOrder, "R-LW-3-one-order", Checker::convergence,
        "locked writes are compared by token, others by timestamp, which makes a circle"),
    off(79, Rule::LW3_TombstoneRetention, "S-34-write-behind-its-delete", Checker::convergence,
        "what a delete outranks comes back once its tombstone is gone"),
    // Memberships and home maps
    off(81, Rule::EP12_DurableAcceptors, "S-42-disjoint-successors", kMembership,
        "acceptors forget what they promised, and two successors are chosen"),
    off(82, Rule::HM3_WaitsForAll, "S-49-removed-but-running", kExclusion,
        "publishing a map counts as having stopped those that never heard of it"),
    off(83, Rule::HM2_DigestIsNoFreshness, "S-49-cut-off-acknowledger", kExclusion,
        "equal digests are taken for a proof that the map is current"),
    off(84, Rule::HM4_AcknowledgementDies, "S-49-acknowledger-restarts", kExclusion,
        "an acknowledgement outlives the incarnation that gave it"),
    off(87, Rule::HM3_MonotonicDrain, "S-49-home-map-change", kExclusion,
        "the drain is measured on a wall clock"),
    off(88, Rule::HM3_RelativeWait, "S-49-home-map-change", kExclusion,
        "the end of the drain travels as a reading of somebody's clock"),
    off(90, Rule::HM2_CompareDigests, "S-49-two-maps", kExclusion,
        "nodes act on maps of their own and never compare them"),
    off(92, Rule::HM3_StageUnion, "S-49-leaver", kExclusion,
        "a change is staged to the new homes only, and the leaver serves on"),
    off(93, Rule::HM3_ParticipantsPersist, "S-49-second-try", kExclusion,
        "a change that replaces another forgets who acts on the old map"),
    off(96, Rule::HM2_UnambiguousDigest, "S-49-two-maps", kExclusion,
        "different maps have one digest, because names are joined by a character"),
    off(97, Rule::HM2_NoStickyVerdict, "S-49-home-map-change", Checker::liveness,
        "a digest that came too early is remembered as a mismatch for ever"),
    off(98, Rule::HM6_Monotonic, "S-49-rollback", kExclusion,
        "a generation below one that was acted on is taken up"),
    off(99, Rule::HM6_ReadingRaisesNothing, "S-49-home-map-change", Checker::liveness,
        "a generation that was only read raises the floor, and all locks are refused"),
    // Restarts and workers
    off(102, Rule::BD4_FenceOnReplacement, "R-BD-4-home-replaced", kExclusion,
        "a coordinator that is made anew knows nothing of grants that are still good"),
    off(112, Rule::BD5_OneCoordinator, "R-BD-5-one-coordinator", kExclusion,
        "a worker without the coordinator locks by itself"),
    // Local handles
    off(123, Rule::CK5_MonotonicLeases, "S-13-wall-clocks", kExclusion,
        "a lease is measured on the wall clock"),
    off(125, Rule::LH2_BoundedReentry, "S-15-bounded-by-delegation", kExclusion,
        "re-entry and the upgrade to hold get a lease beyond the delegation"),
    right(128, "S-03-local-contention", "callers of one node that share an acquisition wait too long"),
    right(129, "S-21-recall-unlocked-staged",
          "no bug: a write that was unlocked before a recall is refused at its commit"),
    off(130, Rule::LH5_NothingChecked, "R-LH-5-unlocked-writes", Checker::cost,
        "each commit looks at every write, also where no lock is in use"),
    // Caps and containment
    off(134, Rule::BD1_CapsOverTables, "R-BD-1-caps-over-tables", Checker::retention,
        "caps are counted by table, and there may be any number of tables"),
    off(137, Rule::LH5_OffIsUnavailable, "S-50-lock-while-off", Checker::errorClass,
        "a lock while the feature is off is an internal error"),
    // Clocks
    off(139, Rule::CK3_SkewMargin, "S-12-drift-inside", kExclusion,
        "the margin does not cover how far two clocks diverge"),
    off(140, Rule::CK2_DurationsOnly, "S-13-monotonic-offsets", kExclusion,
        "a deadline travels as an instant and is compared with another clock"),
    // Other systems
    off(143, Rule::LH3_CheckAtSubmission, "S-14-paused-past-deadline", kExclusion,
        "the holder writes after its lease has run out in a pause"),
    off(145, Rule::CK4_ExpiryChecked, "S-14-paused-past-deadline", kExclusion,
        "a role is taken for a lease, and nobody looks at the clock"),
    off(153, Rule::DG9_Quarantine, "S-48-home-restart", kExclusion,
        "a restarted arbiter has forgotten whom it granted, and grants at once"),
    off(157, Rule::EP6_MinorityStops, "S-15-bounded-by-epoch", kExclusion,
        "a holder that is cut off learns too late that others go on"),
};
// clang-format on

}  // namespace

bool KnownBug::isSafety() const {
  return expression == Expression::ruleOff && checker != Checker::liveness && checker != Checker::callers &&
         checker != Checker::errorClass && checker != Checker::retention && checker != Checker::cost;
}

std::span<const KnownBug> knownBugs() { return kBugs; }

}  // namespace holdfast::ablation
