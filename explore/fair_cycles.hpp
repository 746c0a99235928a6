// Liveness on a finite model: whether somebody can wait for ever although everybody gets its turn.
//
// The whole graph of reachable states is kept. For each waiter, the states in which it waits are split into
// strongly connected components (Tarjan). A component with a cycle in it is fair when no actor is kept from
// acting: whoever could act in every one of its states does act in one of its steps. Faults are free to stay
// away, so they need no turn. A component that is not fair has no fair part either, so judging the maximal
// components misses nothing (weak fairness). A fair one is a schedule in which the waiter is never served and
// never refused.
//
// Of a state are kept its number by fingerprint, who waits in it, how it was met, and its edges, 8 bytes
// each; the states themselves only until they are expanded.
//
// A search that is cut short looks at the states that it has expanded: a fair cycle among them is one of the
// whole graph too, and when there is none, nothing is known.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "explore/fair_loop.hpp"
#include "explore/paged_vector.hpp"

namespace holdfast::explore {

/// A model that says who waits in a state, a bit each, whose turn a choice is, and which choices need not be
/// given one.
template <class M>
concept WaitingModel =
    Model<M> && requires(const M& model, const typename M::State& state, const typename M::Choice& choice) {
      { model.waiters(state) } -> std::same_as<std::uint32_t>;
      { model.turn(state, choice) } -> std::same_as<std::uint32_t>;
      { model.mayStayAway(choice) } -> std::same_as<bool>;
    };

template <WaitingModel M>
class FairCycles {
 public:
  /// `model` must outlive the search.
  FairCycles(const M& model, Limits limits) : model_(model), limits_(std::move(limits)) {}

  /// `violated` with `cycle` > 0 and a shortest path to one of the cycle's states and once round it, so that
  /// everybody gets its turn; also for a bad state, as any other search. Call it once.
  Result run();

 private:
  using State = typename M::State;
  using Choice = typename M::Choice;

  struct Edge {
    std::uint32_t to;
    std::uint32_t turn;  // kFreeTurn for one that may stay away
  };
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// What a component is to a waiter who waits in all of its states.
  struct Component {
    bool cyclic = false;
    bool fair = false;  // and has a cycle in which nobody is kept from acting
  };

  void expand(Result& result);
  bool expandOne(std::uint32_t at, const State& state, Result& result);
  Cut cutBefore(std::uint32_t at) const;
  std::uint32_t numberOf(const State& state, std::uint32_t parent, std::uint16_t ordinal);
  void findCycle(Result& result) const;
  void split(std::uint32_t waiter, std::vector<std::uint32_t>& component) const;
  Component judge(std::span<const std::uint32_t> members, const std::vector<std::uint32_t>& component) const;
  std::vector<std::uint16_t> pathTo(std::uint32_t state) const;
  template <class Wanted>
  void walk(std::uint32_t& at, std::vector<std::uint16_t>& path, const std::vector<std::uint32_t>& component,
            const Wanted& wanted) const;
  void goRound(std::uint32_t first, const std::vector<std::uint32_t>& component,
               std::vector<std::uint16_t>& path) const;
  bool waits(std::uint32_t state, std::uint32_t waiter) const {
    return (waiters_[state] >> waiter & 1U) != 0;
  }
  std::uint32_t count() const { return static_cast<std::uint32_t>(waiters_.size()); }
  /// Whose turns are possible in a state, sorted.
  std::vector<std::uint32_t> turnsOf(std::uint32_t state) const;
  std::size_t bytesOfNumbers() const { return numbers_.bucket_count() * 17; }
  std::size_t bytesNow() const {
    return level_.bytes() + next_.bytes() + waiters_.bytes() + parents_.bytes() + ordinals_.bytes() +
           firstEdge_.bytes() + edges_.bytes() + bytesOfNumbers() + bytesOf(model_);
  }
  /// What split() and findCycle() take at most: six numbers a state, and two of its frames.
  std::size_t bytesToSplit() const { return waiters_.size() * 40; }

