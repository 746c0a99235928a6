// What the two halves of the skew verb share: its arguments, and the entry of the half that draws the map.
#pragma once

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "cli/saved_run.hpp"
#include "cli/verb.hpp"

namespace holdfast::cli {

struct SkewArguments {
  std::vector<std::string> properties;
  std::string cases = "2000";
  std::string seed = "1";
  std::string onlyCase;
  std::string maxDrift;
  std::string plan;
  std::string jobs;
  std::string timeLimit;
  std::vector<std::string> without;
  std::vector<std::string> settings;
  bool frozen = false;
  bool noShrink = false;
  bool map = false;
  std::vector<std::string> leases;
  std::vector<std::string> margins;
  std::string svg;
  bool force = false;
  SaveArguments save;
};

/// Adds the options of the map.
void addMapOptions(CLI::App& app, SkewArguments& arguments);

/// Searches and prints where exclusion breaks.
Result runSkewMap(Session& session, const SkewArguments& arguments);

}  // namespace holdfast::cli
