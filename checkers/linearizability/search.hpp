// Whether a history is linearizable: whether its calls can be put into one order that keeps the order of real
// time and that the model allows, one after the other (Herlihy and Wing 1990).
//
// The search is that of Wing and Gong with memoised configurations, made just in time (Lowe 2017; Horn and
// Kroening 2015): returns are met in their order, and a call is linearized no earlier than some return needs
// it. A configuration is the next return, the calls under way that took effect already, and the model's
// state; each is visited once, so that memory grows with the calls that overlap and not with the length of
// the history. A history that is partitioned by key is checked key by key, because linearizability is
// compositional (Herlihy and Wing, theorem 1).
//
// Contract: check() is a pure function of its arguments. `linearizable` comes with an order of all calls that
// returned (and of those without a known outcome that had to take effect), `notLinearizable` with the longest
// prefix that can be ordered, the call that can not return after it, and every state in which the model may
// be then. Where the bound on configurations is met first the verdict is `unknown`, never one of the others.
//
// A model is a small value that says what one operation does:
//
//   struct Model {
//     using State = ...;      // comparable with ==, hashable by hash_value(State) or boost::hash
//     using Operation = ...;  // with what it was answered; comparable with ==
//     State initial() const;
//     std::optional<State> step(const State&, const Operation&) const;  // none: it can not happen then
//     bool readsOnly(const Operation&) const;   // it never changes the state
//   };
//
// An operation whose outcome is not known steps to the state that it leaves if it takes effect.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "checkers/linearizability/history.hpp"

namespace holdfast::linearizability {

template <class M>
concept Model = requires(const M& model, const typename M::State& state, const typename M::Operation& op) {
  { model.initial() } -> std::same_as<typename M::State>;
  { model.step(state, op) } -> std::same_as<std::optional<typename M::State>>;
  { model.readsOnly(op) } -> std::same_as<bool>;
  { state == state } -> std::convertible_to<bool>;
  { op == op } -> std::convertible_to<bool>;
};

enum class Verdict : std::uint8_t { linearizable, notLinearizable, unknown };

struct SearchLimits {
  /// Configurations that are kept at once; 0 is no bound. One takes some 40 bytes, and its state is kept
  /// once.
  std::uint64_t configurations = 20'000'000;
};

/// What the search found. Calls are named by their index in the history that was checked.
template <class State>
struct SearchResult {
  Verdict verdict = Verdict::linearizable;
  /// An order of all calls, or of the longest prefix of the history for which there is one.
  std::vector<std::uint32_t> order;
  /// With notLinearizable: the call whose return no order allows.
  std::uint32_t stuck = kNever;
  /// With notLinearizable: the calls under way at that return, in the order of their invocations; the
  /// shortest window that can not be ordered, given the states before it.
  std::vector<std::uint32_t> window;
  /// With notLinearizable: each state in which the model may be when that return is met, at most kMaxStates.
  std::vector<State> states;
  std::uint64_t configurations = 0;  ///< Visited.

  static constexpr std::size_t kMaxStates = 32;
};

namespace detail {

/// Which of the slots of calls under way took effect already.
using Mask = boost::container::small_vector<std::uint64_t, 1>;

struct Configuration {
  std::uint32_t next = 0;  // return
  std::uint32_t state = 0;
  Mask taken;

  friend bool operator==(const Configuration&, const Configuration&) = default;
  friend std::size_t hash_value(const Configuration& one) {
    std::size_t seed = one.next;
    boost::hash_combine(seed, one.state);
    for (const std::uint64_t word : one.taken) boost::hash_combine(seed, word);
    return seed;
  }
};

/// A call under way at a return, and the slot that it has from its invocation to its return.
struct Open {
  std::uint32_t call = 0;
  std::uint32_t slot = 0;
};

inline bool holds(const Mask& mask, std::uint32_t slot) { return (mask[slot / 64] >> slot % 64 & 1U) != 0; }
inline void put(Mask& mask, std::uint32_t slot) { mask[slot / 64] |= std::uint64_t{1} << slot % 64; }
inline void drop(Mask& mask, std::uint32_t slot) { mask[slot / 64] &= ~(std::uint64_t{1} << slot % 64); }

/// Gives each state a number, and keeps it once.
template <class State>
class States {
 public:
  std::uint32_t numberOf(const State& state) {
    const auto [at, fresh] = numbers_.try_emplace(state, static_cast<std::uint32_t>(states_.size()));
    if (fresh) states_.push_back(state);
    return at->second;
  }
  const State& operator[](std::uint32_t number) const { return states_[number]; }

