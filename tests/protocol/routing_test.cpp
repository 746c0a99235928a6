// Rendezvous routing (RT-1, RT-3, RT-4): who is a key's home, and who becomes it when the members change.
#include "protocol/routing.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "protocol/canonical_key.hpp"

namespace holdfast::protocol {
namespace {

using sim::KeyId;
using sim::NodeId;

Directory directoryOf(std::size_t nodes, std::size_t keys) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < nodes; ++i) names.push_back("node-" + std::to_string(100 + i));
  std::vector<KeyInfo> infos;
  for (std::size_t i = 0; i < keys; ++i) {
    const auto number = static_cast<std::int64_t>(i);
    infos.push_back({"t/" + std::to_string(i), canonicalKey("db", "t", KeyPart{number}).value(), 0});
  }
  return Directory(std::move(names), std::move(infos));
}

std::vector<NodeId> allOf(const Directory& directory) {
  std::vector<NodeId> members;
  for (std::size_t i = 0; i < directory.nodeCount(); ++i) members.push_back({static_cast<std::uint16_t>(i)});
  return members;
}

RC_GTEST_PROP(Rendezvous, MovesOnlyTheDepartedMembersKeys, ()) {
  const auto nodes = *rc::gen::inRange<std::size_t>(2, 9);
  const auto version = *rc::gen::element<std::uint32_t>(1, 2);
  const Directory directory = directoryOf(nodes, 200);
  const auto before = allOf(directory);
  const auto departed = *rc::gen::elementOf(before);
  auto after = before;
  std::erase(after, departed);
  std::size_t moved = 0;
  for (std::uint32_t k = 0; k < directory.keyCount(); ++k) {
    const NodeId old = homeOf(directory, before, KeyId{k}, version);
    const NodeId now = homeOf(directory, after, KeyId{k}, version);
    if (old == departed) {
      ++moved;
      RC_ASSERT(now != departed);
    } else {
      RC_ASSERT(now == old);
    }
  }
  RC_ASSERT(moved > 0u);
}

RC_GTEST_PROP(Rendezvous, OrderOfMembersDoesNotMatter, ()) {
  const Directory directory = directoryOf(6, 50);
  auto members = allOf(directory);
  std::rotate(members.begin(), members.begin() + *rc::gen::inRange(0, 6), members.end());
  if (*rc::gen::arbitrary<bool>()) std::reverse(members.begin(), members.end());
  for (std::uint32_t k = 0; k < directory.keyCount(); ++k) {
    RC_ASSERT(homeOf(directory, members, KeyId{k}, 1) == homeOf(directory, allOf(directory), KeyId{k}, 1));
  }
}

TEST(Rendezvous, TakesTheGreatestHash) {
  const Directory directory = directoryOf(5, 100);
  for (std::uint32_t k = 0; k < directory.keyCount(); ++k) {
    const NodeId home = homeOf(directory, allOf(directory), KeyId{k}, 1);
    const std::string& bytes = directory.key(KeyId{k}).canonicalBytes;
    for (const std::string& name : directory.names()) {
      EXPECT_LE(ringHash(name, bytes, 1), ringHash(directory.name(home), bytes, 1));
    }
  }
}

TEST(Rendezvous, BalancesRoughly) {
  constexpr std::size_t kMany = 5'000;
  const Directory directory = directoryOf(5, kMany);
  for (const std::uint32_t version : {1u, 2u}) {
    std::map<NodeId, std::size_t> share;
    for (std::uint32_t k = 0; k < kMany; ++k) ++share[homeOf(directory, allOf(directory), KeyId{k}, version)];
    ASSERT_EQ(share.size(), 5u);
    for (const auto& [node, count] : share) {
      EXPECT_NEAR(static_cast<double>(count), kMany / 5.0, kMany / 5.0 * 0.15) << directory.name(node);
    }
  }
}

TEST(Rendezvous, VersionsDisagree) {
  const Directory directory = directoryOf(5, 100);
  std::size_t differ = 0;
  for (std::uint32_t k = 0; k < directory.keyCount(); ++k) {
    const auto members = allOf(directory);
    if (homeOf(directory, members, KeyId{k}, 1) != homeOf(directory, members, KeyId{k}, 2)) ++differ;
  }
  EXPECT_GT(differ, 50u);
  EXPECT_TRUE(isRingVersion(1));
  EXPECT_TRUE(isRingVersion(2));
  EXPECT_FALSE(isRingVersion(0));
  EXPECT_FALSE(isRingVersion(3));
}

TEST(Rendezvous, HashesAreTheSameOnEveryMachine) {
  EXPECT_EQ(ringHash("node-a", std::string_view("db\0t\0k", 6), 1), 0xe10903fc6ebdd05dULL);
  EXPECT_EQ(ringHash("node-a", std::string_view("db\0t\0k", 6), 2), 0xda71c2a1c0b36b05ULL);
}

TEST(Rendezvous, NameAndKeyDoNotRunTogether) { EXPECT_NE(ringHash("ab", "c", 1), ringHash("a", "bc", 1)); }

TEST(Rendezvous, NobodyIsHomeWithoutMembers) {
  const Directory directory = directoryOf(2, 1);
  EXPECT_FALSE(homeOf(directory, {}, KeyId{0}, 1).valid());
  EXPECT_FALSE(homeByShortId(directory, {}, {}, KeyId{0}, 1).valid());
  EXPECT_FALSE(RouteCache().home(KeyId{0}).valid());
}

TEST(ShortIds, NodesWithDifferentNumberingsDisagree) {
  const Directory directory = directoryOf(3, 60);
  const auto members = allOf(directory);
  const std::vector<std::uint16_t> mine{0, 1, 2};
  const std::vector<std::uint16_t> yours{2, 0, 1};
  std::size_t differ = 0;
  std::map<NodeId, std::size_t> share;
  for (std::uint32_t k = 0; k < directory.keyCount(); ++k) {
    const NodeId home = homeByShortId(directory, members, mine, KeyId{k}, 1);
    ++share[home];
    if (home != homeByShortId(directory, members, yours, KeyId{k}, 1)) ++differ;
  }
  EXPECT_EQ(differ, 60u) << "every index means another node in the other numbering";
  EXPECT_EQ(share.size(), 3u);
}

TEST(RouteCache, AgreesWithTheFunctionsItCaches) {
  const Directory directory = directoryOf(5, 40);
  const std::vector<NodeId> members{{0}, {2}, {4}};
  const std::vector<std::uint16_t> shortIds{4, 3, 2, 1, 0};
  const RouteCache byName(directory, members, 2);
  const RouteCache byShortId(directory, members, 1, shortIds);
  for (int pass = 0; pass < 2; ++pass) {
    for (std::uint32_t k = 0; k < directory.keyCount(); ++k) {
      EXPECT_EQ(byName.home(KeyId{k}), homeOf(directory, members, KeyId{k}, 2));
      EXPECT_EQ(byShortId.home(KeyId{k}), homeByShortId(directory, members, shortIds, KeyId{k}, 1));
    }
  }
  const RouteCache copy = byName;
  EXPECT_EQ(copy.home(KeyId{7}), byName.home(KeyId{7}));
  EXPECT_FALSE(byName.home(KeyId{40}).valid());
  EXPECT_FALSE(byName.home(KeyId::none()).valid());
}

}  // namespace
}  // namespace holdfast::protocol
