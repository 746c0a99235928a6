// Observations as sentences: pinned ones, and one line for every kind.
#include "traces/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/traces/support.hpp"
#include "traces/kinds.hpp"

namespace holdfast::traces {
namespace {

const Names kNames = {{"A", "B", "node-c"}, {"accounts/alice", "k"}};

std::string sentence(const obs::Observation& what) { return describeWhat({{0}, {0}, what}, kNames); }

TEST(Text, HasInstantNodeAndSentence) {
  const obs::Admitted admitted{{3}, {0}, {1, 1, 7}, obs::Path::clean, false, {20'100'000'000}};
  EXPECT_EQ(
      describe({{12'345'678'901}, {0}, admitted}, {{"A"}, {"accounts/alice"}}),
      "12.345678901s A  admitted call 3 on accounts/alice by clean handoff, token (1,1,7), until A:20.1s");
  EXPECT_EQ(describe({{5}, {1}, obs::NodePaused{}}, kNames), "0.000000005s B       node paused");
  EXPECT_EQ(describe({{5}, {2}, obs::NodePaused{}}, kNames), "0.000000005s node-c  node paused");
  EXPECT_EQ(describe({{5}, {}, obs::PhaseChanged{obs::Phase::healed}}, kNames),
            "0.000000005s -       phase: healed");
}

TEST(Text, HasPolishedSentences) {
  const obs::KeyId alice{0};
  const obs::Token token{1, 2, 7};
  EXPECT_EQ(sentence(obs::LockRequested{{3}, alice, sim::seconds(2), sim::milliseconds(1500)}),
            "requested accounts/alice as call 3, waiting 2s, for 1.5s");
  EXPECT_EQ(
      sentence(obs::Admitted{{3}, alice, token, obs::Path::cached, true, obs::MonotonicInstant::never()}),
      "admitted call 3 on accounts/alice under a cached delegation, token (1,2,7), until A:never, to hold");
  EXPECT_EQ(sentence(obs::LockRefused{{3}, alice, obs::ErrorClass::lockUnavailable503, obs::Cause::fence}),
            "refused call 3 on accounts/alice: lockUnavailable503 (fence)");
  EXPECT_EQ(sentence(obs::Unlocked{{3}, alice}), "unlocked accounts/alice, call 3");
  EXPECT_EQ(sentence(obs::Revoked{{3}, alice, true}), "revoked call 3 on accounts/alice, already unlocked");
  EXPECT_EQ(sentence(obs::Read{{3}, alice, 0b0101, {{{4}, {}, {}, {}}}, {{10, 0, -20, 0}}}),
            "read accounts/alice under call 3: [0]=10 by txn 4 [2]=-20");
  EXPECT_EQ(sentence(obs::Read{{}, alice, 0, {}, {}}), "read accounts/alice: nothing");
  EXPECT_EQ(sentence(obs::FinalRecord{alice, 0b1000, {{{}, {}, {}, {9}}}, {{0, 0, 0, 5}}}),
            "holds accounts/alice at the end: [3]=5 by txn 9");
  EXPECT_EQ(
      sentence(obs::Staged{{11}, {3}, alice, obs::WriteOp::patch, 1, true, {1'500'000'000}, {{11, 0, 0, 0}}}),
      "staged patch of accounts/alice under call 3 in txn 11: [0]=11, stamp 1.5s of the caller");
  EXPECT_EQ(sentence(obs::Submitted{{11}, {}, alice, 2}), "submitted txn 11 on accounts/alice, attempt 2");
  EXPECT_EQ(sentence(obs::Settled{{11}, true, true, 42}),
            "settled txn 11: committed at position 42, found after a crash");
  EXPECT_EQ(sentence(obs::Settled{{11}, false, false, 0}), "settled txn 11: aborted");
  EXPECT_EQ(sentence(obs::WriteRefused{{11}, {3}, alice, obs::ErrorClass::conflict409, obs::Cause::revoked}),
            "refused txn 11 on accounts/alice under call 3: conflict409 (revoked)");
  EXPECT_EQ(sentence(obs::Granted{alice, {1}, token, obs::Path::recovery, true, sim::seconds(15)}),
            "granted accounts/alice to B after recovery, token (1,2,7), for 15s, a renewal");
  EXPECT_EQ(sentence(obs::Granted{alice, {1}, token, obs::Path::virgin, false, sim::seconds(15)}),
            "granted accounts/alice to B as a virgin key, token (1,2,7), for 15s");
  EXPECT_EQ(sentence(obs::Denied{alice, {1}, obs::Cause::quarantine}),
            "denied accounts/alice to B: quarantine");
  EXPECT_EQ(sentence(obs::Applied{{1}, 42, false}), "applied B's entry 42");
  EXPECT_EQ(sentence(obs::Applied{{1}, 42, true}), "failed to apply B's entry 42");
  EXPECT_EQ(sentence(obs::ClockRate{{5'000'000'000}, -20'000}), "clock reads A:5s and runs at -20000 ppb");
  EXPECT_EQ(sentence(obs::WallSet{{1'700'000'000'250'000'000}, 0}),
            "wall clock reads 1700000000.25s and runs at +0 ppb");
  EXPECT_EQ(sentence(obs::MessageSent{77, {1}, obs::MessageKind::lockRequest, alice}),
            "sent lockRequest 77 to B on accounts/alice");
  EXPECT_EQ(sentence(obs::MessageSent{77, {1}, obs::MessageKind::logFrame, {}}), "sent logFrame 77 to B");
  EXPECT_EQ(sentence(obs::MessageDelivered{77, {1}, obs::MessageKind::logFrame}),
            "received logFrame 77 from B");
  EXPECT_EQ(sentence(obs::MessageLost{77, {1}, obs::MessageKind::logFrame, obs::LossReason::cut}),
            "lost logFrame 77 to B: cut");
}

TEST(Text, SpellsOutOtherKindsFromTheirDescription) {
  EXPECT_EQ(sentence(obs::BarrierMeasured{5, {1}, 10}), "barrier measured: nonce 5, member B, position 10");
  EXPECT_EQ(sentence(obs::AdmissionClosed{{0}, {1, 1, 7}, false}),
            "admission closed: key accounts/alice, token (1,1,7), recalled no");
  EXPECT_EQ(sentence(obs::MembershipRenewed{4, {1'000'000}}),
            "membership renewed: number 4, deadline A:0.001s");
  EXPECT_EQ(sentence(obs::LineageLost{{9}, obs::LineageLoss::evicted}),
            "lineage lost: key key 9, why evicted");
  EXPECT_EQ(sentence(obs::CoordinatorReplaced{}), "coordinator replaced");
}

TEST(Text, DurationsAreShortAndExact) {
  const auto text = [](std::int64_t ns) { return describe(obs::Duration{ns}); };
  EXPECT_EQ(text(0), "0s");
  EXPECT_EQ(text(12), "12ns");
  EXPECT_EQ(text(-1'500), "-1.5us");
  EXPECT_EQ(text(5'000'000), "5ms");
  EXPECT_EQ(text(999'999'999), "999.999999ms");
  EXPECT_EQ(text(20'100'000'000), "20.1s");
  EXPECT_EQ(text(3'600'000'000'001), "3600.000000001s");
  EXPECT_EQ(text(INT64_MIN), "-9223372036.854775808s");
  EXPECT_EQ(describe(obs::TrueInstant{INT64_MIN}), "-9223372036.854775808s");
  EXPECT_EQ(describe(obs::TrueInstant{-1}), "-0.000000001s");
}

TEST(Text, NamesStayOnOneLine) {
  EXPECT_EQ(describe(obs::KeyId{0}, {{}, {"two\nlines"}}), "\"two\\x0alines\"");
  EXPECT_EQ(describe(obs::KeyId{0}, {{}, {"schl\xc3\xbcssel"}}), "schl\xc3\xbcssel");
  EXPECT_EQ(describe(obs::KeyId{1}, {{}, {"k"}}), "key 1");
  EXPECT_EQ(describe(obs::KeyId::none(), kNames), "no key");
  EXPECT_EQ(describe(obs::NodeId{7}, kNames), "node 7");
  EXPECT_EQ(describe(obs::NodeId::none(), kNames), "nobody");
}

RC_GTEST_PROP(TextProperty, EveryKindIsOneLine, ()) {
  std::set<std::string> beginnings;
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    const obs::Stamped stamped = arbitraryObservation(kind);
    const std::string text = describe(stamped, testNames());
    RC_ASSERT(text.starts_with(describe(stamped.at)));
    RC_ASSERT(text.size() > 15U);
    for (const char c : text) RC_ASSERT((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    beginnings.insert(text);
  }
  RC_ASSERT(beginnings.size() > kKindCount / 2);
}

}  // namespace
}  // namespace holdfast::traces