 private:
  boost::unordered_flat_map<State, std::uint32_t, boost::hash<State>> numbers_;
  std::vector<State> states_;
};

/// The search over one history.
template <Model M>
class Search {
 public:
  using State = typename M::State;
  using Operation = typename M::Operation;

  Search(const M& model, const Calls<Operation>& calls, const SearchLimits& limits)
      : model_(model), calls_(calls), limits_(limits) {
    layOut();
  }

  SearchResult<State> run() {
    Configuration first;
    first.taken.resize(words_);
    first.state = states_.numberOf(model_.initial());
    enter(std::move(first), kNever, 0);
    while (!path_.empty() && !done_ && !full_) {
      Frame& top = path_.back();
      if (top.tried == top.count) {
        goBackTo(top.ordered);
        path_.pop_back();
      } else {
        tryNext(top);
      }
    }
    return conclude();
  }

 private:
  struct Frame {
    Configuration from;
    std::uint32_t tried = 0;  // candidates
    std::uint32_t count = 0;  // of all
    std::size_t ordered = 0;  // length of the order before this configuration was entered
  };
  /// Where a return's calls under way begin in open_.
  struct Return {
    std::uint32_t call = 0;
    std::uint32_t slot = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  /// Sorts returns, gives slots, and lists for each return the calls under way: its own first, then the
  /// others that will return, then those without a known outcome.
  void layOut() {
    std::vector<std::uint32_t> byInvocation;
    std::vector<std::uint32_t> byReturn;
    for (std::uint32_t i = 0; i < calls_.size(); ++i) {
      // What changes nothing and was never answered says nothing.
      if (calls_[i].pendingForever() && model_.readsOnly(calls_[i].operation)) continue;
      byInvocation.push_back(i);
      if (!calls_[i].pendingForever()) byReturn.push_back(i);
    }
    const auto invoked = [this](std::uint32_t i) { return calls_[i].invoked; };
    const auto returned = [this](std::uint32_t i) { return calls_[i].returned; };
    std::ranges::sort(byInvocation, {}, invoked);
    std::ranges::sort(byReturn, {}, returned);
    std::vector<Open> under;
    std::vector<std::uint32_t> free;
    std::uint32_t slots = 0;
    auto next = byInvocation.begin();
    for (const std::uint32_t call : byReturn) {
      for (; next != byInvocation.end() && calls_[*next].invoked < calls_[call].returned; ++next) {
        const std::uint32_t slot = free.empty() ? slots++ : free.back();
        if (!free.empty()) free.pop_back();
        under.push_back({*next, slot});
      }
      Return one{call, 0, static_cast<std::uint32_t>(open_.size()), static_cast<std::uint32_t>(under.size())};
      const auto mine = std::ranges::find(under, call, &Open::call);
      one.slot = mine->slot;
      open_.push_back(*mine);
      for (const bool forever : {false, true}) {
        for (const Open& other : under) {
          if (other.call != call && calls_[other.call].pendingForever() == forever) open_.push_back(other);
        }
      }
      free.push_back(mine->slot);
      under.erase(mine);
      returns_.push_back(one);
    }
    words_ = std::max<std::size_t>(1, (slots + 63) / 64);
  }

  /// Takes every call that is already allowed and changes nothing, passes the returns of what took effect,
  /// and stands before the first return that still needs a choice.
  void settle(Configuration& at) {
    while (at.next < returns_.size()) {
      const Return& next = returns_[at.next];
      for (std::uint32_t i = 0; i < next.count; ++i) {
        const Open& open = open_[next.first + i];
        const Operation& operation = calls_[open.call].operation;
        if (holds(at.taken, open.slot) || !model_.readsOnly(operation)) continue;
        if (!model_.step(states_[at.state], operation)) continue;
        put(at.taken, open.slot);
        order_.push_back(open.call);
      }
      if (!holds(at.taken, next.slot)) return;
      drop(at.taken, next.slot);
      ++at.next;
    }
  }

