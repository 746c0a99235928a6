// The report of a sweep as a page: everything inline, so that it opens without a network and can be kept as
// one file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/coverage_report.hpp"
#include "cli/figures.hpp"
#include "cli/html_page.hpp"
#include "cli/run_report.hpp"
#include "cli/sweep_outputs.hpp"
#include "pictures/scene.hpp"
#include "scenarios/must_reach.hpp"

namespace holdfast::cli {
namespace {

using checkers::PathCost;
using checkers::WaitTimes;
using scenarios::SweepReport;

struct PathLine {
  std::string_view name;
  std::string_view colour;
  const PathCost& cost;
};

std::array<PathLine, 4> pathsOf(const checkers::CostTable& costs) {
  return {PathLine{"cached", "#4878a8", costs.cached}, PathLine{"virgin", "#55a868", costs.virgin},
          PathLine{"clean", "#dd8452", costs.clean}, PathLine{"recovery", "#c44e52", costs.recovery}};
}

/// The upper end of place `i` of a histogram of waits, in ns.
std::int64_t upperEnd(std::size_t i) { return i == 0 ? 0 : (std::int64_t{1} << i) - 1; }

/// The wait at or below which `percent` of the cases lie, to within a factor of two and no more than the
/// longest.
std::int64_t percentile(const WaitTimes& wait, std::uint64_t percent) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : wait.histogram) all += count;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < wait.histogram.size(); ++i) {
    seen += wait.histogram[i];
    if (all > 0 && seen * 100 >= all * percent) return std::min(upperEnd(i), wait.mostNs);
  }
  return wait.mostNs;
}

std::string durationCell(std::int64_t ns) {
  return fmt::format("<td class=\"n\">{}</td>", elapsed(std::chrono::nanoseconds(ns)));
}

std::string numberCell(std::uint64_t number) {
  return fmt::format("<td class=\"n\">{}</td>", grouped(number));
}

/// Horizontal bars on a logarithmic scale, so that the rare is seen beside the common.
std::string bars(const std::vector<std::pair<std::string, std::uint64_t>>& rows) {
  std::uint64_t most = 1;
  for (const auto& row : rows) most = std::max(most, row.second);
  std::string svg = fmt::format("<svg width=\"860\" height=\"{}\" role=\"img\">", rows.size() * 20 + 4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [name, count] = rows[i];
    const double share = std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
    const auto width = static_cast<int>(share * 420.0);
    const std::size_t y = i * 20;
    svg += fmt::format(
        "<text x=\"250\" y=\"{0}\" text-anchor=\"end\">{1}</text><rect class=\"bar\" x=\"258\" y=\"{2}\" "
        "width=\"{3}\" height=\"14\"><title>{1}: {4}</title></rect><text x=\"{5}\" y=\"{0}\">{4}</text>",
        y + 14, pictures::escaped(name), y + 3, width, grouped(count), 264 + width);
  }
  return svg + "</svg>\n";
}

/// The share of waits at or below a time, a line for each path; time on a logarithmic scale from 1 us to 100
/// s.
std::string waitPlot(const checkers::CostTable& costs) {
  constexpr double kLeft = 50;
  constexpr double kWidth = 700;
  constexpr double kHeight = 220;
  const auto x = [](double ns) {
    return kLeft + kWidth * std::clamp((std::log10(std::max(ns, 1.0)) - 3) / 8, 0.0, 1.0);
  };
  std::string svg = "<svg width=\"860\" height=\"270\" role=\"img\">";
  const std::array<std::string_view, 9> kTicks = {"1 us",   "10 us", "100 us", "1 ms", "10 ms",
                                                  "100 ms", "1 s",   "10 s",   "100 s"};
  for (std::size_t i = 0; i < kTicks.size(); ++i) {
    const double at = x(std::pow(10.0, static_cast<double>(i) + 3));
    svg += fmt::format(
        "<line class=\"axis\" x1=\"{0:.0f}\" x2=\"{0:.0f}\" y1=\"10\" y2=\"{1:.0f}\" "
        "stroke-opacity=\".3\"/><text "
        "x=\"{0:.0f}\" y=\"{2:.0f}\" text-anchor=\"middle\">{3}</text>",
        at, kHeight + 10, kHeight + 28, kTicks[i]);
  }
  svg +=
      "<text x=\"44\" y=\"18\" text-anchor=\"end\">100%</text><text x=\"44\" y=\"230\" "
      "text-anchor=\"end\">0%</text>";
  double legend = kLeft;
  for (const PathLine& path : pathsOf(costs)) {
    std::uint64_t all = 0;
    for (const std::uint64_t count : path.cost.wait.histogram) all += count;
    if (all == 0) continue;
    std::string points;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < path.cost.wait.histogram.size(); ++i) {
      seen += path.cost.wait.histogram[i];
      const double share = static_cast<double>(seen) / static_cast<double>(all);
      points +=
          fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(upperEnd(i))), 10 + kHeight * (1 - share));
    }
    svg += fmt::format(
        "<polyline fill=\"none\" stroke=\"{0}\" stroke-width=\"2\" "
        "points=\"{1}\"><title>{2}</title></polyline><rect "
        "x=\"{3:.0f}\" y=\"254\" width=\"12\" height=\"12\" fill=\"{0}\"/><text x=\"{4:.0f}\" "
        "y=\"265\">{2}</text>",
        path.colour, points, path.name, legend, legend + 17);
    legend += 100;
  }
  return svg + "</svg>\n";
}

