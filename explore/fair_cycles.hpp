// Liveness on a finite model: whether somebody can wait for ever although everybody gets its turn.
//
// The whole graph of reachable states is kept. For each waiter, the states in which it waits are split into
// strongly connected components (Tarjan). A component with a cycle in it is fair when no actor is kept from
// acting: whoever could act in every one of its states does act in one of its steps. Faults are free to stay
// away, so they need no turn. A component that is not fair has no fair part either, so judging the maximal
// components misses nothing (weak fairness). A fair one is a schedule in which the waiter is never served and
// never refused.
//
// A search that is cut short looks at the states that it has expanded: a fair cycle among them is one of the
// whole graph too, and when there is none, nothing is known.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "explore/fair_loop.hpp"

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

  void expand(Result& result);
  std::uint32_t numberOf(const State& state, std::uint32_t parent, std::uint16_t ordinal);
  void findCycle(Result& result) const;
  void split(std::uint32_t waiter, std::vector<std::uint32_t>& component) const;
  bool isFair(const std::vector<std::uint32_t>& members, const std::vector<std::uint32_t>& component) const;
  std::vector<std::uint16_t> pathTo(std::uint32_t state) const;
  template <class Wanted>
  void walk(std::uint32_t& at, std::vector<std::uint16_t>& path, const std::vector<std::uint32_t>& component,
            const Wanted& wanted) const;
  void goRound(std::uint32_t first, const std::vector<std::uint32_t>& component,
               std::vector<std::uint16_t>& path) const;
  bool waits(std::uint32_t state, std::uint32_t waiter) const {
    return (waiters_[state] >> waiter & 1U) != 0;
  }
  std::pair<const Edge*, const Edge*> edgesOf(std::uint32_t state) const {
    return {edges_.data() + firstEdge_[state], edges_.data() + firstEdge_[state + 1]};
  }
  std::size_t bytesNow() const {
    return states_.capacity() * sizeof(State) + edges_.capacity() * sizeof(Edge) + numbers_.size() * 24 +
           bytesOf(model_);
  }

  const M& model_;
  Limits limits_;
  Stopwatch watch_;
  std::vector<State> states_;
  std::vector<std::uint32_t> waiters_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint16_t> ordinals_;
  std::vector<std::uint64_t> firstEdge_;  // by state, and the end
  std::vector<Edge> edges_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> numbers_;
};

template <WaitingModel M>
Result FairCycles<M>::run() {
  Result result;
  result.verdict = Verdict::verified;
  numberOf(model_.initial(), kNone, 0);
  expand(result);
  // The states that were not expanded have no way on.
  firstEdge_.resize(states_.size() + 1, edges_.size());
  const bool bad = result.verdict == Verdict::violated;
  if (!bad && result.cut != Cut::interrupted) findCycle(result);
  result.states = states_.size();
  result.transitions = edges_.size();
  result.bytes = bytesNow();
  result.seconds = watch_.seconds();
  return result;
}

