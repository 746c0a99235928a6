// Which dependency sets a home keeps, as far as its releases tell.
#include "checkers/kept_sets.hpp"

#include <gtest/gtest.h>

namespace holdfast::checkers {
namespace {

constexpr obs::NodeId kHome{0};
constexpr obs::NodeId kOther{1};
constexpr obs::KeyId k0{0}, k1{1}, k2{2};

TEST(KeptSets, TheOldestMakesRoomAtTheCap) {
  KeptSets sets(2);
  sets.store(k0, kHome, 0);
  sets.store(k1, kHome, 0);
  EXPECT_FALSE(sets.evicted(k0, kHome));
  sets.store(k2, kHome, 0);
  EXPECT_TRUE(sets.evicted(k0, kHome));
  EXPECT_FALSE(sets.evicted(k1, kHome));
  EXPECT_FALSE(sets.evicted(k2, kHome));
}

TEST(KeptSets, StoringAgainTakesNoFurtherRoomAndMakesItTheYoungest) {
  KeptSets sets(2);
  sets.store(k0, kHome, 0);
  sets.store(k1, kHome, 0);
  sets.store(k0, kHome, 0);
  EXPECT_FALSE(sets.evicted(k1, kHome));
  sets.store(k2, kHome, 0);
  EXPECT_TRUE(sets.evicted(k1, kHome));
  EXPECT_FALSE(sets.evicted(k0, kHome));
}

TEST(KeptSets, WhatIsVoidTakesNoRoom) {
  KeptSets sets(2);
  sets.store(k0, kHome, 0);
  sets.store(k1, kHome, 0);
  sets.lose(k1, kHome);
  sets.lose(k1, kHome);
  sets.store(k2, kHome, 0);
  EXPECT_FALSE(sets.evicted(k0, kHome));
  EXPECT_FALSE(sets.evicted(k1, kHome));
}

TEST(KeptSets, EachHomeHasRoomOfItsOwn) {
  KeptSets sets(1);
  sets.store(k0, kHome, 0);
  sets.store(k1, kOther, 0);
  EXPECT_FALSE(sets.evicted(k0, kHome));
  sets.store(k2, kOther, 0);
  EXPECT_TRUE(sets.evicted(k1, kOther));
  EXPECT_FALSE(sets.evicted(k1, kHome));
}

TEST(KeptSets, ANewLifeOfTheHomeStartsEmpty) {
  KeptSets sets(2);
  sets.store(k0, kHome, 0);
  sets.store(k1, kHome, 1);
  sets.store(k2, kHome, 1);
  EXPECT_FALSE(sets.evicted(k0, kHome)) << "it was gone before";
  EXPECT_FALSE(sets.evicted(k1, kHome));
}

TEST(KeptSets, AnEvictedSetThatIsStoredAgainIsKept) {
  KeptSets sets(1);
  sets.store(k0, kHome, 0);
  sets.store(k1, kHome, 0);
  EXPECT_TRUE(sets.evicted(k0, kHome));
  sets.store(k0, kHome, 0);
  EXPECT_FALSE(sets.evicted(k0, kHome));
  EXPECT_TRUE(sets.evicted(k1, kHome));
}

TEST(KeptSets, WithoutAKnownCapAnyFurtherSetMayHaveBeenTooMany) {
  KeptSets sets;
  sets.store(k0, kHome, 0);
  EXPECT_FALSE(sets.evicted(k0, kHome));
  sets.store(k1, kHome, 0);
  EXPECT_TRUE(sets.evicted(k0, kHome));
}

}  // namespace
}  // namespace holdfast::checkers
