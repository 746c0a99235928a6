// What looks like a violation and is none: each story passes all checkers at once.
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

/// The whole set, with liveness judged as well.
CheckerOptions everything() {
  CheckerOptions options;
  options.nodes = 4;
  options.livenessBound = 20_s;
  return options;
}

void expectNoLimitation(Story& story) { EXPECT_TRUE(story.findings().limitations().empty()) << story.told(); }

TEST(NotBugs, UnlockIsNoRevocation) {
  // 1. Lock, save, unlock, and commit inside the lease with no recall in between: it succeeds.
  Story story(everything());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).unlock(A, 1);
  story.at(9_s).submit(A, 1).at(10_s).settle(A, 1).apply(B, A).endsWith(A, 1).endsWith(B, 1);
  expectHeld(story);
  expectNoLimitation(story);
}

TEST(NotBugs, EqualKeysAreOneKeyWhateverObjectCarriesThem) {
  // 2. Identity is the encoded bytes: a second call with an equal key is a call for the same key. It waits
  //    for the first, and being told 423 is right because the key is held.
  Story story(everything());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).ask(A, 2, K, 2_s);
  story.at(3_s).refuse(A, 2, ErrorClass::locked423, Cause::contended).unlock(A, 1).lock(A, 3).unlock(A, 3);
  expectHeld(story);
  expectNoLimitation(story);
}

TEST(NotBugs, AReplayedReleaseChangesNothing) {
  // 3. The release of A's first delegation is met again, twice, while B holds the key by a later token.
  Story story(everything());
  story.at(1_s).grant(A, Path::virgin);
  const Token first = story.token();
  story.lock(A, 1, Path::virgin).put(A, 1, 1, 150).commit(A, 1).unlock(A, 1).release(A);
  story.at(2_s).grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean);
  story.tell(D, obs::ReleaseSeen{K, A, first, false}).tell(D, obs::ReleaseSeen{K, A, first, false});
  story.at(3_s).ask(C, 3, K, 1_s).at(4_s).refuse(C, 3, ErrorClass::locked423, Cause::contended);
  story.unlock(B, 2).apply(A, B).apply(C, A).apply(C, B);
  expectHeld(story);
  expectNoLimitation(story);
}

TEST(NotBugs, ADownHomeRefusesOnlyItsShareOfTheRing) {
  // 4. D, home of K, is down: 503 for K, while K2 with another home is locked as ever.
  Story story(everything());
  story.at(1_s).crash(D).ask(A, 1, K, 5_s).at(6_s);
  story.refuse(A, 1, ErrorClass::lockUnavailable503, Cause::homeUnreachable);
  story.grant(A, Path::virgin, K2, C).lock(A, 2, Path::virgin, K2).unlock(A, 2, K2);
  expectHeld(story);
  expectNoLimitation(story);
}

TEST(NotBugs, ADelegateMayGiveUpEarly) {
  // 5. A drops its delegation long before it ends, by the same four steps.
  Story story(everything());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
  story.at(2_s).tell(A, obs::AdmissionClosed{K, story.token(), false});
  story.tell(A, obs::Drained{K, story.token(), true}).release(A);
  story.at(3_s).grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean).reads(B, 2, 1).unlock(B, 2);
  expectHeld(story);
  expectNoLimitation(story);
}

TEST(NotBugs, AFalsePositiveOfTheFilterCostsABarrier) {
  // 6. K was never delegated, but the filter says it was: recovery instead of virgin.
  Story story(everything());
  story.at(1_s).grant(A, Path::recovery).ask(A, 1).startBarrier(A, 9).measure(A, 9, B).measure(A, 9, C);
  story.measure(A, 9, D).apply(A, B).apply(A, C).apply(A, D).barrierDone(A, 9).admit(A, 1, Path::recovery);
  story.put(A, 1, 1, 150).commit(A, 1).unlock(A, 1);
  expectHeld(story);
  expectNoLimitation(story);
  EXPECT_EQ(story.checkers().costs().recovery.barrierEntries.sum, 3U);
}

TEST(NotBugs, ADatabaseMayRefuseLocksDuringAChangeOfMembership) {
  // 7. Between stage and activate every lock is refused with 503 by every node, and again granted after it.
  Story story(everything());
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).unlock(A, 1).release(A);
  std::uint32_t call = 1;
  for (const NodeId node : {A, B, C}) {
    ++call;
    story.at(seconds(call))
        .ask(node, call)
        .refuse(node, call, ErrorClass::lockUnavailable503, Cause::noMembership);
  }
  story.at(10_s).grant(B, Path::clean).apply(B, A).lock(B, 9, Path::clean).unlock(B, 9);
  expectHeld(story);
  expectNoLimitation(story);
}

TEST(NotBugs, ARecalledUnlockedWriteFailsWithAConflict) {
  // 8. Lock, save, unlock; a recall comes before the commit: 409, and the successor sees the state before.
  Story story(everything());
  story.at(0_s).put(C, 1, 0, 100).commit(C, 1).apply(A, C).apply(B, C);
  story.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).reads(A, 1, 1).put(A, 2, 1, 150).unlock(A, 1);
  story.at(2_s).tell(D, obs::RecallSent{K, A, story.token()}).revoke(A, 1, K, true).release(A);
  story.grant(B, Path::clean).apply(B, A).lock(B, 2, Path::clean).reads(B, 2, 1);
  story.at(3_s).refuseWrite(A, 2, 1, Cause::revoked);
  story.put(B, 3, 2, 80).commit(B, 3).unlock(B, 2).apply(A, B).endsWith(A, 3).endsWith(B, 3);
  expectHeld(story);
  expectNoLimitation(story);
}

TEST(NotBugs, TheDocumentedLimitationsAreNoViolations) {
  // 9. L-1b and L-2b, seen by the whole set.
  Story future(everything());
  future.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).stampedByCaller(3600_s).put(A, 1, 1, 150);
  future.commit(A, 1).unlock(A, 1).at(2_s).release(A).grant(B, Path::clean).apply(B, A);
  future.lock(B, 2, Path::clean).reads(B, 2, 1).put(B, 2, 2, 130).commit(B, 2).unlock(B, 2).apply(A, B);
  future.at(3_s).endsWith(A, 1).endsWith(B, 1);
  expectLimitation(future, Route::l1b, Anomaly::lostUpdate);

  Story unreachable(everything());
  unreachable.at(0_s).put(D, 1, 0, 100).commit(D, 1).apply(A, D).apply(B, D);
  unreachable.at(1_s).grant(A, Path::virgin).lock(A, 1, Path::virgin).reads(A, 1, 1).put(A, 2, 1, 150);
  unreachable.commit(A, 2).unlock(A, 1).cut(A, B).cut(A, D).at(70_s).expire(A).grant(B, Path::recovery);
  unreachable.ask(B, 2).startBarrier(B, 9).measure(B, 9, C).measure(B, 9, D).apply(B, C).apply(B, D);
  unreachable.at(71_s).skip(B, 9, A).barrierDone(B, 9).admit(B, 2, Path::recovery).reads(B, 2, 1);
  unreachable.put(B, 3, 2, 80).commit(B, 3).unlock(B, 2).at(80_s).heal(A, B).heal(A, D);
  unreachable.apply(A, B).apply(B, A).endsWith(A, 3).endsWith(B, 3);
  const Finding derived = expectLimitation(unreachable, Route::l2b, Anomaly::derivedFromStaleRead);
  EXPECT_EQ(derived.expected, 150);
  EXPECT_EQ(derived.observed, 100);
  EXPECT_EQ(derived.written, 80);
}

}  // namespace
}  // namespace holdfast::checkers::testing
