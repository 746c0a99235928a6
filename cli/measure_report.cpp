#include "cli/measure_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/figures.hpp"

namespace holdfast::cli {
namespace {

using measure::Measurement;
using measure::Settings;
using measure::Table;
using measure::Value;

std::string_view unitName(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::count:
      return "count";
    case Value::Kind::duration:
      return "ns";
    case Value::Kind::permille:
      return "permille";
    case Value::Kind::milli:
      return "thousandths";
    case Value::Kind::text:
      break;
  }
  return "text";
}

bool isNumber(const Table& table, std::size_t column) {
  return !table.rows.empty() && table.rows.front()[column].kind != Value::Kind::text;
}

std::string markdownTable(const Table& table) {
  std::string text = fmt::format("**{}**\n\n|", table.title);
  for (const std::string& column : table.columns) text += fmt::format(" {} |", column);
  text += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += isNumber(table, i) ? "---:|" : "---|";
  for (const std::vector<Value>& row : table.rows) {
    text += "\n|";
    for (const Value& value : row) text += fmt::format(" {} |", textOf(value));
  }
  return text + "\n\n";
}

Json jsonOf(const Table& table) {
  Json units = Json::array();
  Json rows = Json::array();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    units.push_back(table.rows.empty() ? "text" : unitName(table.rows.front()[i].kind));
  }
  for (const std::vector<Value>& row : table.rows) {
    Json cells = Json::array();
    for (const Value& value : row) {
      cells.push_back(value.kind == Value::Kind::text ? Json(value.words) : Json(value.number));
    }
    rows.push_back(std::move(cells));
  }
  return {{"title", table.title}, {"columns", table.columns}, {"units", units}, {"rows", rows}};
}

}  // namespace

std::string textOf(const Value& value) {
  const auto number = value.number;
  switch (value.kind) {
    case Value::Kind::count:
      return grouped(static_cast<std::uint64_t>(number));
    case Value::Kind::duration:
      return number == 0 ? "0" : elapsed(std::chrono::nanoseconds(number));
    case Value::Kind::permille:
      return fmt::format("{}.{} %", number / 10, number % 10);
    case Value::Kind::milli:
      return fmt::format("{}.{:03}", grouped(static_cast<std::uint64_t>(number / 1'000)), number % 1'000);
    case Value::Kind::text:
      break;
  }
  return value.words;
}

void printMeasurement(Output& out, const Measurement& measurement) {
  out.print(fmt::format("\n{}: {}", measurement.name, measurement.question));
  for (const Table& table : measurement.tables) {
    std::vector<std::size_t> widths;
    for (const std::string& column : table.columns) widths.push_back(column.size());
    for (const std::vector<Value>& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], textOf(row[i]).size());
    }
    out.print("  " + table.title);
    std::string line;
    const auto cell = [&](std::size_t i, const std::string& text) {
      line += isNumber(table, i) ? fmt::format("  {:>{}}", text, widths[i])
                                 : fmt::format("  {:<{}}", text, i + 1 < widths.size() ? widths[i] : 0);
    };
    for (std::size_t i = 0; i < widths.size(); ++i) cell(i, table.columns[i]);
    out.print(line);
    for (const std::vector<Value>& row : table.rows) {
      line.clear();
      for (std::size_t i = 0; i < row.size(); ++i) cell(i, textOf(row[i]));
      out.print(line);
    }
  }
  for (const std::string& remark : measurement.remarks) out.print("  " + remark);
}

Json jsonOf(const Measurement& measurement) {
  Json tables = Json::array();
  for (const Table& table : measurement.tables) tables.push_back(jsonOf(table));
  Json plots = Json::array();
  for (const measure::Plot& plot : measurement.plots) {
    Json series = Json::array();
    for (const measure::Series& one : plot.series) {
      series.push_back({{"name", one.name}, {"points", one.points}});
    }
    plots.push_back({{"title", plot.title},
                     {"x", plot.x.title},
                     {"xUnit", unitName(plot.x.kind)},
                     {"y", plot.y.title},
                     {"yUnit", unitName(plot.y.kind)},
                     {"series", series}});
  }
  return {{"is", "measurement"}, {"name", measurement.name}, {"question", measurement.question},
          {"tables", tables},    {"plots", plots},           {"remarks", measurement.remarks}};
}

std::string markdownOf(const Measurement& measurement) {
  std::string text = fmt::format("## {}: {}\n\n", measurement.name, measurement.question);
  for (const Table& table : measurement.tables) text += markdownTable(table);
  for (const std::string& remark : measurement.remarks) text += remark + "\n\n";
  return text;
}

std::string markdownOf(const std::vector<Measurement>& measurements, const Settings& settings,
                       const std::string& command) {
  std::string text = fmt::format(
      "# Measurements\n\n"
      "What a lock costs, by the delegation protocol and by Ricart-Agrawala. This page is what a command has "
      "printed,\nand is the same for the same seed on every machine and build:\n\n    {}\n\n"
      "Times are simulated; `--html FILE` draws them. The profiles are these:\n\n- network {}\n- disk {}\n- "
      "delegations of 10 s, skew 1 s, membership leases of 100 s renewed every 30 s, unless a table says "
      "otherwise\n\n",
      command, describe(*settings.network), describe(*settings.disk));
  for (const Measurement& measurement : measurements) text += markdownOf(measurement);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace holdfast::cli