  const M& model_;
  Limits limits_;
  Stopwatch watch_;
  PagedVector<State, 12> level_;  // that is being expanded
  PagedVector<State, 12> next_;
  PagedVector<std::uint32_t> waiters_;  // by state, like the next four
  PagedVector<std::uint32_t> parents_;
  PagedVector<std::uint16_t> ordinals_;
  PagedVector<std::uint64_t> firstEdge_;  // and the end
  PagedVector<Edge> edges_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> numbers_;
  std::size_t peak_ = 0;
};

template <WaitingModel M>
Result FairCycles<M>::run() {
  Result result;
  result.verdict = Verdict::verified;
  numberOf(model_.initial(), kNone, 0);
  expand(result);
  // The states that were not expanded have no way on.
  while (firstEdge_.size() <= waiters_.size()) firstEdge_.push(edges_.size());
  const bool bad = result.verdict == Verdict::violated;
  if (!bad && result.cut != Cut::interrupted) findCycle(result);
  result.states = waiters_.size();
  result.transitions = edges_.size();
  result.bytes = std::max(peak_, bytesNow() + (bad ? 0 : bytesToSplit()));
  result.seconds = watch_.seconds();
  return result;
}

/// Looks for the nearest fair cycle of the first waiter that has one.
template <WaitingModel M>
void FairCycles<M>::findCycle(Result& result) const {
  CyclesSeen& seen = result.cycles;
  for (std::uint32_t state = 0; state < count(); ++state) seen.waiters |= waiters_[state];
  std::vector<std::uint32_t> component;
  for (std::uint32_t waiter = 0; waiter < 32 && result.cycle == 0; ++waiter) {
    if ((seen.waiters >> waiter & 1U) == 0) continue;
    split(waiter, component);
    // Members by component, in the order of the states.
    std::vector<std::uint32_t> order;
    for (std::uint32_t state = 0; state < count(); ++state) {
      if (component[state] != kNone) order.push_back(state);
    }
    std::ranges::sort(order, {}, [&](std::uint32_t state) { return std::pair(component[state], state); });
    seen.states += order.size();
    std::uint32_t first = kNone;
    for (auto begin = order.begin(); begin != order.end();) {
      const auto end = std::find_if(
          begin, order.end(), [&](std::uint32_t state) { return component[state] != component[*begin]; });
      const std::span<const std::uint32_t> members(begin, end);
      const Component judged = judge(members, component);
      ++seen.components;
      if (judged.cyclic) ++seen.cyclic;
      if (judged.fair && members.front() < first) {
        first = members.front();
        result.cycle = members.size();
      }
      begin = end;
    }
    if (first == kNone) continue;
    result.verdict = Verdict::violated;
    result.cut = Cut::none;
    result.path = pathTo(first);
    goRound(first, component, result.path);
  }
}

template <WaitingModel M>
std::vector<std::uint32_t> FairCycles<M>::turnsOf(std::uint32_t state) const {
  std::vector<std::uint32_t> turns;
  for (std::uint64_t edge = firstEdge_[state]; edge != firstEdge_[state + 1]; ++edge) {
    if (edges_[edge].turn != kFreeTurn) turns.push_back(edges_[edge].turn);
  }
  std::ranges::sort(turns);
  return turns;
}

/// Goes on inside the component to the nearest step that is wanted, and takes it.
template <WaitingModel M>
template <class Wanted>
void FairCycles<M>::walk(std::uint32_t& at, std::vector<std::uint16_t>& path,
                         const std::vector<std::uint32_t>& component, const Wanted& wanted) const {
  struct Step {
    std::uint32_t from;
    std::uint16_t ordinal;
  };
  boost::unordered_flat_map<std::uint32_t, Step> cameBy{{at, {at, 0}}};
  std::vector<std::uint32_t> queue{at};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::uint32_t state = queue[next];
    for (std::uint64_t place = firstEdge_[state]; place != firstEdge_[state + 1]; ++place) {
      const Edge& edge = edges_[place];
      const auto ordinal = static_cast<std::uint16_t>(place - firstEdge_[state]);
      if (component[edge.to] != component[at]) continue;
      if (!wanted(edge)) {
        if (cameBy.emplace(edge.to, Step{state, ordinal}).second) queue.push_back(edge.to);
        continue;
      }
      std::vector<std::uint16_t> steps{ordinal};
      for (std::uint32_t back = state; back != at; back = cameBy.at(back).from) {
        steps.push_back(cameBy.at(back).ordinal);
      }
      path.insert(path.end(), steps.rbegin(), steps.rend());
      at = edge.to;
      return;
    }
  }
}

