#include "skew/heat_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace holdfast::skew {
namespace {

constexpr int kCellWidth = 106;
constexpr int kCellHeight = 46;
constexpr int kLeft = 110;
constexpr int kTop = 104;
constexpr int kLegend = 96;

struct Colour {
  int red = 0;
  int green = 0;
  int blue = 0;
};

// From 1 ppm on, a stop for each power of ten: the darker, the less it takes.
constexpr std::array<Colour, 6> kStops{
    {{68, 1, 84}, {65, 68, 135}, {42, 120, 142}, {34, 168, 132}, {122, 209, 81}, {253, 231, 37}}};
constexpr std::int64_t kFirstStopPpb = 1'000;

Colour colourOf(std::int64_t ppb) {
  const double decades = std::log10(static_cast<double>(std::max(ppb, kFirstStopPpb)) / kFirstStopPpb);
  const double place = std::clamp(decades, 0.0, static_cast<double>(kStops.size() - 1));
  const auto lower = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  const double share = place - static_cast<double>(lower);
  const auto mixed = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
  const Colour& from = kStops[lower];
  const Colour& to = kStops[lower + 1];
  return {mixed(from.red, to.red), mixed(from.green, to.green), mixed(from.blue, to.blue)};
}

std::string css(const Colour& colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

/// Black on light colours, white on dark ones.
std::string_view inkOn(const Colour& colour) {
  return colour.red * 299 + colour.green * 587 + colour.blue * 114 > 128'000 ? "#111111" : "#ffffff";
}

std::string text(int x, int y, std::string_view anchor, std::string_view style, std::string_view words) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" {}>{}</text>\n", x, y, anchor, style, words);
}

std::string line(int x1, int y1, int x2, int y2) {
  return fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#d62728\" stroke-width=\"4\" "
      "stroke-linecap=\"square\"/>\n",
      x1, y1, x2, y2);
}

constexpr std::int64_t kNone = INT64_MAX;  // no deviation that a clock can have breaks it

std::int64_t valueOf(const BoundaryCell& cell) { return cell.foundPpb.value_or(kNone); }

std::string cellSvg(const BoundaryCell& cell, int x, int y) {
  const Colour colour = colourOf(valueOf(cell));
  std::string svg = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x, y,
                                kCellWidth - 1, kCellHeight - 1, css(colour));
  const int middle = x + kCellWidth / 2;
  const std::string ink = fmt::format("fill=\"{}\" ", inkOn(colour));
  svg += text(middle, y + 20, "middle", ink + "font-size=\"15\" font-weight=\"600\"",
              cell.foundPpb ? ppmText(*cell.foundPpb) : "none");
  svg += text(middle, y + 36, "middle", ink + "font-size=\"11\"", "formula " + ppmText(cell.formulaPpb));
  return svg;
}

/// The scale of colours, with the figures of its stops.
std::string legendSvg(int y, std::int64_t markPpb) {
  std::string svg = "<defs><linearGradient id=\"scale\">";
  for (std::size_t i = 0; i < kStops.size(); ++i) {
    svg += fmt::format("<stop offset=\"{}%\" stop-color=\"{}\"/>", i * 100 / (kStops.size() - 1),
                       css(kStops[i]));
  }
  constexpr int kScale = 420;
  svg += fmt::format(
      "</linearGradient></defs>\n<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\" fill=\"url(#scale)\"/>\n",
      kLeft, y, kScale);
  std::int64_t ppb = kFirstStopPpb;
  for (std::size_t i = 0; i < kStops.size(); ++i, ppb *= 10) {
    const int x = kLeft + static_cast<int>(i) * kScale / static_cast<int>(kStops.size() - 1);
    svg += text(x, y + 30, "middle", "font-size=\"11\" fill=\"#333333\"", ppmText(ppb));
  }
  svg += text(kLeft + kScale + 14, y + 12, "start", "font-size=\"11\" fill=\"#333333\"", "ppm");
  svg += line(kLeft, y + 50, kLeft + 30, y + 50);
  svg += text(kLeft + 40, y + 54, "start", "font-size=\"12\" fill=\"#333333\"",
              fmt::format("on its dark side clocks that are off by {} ppm, one each way, admit two holders",
                          ppmText(markPpb)));
  return svg;
}

}  // namespace

