#include "checkers/lineage.hpp"

#include <algorithm>

namespace holdfast::checkers {

// ---- Barriers ---------------------------------------------------------------------------------------------

Barrier* Lineage::find(std::uint64_t nonce) {
  const auto it = byNonce_.find(nonce);
  return it == byNonce_.end() ? nullptr : &barriers_[it->second];
}

BarrierMember& Lineage::memberOf(Barrier& barrier, NodeId node) {
  for (BarrierMember& one : barrier.members) {
    if (one.node == node) return one;
  }
  BarrierMember& fresh = barrier.members.emplace_back();
  fresh.node = node;
  return fresh;
}

void Lineage::on(const Stamp& stamp, const obs::BarrierStarted& event, const History&) {
  std::size_t slot = barriers_.size();
  if (slot < kBarriersKept) {
    barriers_.emplace_back();
  } else {
    slot = oldest_;
    oldest_ = (oldest_ + 1) % kBarriersKept;
    byNonce_.erase(barriers_[slot].nonce);
  }
  Barrier& barrier = barriers_[slot];
  barrier.nonce = event.nonce;
  barrier.node = stamp.node;
  barrier.done = false;
  barrier.satisfied = false;
  barrier.startedAt = stamp.at;
  barrier.members.clear();
  byNonce_[event.nonce] = static_cast<std::uint32_t>(slot);
}

void Lineage::on(const Stamp& stamp, const obs::BarrierMeasured& event, const History&) {
  Barrier* barrier = find(event.nonce);
  if (barrier == nullptr) return;
  BarrierMember& member = memberOf(*barrier, event.member);
  member.measured = true;
  member.position = event.position;
  member.measuredAt = stamp.at;
}

void Lineage::on(const Stamp& stamp, const obs::BarrierSkipped& event, const History&) {
  Barrier* barrier = find(event.nonce);
  if (barrier == nullptr) return;
  BarrierMember& member = memberOf(*barrier, event.member);
  member.skipped = true;
  member.skippedAt = stamp.at;
}

void Lineage::on(const Stamp&, const obs::BarrierDone& event, const History&) {
  Barrier* barrier = find(event.nonce);
  if (barrier == nullptr) return;
  barrier->done = true;
  barrier->satisfied = event.satisfied;
}

void Lineage::on(const Stamp& stamp, const obs::RecoveryJoined& event, const History&) {
  Lane& lane = lanes_.at(event.key.value, stamp.node);
  lane.joined = true;
  lane.nonce = event.nonce;
  lane.joinedAt = stamp.at;
}

const Barrier* Lineage::barrierOf(KeyId key, NodeId node) const {
  const Lane* lane = lanes_.find(key.value, node);
  if (lane == nullptr || !lane->joined) return nullptr;
  const auto it = byNonce_.find(lane->nonce);
  return it == byNonce_.end() ? nullptr : &barriers_[it->second];
}

bool Lineage::joinedSinceGrant(KeyId key, NodeId node) const {
  const Lane* lane = lanes_.find(key.value, node);
  return lane != nullptr && lane->joined && lane->joinedAt >= lane->grantedAt;
}

// ---- Reachability -----------------------------------------------------------------------------------------

void Lineage::on(const Stamp& stamp, const obs::LinkCut& event, const History&) {
  Link& link = links_.at(stamp.node.value, event.to);
  link.cut = true;
  link.cutAt = stamp.at;
}

void Lineage::on(const Stamp& stamp, const obs::LinkHealed& event, const History&) {
  Link& link = links_.at(stamp.node.value, event.to);
  link.cut = false;
  link.healedAt = stamp.at;
}

void Lineage::on(const Stamp& stamp, const obs::MessageLost& event, const History&) {
  if (event.message != obs::MessageKind::barrierRequest && event.message != obs::MessageKind::barrierReply) {
    return;
  }
  links_.at(stamp.node.value, event.to).barrierLostAt = stamp.at;
}

void Lineage::on(const Stamp& stamp, const obs::MessageSent& event, const History&) {
  if (event.message != obs::MessageKind::barrierReply) return;
  // A member answers at the instant in which it appends. It may do so long after the acquirer has given that
  // barrier up, which is no answer to the next one.
  const Appended& last = appended_.at(stamp.node.value);
  if (last.at != stamp.at) return;
  replies_[nextReply_] = {event.id, last.nonce};
  nextReply_ = (nextReply_ + 1) % kRepliesKept;
}

void Lineage::on(const Stamp& stamp, const obs::MessageDelivered& event, const History&) {
  if (event.message != obs::MessageKind::barrierReply) return;
  const auto reply = std::ranges::find(replies_, event.id, &Reply::message);
  if (reply == replies_.end() || reply->nonce == 0) {
    links_.at(stamp.node.value, event.from).refusedAt = stamp.at;
    return;
  }
  Barrier* barrier = find(reply->nonce);
  if (barrier == nullptr || barrier->node != stamp.node) return;
  BarrierMember& member = memberOf(*barrier, event.from);
  member.answeredAt = std::min(member.answeredAt, stamp.at);
}

Route Lineage::lossOfSkipped(const History& history, const Barrier& barrier, const BarrierMember& member,
                             TrueInstant& lostAt) const {
  const NodeFacts& facts = history.node(member.node);
  const TrueInstant start = barrier.startedAt;
  if (facts.crashes > 0 && (!facts.up || facts.startedAt >= start)) {
    lostAt = facts.crashedAt;
    return Route::l2a;
  }
  lostAt = member.skippedAt;
  const Link* there = links_.find(barrier.node.value, member.node);
  const Link* back = links_.find(member.node.value, barrier.node);
  const auto interrupted = [start](const Link* link) {
    return link != nullptr && (link->cut || link->healedAt >= start || link->barrierLostAt >= start);
  };
  if (interrupted(there) || interrupted(back)) return Route::l2b;
  if (facts.paused || (facts.pausedInAll.ns > 0 && facts.resumedAt >= start)) return Route::l2b;
  // Neither down nor cut off. Silence until the acquirer gave up is unreachability too; an answer in time is
  // not.
  const bool refused = there != nullptr && there->refusedAt >= start && there->refusedAt <= member.skippedAt;
  const bool answered = refused || member.answeredAt <= member.skippedAt;
  return answered ? Route::none : Route::l2b;
}

void Lineage::on(const Stamp& stamp, const obs::MembershipInstalled& event, const History&) {
  members_.at(stamp.node.value) = event.members;
}

Route Lineage::lossOfUnasked(const History& history, const Barrier& barrier, NodeId origin,
                             TrueInstant& lostAt) const {
  const obs::NodeBits* const members = members_.find(barrier.node.value);
  const bool dismissed = members != nullptr && members->bits != 0 && !members->contains(origin);
  if (!dismissed) return Route::none;
  const NodeFacts& facts = history.node(origin);
  const Link* back = links_.find(origin.value, barrier.node);
  const bool away = !facts.up || facts.paused || (back != nullptr && back->cut);
  if (!away) return Route::none;
  BarrierMember unasked;
  unasked.node = origin;
  unasked.skippedAt = barrier.startedAt;
  return lossOfSkipped(history, barrier, unasked, lostAt);
}

// ---- Lanes ------------------------------------------------------------------------------------------------

void Lineage::replaceLineage(const Stamp& stamp, KeyId key, const History& history) {
  const Barrier* barrier = barrierOf(key, stamp.node);
  lanes_.at(key.value, {static_cast<std::uint16_t>(std::max<std::size_t>(history.nodes(), 1) - 1)});
  if (barrier != nullptr) {
    for (const BarrierMember& member : barrier->members) lanes_.at(key.value, member.node);
  }
  const TrueInstant joinedAt = lanes_.at(key.value, stamp.node).joinedAt;
  for (std::uint16_t i = 0; i < lanes_.width(); ++i) {
    const NodeId origin{i};
    Lane& lane = lanes_.at(key.value, origin);
    lane.covered = 0;
    lane.lost = Route::none;
    lane.lostAt = stamp.at;
    lane.lostSince = {INT64_MIN};
    const BarrierMember* member = barrier == nullptr ? nullptr : barrier->member(origin);
    if (member != nullptr && member->measured) {
      lane.covered = member->position;
      lane.lost = Route::l2c;
      lane.lostAt = member->measuredAt;
      lane.lostSince = std::max(joinedAt, member->appended ? member->appendedAt : barrier->startedAt);
    } else if (member != nullptr && member->skipped) {
      lane.lost = lossOfSkipped(history, *barrier, *member, lane.lostAt);
      const TrueInstant lastSettled =
          lane.head == kNothing ? stamp.at : history.txn(committed_[lane.head].txn).settledAt;
      const NodeFacts& facts = history.node(origin);
      const Link* back = links_.find(i, stamp.node);
      const bool cut = back != nullptr && (back->cut || back->healedAt >= barrier->startedAt);
      if (lane.lost == Route::l2b && !cut && facts.crashes > 0 && facts.crashedAt >= lastSettled) {
        lane.lost = Route::l2a;
        lane.lostAt = facts.crashedAt;
      }
    } else if (barrier != nullptr && member == nullptr && origin != stamp.node) {
      lane.lost = lossOfUnasked(history, *barrier, origin, lane.lostAt);
    } else if (origin == stamp.node) {
      // The acquirer sees its own log; its release will cover it. Its own earlier commit that settles after
      // that release was in flight when the lineage was replaced.
      lane.lost = Route::l2c;
    }
  }
}

void Lineage::on(const Stamp& stamp, const obs::Admitted& event, const History& history) {
  if (event.path != obs::Path::recovery) return;
  KeyLineage& row = keys_.at(event.key.value);
  const std::uint32_t rank = history.call(event.call).rank;
  if (rank < row.recoveryRank) return;
  replaceLineage(stamp, event.key, history);
  row.recoveryRank = rank;
  row.recoveredAt = stamp.at;
}

void Lineage::on(const Stamp&, const obs::Settled& event, const History& history) {
  const Txn& txn = history.txn(event.txn);
  if (!event.committed || txn.settlements != 1) return;
  for (std::uint32_t i = txn.firstWrite; i != kNothing; i = history.write(i).nextOfTxn) {
    const Write& write = history.write(i);
    if (!write.call.valid()) continue;
    Lane& lane = lanes_.at(write.key.value, txn.node);
    if (lane.head != kNothing && committed_[lane.head].txn == event.txn) continue;
    committed_.push_back({event.txn, write.call, lane.head});
    lane.head = static_cast<std::uint32_t>(committed_.size() - 1);
    lane.top = std::max(lane.top, txn.position);
  }
}

void Lineage::on(const Stamp& stamp, const obs::Granted& event, const History& history) {
  if (event.renewal) return;
  KeyLineage& row = keys_.at(event.key.value);
  lanes_.at(event.key.value, event.to).grantedAt = stamp.at;
  row.pendingRoute = Route::none;
  row.pendingNode = event.to;
  if (row.cleanlyReleased && event.path == obs::Path::recovery) {
    const NodeFacts& home = history.node(row.releaseHome);
    if (row.lost && row.loss == obs::LineageLoss::evicted) {
      row.pendingRoute = Route::l2Eviction;
    } else if ((row.lost && row.loss == obs::LineageLoss::membershipChange) ||
               row.releaseHome != stamp.node) {
      row.pendingRoute = Route::l2MembershipChange;
    } else if ((row.lost && row.loss == obs::LineageLoss::coldHome) ||
               home.crashes + home.replacements != row.homeLives) {
      row.pendingRoute = Route::l2HomeRestart;
      row.loss = obs::LineageLoss::coldHome;  // a home that lost everything does not say so for each key
    }
  }
  row.wasClean = row.cleanlyReleased;
  row.cleanlyReleased = false;
}

void Lineage::on(const Stamp& stamp, const obs::ControlAppended& event, const History&) {
  if (event.entry == obs::EntryKind::barrier) {
    appended_.at(stamp.node.value) = {event.nonce, stamp.at};
    if (Barrier* barrier = find(event.nonce)) {
      BarrierMember& member = memberOf(*barrier, stamp.node);
      // Of a request that arrived twice the first entry counts: what settled behind it may be missing.
      if (!member.appended) member.appendedAt = stamp.at;
      member.appended = true;
    }
    return;
  }
  if (event.entry != obs::EntryKind::release || !event.key.valid()) return;
  Lane& lane = lanes_.at(event.key.value, stamp.node);
  lane.releaseToken = event.token;
  lane.releasePosition = event.position;
}

void Lineage::on(const Stamp& stamp, const obs::ReleaseSeen& event, const History& history) {
  if (!event.cleared) return;
  KeyLineage& row = keys_.at(event.key.value);
  const Barrier* barrier = barrierOf(event.key, event.author);
  const bool recoveredUnused = barrier != nullptr && barrier->satisfied &&
                               joinedSinceGrant(event.key, event.author) &&
                               row.recoveredAt < lanes_.at(event.key.value, event.author).grantedAt;
  if (recoveredUnused) {
    // The delegate recovered and released without admitting anybody: what its barrier measured is what the
    // successors inherit all the same (FR-2).
    replaceLineage({stamp.at, event.author}, event.key, history);
    row.recoveryRank = history.key(event.key).sections + 1;
    row.recoveredAt = stamp.at;
    row.recoveredUnusedAt = stamp.at;
  }
  Lane& lane = lanes_.at(event.key.value, event.author);
  lane.releasedAt = stamp.at;
  if (lane.releaseToken == event.token) lane.covered = std::max(lane.covered, lane.releasePosition);
  const NodeFacts& home = history.node(stamp.node);
  row.cleanlyReleased = true;
  row.releaseHome = stamp.node;
  row.homeLives = home.crashes + home.replacements;
  row.releasedAt = stamp.at;
  row.lost = false;
}

void Lineage::on(const Stamp&, const obs::HandBackSeen& event, const History&) {
  // Nobody was admitted under the grant, so the predecessor's clean release stands.
  if (!event.cleared) return;
  KeyLineage& row = keys_.at(event.key.value);
  row.cleanlyReleased = row.wasClean && !(row.lost && row.loss == obs::LineageLoss::handedBackRenewal);
}

void Lineage::on(const Stamp&, const obs::LineageLost& event, const History&) {
  if (event.key.valid()) {
    KeyLineage& row = keys_.at(event.key.value);
    row.lost = true;
    row.loss = event.why;
    return;
  }
  for (KeyLineage& row : keys_) {
    row.lost = true;
    row.loss = event.why;
  }
}

// ---- Questions --------------------------------------------------------------------------------------------

Excuse Lineage::excuseFor(KeyId key, const Txn& txn, const Call& writer) const {
  Excuse excuse;
  const KeyLineage* row = keys_.find(key.value);
  const Lane* lane = lanes_.find(key.value, txn.node);
  if (row == nullptr || lane == nullptr) return excuse;
  excuse.recoveredAt = row->recoveredAt;
  excuse.lostAt = lane->lostAt;
  excuse.covered = lane->covered;
  // Nothing has been lost since the write's own section, or the lineage reaches the write again.
  if (row->recoveryRank <= writer.rank || txn.position <= lane->covered) return excuse;
  if (lane->lost == Route::l2c && txn.settledAt < lane->lostSince) return excuse;
  excuse.route = lane->lost;
  return excuse;
}

Route Lineage::cleanReleaseRoute(KeyId key, NodeId node) const {
  const KeyLineage* row = keys_.find(key.value);
  return row != nullptr && row->pendingNode == node ? row->pendingRoute : Route::none;
}

TrueInstant Lineage::releasedAt(KeyId key) const {
  const KeyLineage* row = keys_.find(key.value);
  return row == nullptr ? TrueInstant{INT64_MIN} : row->releasedAt;
}

obs::LineageLoss Lineage::lossOf(KeyId key) const {
  const KeyLineage* row = keys_.find(key.value);
  return row == nullptr ? obs::LineageLoss::expired : row->loss;
}

bool Lineage::releasedBetween(KeyId key, NodeId author, TrueInstant from, TrueInstant to) const {
  const Lane* lane = lanes_.find(key.value, author);
  return lane != nullptr && lane->releasedAt > from && lane->releasedAt <= to;
}

bool Lineage::recoveredUnusedBetween(KeyId key, TrueInstant from, TrueInstant to) const {
  const KeyLineage* row = keys_.find(key.value);
  return row != nullptr && row->recoveredUnusedAt > from && row->recoveredUnusedAt <= to;
}

}  // namespace holdfast::checkers
