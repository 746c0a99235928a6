#include "skew/history.hpp"

#include <algorithm>
#include <array>

namespace holdfast::skew {
namespace {

using obs::NodeId;
using obs::TrueInstant;
using scenarios::Fault;
using scenarios::FaultKind;

// What NTP slews by at most, and from how much on it sets the clock instead.
constexpr std::int64_t kSlewPpb = 500'000;
constexpr Duration kSmallestStep = sim::milliseconds(128);
constexpr std::int64_t kWallDriftPpb = 50'000'000;
// However long the run, a history has no more changes of one clock than this.
constexpr std::uint64_t kMostChanges = 40;

enum Part : std::uint64_t { ofRate = 1, ofWall = 2, ofStall = 3 };

enum HistoryDraw : std::uint64_t {
  rateStyle,
  wallStyle,
  stallStyle,
  start,
  base,
  direction,
  amount,
  gap,
  length,
  count,
  instant
};

/// Writes a history as faults of a plan.
class HistoryWriter {
 public:
  HistoryWriter(const HistoryOptions& options, NodeId node, std::uint64_t firstId)
      : options_(options), node_(node), nextId_(firstId) {}

  void writeRate(NodeHistory& history, const Draws& draws, bool faster) {
    const std::int64_t most = options_.maxDriftPpb;
    std::int64_t& rate = history.clock.ratePpb;
    switch (history.rate) {
      case RateStyle::exact:
        return;
      case RateStyle::steady:
        rate = draws.either(most, base);
        return;
      case RateStyle::extreme:
        rate = faster ? most : -most;
        return;
      case RateStyle::wandering:
        rate = draws.either(most, base);
        wander(history, draws, rate);
        return;
      case RateStyle::flipping:
        rate = faster ? most : -most;
        flip(history, draws, rate);
        return;
      case RateStyle::slewed:
        rate = draws.either(most - std::min(most, kSlewPpb), base);
        slew(history, draws, rate);
        return;
    }
  }

  void writeWall(NodeHistory& history, const Draws& draws) {
    if (history.wall == WallStyle::exact) return;
    history.clock.wallOffset = {draws.either(sim::hours(3).ns, start)};
    if (history.wall == WallStyle::drifting) {
      history.clock.wallRatePpb = draws.either(kWallDriftPpb, base);
      each(sim::seconds(2), sim::seconds(9), draws, [&](TrueInstant at, const Draws& own) {
        add(history, FaultKind::wallRate, at, own.either(kWallDriftPpb, amount));
      });
    } else if (history.wall == WallStyle::stepped || history.wall == WallStyle::jumping) {
      const bool hours = history.wall == WallStyle::jumping;
      each(sim::seconds(1), sim::seconds(12), draws, [&](TrueInstant at, const Draws& own) {
        const Duration by = hours ? own.between(sim::minutes(30), sim::hours(24), amount)
                                  : own.between(kSmallestStep, sim::seconds(10), amount);
        add(history, FaultKind::wallJump, at, own.percent(50, direction) ? by.ns : -by.ns);
      });
    }
  }

  void writeStall(NodeHistory& history, const Draws& draws) {
    if (history.stall == StallStyle::none) return;
    const bool brief = history.stall == StallStyle::paused;
    const std::uint64_t stalls = brief ? 1 + draws.below(4, count) : 1;
    for (std::uint64_t n = 0; n < stalls; ++n) {
      const Draws own = draws.of(n);
      const FaultKind kind = history.stall == StallStyle::frozen ? FaultKind::suspend : FaultKind::pause;
      const TrueInstant at = TrueInstant{} + own.between({}, options_.calmAt - TrueInstant{}, instant);
      const Duration lasts = brief ? own.between(sim::milliseconds(5), sim::seconds(3), length)
                                   : own.between(sim::seconds(3), options_.longestStop, length);
      add(history, kind, at, 0, std::min(lasts, options_.calmAt - at));
    }
  }

