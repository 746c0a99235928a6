#include "cli/coverage_report.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/figures.hpp"
#include "cli/option_list.hpp"
#include "traces/kinds.hpp"

namespace holdfast::cli {
namespace {

using checkers::Route;
using obs::Cause;
using obs::ErrorClass;
using scenarios::Coverage;
using scenarios::Milestone;

/// Calls `visit(value)` for each enumerator in order.
template <class E, class Visit>
void forEachOf(Visit&& visit) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto enumerator) { visit(enumerator.value); });
}

/// "503" of lockUnavailable503: what callers see.
std::string_view statusOf(ErrorClass error) {
  const std::string_view name = obs::nameOf(error);
  const auto digits = name.find_first_of("0123456789");
  return digits == std::string_view::npos ? name : name.substr(digits);
}

/// Whether a milestone is told by the lines on admissions and refusals.
bool toldElsewhere(Milestone milestone) {
  const std::string_view name = obs::nameOf(milestone);
  return name.starts_with("admitted") || name.starts_with("refused");
}

}  // namespace

std::vector<std::string> refusalItems(const Coverage& coverage) {
  std::vector<std::string> items;
  forEachOf<ErrorClass>([&](ErrorClass error) {
    forEachOf<Cause>([&](Cause cause) {
      if (const std::uint64_t count = coverage.refusals(error, cause); count > 0) {
        items.push_back(fmt::format("{} {} {}", statusOf(error), obs::nameOf(cause), grouped(count)));
      }
    });
  });
  if (items.empty()) items.emplace_back("none");
  return items;
}

std::vector<std::string> admissionItems(const Coverage& coverage) {
  std::vector<std::string> items;
  forEachOf<obs::Path>([&](obs::Path path) {
    items.push_back(fmt::format("{} {}", obs::nameOf(path), grouped(coverage.admissions(path))));
  });
  return items;
}

std::vector<std::string> faultItems(const Coverage& coverage) {
  const std::pair<std::string_view, std::uint64_t> faults[] = {
      {"crashes", coverage.kind<obs::NodeCrashed>()},
      {"pauses", coverage.kind<obs::NodePaused>()},
      {"coordinators replaced", coverage.kind<obs::CoordinatorReplaced>()},
      {"links cut", coverage.kind<obs::LinkCut>()},
      {"messages lost", coverage.kind<obs::MessageLost>()},
      {"attempts aborted", coverage.kind<obs::AttemptAborted>()},
      {"applies failed", coverage.count(Milestone::applyFailed)},
      {"gaps", coverage.kind<obs::GapFound>()},
      {"clock rates set", coverage.kind<obs::ClockRate>()},
      {"wall clocks set", coverage.kind<obs::WallSet>()}};
  std::vector<std::string> items;
  for (const auto& [name, count] : faults) {
    if (count > 0) items.push_back(fmt::format("{} {}", name, grouped(count)));
  }
  if (items.empty()) items.emplace_back("none");
  return items;
}

std::vector<std::string> coverageParagraphs(const Coverage& coverage, std::size_t width) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& title, const std::vector<std::string>& items) {
    for (std::string& line : paragraph(title, items, width)) lines.push_back(std::move(line));
  };
  add("admissions", admissionItems(coverage));
  add("refusals", refusalItems(coverage));
  std::vector<std::string> milestones;
  forEachOf<Milestone>([&](Milestone milestone) {
    const std::uint64_t count = coverage.count(milestone);
    if (count > 0 && !toldElsewhere(milestone)) {
      milestones.push_back(fmt::format("{} {}", obs::nameOf(milestone), grouped(count)));
    }
  });
  if (milestones.empty()) milestones.emplace_back("none");
  add("milestones", milestones);
  add("faults", faultItems(coverage));
  return lines;
}

