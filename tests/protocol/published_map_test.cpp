// HM-2: different maps have different digests, whatever the names; and what a well-formed map is.
#include "protocol/membership/published_map.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace holdfast::protocol {
namespace {

Directory directoryWith(const std::vector<std::string>& names) { return Directory(names, {}); }

TEST(PublishedMap, NamesThatReadLikeSeveralAreNotTakenForThem) {
  const Directory directory = directoryWith({"A", "A,B", "B"});
  const PublishedMap two{1, {NodeId{0}, NodeId{2}}, 1};
  const PublishedMap one{1, {NodeId{1}}, 1};
  EXPECT_NE(digestOf(directory, two, {}), digestOf(directory, one, {}));
  const Rules ambiguous = Rules().without(Rule::HM2_UnambiguousDigest);
  EXPECT_EQ(digestOf(directory, two, ambiguous), digestOf(directory, one, ambiguous));
}

TEST(PublishedMap, TheDigestCoversGenerationAndRingVersion) {
  const Directory directory = directoryWith({"A", "B"});
  const PublishedMap map{1, {NodeId{0}}, 1};
  PublishedMap other = map;
  other.generation = 2;
  EXPECT_NE(digestOf(directory, map, {}), digestOf(directory, other, {}));
  other = map;
  other.ringVersion = 2;
  EXPECT_NE(digestOf(directory, map, {}), digestOf(directory, other, {}));
  EXPECT_EQ(digestOf(directory, map, {}), digestOf(directory, map, {}));
}

TEST(PublishedMap, TheDigestIsOfNamesAndNotOfShortIds) {
  const Directory few = directoryWith({"B", "C"});
  const Directory more = directoryWith({"A", "B", "C"});
  EXPECT_EQ(digestOf(few, {1, {NodeId{0}, NodeId{1}}, 1}, {}),
            digestOf(more, {1, {NodeId{1}, NodeId{2}}, 1}, {}));
}

RC_GTEST_PROP(PublishedMap, DifferentHomesHaveDifferentDigests, ()) {
  // Few letters, and the comma among them, so that joined names often coincide.
  const auto name = rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string("a,"))));
  auto names = *rc::gen::suchThat(rc::gen::container<std::vector<std::string>>(name),
                                  [](const auto& all) { return !all.empty() && all.size() <= 8; });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const Directory directory = directoryWith(names);
  const auto homesOf = [&](unsigned bits) {
    std::vector<NodeId> homes;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if ((bits >> i & 1U) != 0) homes.push_back({static_cast<std::uint16_t>(i)});
    }
    return homes;
  };
  const unsigned limit = 1U << names.size();
  const auto first = homesOf(*rc::gen::inRange(0U, limit));
  const auto second = homesOf(*rc::gen::inRange(0U, limit));
  RC_ASSERT((digestOf(directory, {1, first, 1}, {}) == digestOf(directory, {1, second, 1}, {})) ==
            (first == second));
}

TEST(PublishedMap, SealsAreOfWhatTheyStandOn) {
  HomeMapChange change{{2, {NodeId{0}}, 1}, {NodeId{0}, NodeId{1}}, 0};
  const std::uint64_t seal = sealOf(change);
  change.seal = 5;
  EXPECT_EQ(sealOf(change), seal);
  change.participants.pop_back();
  EXPECT_NE(sealOf(change), seal);
  ActivationRecord record{{2, {NodeId{0}}, 1}, {{NodeId{0}, 1}}, {}, sim::seconds(1), 0};
  const std::uint64_t first = sealOf(record);
  record.acknowledged.front().incarnation = 2;
  EXPECT_NE(sealOf(record), first);
}

TEST(PublishedMap, FaultsAreNamed) {
  const Directory directory = directoryWith({"A", "B"});
  const auto fault = [&](PublishedMap map) { return faultOf(directory, map, 1, {}); };
  EXPECT_EQ(fault({1, {NodeId{0}, NodeId{1}}, 1}), obs::Cause::none);
  EXPECT_EQ(fault({0, {NodeId{0}}, 1}), obs::Cause::malformed);
  EXPECT_EQ(fault({1, {}, 1}), obs::Cause::malformed);
  EXPECT_EQ(fault({1, {NodeId{2}}, 1}), obs::Cause::malformed);
  EXPECT_EQ(fault({1, {NodeId{1}, NodeId{0}}, 1}), obs::Cause::malformed);
  EXPECT_EQ(fault({1, {NodeId{0}}, 2}), obs::Cause::version);
  EXPECT_EQ(fault({1, {NodeId{0}}, 9}), obs::Cause::version);
  EXPECT_EQ(fault({1, std::vector<NodeId>(kMaxMembers + 1, NodeId{0}), 1}), obs::Cause::capacity);
}

TEST(PublishedMap, UnionsAreSortedAndDistinct) {
  std::vector<NodeId> nodes{{1}, {4}};
  const std::vector<NodeId> more{{0}, {1}, {9}};
  include(nodes, more);
  EXPECT_EQ(nodes, (std::vector<NodeId>{{0}, {1}, {4}, {9}}));
  EXPECT_TRUE(contains(nodes, NodeId{4}));
  EXPECT_FALSE(contains(nodes, NodeId{5}));
}

}  // namespace
}  // namespace holdfast::protocol