/// Looks for the nearest fair cycle of the first waiter that has one.
template <WaitingModel M>
void FairCycles<M>::findCycle(Result& result) const {
  std::uint32_t all = 0;
  for (const std::uint32_t waiters : waiters_) all |= waiters;
  std::vector<std::uint32_t> component;
  for (std::uint32_t waiter = 0; waiter < 32 && result.cycle == 0; ++waiter) {
    if ((all >> waiter & 1U) == 0) continue;
    split(waiter, component);
    // Members by component, in the order of the states.
    std::vector<std::uint32_t> order;
    for (std::uint32_t state = 0; state < component.size(); ++state) {
      if (component[state] != kNone) order.push_back(state);
    }
    std::ranges::stable_sort(order, {}, [&](std::uint32_t state) { return component[state]; });
    std::uint32_t first = kNone;
    for (auto begin = order.begin(); begin != order.end();) {
      const auto end = std::find_if(
          begin, order.end(), [&](std::uint32_t state) { return component[state] != component[*begin]; });
      const std::vector<std::uint32_t> members(begin, end);
      if (members.front() < first && isFair(members, component)) {
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

/// Goes on inside the component to the nearest step that is wanted, and takes it.
template <WaitingModel M>
template <class Wanted>
void FairCycles<M>::walk(std::uint32_t& at, std::vector<std::uint16_t>& path,
                         const std::vector<std::uint32_t>& component, const Wanted& wanted) const {
  boost::unordered_flat_map<std::uint32_t, const Edge*> cameBy{{at, nullptr}};
  boost::unordered_flat_map<std::uint32_t, std::uint32_t> cameFrom;
  std::vector<std::uint32_t> queue{at};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::uint32_t state = queue[next];
    const auto [begin, end] = edgesOf(state);
    for (const Edge* edge = begin; edge != end; ++edge) {
      if (component[edge->to] != component[at]) continue;
      if (!wanted(*edge)) {
        if (cameBy.emplace(edge->to, edge).second) {
          cameFrom.emplace(edge->to, state);
          queue.push_back(edge->to);
        }
        continue;
      }
      std::vector<std::uint16_t> steps{static_cast<std::uint16_t>(edge - begin)};
      for (std::uint32_t back = state; back != at; back = cameFrom.at(back)) {
        steps.push_back(static_cast<std::uint16_t>(cameBy.at(back) - edgesOf(cameFrom.at(back)).first));
      }
      path.insert(path.end(), steps.rbegin(), steps.rend());
      at = edge->to;
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
    std::vector<std::uint32_t> kept = turnsIn(model_, states_[first]);
    std::vector<std::uint32_t> acting;
    std::uint32_t state = first;
    for (std::size_t i = begin; i < path.size(); ++i) {
      const std::vector<std::uint32_t> turns = turnsIn(model_, states_[state]);
      std::erase_if(kept, [&](std::uint32_t turn) { return !std::ranges::binary_search(turns, turn); });
      const Edge& taken = edgesOf(state).first[path[i]];
      acting.push_back(taken.turn);
      state = taken.to;
    }
    std::erase_if(kept, [&](std::uint32_t turn) {
      return std::ranges::find(acting, turn) != acting.end() ||
             !std::ranges::binary_search(turnsIn(model_, states_[at]), turn);
    });
    if (kept.empty()) break;
    const std::uint32_t turn = kept.front();
    walk(at, path, component, [&](const Edge& edge) {
      return edge.turn == turn || !std::ranges::binary_search(turnsIn(model_, states_[edge.to]), turn);
    });
  }
  if (at != first) walk(at, path, component, [&](const Edge& edge) { return edge.to == first; });
}

template <WaitingModel M>
std::uint32_t FairCycles<M>::numberOf(const State& state, std::uint32_t parent, std::uint16_t ordinal) {
  const auto next = static_cast<std::uint32_t>(states_.size());
  const auto [place, fresh] = numbers_.emplace(model_.fingerprint(state), next);
  if (!fresh) return place->second;
  states_.push_back(state);
  waiters_.push_back(model_.waiters(state));
  parents_.push_back(parent);
  ordinals_.push_back(ordinal);
  return next;
}

/// Visits all states breadth-first, until a bad one or a bound ends that.
template <WaitingModel M>
void FairCycles<M>::expand(Result& result) {
  std::vector<Choice> choices;
  std::uint32_t levelEnds = 1;
  for (std::uint32_t at = 0; at < states_.size(); ++at) {
    firstEdge_.push_back(edges_.size());
    if (at == levelEnds) {
      ++result.depth;
      levelEnds = static_cast<std::uint32_t>(states_.size());
    }
    if (limits_.interrupted != nullptr && limits_.interrupted->load(std::memory_order_relaxed)) {
      result.cut = Cut::interrupted;
    } else if (limits_.states != 0 && states_.size() >= limits_.states) {
      result.cut = Cut::states;
    } else if (at % 1024 == 0 && limits_.seconds > 0 && watch_.seconds() > limits_.seconds) {
      result.cut = Cut::time;
    } else if (at % 1024 == 0 && limits_.memoryBytes != 0 && 2 * bytesNow() > limits_.memoryBytes) {
      result.cut = Cut::memory;
    }
    if (result.cut != Cut::none) {
      result.verdict = Verdict::incomplete;
      return;
    }
    if (limits_.progress && at % 1024 == 0 && watch_.tellsNow()) {
      limits_.progress(
          {states_.size(), edges_.size(), result.depth, states_.size() - at, bytesNow(), watch_.seconds()});
    }
    choices.clear();
    model_.choices(states_[at], choices);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      State successor = states_[at];
      const bool free = model_.mayStayAway(choices[i]);
      const std::uint32_t turn = free ? kFreeTurn : model_.turn(successor, choices[i]);
      model_.apply(successor, choices[i]);
      const auto ordinal = static_cast<std::uint16_t>(i);
      const auto known = states_.size();
      const std::uint32_t to = numberOf(successor, at, ordinal);
      edges_.push_back({to, turn});
      if (states_.size() == known) continue;
      if (isBeyond(model_, successor)) ++result.beyond;
      result.judgement = model_.judge(successor);
      if (!result.judgement.bad()) continue;
      result.verdict = Verdict::violated;
      result.path = pathTo(to);
      return;
    }
  }
}

/// Tarjan's algorithm over the states in which `waiter` waits, with a stack of its own. `component` gets a
/// number a state, none for states outside.
template <WaitingModel M>
void FairCycles<M>::split(std::uint32_t waiter, std::vector<std::uint32_t>& component) const {
  const auto count = static_cast<std::uint32_t>(states_.size());
  component.assign(count, kNone);
  std::vector<std::uint32_t> index(count, kNone);
  std::vector<std::uint32_t> low(count, 0);
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
  for (std::uint32_t root = 0; root < count; ++root) {
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

/// Whether the component has a cycle in which nobody is kept from acting.
template <WaitingModel M>
bool FairCycles<M>::isFair(const std::vector<std::uint32_t>& members,
                           const std::vector<std::uint32_t>& component) const {
  std::vector<std::uint32_t> acting;
  std::vector<std::uint32_t> always;  // who can act in all members looked at so far
  bool cycle = false;
  for (const std::uint32_t member : members) {
    std::vector<std::uint32_t> enabled;
    const auto [begin, end] = edgesOf(member);
    for (const Edge* edge = begin; edge != end; ++edge) {
      const bool inside = component[edge->to] == component[member];
      cycle = cycle || inside;
      if (edge->turn == kFreeTurn) continue;
      enabled.push_back(edge->turn);
      if (inside) acting.push_back(edge->turn);
    }
    std::ranges::sort(enabled);
    if (member == members.front()) {
      always = std::move(enabled);
    } else {
      std::erase_if(always, [&](std::uint32_t actor) { return !std::ranges::binary_search(enabled, actor); });
    }
  }
  if (!cycle) return false;
  std::ranges::sort(acting);
  return std::ranges::all_of(always,
                             [&](std::uint32_t actor) { return std::ranges::binary_search(acting, actor); });
}

template <WaitingModel M>
std::vector<std::uint16_t> FairCycles<M>::pathTo(std::uint32_t state) const {
  std::vector<std::uint16_t> path;
  for (; parents_[state] != kNone; state = parents_[state]) path.push_back(ordinals_[state]);
  std::ranges::reverse(path);
  return path;
}

}  // namespace holdfast::explore
