// holdfast skew: properties that must hold whatever the clocks do, over generated clock histories.
#include "cli/skew.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>

#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/option_list.hpp"
#include "cli/plan_source.hpp"
#include "cli/run_report.hpp"
#include "cli/step_list.hpp"
#include "cli/suggest.hpp"
#include "cli/verb_options.hpp"
#include "cli/version.hpp"
#include "shrink/shrink.hpp"
#include "skew/check.hpp"
#include "skew/heat_map.hpp"

namespace holdfast::cli {
namespace {

using skew::Property;

constexpr std::uint64_t kMostCases = 10'000'000;
constexpr std::uint64_t kMostDriftPpm = 500'000;

/// What is to be checked, as read from the command line.
struct SkewRequest {
  skew::CheckOptions options;
  std::string reproduce;  ///< The command that checks the same.
};

class SkewProgress : public skew::CheckProgress {
 public:
  SkewProgress(Output& out, std::optional<std::uint64_t> limitNs) : out_(out), limitNs_(limitNs) {}
  bool judged(std::uint64_t judged, std::uint64_t cases) override {
    if (out_.wantsProgress()) {
      out_.progress(
          fmt::format("{} of {} cases, {}", grouped(judged), grouped(cases), elapsed(watch_.elapsed())));
    }
    const auto spent = static_cast<std::uint64_t>(watch_.elapsed().count());
    return !InterruptGuard::requested() && (!limitNs_ || spent < *limitNs_);
  }
  std::chrono::nanoseconds elapsedTime() const { return watch_.elapsed(); }

