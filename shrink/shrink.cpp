#include "shrink/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "shrink/ddmin.hpp"
#include "shrink/edits.hpp"
#include "shrink/first_of.hpp"
#include "sim/random.hpp"

namespace holdfast::shrink {
namespace {

using obs::TrueInstant;
using scenarios::RunReport;

// How many ways to put nodes in each other's place are tried for one number of nodes; beyond it a sample is.
constexpr std::uint64_t kMostMaps = 300;
// Where a smaller case passes under the draws at hand, it is tried under those of this many other seeds.
constexpr std::uint64_t kOtherSeeds = 15;
// The stages follow each other until none makes the case smaller, or this often.
constexpr int kRounds = 6;
// How many candidates are judged between two looks at the clock and at the progress callback.
constexpr std::size_t kBatch = 16;

using Clock = std::chrono::steady_clock;

/// Breaks off the runs that are going on when the search is to end.
class EndOfSearch : public scenarios::RunProgress {
 public:
  explicit EndOfSearch(const ShrinkOptions& options)
      : progress_(options.progress),
        latest_(options.timeLimitNs ? Clock::now() + std::chrono::nanoseconds(*options.timeLimitNs)
                                    : Clock::time_point::max()) {}
  bool reached(obs::TrueInstant, std::uint64_t) override { return !came(); }
  bool came() const { return Clock::now() >= latest_ || (progress_ != nullptr && progress_->ends()); }

 private:
  const ShrinkProgress* progress_;
  Clock::time_point latest_;
};

/// The stages of shrinking one failure, each of which leaves a case that fails.
class Shrinker {
 public:
  Shrinker(const Case& whole, const ShrinkOptions& options, checkers::Signature signature, EndOfSearch& end)
      : options_(options), signature_(signature), end_(end), current_(whole) {}

  void shrink() {
    cutTail();
    for (int round = 0; round < kRounds && !stopped_; ++round) {
      const Case before = current_;
      takeStepsOut();
      cutTail();
      applyAll("plainer values", sweepingEdits());
      useFewerKeys();
      useFewerNodes();
      takeStepsOut();
      takeStepsOutUnderOtherDraws();
      applyAll("shorter times", timeEdits(current_));
      applyAll("rounder values", singleEdits(current_));
      cutTail();
      numberSteps();
      if (current_ == before) break;
    }
  }

  const Case& smallest() const { return current_; }
  std::uint64_t runs() const { return runs_; }
  bool complete() const { return !stopped_; }
  RunReport run(const Case& candidate) const {
    return scenarios::runPlan(candidate.options, options_.rules, candidate.plan);
  }

 private:
  using CaseAt = std::function<Case(std::size_t)>;

  bool fails(const Case& candidate) {
    if (end_.came()) return false;
    if (!scenarios::validate(candidate.options) || !scenarios::validate(candidate.plan, candidate.options)) {
      return false;
    }
    ++runs_;
    if (options_.fails) return options_.fails(candidate);
    const RunReport report =
        scenarios::runPlan(candidate.options, options_.rules, candidate.plan, nullptr, &end_);
    // What is found before a run is broken off is found in the whole run.
    return checkers::firstOf(report.findings, signature_) != nullptr;
  }

  /// The index of the first candidate of `from` to `count` - 1 that fails.
  std::optional<std::size_t> firstFailing(std::string_view stage, std::size_t from, std::size_t count,
                                          const CaseAt& candidate) {
    for (std::size_t begin = from; begin < count && goOn(stage); begin += kBatch) {
      const std::size_t size = std::min(kBatch, count - begin);
      const auto failing = firstOf(size, options_.jobs, [&](std::size_t i) {
        const Case tried = candidate(begin + i);
        return tried != current_ && fails(tried);
      });
      if (failing) return begin + *failing;
    }
    return std::nullopt;
  }

  bool goOn(std::string_view stage) {
    if (end_.came()) stopped_ = true;
    if (options_.progress != nullptr && !options_.progress->reached(stage, sizeOf(current_), runs_)) {
      stopped_ = true;
    }
    return !stopped_;
  }

