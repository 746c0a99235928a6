// The safety rules as they are meant to be kept, a sentence or two each, for people.
#pragma once

#include <string_view>

#include "protocol/rules.hpp"

namespace holdfast::ablation {

/// What the rule says; "" for a rule that is not in the list.
std::string_view statementOf(protocol::Rule rule);

}  // namespace holdfast::ablation
