// Depth-first search with iterative bounds: for state spaces whose levels are too wide to keep.
//
// Each round searches to a bound, twice that of the round before, and remembers at which distance it met a
// state; one that is met again on a shorter path is expanded again, so a round misses nothing within its
// bound. The round that no bound cut is complete. The path found is not the shortest one.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "explore/fingerprint_set.hpp"
#include "explore/independence.hpp"
#include "explore/search.hpp"

namespace holdfast::explore {

/// Fingerprints with the least distance at which each was met, in flat open addressing.
class DistanceTable {
 public:
  /// Whether the state is new, or was never met at so small a distance; notes the distance.
  bool improve(std::uint64_t fingerprint, std::uint32_t distance) {
    const std::uint64_t value = fingerprint == 0 ? 1 : fingerprint;
    std::size_t place = value & (slots_.size() - 1);
    while (slots_[place].value != 0 && slots_[place].value != value)
      place = (place + 1) & (slots_.size() - 1);
    Slot& slot = slots_[place];
    if (slot.value == value) {
      if (slot.distance <= distance) return false;
      slot.distance = distance;
      return true;
    }
    slot = {value, distance};
    if (++size_ * 4 > slots_.size() * 3) grow();
    return true;
  }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }
  /// What it takes at most while it grows for one more.
  std::size_t growth() const { return (size_ + 1) * 4 > slots_.size() * 3 ? 2 * bytes() : 0; }

 private:
  struct Slot {
    std::uint64_t value = 0;
    std::uint32_t distance = 0;
  };
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value == 0) continue;
      std::size_t place = slot.value & (slots_.size() - 1);
      while (slots_[place].value != 0) place = (place + 1) & (slots_.size() - 1);
      slots_[place] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::size_t size_ = 0;
};

template <Model M>
class DepthFirst {
 public:
  /// `firstBound`: of the first round, at least 1. Limits::depth bounds the last one.
  DepthFirst(const M& model, Limits limits, std::uint32_t firstBound = 32)
      : model_(model), limits_(std::move(limits)), bound_(std::max(1U, firstBound)) {}

  Result run() {
    while (true) {
      if (limits_.depth != 0) bound_ = std::min(bound_, limits_.depth);
      Result result = round();
      result.seconds = watch_.seconds();
      const bool deeper = result.cut == Cut::depth && (limits_.depth == 0 || bound_ < limits_.depth);
      if (!deeper) return result;
      bound_ *= 2;
    }
  }

 private:
  using State = typename M::State;
  using Choice = typename M::Choice;

  /// A state on the path, and which of its choices is next.
  struct Step {
    State state;
    std::vector<Choice> choices;
    Sleepers asleep = 0;
    std::size_t next = 0;
  };

  Result round();
  bool enter(const State& state, Result& result);
  Cut cut() const;

  const M& model_;
  Limits limits_;
  std::uint32_t bound_;
  Stopwatch watch_;
  DistanceTable met_;
  std::vector<Step> path_;  // its vectors are used again; `length_` are on the path
  std::size_t length_ = 0;
};

template <Model M>
Cut DepthFirst<M>::cut() const {
  if (limits_.interrupted != nullptr && limits_.interrupted->load(std::memory_order_relaxed)) {
    return Cut::interrupted;
  }
  if (limits_.states != 0 && met_.size() >= limits_.states) return Cut::states;
  if (limits_.memoryBytes != 0 && met_.bytes() + met_.growth() + bytesOf(model_) > limits_.memoryBytes) {
    return Cut::memory;
  }
  return Cut::none;
}

/// Puts a state on the path; false when the search is over because it is bad.
template <Model M>
bool DepthFirst<M>::enter(const State& state, Result& result) {
  if (path_.size() == length_) path_.emplace_back();
  Step& step = path_[length_++];
  step.state = state;
  step.next = 0;
  step.choices.clear();
  result.depth = std::max(result.depth, static_cast<std::uint32_t>(length_ - 1));
  result.judgement = model_.judge(state);
  if (result.judgement.bad()) {
    result.verdict = Verdict::violated;
    for (std::size_t i = 0; i + 1 < length_; ++i) {
      result.path.push_back(static_cast<std::uint16_t>(path_[i].next - 1));
    }
    return false;
  }
  model_.choices(state, step.choices);
  step.asleep = 0;
  if constexpr (CommutingModel<M>) {
    if (limits_.reduce && length_ > 1) {
      const Step& before = path_[length_ - 2];
      step.asleep =
          sleepersOf(model_, before.state, before.choices[before.next - 1], step.state, step.choices);
    }
  }
  const auto asleep = static_cast<std::uint64_t>(std::popcount(step.asleep));
  result.transitions += step.choices.size() - asleep;
  result.asleep += asleep;
  if (length_ <= bound_) return true;
  if (!step.choices.empty()) result.cut = Cut::depth;
  step.choices.clear();
  return true;
}

template <Model M>
Result DepthFirst<M>::round() {
  Result result;
  met_ = DistanceTable();
  length_ = 0;
  const State initial = model_.initial();
  met_.improve(model_.fingerprint(initial), 0);
  bool open = enter(initial, result);
  std::uint64_t steps = 0;
  while (open && length_ != 0) {
    Step& step = path_[length_ - 1];
    if (step.next == step.choices.size()) {
      --length_;
      continue;
    }
    if (sleeps(step.asleep, step.next)) {
      ++step.next;
      continue;
    }
    State successor = step.state;
    model_.apply(successor, step.choices[step.next++]);
    const std::size_t known = met_.size();
    if (!met_.improve(model_.fingerprint(successor), static_cast<std::uint32_t>(length_))) continue;
    if (met_.size() != known && isBeyond(model_, successor)) ++result.beyond;
    open = enter(successor, result);
    Cut now = cut();
    if ((++steps & 0xfff) == 0) {
      if (limits_.seconds > 0 && watch_.seconds() > limits_.seconds) now = Cut::time;
      if (limits_.progress && watch_.tellsNow()) {
        limits_.progress(
            {met_.size(), result.transitions, result.depth, length_, met_.bytes(), watch_.seconds()});
      }
    }
    if (open && now != Cut::none) {
      result.cut = now;
      break;
    }
  }
  result.states = met_.size();
  result.setBytes = met_.bytes();
  result.bytes = met_.bytes() + bytesOf(model_);
  if (open && result.cut == Cut::none) result.verdict = Verdict::verified;
  return result;
}

}  // namespace holdfast::explore
