// What an experiment gives: tables of exact values, plots of the same, and remarks in words.
//
// Contract: every value is an integer in a stated unit, so that text, JSON and pages that are made of a
// measurement are the same bytes for the same seed on every build.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/time.hpp"

namespace holdfast::measure {

/// A cell of a table.
struct Value {
  enum class Kind : std::uint8_t {
    text,
    count,     // a number of things
    duration,  // ns
    permille,  // of a whole
    milli,     // thousandths of a rate
  };
  Kind kind = Kind::text;
  std::int64_t number = 0;
  std::string words;

  static Value text(std::string words) { return {Kind::text, 0, std::move(words)}; }
  static Value count(std::uint64_t number) { return {Kind::count, static_cast<std::int64_t>(number), {}}; }
  static Value duration(sim::Duration d) { return {Kind::duration, d.ns, {}}; }
  /// `part` of `whole`; 0 of nothing is 0.
  static Value share(std::uint64_t part, std::uint64_t whole) {
    return {Kind::permille, whole == 0 ? 0 : static_cast<std::int64_t>(part * 1'000 / whole), {}};
  }
  /// `number` of things for each `of`; nothing for none.
  static Value ratio(std::uint64_t number, std::uint64_t of) {
    return {Kind::milli, of == 0 ? 0 : static_cast<std::int64_t>(number * 1'000 / of), {}};
  }
  /// `number` of things in each second of `time`.
  static Value perSecond(std::uint64_t number, sim::Duration time) {
    const std::uint64_t ms = static_cast<std::uint64_t>(time.ns) / 1'000'000;
    return {Kind::milli, ms == 0 ? 0 : static_cast<std::int64_t>(number * 1'000'000 / ms), {}};
  }

  friend bool operator==(const Value&, const Value&) = default;
};

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;  // as long as `columns`
};

/// A line of a plot, by ascending x.
struct Series {
  std::string name;
  std::vector<std::pair<std::int64_t, std::int64_t>> points;
};

struct Axis {
  std::string title;
  Value::Kind kind = Value::Kind::count;
  bool logarithmic = false;  // values below 1 count as 1
};

struct Plot {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
};

struct Measurement {
  std::string name;      // as --what takes it
  std::string question;  // what it answers, in one sentence
  std::vector<Table> tables;
  std::vector<Plot> plots;
  std::vector<std::string> remarks;
};

}  // namespace holdfast::measure
