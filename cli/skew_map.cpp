// holdfast skew --map: where exclusion first breaks, by lease and margin.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/figures.hpp"
#include "cli/interrupt.hpp"
#include "cli/run_report.hpp"
#include "cli/skew.hpp"
#include "cli/target_file.hpp"
#include "cli/verb_options.hpp"
#include "cli/version.hpp"
#include "skew/boundary.hpp"
#include "skew/heat_map.hpp"

namespace holdfast::cli {
namespace {

using sim::Duration;
using skew::BoundaryCell;

constexpr std::size_t kMostLines = 40;

// A crystal that is off by 100 ppm, and NTP slewing it by 500 ppm.
constexpr std::int64_t kHardwarePpb = 600'000;

const std::vector<Duration> kLeases{sim::seconds(1),  sim::seconds(2),  sim::seconds(5),
                                    sim::seconds(10), sim::seconds(30), sim::seconds(60)};
const std::vector<Duration> kMargins{sim::milliseconds(1),   sim::milliseconds(10),  sim::milliseconds(50),
                                     sim::milliseconds(100), sim::milliseconds(250), sim::milliseconds(500),
                                     sim::seconds(1),        sim::seconds(2)};

/// Lengths of the grid as typed, ascending; the default ones if there are none.
std::expected<std::vector<Duration>, Failure> lengthsOf(std::string_view option,
                                                        const std::vector<std::string>& texts,
                                                        const std::vector<Duration>& otherwise) {
  if (texts.empty()) return otherwise;
  if (texts.size() > kMostLines) {
    return std::unexpected(
        badValue(option, fmt::format("{} values; expected at most {}", texts.size(), kMostLines)));
  }
  std::vector<Duration> lengths;
  for (const std::string& text : texts) {
    const auto ns = parseRealTime(text);
    if (!ns) return std::unexpected(badValue(option, ns.error()));
    const Duration length{static_cast<std::int64_t>(*ns)};
    if (length < sim::milliseconds(1) || length > sim::hours(24)) {
      return std::unexpected(
          badValue(option, fmt::format("'{}' is out of range; expected 1ms to 24h", text)));
    }
    lengths.push_back(length);
  }
  std::ranges::sort(lengths);
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

/// A row for each lease, a column for each margin.
template <class TextOf>
void printTable(Session& session, std::string_view title, const std::vector<BoundaryCell>& cells,
                std::size_t columns, TextOf&& textOf) {
  session.out.print(title);
  std::string header = fmt::format("{:>8}", "lease");
  for (std::size_t i = 0; i < columns && i < cells.size(); ++i) {
    header += fmt::format(" {:>9}", skew::lengthText(cells[i].skew));
  }
  session.out.print(header);
  for (std::size_t first = 0; first < cells.size(); first += columns) {
    std::string row = fmt::format("{:>8}", skew::lengthText(cells[first].lease));
    for (std::size_t i = first; i < std::min(first + columns, cells.size()); ++i) {
      row += fmt::format(" {:>9}", textOf(cells[i]));
    }
    session.out.print(row);
  }
  session.out.print("");
}

/// By how much search and formula differ at most, and whether a plan broke what the formula covers.
struct Agreement {
  std::int64_t largestGapPpb = 0;
  std::uint64_t below = 0;
  std::uint64_t byRandomPlans = 0;
  std::uint64_t runs = 0;
};

Agreement agreementOf(const std::vector<BoundaryCell>& cells) {
  Agreement agreement;
  for (const BoundaryCell& cell : cells) {
    agreement.runs += cell.runs;
    agreement.byRandomPlans += cell.byRandomPlan ? 1 : 0;
    if (!cell.foundPpb) continue;
    if (*cell.foundPpb <= cell.formulaPpb) ++agreement.below;
    agreement.largestGapPpb = std::max(agreement.largestGapPpb, *cell.foundPpb - cell.formulaPpb);
  }
  return agreement;
}

Json mapJson(const std::vector<BoundaryCell>& cells, const Agreement& agreement) {
  Json list = Json::array();
  for (const BoundaryCell& cell : cells) {
    Json one{{"leaseNs", cell.lease.ns}, {"skewNs", cell.skew.ns}, {"formulaPpb", cell.formulaPpb}};
    one["foundPpb"] = cell.foundPpb ? Json(*cell.foundPpb) : Json(nullptr);
    one["byRandomPlan"] = cell.byRandomPlan;
    list.push_back(std::move(one));
  }
  return {{"is", "skewMap"},
          {"cells", std::move(list)},
          {"largestGapPpb", agreement.largestGapPpb},
          {"belowFormula", agreement.below},
          {"runs", agreement.runs}};
}

}  // namespace

void addMapOptions(CLI::App& app, SkewArguments& arguments) {
  app.add_flag(
      "--map", arguments.map,
      "instead search where exclusion first breaks, for each lease and margin, and print it beside the "
      "closed formula");
  app.add_option("--lease", arguments.leases, "leases of the map (1s 10s 1min)")
      ->type_name("TIME")
      ->expected(1, 40);
  app.add_option("--margin", arguments.margins, "margins (protocol.skew) of the map (10ms 400ms)")
      ->type_name("TIME")
      ->expected(1, 40);
  app.add_option("--svg", arguments.svg, "draw the map as a picture")->type_name("FILE");
  addForceOption(app, arguments.force, "--svg");
}

Result runSkewMap(Session& session, const SkewArguments& arguments) {
  skew::BoundaryOptions options;
  const auto leases = lengthsOf("--lease", arguments.leases, kLeases);
  if (!leases) return std::unexpected(leases.error());
  const auto margins = lengthsOf("--margin", arguments.margins, kMargins);
  if (!margins) return std::unexpected(margins.error());
  options.leases = *leases;
  options.skews = *margins;
  const auto seed = parseSeed(arguments.seed);
  if (!seed) return std::unexpected(badValue("--seed", seed.error()));
  options.seed = *seed;
  const auto rules = parseRules(arguments.without);
  if (!rules) return std::unexpected(badValue("--without", rules.error()));
  options.rules = *rules;
  const auto jobs = readJobs(arguments.jobs);
  if (!jobs) return std::unexpected(jobs.error());
  options.jobs = *jobs;

  if (auto fit = checkTargets({{"--svg", arguments.svg}}, arguments.force); !fit) {
    return std::unexpected(fit.error());
  }

  session.out.say(fmt::format("{} skew map of {} and {}", toolLine(), counted(leases->size(), "lease"),
                              counted(margins->size(), "margin")));
  const InterruptGuard guard;
  const Stopwatch watch;
  options.progress = [&](std::size_t done, std::size_t cells) {
    if (session.out.wantsProgress()) session.out.progress(fmt::format("{} of {} cells", done, cells));
    return !InterruptGuard::requested();
  };
  const std::vector<BoundaryCell> cells = skew::searchBoundary(options);
  const Agreement agreement = agreementOf(cells);
  printTable(session, "By search: ppm, one clock slow and one fast, from which on exclusion breaks", cells,
             margins->size(), [](const BoundaryCell& cell) {
               return cell.foundPpb ? skew::ppmText(*cell.foundPpb) : std::string("none");
             });
  printTable(session, "By formula: ppm up to which skew / (2 * lease + skew) promises exclusion", cells,
             margins->size(), [](const BoundaryCell& cell) { return skew::ppmText(cell.formulaPpb); });
  session.out.print(fmt::format(
      "The search breaks exclusion at most {} ppm beyond what the formula covers, and {} below it.",
      skew::ppmText(agreement.largestGapPpb), agreement.below == 0 ? "never" : "also"));
  session.out.print(
      "Beyond these figures CK-3 is broken: over one lease the rates of two clocks diverge by more than the "
      "margin.");
  const bool partial = cells.size() < leases->size() * margins->size();
  const int exitCode = partial ? kExitInconclusive : agreement.below == 0 ? kExitHeld : kExitSafety;
  const std::string file = cells.empty() ? "" : partial ? partialOf(arguments.svg) : arguments.svg;
  const auto written =
      writeTarget({"--svg", file}, skew::heatMapSvg(cells, kHardwarePpb), partial || arguments.force);
  if (written && !file.empty()) session.out.say("picture     " + file);
  if (written && !partial) removePartial(file);
  session.out.say(
      fmt::format("time        {} in {}", counted(agreement.runs, "run"), elapsed(watch.elapsed())));
  session.out.object(mapJson(cells, agreement));
  return written ? exitCode : reportUnwritten(session.out, written.error(), exitCode);
}

}  // namespace holdfast::cli
