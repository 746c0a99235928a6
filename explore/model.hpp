// What the search asks of a model: a state that is a value, its choices, and a fingerprint.
//
// A model is explored as a graph: initial() is the root, and each of choices(state) leads by apply() to a
// successor. Two states with equal fingerprints are taken for one, so a fingerprint must tell apart whatever
// has different futures or a different verdict. Choices are enumerated in an order that is a function of the
// state alone: a path is stored as the ordinals of its choices.
//
// All member functions may be called by several threads at once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace holdfast::explore {

/// What a model says of a state. Both kinds of bad states are not explored further.
struct Judgement {
  std::uint32_t violation = 0;  ///< Which property is broken, by the model's own count; 0: none.
  bool stuck = false;           ///< Somebody waits, and nothing can ever happen for it.

  bool bad() const { return violation != 0 || stuck; }
  friend bool operator==(const Judgement&, const Judgement&) = default;
};

template <class M>
concept Model =
    std::is_trivially_copyable_v<typename M::State> && std::is_trivially_copyable_v<typename M::Choice> &&
    requires(const M& model, typename M::State& state, const typename M::State& given,
             const typename M::Choice& choice, std::vector<typename M::Choice>& choices) {
      { model.initial() } -> std::same_as<typename M::State>;
      { model.choices(given, choices) } -> std::same_as<void>;  // appends
      { model.apply(state, choice) } -> std::same_as<void>;
      { model.fingerprint(given) } -> std::same_as<std::uint64_t>;
      { model.judge(given) } -> std::same_as<Judgement>;
    };

/// A model that keeps tables of its own tells how much memory they take, so that a bound covers them.
template <class M>
std::size_t bytesOf(const M& model) {
  if constexpr (requires {
                  { model.bytes() } -> std::convertible_to<std::size_t>;
                }) {
    return model.bytes();
  } else {
    return 0;
  }
}

/// Whether the state lies beyond bounds that the model sets itself: it has no choices, and is counted.
template <class M>
bool isBeyond(const M& model, const typename M::State& state) {
  if constexpr (requires { model.isBeyond(state); }) {
    return model.isBeyond(state);
  } else {
    return false;
  }
}

/// Whose step a choice is, for schedules by priority: a small number; 0 where the model does not tell.
template <class M>
std::uint32_t actorOf(const M& model, const typename M::State& state, const typename M::Choice& choice) {
  if constexpr (requires { model.actor(state, choice); }) {
    return model.actor(state, choice);
  } else {
    return 0;
  }
}

}  // namespace holdfast::explore
