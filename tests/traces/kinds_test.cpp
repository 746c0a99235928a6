// Kinds by name, both ways, and the agreement of everything that tells observations apart.
#include "traces/kinds.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "observations/hash_chain.hpp"
#include "tests/traces/support.hpp"

namespace holdfast::traces {
namespace {

TEST(Kinds, EachNameLeadsBackToItsNumber) {
  std::set<std::string_view> names;
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    EXPECT_EQ(kindFromName(kKindNames[kind]), kind);
    names.insert(kKindNames[kind]);
  }
  EXPECT_EQ(names.size(), kKindCount);
  EXPECT_EQ(kindName(obs::Admitted{}), "Admitted");
  EXPECT_EQ(kindName(obs::RecoveryJoined{}), "RecoveryJoined");
  EXPECT_EQ(kindFromName("admitted"), std::nullopt);
  EXPECT_EQ(kindFromName(""), std::nullopt);
}

TEST(Kinds, TagsDifferAndArePinned) {
  std::set<std::uint64_t> tags;
  for (const std::string_view name : kKindNames) tags.insert(obs::kindTag(name));
  EXPECT_EQ(tags.size(), kKindCount);
  EXPECT_EQ(obs::kindTag(""), 0xcbf29ce484222325U);
  EXPECT_EQ(obs::kindTag("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(obs::kindTag("foobar"), 0x85944171f73967e8U);
}

TEST(Kinds, TheVocabularyHasAHash) {
  EXPECT_NE(vocabularyHash(), 0U);
  EXPECT_EQ(vocabularyHash(), vocabularyHash());
}

TEST(Kinds, TheNearestNameForgivesSlips) {
  EXPECT_EQ(nearestKindName("admited"), "Admitted");
  EXPECT_EQ(nearestKindName("LockRequest"), "LockRequested");
  EXPECT_EQ(nearestKindName("barrier_done"), "BarrierDone");
  EXPECT_FALSE(nearestKindName(std::string(1'000'000, 'x')).empty());
  EXPECT_FALSE(nearestKindName("").empty());
}

RC_GTEST_PROP(KindsProperty, SameObservationMeansSameWordsAndHash, ()) {
  const obs::Stamped a = arbitraryObservation();
  const obs::Stamped b = *rc::gen::arbitrary<bool>() ? a : arbitraryObservation();
  obs::WordBuffer wordsOfA{};
  obs::WordBuffer wordsOfB{};
  const bool sameCount = obs::packObservation(a, wordsOfA) == obs::packObservation(b, wordsOfB);
  RC_ASSERT(obs::sameObservation(a, b) == (sameCount && wordsOfA == wordsOfB));
  RC_ASSERT((obs::HashChain().add(a) == obs::HashChain().add(b)) == obs::sameObservation(a, b));
}

}  // namespace
}  // namespace holdfast::traces
