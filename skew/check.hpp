// Checking properties over many generated cases.
//
// Contract: the report is a pure function of the options but for the progress callback: the same for any
// number of jobs. It ends with the first case, by number, that breaks a property, and says how many cases it
// judged; a limit of real time is the caller's, who stops it through the callback.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "skew/distribution.hpp"
#include "skew/property.hpp"

namespace holdfast::skew {

class CheckProgress {
 public:
  virtual ~CheckProgress() = default;
  /// `judged` cases of `cases` are done. Returns whether to go on.
  virtual bool judged(std::uint64_t judged, std::uint64_t cases) = 0;
};

struct CheckOptions {
  GeneratorOptions generator;
  protocol::Rules rules;
  Properties properties = Properties::all();
  std::uint64_t firstCase = 0;
  std::uint64_t cases = 2'000;
  unsigned jobs = 1;
  CheckProgress* progress = nullptr;
};

/// A case that breaks properties, each once.
struct FailedCase {
  Generated made;
  std::vector<Broken> broken;
};

struct CheckReport {
  std::uint64_t judged = 0;
  Distribution distribution;  ///< Of the judged cases, the failed one among them.
  std::optional<FailedCase> failed;
  bool stopped = false;  ///< By the progress callback.
};

CheckReport check(const CheckOptions& options);

}  // namespace holdfast::skew