 private:
  void add(NodeHistory& history, FaultKind kind, TrueInstant at, std::int64_t value, Duration lasts = {}) {
    Fault fault;
    fault.id = nextId_++;
    fault.at = at;
    fault.kind = kind;
    fault.node = node_;
    fault.duration = lasts;
    fault.amount = value;
    history.faults.push_back(fault);
  }

  /// Calls `change` at instants with gaps of `least` to `most` between them, to the end of the run.
  template <class Change>
  void each(Duration least, Duration most, const Draws& draws, Change&& change) {
    TrueInstant at;
    for (std::uint64_t n = 0; n < kMostChanges; ++n) {
      const Draws own = draws.of(n);
      at = at + own.between(least, most, gap);
      if (at >= options_.endAt) return;
      change(at, own);
    }
  }

  void wander(NodeHistory& history, const Draws& draws, std::int64_t rate) {
    const std::int64_t most = options_.maxDriftPpb;
    each(sim::milliseconds(500), sim::seconds(6), draws, [&](TrueInstant at, const Draws& own) {
      rate = std::clamp(rate + own.either(most / 3, amount), -most, most);
      add(history, FaultKind::rateChange, at, rate);
    });
  }

  void flip(NodeHistory& history, const Draws& draws, std::int64_t rate) {
    each(sim::milliseconds(200), sim::seconds(8), draws, [&](TrueInstant at, const Draws&) {
      rate = -rate;
      add(history, FaultKind::rateChange, at, rate);
    });
  }

  /// A slew bends both clocks by the same; afterwards each runs as before.
  void slew(NodeHistory& history, const Draws& draws, std::int64_t rate) {
    const std::int64_t most = std::min(kSlewPpb, options_.maxDriftPpb);
    each(sim::seconds(5), sim::seconds(10), draws, [&](TrueInstant at, const Draws& own) {
      const std::int64_t by = own.percent(50, direction) ? most : -most;
      const TrueInstant done = at + own.between(sim::seconds(1), sim::seconds(4), length);
      for (const auto& [when, extra] : {std::pair(at, by), std::pair(done, std::int64_t{0})}) {
        if (when >= options_.endAt) continue;
        add(history, FaultKind::rateChange, when, rate + extra);
        add(history, FaultKind::wallRate, when, extra);
      }
    });
  }

  const HistoryOptions& options_;
  NodeId node_;
  std::uint64_t nextId_;
};

NodeHistory written(const HistoryOptions& options, NodeId node, const Draws& draws, std::uint64_t firstId,
                    RateStyle rate, bool faster) {
  NodeHistory history;
  history.rate = rate;
  constexpr std::array<std::uint32_t, 5> walls{30, 10, 15, 20, 25};
  history.wall = static_cast<WallStyle>(draws.weighted(walls, wallStyle));
  const std::array<std::uint32_t, 4> stalls{60, 25, 15, options.frozen ? 60U : 0U};
  history.stall = static_cast<StallStyle>(draws.weighted(stalls, stallStyle));
  // What a monotonic clock reads at first means nothing (CK-3), so it is any reading.
  history.clock.monotonic = {draws.between({}, sim::hours(1'000), start).ns};
  HistoryWriter writer(options, node, firstId);
  writer.writeRate(history, draws.of(ofRate), faster);
  writer.writeWall(history, draws.of(ofWall));
  writer.writeStall(history, draws.of(ofStall));
  return history;
}

}  // namespace

NodeHistory drawHistory(const HistoryOptions& options, NodeId node, const Draws& draws,
                        std::uint64_t firstId) {
  constexpr std::array<std::uint32_t, 6> rates{10, 15, 30, 15, 15, 15};
  const auto rate = static_cast<RateStyle>(draws.weighted(rates, rateStyle));
  return written(options, node, draws, firstId, rate, draws.percent(50, direction));
}

NodeHistory drawHistory(const HistoryOptions& options, NodeId node, const Draws& draws, std::uint64_t firstId,
                        RateStyle rate, bool faster) {
  return written(options, node, draws, firstId, rate, faster);
}

}  // namespace holdfast::skew