 private:
  Output& out_;
  std::optional<std::uint64_t> limitNs_;
  Stopwatch watch_;
};

std::expected<skew::Properties, Failure> propertiesOf(const std::vector<std::string>& names) {
  if (names.empty()) return skew::Properties::all();
  skew::Properties properties;
  for (const std::string& name : names) {
    Property property{};
    if (!obs::enumFromName(name, property)) {
      const std::vector<std::string> known{"exclusion", "wall", "freshness", "anomalies", "liveness"};
      return std::unexpected(
          Failure{fmt::format("there is no property '{}'{}; expected {}", name.substr(0, 60),
                              didYouMean(name, known), fmt::join(known, ", "))});
    }
    properties.insert(property);
  }
  return properties;
}

/// Rules, and the protocol if it was set.
std::expected<void, Failure> readProtocol(const SkewArguments& arguments, skew::CheckOptions& options) {
  const auto rules = parseRules(arguments.without);
  if (!rules) return std::unexpected(badValue("--without", rules.error()));
  options.rules = *rules;
  if (arguments.settings.empty()) return {};
  for (const std::string& setting : arguments.settings) {
    if (setting.starts_with("protocol.")) continue;
    return std::unexpected(badValue(
        "--set", fmt::format("'{}' is drawn for each case; expected an option of the protocol, such as "
                             "protocol.maxDelegation=8s",
                             setting.substr(0, 60))));
  }
  scenarios::RunOptions base;
  base.faults.maxDriftPpb = 0;  // the bound of these cases follows from the margin that was set
  const auto set = applySettings(base, arguments.settings);
  if (!set) return std::unexpected(badValue("--set", set.error()));
  options.generator.protocol = set->protocol;
  return {};
}

std::expected<SkewRequest, Failure> requestOf(const Session& session, const SkewArguments& arguments) {
  SkewRequest request;
  skew::CheckOptions& options = request.options;
  const auto properties = propertiesOf(arguments.properties);
  if (!properties) return std::unexpected(properties.error());
  options.properties = *properties;
  const auto seed = parseSeed(arguments.seed);
  if (!seed) return std::unexpected(badValue("--seed", seed.error()));
  options.generator.seed = *seed;
  const auto cases = parseCount("the number of cases", arguments.cases, 1, kMostCases);
  if (!cases) return std::unexpected(badValue("--cases", cases.error()));
  options.cases = *cases;
  if (!arguments.onlyCase.empty()) {
    const auto only = parseCount("the number of a case", arguments.onlyCase, 0, kMostCases);
    if (!only) return std::unexpected(badValue("--case", only.error()));
    options.firstCase = *only;
    options.cases = 1;
  }
  if (!arguments.maxDrift.empty()) {
    const auto drift = parseCount("the bound of all rates in ppm", arguments.maxDrift, 0, kMostDriftPpm);
    if (!drift) return std::unexpected(badValue("--max-drift-ppm", drift.error()));
    options.generator.maxDriftPpb = static_cast<std::int64_t>(*drift) * 1'000;
  }
  options.generator.frozen = arguments.frozen;
  if (auto read = readProtocol(arguments, options); !read) return std::unexpected(read.error());
  const auto jobs = readJobs(arguments.jobs);
  if (!jobs) return std::unexpected(jobs.error());
  options.jobs = *jobs;

  request.reproduce = shellWord(session.program) + " skew";
  for (const std::string& name : arguments.properties) request.reproduce += " " + name;
  request.reproduce += fmt::format(" --seed {}", *seed);
  if (!arguments.maxDrift.empty()) request.reproduce += " --max-drift-ppm " + arguments.maxDrift;
  if (arguments.frozen) request.reproduce += " --frozen";
  for (const std::string& rule : rulesOff(options.rules)) request.reproduce += " --without " + rule;
  for (const std::string& setting : arguments.settings) request.reproduce += " --set " + shellWord(setting);
  return request;
}

void announceSkew(Session& session, const SkewRequest& request) {
  const skew::CheckOptions& options = request.options;
  const std::string cases = options.cases == 1 ? fmt::format("case {}", options.firstCase)
                                               : fmt::format("cases {}..{}", options.firstCase,
                                                             options.firstCase + options.cases - 1);
  session.out.say(fmt::format("{} skew seed {} {}", toolLine(), options.generator.seed, cases));
  for (const std::string& rule : rulesOff(options.rules)) {
    session.out.say(
        fmt::format("rule off    {}: {}", rule, protocol::withoutRule(*protocol::ruleFromName(rule))));
  }
  for (std::size_t i = 0; i < skew::kProperties; ++i) {
    const auto property = static_cast<Property>(i);
    if (!options.properties.contains(property)) continue;
    session.out.say(fmt::format("property    {}: {}", obs::nameOf(property), skew::wordsOf(property)));
  }
}

/// A line for each group, or more where it is long.
void sayDistribution(Session& session, const skew::Distribution& distribution) {
  for (const skew::CountGroup& group : distribution.groups()) {
    std::vector<std::string> items;
    for (const auto& [name, count] : group.counts) {
      items.push_back(fmt::format("{}{} {}", items.empty() ? group.title + ": " : "", name, grouped(count)));
    }
    for (const std::string& line : paragraph("", items, kWidth)) session.out.say(line);
  }
}

Json distributionJson(const skew::Distribution& distribution) {
  Json json = Json::array();
  for (const skew::CountGroup& group : distribution.groups()) {
    Json counts = Json::array();
    for (const auto& [name, count] : group.counts) counts.push_back({{"name", name}, {"count", count}});
    json.push_back({{"title", group.title}, {"counts", std::move(counts)}});
  }
  return json;
}

std::string brokenText(const skew::Broken& broken) {
  const std::string_view property = obs::nameOf(broken.property);
  if (broken.signature) return fmt::format("{}: {}", property, checkers::describe(*broken.signature));
  return fmt::format("{}: with other wall clocks somebody is granted, admitted or refused otherwise",
                     property);
}

/// Why the failure may be no fault of the protocol; "" if it is one.
std::string excessText(const skew::Generated& made) {
  if (made.insideAssumption()) return "";
  if (made.driftPpb > made.coveredPpb) {
    const protocol::ProtocolOptions& protocol = made.whole.options.protocol;
    return fmt::format("rates are up to {} ppm off, where a skew of {} over {} covers {} ppm (CK-3)",
                       skew::ppmText(made.driftPpb), elapsed(std::chrono::nanoseconds(protocol.skew.ns)),
                       elapsed(std::chrono::nanoseconds(protocol.maxDelegation.ns)),
                       skew::ppmText(made.coveredPpb));
  }
  return "a machine stopped together with its monotonic clock, which goes on by assumption (CK-1)";
}

class SkewShrinkProgress : public shrink::ShrinkProgress {
 public:
  explicit SkewShrinkProgress(Output& out) : out_(out) {}
  bool reached(std::string_view stage, const shrink::Size& size, std::uint64_t runs) override {
    if (out_.wantsProgress()) {
      out_.progress(fmt::format("{}: {}, {}", stage, counted(size.steps(), "step"), counted(runs, "run")));
    }
    return !InterruptGuard::requested();
  }

