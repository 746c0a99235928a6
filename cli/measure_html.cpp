// Measurements as a page with plots.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "cli/figures.hpp"
#include "cli/html_page.hpp"
#include "cli/measure_report.hpp"
#include "pictures/scene.hpp"

namespace holdfast::cli {
namespace {

using measure::Axis;
using measure::Plot;
using measure::Value;
using pictures::escaped;

constexpr std::array<std::string_view, 6> kPlotColours = {"#4878a8", "#dd8452", "#55a868",
                                                          "#c44e52", "#8172b3", "#937860"};
constexpr double kPlotLeft = 90;
constexpr double kPlotWidth = 660;
constexpr double kPlotTop = 12;
constexpr double kPlotHeight = 240;

/// From the values of an axis to places from 0 to 1.
struct PlotScale {
  Axis axis;
  std::int64_t least = 0;
  std::int64_t most = 1;
  std::vector<std::int64_t> places;  // of the points, ascending; of the horizontal axis only

  PlotScale(const Axis& of, const Plot& plot, bool horizontal) : axis(of) {
    bool first = true;
    for (const measure::Series& series : plot.series) {
      for (const auto& [x, y] : series.points) {
        const std::int64_t value =
            axis.logarithmic ? std::max<std::int64_t>(horizontal ? x : y, 1) : (horizontal ? x : y);
        if (horizontal) places.push_back(value);
        least = first ? value : std::min(least, value);
        most = first ? value : std::max(most, value);
        first = false;
      }
    }
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
    if (!axis.logarithmic) least = horizontal ? least : 0;
    if (most <= least) most = least + 1;
  }

  double at(std::int64_t value) const {
    if (!axis.logarithmic) {
      return static_cast<double>(value - least) / static_cast<double>(most - least);
    }
    const auto log = [](std::int64_t v) {
      return std::log10(static_cast<double>(std::max<std::int64_t>(v, 1)));
    };
    return (log(value) - log(least)) / (log(most) - log(least));
  }

  /// The places of the points, if they are few; else round values, powers of ten on a logarithmic axis.
  std::vector<std::int64_t> ticks() const {
    if (!places.empty() && places.size() <= 7 && most / 1'000 < std::max<std::int64_t>(least, 1))
      return places;
    std::vector<std::int64_t> ticks;
    if (axis.logarithmic) {
      for (std::int64_t power = 1; power <= most && power < INT64_MAX / 10; power *= 10) {
        if (power >= least) ticks.push_back(power);
      }
      if (ticks.size() < 2) ticks = {least, most};
      return ticks;
    }
    std::int64_t step = 1;
    while ((most - least) / step > 12) step *= 10;
    if ((most - least) / step < 3 && step > 1) step /= 5;
    for (std::int64_t tick = (least + step - 1) / step * step; tick <= most; tick += step)
      ticks.push_back(tick);
    return ticks;
  }

  std::string label(std::int64_t value) const { return textOf(Value{axis.kind, value, {}}); }
};

std::string plotSvg(const Plot& plot) {
  const PlotScale x(plot.x, plot, true);
  const PlotScale y(plot.y, plot, false);
  const auto px = [&](std::int64_t value) { return kPlotLeft + kPlotWidth * x.at(value); };
  const auto py = [&](std::int64_t value) { return kPlotTop + kPlotHeight * (1 - y.at(value)); };
  std::string svg = "<svg width=\"900\" height=\"345\" role=\"img\">";
  for (const std::int64_t tick : x.ticks()) {
    svg += fmt::format(
        "<line class=\"axis\" x1=\"{0:.0f}\" x2=\"{0:.0f}\" y1=\"{1:.0f}\" y2=\"{2:.0f}\" "
        "stroke-opacity=\".3\"/><text x=\"{0:.0f}\" y=\"{3:.0f}\" text-anchor=\"middle\">{4}</text>",
        px(tick), kPlotTop, kPlotTop + kPlotHeight, kPlotTop + kPlotHeight + 16, x.label(tick));
  }
  for (const std::int64_t tick : y.ticks()) {
    svg += fmt::format(
        "<line class=\"axis\" x1=\"{0:.0f}\" x2=\"{1:.0f}\" y1=\"{2:.0f}\" y2=\"{2:.0f}\" "
        "stroke-opacity=\".3\"/><text x=\"{3:.0f}\" y=\"{4:.0f}\" text-anchor=\"end\">{5}</text>",
        kPlotLeft, kPlotLeft + kPlotWidth, py(tick), kPlotLeft - 6, py(tick) + 4, y.label(tick));
  }
  svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>",
                     kPlotLeft + kPlotWidth / 2, kPlotTop + kPlotHeight + 34, escaped(plot.x.title));
  double legend = kPlotLeft;
  double line = 306;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const measure::Series& series = plot.series[i];
    const std::string_view colour = kPlotColours[i % kPlotColours.size()];
    std::string points;
    for (const auto& [at, value] : series.points) points += fmt::format("{:.1f},{:.1f} ", px(at), py(value));
    svg += fmt::format(
        "<polyline fill=\"none\" stroke=\"{0}\" stroke-width=\"2\" "
        "points=\"{1}\"><title>{2}</title></polyline>"
        "<rect x=\"{3:.0f}\" y=\"{5:.0f}\" width=\"12\" height=\"12\" fill=\"{0}\"/><text x=\"{4:.0f}\" "
        "y=\"{6:.0f}\">{2}</text>",
        colour, points, escaped(series.name), legend, legend + 17, line, line + 11);
    legend += 36 + 7 * static_cast<double>(series.name.size());
    if (legend > kPlotLeft + kPlotWidth - 140) {
      legend = kPlotLeft;
      line += 18;
    }
  }
  return fmt::format("<h3>{}</h3>\n<p class=\"dim\">{}</p>\n{}</svg>\n", escaped(plot.title),
                     escaped(plot.y.title), svg);
}

std::string htmlTable(const measure::Table& table) {
  std::string text = fmt::format("<h3>{}</h3>\n<table><tr>", escaped(table.title));
  for (const std::string& column : table.columns) text += fmt::format("<th>{}</th>", escaped(column));
  text += "</tr>\n";
  for (const std::vector<Value>& row : table.rows) {
    text += "<tr>";
    for (const Value& value : row) {
      text += fmt::format("<td{}>{}</td>", value.kind == Value::Kind::text ? "" : " class=\"n\"",
                          escaped(textOf(value)));
    }
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

}  // namespace

std::string htmlOf(const std::vector<measure::Measurement>& measurements, const measure::Settings& settings,
                   const std::string& command) {
  std::string page = pageHead("holdfast measure");
  page += fmt::format(
      "<h1>What a lock costs</h1>\n<p>network {}</p>\n<p>disk {}</p>\n<p class=\"dim\">Times are "
      "simulated.</p>\n",
      escaped(describe(*settings.network)), escaped(describe(*settings.disk)));
  for (const measure::Measurement& measurement : measurements) {
    page += fmt::format("<h2>{}</h2>\n", escaped(measurement.question));
    for (const Plot& plot : measurement.plots) page += plotSvg(plot);
    for (const measure::Table& table : measurement.tables) page += htmlTable(table);
    for (const std::string& remark : measurement.remarks) page += fmt::format("<p>{}</p>\n", escaped(remark));
  }
  return page + fmt::format("<h2>Again</h2>\n<pre>{}</pre>\n</body></html>\n", escaped(command));
}

}  // namespace holdfast::cli