std::string countsTable(const SweepReport& report) {
  const std::pair<std::string_view, std::uint64_t> rows[] = {
      {"seeds run", report.ran},
      {"held", report.held},
      {"safety violations", report.safetyViolations},
      {"liveness violations", report.livenessViolations},
      {"inconclusive", report.inconclusive},
      {"died", report.died},
      {"run twice", report.rechecked},
      {"not deterministic", report.diverged},
      {"admissions", report.coverage.admissions()},
      {"events", report.events},
      {"messages", report.messages},
      {"observations", report.observations}};
  std::string text = "<table>";
  for (const auto& [name, count] : rows)
    text += fmt::format("<tr><td>{}</td>{}</tr>", name, numberCell(count));
  return text + "</table>\n";
}

std::string pointsTable(const SweepRecord& record) {
  std::string text =
      "<table><tr><th>point</th><th>seeds</th><th>first seed</th><th>budget</th><th></th></tr>";
  for (const scenarios::MustReachPoint& point : scenarios::mustReachPoints(record.report)) {
    const bool missed = point.seeds == 0 && point.judgedAfter(record.report.ran);
    const std::string_view remark = point.seeds > 0 ? "" : missed ? "missed" : "not judged";
    text += fmt::format("<tr><td>{}</td>{}<td class=\"n\">{}</td>{}<td class=\"{}\">{}</td></tr>",
                        pictures::escaped(point.name), numberCell(point.seeds),
                        point.seeds > 0 ? fmt::to_string(point.firstSeed) : "-", numberCell(point.budget),
                        missed ? "bad" : "dim", remark);
  }
  return text + "</table>\n";
}

std::string routesTable(const SweepReport& report) {
  std::string text =
      "<table><tr><th>limitation</th><th>findings</th><th>seeds</th><th>first seed</th><th>by</th></tr>";
  for (const checkers::Route route : allRoutes()) {
    const auto& reached = report.routes[static_cast<std::size_t>(route)];
    text += fmt::format(
        "<tr><td>{}</td>{}{}<td class=\"n\">{}</td><td>{}</td></tr>", pictures::escaped(routeTitle(route)),
        numberCell(reached.count), numberCell(reached.seeds),
        reached.count > 0 ? fmt::to_string(reached.firstSeed) : "-", pictures::escaped(meaningOf(route)));
  }
  return text + "</table>\n";
}

std::string waitsTable(const checkers::CostTable& costs) {
  std::string text =
      "<table><tr><th>path</th><th>acquisitions</th><th>50%</th><th>90%</th><th>99%</th><th>longest</th></"
      "tr>";
  for (const PathLine& path : pathsOf(costs)) {
    const WaitTimes& wait = path.cost.wait;
    text += fmt::format("<tr><td>{}</td>{}{}{}{}{}</tr>", path.name, numberCell(path.cost.acquisitions),
                        durationCell(percentile(wait, 50)), durationCell(percentile(wait, 90)),
                        durationCell(percentile(wait, 99)), durationCell(wait.mostNs));
  }
  return text + "</table>\n";
}

/// How many acquisitions by each path took how much of something; nothing of a path that never took any.
std::string amountPlots(const checkers::CostTable& costs, checkers::Amount PathCost::* amount,
                        std::string_view unit) {
  std::string text;
  for (const PathLine& path : pathsOf(costs)) {
    const checkers::Amount& taken = path.cost.*amount;
    if (taken.sum == 0) continue;
    std::vector<std::pair<std::string, std::uint64_t>> rows;
    for (std::size_t i = 0; i < taken.histogram.size(); ++i) {
      const bool last = i + 1 == taken.histogram.size();
      if (const std::uint64_t count = taken.histogram[i]; count > 0) {
        rows.emplace_back(fmt::format("{}{} {}", i, last ? " or more" : "", unit), count);
      }
    }
    text += fmt::format("<h3>{}</h3>{}", path.name, bars(rows));
  }
  return text;
}