std::string ppmText(std::int64_t ppb) {
  if (ppb < 1'000'000) {
    std::string fine = ppb < 10'000 ? fmt::format("{}.{:03}", ppb / 1'000, ppb % 1'000)
                                    : fmt::format("{}.{}", ppb / 1'000, ppb % 1'000 / 100);
    fine.erase(fine.find_last_not_of('0') + 1);
    if (fine.ends_with('.')) fine.pop_back();
    return fine;
  }
  std::string digits = fmt::to_string(ppb / 1'000);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string lengthText(Duration length) {
  constexpr std::pair<std::int64_t, std::string_view> units[] = {{3'600'000'000'000, "h"},
                                                                 {60'000'000'000, "min"},
                                                                 {1'000'000'000, "s"},
                                                                 {1'000'000, "ms"},
                                                                 {1'000, "us"}};
  for (const auto& [ns, name] : units) {
    if (length.ns != 0 && length.ns % ns == 0) return fmt::format("{} {}", length.ns / ns, name);
  }
  return fmt::format("{} ns", length.ns);
}

std::string heatMapSvg(std::span<const BoundaryCell> cells, std::int64_t markPpb) {
  std::vector<Duration> leases;
  std::vector<Duration> skews;
  for (const BoundaryCell& cell : cells) {
    if (leases.empty() || leases.back() != cell.lease) leases.push_back(cell.lease);
    if (leases.size() == 1) skews.push_back(cell.skew);
  }
  const int columns = static_cast<int>(skews.size());
  const int rows = static_cast<int>(leases.size());
  const int width = std::max(kLeft + columns * kCellWidth + 24, kLeft + 560);
  const int height = kTop + rows * kCellHeight + 40 + kLegend;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"system-ui, sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      width, height);
  svg += text(kLeft, 28, "start", "font-size=\"18\" font-weight=\"600\" fill=\"#111111\"",
              "Where exclusion first breaks");
  svg += text(
      kLeft, 48, "start", "font-size=\"12\" fill=\"#333333\"",
      "ppm by which the holder&#8217;s clock is slow and the home&#8217;s is fast, by search and by formula");
  svg += text(kLeft, kTop - 26, "start", "font-size=\"12\" fill=\"#333333\"", "margin (protocol.skew)");
  svg += text(kLeft - 12, kTop - 8, "end", "font-size=\"12\" fill=\"#333333\"", "lease");
  for (int column = 0; column < columns; ++column) {
    svg += text(kLeft + column * kCellWidth + kCellWidth / 2, kTop - 8, "middle",
                "font-size=\"13\" fill=\"#111111\"", lengthText(skews[static_cast<std::size_t>(column)]));
  }
  const auto at = [&](int row, int column) -> const BoundaryCell& {
    const int index = row * columns + column;
    return cells[static_cast<std::size_t>(index)];
  };
  std::string marks;
  for (int row = 0; row * columns < static_cast<int>(cells.size()); ++row) {
    const int y = kTop + row * kCellHeight;
    svg += text(kLeft - 12, y + 28, "end", "font-size=\"13\" fill=\"#111111\"",
                lengthText(leases[static_cast<std::size_t>(row)]));
    for (int column = 0; column < columns && row * columns + column < static_cast<int>(cells.size());
         ++column) {
      const int x = kLeft + column * kCellWidth;
      svg += cellSvg(at(row, column), x, y);
      const bool breaks = valueOf(at(row, column)) <= markPpb;
      if (column > 0 && breaks != (valueOf(at(row, column - 1)) <= markPpb))
        marks += line(x, y, x, y + kCellHeight);
      if (row > 0 && breaks != (valueOf(at(row - 1, column)) <= markPpb))
        marks += line(x, y, x + kCellWidth, y);
    }
  }
  svg += marks;
  svg += legendSvg(kTop + rows * kCellHeight + 28, markPpb);
  return svg + "</svg>\n";
}

}  // namespace holdfast::skew
