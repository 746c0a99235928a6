#include "scenarios/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "protocol/routing.hpp"
#include "scenarios/liveness_bound.hpp"
#include "scenarios/plan.hpp"
#include "sim/clock.hpp"
#include "sim/wide_integer.hpp"

namespace holdfast::scenarios {
namespace {

using Problem = std::optional<std::string>;

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
// Longest first: a duration is written in the longest unit that leaves an integer.
constexpr Unit kUnits[] = {{"h", 3'600'000'000'000}, {"min", 60'000'000'000}, {"s", 1'000'000'000},
                           {"ms", 1'000'000},        {"us", 1'000},           {"ns", 1}};

std::string durationText(Duration duration) {
  if (duration.ns == 0) return "0 ns";
  const auto unit = std::ranges::find_if(kUnits, [&](const Unit& u) { return duration.ns % u.ns == 0; });
  return fmt::format("{} {}", duration.ns / unit->ns, unit->name);
}

template <class T>
void describeInto(std::string& out, const std::string& path, const T& value) {
  if constexpr (std::is_same_v<T, Duration>) {
    out += fmt::format("{} = {}\n", path, durationText(value));
  } else if constexpr (obs::Described<T>) {
    obs::forEachField(value, [&](std::string_view name, const auto& field) {
      describeInto(out, path.empty() ? std::string(name) : path + "." + std::string(name), field);
    });
  } else if constexpr (obs::DescribedEnum<T>) {
    out += fmt::format("{} = {}\n", path, obs::nameOf(value));
  } else {
    out += fmt::format("{} = {}\n", path, value);
  }
}

// A hundred million events at most, and no sum of durations that could overflow.
constexpr Duration kLongestPhase = sim::hours(24 * 30);
constexpr std::int64_t kMostOperations = 10'000'000;

Problem atLeast(std::string_view path, Duration value, Duration least) {
  if (value >= least && value <= kLongestPhase) return std::nullopt;
  return fmt::format("{} is {}; expected {} to {}", path, durationText(value), durationText(least),
                     durationText(kLongestPhase));
}

Problem judgePpm(std::string_view path, std::uint32_t ppm) {
  if (ppm <= sim::kPpmOne) return std::nullopt;
  return fmt::format("{} is {}; expected at most 1000000, which is certainty", path, ppm);
}

Problem judge(std::string_view path, const LatencyDistribution& d, Duration least) {
  if (d.minimum < least || d.typical < d.minimum || d.tail < d.typical || d.tail > sim::hours(1)) {
    return fmt::format("{} is {}, {}, {}; expected {} <= minimum <= typical <= tail <= 1 h", path,
                       durationText(d.minimum), durationText(d.typical), durationText(d.tail),
                       durationText(least));
  }
  return judgePpm(fmt::format("{}.tailPpm", path), d.tailPpm);
}

Problem judge(const protocol::ProtocolOptions& p) {
  const Duration positive = sim::nanoseconds(1);
  const std::pair<std::string_view, Duration> durations[] = {
      {"protocol.epochLease", p.epochLease},
      {"protocol.maxDelegation", p.maxDelegation},
      {"protocol.minUseful", p.minUseful},
      {"protocol.barrierTimeout", p.barrierTimeout},
      {"protocol.tombstoneRetention", p.tombstoneRetention}};
  for (const auto& [path, value] : durations) {
    if (auto wrong = atLeast(path, value, positive)) return wrong;
  }
  // What a node does over and over again: more often, and a run would not come to its end.
  const std::pair<std::string_view, Duration> periods[] = {{"protocol.renewEvery", p.renewEvery},
                                                           {"protocol.retryEvery", p.retryEvery},
                                                           {"protocol.recallEvery", p.recallEvery},
                                                           {"protocol.sweepEvery", p.sweepEvery},
                                                           {"protocol.proposalTimeout", p.proposalTimeout}};
  for (const auto& [path, value] : periods) {
    if (auto wrong = atLeast(path, value, sim::milliseconds(1))) return wrong;
  }
  const std::pair<std::string_view, Duration> margins[] = {{"protocol.skew", p.skew},
                                                           {"protocol.answerMargin", p.answerMargin},
                                                           {"protocol.minTenure", p.minTenure},
                                                           {"protocol.recallGrace", p.recallGrace},
                                                           {"protocol.proposalBackoff", p.proposalBackoff}};
  for (const auto& [path, value] : margins) {
    if (auto wrong = atLeast(path, value, {})) return wrong;
  }
  if (p.rateErrorPpb > sim::kPpmOne * 1'000U) {
    return fmt::format("protocol.rateErrorPpb is {}; expected at most 1000000000, which is one in one",
                       p.rateErrorPpb);
  }
  if (p.renewEvery >= p.epochLease) {
    return fmt::format("protocol.renewEvery is {}; expected less than protocol.epochLease, which is {}",
                       durationText(p.renewEvery), durationText(p.epochLease));
  }
  if (p.minUseful >= p.maxDelegation) {
    return fmt::format("protocol.minUseful is {}; expected less than protocol.maxDelegation, which is {}",
                       durationText(p.minUseful), durationText(p.maxDelegation));
  }
  const std::uint32_t bits = p.everDelegatedBits;
  if (bits == 0 || (bits & (bits - 1)) != 0 || bits > (1U << 30)) {
    return fmt::format("protocol.everDelegatedBits is {}; expected a power of two up to 2^30", bits);
  }
  if (!protocol::isRingVersion(p.ringVersion)) {
    return fmt::format("protocol.ringVersion is {}; expected {} to {}", p.ringVersion,
                       protocol::kFirstRingVersion, protocol::kLastRingVersion);
  }
  const std::pair<std::string_view, std::uint32_t> counts[] = {
      {"protocol.grantsPerTable", p.grantsPerTable},   {"protocol.grantsPerRequester", p.grantsPerRequester},
      {"protocol.expiriesPerTick", p.expiriesPerTick}, {"protocol.waitersPerKey", p.waitersPerKey},
      {"protocol.lineageSets", p.lineageSets},         {"protocol.commitAttempts", p.commitAttempts},
      {"protocol.missedRenewals", p.missedRenewals},   {"protocol.minMembers", p.minMembers}};
  for (const auto& [path, value] : counts) {
    if (value == 0) return fmt::format("{} is 0; expected at least 1", path);
  }
  return std::nullopt;
}

std::uint64_t sharesOf(const WorkloadOptions& w) {
  std::uint64_t sum = 0;
  for (const std::uint32_t share :
       {w.lockedUpdate, w.earlyUnlock, w.holdAndReenter, w.readOnlySection, w.unlockedWrite, w.futureStamp,
        w.lockedErase, w.transfer, w.abandon, w.dropDelegation}) {
    sum += share;
  }
  return sum;
}

Problem judgeWorkload(const RunOptions& options) {
  const WorkloadOptions& w = options.workload;
  if (auto wrong = atLeast("workload.gap", w.gap, sim::microseconds(1))) return wrong;
  // Where liveness is judged: who waits for less than it takes to reach a home, once a first message is lost,
  // may never be served.
  const Duration shortestWait = options.healedPhase.ns > 0 ? sim::seconds(2) : Duration{};
  if (auto wrong = atLeast("workload.wait", w.wait, shortestWait)) return wrong;
  if (auto wrong = atLeast("workload.lease", w.lease, sim::nanoseconds(1))) return wrong;
  if (auto wrong = judge("workload.think", w.think, {})) return wrong;
  if (auto wrong = atLeast("workload.futureStampBy", w.futureStampBy, {})) return wrong;
  if (auto wrong = atLeast("workload.intoHealedPhase", w.intoHealedPhase, {})) return wrong;
  if (sharesOf(w) == 0) return "all shares of the workload are 0; expected at least one of them positive";
  if (w.burstCallers < 1 || w.burstCallers > 900) {
    return fmt::format("workload.burstCallers is {}; expected 1 to 900", w.burstCallers);
  }
  if (w.intoHealedPhase > options.healedPhase) {
    return fmt::format("workload.intoHealedPhase is {}; expected at most healedPhase, which is {}",
                       durationText(w.intoHealedPhase), durationText(options.healedPhase));
  }
  const std::int64_t perNode = (options.faultPhase + w.intoHealedPhase).ns / w.gap.ns + 1;
  if (perNode > kMostOperations / options.nodes / w.burstCallers) {
    return fmt::format("workload.gap is {}, which makes {} operations a node; expected fewer than {}",
                       durationText(w.gap), perNode, kMostOperations / options.nodes / w.burstCallers);
  }
  if (auto wrong = judgePpm("workload.burstPpm", w.burstPpm)) return wrong;
  return judgePpm("workload.hotKeyPpm", w.hotKeyPpm);
}

/// What is drawn before a run begins must be drawn in a moment.
Problem judgeRate(std::string_view path, const FaultRate& rate, Duration faultPhase) {
  constexpr std::int64_t kMostFaults = kMostOperations / 20;
  if (rate.meanGap.ns == 0) return std::nullopt;
  if (auto wrong = atLeast(fmt::format("{}.meanGap", path), rate.meanGap, sim::milliseconds(1))) return wrong;
  const std::int64_t count = faultPhase.ns / rate.meanGap.ns + 1;
  if (count <= kMostFaults) return std::nullopt;
  return fmt::format("{}.meanGap is {}, which makes {} faults in faultPhase; expected at most {}", path,
                     durationText(rate.meanGap), count, kMostFaults);
}

Problem judge(const FaultOptions& f, const protocol::ProtocolOptions& p, Duration faultPhase) {
  Problem wrong;
  obs::forEachField(f, [&](std::string_view name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if (wrong) return;
    if constexpr (std::is_same_v<Field, FaultRate>) {
      wrong = judgeRate(fmt::format("faults.{}", name), field, faultPhase);
      if (!wrong) wrong = atLeast(fmt::format("faults.{}.shortest", name), field.shortest, {});
      if (!wrong) wrong = atLeast(fmt::format("faults.{}.longest", name), field.longest, field.shortest);
    } else if constexpr (std::is_same_v<Field, std::uint32_t>) {
      wrong = judgePpm(fmt::format("faults.{}", name), field);
    } else if constexpr (std::is_same_v<Field, Duration>) {
      wrong = atLeast(fmt::format("faults.{}", name), field, {});
    }
  });
  if (wrong) return wrong;
  const std::int64_t covered = driftCovered(p);
  if (f.maxDriftPpb < 0 || f.maxDriftPpb > covered) {
    return fmt::format(
        "faults.maxDriftPpb is {}; expected 0 to {}, which is what protocol.skew of {} covers over "
        "protocol.maxDelegation of {} (CK-3)",
        f.maxDriftPpb, covered, durationText(p.skew), durationText(p.maxDelegation));
  }
  // EP-8: what a promise reports is waited out on another clock, in the worst case slow against fast.
  const sim::Int128 apart = sim::Int128{f.maxDriftPpb} * 2'000'000'000;
  const sim::Int128 allowed = sim::Int128{p.rateErrorPpb} * (1'000'000'000 - f.maxDriftPpb);
  if (p.membership == protocol::MembershipKind::epoch && apart > allowed) {
    return fmt::format(
        "protocol.rateErrorPpb is {}; expected what two clocks off by faults.maxDriftPpb = {} differ",
        p.rateErrorPpb, f.maxDriftPpb);
  }
  if (f.wallDriftPpb < 0 || f.wallDriftPpb > sim::kMaxRatePpb) {
    return fmt::format("faults.wallDriftPpb is {}; expected 0 to {}", f.wallDriftPpb, sim::kMaxRatePpb);
  }
  return std::nullopt;
}

Problem judge(const RunOptions& options) {
  if (options.nodes < 1 || options.nodes > 63) {
    return fmt::format("nodes is {}; expected 1 to 63", options.nodes);
  }
  if (options.keys < 1 || options.keys > 1'000'000) {
    return fmt::format("keys is {}; expected 1 to 1000000", options.keys);
  }
  if (auto wrong = atLeast("faultPhase", options.faultPhase, {})) return wrong;
  if (auto wrong = atLeast("healedPhase", options.healedPhase, {})) return wrong;
  if (auto wrong = judge(options.protocol)) return wrong;
  if (auto wrong = judge("delays.link", options.delays.link, sim::nanoseconds(1))) return wrong;
  if (auto wrong = judge("delays.apply", options.delays.apply, {})) return wrong;
  if (auto wrong = judge("delays.commit", options.delays.commit, {})) return wrong;
  if (auto wrong = judge("delays.persist", options.delays.persist, {})) return wrong;
  if (auto wrong = atLeast("delays.reconnect", options.delays.reconnect, sim::nanoseconds(1))) return wrong;
  if (auto wrong = atLeast("delays.retransmit", options.delays.retransmit, {})) return wrong;
  if (auto wrong = judgeWorkload(options)) return wrong;
  if (auto wrong = whyNeverLive(options)) return wrong;
  return judge(options.faults, options.protocol, options.faultPhase);
}

bool parseNumber(std::string_view text, auto& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Problem parseInto(const std::string& path, std::string_view text, Duration& value) {
  const auto wrong = [&] {
    return fmt::format(
        "{}: '{}' is no duration; expected an integer and a unit such as 250ms, 3s or 2h "
        "(ns, us, ms, s, min, h; ns without one)",
        path, text);
  };
  std::size_t digits = 0;
  while (digits < text.size() && (text[digits] == '-' || (text[digits] >= '0' && text[digits] <= '9'))) {
    ++digits;
  }
  std::int64_t number = 0;
  if (!parseNumber(text.substr(0, digits), number)) return wrong();
  std::string_view unit = text.substr(digits);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (unit.empty()) unit = "ns";
  const auto known = std::ranges::find_if(kUnits, [&](const Unit& u) { return u.name == unit; });
  if (known == std::end(kUnits)) return wrong();
  if (number > INT64_MAX / known->ns || number < INT64_MIN / known->ns) return wrong();
  value = {number * known->ns};
  return std::nullopt;
}

template <obs::DescribedEnum T>
Problem parseInto(const std::string& path, std::string_view text, T& value) {
  if (obs::enumFromName(text, value)) return std::nullopt;
  std::string names;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
      [&](auto enumerator) { names += fmt::format("{}{}", names.empty() ? "" : ", ", enumerator.name); });
  return fmt::format("{}: there is no '{}'; expected one of {}", path, text, names);
}

template <class T>
  requires(std::is_integral_v<T>)
Problem parseInto(const std::string& path, std::string_view text, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") {
      return fmt::format("{}: '{}' is neither true nor false", path, text);
    }
    value = text == "true";
    return std::nullopt;
  } else {
    T number{};
    if (!parseNumber(text, number)) {
      return fmt::format("{}: '{}' is no integer from {} to {}", path, text, std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max());
    }
    value = number;
    return std::nullopt;
  }
}

template <class T>
Problem setIn(T& value, const std::string& whole, std::string_view rest, std::string_view text) {
  if constexpr (std::is_same_v<T, Duration> || std::is_integral_v<T> || std::is_enum_v<T>) {
    if (!rest.empty()) return fmt::format("there is no option '{}'; it ends before '.{}'", whole, rest);
    return parseInto(whole, text, value);
  } else {
    const auto dot = rest.find('.');
    const std::string_view first = rest.substr(0, dot);
    const std::string_view behind = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
    bool found = false;
    Problem wrong;
    std::string names;
    obs::forEachField(value, [&](std::string_view name, auto& field) {
      names += names.empty() ? "" : ", ";
      names += name;
      if (name != first) return;
      found = true;
      wrong = setIn(field, whole, behind, text);
    });
    if (found) return wrong;
    return fmt::format("there is no option '{}'; expected one of {} in place of '{}'", whole, names, first);
  }
}

}  // namespace

std::expected<void, std::string> validate(const RunOptions& options) {
  if (auto wrong = judge(options)) return std::unexpected("options: " + *wrong);
  return {};
}

std::int64_t driftCovered(const protocol::ProtocolOptions& options) {
  // maxDelegation * (1 + d) <= (maxDelegation + skew) * (1 - d), solved for d and rounded down.
  const sim::Int128 skew = options.skew.ns;
  // Epochs have leases of their own, which the same margin covers (EP-7).
  const bool epochs = options.membership == protocol::MembershipKind::epoch;
  const Duration longest =
      epochs ? std::max(options.maxDelegation, options.epochLease) : options.maxDelegation;
  const sim::Int128 both = sim::Int128{longest.ns} * 2 + skew;
  if (skew <= 0 || both <= 0) return 0;
  const auto covered = static_cast<std::int64_t>(skew * 1'000'000'000 / both);
  return std::min(covered, sim::kMaxRatePpb);
}

std::string describe(const RunOptions& options) {
  std::string text;
  describeInto(text, "", options);
  return text;
}

std::expected<void, std::string> setOption(RunOptions& options, const std::string& path,
                                           const std::string& value) {
  if (auto wrong = setIn(options, path, path, value)) return std::unexpected(std::move(*wrong));
  return {};
}

}  // namespace holdfast::scenarios
