// Breadth-first search: visits every reachable state level by level, and meets a bad one on a shortest path.
//
// The frontier is taken in blocks. Of each block the successors' fingerprints are computed, then inserted
// into the visited set, and only the new states are made and kept. All three parts run on several threads:
// the first and the last by chunks of the block, the second by shards of the set, so that no two threads
// write at the same place. The order of what they produce is that of the frontier, so counts, paths and
// verdicts are the same for any number of threads. The bad state reported is the first of its level.
//
// With Limits::reduce, a model that tells which choices commute is explored with fewer transitions; states,
// depths and paths' lengths are the same (independence.hpp).
//
// Memory is bounded: before a block is inserted, what it can take at most is added up, and the search stops
// with Cut::memory rather than exceed the limit.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "explore/fingerprint_set.hpp"
#include "explore/independence.hpp"
#include "explore/paged_vector.hpp"
#include "explore/search.hpp"
#include "explore/search_tree.hpp"
#include "explore/workers.hpp"

namespace holdfast::explore {

template <Model M>
class BreadthFirst {
 public:
  /// `model` must outlive the search.
  BreadthFirst(const M& model, Limits limits)
      : model_(model),
        limits_(std::move(limits)),
        workers_(std::max(1U, limits_.jobs)),
        recent_(workers_.count()) {
    for (std::size_t shard = 0; shard < owners_.size(); ++shard) {
      owners_[shard] = static_cast<unsigned>(shard % workers_.count());
    }
    for (Chunk& chunk : chunks_) chunk.candidates.resize(workers_.count());
  }

  /// Searches from the initial state, or from where a resumed search stood. Call it once.
  Result run();

  /// Takes a search up again that was cut short. False when the tree does not fit this model. Limits::seconds
  /// counts from when that is done, and cuts no search before it has completed a level of its own: else one
  /// that is cut short again and again would come no further.
  bool resume(SearchTree tree);

  /// How much that takes, about.
  static std::size_t bytesToResume(const SearchTree& tree) {
    std::size_t widest = 0;
    for (std::size_t level = 0; level < tree.levels.size(); ++level) {
      const std::uint64_t end = level + 1 < tree.levels.size() ? tree.levels[level + 1] : tree.size();
      widest = std::max<std::size_t>(widest, end - tree.levels[level]);
    }
    return tree.bytes() + tree.size() * 2 * sizeof(std::uint64_t) + widest * 2 * sizeof(State);
  }

  /// What a checkpoint keeps of a search: its complete levels are the first `states` of the tree.
  using Keep = std::function<void(const SearchTree& tree, std::uint64_t states)>;
  /// Calls `keep` during run() when so many seconds have passed and one more level is complete. The search
  /// stands still meanwhile, so where that takes long it is called less often: for a twentieth of the time.
  void keepEvery(double seconds, Keep keep) {
    keep_ = std::move(keep);
    keepSeconds_ = seconds;
  }
  /// Calls `keep` with what is complete. Call it after run().
  void keepNow(const Keep& keep) const { keep(tree_, tree_.levels.back() + frontier_.size()); }

 private:
  using State = typename M::State;
  using Choice = typename M::Choice;

  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kChunks = 32;
  static constexpr std::size_t kAhead = 16;  // entries that are prefetched

  // A step that costs much is taken once and its state kept until the block is done; others are taken again
  // for the few successors that are new.
  static constexpr bool kKeepsSuccessors = requires { requires M::kCostlySteps; };
  struct Nothing {};

