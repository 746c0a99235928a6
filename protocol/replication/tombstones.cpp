// LW-3: how long tombstones are kept.
//
// A tombstone keeps older writes out, so it may go only when none of them can still come. The clock alone
// does not tell: a write of the retention's time may wait in a queue, in a hole, or behind a link that is
// cut. So the replica asks every origin how far its log reaches once the retention is over, and reclaims when
// it has got there. Only what is logged later than that can find the tombstone gone.
#include <algorithm>

#include "protocol/replication/replication.hpp"

namespace holdfast::protocol {

void Replication::noteTombstone(KeyId key, bool wasTombstone, const Context& context) {
  if (wasTombstone) {
    const auto old = std::find_if(tombstones_.begin(), tombstones_.end(),
                                  [key](const Tombstone& t) { return t.key == key; });
    if (old != tombstones_.end()) tombstones_.erase(old);
  }
  Record& record = state_.records[key.value];
  if (!record.tombstone()) return;
  if (!rules_.on(Rule::LW3_TombstoneRetention)) {
    record.clear();
    context.observe(obs::TombstoneReclaimed{key});
    return;
  }
  const Tombstone tombstone{key, context.now + retention_};
  const auto later = [](MonotonicInstant at, const Tombstone& t) { return at < t.reclaimAt; };
  tombstones_.insert(std::upper_bound(tombstones_.begin(), tombstones_.end(), tombstone.reclaimAt, later),
                     tombstone);
}

void Replication::sweepTombstones(const Context& context) {
  if (nextTombstone() > context.now) {
    heads_.upTo.clear();
    return;
  }
  if (!rules_.on(Rule::LW3_ReclaimBehindLogs)) {
    reclaim(context.now, context);
  } else if (caughtUpWithHeads(context)) {
    heads_.upTo.clear();
    reclaim(heads_.due, context);
  }
}

/// Begins a round unless one is under way, and asks those who have not answered in it.
bool Replication::caughtUpWithHeads(const Context& context) {
  if (heads_.upTo.empty()) {
    ++heads_.round;
    heads_.due = context.now;
    heads_.upTo.assign(state_.origins.size(), Heads::kNotKnown);
  }
  bool caughtUp = true;
  for (std::size_t i = 0; i < heads_.upTo.size(); ++i) {
    const NodeId origin{static_cast<std::uint16_t>(i)};
    if (!isPeer(origin)) continue;
    if (heads_.upTo[i] == Heads::kNotKnown) subscribe(origin, context, heads_.round);
    // A position that is not known is beyond every other.
    if (visible(origin) < heads_.upTo[i]) caughtUp = false;
  }
  return caughtUp;
}

bool Replication::onLogHead(NodeId origin, const LogHead& message) {
  if (!isPeer(origin) || message.round == 0 || message.position == Heads::kNotKnown) return false;
  if (!heads_.upTo.empty() && message.round == heads_.round) heads_.upTo[origin.value] = message.position;
  return true;
}

void Replication::reclaim(MonotonicInstant due, const Context& context) {
  auto next = tombstones_.begin();
  for (; next != tombstones_.end() && next->reclaimAt <= due; ++next) {
    state_.records[next->key.value].clear();
    context.observe(obs::TombstoneReclaimed{next->key});
  }
  tombstones_.erase(tombstones_.begin(), next);
}

MonotonicInstant Replication::nextTombstone() const {
  return tombstones_.empty() ? MonotonicInstant::never() : tombstones_.front().reclaimAt;
}

}  // namespace holdfast::protocol