  void enter(Configuration at, std::uint32_t call, std::size_t ordered) {
    if (call != kNever) order_.push_back(call);
    settle(at);
    if (at.next >= furthest_) {
      advanced_ = advanced_ || at.next > furthest_ || furthestOrder_.empty();
      furthest_ = at.next;
    }
    if (at.next == returns_.size()) {
      done_ = true;
      return;
    }
    if (!seen_.insert(at).second) {
      goBackTo(ordered);
      return;
    }
    full_ = limits_.configurations != 0 && seen_.size() >= limits_.configurations;
    const std::uint32_t count = returns_[at.next].count;
    path_.push_back({std::move(at), 0, count, ordered});
  }

  /// Takes back what was ordered since; the longest order is copied only when it is left.
  void goBackTo(std::size_t ordered) {
    if (advanced_) furthestOrder_ = order_;
    advanced_ = false;
    order_.resize(ordered);
  }

  /// Of equal operations without a known outcome the one invoked first is as good as any.
  bool isDouble(const Configuration& at, const Return& next, std::uint32_t candidate) const {
    const Call<Operation>& call = calls_[open_[next.first + candidate].call];
    if (!call.pendingForever()) return false;
    for (std::uint32_t i = candidate; i-- > 0;) {
      const Open& other = open_[next.first + i];
      if (!calls_[other.call].pendingForever()) return false;
      if (!holds(at.taken, other.slot) && calls_[other.call].operation == call.operation) return true;
    }
    return false;
  }

  void tryNext(Frame& top) {
    const Return& next = returns_[top.from.next];
    const std::uint32_t candidate = top.tried++;
    const Open& open = open_[next.first + candidate];
    if (holds(top.from.taken, open.slot) || isDouble(top.from, next, candidate)) return;
    const auto state = model_.step(states_[top.from.state], calls_[open.call].operation);
    if (!state) return;
    Configuration at = top.from;
    at.state = states_.numberOf(*state);
    put(at.taken, open.slot);
    enter(std::move(at), open.call, order_.size());
  }

  SearchResult<State> conclude() {
    SearchResult<State> result;
    result.configurations = seen_.size();
    if (done_) {
      result.order = std::move(order_);
      return result;
    }
    result.order = advanced_ ? std::move(order_) : std::move(furthestOrder_);
    result.verdict = full_ ? Verdict::unknown : Verdict::notLinearizable;
    if (full_) return result;
    const Return& stuck = returns_[furthest_];
    result.stuck = stuck.call;
    for (std::uint32_t i = 0; i < stuck.count; ++i) result.window.push_back(open_[stuck.first + i].call);
    std::ranges::sort(result.window, {}, [this](std::uint32_t i) { return calls_[i].invoked; });
    std::vector<std::uint32_t> states;
    for (const Configuration& one : seen_) {
      if (one.next == furthest_) states.push_back(one.state);
    }
    // By their numbers, which follow from the search alone, and not by where they are kept.
    std::ranges::sort(states);
    states.erase(std::ranges::unique(states).begin(), states.end());
    if (states.size() > SearchResult<State>::kMaxStates) states.resize(SearchResult<State>::kMaxStates);
    for (const std::uint32_t state : states) result.states.push_back(states_[state]);
    return result;
  }

  const M& model_;
  const Calls<Operation>& calls_;
  SearchLimits limits_;
  std::vector<Return> returns_;
  std::vector<Open> open_;
  std::size_t words_ = 1;
  States<State> states_;
  boost::unordered_flat_set<Configuration, boost::hash<Configuration>> seen_;
  std::vector<Frame> path_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> furthestOrder_;
  std::uint32_t furthest_ = 0;
  bool advanced_ = false;  // furthest_ was reached, and its order is not copied yet
  bool done_ = false;
  bool full_ = false;
};

}  // namespace detail

/// Looks for a linearization of `calls`.
template <Model M>
SearchResult<typename M::State> check(const M& model, const Calls<typename M::Operation>& calls,
                                      const SearchLimits& limits = {}) {
  return detail::Search<M>(model, calls, limits).run();
}

}  // namespace holdfast::linearizability
