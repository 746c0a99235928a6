// Delta debugging on made-up failures, where it is known what a smallest part is.
#include "shrink/ddmin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "shrink/first_of.hpp"

namespace holdfast::shrink {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Fails = std::function<bool(const Subset&)>;

Subset smallest(std::size_t size, const Fails& fails, std::size_t* asked = nullptr) {
  return ddmin(size, [&](std::span<const Subset> candidates) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (asked != nullptr) ++*asked;
      if (fails(candidates[i])) return i;
    }
    return std::nullopt;
  });
}

Fails needs(Subset wanted) {
  return [wanted](const Subset& kept) { return std::ranges::includes(kept, wanted); };
}

TEST(Ddmin, FindsTheElementsThatFailTogether) {
  EXPECT_THAT(smallest(8, needs({0, 6, 7})), ElementsAre(0, 6, 7)) << "the example of the paper";
  EXPECT_THAT(smallest(1'000, needs({17})), ElementsAre(17));
  EXPECT_THAT(smallest(1'000, needs({3, 500, 999})), ElementsAre(3, 500, 999));
  EXPECT_THAT(smallest(5, needs({0, 1, 2, 3, 4})), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Ddmin, KeepsNothingWhenNothingIsNeeded) {
  EXPECT_THAT(smallest(100, [](const Subset&) { return true; }), IsEmpty());
  EXPECT_THAT(smallest(0, [](const Subset&) { return true; }), IsEmpty());
  EXPECT_THAT(smallest(1, needs({0})), ElementsAre(0));
}

TEST(Ddmin, AsksLittleForASingleCause) {
  std::size_t asked = 0;
  smallest(1'024, needs({700}), &asked);
  EXPECT_LE(asked, 2U * 10U + 2U) << "two halves at each of ten levels, and nothing at all";
}

RC_GTEST_PROP(Ddmin, TheResultFailsAndNoElementCanBeSpared, (std::uint64_t bits, std::uint64_t more)) {
  constexpr std::size_t kSize = 24;
  Subset one;
  Subset other;
  for (std::size_t i = 0; i < kSize; ++i) {
    if ((bits >> i & 1) != 0 && (more >> i & 1) != 0) one.push_back(i);
    if ((bits >> (i + kSize) & 1) != 0 && (more >> (i + kSize) & 1) != 0) other.push_back(i);
  }
  // Two causes, either of which is enough; and an odd number of elements may hide it (no monotony).
  const Fails fails = [&](const Subset& kept) {
    return needs(one)(kept) || (needs(other)(kept) && kept.size() % 3 != 1);
  };
  const Subset result = smallest(kSize, fails);
  RC_ASSERT(fails(result));
  for (std::size_t i = 0; i < result.size(); ++i) {
    Subset less = result;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    RC_ASSERT(!fails(less));
  }
}

TEST(FirstOf, IsTheSmallestIndexForAnyNumberOfJobs) {
  const std::set<std::size_t> holding{63, 64, 200};
  for (const unsigned jobs : {0U, 1U, 2U, 7U}) {
    const auto holds = [&](std::size_t i) { return holding.contains(i); };
    EXPECT_EQ(firstOf(300, jobs, holds), 63U) << jobs;
    EXPECT_EQ(firstOf(64, jobs, holds), 63U) << jobs;
    EXPECT_EQ(firstOf(63, jobs, holds), std::nullopt) << jobs;
    EXPECT_EQ(firstOf(0, jobs, holds), std::nullopt) << jobs;
  }
}

TEST(FirstOf, HandsOnAnException) {
  for (const unsigned jobs : {1U, 3U}) {
    EXPECT_THROW(firstOf(10, jobs, [](std::size_t i) -> bool { throw i; }), std::size_t) << jobs;
  }
}

}  // namespace
}  // namespace holdfast::shrink
