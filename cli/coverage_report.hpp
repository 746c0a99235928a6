// What a run or a sweep exercised, as text and as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "checkers/finding.hpp"
#include "cli/output.hpp"
#include "scenarios/coverage.hpp"
#include "scenarios/sweep.hpp"

namespace holdfast::cli {

/// "503 quarantine 12", one for each error class and cause that was met.
std::vector<std::string> refusalItems(const scenarios::Coverage& coverage);

/// "cached 1,000", one for each path.
std::vector<std::string> admissionItems(const scenarios::Coverage& coverage);

/// "crashes 3", one for each kind of fault that struck.
std::vector<std::string> faultItems(const scenarios::Coverage& coverage);

/// Paragraphs on a single run: admissions, refusals, milestones, faults.
std::vector<std::string> coverageParagraphs(const scenarios::Coverage& coverage, std::size_t width);

/// Members "admissions", "refusals", "milestones", "observationKinds".
Json coverageJson(const scenarios::Coverage& coverage);

/// A table of all milestones: count, seeds, and the seed that came there first.
std::vector<std::string> milestoneTable(const scenarios::SweepReport& report);

/// A line for each limitation's route: count, seeds, first seed, and what it means.
std::vector<std::string> routeTable(const scenarios::SweepReport& report);

/// The limitation in a clause, "a write in flight is overtaken because ...".
std::string_view meaningOf(checkers::Route route);

/// Every route but none.
std::vector<checkers::Route> allRoutes();

/// "l1a" as the contract spells it, with the variant where several share a number: "L-2 (l2HomeRestart)".
std::string routeTitle(checkers::Route route);

}  // namespace holdfast::cli
