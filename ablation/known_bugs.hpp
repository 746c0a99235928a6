// Defects that record-lock protocols are known to have had, each as something that can be run here.
//
// A bug is expressed by a rule that is off (the story and the random workload must then go wrong), by a story
// that must hold because it asserts the right outcome, or by a documented limitation that a story must reach.
// What can not be expressed says what is missing. Numbers are those of the catalogue, which has gaps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "checkers/finding.hpp"
#include "protocol/rules.hpp"

namespace holdfast::ablation {

enum class Expression : std::uint8_t {
  ruleOff,     ///< Without the rule the protocol has the bug.
  outcome,     ///< The story asserts what is right, and would end otherwise with the bug.
  limitation,  ///< No bug but a limit of the contract, which the story reaches by the route.
  missing,     ///< Not expressible so far.
};

struct KnownBug {
  std::uint16_t number = 0;
  std::string_view what;  ///< What is wrong, in one line.
  Expression expression = Expression::missing;
  std::string_view story;                ///< The directed scenario; "" if missing.
  std::optional<protocol::Rule> rule{};  ///< Of ruleOff.
  checkers::Checker checker{};           ///< Of ruleOff: that must find it in the story.
  checkers::Route route{};               ///< Of limitation.
  std::string_view missing{};            ///< What it would take.

  /// It breaks a promise of safety; otherwise somebody waits too long or is told the wrong thing.
  bool isSafety() const;
};

/// By number.
std::span<const KnownBug> knownBugs();

}  // namespace holdfast::ablation
