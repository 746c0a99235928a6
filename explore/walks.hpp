// Sampled schedules, for state spaces too large to finish: uniform random walks, and schedules by priority.
//
// A priority schedule gives every actor a random priority and always takes a step of the enabled actor with
// the highest one, who then draws a new one: a low priority delays one event, not an actor for ever (Yuan,
// Yang and Gu, CAV 2018). At a few random places the foremost actor falls behind all others, as in Burckhardt
// et al. (ASPLOS 2010). Every draw is keyed by (seed, schedule, step or actor), so a schedule can be repeated
// by its number. Sampling never verifies anything: the verdict is violated or incomplete.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "explore/search.hpp"
#include "sim/random.hpp"

namespace holdfast::explore {

enum class Strategy : std::uint8_t { uniform, priorities };

struct WalkOptions {
  Strategy strategy = Strategy::uniform;
  std::uint64_t seed = 1;
  std::uint64_t schedules = 10'000;
  std::uint32_t length = 200;   ///< Steps of one schedule; Limits::depth does not matter.
  std::uint32_t orderings = 3;  ///< The d of priority schedules: it has d - 1 change points.
};

template <Model M>
class Walks {
 public:
  Walks(const M& model, Limits limits, const WalkOptions& options)
      : model_(model), limits_(std::move(limits)), options_(options), random_{options.seed} {}

  /// Runs the schedules until one meets a bad state. Nothing is stored, so Result::states stays 0 and
  /// Limits::states bounds nothing; Result::transitions counts the steps taken.
  Result run() {
    Result result;
    result.cut = Cut::schedules;
    for (std::uint64_t schedule = 0; schedule < options_.schedules; ++schedule) {
      if (walk(schedule, result)) {
        result.verdict = Verdict::violated;
        result.cut = Cut::none;
        break;
      }
      if (limits_.interrupted != nullptr && limits_.interrupted->load(std::memory_order_relaxed)) {
        result.cut = Cut::interrupted;
        break;
      }
      if (limits_.memoryBytes != 0 && bytesOf(model_) > limits_.memoryBytes) {
        result.cut = Cut::memory;
        break;
      }
      if (limits_.seconds > 0 && watch_.seconds() > limits_.seconds) {
        result.cut = Cut::time;
        break;
      }
      if (limits_.progress && watch_.tellsNow()) {
        limits_.progress({0, result.transitions, result.depth, 0, 0, watch_.seconds()});
      }
    }
    result.seconds = watch_.seconds();
    result.bytes = bytesOf(model_);
    return result;
  }

 private:
  using State = typename M::State;
  using Choice = typename M::Choice;

  enum Stream : std::uint64_t { kStep, kPriority, kChange };

  /// True when the schedule met a bad state; result.path is then its path.
  bool walk(std::uint64_t schedule, Result& result) {
    State state = model_.initial();
    result.path.clear();
    for (std::uint32_t step = 0;; ++step) {
      result.depth = std::max(result.depth, step);
      result.judgement = model_.judge(state);
      if (result.judgement.bad()) return true;
      choices_.clear();
      if (step < options_.length) model_.choices(state, choices_);
      if (choices_.empty()) break;
      result.transitions += 1;
      const std::size_t taken = options_.strategy == Strategy::uniform
                                    ? random_.below(choices_.size(), kStep, schedule, step)
                                    : byPriority(state, schedule, step);
      result.path.push_back(static_cast<std::uint16_t>(taken));
      model_.apply(state, choices_[taken]);
    }
    result.path.clear();
    return false;
  }

  /// Low priorities are those of actors that a change point has put behind; the later, the further.
  std::uint64_t priority(std::uint32_t actor, std::uint64_t schedule) const {
    for (std::size_t i = behind_.size(); i-- > 0;) {
      if (behind_[i] == actor) return behind_.size() - i;
    }
    const std::uint64_t turn = actor < turns_.size() ? turns_[actor] : 0;
    return random_.bits(kPriority, schedule, turn << 32 | actor) | (std::uint64_t{1} << 63);
  }

  /// The actor has had its step.
  void noteTurn(std::uint32_t actor) {
    if (actor >= turns_.size()) turns_.resize(actor + 1);
    ++turns_[actor];
    std::erase(behind_, actor);
  }

  std::size_t byPriority(const State& state, std::uint64_t schedule, std::uint32_t step) {
    if (step == 0) {
      behind_.clear();
      turns_.clear();
    }
    const auto best = [&] {
      std::uint32_t highest = actorOf(model_, state, choices_[0]);
      for (const Choice& choice : choices_) {
        const std::uint32_t actor = actorOf(model_, state, choice);
        if (priority(actor, schedule) > priority(highest, schedule)) highest = actor;
      }
      return highest;
    };
    for (std::uint32_t change = 1; change < options_.orderings; ++change) {
      if (random_.below(options_.length, kChange, schedule, change) == step) behind_.push_back(best());
    }
    const std::uint32_t chosen = best();
    noteTurn(chosen);
    std::size_t count = 0;
    for (const Choice& choice : choices_) count += actorOf(model_, state, choice) == chosen ? 1 : 0;
    std::size_t pick = random_.below(count, kStep, schedule, step);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (actorOf(model_, state, choices_[i]) == chosen && pick-- == 0) return i;
    }
    return 0;
  }

  const M& model_;
  Limits limits_;
  WalkOptions options_;
  sim::KeyedRandom random_;
  Stopwatch watch_;
  std::vector<Choice> choices_;
  std::vector<std::uint32_t> behind_;
  std::vector<std::uint32_t> turns_;  // by actor: how many steps it has had
};

}  // namespace holdfast::explore
