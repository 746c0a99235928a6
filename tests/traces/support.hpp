// What the tests of traces share: arbitrary observations of every kind, made from their descriptions, and
// files that vanish with the test.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "observations/observation.hpp"
#include "traces/names.hpp"

namespace holdfast::traces {

/// Three nodes and three keys, some with characters that JSON must escape or that are not ASCII.
inline Names testNames() {
  return {{"A", "B", "n\"3"}, {"accounts/alice", "schl\xc3\xbcssel", "back\\slash\ttab"}};
}

/// An arbitrary observation of kind number `kind`: ordinary and extreme values, ids with a name, without, and
/// none. Call it inside a property only.
obs::Stamped arbitraryObservation(std::size_t kind);
/// The same of an arbitrary kind.
obs::Stamped arbitraryObservation();

/// A short run that has some of everything: the ordinary course of one handoff.
inline std::vector<obs::Stamped> sampleRun() {
  const obs::NodeId a{0};
  const obs::NodeId b{1};
  const obs::KeyId alice{0};
  const obs::Token token{1, 1, 7};
  std::vector<obs::Stamped> run;
  const auto add = [&](std::int64_t us, obs::NodeId node, const obs::Observation& what) {
    run.push_back({{us * 1000}, node, what});
  };
  add(0, a, obs::NodeStarted{1});
  add(0, a, obs::ClockRate{{5'000'000'000}, 20'000});
  add(10, a, obs::LockRequested{{3}, alice, sim::seconds(2), sim::seconds(10)});
  add(12, a, obs::MessageSent{77, b, obs::MessageKind::lockRequest, alice});
  add(900, b, obs::MessageDelivered{77, a, obs::MessageKind::lockRequest});
  add(901, b, obs::Granted{alice, a, token, obs::Path::clean, false, sim::seconds(15)});
  add(1800, a, obs::Admitted{{3}, alice, token, obs::Path::clean, false, {20'100'000'000}});
  add(1801, a, obs::Read{{3}, alice, 0b0101, {{{4}, {}, {9}, {}}}, {{10, 0, -20, 0}}});
  add(1900, a,
      obs::Staged{{11},
                  {3},
                  alice,
                  obs::WriteOp::patch,
                  0b0001,
                  false,
                  {1'700'000'000'000'000'000},
                  {{11, 0, 0, 0}}});
  add(1910, a, obs::Submitted{{11}, {3}, alice, 1});
  add(2500, a, obs::Settled{{11}, true, false, 42});
  add(2600, a, obs::Unlocked{{3}, alice});
  add(3000, b, obs::Applied{a, 42, false});
  add(3001, obs::NodeId::none(), obs::PhaseChanged{obs::Phase::end});
  return run;
}

/// A directory of this test's own.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory: " + pattern);
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string contentOf(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("no file " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void writeFile(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace holdfast::traces
