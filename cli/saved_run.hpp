// What is kept of a run that failed: a folder with everything that is needed to look into it later.
//
// Contract: <out>/<scenario>-<seed>/ holds options.json, plan.json, trace.jsonl, diagram.html and
// verdict.json, and <out>/latest leads to the folder written last. Nothing is overwritten: a name that is
// taken gets a number behind it, and a failure that is there already, to the byte of its plan, is not saved
// again. Any number of processes may save to one folder at a time.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "cli/output.hpp"
#include "cli/run_report.hpp"
#include "cli/subject.hpp"
#include "cli/verb.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

struct SaveArguments {
  std::string out = "holdfast-out";
  bool off = false;
};

/// Adds --out and --no-save. `arguments` must outlive `app`.
void addSaveOptions(CLI::App& app, SaveArguments& arguments);

/// Executes `subject`, which ended in `outcome`, once more to record its trace, and gives the folder's path.
/// A run of very many observations is saved without its trace.
std::expected<std::string, Failure> saveRun(const std::string& out, const Subject& subject,
                                            const Outcome& outcome, const RunFacts& facts,
                                            std::string_view name = "");

/// The folder; "" if saving is off or was not possible, which is said but is no failure of the run.
std::string savedOrWhyNot(Session& session, const SaveArguments& arguments, const Subject& subject,
                          const Outcome& outcome, const RunFacts& facts);

}  // namespace holdfast::cli