  struct Successor {
    [[no_unique_address]] std::conditional_t<kKeepsSuccessors, State, Nothing> state;
    Choice choice;
    std::uint32_t parent;  // in the frontier
    std::uint16_t ordinal;
    bool fresh;
  };
  struct Candidate {
    std::uint64_t fingerprint;
    std::uint32_t successor;  // in the chunk
  };
  // What different threads write at a time shares no cache line.
  struct alignas(kCacheLine) Chunk {
    std::vector<Successor> successors;
    std::vector<std::vector<Candidate>> candidates;  // by the worker that inserts them; then the new ones
    std::size_t transitions = 0;
    std::size_t asleep = 0;
    std::size_t beyond = 0;
    std::uint64_t digest = 0;  // of the fingerprints of its new states
    std::size_t base = 0;      // where its new states go
    std::size_t bad = kNone;   // its first new state that is bad, by place in the next level
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  // What a worker has met lately. Whatever it knows it has met earlier in the order of the frontier, or in a
  // block that is done: most successors that are not new need not be looked up in the visited set.
  class alignas(kCacheLine) Recent {
   public:
    bool knows(std::uint64_t fingerprint) {
      std::uint64_t& slot = slots_[fingerprint & (kSlots - 1)];
      if (slot == fingerprint) return true;
      slot = fingerprint;
      return false;
    }

   private:
    static constexpr std::size_t kSlots = std::size_t{1} << 13;
    std::vector<std::uint64_t> slots_ = none();

    /// In each slot a fingerprint that belongs into another one.
    static std::vector<std::uint64_t> none() {
      std::vector<std::uint64_t> slots(kSlots);
      slots[0] = 1;
      return slots;
    }
  };

  bool reduces() const { return CommutingModel<M> && limits_.reduce; }
  Sleepers sleepers(const State& before, const Choice& first, const State& after) const;
  void start();
  bool expandLevel(Result& result);
  void expand(std::size_t from, std::size_t to);
  void insert();
  void keep(std::size_t freshStates);
  void keepChunk(Chunk& chunk, std::size_t level);
  Cut cutBefore(std::size_t successors) const;
  void keepIfDue();
  void expandChunk(Chunk& chunk, Recent& recent, std::size_t from, std::size_t to);
  template <class Body>
  void eachChunk(const Body& body);
  std::size_t bytesNow() const {
    return visited_.bytes() + tree_.bytes() + frontier_.bytes() + next_.bytes() + asleep_.bytes() +
           nextAsleep_.bytes() + bytesOf(model_);
  }
  void tell(std::uint64_t transitions);

