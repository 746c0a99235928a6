#include "cli/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/coverage_report.hpp"
#include "cli/figures.hpp"
#include "cli/option_list.hpp"
#include "cli/run_report.hpp"
#include "scenarios/must_reach.hpp"
#include "traces/json.hpp"

namespace holdfast::cli {
namespace {

using scenarios::FailedSeed;
using scenarios::SweepReport;

// Each failing seed says what failed first; the run itself tells the rest.
constexpr std::size_t kFailuresShown = 5;

std::string_view verdictName(const SweepReport& report) {
  switch (report.exitCode()) {
    case kExitHeld:
      return obs::nameOf(Ending::held);
    case kExitSafety:
      return obs::nameOf(Ending::safetyViolation);
    case kExitLiveness:
      return obs::nameOf(Ending::livenessViolation);
    case kExitDiverged:
      return "diverged";
    case kExitInternal:
      return "died";
    default:
      return obs::nameOf(report.missed.empty() || report.ran == 0 || report.inconclusive > 0
                             ? Ending::inconclusive
                             : Ending::expectationNotReached);
  }
}

/// How a failing seed ended, in words.
std::string_view endingWords(const FailedSeed& failure) {
  if (!failure.died.empty()) return "died";
  if (failure.diverged) return "not deterministic";
  return wordsOf(endingOf(failure.verdict));
}

void reportFailures(Session& session, Subject subject, const SweepReport& report) {
  const std::uint64_t failed = report.ran - report.held;
  if (failed == 0) return;
  const traces::Names known = namesOf(subject);
  std::size_t shown = 0;
  for (const Json& object : failureObjects(session, subject, report)) {
    Json failure{{"is", "failure"}};
    failure.update(object);
    session.out.object(failure);
  }
  for (const FailedSeed& failure : report.failures) {
    if (shown == kFailuresShown) break;
    ++shown;
    subject.seed = failure.seed;
    session.out.say(fmt::format("seed {}: {}: {}", failure.seed, endingWords(failure),
                                failureText(failure, {known.nodes, known.keys})));
    session.out.say("  reproduce " + commandOf(session.program, subject));
  }
  if (failed > shown)
    session.out.say(fmt::format("and {} more that did not hold", counted(failed - shown, "seed")));
}

}  // namespace

std::string partiality(const SweepReport& report, const SweepFacts& facts) {
  if (!report.stoppedEarly) return "";
  return fmt::format("partial: {} after {} of {}",
                     facts.interrupted ? "interrupted" : "ended by a limit, a violation or its death",
                     grouped(report.ran), counted(report.asked, "seed"));
}

std::string sweepVerdict(const SweepReport& report) {
  switch (report.exitCode()) {
    case kExitInternal:
      return fmt::format("died: {} of {} ended without a verdict", grouped(report.died),
                         counted(report.ran, "seed"));
    case kExitDiverged:
      return fmt::format("not deterministic: {} of {} that were run twice differed", grouped(report.diverged),
                         counted(report.rechecked, "seed"));
    case kExitHeld:
      return fmt::format("held: {}, {}, every promise kept", counted(report.ran, "seed"),
                         counted(report.coverage.admissions(), "admission"));
    case kExitSafety:
      return fmt::format("safety violation in {} of {}", grouped(report.safetyViolations),
                         counted(report.ran, "seed"));
    case kExitLiveness:
      return fmt::format("liveness violation in {} of {}", grouped(report.livenessViolations),
                         counted(report.ran, "seed"));
    default:
      break;
  }
  if (report.ran == 0) return "inconclusive: no seed was run";
  if (report.inconclusive > 0) {
    return fmt::format("inconclusive: {} of {}", grouped(report.inconclusive), counted(report.ran, "seed"));
  }
  if (report.missed.empty()) {
    return fmt::format("inconclusive: cut after {} of {}, which held", grouped(report.ran),
                       counted(report.asked, "seed"));
  }
  return fmt::format("expectation not reached: {} never seen in {}",
                     counted(report.missed.size(), "milestone"), counted(report.ran, "seed"));
}

std::string failureText(const FailedSeed& failure, const checkers::Names& names) {
  if (!failure.died.empty()) return fmt::format("the run ended in an exception: {}", failure.died);
  if (failure.diverged) return "run twice, it was not the same run";
  if (failure.violations.empty()) return "nothing that could be judged";
  const checkers::Finding& first = failure.violations.front();
  return fmt::format("checker {}, rule {}: {}", obs::nameOf(first.checker), first.rule(),
                     checkers::describe(first, names));
}

std::vector<Json> failureObjects(const Session& session, Subject subject, const SweepReport& report) {
  std::vector<Json> objects;
  if (report.failures.empty()) return objects;
  const traces::Names known = namesOf(subject);
  const checkers::Names names{known.nodes, known.keys};
  for (const FailedSeed& failure : report.failures) {
    subject.seed = failure.seed;
    Json violations = Json::array();
    for (const checkers::Finding& finding : failure.violations) {
      Json object = findingJson(finding, names);
      object.erase("is");
      violations.push_back(std::move(object));
    }
    Json object{{"seed", fmt::to_string(failure.seed)},
                {"verdict", obs::nameOf(endingOf(failure.verdict))},
                {"traceHash", traces::hexHash(failure.hash)},
                {"violations", std::move(violations)},
                {"reproduce", commandOf(session.program, subject)}};
    if (!failure.died.empty()) object["died"] = failure.died;
    if (failure.diverged) object["diverged"] = true;
    objects.push_back(std::move(object));
  }
  return objects;
}

Json sweepJson(const SweepReport& report, const SweepFacts& facts) {
  Json routes = Json::object();
  for (const checkers::Route route : allRoutes()) {
    const auto& reached = report.routes[static_cast<std::size_t>(route)];
    Json object{
        {"limitation", checkers::limitationOf(route)}, {"count", reached.count}, {"seeds", reached.seeds}};
    if (reached.count > 0) object["firstSeed"] = fmt::to_string(reached.firstSeed);
    routes[std::string(obs::nameOf(route))] = std::move(object);
  }
  Json milestones = Json::object();
  for (std::size_t i = 0; i < scenarios::kMilestones; ++i) {
    const auto milestone = static_cast<scenarios::Milestone>(i);
    Json object{{"count", report.coverage.count(milestone)}, {"seeds", report.milestones[i].seeds}};
    if (report.milestones[i].seeds > 0) object["firstSeed"] = fmt::to_string(report.milestones[i].firstSeed);
    milestones[std::string(obs::nameOf(milestone))] = std::move(object);
  }
  Json coverage = coverageJson(report.coverage);
  coverage.erase("milestones");
  Json points = Json::array();
  for (const scenarios::MustReachPoint& point : scenarios::mustReachPoints(report)) {
    if (point.seeds == 0 && !point.judgedAfter(report.ran)) points.push_back(point.name);
  }
  return {{"verdict", verdictName(report)},
          {"exitCode", report.exitCode()},
          {"firstSeed", fmt::to_string(report.firstSeed())},
          {"seedsAsked", report.asked},
          {"seedsRun", report.ran},
          {"partial", report.stoppedEarly},
          {"interrupted", facts.interrupted},
          {"held", report.held},
          {"safetyViolations", report.safetyViolations},
          {"livenessViolations", report.livenessViolations},
          {"inconclusive", report.inconclusive},
          {"died", report.died},
          {"rechecked", report.rechecked},
          {"diverged", report.diverged},
          {"missed", report.missed},
          {"unjudged", std::move(points)},
          {"routes", std::move(routes)},
          {"milestones", std::move(milestones)},
          {"coverage", std::move(coverage)},
          {"simulatedNs", report.simulated.ns},
          {"realNs", facts.real.count()},
          {"jobs", facts.jobs},
          {"events", report.events},
          {"messages", report.messages},
          {"observations", report.observations},
          {"sweepHash", traces::hexHash(report.hash)},
          {"reproduce", facts.reproduce}};
}

void reportSweep(Session& session, const Subject& subject, const SweepReport& report,
                 const SweepFacts& facts) {
  Output& out = session.out;
  const auto say = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) out.say(line);
  };
  say(milestoneTable(report));
  say(routeTable(report));
  say(paragraph("admissions", admissionItems(report.coverage), kWidth));
  say(paragraph("refusals", refusalItems(report.coverage), kWidth));
  say(paragraph("faults", faultItems(report.coverage), kWidth));
  say(paragraph(
      "missed",
      report.missed.empty() ? std::vector<std::string>{"nothing that must be reached"} : report.missed,
      kWidth));
  reportFailures(session, subject, report);
  if (const std::string partial = partiality(report, facts); !partial.empty()) out.say(partial);
  out.say("verdict     " + sweepVerdict(report));
  out.say(
      fmt::format("time        {} in {} on {}, {} seeds/s; {} simulated, {}; {} events, {} events/s; "
                  "{} messages",
                  counted(report.ran, "seed"), elapsed(facts.real), counted(facts.jobs, "job"),
                  perSecond(report.ran, facts.real), elapsed(std::chrono::nanoseconds(report.simulated.ns)),
                  speedup(report.simulated.ns, facts.real), rounded(static_cast<double>(report.events)),
                  perSecond(report.events, facts.real), rounded(static_cast<double>(report.messages))));
  out.say(fmt::format("sweep hash  {}", traces::hexHash(report.hash)));
  if (report.rechecked > 0) {
    out.say(fmt::format("run twice   {}, {}", counted(report.rechecked, "seed"),
                        report.diverged == 0 ? "each the same run"
                                             : fmt::format("{} of them not the same run", report.diverged)));
  }
  for (const std::string& folder : facts.saved) out.say("saved       " + folder);
  if (report.exitCode() != kExitHeld) out.say("reproduce   " + facts.reproduce);
  Json verdict{{"is", "verdict"}};
  verdict.update(sweepJson(report, facts));
  if (!facts.saved.empty()) verdict["saved"] = facts.saved;
  out.object(verdict);
}

std::string sweepProgressText(const SweepReport& soFar, std::chrono::nanoseconds real) {
  const std::uint64_t bad = soFar.safetyViolations + soFar.livenessViolations;
  std::string left;
  if (soFar.ran > 0 && soFar.ran < soFar.asked) {
    const double share = static_cast<double>(soFar.asked - soFar.ran) / static_cast<double>(soFar.ran);
    // Beyond a few years the guess means nothing, and would not fit.
    const double ns = std::min(static_cast<double>(real.count()) * share, 1e17);
    left = ", " + elapsed(std::chrono::nanoseconds(static_cast<std::int64_t>(ns))) + " left";
  }
  return fmt::format("{} of {}, {} seeds/s{}, {}", grouped(soFar.ran), counted(soFar.asked, "seed"),
                     perSecond(soFar.ran, real), left,
                     bad == 0 ? std::string("no violation") : counted(bad, "violated seed"));
}

}  // namespace holdfast::cli
