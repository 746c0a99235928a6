// The set as a whole: copies, empty and malformed histories, and the switches.
#include <type_traits>

#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

static_assert(std::is_copy_constructible_v<CheckerSet> && std::is_copy_assignable_v<CheckerSet>);
static_assert(std::is_trivially_copyable_v<Finding>);

TEST(CheckerSet, AnEmptyHistoryIsInconclusive) {
  Story nothing;
  nothing.finish();
  EXPECT_EQ(nothing.checkers().verdict(), Verdict::inconclusive);

  Story noAdmission;
  noAdmission.at(1_s).ask(A, 1, K, 1_s).at(2_s);
  noAdmission.refuse(A, 1, ErrorClass::lockUnavailable503, Cause::quarantine).finish();
  EXPECT_EQ(noAdmission.checkers().verdict(), Verdict::inconclusive);
}

TEST(CheckerSet, ACopyGoesItsOwnWay) {
  Story story;
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 5).commit(A, 1);
  CheckerSet copy = story.checkers();
  copy.on(obs::Stamped{{(2_s).ns}, B, obs::LockRequested{{2}, K, 30_s, 10_s}});
  copy.on(obs::Stamped{{(2_s).ns}, B, obs::Admitted{{2}, K, {1, 1, 3}, Path::clean, false, {(12_s).ns}}});
  copy.finish({(3_s).ns});
  EXPECT_EQ(copy.verdict(), Verdict::safetyViolation);
  EXPECT_NE(copy.findings().first(Anomaly::overlappingAdmissions), nullptr);
  EXPECT_NE(copy.findings().first(Anomaly::staleAdmission), nullptr);
  story.unlock(A, 1);
  expectHeld(story);
}

TEST(CheckerSet, BothWaysInAgree) {
  CheckerSet byVariant;
  CheckerSet byType;
  const Stamp stamp{{5}, A};
  const obs::LockRequested asked{{1}, K, 30_s, 10_s};
  const obs::Admitted admitted{{1}, K, {1, 1, 1}, Path::virgin, false, {(10_s).ns}};
  byVariant.on(obs::Stamped{stamp.at, stamp.node, asked});
  byVariant.on(obs::Stamped{stamp.at, stamp.node, admitted});
  byType.on(stamp, asked);
  byType.on(stamp, admitted);
  EXPECT_EQ(byVariant.coverage(), byType.coverage());
  EXPECT_EQ(byType.history().admissions(), 1U);
  EXPECT_EQ(byVariant.history().admissions(), 1U);
}

