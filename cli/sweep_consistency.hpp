// Whether a sweep's report, as a file has it, can be one: its options those of a run, its counts those of so
// many seeds.
//
// Contract: a record in which nothing is found can be printed, judged and run again; records in whose sum
// nothing is found add up without a number that goes beyond its end. A text begins with the path of the
// member that it is about: "exact.report.held: is 1000; expected ...".
#pragma once

#include <optional>
#include <string>

#include "cli/sweep_record.hpp"

namespace holdfast::cli {

/// The first thing that can not be; nothing if all of it can. The record's coverage must have been read.
std::optional<std::string> whatCanNotBe(const SweepRecord& record);

/// The first number that would be too large in the sum of two records, each of which can be.
std::optional<std::string> whatOverflows(const SweepRecord& sum, const SweepRecord& other);

}  // namespace holdfast::cli
