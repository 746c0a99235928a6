// Dependency sets: requiring is a pointwise maximum, kept sorted by origin (FR-2).
#include "protocol/dependency_set.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace holdfast::protocol {
namespace {

using Pairs = std::vector<std::pair<std::uint8_t, std::uint32_t>>;

DependencySet setOf(const Pairs& pairs) {
  DependencySet set;
  for (const auto& [origin, position] : pairs) set.require(NodeId{origin}, position);
  return set;
}

std::map<std::uint16_t, Position> modelOf(const DependencySet& set) {
  std::map<std::uint16_t, Position> model;
  for (const Dependency& d : set.entries()) model[d.origin.value] = d.position;
  return model;
}

TEST(DependencySet, InheritsAndAddsItsAuthor) {
  DependencySet set;
  set.require(NodeId{0}, 10);
  DependencySet next;
  next.require(set);
  next.require(NodeId{1}, 3);
  const DependencySet::Entries expected{{NodeId{0}, 10}, {NodeId{1}, 3}};
  EXPECT_EQ(next.entries(), expected);
}

TEST(DependencySet, NeverLowersAPosition) {
  DependencySet set;
  set.require(NodeId{2}, 10);
  set.require(NodeId{2}, 4);
  ASSERT_EQ(set.size(), 1u);
  EXPECT_EQ(set.entries()[0].position, 10u);
}

TEST(DependencySet, ClearEmptiesIt) {
  DependencySet set;
  EXPECT_TRUE(set.empty());
  set.require(NodeId{2}, 10);
  EXPECT_FALSE(set.empty());
  set.clear();
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set, DependencySet{});
}

RC_GTEST_PROP(DependencySet, IsAMapToTheGreatestPosition, (const Pairs& pairs)) {
  std::map<std::uint16_t, Position> model;
  for (const auto& [origin, position] : pairs) {
    Position& greatest = model[origin];
    greatest = std::max(greatest, position);
  }
  const DependencySet set = setOf(pairs);
  RC_ASSERT(set.size() == model.size());
  RC_ASSERT(modelOf(set) == model);
  RC_ASSERT(std::is_sorted(set.entries().begin(), set.entries().end(),
                           [](const Dependency& a, const Dependency& b) { return a.origin < b.origin; }));
}

RC_GTEST_PROP(DependencySet, MergingIsThePointwiseMaximum, (const Pairs& one, const Pairs& two)) {
  DependencySet merged = setOf(one);
  merged.require(setOf(two));
  auto model = modelOf(setOf(one));
  for (const auto& [origin, position] : modelOf(setOf(two))) {
    model[origin] = std::max(model[origin], position);
  }
  RC_ASSERT(modelOf(merged) == model);
  DependencySet other = setOf(two);
  other.require(setOf(one));
  RC_ASSERT(merged == other);
  DependencySet again = merged;
  again.require(setOf(one));
  RC_ASSERT(again == merged);
}

}  // namespace
}  // namespace holdfast::protocol
