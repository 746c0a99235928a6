#include "cli/suggest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace holdfast::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EditDistance, CountsLetters) {
  EXPECT_EQ(editDistance("", ""), 0U);
  EXPECT_EQ(editDistance("run", "run"), 0U);
  EXPECT_EQ(editDistance("run", "rum"), 1U);
  EXPECT_EQ(editDistance("run", "rn"), 1U);
  EXPECT_EQ(editDistance("run", "runs"), 1U);
  EXPECT_EQ(editDistance("run", "rnu"), 1U) << "neighbours that were swapped";
  EXPECT_EQ(editDistance("", "list"), 4U);
}

RC_GTEST_PROP(EditDistance, IsAlikeBothWaysAndWithinTheLonger, (std::string a, std::string b)) {
  const std::size_t distance = editDistance(a, b);
  RC_ASSERT(distance == editDistance(b, a));
  RC_ASSERT(distance <= std::max(a.size(), b.size()));
  RC_ASSERT((distance == 0) == (a == b));
}

TEST(DidYouMean, NamesTheNearestOnly) {
  const std::vector<std::string> verbs{"run", "sweep", "replay", "list"};
  EXPECT_THAT(nearMatches("swep", verbs), ElementsAre("sweep"));
  EXPECT_THAT(nearMatches("RUN", verbs), ElementsAre("run"));
  EXPECT_THAT(nearMatches("lis", verbs), ElementsAre("list"));
  EXPECT_THAT(nearMatches("quux", verbs), IsEmpty());
  EXPECT_THAT(nearMatches("", verbs), IsEmpty());
  EXPECT_THAT(nearMatches(std::string(1'000'000, 'r'), verbs), IsEmpty());
  EXPECT_EQ(didYouMean("swep", verbs), "; did you mean 'sweep'?");
  EXPECT_EQ(didYouMean("quux", verbs), "");
  EXPECT_EQ(didYouMean("pan", std::vector<std::string>{"japan", "pans"}),
            "; did you mean 'pans' or 'japan'?");
}

TEST(DidYouMean, KnowsBeginningsAndParts) {
  const std::vector<std::string> names{"S-22-recall-in-flight-commit", "S-20-recall-live-handle", "S-30-x"};
  EXPECT_THAT(nearMatches("S-22-recal-in", names), testing::Contains("S-22-recall-in-flight-commit"));
  EXPECT_THAT(nearMatches("in-flight", names), ElementsAre("S-22-recall-in-flight-commit"));
  EXPECT_EQ(didYouMean("recall", names),
            "; did you mean 'S-22-recall-in-flight-commit' or 'S-20-recall-live-handle'?");
}

}  // namespace
}  // namespace holdfast::cli