/// Adds a loop from `first` in which nobody is kept from acting: it is made longer, by a step of whoever is,
/// or by a state in which that one can not act, until that is so.
template <WaitingModel M>
void FairCycles<M>::goRound(std::uint32_t first, const std::vector<std::uint32_t>& component,
                            std::vector<std::uint16_t>& path) const {
  const std::size_t begin = path.size();
  std::uint32_t at = first;
  walk(at, path, component, [](const Edge&) { return true; });
  while (true) {
    std::vector<std::uint32_t> kept = turnsOf(first);
    std::vector<std::uint32_t> acting;
    std::uint32_t state = first;
    for (std::size_t i = begin; i < path.size(); ++i) {
      const std::vector<std::uint32_t> turns = turnsOf(state);
      std::erase_if(kept, [&](std::uint32_t turn) { return !std::ranges::binary_search(turns, turn); });
      const Edge& taken = edges_[firstEdge_[state] + path[i]];
      acting.push_back(taken.turn);
      state = taken.to;
    }
    std::erase_if(kept, [&](std::uint32_t turn) {
      return std::ranges::find(acting, turn) != acting.end() ||
             !std::ranges::binary_search(turnsOf(at), turn);
    });
    if (kept.empty()) break;
    const std::uint32_t turn = kept.front();
    walk(at, path, component, [&](const Edge& edge) {
      return edge.turn == turn || !std::ranges::binary_search(turnsOf(edge.to), turn);
    });
  }
  if (at != first) walk(at, path, component, [&](const Edge& edge) { return edge.to == first; });
}

template <WaitingModel M>
std::uint32_t FairCycles<M>::numberOf(const State& state, std::uint32_t parent, std::uint16_t ordinal) {
  const std::uint32_t next = count();
  const auto [place, fresh] = numbers_.emplace(model_.fingerprint(state), next);
  if (!fresh) return place->second;
  next_.push(state);
  waiters_.push(model_.waiters(state));
  parents_.push(parent);
  ordinals_.push(ordinal);
  return next;
}

template <WaitingModel M>
Cut FairCycles<M>::cutBefore(std::uint32_t at) const {
  if (limits_.interrupted != nullptr && limits_.interrupted->load(std::memory_order_relaxed)) {
    return Cut::interrupted;
  }
  if (limits_.states != 0 && count() >= limits_.states) return Cut::states;
  if (at % 1024 != 0) return Cut::none;
  if (limits_.seconds > 0 && watch_.seconds() > limits_.seconds) return Cut::time;
  // The table of numbers is made anew, twice as large, when it is full.
  const std::size_t bytes = bytesNow() + 2 * bytesOfNumbers() + bytesToSplit();
  return limits_.memoryBytes != 0 && bytes > limits_.memoryBytes ? Cut::memory : Cut::none;
}

/// Visits all states breadth-first, until a bad one or a bound ends that.
template <WaitingModel M>
void FairCycles<M>::expand(Result& result) {
  std::uint32_t at = 0;
  for (; !next_.empty(); ++result.depth) {
    level_.swap(next_);
    next_.clear();
    for (std::size_t place = 0; place < level_.size(); ++place, ++at) {
      result.cut = cutBefore(at);
      if (result.cut != Cut::none) result.verdict = Verdict::incomplete;
      if (result.cut != Cut::none || !expandOne(at, level_[place], result)) return;
      if (limits_.progress && at % 1024 == 0 && watch_.tellsNow()) {
        limits_.progress(
            {count(), edges_.size(), result.depth, count() - at - 1U, bytesNow(), watch_.seconds()});
      }
    }
    peak_ = std::max(peak_, bytesNow());
    if (next_.empty()) return;
  }
}

