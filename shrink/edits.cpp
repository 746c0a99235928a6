#include "shrink/edits.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "scenarios/swarm.hpp"

namespace holdfast::shrink {
namespace {

using obs::TrueInstant;
using scenarios::ClockSettings;
using scenarios::Fault;
using scenarios::FaultKind;
using scenarios::LatencyDistribution;
using scenarios::Operation;
using scenarios::OperationKind;
using scenarios::Plan;
using sim::Duration;

// From coarse to fine, in ns: the first that still fails stands.
constexpr std::array<std::int64_t, 4> kGrains = {1'000'000'000, 100'000'000, 10'000'000, 1'000'000};

/// Towards zero, to a multiple of the grain.
std::int64_t roundedDown(std::int64_t value, std::int64_t grain) { return value / grain * grain; }

/// The same for lengths, which must not vanish by it.
std::int64_t shortened(std::int64_t length, std::int64_t grain) {
  return length < grain ? length : roundedDown(length, grain);
}

template <class Change>
Edit edit(Change change) {
  return [change](const Case& whole) {
    Case changed = whole;
    change(changed);
    return changed;
  };
}

void soften(LatencyDistribution& d, Duration to) { d = {to, to, to, 0}; }

/// No delay and no chance that is drawn: what is left of the draws are the ties.
void withoutChance(Case& c) {
  const auto typical = [](LatencyDistribution& d) { soften(d, d.typical); };
  typical(c.options.delays.link);
  typical(c.options.delays.apply);
  typical(c.options.delays.commit);
  typical(c.options.delays.persist);
}

/// How far a kind is from the plainest.
int rankOf(OperationKind kind) {
  switch (kind) {
    case OperationKind::lockedUpdate:
      return 0;
    case OperationKind::readOnlySection:
      return 1;
    case OperationKind::unlockedPut:
      return 2;
    default:
      return 3;
  }
}

/// The values of one operation, each as it would be plainest.
std::vector<std::function<void(Operation&)>> operationChanges() {
  std::vector<std::function<void(Operation&)>> changes;
  for (const OperationKind kind :
       {OperationKind::lockedUpdate, OperationKind::readOnlySection, OperationKind::unlockedPut}) {
    changes.emplace_back([kind](Operation& o) {
      // Each kind has a rank, so that two edits do not undo each other for ever.
      if (rankOf(kind) >= rankOf(o.kind)) return;
      o.kind = kind;
      o.secondKey = obs::KeyId::none();
      o.stampAhead = {};
    });
  }
  changes.emplace_back([](Operation& o) { o.think = {}; });
  changes.emplace_back([](Operation& o) { o.stampAhead = {}; });
  for (const std::int64_t grain : kGrains) {
    changes.emplace_back([grain](Operation& o) { o.think.ns = roundedDown(o.think.ns, grain); });
    changes.emplace_back([grain](Operation& o) { o.wait.ns = shortened(o.wait.ns, grain); });
    changes.emplace_back([grain](Operation& o) { o.lease.ns = shortened(o.lease.ns, grain); });
    changes.emplace_back([grain](Operation& o) { o.stampAhead.ns = roundedDown(o.stampAhead.ns, grain); });
  }
  return changes;
}

bool amountIsTime(FaultKind kind) {
  return kind == FaultKind::latencySpike || kind == FaultKind::slowApply || kind == FaultKind::slowCommit ||
         kind == FaultKind::wallJump;
}

bool amountIsRate(FaultKind kind) { return kind == FaultKind::rateChange || kind == FaultKind::wallRate; }

std::vector<std::function<void(Fault&)>> faultChanges() {
  std::vector<std::function<void(Fault&)>> changes;
  changes.emplace_back([](Fault& f) {
    // A crash without a reboot, a clock without drift.
    if (f.kind == FaultKind::crash || amountIsRate(f.kind)) f.amount = 0;
  });
  for (int times = 0; times < 4; ++times) {
    changes.emplace_back([](Fault& f) {
      if (f.duration > sim::milliseconds(100)) f.duration = f.duration / 2;
    });
    changes.emplace_back([](Fault& f) {
      if (amountIsTime(f.kind) || amountIsRate(f.kind)) f.amount /= 2;
    });
  }
  for (const std::int64_t grain : kGrains) {
    changes.emplace_back([grain](Fault& f) { f.duration.ns = shortened(f.duration.ns, grain); });
    changes.emplace_back([grain](Fault& f) {
      if (amountIsTime(f.kind)) f.amount = roundedDown(f.amount, grain);
      if (amountIsRate(f.kind)) f.amount = roundedDown(f.amount, grain / 100);
    });
  }
  return changes;
}

std::vector<std::function<void(ClockSettings&)>> clockChanges() {
  std::vector<std::function<void(ClockSettings&)>> changes;
  changes.emplace_back([](ClockSettings& clock) { clock.monotonic = {}; });
  changes.emplace_back([](ClockSettings& clock) { clock.wallRatePpb = 0; });
  changes.emplace_back([](ClockSettings& clock) { clock.wallOffset = {}; });
  changes.emplace_back([](ClockSettings& clock) { clock.ratePpb = 0; });
  for (const std::int64_t grain : kGrains) {
    changes.emplace_back([grain](ClockSettings& clock) {
      clock.monotonic.ns = roundedDown(clock.monotonic.ns, grain);
      clock.wallOffset.ns = roundedDown(clock.wallOffset.ns, grain);
    });
    changes.emplace_back([grain](ClockSettings& clock) {
      clock.ratePpb = roundedDown(clock.ratePpb, grain / 100);
      clock.wallRatePpb = roundedDown(clock.wallRatePpb, grain / 100);
    });
  }
  return changes;
}

/// Everything at or after `from` comes `by` earlier, the end of the run too.
void moveEarlier(Plan& plan, TrueInstant from, Duration by) {
  const auto move = [&](TrueInstant& at) {
    if (at >= from) at.ns -= by.ns;
  };
  for (Operation& operation : plan.operations) move(operation.at);
  for (Fault& fault : plan.faults) move(fault.at);
  move(plan.healAt);
  move(plan.endAt);
}

std::set<TrueInstant> instantsOf(const Plan& plan) {
  std::set<TrueInstant> instants{{0}, plan.healAt, plan.endAt};
  for (const Operation& operation : plan.operations) instants.insert(operation.at);
  for (const Fault& fault : plan.faults) instants.insert(fault.at);
  return instants;
}

}  // namespace

std::vector<Edit> sweepingEdits() {
  std::vector<Edit> edits;
  edits.push_back(edit(withoutChance));
  edits.push_back(edit([](Case& c) {
    c.options.faults.scarceLineagePpm = 0;
    c.options.protocol.tombstoneRetention = scenarios::retentionOf(c.options);
    c.options.faults.briefRetentionPpm = 0;
    c.options.faults.tornPpm = 0;
  }));
  for (const auto& change : clockChanges()) {
    edits.push_back(edit([change](Case& c) { std::ranges::for_each(c.plan.clocks, change); }));
  }
  for (const auto& change : operationChanges()) {
    edits.push_back(edit([change](Case& c) { std::ranges::for_each(c.plan.operations, change); }));
  }
  for (const std::int64_t grain : kGrains) {
    edits.push_back(edit([grain](Case& c) {
      for (Operation& o : c.plan.operations) o.at.ns = roundedDown(o.at.ns, grain);
      for (Fault& f : c.plan.faults) f.at.ns = roundedDown(f.at.ns, grain);
    }));
  }
  return edits;
}

std::vector<Edit> singleEdits(const Case& form) {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < form.plan.clocks.size(); ++i) {
    if (form.plan.clocks[i] == ClockSettings{}) continue;
    for (const auto& change : clockChanges()) {
      edits.push_back(edit([change, i](Case& c) { change(c.plan.clocks[i]); }));
    }
  }
  for (std::size_t i = 0; i < form.plan.faults.size(); ++i) {
    for (const auto& change : faultChanges()) {
      edits.push_back(edit([change, i](Case& c) { change(c.plan.faults[i]); }));
    }
    for (const std::int64_t grain : kGrains) {
      edits.push_back(
          edit([grain, i](Case& c) { c.plan.faults[i].at.ns = roundedDown(c.plan.faults[i].at.ns, grain); }));
    }
  }
  for (std::size_t i = 0; i < form.plan.operations.size(); ++i) {
    for (const auto& change : operationChanges()) {
      edits.push_back(edit([change, i](Case& c) { change(c.plan.operations[i]); }));
    }
    for (const std::int64_t grain : kGrains) {
      edits.push_back(edit([grain, i](Case& c) {
        c.plan.operations[i].at.ns = roundedDown(c.plan.operations[i].at.ns, grain);
      }));
    }
  }
  return edits;
}

std::vector<Edit> timeEdits(const Case& form) {
  std::vector<Edit> edits;
  const std::size_t gaps = instantsOf(form.plan).size() - 1;
  for (std::size_t gap = 0; gap < gaps; ++gap) {
    for (const Duration left :
         {sim::milliseconds(1), sim::milliseconds(100), sim::seconds(1), sim::seconds(5)}) {
      edits.push_back(edit([gap, left](Case& c) {
        const std::set<TrueInstant> instants = instantsOf(c.plan);
        if (gap + 1 >= instants.size()) return;
        const TrueInstant before = *std::next(instants.begin(), static_cast<std::ptrdiff_t>(gap));
        const TrueInstant after = *std::next(instants.begin(), static_cast<std::ptrdiff_t>(gap + 1));
        if (after - before > left) moveEarlier(c.plan, after, after - before - left);
      }));
    }
  }
  return edits;
}

}  // namespace holdfast::shrink
