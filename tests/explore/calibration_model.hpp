// A small lease protocol whose state space is known to the state: one home, three delegates, one key,
// unordered lossy slots, clocks that diverge by one tick, and a bounded number of grants.
//
// Its counts were agreed on by three independent checkers, so an engine that counts otherwise is wrong. An
// in-flight grant's remaining time may become negative by the skew; saturating it at zero hides behaviours.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "explore/breadth_first.hpp"
#include "explore/model.hpp"
#include "sim/wide_integer.hpp"

namespace holdfast::explore::calibration {

/// The ways in which the protocol can be built wrong on purpose.
enum class Bug : std::uint8_t {
  none,
  noSkewMargin,      // the home waits the bare lease
  releaseUnmatched,  // a release is believed without its number
  waiterReleases,    // a node that only waits answers a recall
};

struct Parameters {
  std::uint8_t grants = 2;
  Bug bug = Bug::none;
  bool symmetry = false;  // over the three delegates
};

class CalibrationModel {
 public:
  enum class Mode : std::uint8_t { idle, waiting, holding, locked };

  struct Delegate {
    Mode mode = Mode::idle;
    std::uint8_t remaining = 0;
    std::uint8_t number = 0;
    std::uint8_t grant = 0;  // remaining home ticks of the grant under way + kSkew + 1; 0: none
    std::uint8_t grantNumber = 0;
    std::uint8_t recall = 0;
    std::uint8_t release = 0;
    std::uint8_t behind = 0;  // ticks that the home is ahead
    bool request : 1 = false;
    bool owner : 1 = false;
  };
  struct State {
    std::array<Delegate, 3> delegates;
    std::uint8_t remaining = 0;
    std::uint8_t number = 0;
    bool owned : 1 = false;
    bool recalled : 1 = false;
    bool homeLocked : 1 = false;
    std::array<std::uint8_t, 2> unused{};
  };
  static_assert(sizeof(State) == 32);

  struct Choice {
    std::uint8_t rule = 0;
    std::uint8_t delegate = 0;
  };

  explicit CalibrationModel(const Parameters& parameters) : parameters_(parameters) {}

  /// All bytes are zero, so that states can be compared and hashed as bytes.
  State initial() const { return std::bit_cast<State>(std::array<std::byte, sizeof(State)>{}); }
  void choices(const State& s, std::vector<Choice>& out) const;
  void apply(State& s, const Choice& choice) const;
  std::uint64_t fingerprint(const State& s) const;
  Judgement judge(const State& s) const;
  /// Each rule of each delegate is an event of its own.
  std::uint32_t actor(const State&, const Choice& choice) const { return choice.rule * 3U + choice.delegate; }
  /// For partial-order reduction; under symmetry nothing counts as commuting.
  std::uint32_t rank(const Choice& choice) const { return ofHome(choice.rule) ? 0U : choice.delegate + 1U; }
  bool commutes(const State& before, const Choice& first, const State& after, const Choice& then) const;

 private:
  static constexpr std::uint8_t kLease = 2;
  static constexpr std::uint8_t kSkew = 1;

  enum Rule : std::uint8_t {
    homeExpires,
    homeLocks,
    homeUnlocks,
    homeTicks,
    delegateTicks,
    requests,
    asksAgain,
    receivesGrant,
    locks,
    unlocks,
    releases,
    receivesRecall,
    homeGrants,
    homeIgnores,
    homeRecalls,
    homeReceivesRelease,
    losesRequest,
    losesRelease,
    losesGrant,
    losesRecall,
  };

  static bool ofHome(std::uint8_t rule) {
    return rule <= homeTicks || (rule >= homeGrants && rule <= homeReceivesRelease);
  }
  static void toIdle(Delegate& d) {
    d.mode = Mode::idle;
    d.remaining = 0;
    d.number = 0;
  }
  static void free(State& s) {
    s.owned = false;
    s.recalled = false;
    s.remaining = 0;
    for (Delegate& d : s.delegates) d.owner = false;
  }
  static void tickHome(State& s);
  static void tickDelegate(Delegate& d);
  void receiveGrant(Delegate& d) const;
  void receiveRecall(Delegate& d) const;
  void grant(State& s, Delegate& d) const;
  static void normalise(State& s);

  Parameters parameters_;
};

/// A breadth-first search of the model, compiled with optimization in every build.
Result search(const Parameters& parameters, Limits limits);

}  // namespace holdfast::explore::calibration
