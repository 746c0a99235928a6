// The rules: each has a name and a text of its own, and names go there and back.
#include "protocol/rules.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace holdfast::protocol {
namespace {

TEST(Rules, NamesAndTextsAreDistinct) {
  std::set<std::string_view> names;
  std::set<std::string_view> texts;
  for (std::size_t i = 0; i < kRuleCount; ++i) {
    const Rule rule = static_cast<Rule>(i);
    EXPECT_FALSE(nameOf(rule).empty());
    EXPECT_FALSE(withoutRule(rule).empty());
    names.insert(nameOf(rule));
    texts.insert(withoutRule(rule));
  }
  EXPECT_GE(kRuleCount, 50u);
  EXPECT_EQ(names.size(), kRuleCount);
  EXPECT_EQ(texts.size(), kRuleCount);
}

TEST(Rules, NamesGoThereAndBack) {
  for (std::size_t i = 0; i < kRuleCount; ++i) {
    const Rule rule = static_cast<Rule>(i);
    EXPECT_EQ(ruleFromName(nameOf(rule)), rule) << nameOf(rule);
  }
  EXPECT_EQ(ruleFromName("DG4_AnchorAtSend"), Rule::DG4_AnchorAtSend);
}

TEST(Rules, UnknownNamesAreNoRules) {
  EXPECT_EQ(ruleFromName(""), std::nullopt);
  EXPECT_EQ(ruleFromName("DG4"), std::nullopt);
  EXPECT_EQ(ruleFromName("dg4_anchoratsend"), std::nullopt);
  EXPECT_EQ(ruleFromName("DG4_AnchorAtSend "), std::nullopt);
}

TEST(Rules, EveryNameStartsWithItsId) {
  for (std::size_t i = 0; i < kRuleCount; ++i) {
    const std::string name(nameOf(static_cast<Rule>(i)));
    const auto isLetter = [&](std::size_t at) { return name[at] >= 'A' && name[at] <= 'Z'; };
    const auto isDigit = [&](std::size_t at) { return name[at] >= '0' && name[at] <= '9'; };
    ASSERT_GT(name.size(), 4u);
    EXPECT_TRUE(isLetter(0) && isLetter(1) && isDigit(2)) << name;
    const std::size_t digits = isDigit(3) ? 2 : 1;
    EXPECT_EQ(name[2 + digits], '_') << name;
  }
}

TEST(Rules, AllAreOnUntilSwitchedOff) {
  Rules rules;
  EXPECT_TRUE(rules.allOn());
  for (std::size_t i = 0; i < kRuleCount; ++i) EXPECT_TRUE(rules.on(static_cast<Rule>(i)));
  rules.switchOff(Rule::FR3_AppliedAndVisible);
  EXPECT_FALSE(rules.allOn());
  for (std::size_t i = 0; i < kRuleCount; ++i) {
    const Rule rule = static_cast<Rule>(i);
    EXPECT_EQ(rules.on(rule), rule != Rule::FR3_AppliedAndVisible) << nameOf(rule);
  }
}

TEST(Rules, WithoutLeavesTheOriginalAlone) {
  const Rules all;
  const Rules fewer = all.without(Rule::DG3_OneDelegate);
  EXPECT_TRUE(all.on(Rule::DG3_OneDelegate));
  EXPECT_FALSE(fewer.on(Rule::DG3_OneDelegate));
  EXPECT_NE(all, fewer);
  EXPECT_EQ(fewer, Rules().switchOff(Rule::DG3_OneDelegate));
}

}  // namespace
}  // namespace holdfast::protocol
