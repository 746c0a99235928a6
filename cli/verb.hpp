// A verb of the command, such as "run": what it adds to the command line, and what it does.
//
// To add a verb: write cli/<verb>.cpp with one function that declares it, and add its line to HOLDFAST_VERBS.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli/output.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What a verb works with.
struct Session {
  Output& out;
  std::string program;  ///< The command as it was typed, for lines that can be pasted.
  /// Heap allocations of the calling thread so far; null: not counted.
  std::uint64_t (*allocations)() = nullptr;
};

/// Does the verb's work, once the command line was parsed.
using Action = std::function<Result(Session&)>;

// Name, and the function that declares it, in cli/<name>.cpp with _ for a hyphen.
// clang-format off: it would take a hyphen for a minus.
#define HOLDFAST_VERBS(X)             \
  X(run, declareRun)                  \
  X(sweep, declareSweep)              \
  X(merge, declareMerge)              \
  X(replay, declareReplay)            \
  X(shrink, declareShrink)            \
  X(check-corpus, declareCheckCorpus) \
  X(explore, declareExplore)          \
  X(skew, declareSkew)                \
  X(measure, declareMeasure)          \
  X(ablate, declareAblate)            \
  X(bugs, declareBugs)                \
  X(explain, declareExplain)          \
  X(show, declareShow)                \
  X(diff, declareDiff)                \
  X(check, declareCheck)              \
  X(list, declareList)
// clang-format on

#define HOLDFAST_DECLARE_VERB(name, declare) Action declare(CLI::App& app);
HOLDFAST_VERBS(HOLDFAST_DECLARE_VERB)
#undef HOLDFAST_DECLARE_VERB

struct Verb {
  std::string_view name;
  /// Adds description, options and example to `app`, and gives what is to be done when it was chosen.
  Action (*declare)(CLI::App& app);
};

std::span<const Verb> verbs();

}  // namespace holdfast::cli
