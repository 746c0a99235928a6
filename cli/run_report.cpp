#include "cli/run_report.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/coverage_report.hpp"
#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/option_list.hpp"
#include "cli/version.hpp"
#include "scenarios/liveness_bound.hpp"
#include "traces/json.hpp"

namespace holdfast::cli {
namespace {

using checkers::Finding;
using checkers::Severity;

std::string named(std::span<const std::string> names, std::size_t id, bool valid) {
  if (!valid) return "";
  return id < names.size() ? names[id] : fmt::to_string(id);
}

/// Liveness is judged of calls that are made later after the healing than its bound.
void sayIfNobodyAsksLateEnough(Output& out, const scenarios::RunOptions& options) {
  const sim::Duration bound = scenarios::livenessBound(options);
  if (options.healedPhase.ns <= 0 || bound < options.workload.intoHealedPhase) return;
  out.say(
      fmt::format("note        liveness is not judged: its bound of {} after the healing is beyond "
                  "workload.intoHealedPhase, {}",
                  elapsed(std::chrono::nanoseconds(bound.ns)),
                  elapsed(std::chrono::nanoseconds(options.workload.intoHealedPhase.ns))));
}

/// The verdict with what it rests on: "held: 1,204 admissions, every promise kept".
std::string verdictLine(const Outcome& outcome) {
  const checkers::Findings& findings = outcome.report.findings;
  const std::string admissions = counted(outcome.report.coverage.admissions(), "admission");
  switch (outcome.ending) {
    case Ending::held:
      return fmt::format(
          "held: {}, every promise kept{}{}", admissions,
          outcome.brokenOutside ? " as assumed, and one broken as expected outside of that" : "",
          outcome.expectations == 0 ? ""
                                    : fmt::format(", {} met", counted(outcome.expectations, "expectation")));
    case Ending::safetyViolation:
    case Ending::livenessViolation:
      return fmt::format("{}: {} of safety and {} of liveness", wordsOf(outcome.ending),
                         counted(findings.count(Severity::safety), "violation"),
                         counted(findings.count(Severity::liveness), "violation"));
    case Ending::expectationNotReached:
      return fmt::format("expectation not reached: {} of {}", outcome.unmet.size(), outcome.expectations);
    case Ending::inconclusive:
      if (outcome.report.stopped) {
        return fmt::format("inconclusive: cut at {}, {} until then",
                           elapsed(std::chrono::nanoseconds(outcome.report.simulated.ns)), admissions);
      }
      if (outcome.report.coverage.admissions() == 0) {
        return "inconclusive: nobody was ever admitted, which proves nothing";
      }
      if (outcome.report.stillWaiting > 0) {
        return fmt::format(
            "inconclusive: {}, but {} still waited within its limit when the run ended; expected a "
            "healedPhase that goes on longer after workload.intoHealedPhase",
            admissions, counted(outcome.report.stillWaiting, "caller"));
      }
      return fmt::format("inconclusive: {}, but {}", admissions,
                         outcome.report.healedInVain
                             ? "after the healing no node ran that somebody could have asked for a lock"
                             : "what was observed can not be judged");
  }
  return "";
}

void reportLimitations(Session& session, const scenarios::RunReport& report) {
  for (const Finding& finding : report.findings.limitations()) {
    session.out.say(fmt::format("limitation  {} {} ({} times by this route): {}",
                                checkers::limitationOf(finding.route), obs::nameOf(finding.anomaly),
                                grouped(report.findings.count(finding.route)),
                                checkers::describe(finding, namesIn(report))));
    session.out.object(findingJson(finding, namesIn(report)));
  }
}

}  // namespace

Json outcomeJson(const Outcome& outcome, const RunFacts& facts) {
  const scenarios::RunReport& report = outcome.report;
  Json routes = Json::object();
  for (const checkers::Route route : allRoutes()) {
    routes[std::string(obs::nameOf(route))] = report.findings.count(route);
  }
  Json json{{"verdict", obs::nameOf(outcome.ending)},
            {"exitCode", outcome.exitCode},
            {"safetyViolations", report.findings.count(Severity::safety)},
            {"livenessViolations", report.findings.count(Severity::liveness)},
            {"expectations", outcome.expectations},
            {"unmet", outcome.unmet.size()},
            {"brokenOutside", outcome.brokenOutside},
            {"routes", std::move(routes)},
            {"coverage", coverageJson(report.coverage)},
            {"partial", report.stopped},
            {"simulatedNs", report.simulated.ns},
            {"realNs", facts.real.count()},
            {"events", report.events},
            {"messages", report.messages},
            {"observations", report.observations},
            {"traceHash", traces::hexHash(report.hash)}};
  if (!facts.trace.empty()) json["trace"] = facts.trace;
  if (!facts.plan.empty()) json["plan"] = facts.plan;
  if (!facts.saved.empty()) json["saved"] = facts.saved;
  json["reproduce"] = facts.reproduce;
  return json;
}

void announce(Session& session, std::string_view verb, const Subject& subject, std::string_view seeds,
              bool every) {
  Output& out = session.out;
  const std::string hash = traces::hexHash(headerOf(subject).optionHash);
  out.say(fmt::format("{} {} scenario {} options {}", toolLine(), seeds, subject.name(), hash));
  for (const std::string& rule : rulesOff(subject.rules)) {
    out.say(fmt::format("rule off    {}: {}", rule, protocol::withoutRule(*protocol::ruleFromName(rule))));
  }
  if (subject.schedule) {
    out.say(fmt::format("schedule    {} of {}", counted(subject.schedule->steps.size(), "step"),
                        subject.schedule->announcement));
    for (std::size_t i = 0; i < subject.schedule->steps.size(); ++i) {
      out.say(fmt::format("  {:>8}  {}", i + 1, subject.schedule->steps[i]));
    }
  } else if (subject.directed != nullptr) {
    out.say(fmt::format("story       {}", subject.directed->story));
    out.say(fmt::format("rules       {}", subject.directed->rules));
  } else {
    if (subject.plan) {
      out.say(fmt::format("plan        {}, {}, to {}", counted(subject.plan->operations.size(), "operation"),
                          counted(subject.plan->faults.size(), "fault"),
                          elapsed(std::chrono::nanoseconds(subject.plan->endAt.ns))));
    }
    if (const auto changed = changedOptions(subject.options); !changed.empty()) {
      for (const std::string& line : paragraph("changed", changed, kWidth)) out.say(line);
    }
    if (every) {
      for (const OptionValue& option : optionValues(subject.options)) {
        out.say(fmt::format("option      {} = {}", option.path, option.value));
      }
    } else {
      for (const std::string& line : optionParagraphs(subject.options, kWidth)) out.say(line);
    }
    sayIfNobodyAsksLateEnough(out, subject.options);
  }
  Json json{{"is", "start"},
            {"verb", verb},
            {"tool", traces::toolVersion()},
            {"commit", commitName()},
            {"compiler", traces::compilerName()},
            {"build", buildType()}};
  json.update(subjectJson(subject));
  if (verb == "sweep") json.erase("seed");
  json["options"] = Json(headerOf(subject).options);
  out.object(json);
}

Json subjectJson(const Subject& subject) {
  return {{"scenario", subject.name()},
          {"seed", fmt::to_string(subject.seed)},
          {"rulesOff", rulesOff(subject.rules)},
          {"optionHash", traces::hexHash(headerOf(subject).optionHash)}};
}

checkers::Names namesIn(const scenarios::RunReport& report) { return {report.nodeNames, report.keyNames}; }

Json findingJson(const Finding& finding, const checkers::Names& names) {
  return {{"is", "finding"},
          {"severity", obs::nameOf(finding.severity)},
          {"checker", obs::nameOf(finding.checker)},
          {"rule", finding.rule()},
          {"anomaly", obs::nameOf(finding.anomaly)},
          {"route", obs::nameOf(finding.route)},
          {"limitation", checkers::limitationOf(finding.route)},
          {"atNs", finding.at.ns},
          {"node", named(names.nodes, finding.node.value, finding.node.valid())},
          {"other", named(names.nodes, finding.other.value, finding.other.valid())},
          {"key", named(names.keys, finding.key.value, finding.key.valid())},
          {"call", finding.call.value},
          {"otherCall", finding.otherCall.value},
          {"txn", finding.txn.value},
          {"otherTxn", finding.otherTxn.value},
          {"expected", finding.expected},
          {"observed", finding.observed},
          {"written", finding.written},
          {"text", checkers::describe(finding, names)}};
}

void reportViolations(Session& session, const scenarios::RunReport& report) {
  std::uint64_t number = 0;
  const std::uint64_t all =
      report.findings.count(Severity::safety) + report.findings.count(Severity::liveness);
  for (const Finding& finding : report.findings.violations()) {
    session.out.say(fmt::format("violation   {} of {}, checker {}, rule {}: {}", ++number, grouped(all),
                                obs::nameOf(finding.checker), finding.rule(),
                                checkers::describe(finding, namesIn(report))));
    session.out.object(findingJson(finding, namesIn(report)));
  }
  if (number < all) {
    session.out.say(fmt::format("            and {} that were counted but not kept", grouped(all - number)));
  }
}

std::string timeLine(const scenarios::RunReport& report, const RunFacts& facts) {
  const std::chrono::nanoseconds simulated(report.simulated.ns);
  return fmt::format("time        {} simulated in {} real, {}; {} events, {} events/s; {} messages",
                     elapsed(simulated), elapsed(facts.real), speedup(report.simulated.ns, facts.real),
                     grouped(report.events), perSecond(report.events, facts.real), grouped(report.messages));
}

void reportOutcome(Session& session, const Outcome& outcome, const RunFacts& facts) {
  Output& out = session.out;
  const scenarios::RunReport& report = outcome.report;
  for (const std::string& line : coverageParagraphs(report.coverage, kWidth)) out.say(line);
  for (const std::string& note : outcome.notes) {
    out.say("note        " + note);
    out.object({{"is", "note"}, {"text", note}});
  }
  reportLimitations(session, report);
  reportViolations(session, report);
  for (const std::string& unmet : outcome.unmet) {
    out.say("not reached " + unmet);
    out.object({{"is", "unmet"}, {"text", unmet}});
  }
  out.say("verdict     " + verdictLine(outcome));
  out.say(timeLine(report, facts));
  out.say(fmt::format("trace hash  {} over {}", traces::hexHash(report.hash),
                      counted(report.observations, "observation")));
  if (!facts.trace.empty()) out.say("trace       " + facts.trace);
  if (!facts.plan.empty()) out.say("plan        " + facts.plan);
  if (!facts.saved.empty()) out.say("saved       " + facts.saved);
  if (outcome.exitCode != kExitHeld) out.say("reproduce   " + facts.reproduce);
  Json verdict{{"is", "verdict"}};
  verdict.update(outcomeJson(outcome, facts));
  out.object(verdict);
}

nlohmann::json verdictJson(const Outcome& outcome) {
  nlohmann::json json{{"verdict", obs::nameOf(outcome.ending)}};
  const checkers::Findings& findings = outcome.report.findings;
  json["safetyViolations"] = findings.count(Severity::safety);
  json["livenessViolations"] = findings.count(Severity::liveness);
  nlohmann::json texts = nlohmann::json::array();
  for (const Finding& finding : findings.violations()) {
    texts.push_back(fmt::format("{} ({}): {}", obs::nameOf(finding.checker), finding.rule(),
                                checkers::describe(finding, namesIn(outcome.report))));
  }
  json["violations"] = std::move(texts);
  json["unmet"] = outcome.unmet;
  return json;
}

bool RunProgressLine::reached(obs::TrueInstant now, std::uint64_t events) {
  if (InterruptGuard::requested()) return false;
  if (limitNs_ && static_cast<std::uint64_t>(watch_.elapsed().count()) >= *limitNs_) return false;
  if (!out_.wantsProgress()) return true;
  const std::chrono::nanoseconds simulated(now.ns);
  const std::string share =
      end_.ns > 0 ? fmt::format(" of {}", elapsed(std::chrono::nanoseconds(end_.ns))) : "";
  out_.progress(fmt::format("{}{} simulated, {}, {} events, {} events/s", elapsed(simulated), share,
                            speedup(now.ns, watch_.elapsed()), grouped(events),
                            perSecond(events, watch_.elapsed())));
  return true;
}

}  // namespace holdfast::cli