 private:
  Output& out_;
};

/// The failing case as small as it gets, and the report of its run.
struct SmallCase {
  shrink::Case whole;
  scenarios::RunReport report;
  shrink::Size before;
};

SmallCase smallest(Session& session, const skew::CheckOptions& options, const skew::FailedCase& failed,
                   bool shrinks) {
  SmallCase small{failed.made.whole, {}, shrink::sizeOf(failed.made.whole)};
  if (shrinks) {
    SkewShrinkProgress progress(session.out);
    shrink::ShrinkOptions how;
    how.rules = options.rules;
    how.jobs = options.jobs;
    how.progress = &progress;
    how.signature = failed.broken.front().signature;
    if (!how.signature) {
      how.fails = [&options](const shrink::Case& candidate) {
        skew::Properties wall;
        wall.insert(Property::wall);
        return !skew::judge(candidate, options.rules, wall).broken.empty();
      };
    }
    if (auto result = shrink::shrink(small.whole, how)) {
      return {std::move(result->smallest), std::move(result->report), result->before};
    }
  }
  small.report = scenarios::runPlan(small.whole.options, options.rules, small.whole.plan);
  return small;
}

int exitCodeOf(const skew::Broken& broken, const scenarios::RunReport& report) {
  return broken.signature ? report.exitCode() : kExitSafety;
}

/// Says what failed, saves it, and completes the object for machines. Gives the exit code.
int reportFailure(Session& session, const SkewArguments& arguments, const SkewRequest& request,
                  const skew::FailedCase& failed, Json& json) {
  const skew::Broken& first = failed.broken.front();
  for (const skew::Broken& broken : failed.broken) {
    session.out.say(fmt::format("broken      by case {} ({}) {}", failed.made.index,
                                obs::nameOf(failed.made.family), brokenText(broken)));
  }
  const std::string excess = excessText(failed.made);
  if (!excess.empty()) session.out.say("assumption  left: " + excess);
  const SmallCase small = smallest(session, request.options, failed, !arguments.noShrink);
  const shrink::Size after = shrink::sizeOf(small.whole);
  if (!arguments.noShrink) {
    session.out.say(fmt::format("shrunk      from {} to {} on {}", counted(small.before.steps(), "step"),
                                counted(after.steps(), "step"), counted(after.nodes, "node")));
    for (const std::string& line : stepLines(small.whole.plan, namesIn(small.report))) session.out.say(line);
  }
  reportViolations(session, small.report);

  Subject subject;
  subject.rules = request.options.rules;
  subject.options = small.whole.options;
  subject.seed = small.whole.options.seed;
  subject.plan = small.whole.plan;
  RunFacts facts;
  facts.reproduce = request.reproduce + fmt::format(" --case {}", failed.made.index);
  if (!arguments.save.off) {
    const std::string name = fmt::format("skew-{}-{}-{}", obs::nameOf(first.property),
                                         request.options.generator.seed, failed.made.index);
    Outcome outcome = outcomeOf(small.report);
    const auto saved = saveRun(arguments.save.out, subject, outcome, facts, name);
    if (saved) {
      facts.saved = *saved;
      const std::string plan = shellWord(*saved + "/plan.json");
      facts.reproduce = first.signature
                            ? fmt::format("{} run --plan {}", shellWord(session.program), plan)
                            : fmt::format("{} skew wall --plan {}", shellWord(session.program), plan);
      session.out.say("saved       " + *saved);
    } else {
      session.out.say("not saved   " + saved.error().text);
    }
  }
  session.out.say("reproduce   " + facts.reproduce);

  Json all = Json::array();
  for (const skew::Broken& broken : failed.broken) {
    Json one{{"property", obs::nameOf(broken.property)}};
    if (broken.signature) {
      one["checker"] = obs::nameOf(broken.signature->checker);
      one["rule"] = checkers::ruleOf(broken.signature->anomaly);
      one["anomaly"] = obs::nameOf(broken.signature->anomaly);
    }
    all.push_back(std::move(one));
  }
  json["broken"] = std::move(all);
  json["case"] = failed.made.index;
  json["family"] = obs::nameOf(failed.made.family);
  json["insideAssumption"] = failed.made.insideAssumption();
  json["stepsBefore"] = small.before.steps();
  json["stepsAfter"] = after.steps();
  if (!facts.saved.empty()) json["saved"] = facts.saved;
  json["reproduce"] = facts.reproduce;
  return exitCodeOf(first, small.report);
}

Result runCheck(Session& session, const SkewArguments& arguments) {
  const auto request = requestOf(session, arguments);
  if (!request) return std::unexpected(request.error());
  std::optional<std::uint64_t> limit;
  if (!arguments.timeLimit.empty()) {
    const auto parsed = parseRealTime(arguments.timeLimit);
    if (!parsed) return std::unexpected(badValue("--time-limit", parsed.error()));
    limit = *parsed;
  }
  announceSkew(session, *request);
  const InterruptGuard guard;
  SkewProgress progress(session.out, limit);
  skew::CheckOptions options = request->options;
  options.progress = &progress;
  const skew::CheckReport report = skew::check(options);
  const std::chrono::nanoseconds real = progress.elapsedTime();

  const skew::Distribution& distribution = report.distribution;
  sayDistribution(session, distribution);
  if (distribution.outside() > 0) {
    std::string line = "assumption  left by the clocks of " + counted(distribution.outside(), "case");
    if (distribution.largestExcessPpb() > 0) {
      line += fmt::format("; rates exceed what skew covers by up to {} ppm",
                          skew::ppmText(distribution.largestExcessPpb()));
    }
    session.out.say(line);
  }
  Json json{{"is", "skew"},
            {"seed", fmt::to_string(options.generator.seed)},
            {"rulesOff", rulesOff(options.rules)}};
  Json names = Json::array();
  for (std::size_t i = 0; i < skew::kProperties; ++i) {
    if (options.properties.contains(static_cast<Property>(i)))
      names.push_back(obs::nameOf(static_cast<Property>(i)));
  }
  json["properties"] = std::move(names);
  json["cases"] = report.judged;
  json["outsideAssumption"] = distribution.outside();
  json["admissions"] = distribution.admissions();
  json["distribution"] = distributionJson(distribution);
  int exitCode = kExitHeld;
  if (report.failed) {
    exitCode = reportFailure(session, arguments, *request, *report.failed, json);
  } else if (distribution.admissions() == 0 || report.stopped) {
    exitCode = kExitInconclusive;
  }
  const std::string_view word = report.failed ? "broken" : exitCode == kExitHeld ? "held" : "inconclusive";
  json["verdict"] = word;
  json["partial"] = report.stopped;
  json["exitCode"] = exitCode;
  json["realNs"] = real.count();
  json["jobs"] = options.jobs;
  session.out.say(fmt::format("verdict     {}: {} judged in {}, {}{}", word, counted(report.judged, "case"),
                              elapsed(real), counted(distribution.admissions(), "admission"),
                              report.stopped ? ", ended before the last case" : ""));
  session.out.object(json);
  return exitCode;
}

/// Judges a plan that was saved.
Result runPlanned(Session& session, const SkewArguments& arguments) {
  const auto source = readPlanSource(arguments.plan);
  if (!source) return std::unexpected(source.error());
  if (!source->subject.isWorkload()) {
    return std::unexpected(
        badValue("--plan", fmt::format("{}:1:1: the file is about {}; expected a plan of the random workload",
                                       arguments.plan, source->subject.name())));
  }
  const auto properties = propertiesOf(arguments.properties);
  if (!properties) return std::unexpected(properties.error());
  const auto rules = parseRules(arguments.without);
  if (!rules) return std::unexpected(badValue("--without", rules.error()));
  Subject subject = source->subject;
  for (const std::string& rule : rulesOff(*rules)) subject.rules.switchOff(*protocol::ruleFromName(rule));
  shrink::Case whole{subject.options, *subject.plan};
  whole.options.seed = subject.seed;
  const skew::Judgement judgement = skew::judge(whole, subject.rules, *properties);
  reportViolations(session, judgement.report);
  Json all = Json::array();
  for (const skew::Broken& broken : judgement.broken) {
    session.out.say("broken      " + brokenText(broken));
    all.push_back({{"property", obs::nameOf(broken.property)}});
  }
  const int exitCode = judgement.broken.empty()
                           ? judgement.report.coverage.admissions() == 0 ? kExitInconclusive : kExitHeld
                           : exitCodeOf(judgement.broken.front(), judgement.report);
  const std::string_view word = !judgement.broken.empty() ? "broken"
                                : exitCode == kExitHeld   ? "held"
                                                          : "inconclusive";
  session.out.say(fmt::format("verdict     {}", word));
  session.out.object({{"is", "skew"},
                      {"plan", arguments.plan},
                      {"broken", std::move(all)},
                      {"verdict", word},
                      {"exitCode", exitCode}});
  return exitCode;
}

std::expected<void, Failure> refuseIdleOptions(const CLI::App& verb, const SkewArguments& a) {
  if (a.map && !a.properties.empty()) {
    return std::unexpected(Failure{fmt::format("--map is about exclusion alone; expected no '{}' with it",
                                               a.properties.front().substr(0, 60))});
  }
  const bool planned = !a.plan.empty();
  return refuseIdle(
      verb,
      {{{"--lease", "--margin", "--svg"}, !a.map, "shapes the map; expected --map with it"},
       {{"--force"}, a.svg.empty(), "replaces the file of --svg; expected --map --svg FILE with it"},
       {{"--cases", "--case", "--max-drift-ppm", "--frozen", "--plan", "--set", "--no-shrink", "--time-limit",
         "--out", "--no-save"},
        a.map,
        "is about cases that are judged, and --map searches by cells; expected it without --map"},
       {{"--cases", "--seed", "--case", "--max-drift-ppm", "--frozen", "--set", "--no-shrink", "--time-limit",
         "--jobs", "--out", "--no-save"},
        planned,
        "is about cases that are generated, and --plan judges one that is there; expected it without --plan"},
       {{"--cases"}, !a.onlyCase.empty(), "is how many, and --case picks one; expected one of them"},
       {{"--out"}, a.save.off, kNothingIsSaved}});
}

Result runSkew(Session& session, const SkewArguments& arguments) {
  if (arguments.map) return runSkewMap(session, arguments);
  if (!arguments.plan.empty()) return runPlanned(session, arguments);
  return runCheck(session, arguments);
}

}  // namespace

Action declareSkew(CLI::App& app) {
  auto arguments = std::make_shared<SkewArguments>();
  app.description(
      "Check what must hold whatever the clocks do, over generated histories of every node's clocks: drift, "
      "slews, steps, wall clocks set by hours, pauses, machines that stop. A case that fails is shrunk and "
      "saved "
      "as a plan.");
  app.add_option("property", arguments->properties,
                 "exclusion, wall, freshness, anomalies or liveness; all of them by default")
      ->type_name("PROPERTY");
  app.add_option("--cases", arguments->cases, "how many cases")->type_name("N")->capture_default_str();
  app.add_option("--seed", arguments->seed, "the seed that cases are drawn from")
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--case", arguments->onlyCase, "judge only the case with this number")->type_name("N");
  app.add_option(
         "--max-drift-ppm", arguments->maxDrift,
         "the bound of all rates; by default what the skew of each case covers. A larger one leaves the "
         "assumption (CK-3)")
      ->type_name("P");
  app.add_flag("--frozen", arguments->frozen,
               "let machines stop together with their monotonic clocks, which leaves the assumption (CK-1)");
  app.add_option("--plan", arguments->plan, "judge this plan file instead of generated cases")
      ->type_name("FILE");
  app.add_option("--without", arguments->without,
                 "switch a safety rule off, by name or id (DG4_AnchorAtSend, DG-4); may be repeated")
      ->type_name("RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option(
         "--set", arguments->settings,
         "give every case this protocol instead of one that is drawn (protocol.maxDelegation=30s); may be "
         "repeated")
      ->type_name("OPTION=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--no-shrink", arguments->noShrink, "save a failing case as it was generated");
  app.add_option("--time-limit", arguments->timeLimit, "end after this much real time (500ms, 30s, 10min)")
      ->type_name("TIME");
  addMapOptions(app, *arguments);
  addJobsOption(app, arguments->jobs);
  addSaveOptions(app, arguments->save);
  app.footer(
      "Exit code: 0 held, 1 a property of safety is broken, 2 one of liveness, 3 inconclusive or "
      "interrupted,\n"
      "64 bad usage or a file that can not be written, 70 internal error. Without a rule that keeps clocks "
      "from harm (--without DG-4) a case "
      "fails.\n\n"
      "Examples:\n  holdfast skew --cases 60\n"
      "  holdfast skew --map --lease 1s 8s --margin 10ms 400ms --svg map.svg");
  return [arguments, &app](Session& session) -> Result {
    if (auto idle = refuseIdleOptions(app, *arguments); !idle) return std::unexpected(idle.error());
    return runSkew(session, *arguments);
  };
}

}  // namespace holdfast::cli
