#include "skew/property.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "scenarios/cluster.hpp"
#include "sim/random.hpp"

namespace holdfast::skew {
namespace {

using checkers::Checker;
using checkers::Finding;

/// Hashes what is observed of exclusion. Values and their timestamps, which a wall clock does shape, are not.
class ExclusionSink : public scenarios::ObservationSink {
 public:
  void observe(const obs::Stamped& stamped, std::uint64_t) override {
    std::visit([&](const auto& what) { take(stamped, what); }, stamped.what);
  }
  std::uint64_t hash() const { return hash_; }

 private:
  template <class... Kinds, class T>
  static constexpr bool isOneOf(const T&) {
    return (std::is_same_v<T, Kinds> || ...);
  }

  template <class T>
  void take(const obs::Stamped& stamped, const T& what) {
    if constexpr (std::is_same_v<T, obs::Admitted>) {
      add(stamped, 1, what.call.value, what.key.value);
      add(stamped, 2, static_cast<std::uint64_t>(what.deadline.ns), what.token.counter);
    } else if constexpr (std::is_same_v<T, obs::Granted>) {
      add(stamped, 3, what.key.value, what.to.value);
    } else if constexpr (std::is_same_v<T, obs::GrantExpired>) {
      add(stamped, 4, what.key.value, what.token.counter);
    } else if constexpr (std::is_same_v<T, obs::LockRefused>) {
      add(stamped, 5, what.call.value, static_cast<std::uint64_t>(what.cause));
    } else if constexpr (std::is_same_v<T, obs::WriteRefused>) {
      add(stamped, 6, what.txn.value, static_cast<std::uint64_t>(what.cause));
    } else if constexpr (std::is_same_v<T, obs::Unlocked>) {
      add(stamped, 7, what.call.value, 0);
    }
  }

  void add(const obs::Stamped& stamped, std::uint64_t kind, std::uint64_t a, std::uint64_t b) {
    hash_ = sim::mix(hash_, static_cast<std::uint64_t>(stamped.at.ns));
    hash_ = sim::mix(hash_, kind << 32 | stamped.node.value);
    hash_ = sim::mix(sim::mix(hash_, a), b);
  }

  std::uint64_t hash_ = 0;
};

}  // namespace

std::string_view wordsOf(Property property) {
  switch (property) {
    case Property::exclusion:
      return "at most one node admits for a key, under one live membership, whatever the clocks do (X-1)";
    case Property::wall:
      return "wall clocks change nothing about who is admitted, and when (CK-5)";
    case Property::freshness:
      return "a clean handoff shows what the predecessors had committed (X-2)";
    case Property::anomalies:
      return "what last-write-wins takes from a caller it takes by a documented route";
    case Property::liveness:
      return "once healed everybody is answered, replicas agree, and nothing stays retained (S-70)";
  }
  return "?";
}

Property propertyOf(const Finding& violation) {
  switch (violation.checker) {
    case Checker::exclusion:
    case Checker::membership:
      return Property::exclusion;
    case Checker::freshness:
      return Property::freshness;
    case Checker::serial:
      return Property::anomalies;
    default:
      return Property::liveness;
  }
}

bool judgesLiveness(const shrink::Case& whole) {
  return whole.plan.endAt - whole.plan.healAt >= scenarios::checkerOptionsFor(whole.options).livenessBound;
}

shrink::Case withTrueWalls(shrink::Case whole) {
  for (scenarios::ClockSettings& clock : whole.plan.clocks) {
    clock.wallOffset = {};
    clock.wallRatePpb = 0;
  }
  std::erase_if(whole.plan.faults, [](const scenarios::Fault& fault) {
    return fault.kind == scenarios::FaultKind::wallJump || fault.kind == scenarios::FaultKind::wallRate;
  });
  return whole;
}

std::uint64_t exclusionHash(const shrink::Case& whole, const protocol::Rules& rules,
                            scenarios::RunReport* report) {
  ExclusionSink sink;
  scenarios::RunReport ran = scenarios::runPlan(whole.options, rules, whole.plan, &sink);
  if (report != nullptr) *report = std::move(ran);
  return sink.hash();
}

Judgement judge(const shrink::Case& whole, const protocol::Rules& rules, Properties properties) {
  Judgement judgement;
  const bool compares = properties.contains(Property::wall);
  if (compares) {
    const std::uint64_t hash = exclusionHash(whole, rules, &judgement.report);
    const shrink::Case calm = withTrueWalls(whole);
    if (calm != whole && exclusionHash(calm, rules) != hash) judgement.broken.push_back({Property::wall, {}});
  } else {
    judgement.report = scenarios::runPlan(whole.options, rules, whole.plan);
  }
  const bool healed = judgesLiveness(whole);
  for (const Finding& violation : judgement.report.findings.violations()) {
    // A run that ends in the midst of its faults owes no answers, and has not swept what it keeps.
    const bool atRest =
        violation.severity == checkers::Severity::liveness || violation.checker == Checker::retention;
    if (atRest && !healed) continue;
    const Property property = propertyOf(violation);
    const bool known =
        std::ranges::any_of(judgement.broken, [&](const Broken& b) { return b.property == property; });
    if (known || !properties.contains(property)) continue;
    judgement.broken.push_back({property, checkers::signatureOf(violation)});
  }
  std::ranges::stable_sort(judgement.broken, {}, &Broken::property);
  return judgement;
}

}  // namespace holdfast::skew
