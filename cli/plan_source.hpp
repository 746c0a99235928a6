// Plan files as something to run, and subjects as plan files.
//
// Contract: a file of any content gives a subject that is safe to run, or an error "file:line:column: what is
// wrong and what was expected".
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "cli/output.hpp"
#include "cli/subject.hpp"
#include "scenarios/plan_file.hpp"

namespace holdfast::cli {

/// A plan file, and what it says is to be run. The subject's `source` names the file.
struct PlanSource {
  scenarios::PlanFile file;
  Subject subject;
};

std::expected<PlanSource, Failure> readPlanSource(const std::string& path);

/// The same of a text; `name` stands for it in errors.
std::expected<PlanSource, Failure> planSourceOf(std::string_view text, const std::string& name);

/// The file that runs `subject` again. `report`: what it ended in; null if that is not known.
scenarios::PlanFile planFileOf(const Subject& subject, const scenarios::RunReport* report,
                               std::string story = "");

}  // namespace holdfast::cli
