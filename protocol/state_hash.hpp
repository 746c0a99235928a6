// Hashing of states such that equal futures hash equal.
//
// A deadline is hashed as what remains of it on its node's clock, clamped once it has passed: two states that
// differ only in how long ago a lease expired, or in the absolute reading of a clock, behave alike from now
// on. What lies further off than the horizon is hashed as the horizon: whoever sets one vouches that nothing
// so far away is ever reached. Everything else is hashed by its described fields, recursively, as integers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include "observations/reflect.hpp"
#include "observations/types.hpp"
#include "protocol/dependency_set.hpp"
#include "protocol/renumbering.hpp"
#include "sim/time.hpp"

namespace holdfast::protocol {

class StateHash {
 public:
  /// Longer than every duration of a run.
  static constexpr sim::Duration kNoHorizon{INT64_MAX};

  /// With `renumbering`, which must then outlive this, what grows without end counts by its order alone.
  explicit StateHash(sim::MonotonicInstant now, sim::Duration horizon = kNoHorizon,
                     Renumbering* renumbering = nullptr)
      : now_(now), horizon_(horizon), renumbering_(renumbering) {}

  void add(std::uint64_t word) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(state_ ^ word ^ 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL;
    state_ = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  void add(sim::MonotonicInstant deadline) {
    const auto remaining = deadline == sim::MonotonicInstant::never() ? INT64_MAX : (deadline - now_).ns;
    add(static_cast<std::uint64_t>(remaining < 0 ? -1 : std::min(remaining, horizon_.ns)));
  }

  /// Whether a deadline is so far away that it is taken for never reached.
  bool isBeyond(sim::MonotonicInstant deadline) const { return (deadline - now_).ns > horizon_.ns; }

  /// An instant that deadlines will be counted from: how long ago it was.
  void addPast(sim::MonotonicInstant past) {
    const std::int64_t elapsed = past == sim::MonotonicInstant::longAgo() ? INT64_MAX : (now_ - past).ns;
    add(static_cast<std::uint64_t>(std::min(elapsed, horizon_.ns)));
  }

  void addGrowing(Growing kind, std::uint64_t number) {
    add(renumbering_ == nullptr ? number : renumbering_->of(kind, number));
  }

  /// What follows from what is hashed beside it: left out where numbers count by their order, which it does
  /// not know of.
  void addDerived(std::uint64_t word) {
    if (renumbering_ == nullptr) add(word);
  }

  /// Whoever is hashed makes none but ballots with greater counters (Renumbering::noteFloor).
  void noteFloor(std::uint64_t counter) {
    if (renumbering_ != nullptr) renumbering_->noteFloor(counter);
  }

  void add(const obs::Token& token) {
    add(static_cast<std::uint64_t>(token.membership));
    add(static_cast<std::uint64_t>(token.incarnation));
    addGrowing(Growing::token, token.counter);
  }

  void add(const DependencySet& set) { addRange(set.entries()); }

  template <class T>
  void add(const std::optional<T>& value) {
    add(static_cast<std::uint64_t>(value.has_value()));
    if (value) add(*value);
  }

  template <class... T>
  void add(const std::variant<T...>& value) {
    add(static_cast<std::uint64_t>(value.index()));
    std::visit([this](const auto& alternative) { this->add(alternative); }, value);
  }

  template <class T>
  void add(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      add(static_cast<std::uint64_t>(value));
    } else if constexpr (requires { value.addTo(*this); }) {
      value.addTo(*this);
    } else if constexpr (obs::Described<T>) {
      obs::forEachField(value, [this](std::string_view, const auto& field) { this->add(field); });
    } else {
      addRange(value);
    }
  }

  template <class Range>
  void addRange(const Range& range) {
    add(static_cast<std::uint64_t>(range.size()));
    for (const auto& element : range) add(element);
  }

  std::uint64_t value() const { return state_; }

 private:
  sim::MonotonicInstant now_;
  sim::Duration horizon_;
  Renumbering* renumbering_ = nullptr;
  std::uint64_t state_ = 0x5bd1e995;
};

}  // namespace holdfast::protocol