TEST(CheckerSet, ImpossibleIdsAreIgnoredAndMakeTheRunInconclusive) {
  const std::pair<NodeId, obs::Observation> impossible[] = {
      {A, obs::LockRequested{{0xfffffff0}, K, 1_s, 1_s}},
      {A, obs::LockRequested{{0}, K, 1_s, 1_s}},
      {A, obs::LockRequested{{2}, KeyId{0xfffffff0}, 1_s, 1_s}},
      {A, obs::LockRequested{{2}, KeyId::none(), 1_s, 1_s}},
      {NodeId{5000}, obs::NodePaused{}},
      {A, obs::Applied{NodeId::none(), 1, false}},
      {A, obs::Settled{{0}, true, false, 1}},
      {A, obs::Settled{{0xffffffff}, true, false, 1}},
      {A, obs::Read{{1}, K, 1, {TxnId{0xffffffff}}, {}}},
      {C, obs::ClockRate{{INT64_MAX - 5}, 0}},
      {C, obs::ClockRate{{0}, -1'000'000'001}},
      {A, obs::Granted{K, NodeId{4000}, {1, 1, 1}, Path::virgin, false, 1_s}},
  };
  for (const auto& [node, what] : impossible) {
    Story story;
    story.at(1_s).lock(A, 1).tell(node, what).finish();
    EXPECT_EQ(story.checkers().malformed(), 1U) << what.index();
    EXPECT_EQ(story.checkers().verdict(), Verdict::inconclusive) << story.told();
  }
}

TEST(CheckerSet, ObservationsWithoutKeyOrCallAreFineWhereTheyMeanSomething) {
  Story story;
  story.at(1_s).lock(A, 1).put(A, 1, 0, 5).commit(A, 1).read(A, 0, story.contentOf(1));
  story.send(A, B, MessageKind::barrierRequest, KeyId::none());
  story.tell(A, obs::MessageRefused{NodeId::none(), MessageKind::lockRequest, Cause::malformed});
  story.tell(D, obs::LineageLost{KeyId::none(), obs::LineageLoss::coldHome});
  expectHeld(story);
}

TEST(CheckerSet, HugePositionsAndTimesDoNoHarm) {
  Story story;
  story.at(1_s).lock(A, 1, Path::virgin, K, 5_s).put(A, 1, 1, 5).submit(A, 1);
  story.tell(A, obs::Settled{{1}, true, false, 0xffffffff}).unlock(A, 1);
  story.tell(B, obs::GapFound{A, 1, 0xfffffffe});
  story.tell(A, obs::ControlAppended{EntryKind::release, K2, {1, 1, 1}, 0, 0xfffffff0});
  story.tell(C, obs::ClockRate{{INT64_MAX / 8}, 400'000'000}).tell(C, obs::ClockRate{{-5}, -400'000'000});
  story.ask(B, 2, K2, {INT64_MAX}, {INT64_MAX});
  story.tell(B, obs::Admitted{{2}, K2, {1, 1, 2}, Path::virgin, false, MonotonicInstant::never()});
  expectHeld(story);
}

TEST(CheckerSet, ACheckerThatIsOffSaysNothing) {
  Story story(CheckerOptions{}.only(Checker::retention));
  story.at(0_s).lock(A, 1).at(5_s).lock(B, 2, Path::clean);
  expectHeld(story);
}

/// Observations in no sensible order at all, of small ids, must neither crash nor hang a checker.
TEST(CheckerSet, NonsenseIsJudgedWithoutHarm) {
  std::uint64_t state = 1;
  const auto draw = [&state](std::uint32_t bound) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>((state >> 33) % bound);
  };
  CheckerOptions options;
  options.livenessBound = 1_s;
  CheckerSet set(options);
  std::int64_t now = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += draw(1000) * std::int64_t{1'000'000};
    const NodeId node{static_cast<std::uint16_t>(draw(4))};
    const NodeId other{static_cast<std::uint16_t>(draw(4))};
    const KeyId key{draw(3)};
    const CallId call{1 + draw(40)};
    const TxnId txn{1 + draw(40)};
    const Token token{1, 1 + draw(2), 1 + draw(50)};
    const std::array<TxnId, obs::kRecordFields> writers{txn, TxnId{draw(40)}, TxnId{}, txn};
    const FieldMask mask = static_cast<FieldMask>(draw(16));
    const MonotonicInstant deadline{now + draw(20) * std::int64_t{1'000'000'000}};
    const obs::Observation choices[] = {
        obs::LockRequested{call, key, seconds(draw(9)), seconds(draw(9))},
        obs::Admitted{call, key, token, static_cast<Path>(draw(4)), false, deadline},
        obs::Reentered{call, key, false, deadline, draw(3) == 0 ? CallId{1 + draw(40)} : call},
        obs::LockRefused{call, key, static_cast<ErrorClass>(draw(4)), static_cast<Cause>(draw(21))},
        obs::Unlocked{call, key},
        obs::Revoked{call, key, false},
        obs::Read{CallId{draw(40)}, key, mask, writers, {1, 2, 3, 4}},
        obs::Staged{txn,
                    CallId{draw(40)},
                    key,
                    static_cast<WriteOp>(draw(4)),
                    mask,
                    draw(4) == 0,
                    Timestamp{now},
                    {1, 2, 3, 4}},
        obs::Submitted{txn, call, key, 1},
        obs::Settled{txn, draw(2) == 0, draw(2) == 0, draw(90)},
        obs::WriteRefused{txn, CallId{draw(40)}, key, static_cast<ErrorClass>(draw(4)),
                          static_cast<Cause>(draw(21))},
        obs::Granted{key, other, token, static_cast<Path>(draw(4)), draw(2) == 0, 1_s},
        obs::Denied{key, other, Cause::contended},
        obs::Queued{key, other},
        obs::Installed{key, token, Path::clean, false, deadline},
        obs::HandBackSeen{key, other, token, draw(2) == 0},
        obs::ControlAppended{static_cast<EntryKind>(draw(3)), key, token, draw(5), draw(90)},
        obs::ReleaseSeen{key, other, token, draw(2) == 0},
        obs::GrantExpired{key, other, token},
        obs::LineageLost{key, static_cast<obs::LineageLoss>(draw(6))},
        obs::BarrierStarted{draw(5), 1, 1},
        obs::BarrierMeasured{draw(5), other, draw(90)},
        obs::BarrierSkipped{draw(5), other},
        obs::BarrierDone{draw(5), draw(2) == 0},
        obs::RecoveryJoined{key, draw(5)},
        obs::MembershipRenewed{1, deadline},
        obs::MembershipLapsed{1},
        obs::Applied{other, draw(90), draw(3) == 0},
        obs::GapFound{other, draw(90), draw(90)},
        obs::HoleRepaired{other, draw(90)},
        obs::TombstoneReclaimed{key},
        obs::NodeStarted{1},
        obs::NodeCrashed{0},
        obs::NodePaused{},
        obs::NodeResumed{},
        obs::CoordinatorReplaced{},
        obs::LinkCut{other},
        obs::LinkHealed{other},
        obs::ClockRate{{now}, static_cast<std::int64_t>(draw(1000)) - 500},
        obs::MessageSent{1, other, static_cast<MessageKind>(draw(12)), key},
        obs::MessageDelivered{1, other, static_cast<MessageKind>(draw(12))},
        obs::MessageLost{1, other, static_cast<MessageKind>(draw(12)), obs::LossReason::random},
        obs::PhaseChanged{static_cast<Phase>(draw(3))},
        obs::FinalRecord{key, mask, writers, {1, 2, 3, 4}},
        obs::RetainedCount{obs::Retained::grants, draw(3), draw(3)},
    };
    set.on(obs::Stamped{{now}, node, choices[draw(std::size(choices))]});
  }
  set.finish({now});
  EXPECT_EQ(set.malformed(), 0U);
  EXPECT_EQ(set.verdict(), Verdict::safetyViolation);
  EXPECT_EQ(set.findings().violations().size(), Findings::kMaxKept);
  for (const Finding& finding : set.findings().violations()) EXPECT_FALSE(describe(finding).empty());
}

}  // namespace
}  // namespace holdfast::checkers::testing