Json coverageJson(const Coverage& coverage) {
  Json admissions = Json::object();
  forEachOf<obs::Path>(
      [&](obs::Path path) { admissions[std::string(obs::nameOf(path))] = coverage.admissions(path); });
  Json refusals = Json::object();
  forEachOf<ErrorClass>([&](ErrorClass error) {
    Json causes = Json::object();
    forEachOf<Cause>([&](Cause cause) {
      if (const std::uint64_t count = coverage.refusals(error, cause); count > 0) {
        causes[std::string(obs::nameOf(cause))] = count;
      }
    });
    if (!causes.empty()) refusals[std::string(obs::nameOf(error))] = std::move(causes);
  });
  Json milestones = Json::object();
  forEachOf<Milestone>([&](Milestone milestone) {
    milestones[std::string(obs::nameOf(milestone))] = coverage.count(milestone);
  });
  Json kinds = Json::object();
  for (std::size_t kind = 0; kind < traces::kKindCount; ++kind) {
    kinds[std::string(traces::kKindNames[kind])] = coverage.kind(kind);
  }
  return {{"admissions", std::move(admissions)},
          {"refusals", std::move(refusals)},
          {"milestones", std::move(milestones)},
          {"observationKinds", std::move(kinds)}};
}

std::vector<std::string> milestoneTable(const scenarios::SweepReport& report) {
  std::vector<std::string> cells;
  forEachOf<Milestone>([&](Milestone milestone) {
    const auto& reached = report.milestones[static_cast<std::size_t>(milestone)];
    const std::uint64_t count = report.coverage.count(milestone);
    const std::string first = count > 0 ? fmt::to_string(reached.firstSeed) : "-";
    cells.push_back(fmt::format("{:<22} {:>12} {:>8} {:>8}", obs::nameOf(milestone), grouped(count),
                                grouped(reached.seeds), first));
  });
  const std::string head = fmt::format("{:<22} {:>12} {:>8} {:>8}", "milestone", "count", "seeds", "first");
  std::vector<std::string> lines{fmt::format("{}   {}", head, head)};
  // Two columns, each read from top to bottom.
  const std::size_t rows = (cells.size() + 1) / 2;
  for (std::size_t row = 0; row < rows; ++row) {
    lines.push_back(row + rows < cells.size() ? fmt::format("{}   {}", cells[row], cells[row + rows])
                                              : cells[row]);
  }
  return lines;
}

std::vector<std::string> routeTable(const scenarios::SweepReport& report) {
  std::vector<std::string> lines{
      fmt::format("{:<24} {:>10} {:>8} {:>8}", "limitation", "findings", "seeds", "first")};
  for (const Route route : allRoutes()) {
    const auto& reached = report.routes[static_cast<std::size_t>(route)];
    const std::string first = reached.count > 0 ? fmt::to_string(reached.firstSeed) : "-";
    lines.push_back(fmt::format("{:<24} {:>10} {:>8} {:>8}   {}", routeTitle(route), grouped(reached.count),
                                grouped(reached.seeds), first, meaningOf(route)));
  }
  return lines;
}

std::string_view meaningOf(Route route) {
  switch (route) {
    case Route::none:
      return "";
    case Route::l1a:
      return "a predecessor with a fast clock has stamped its write ahead, which outranks its successor's";
    case Route::l1b:
      return "a caller's timestamp from the future outranks the successor's write";
    case Route::l2a:
      return "recovery misses a write of a predecessor that crashed";
    case Route::l2b:
      return "recovery misses a write of a predecessor that can not be reached";
    case Route::l2c:
      return "recovery misses a write that settled after the barrier was measured";
    case Route::l2HomeRestart:
      return "a restarted home lost the set of a clean release";
    case Route::l2MembershipChange:
      return "a new membership lost the set of a clean release";
    case Route::l2Eviction:
      return "a home at its cap evicted the set of a clean release";
    case Route::lh4:
      return "a local successor reads before a write staged before the unlock is committed";
  }
  return "";
}

std::vector<Route> allRoutes() {
  std::vector<Route> routes;
  forEachOf<Route>([&](Route route) {
    if (route != Route::none) routes.push_back(route);
  });
  return routes;
}

std::string routeTitle(Route route) {
  const std::string_view id = checkers::limitationOf(route);
  std::size_t sharing = 0;
  for (const Route other : allRoutes()) sharing += checkers::limitationOf(other) == id ? 1 : 0;
  return sharing > 1 ? fmt::format("{} ({})", id, obs::nameOf(route)) : std::string(id);
}

}  // namespace holdfast::cli