  const M& model_;
  Limits limits_;
  Workers workers_;
  Stopwatch watch_;
  FingerprintSet visited_;
  SearchTree tree_;
  PagedVector<State, 12> frontier_;
  PagedVector<State, 12> next_;
  PagedVector<Sleepers, 12> asleep_;  // of the frontier; nothing without reduction
  PagedVector<Sleepers, 12> nextAsleep_;
  std::vector<Chunk> chunks_ = std::vector<Chunk>(kChunks);
  std::vector<Recent> recent_;                            // by worker
  std::array<unsigned, FingerprintSet::kShards> owners_;  // which worker inserts into a shard
  std::size_t used_ = 0;                                  // chunks of the block at hand
  std::uint64_t transitions_ = 0;
  std::uint64_t sleeping_ = 0;  // choices left out
  std::uint64_t beyond_ = 0;    // states
  std::uint64_t digest_ = 0;    // of the fingerprints
  std::size_t expanded_ = 0;    // states of the frontier
  std::size_t peak_ = 0;
  std::size_t rebuiltLevels_ = 0;  // of the search that is taken up again
  double rebuiltAt_ = 0;           // seconds
  Keep keep_;
  double keepSeconds_ = 0;
  double keepsAt_ = 0;  // seconds
  std::size_t keptLevels_ = 0;
};

template <Model M>
void BreadthFirst<M>::start() {
  if (tree_.size() != 0) return;
  const State initial = model_.initial();
  visited_.insert(model_.fingerprint(initial));
  tree_.parents.push(0);
  tree_.ordinals.push(0);
  tree_.levels = {0};
  tree_.digest = model_.fingerprint(initial);
  frontier_.push(initial);
  if (reduces()) asleep_.push(0);
}

template <Model M>
Sleepers BreadthFirst<M>::sleepers(const State& before, const Choice& first, const State& after) const {
  if constexpr (CommutingModel<M>) {
    thread_local std::vector<Choice> choices;
    choices.clear();
    model_.choices(after, choices);
    return sleepersOf(model_, before, first, after, choices);
  } else {
    return 0;
  }
}

template <Model M>
Result BreadthFirst<M>::run() {
  start();
  Result result;
  transitions_ = tree_.transitions;
  sleeping_ = tree_.asleep;
  digest_ = tree_.digest;
  keptLevels_ = tree_.levels.size();
  keepsAt_ = rebuiltAt_ + keepSeconds_;
  result.judgement = tree_.size() == 1 ? model_.judge(frontier_[0]) : Judgement{};
  if (result.judgement.bad()) {
    result.verdict = Verdict::violated;
  } else {
    while (expandLevel(result)) {
    }
  }
  result.states = visited_.size();
  result.transitions = transitions_;
  result.asleep = sleeping_;
  result.beyond = beyond_;
  result.bytes = std::max(peak_, bytesNow());
  result.setBytes = visited_.bytes() + tree_.bytes();
  result.seconds = watch_.seconds();
  return result;
}

/// Expands the whole frontier; false when the search is over.
template <Model M>
bool BreadthFirst<M>::expandLevel(Result& result) {
  result.depth = static_cast<std::uint32_t>(tree_.levels.size() - 1);
  if (limits_.depth != 0 && result.depth >= limits_.depth) {
    result.cut = Cut::depth;
    return false;
  }
  for (std::size_t from = 0; from < frontier_.size(); from += kChunk * kChunks) {
    keepIfDue();
    const std::size_t to = std::min(from + kChunk * kChunks, frontier_.size());
    expand(from, to);
    std::size_t successors = 0;
    for (std::size_t i = 0; i < used_; ++i) successors += chunks_[i].transitions;
    result.cut = cutBefore(successors);
    if (result.cut != Cut::none) return false;
    insert();
    std::size_t fresh = 0;
    for (std::size_t i = 0; i < used_; ++i) {
      chunks_[i].base = next_.size() + fresh;
      for (const auto& candidates : chunks_[i].candidates) fresh += candidates.size();
      sleeping_ += chunks_[i].asleep;
    }
    keep(fresh);
    transitions_ += successors;
    expanded_ = to;
    tell(transitions_);
    for (std::size_t i = 0; i < used_; ++i) {
      beyond_ += chunks_[i].beyond;
      digest_ ^= chunks_[i].digest;
    }
    for (std::size_t i = 0; i < used_; ++i) {
      if (chunks_[i].bad == kNone) continue;
      result.verdict = Verdict::violated;
      result.judgement = model_.judge(next_[chunks_[i].bad]);
      result.path = tree_.pathTo(tree_.levels.back() + frontier_.size() + chunks_[i].bad);
      result.depth += 1;
      return false;
    }
  }
  peak_ = std::max(peak_, bytesNow());
  if (next_.empty()) {
    result.verdict = Verdict::verified;
    return false;
  }
  tree_.levels.push_back(tree_.levels.back() + frontier_.size());
  tree_.transitions = transitions_;
  tree_.asleep = sleeping_;
  tree_.digest = digest_;
  frontier_.swap(next_);
  next_.clear();
  asleep_.swap(nextAsleep_);
  nextAsleep_.clear();
  expanded_ = 0;
  return true;
}

template <Model M>
template <class Body>
void BreadthFirst<M>::eachChunk(const Body& body) {
  std::atomic<std::size_t> taken{0};
  workers_.run([&](unsigned worker) {
    for (std::size_t i = taken++; i < used_; i = taken++) body(worker, i);
  });
}

template <Model M>
void BreadthFirst<M>::expand(std::size_t from, std::size_t to) {
  used_ = (to - from + kChunk - 1) / kChunk;
  eachChunk([&](unsigned worker, std::size_t index) {
    const std::size_t begin = from + index * kChunk;
    expandChunk(chunks_[index], recent_[worker], begin, std::min(begin + kChunk, to));
  });
}

template <Model M>
void BreadthFirst<M>::expandChunk(Chunk& chunk, Recent& recent, std::size_t from, std::size_t to) {
  thread_local std::vector<Choice> choices;
  chunk.successors.clear();
  for (auto& candidates : chunk.candidates) candidates.clear();
  chunk.transitions = 0;
  chunk.asleep = 0;
  chunk.beyond = 0;
  chunk.digest = 0;
  chunk.bad = kNone;
  for (std::size_t place = from; place < to; ++place) {
    const State& state = frontier_[place];
    choices.clear();
    model_.choices(state, choices);
    const Sleepers asleep = reduces() ? asleep_[place] : 0;
    for (std::size_t ordinal = 0; ordinal < choices.size(); ++ordinal) {
      if (sleeps(asleep, ordinal)) {
        ++chunk.asleep;
        continue;
      }
      ++chunk.transitions;
      State successor = state;
      model_.apply(successor, choices[ordinal]);
      const std::uint64_t fingerprint = model_.fingerprint(successor);
      if (recent.knows(fingerprint)) continue;
      const auto number = static_cast<std::uint32_t>(chunk.successors.size());
      chunk.candidates[owners_[FingerprintSet::shardOf(fingerprint)]].push_back({fingerprint, number});
      Successor& kept = chunk.successors.emplace_back();
      if constexpr (kKeepsSuccessors) kept.state = successor;
      kept.choice = choices[ordinal];
      kept.parent = static_cast<std::uint32_t>(place);
      kept.ordinal = static_cast<std::uint16_t>(ordinal);
      kept.fresh = false;
    }
  }
}

template <Model M>
void BreadthFirst<M>::insert() {
  workers_.run([&](unsigned worker) {
    for (std::size_t index = 0; index < used_; ++index) {
      std::vector<Candidate>& candidates = chunks_[index].candidates[worker];
      const std::size_t size = candidates.size();
      for (std::size_t i = 0; i < std::min(kAhead, size); ++i) visited_.prefetch(candidates[i].fingerprint);
      std::size_t fresh = 0;
      for (std::size_t i = 0; i < size; ++i) {
        if (i + kAhead < size) visited_.prefetch(candidates[i + kAhead].fingerprint);
        const Candidate candidate = candidates[i];
        candidates[fresh] = candidate;
        fresh += visited_.insert(candidate.fingerprint) ? 1 : 0;
      }
      candidates.resize(fresh);
    }
  });
}

template <Model M>
void BreadthFirst<M>::keep(std::size_t freshStates) {
  next_.resize(next_.size() + freshStates);
  if (reduces()) nextAsleep_.resize(next_.size());
  tree_.parents.resize(tree_.parents.size() + freshStates);
  tree_.ordinals.resize(tree_.ordinals.size() + freshStates);
  const std::size_t level = static_cast<std::size_t>(tree_.levels.back());
  eachChunk([&](unsigned, std::size_t index) { keepChunk(chunks_[index], level); });
}

template <Model M>
void BreadthFirst<M>::keepChunk(Chunk& chunk, std::size_t level) {
  for (const auto& fresh : chunk.candidates) {
    for (const Candidate& candidate : fresh) {
      chunk.successors[candidate.successor].fresh = true;
      chunk.digest ^= candidate.fingerprint;
    }
  }
  std::size_t place = chunk.base;
  for (const Successor& successor : chunk.successors) {
    if (!successor.fresh) continue;
    State& state = next_[place];
    if constexpr (kKeepsSuccessors) {
      state = successor.state;
    } else {
      state = frontier_[successor.parent];
      model_.apply(state, successor.choice);
    }
    if (reduces()) nextAsleep_[place] = sleepers(frontier_[successor.parent], successor.choice, state);
    const std::size_t record = level + frontier_.size() + place;
    tree_.parents[record] = static_cast<std::uint32_t>(level + successor.parent);
    tree_.ordinals[record] = successor.ordinal;
    if (isBeyond(model_, state)) ++chunk.beyond;
    if (chunk.bad == kNone && model_.judge(state).bad()) chunk.bad = place;
    ++place;
  }
}

template <Model M>
Cut BreadthFirst<M>::cutBefore(std::size_t successors) const {
  if (limits_.interrupted != nullptr && limits_.interrupted->load(std::memory_order_relaxed)) {
    return Cut::interrupted;
  }
  const bool advanced = tree_.levels.size() > rebuiltLevels_;
  if (limits_.seconds > 0 && advanced && watch_.seconds() - rebuiltAt_ > limits_.seconds) return Cut::time;
  if (limits_.states != 0 && visited_.size() >= limits_.states) return Cut::states;
  if (tree_.size() + successors > UINT32_MAX) return Cut::states;
  if (limits_.memoryBytes != 0) {
    const std::size_t records = successors * (sizeof(State) + (reduces() ? sizeof(Sleepers) : 0) + 6);
    if (bytesNow() + visited_.growth(successors) + records > limits_.memoryBytes) return Cut::memory;
  }
  return Cut::none;
}

template <Model M>
void BreadthFirst<M>::keepIfDue() {
  if (!keep_ || tree_.levels.size() == keptLevels_ || watch_.seconds() < keepsAt_) return;
  const double before = watch_.seconds();
  keepNow(keep_);
  keptLevels_ = tree_.levels.size();
  const double after = watch_.seconds();
  constexpr double kShare = 20;
  keepsAt_ = after + std::max(keepSeconds_, kShare * (after - before));
}

template <Model M>
void BreadthFirst<M>::tell(std::uint64_t transitions) {
  if (!limits_.progress || !watch_.tellsNow()) return;
  peak_ = std::max(peak_, bytesNow());
  limits_.progress({visited_.size(), transitions, static_cast<std::uint32_t>(tree_.levels.size() - 1),
                    frontier_.size() - expanded_ + next_.size(), bytesNow(), watch_.seconds()});
}

template <Model M>
bool BreadthFirst<M>::resume(SearchTree tree) {
  std::vector<Choice> choices;
  visited_.clear();
  frontier_.clear();
  frontier_.push(model_.initial());
  std::uint64_t digest = model_.fingerprint(frontier_[0]);
  visited_.insert(digest);
  asleep_.clear();
  if (reduces()) asleep_.push(0);
  for (std::size_t level = 1; level < tree.levels.size(); ++level) {
    const std::uint64_t before = tree.levels[level - 1];
    const std::uint64_t begin = tree.levels[level];
    const std::uint64_t end = level + 1 < tree.levels.size() ? tree.levels[level + 1] : tree.size();
    next_.clear();
    nextAsleep_.clear();
    for (std::uint64_t i = begin; i < end; ++i) {
      if (tree.parents[i] < before || tree.parents[i] >= begin) return false;
      const State& parent = frontier_[tree.parents[i] - before];
      State state = parent;
      choices.clear();
      model_.choices(state, choices);
      if (tree.ordinals[i] >= choices.size()) return false;
      const Choice choice = choices[tree.ordinals[i]];
      model_.apply(state, choice);
      const std::uint64_t fingerprint = model_.fingerprint(state);
      if (!visited_.insert(fingerprint)) return false;
      digest ^= fingerprint;
      next_.push(state);
      if (isBeyond(model_, state)) ++beyond_;
      if (reduces()) nextAsleep_.push(sleepers(parent, choice, state));
    }
    frontier_.swap(next_);
    asleep_.swap(nextAsleep_);
    nextAsleep_.clear();
  }
  next_.clear();
  if (digest != tree.digest) return false;
  tree_ = std::move(tree);
  rebuiltLevels_ = tree_.levels.size();
  rebuiltAt_ = watch_.seconds();
  return true;
}

}  // namespace holdfast::explore
