// Models of the objects whose histories are checked: what one operation does to a state, and what it answers.
//
// Contract: each is a Model as search.hpp defines it, a value without memory of its own. Values are numbers;
// whoever reads a history gives equal values equal numbers, and kAbsent to what was never written. An
// operation whose `known` is false was never answered: it steps to the state that it leaves if it takes
// effect.
//
// A model of your own is a struct of the same shape; nothing else has to know it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::linearizability {

/// The value of what was never written.
inline constexpr std::int64_t kAbsent = -1;

/// A register with compare-and-set: `register` and `cas-register`.
struct Register {
  using State = std::int64_t;
  struct Operation {
    enum class Kind : std::uint8_t { read, write, compareAndSet } kind = Kind::read;
    bool known = true;
    bool succeeded = true;      ///< Of a compareAndSet.
    std::int64_t value = 0;     ///< That was read, or is written.
    std::int64_t expected = 0;  ///< By a compareAndSet.
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  State start = kAbsent;

  State initial() const { return start; }
  bool readsOnly(const Operation& op) const {
    return op.kind == Operation::Kind::read ||
           (op.kind == Operation::Kind::compareAndSet && op.known && !op.succeeded);
  }
  std::optional<State> step(State state, const Operation& op) const {
    switch (op.kind) {
      case Operation::Kind::read:
        if (op.known && op.value != state) return std::nullopt;
        return state;
      case Operation::Kind::write:
        return op.value;
      case Operation::Kind::compareAndSet:
        break;
    }
    const bool matches = state == op.expected;
    if (op.known && matches != op.succeeded) return std::nullopt;
    return matches ? op.value : state;
  }
};

/// Several registers that one operation reads and writes at once: `multi-register`.
struct MultiRegister {
  using State = std::map<std::int64_t, std::int64_t>;  ///< Of what was written.
  struct Access {
    bool write = false;
    bool known = true;
    std::int64_t key = 0;
    std::int64_t value = 0;
    friend bool operator==(const Access&, const Access&) = default;
  };
  struct Operation {
    std::vector<Access> accesses;  ///< In their order.
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  State initial() const { return {}; }
  bool readsOnly(const Operation& op) const {
    return std::ranges::none_of(op.accesses, [](const Access& access) { return access.write; });
  }
  std::optional<State> step(const State& state, const Operation& op) const {
    State next = state;
    for (const Access& access : op.accesses) {
      if (access.write) {
        next[access.key] = access.value;
        continue;
      }
      const auto at = next.find(access.key);
      const std::int64_t shown = at == next.end() ? kAbsent : at->second;
      if (access.known && shown != access.value) return std::nullopt;
    }
    return next;
  }
};

/// A lock in its kinds: `mutex` (anybody may release), `reentrant-lock` (its holder may enter again, and
/// leaves as often), `fenced-lock` (each acquisition is answered a token above all before).
struct Lock {
  enum class Kind : std::uint8_t { mutex, reentrant, fenced };
  struct State {
    std::int64_t holder = kAbsent;
    std::int64_t depth = 0;
    std::int64_t token = 0;  ///< The highest that was answered.
    friend bool operator==(const State&, const State&) = default;
    friend std::size_t hash_value(const State& state) {
      // Depths and holders are small.
      return static_cast<std::size_t>(state.token * 1'000'003 + state.holder * 64 + state.depth);
    }
  };
  struct Operation {
    bool acquire = true;
    bool known = true;
    std::int64_t caller = 0;
    std::int64_t token = 0;  ///< That an acquisition was answered.
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  Kind kind = Kind::mutex;

  State initial() const { return {}; }
  bool readsOnly(const Operation&) const { return false; }
  std::optional<State> step(State state, const Operation& op) const {
    if (op.acquire) {
      const bool again = kind == Kind::reentrant && state.holder == op.caller;
      if (state.depth > 0 && !again) return std::nullopt;
      if (kind == Kind::fenced) {
        // A token that nobody was told is the least that there can have been.
        if (op.known && op.token <= state.token) return std::nullopt;
        state.token = op.known ? op.token : state.token + 1;
      }
      state.holder = kind == Kind::mutex ? 0 : op.caller;
      ++state.depth;
      return state;
    }
    if (state.depth == 0 || (kind != Kind::mutex && state.holder != op.caller)) return std::nullopt;
    if (--state.depth == 0) state.holder = kAbsent;
    return state;
  }
};

/// A lock that many may read under, or one may write under: `read-write-lock`.
struct ReadWriteLock {
  using State = std::vector<std::int64_t>;  ///< The readers, sorted; or -2 and the writer.
  struct Operation {
    bool acquire = true;
    bool write = false;
    std::int64_t caller = 0;
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  static constexpr std::int64_t kWriter = -2;

