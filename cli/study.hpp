// A run to look into: read from a trace, or made on the spot. What explains and draws works on this.
//
// Contract: the observations are all there, in order, and every finding gets the event at which it was made.
// A trace is judged by the same checkers as a run, whatever its last line says of it. What a story describes
// is executed again, and so is a run that records a violation which they can not see: if it is the same run,
// what was found then counts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkers/finding.hpp"
#include "cli/subject.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "explain/slice.hpp"

namespace holdfast::cli {

/// What is to be looked into, as typed.
struct StudyArguments {
  std::string what;
  std::string scenario;
  std::string seed;
  SubjectArguments subject;
};

/// Adds the place for a trace or scenario, --scenario, --seed and what shapes the workload.
void addStudyOptions(CLI::App& app, StudyArguments& arguments);

struct Study {
  std::string title;  ///< "S-31-... seed 1, without DG3_OneDelegate".
  traces::Names names;
  std::vector<obs::Stamped> run;
  std::vector<checkers::Finding> violations;
  std::vector<checkers::Finding> limitations;
  std::vector<std::pair<checkers::Finding, explain::EventIndex>>
      seen;  ///< What checkers found in `run`, and where.
  std::vector<std::string> rulesOff;
  std::optional<Subject> subject;  ///< What executes it; none if this build does not know the scenario.
  std::string reproduce;           ///< The complete command that shows the same run.
};

/// Runs `subject` and keeps what is observed; `verb` as below.
Study studyRun(Session& session, Subject subject, std::string_view verb);

/// `verb`: what the command that shows the same run is to do with it.
std::expected<Study, Failure> study(Session& session, std::string_view verb, const StudyArguments& arguments);

/// Everything to be explained in the run: violations first, then the limitations that were reached.
std::vector<explain::Incident> incidentsOf(const Study& study);

}  // namespace holdfast::cli