/// False when a successor is bad.
template <WaitingModel M>
bool FairCycles<M>::expandOne(std::uint32_t at, const State& state, Result& result) {
  thread_local std::vector<Choice> choices;
  choices.clear();
  model_.choices(state, choices);
  firstEdge_.push(edges_.size());
  for (std::size_t i = 0; i < choices.size(); ++i) {
    State successor = state;
    const std::uint32_t turn =
        model_.mayStayAway(choices[i]) ? kFreeTurn : model_.turn(successor, choices[i]);
    model_.apply(successor, choices[i]);
    const std::uint32_t known = count();
    const std::uint32_t to = numberOf(successor, at, static_cast<std::uint16_t>(i));
    edges_.push({to, turn});
    if (count() == known) continue;
    if (isBeyond(model_, successor)) ++result.beyond;
    result.judgement = model_.judge(successor);
    if (!result.judgement.bad()) continue;
    result.verdict = Verdict::violated;
    result.path = pathTo(to);
    return false;
  }
  return true;
}

/// Tarjan's algorithm over the states in which `waiter` waits, with a stack of its own. `component` gets a
/// number a state, none for states outside.
template <WaitingModel M>
void FairCycles<M>::split(std::uint32_t waiter, std::vector<std::uint32_t>& component) const {
  component.assign(count(), kNone);
  std::vector<std::uint32_t> index(count(), kNone);
  std::vector<std::uint32_t> low(count(), 0);
  std::vector<std::uint32_t> open;  // of the components that are not closed yet
  struct Frame {
    std::uint32_t state;
    std::uint64_t next;
  };
  std::vector<Frame> frames;
  std::uint32_t visited = 0;
  std::uint32_t components = 0;
  const auto enter = [&](std::uint32_t state) {
    index[state] = low[state] = visited++;
    open.push_back(state);
    frames.push_back({state, firstEdge_[state]});
  };
  for (std::uint32_t root = 0; root < count(); ++root) {
    if (index[root] != kNone || !waits(root, waiter)) continue;
    enter(root);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const std::uint32_t state = frame.state;
      if (frame.next < firstEdge_[state + 1]) {
        const std::uint32_t to = edges_[frame.next++].to;
        if (!waits(to, waiter)) continue;
        if (index[to] == kNone) {
          enter(to);
        } else if (component[to] == kNone) {
          low[state] = std::min(low[state], index[to]);
        }
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().state] = std::min(low[frames.back().state], low[state]);
      if (low[state] != index[state]) continue;
      std::uint32_t member = kNone;
      while (member != state) {
        member = open.back();
        open.pop_back();
        component[member] = components;
      }
      ++components;
    }
  }
}

template <WaitingModel M>
FairCycles<M>::Component FairCycles<M>::judge(std::span<const std::uint32_t> members,
                                              const std::vector<std::uint32_t>& component) const {
  const auto isInside = [&](const Edge& edge) { return component[edge.to] == component[members.front()]; };
  Component judged;
  std::vector<std::uint32_t> acting;
  for (const std::uint32_t member : members) {
    for (std::uint64_t edge = firstEdge_[member]; edge != firstEdge_[member + 1]; ++edge) {
      if (!isInside(edges_[edge])) continue;
      judged.cyclic = true;
      if (edges_[edge].turn != kFreeTurn) acting.push_back(edges_[edge].turn);
    }
  }
  if (!judged.cyclic) return judged;
  std::ranges::sort(acting);
  acting.erase(std::ranges::unique(acting).begin(), acting.end());
  std::vector<std::uint32_t> always = turnsOf(members.front());  // who can act in all members looked at
  for (const std::uint32_t member : members) {
    if (always.empty()) break;
    const std::vector<std::uint32_t> enabled = turnsOf(member);
    std::erase_if(always, [&](std::uint32_t actor) { return !std::ranges::binary_search(enabled, actor); });
  }
  judged.fair = std::ranges::all_of(
      always, [&](std::uint32_t actor) { return std::ranges::binary_search(acting, actor); });
  return judged;
}

template <WaitingModel M>
std::vector<std::uint16_t> FairCycles<M>::pathTo(std::uint32_t state) const {
  std::vector<std::uint16_t> path;
  for (; parents_[state] != kNone; state = parents_[state]) path.push_back(ordinals_[state]);
  std::ranges::reverse(path);
  return path;
}

}  // namespace holdfast::explore
