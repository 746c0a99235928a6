// What was measured, as people and machines read it: tables of text, Markdown, JSON, and a page with plots.
//
// Contract: the same measurements give the same bytes on every build.
#pragma once

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "measure/experiment.hpp"

namespace holdfast::cli {

/// A value with its unit: "12", "1.234 ms", "25.0 %".
std::string textOf(const measure::Value& value);

/// Question, tables and remarks, for a terminal.
void printMeasurement(Output& out, const measure::Measurement& measurement);

/// The object that docs/json-output.md describes.
Json jsonOf(const measure::Measurement& measurement);

/// The section of one measurement in docs/measurements.md.
std::string markdownOf(const measure::Measurement& measurement);

/// All of docs/measurements.md. `command` makes it anew.
std::string markdownOf(const std::vector<measure::Measurement>& measurements,
                       const measure::Settings& settings, const std::string& command);

/// A page with plots.
std::string htmlOf(const std::vector<measure::Measurement>& measurements, const measure::Settings& settings,
                   const std::string& command);

}  // namespace holdfast::cli