  State initial() const { return {}; }
  bool readsOnly(const Operation&) const { return false; }
  std::optional<State> step(const State& state, const Operation& op) const {
    const bool written = !state.empty() && state.front() == kWriter;
    if (op.acquire && op.write)
      return state.empty() ? std::optional<State>({kWriter, op.caller}) : std::nullopt;
    State next = state;
    if (op.acquire) {
      if (written) return std::nullopt;
      next.insert(std::ranges::upper_bound(next, op.caller), op.caller);
      return next;
    }
    if (written != op.write) return std::nullopt;
    const auto mine = std::ranges::find(next, op.caller);
    if (mine == next.end()) return std::nullopt;
    if (written) return State{};
    next.erase(mine);
    return next;
  }
};

/// `permits` that are taken and given back: `semaphore`.
struct Semaphore {
  using State = std::int64_t;  ///< Permits that are free.
  struct Operation {
    std::int64_t permits = 1;  ///< Taken; given back where negative.
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  std::int64_t permits = 1;

  State initial() const { return permits; }
  bool readsOnly(const Operation& op) const { return op.permits == 0; }
  std::optional<State> step(State state, const Operation& op) const {
    const State left = state - op.permits;
    if (left < 0 || left > permits) return std::nullopt;
    return left;
  }
};

/// A number that is added to and read: `counter`.
struct Counter {
  using State = std::int64_t;
  struct Operation {
    bool read = false;
    bool known = true;
    std::int64_t value = 0;  ///< That is added, or was read.
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  State initial() const { return 0; }
  bool readsOnly(const Operation& op) const { return op.read || op.value == 0; }
  std::optional<State> step(State state, const Operation& op) const {
    if (!op.read)
      return static_cast<State>(static_cast<std::uint64_t>(state) + static_cast<std::uint64_t>(op.value));
    if (op.known && op.value != state) return std::nullopt;
    return state;
  }
};

/// Members that are added, removed and read all at once: `set`.
struct Set {
  using State = std::vector<std::int64_t>;  ///< Sorted.
  struct Operation {
    enum class Kind : std::uint8_t { add, remove, read } kind = Kind::add;
    bool known = true;
    std::int64_t member = 0;
    std::vector<std::int64_t> read;  ///< Sorted.
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  State initial() const { return {}; }
  bool readsOnly(const Operation& op) const { return op.kind == Operation::Kind::read; }
  std::optional<State> step(const State& state, const Operation& op) const {
    if (op.kind == Operation::Kind::read) {
      return op.known && op.read != state ? std::nullopt : std::optional<State>(state);
    }
    State next = state;
    const auto at = std::ranges::lower_bound(next, op.member);
    const bool there = at != next.end() && *at == op.member;
    if (op.kind == Operation::Kind::add && !there) next.insert(at, op.member);
    if (op.kind == Operation::Kind::remove && there) next.erase(at);
    return next;
  }
};

/// First in, first out: `queue`. A dequeue of kAbsent found it empty.
struct Queue {
  using State = std::vector<std::int64_t>;  ///< The oldest first.
  struct Operation {
    bool enqueue = true;
    bool known = true;
    std::int64_t value = 0;
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  State initial() const { return {}; }
  bool readsOnly(const Operation& op) const { return !op.enqueue && op.known && op.value == kAbsent; }
  std::optional<State> step(const State& state, const Operation& op) const {
    if (op.enqueue) {
      State next = state;
      next.push_back(op.value);
      return next;
    }
    if (state.empty()) return op.known && op.value != kAbsent ? std::nullopt : std::optional<State>(state);
    if (op.known && op.value != state.front()) return std::nullopt;
    return State(state.begin() + 1, state.end());
  }
};

/// One key of a store of texts: `key-value`, with put, get and append. What was never put is empty.
struct KeyValue {
  using State = std::string;
  struct Operation {
    enum class Kind : std::uint8_t { get, put, append } kind = Kind::get;
    bool known = true;
    std::string text;  ///< That was got, or is put or appended.
    friend bool operator==(const Operation&, const Operation&) = default;
  };

  State initial() const { return {}; }
  bool readsOnly(const Operation& op) const { return op.kind == Operation::Kind::get; }
  std::optional<State> step(const State& state, const Operation& op) const {
    switch (op.kind) {
      case Operation::Kind::get:
        return op.known && op.text != state ? std::nullopt : std::optional<State>(state);
      case Operation::Kind::put:
        return op.text;
      case Operation::Kind::append:
        break;
    }
    return state + op.text;
  }
};

}  // namespace holdfast::linearizability
