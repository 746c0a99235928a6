#include "cli/history_html.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "cli/html_page.hpp"

namespace holdfast::cli {
namespace {

namespace lin = linearizability;

constexpr std::size_t kMostBars = 24;
constexpr std::size_t kMostObjects = 20;
constexpr int kRow = 34;
constexpr int kBar = 20;
constexpr int kEvent = 26;
constexpr int kMargin = 90;

std::string escapedText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string barTextOf(const histories::Operation& operation) {
  std::string words = operation.function;
  const bool answered = operation.outcome == histories::Outcome::ok;
  const histories::Value& value =
      operation.argument.isNil() && answered ? operation.result : operation.argument;
  if (!value.isNil() || operation.function == "read") words += " " + value.printed();
  if (operation.outcome == histories::Outcome::failed) words += " (did not match)";
  if (operation.outcome == histories::Outcome::unknown) words += " (outcome not known)";
  return words;
}

/// The operations that are drawn: up to the failure, the last ones before it.
std::vector<std::uint32_t> drawnOf(const histories::History& history, const histories::Judged& judged) {
  std::vector<std::uint32_t> drawn = judged.operations;
  if (judged.stuck != lin::kNever) {
    const std::uint32_t end = history.operations[judged.stuck].returned;
    std::erase_if(drawn, [&](std::uint32_t i) { return history.operations[i].invoked > end; });
    // What has long returned explains nothing; what is under way stays.
    const auto mine = [&](std::uint32_t i) {
      return std::ranges::find(judged.window, i) != judged.window.end();
    };
    std::size_t excess = drawn.size() > kMostBars ? drawn.size() - kMostBars : 0;
    std::erase_if(drawn, [&](std::uint32_t i) { return excess > 0 && !mine(i) && excess-- > 0; });
  } else if (drawn.size() > kMostBars) {
    drawn.resize(kMostBars);
  }
  return drawn;
}

/// Events of the drawn operations in their order, without gaps.
std::map<std::uint32_t, int> columnsOf(const histories::History& history,
                                       const std::vector<std::uint32_t>& drawn) {
  std::map<std::uint32_t, int> columns;
  for (const std::uint32_t i : drawn) {
    columns[history.operations[i].invoked] = 0;
    if (history.operations[i].outcome != histories::Outcome::unknown)
      columns[history.operations[i].returned] = 0;
  }
  int next = 0;
  for (auto& [event, column] : columns) column = next++;
  return columns;
}

std::string drawingOf(const histories::History& history, const histories::Judged& judged) {
  const std::vector<std::uint32_t> drawn = drawnOf(history, judged);
  const std::map<std::uint32_t, int> columns = columnsOf(history, drawn);
  std::map<std::string, int> rows;
  for (const std::uint32_t i : drawn) {
    rows.try_emplace(history.operations[i].process, static_cast<int>(rows.size()));  // in order of first use
  }
  const int width = kMargin + static_cast<int>(columns.size() + 4) * kEvent;
  const int height = static_cast<int>(rows.size()) * kRow + 10;
  std::string svg = fmt::format(
      "<div style=\"overflow-x:auto\"><svg width=\"{}\" height=\"{}\" role=\"img\">\n", width, height);
  for (const auto& [process, row] : rows) {
    svg += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", row * kRow + kBar, escapedText(process));
  }
  for (const std::uint32_t i : drawn) {
    const histories::Operation& operation = history.operations[i];
    const bool open = operation.outcome == histories::Outcome::unknown;
    const int left = kMargin + columns.at(operation.invoked) * kEvent;
    const int right = open ? width : kMargin + columns.at(operation.returned) * kEvent;
    const int top = rows.at(operation.process) * kRow + 4;
    const auto place = std::ranges::find(judged.order, i);
    const bool ordered = place != judged.order.end();
    const std::string_view fill = i == judged.stuck ? "#b00020" : ordered ? "#1b6e3c" : "#8a6d00";
    const std::string number =
        ordered ? fmt::format("{}. ", place - judged.order.begin() + 1) : std::string();
    svg += fmt::format(
        "<g><title>{}{}, lines {} to {}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" "
        "fill=\"{}\" fill-opacity=\"{}\"/><text x=\"{}\" y=\"{}\" style=\"font-size:11px\">{}{}</text></g>\n",
        number, escapedText(barTextOf(operation)), operation.line, operation.returnLine, left, top,
        std::max(4, right - left), kBar, fill, open ? "0.18" : "0.35", left + 3, top + 14, number,
        escapedText(barTextOf(operation)));
  }
  return svg + "</svg></div>\n";
}

std::string sectionOf(const histories::History& history, const histories::Judged& judged) {
  const bool bad = judged.verdict == lin::Verdict::notLinearizable;
  std::string html =
      fmt::format("<h2>{}</h2>\n", judged.key.empty() ? "History" : escapedText("Key " + judged.key));
  if (bad) {
    const histories::Operation& stuck = history.operations[judged.stuck];
    html += fmt::format(
        "<p><span class=\"bad\">Not linearizable.</span> {} operations can be put in order; then the state "
        "is "
        "one of <code>{}</code>, and no order of the {} operations under way allows <code>{}</code> of "
        "process "
        "{} (line {}) to return (line {}).</p>\n",
        judged.order.size(), escapedText(fmt::format("{}", fmt::join(judged.states, ", "))),
        judged.window.size(), escapedText(barTextOf(stuck)), escapedText(stuck.process), stuck.line,
        stuck.returnLine);
  } else if (judged.verdict == lin::Verdict::unknown) {
    html += "<p class=\"dim\">Unknown: the bound on memory was met first.</p>\n";
  } else {
    html += fmt::format("<p><span class=\"good\">Linearizable.</span> {} operations.</p>\n",
                        judged.operations.size());
  }
  return html + drawingOf(history, judged);
}

}  // namespace

std::string historyPage(std::string_view title, const histories::History& history,
                        const histories::Judgement& judgement) {
  std::string html = pageHead(escapedText(title));
  html += fmt::format(
      "<h1>{}</h1>\n<p>Each bar is an operation from its invocation to its return; the numbers are "
      "its place in the order that explains what was answered. Green: in that order; red: can not "
      "return; brown: under way, and in no place.</p>\n",
      escapedText(title));
  std::vector<const histories::Judged*> objects;
  for (const histories::Judged& judged : judgement.objects) objects.push_back(&judged);
  std::ranges::stable_sort(objects, {}, [](const histories::Judged* one) {
    return one->verdict != lin::Verdict::notLinearizable;
  });
  for (std::size_t i = 0; i < std::min(objects.size(), kMostObjects); ++i)
    html += sectionOf(history, *objects[i]);
  if (objects.size() > kMostObjects) {
    html +=
        fmt::format("<p class=\"dim\">{} more objects are not drawn.</p>\n", objects.size() - kMostObjects);
  }
  return html + "</body></html>\n";
}

}  // namespace holdfast::cli
