#include "skew/generate.hpp"

#include <algorithm>
#include <array>

#include "skew/families.hpp"

namespace holdfast::skew {
namespace {

constexpr std::uint64_t kCaseStream = 0x736b772e63617365ULL;  // "skw.case"

// Ids of the faults of clock histories, beyond all others; each node has a thousand of its own.
constexpr std::uint64_t kClockFaults = 4'000'000'000'000;

enum CasePart : std::uint64_t { ofFamily, ofProtocol, ofScript, ofSeed, ofClocks };

Draws drawsOf(const GeneratorOptions& options, std::uint64_t index) {
  return {sim::KeyedRandom{options.seed}.bits(kCaseStream, index, 0)};
}

Script scriptOf(const GeneratorOptions& options, const Draws& draws, Family family) {
  scenarios::RunOptions run;
  run.seed = draws.bits(ofSeed);
  run.protocol = options.protocol ? *options.protocol : drawProtocol(draws.of(ofProtocol), family);
  // What the plan's own clocks may do; histories are drawn by the bound of the case.
  run.faults.maxDriftPpb = 0;
  // Which erases stand hangs on wall clocks (LW-3), and asking others before one is forgotten takes messages:
  // with none forgotten, two runs that differ in wall clocks alone send the same ones.
  run.faults.briefRetentionPpm = 0;
  const Draws own = draws.of(ofScript);
  switch (family) {
    case Family::handoff:
      return writeHandoff(run, own);
    case Family::succession:
      return writeSuccession(run, own);
    case Family::everyday:
      return writeEveryday(run, own, false);
    case Family::healing:
      return writeEveryday(run, own, true);
  }
  return writeHandoff(run, own);
}

/// Gives every node its history.
void addClocks(const GeneratorOptions& options, const Script& script, const Draws& draws, Generated& made) {
  HistoryOptions history;
  history.maxDriftPpb = made.driftPpb;
  history.frozen = options.frozen;
  history.calmAt = script.plan.healAt;
  history.endAt = script.plan.endAt;
  history.longestStop = script.longestStop;
  scenarios::Plan& plan = made.whole.plan;
  plan.clocks.clear();
  for (std::uint16_t i = 0; i < script.options.nodes; ++i) {
    const obs::NodeId node{i};
    const Draws own = draws.of(i);
    const std::uint64_t firstId = kClockFaults + i * std::uint64_t{1'000};
    const ClockWish wish = i < script.wishes.size() ? script.wishes[i] : ClockWish{};
    NodeHistory drawn = wish.adversary
                            ? drawHistory(history, node, own, firstId, RateStyle::extreme, wish.faster)
                            : drawHistory(history, node, own, firstId);
    plan.clocks.push_back(drawn.clock);
    plan.faults.insert(plan.faults.end(), drawn.faults.begin(), drawn.faults.end());
    made.histories.push_back(std::move(drawn));
  }
}

}  // namespace

bool Generated::insideAssumption() const {
  const bool frozen = std::ranges::any_of(
      histories, [](const NodeHistory& history) { return history.stall == StallStyle::frozen; });
  return driftPpb <= coveredPpb && !frozen;
}

Generated generate(const GeneratorOptions& options, std::uint64_t index) {
  constexpr std::array<std::uint32_t, 4> families{45, 25, 15, 15};
  return generate(options, index, static_cast<Family>(drawsOf(options, index).weighted(families, ofFamily)));
}

Generated generate(const GeneratorOptions& options, std::uint64_t index, Family family) {
  const Draws draws = drawsOf(options, index);
  Generated made;
  made.index = index;
  made.family = family;
  const Script script = scriptOf(options, draws, made.family);
  made.whole = {script.options, script.plan};
  made.coveredPpb = scenarios::driftCovered(script.options.protocol);
  made.driftPpb = options.maxDriftPpb ? *options.maxDriftPpb : std::min(made.coveredPpb, kMostDriftPpb);
  made.whole.options.faults.maxDriftPpb = std::min(made.driftPpb, made.coveredPpb);
  addClocks(options, script, draws.of(ofClocks), made);
  return made;
}

}  // namespace holdfast::skew
