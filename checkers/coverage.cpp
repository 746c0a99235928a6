#include "checkers/coverage.hpp"

namespace holdfast::checkers {

void Coverage::merge(const Coverage& other) { mergeFields(*this, other); }

void Coverage::seal(const Findings& found, std::uint64_t seed) {
  ++runs;
  for (std::size_t i = 0; i < kRoutes; ++i) {
    const Route route = static_cast<Route>(i);
    if (route == Route::none || found.count(route) == 0) continue;
    findings.routes.add(route, found.count(route));
    findings.firstSeeds.note(route, seed);
  }
  for (std::size_t i = 0; i < obs::kEnumeratorCount<Checker>; ++i) {
    findings.violations.add(static_cast<Checker>(i), found.count(static_cast<Checker>(i)));
  }
}

void CoverageCounter::on(const Stamp& stamp, const obs::Admitted& event, const Context&) {
  counts_.callers.admissions.add(event.path);
  counts_.callers.holds += event.hold ? 1U : 0U;
  KeyRow& row = keys_.at(event.key.value);
  counts_.callers.handoffs += row.lastHolder.valid() && row.lastHolder != stamp.node ? 1U : 0U;
  row.lastHolder = stamp.node;
}

void CoverageCounter::on(const Stamp&, const obs::Granted& event, const Context&) {
  if (event.renewal) {
    ++counts_.delegations.renewals;
    return;
  }
  counts_.delegations.grants.add(event.path);
  KeyRow& row = keys_.at(event.key.value);
  const std::uint64_t bit = event.to.value < 64 ? std::uint64_t{1} << event.to.value : 0;
  for (std::size_t i = row.waiters.size(); i-- > 0;) {
    Waiter& waiter = row.waiters[i];
    if (waiter.node == event.to) {
      row.waiters.erase(row.waiters.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    if ((waiter.served & bit) != 0 && !waiter.counted) {
      waiter.counted = true;
      ++counts_.callers.overtaken;
    }
    waiter.served |= bit;
  }
}

void CoverageCounter::leaveQueue(KeyRow& row, NodeId node) {
  for (std::size_t i = row.waiters.size(); i-- > 0;) {
    if (row.waiters[i].node == node) row.waiters.erase(row.waiters.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void CoverageCounter::on(const Stamp&, const obs::Denied& event, const Context&) {
  counts_.delegations.denials.add(event.cause);
  // These are told to one that stays in the queue too; when its callers give up it has left.
  const bool stays = event.cause == obs::Cause::contended || event.cause == obs::Cause::ownGrant;
  if (!stays) leaveQueue(keys_.at(event.key.value), event.to);
}

void CoverageCounter::on(const Stamp& stamp, const obs::LockRefused& event, const Context& context) {
  counts_.callers.lockErrors.add(event.error);
  counts_.callers.lockCauses.add(event.cause);
  for (const CallId id : context.history.key(event.key).pending) {
    if (context.history.call(id).node == stamp.node) return;
  }
  leaveQueue(keys_.at(event.key.value), stamp.node);
}

void CoverageCounter::on(const Stamp& stamp, const obs::Queued& event, const Context&) {
  ++counts_.delegations.queued;
  KeyRow& row = keys_.at(event.key.value);
  leaveQueue(row, event.requester);
  row.waiters.push_back({event.requester, stamp.node, 0, false});
}

void CoverageCounter::forgetQueueOf(NodeId home) {
  for (KeyRow& row : keys_) {
    for (std::size_t i = row.waiters.size(); i-- > 0;) {
      if (row.waiters[i].home == home || row.waiters[i].node == home) {
        row.waiters.erase(row.waiters.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}

void CoverageCounter::on(const Stamp& stamp, const obs::NodeCrashed& event, const Context&) {
  ++counts_.faults.crashes;
  counts_.faults.commitsLost += event.lostCommits;
  forgetQueueOf(stamp.node);
}

void CoverageCounter::on(const Stamp& stamp, const obs::CoordinatorReplaced&, const Context&) {
  ++counts_.faults.coordinatorReplacements;
  forgetQueueOf(stamp.node);
}

void CoverageCounter::on(const Stamp& stamp, const obs::ClockRate&, const Context&) {
  std::uint8_t& seen = clockSeen_.at(stamp.node.value);
  counts_.faults.clockRateChanges += seen;
  seen = 1;
}

void CoverageCounter::on(const Stamp& stamp, const obs::WallSet&, const Context&) {
  std::uint8_t& seen = wallSeen_.at(stamp.node.value);
  counts_.faults.wallChanges += seen;
  seen = 1;
}

}  // namespace holdfast::checkers