std::string costPlots(const checkers::CostTable& costs) {
  std::string text = "<h2>Unicast messages an acquisition</h2>\n";
  text += amountPlots(costs, &PathCost::messages, "messages");
  text += "<h2>Durable release entries an acquisition</h2>\n";
  text += amountPlots(costs, &PathCost::releaseCommits, "entries");
  text += "<h2>Messages of barriers an acquisition</h2>\n";
  text += amountPlots(costs, &PathCost::barrierMessages, "messages");
  text += "<h2>Durable barrier entries an acquisition</h2>\n";
  return text + amountPlots(costs, &PathCost::barrierEntries, "entries");
}

std::string percentilePlot(const checkers::CostTable& costs) {
  std::vector<std::pair<std::string, std::uint64_t>> rows;
  for (const PathLine& path : pathsOf(costs)) {
    if (path.cost.acquisitions == 0) continue;
    for (const std::uint64_t percent : {50U, 90U, 99U}) {
      rows.emplace_back(fmt::format("{}, {}%, us", path.name, percent),
                        static_cast<std::uint64_t>(percentile(path.cost.wait, percent) / 1'000));
    }
  }
  return bars(rows);
}

std::string countPlot(const SweepReport& report) {
  std::vector<std::pair<std::string, std::uint64_t>> rows;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<scenarios::Milestone>>([&](auto milestone) {
    if (const std::uint64_t count = report.coverage.count(milestone.value); count > 0) {
      rows.emplace_back(milestone.name, count);
    }
  });
  return bars(rows);
}

std::string routePlot(const SweepReport& report) {
  std::vector<std::pair<std::string, std::uint64_t>> rows;
  for (const checkers::Route route : allRoutes()) {
    rows.emplace_back(routeTitle(route), report.routes[static_cast<std::size_t>(route)].count);
  }
  return bars(rows);
}

std::string failuresList(const Session& session, const SweepRecord& record) {
  if (record.report.failures.empty()) return "<p>Every seed held.</p>\n";
  Subject subject = subjectOf(record);
  const traces::Names known = namesOf(subject);
  std::string text;
  for (const scenarios::FailedSeed& failure : record.report.failures) {
    subject.seed = failure.seed;
    text += fmt::format("<p><b>seed {}</b>: {}</p><pre>{}</pre>\n", failure.seed,
                        pictures::escaped(failureText(failure, {known.nodes, known.keys})),
                        pictures::escaped(commandOf(session.program, subject)));
  }
  return text;
}

std::vector<std::pair<std::string, std::uint64_t>> refusalRows(const scenarios::Coverage& coverage) {
  std::vector<std::pair<std::string, std::uint64_t>> rows;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<obs::ErrorClass>>([&](auto error) {
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<obs::Cause>>([&](auto cause) {
      const std::uint64_t count = coverage.refusals(error.value, cause.value);
      if (count > 0) rows.emplace_back(fmt::format("{} {}", error.name, cause.name), count);
    });
  });
  return rows;
}

}  // namespace

std::string htmlText(const Session& session, const SweepRecord& record, const SweepFacts& facts) {
  const SweepReport& report = record.report;
  std::string page = pageHead("holdfast sweep");
  page +=
      fmt::format("<h1>holdfast sweep from seed {}</h1>\n<p class=\"{}\">{}</p>\n", report.firstSeed(),
                  report.exitCode() == kExitHeld ? "good" : "bad", pictures::escaped(sweepVerdict(report)));
  page +=
      fmt::format("<p class=\"dim\">{}; {} on {}; {} simulated{}</p>\n", pictures::escaped(record.tool),
                  elapsed(facts.real), counted(record.jobs, "job"),
                  elapsed(std::chrono::nanoseconds(report.simulated.ns)),
                  record.rulesOff.empty() ? std::string()
                                          : fmt::format("; rules off: {}", fmt::join(record.rulesOff, ", ")));
  if (const std::string partial = partiality(report, facts); !partial.empty()) {
    page += fmt::format("<p class=\"bad\">{}</p>\n", pictures::escaped(partial));
  }
  page += countsTable(report);
  page += "<h2>Seeds that did not hold</h2>\n" + failuresList(session, record);
  page += "<p class=\"dim\">Bars are on a logarithmic scale.</p>\n";
  page += "<h2>Documented limitations, by findings</h2>\n" + routePlot(report) + routesTable(report);
  page += "<h2>Refusals by error class and cause</h2>\n" + bars(refusalRows(report.coverage));
  page += "<h2>Waits from call to admission</h2>\n" + waitPlot(report.costs) + percentilePlot(report.costs) +
          waitsTable(report.costs);
  page += costPlots(report.costs);
  page += "<h2>What happened, and how often</h2>\n" + countPlot(report);
  page += "<h2>Points that must be reached</h2>\n" + pointsTable(record);
  page += fmt::format("<h2>Again</h2>\n<pre>{}</pre>\n</body></html>\n", pictures::escaped(facts.reproduce));
  return page;
}

}  // namespace holdfast::cli