  /// Applies each edit to what the edits before it have left, if that still fails.
  void applyAll(std::string_view stage, const std::vector<Edit>& edits) {
    std::size_t next = 0;
    while (next < edits.size()) {
      const auto accepted =
          firstFailing(stage, next, edits.size(), [&](std::size_t i) { return edits[i](current_); });
      if (!accepted) return;
      current_ = edits[*accepted](current_);
      next = *accepted + 1;
    }
  }

  void takeStepsOut() {
    const Case whole = current_;
    const Steps steps(whole);
    if (steps.size() == 0) return;
    const Subset kept = ddmin(steps.size(), [&](std::span<const Subset> candidates) {
      return firstFailing("fewer steps", 0, candidates.size(),
                          [&](std::size_t i) { return steps.only(candidates[i]); });
    });
    // A search that was stopped has kept a part that fails, or everything.
    current_ = steps.only(kept);
  }

  /// The case under the draws of other seeds: number 0 is the seed at hand.
  static Case underSeed(Case candidate, std::uint64_t number) {
    if (number > 0) candidate.options.seed = number;
    return candidate;
  }

  /// A coincidence that a step is needed for may be had from other draws instead.
  void takeStepsOutUnderOtherDraws() {
    for (bool found = true; found;) {
      const Case whole = current_;
      const Steps steps(whole);
      const auto candidate = [&](std::size_t i) {
        Subset kept;
        for (std::size_t step = 0; step < steps.size(); ++step) {
          if (step != i % steps.size()) kept.push_back(step);
        }
        return underSeed(steps.only(kept), i / steps.size());
      };
      const auto failing = firstFailing("other draws", 0, steps.size() * (kOtherSeeds + 1), candidate);
      found = failing.has_value();
      if (found) current_ = candidate(*failing);
      if (found) takeStepsOut();
    }
  }

  /// What happens after the failure has no part in it, unless it is found at the end of the run.
  void cutTail() {
    if (options_.fails) return;
    const RunReport report = run(current_);
    const checkers::Finding* const found = checkers::firstOf(report.findings, signature_);
    if (found == nullptr || found->at >= current_.plan.endAt) return;
    std::vector<TrueInstant> ends;
    for (const sim::Duration grain : {sim::seconds(1), sim::milliseconds(100), sim::milliseconds(1)}) {
      ends.push_back({(found->at.ns / grain.ns + 1) * grain.ns});
    }
    applyAll("an earlier end", [&] {
      std::vector<Edit> edits;
      for (const TrueInstant end : ends) {
        edits.emplace_back([end](const Case& c) { return end < c.plan.endAt ? cutAt(c, end) : c; });
      }
      return edits;
    }());
  }

  void useFewerKeys() {
    const std::vector<std::uint32_t> used = keysIn(current_);
    const std::uint32_t keys = current_.options.keys;
    std::vector<std::pair<std::vector<std::uint32_t>, std::uint32_t>> maps;
    for (std::uint32_t only = 0; only < keys && only < 16; ++only) maps.push_back({{}, only + 1});
    for (auto& [to, count] : maps) to.assign(keys, count - 1);
    // The keys in use side by side, in their order.
    std::vector<std::uint32_t> dense(keys, 0);
    for (std::size_t i = 0; i < used.size(); ++i) dense[used[i]] = static_cast<std::uint32_t>(i);
    maps.push_back({dense, std::max<std::uint32_t>(1, static_cast<std::uint32_t>(used.size()))});
    if (!used.empty()) {
      std::vector<std::uint32_t> same(keys);
      for (std::uint32_t i = 0; i < keys; ++i) same[i] = std::min(i, used.back());
      maps.push_back({same, used.back() + 1});
    }
    std::erase_if(maps, [&](const auto& map) { return map.second >= keys; });
    const auto candidate = [&](std::size_t i) {
      const auto& [to, count] = maps[i % maps.size()];
      return underSeed(withKeys(current_, to, count), i / maps.size());
    };
    const auto found = firstFailing("fewer keys", 0, maps.size() * (kOtherSeeds + 1), candidate);
    if (found) current_ = candidate(*found);
  }

  /// Which node takes whose place: number `index` of the maps of `used` nodes to `nodes`.
  std::vector<std::uint16_t> nodeMap(const std::vector<std::uint16_t>& used, std::uint16_t nodes,
                                     std::uint64_t index) const {
    std::vector<std::uint16_t> to(current_.options.nodes, 0);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::uint16_t>(i % nodes);
    for (const std::uint16_t node : used) {
      to[node] = static_cast<std::uint16_t>(index % nodes);
      index /= nodes;
    }
    return to;
  }

