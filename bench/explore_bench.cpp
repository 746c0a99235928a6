// The explorer, side by side with SPIN where that is installed: the model whose counts both agree on, and the
// real delegation protocol.

#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <string>

#include "explore/configuration.hpp"
#include "explore/searches.hpp"
#include "tests/explore/calibration_model.hpp"

namespace holdfast::bench {
namespace {

/// States a second of SPIN's depth-first search of the calibration model with three grants, taken once in a
/// run, before anything is compared with it; 0 where SPIN is not installed.
double spinRate() {
  static const double rate = [] {
    double states = 0;
    std::FILE* pipe = popen(HOLDFAST_SOURCE_DIR "/tests/explore/spin.sh 3 2>/dev/null", "r");
    if (pipe == nullptr) return 0.0;
    std::array<char, 256> line{};
    if (std::fgets(line.data(), line.size(), pipe) != nullptr) {
      const std::string text = line.data();
      const std::size_t at = text.rfind(' ');
      if (at != std::string::npos) states = std::strtod(text.c_str() + at, nullptr);
    }
    pclose(pipe);
    return states;
  }();
  return rate;
}

/// `alone`: the rate of one thread, which is taken first.
void report(benchmark::State& state, const explore::Result& result, double& alone) {
  const double rate = static_cast<double>(result.states) / result.seconds;
  if (state.range(0) == 1) alone = rate;
  if (state.range(0) != 1 && alone > 0) state.counters["toOneThread"] = rate / alone;
  state.counters["states"] = static_cast<double>(result.states);
  state.counters["transitions"] = static_cast<double>(result.transitions);
  state.counters["states/s"] = rate;
  state.counters["bytes/state"] = static_cast<double>(result.setBytes) / static_cast<double>(result.states);
  if (spinRate() > 0) state.counters["toSpin"] = rate / spinRate();
}

void exploreCalibration(benchmark::State& state) {
  explore::Limits limits;
  limits.jobs = static_cast<unsigned>(state.range(0));
  spinRate();
  explore::Result result;
  for (auto _ : state) {
    result = explore::calibration::search({3, explore::calibration::Bug::none, false}, limits);
  }
  if (result.states != 6'043'732) state.SkipWithError("the engine counts wrongly");
  static double alone = 0;
  report(state, result, alone);
}
BENCHMARK(exploreCalibration)->Arg(1)->Arg(2)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

/// One home, three delegates, one key, one loss: the first two million states of the real protocol.
void exploreDelegation(benchmark::State& state) {
  explore::Configuration configuration;
  configuration.name = "bench";
  configuration.nodes = 4;
  configuration.ticks.wait = 2;
  configuration.ticks.grace = 0;
  configuration.ticks.retry = 1;
  configuration.budgets.losses = 1;
  for (std::uint8_t node = 1; node < 4; ++node) configuration.clients.push_back({node, explore::section(0)});
  if (const std::string wrong = explore::whatIsWrong(configuration); !wrong.empty()) {
    state.SkipWithError(wrong.c_str());
    return;
  }
  explore::Limits limits;
  limits.jobs = static_cast<unsigned>(state.range(0));
  limits.states = 2'000'000;
  spinRate();
  explore::Result result;
  for (auto _ : state) {
    const explore::World world(configuration);
    result = explore::breadthFirst(world, limits);
  }
  if (result.verdict == explore::Verdict::violated) state.SkipWithError("a violation");
  static double alone = 0;
  report(state, result, alone);
}
BENCHMARK(exploreDelegation)->Arg(1)->Arg(2)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holdfast::bench
