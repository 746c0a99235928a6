#include "protocol/rules.hpp"

#include <array>

namespace holdfast::protocol {
namespace {

struct RuleText {
  std::string_view name;
  std::string_view without;
};

constexpr std::array<RuleText, kRuleCount> kTexts{{
#define HOLDFAST_RULE_TEXT(name, text) {#name, text},
    HOLDFAST_RULES(HOLDFAST_RULE_TEXT)
#undef HOLDFAST_RULE_TEXT
}};

}  // namespace

std::string_view nameOf(Rule rule) { return kTexts[static_cast<std::size_t>(rule)].name; }

std::string_view withoutRule(Rule rule) { return kTexts[static_cast<std::size_t>(rule)].without; }

std::optional<Rule> ruleFromName(std::string_view name) {
  for (std::size_t i = 0; i < kRuleCount; ++i) {
    if (kTexts[i].name == name) return static_cast<Rule>(i);
  }
  return std::nullopt;
}

}  // namespace holdfast::protocol