  void useFewerNodes() {
    const std::vector<std::uint16_t> used = nodesIn(current_);
    const std::vector<std::uint32_t> keys = keysIn(current_);
    for (std::uint16_t nodes = 1; nodes < current_.options.nodes; ++nodes) {
      std::uint64_t maps = 1;
      for (std::size_t i = 0; i < used.size() && maps < (std::uint64_t{1} << 40); ++i) maps *= nodes;
      const std::uint64_t tried = std::min(maps, kMostMaps);
      // Where a key's home is depends on the nodes, so each map is tried with other keys in place of a single
      // one.
      const std::uint32_t names = keys.size() == 1 ? 4 : 1;
      const auto candidate = [&](std::size_t i) {
        const auto name = static_cast<std::uint32_t>(i % names);
        const std::uint64_t number = i / names % tried;
        const std::uint64_t map = maps <= kMostMaps ? number : sim::scaleBelow(sim::mix(nodes, number), maps);
        Case mapped = withNodes(current_, nodeMap(used, nodes, map), nodes);
        if (names > 1)
          mapped = withKeys(mapped, std::vector<std::uint32_t>(current_.options.keys, name), name + 1);
        return underSeed(std::move(mapped), i / names / tried);
      };
      const auto found = firstFailing("fewer nodes", 0, tried * names * (kOtherSeeds + 1), candidate);
      if (!found) continue;
      current_ = candidate(*found);
      return;
    }
  }

  /// Ids from 1 on in the order of time; other ids have other draws, so this too has to be tried.
  void numberSteps() {
    applyAll("plain numbers", {[](const Case& c) {
               Case numbered = c;
               std::ranges::stable_sort(numbered.plan.operations, {}, &scenarios::Operation::at);
               std::ranges::stable_sort(numbered.plan.faults, {}, &scenarios::Fault::at);
               std::uint64_t id = 0;
               for (auto& operation : numbered.plan.operations) operation.id = ++id;
               for (auto& fault : numbered.plan.faults) fault.id = ++id;
               return numbered;
             }});
  }

  const ShrinkOptions& options_;
  checkers::Signature signature_;
  EndOfSearch& end_;
  Case current_;
  std::atomic<std::uint64_t> runs_ = 0;
  bool stopped_ = false;
};

/// What the failure is known by; the error says why there is none.
std::expected<checkers::Signature, std::string> signatureToKeep(const Case& whole,
                                                                const ShrinkOptions& options,
                                                                EndOfSearch& end) {
  if (options.fails) {
    if (options.fails(whole)) return checkers::Signature{};
    return std::unexpected("the case does not fail, so there is nothing to shrink");
  }
  const RunReport report = scenarios::runPlan(whole.options, options.rules, whole.plan, nullptr, &end);
  const std::vector<checkers::Signature> kinds = checkers::signaturesOf(report.findings);
  if (report.stopped) return std::unexpected("the run was cut before its end, so there is nothing to shrink");
  if (kinds.empty() && !options.signature) {
    return std::unexpected("the run breaks no promise, so there is nothing to shrink");
  }
  const checkers::Signature signature = options.signature ? *options.signature : kinds.front();
  if (checkers::firstOf(report.findings, signature) != nullptr) return signature;
  return std::unexpected(fmt::format("the run does not fail by {}; {}", checkers::describe(signature),
                                     kinds.empty()
                                         ? "it breaks no promise"
                                         : "its first violation is by " + checkers::describe(kinds.front())));
}

}  // namespace

std::expected<ShrinkResult, std::string> shrink(const Case& whole, const ShrinkOptions& options) {
  EndOfSearch end(options);
  const auto signature = signatureToKeep(whole, options, end);
  if (!signature) return std::unexpected(signature.error());
  Shrinker shrinker(whole, options, *signature, end);
  shrinker.shrink();
  ShrinkResult result;
  result.smallest = shrinker.smallest();
  result.signature = *signature;
  result.before = sizeOf(whole);
  result.after = sizeOf(result.smallest);
  result.runs = shrinker.runs();
  result.complete = shrinker.complete();
  result.report = shrinker.run(result.smallest);
  return result;
}

}  // namespace holdfast::shrink
