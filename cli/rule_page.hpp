// What `holdfast ablate` found about a rule, and the page of docs/rules/ that tells it.
//
// Contract: pages and table follow from the rules and the bounds of the searches alone, to the byte.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ablation/ablation.hpp"
#include "cli/subject.hpp"

namespace holdfast::cli {

/// What became of the protocol without one rule.
struct Ablation {
  protocol::Rule rule{};
  std::optional<ablation::Breakage> explored;
  std::optional<ablation::Breakage> told;  ///< Of the stories that go wrong, the one with the fewest steps.
  std::optional<ablation::Breakage> swept;
  std::string unproven;     ///< Why nothing was shown; "" if something was.
  std::size_t steps = 0;    ///< Of shown(): of the path, or those of the run that led to the violation.
  std::string picture;      ///< Of shown(), a Mermaid diagram; "" of a caller that waits for ever.
  std::string sentence;     ///< What the checker said of it.
  std::size_t finding = 1;  ///< Its number among the findings of that run.
  std::vector<std::string> schedule;  ///< Of the explorer: its steps in words.
  std::string reproduce;              ///< The command that shows it again.

  /// The explorer's schedule, which is a shortest one; else a story; else a seed. Null for none.
  const ablation::Breakage* shown() const;
};

/// Searches as far as the bounds go, and draws what is to be shown. `show` is told what is being done.
Ablation ablate(protocol::Rule rule, const ablation::Bounds& bounds,
                const std::function<void(std::string)>& show);

/// The subject whose run breaks a promise as `breakage` says; `workload`: that was swept.
Subject subjectOf(const ablation::Breakage& breakage, const protocol::Rules& rules,
                  const scenarios::RunOptions& workload);

/// "DG3_OneDelegate" is rule "DG-3".
std::string idOf(protocol::Rule rule);

std::string rulePage(const Ablation& ablation);

/// docs/rules/README.md. `again`: the command that wrote it.
std::string rulesTable(const std::vector<Ablation>& ablations, const std::string& again);

}  // namespace holdfast::cli
