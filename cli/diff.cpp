// holdfast diff: where two recorded runs part, and what differs between them by kind.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/recording.hpp"
#include "cli/run_report.hpp"
#include "cli/verb.hpp"
#include "traces/difference.hpp"
#include "traces/json.hpp"
#include "traces/trace.hpp"
#include "traces/verify.hpp"

namespace holdfast::cli {
namespace {

struct DiffArguments {
  std::string first;
  std::string second;
};

// How many differing members of a header or plan are printed.
constexpr std::size_t kMostMembers = 12;

/// The members in which two JSON values differ: "/options/nodes: 3, 5".
std::vector<std::string> membersThatDiffer(const std::string& root, const nlohmann::json& first,
                                           const nlohmann::json& second) {
  std::vector<std::string> members;
  const auto shown = [](const nlohmann::json& json, const std::string& path) {
    const nlohmann::json::json_pointer pointer(path);
    if (!json.contains(pointer)) return std::string("nothing");
    const std::string text = json.at(pointer).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
  };
  for (const nlohmann::json& step : nlohmann::json::diff(first, second)) {
    const std::string path = step.at("path").get<std::string>();
    members.push_back(fmt::format("{}{}: {} | {}", root, path, shown(first, path), shown(second, path)));
  }
  return members;
}

std::vector<std::string> headerDifferences(const traces::Trace& first, const traces::Trace& second) {
  std::vector<std::string> lines;
  const auto compare = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a != b) lines.push_back(fmt::format("{}: {} | {}", what, a, b));
  };
  const traces::Header& a = first.header;
  const traces::Header& b = second.header;
  compare("tool", a.tool, b.tool);
  compare("compiler", a.compiler, b.compiler);
  compare("scenario", a.scenario, b.scenario);
  compare("seed", fmt::to_string(a.seed), fmt::to_string(b.seed));
  const auto ruleNames = [](const std::vector<std::string>& off) {
    return off.empty() ? std::string("none") : fmt::format("{}", fmt::join(off, ", "));
  };
  compare("rules off", ruleNames(a.rulesOff), ruleNames(b.rulesOff));
  compare("vocabulary", traces::hexHash(a.vocabulary), traces::hexHash(b.vocabulary));
  compare("nodes", fmt::format("{}", fmt::join(a.names.nodes, ", ")),
          fmt::format("{}", fmt::join(b.names.nodes, ", ")));
  compare("keys", fmt::format("{}", fmt::join(a.names.keys, ", ")),
          fmt::format("{}", fmt::join(b.names.keys, ", ")));
  for (std::string& member : membersThatDiffer("options", a.options, b.options))
    lines.push_back(std::move(member));
  for (std::string& member : membersThatDiffer("plan", first.plan, second.plan))
    lines.push_back(std::move(member));
  for (std::string& member : membersThatDiffer("verdict", first.ending.verdict, second.ending.verdict)) {
    lines.push_back(std::move(member));
  }
  return lines;
}

void printKinds(Session& session, const std::vector<traces::KindDifference>& kinds) {
  if (kinds.empty()) return;
  session.out.print("");
  session.out.print(
      fmt::format("{:<22}{:>10}{:>10}{:>14}{:>14}", "kind", "first", "second", "only first", "only second"));
  for (const traces::KindDifference& kind : kinds) {
    session.out.print(fmt::format("{:<22}{:>10}{:>10}{:>14}{:>14}", kind.kind, kind.first, kind.second,
                                  kind.onlyFirst, kind.onlySecond));
    session.out.object({{"is", "kindDifference"},
                        {"kind", kind.kind},
                        {"first", kind.first},
                        {"second", kind.second},
                        {"onlyFirst", kind.onlyFirst},
                        {"onlySecond", kind.onlySecond}});
  }
}

Result diff(Session& session, const DiffArguments& arguments) {
  const auto first = traces::readTrace(arguments.first);
  if (!first) return std::unexpected(unreadable(arguments.first, first.error()));
  const auto second = traces::readTrace(arguments.second);
  if (!second) return std::unexpected(unreadable(arguments.second, second.error()));
  session.out.say("first       " + arguments.first);
  session.out.say("second      " + arguments.second);

  const std::vector<std::string> members = headerDifferences(*first, *second);
  for (std::size_t i = 0; i < std::min(members.size(), kMostMembers); ++i) session.out.print(members[i]);
  if (members.size() > kMostMembers) {
    session.out.print(
        fmt::format("and {} more members of header, plan or verdict", members.size() - kMostMembers));
  }
  traces::Verifier verifier(*first);
  for (const obs::Stamped& stamped : second->observations) verifier.on(stamped);
  verifier.finish();
  const auto& divergence = verifier.divergence();
  std::vector<traces::KindDifference> kinds;
  if (divergence) {
    // Lines of one text; the trace's own line numbers are two more than those of the events.
    std::string text = traces::describe(*divergence, first->header.names, {"first", "second"});
    while (text.ends_with('\n')) text.pop_back();
    session.out.print(text);
    kinds = traces::differencesByKind(first->observations, second->observations);
    printKinds(session, kinds);
  }
  const bool same = !divergence;
  session.out.say(same
                      ? fmt::format("compared    the same {} events", first->observations.size())
                      : fmt::format("compared    the same up to event {} of {} and {}", divergence->event - 1,
                                    first->observations.size(), second->observations.size()));
  session.out.object({{"is", "difference"},
                      {"same", same},
                      {"event", same ? Json() : Json(divergence->event)},
                      {"fields", same ? Json::array() : Json(divergence->fields)},
                      {"members", members},
                      {"firstEvents", first->observations.size()},
                      {"secondEvents", second->observations.size()}});
  return same ? kExitHeld : kExitDiverged;
}

}  // namespace

Action declareDiff(CLI::App& app) {
  auto arguments = std::make_shared<DiffArguments>();
  app.description(
      "Compare two traces, of two runs or of two builds: the members of header, plan and verdict that "
      "differ, the "
      "first event in which the runs differ with what happened around it, and a summary by kind of event.");
  app.add_option("first", arguments->first, "a trace that --trace wrote")->type_name("TRACE")->required();
  app.add_option("second", arguments->second, "another")->type_name("TRACE")->required();
  app.footer(
      "Exit code: 0 when all events are the same, 4 when they are not, 64 for a trace that is malformed or "
      "cut.\n\n"
      "Example:\n  holdfast run S-31 --trace before.jsonl && holdfast run S-31 --trace after.jsonl && "
      "holdfast diff before.jsonl after.jsonl");
  return [arguments](Session& session) { return diff(session, *arguments); };
}

}  // namespace holdfast::cli
