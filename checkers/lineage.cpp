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

void Lineage::on(const Stamp& stamp, const obs::BarrierStarted& event, const History& history) {
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
  barrier.asks = false;
  barrier.startedAt = stamp.at;
  barrier.givesUpAt = history.node(stamp.node).clock.at(stamp.at) + barrierTimeout_;
  barrier.members.clear();
  started_.at(stamp.node.value) = {event.nonce, stamp.at};
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

void Lineage::on(const Stamp& stamp, const obs::BarrierSkipped& event, const History& history) {
  Barrier* barrier = find(event.nonce);
  if (barrier == nullptr) return;
  BarrierMember& member = memberOf(*barrier, event.member);
  member.skipped = true;
  if (barrierTimeout_.ns > 0 && history.node(stamp.node).clock.surelyBefore(barrier->givesUpAt, stamp.at)) {
    member.leftOut = LeftOut::tooSoon;
  } else if (member.answered) {
    member.leftOut = LeftOut::answered;
  } else if (barrier->asks && !member.asked) {
    member.leftOut = LeftOut::unasked;
  } else {
    judgeAbsent(stamp, *barrier, member, history);
  }
}

void Lineage::on(const Stamp& stamp, const obs::BarrierDone& event, const History& history) {
  Barrier* barrier = find(event.nonce);
  if (barrier == nullptr) return;
  barrier->done = true;
  barrier->satisfied = event.satisfied;
  for (std::uint16_t i = 0; i < history.nodes(); ++i) judgeDismissed(stamp, *barrier, {i}, history);
}

void Lineage::on(const Stamp& stamp, const obs::RecoveryJoined& event, const History&) {
  Lane& lane = lanes_.at(event.key.value, stamp.node);
  lane.joined = true;
  lane.nonce = event.nonce;
  lane.joinedAt = stamp.at;
}

const Barrier* Lineage::barrier(std::uint64_t nonce) const {
  const auto it = byNonce_.find(nonce);
  return it == byNonce_.end() ? nullptr : &barriers_[it->second];
}

const Barrier* Lineage::barrierOf(KeyId key, NodeId node) const {
  const Lane* lane = lanes_.find(key.value, node);
  return lane == nullptr || !lane->joined ? nullptr : barrier(lane->nonce);
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

void Lineage::noteLetter(std::uint64_t message, std::uint64_t nonce) {
  letters_[nextLetter_] = {message, nonce};
  nextLetter_ = (nextLetter_ + 1) % kLettersKept;
}

std::uint64_t Lineage::nonceOf(std::uint64_t message) const {
  const auto letter = std::ranges::find(letters_, message, &Letter::message);
  return letter == letters_.end() ? 0 : letter->nonce;
}

void Lineage::noteAsked(const Stamp& stamp, NodeId member) {
  // A barrier asks at the instant in which it starts, and a node has one under way at a time.
  const Dated& last = started_.at(stamp.node.value);
  Barrier* const barrier = last.at == stamp.at ? find(last.nonce) : nullptr;
  if (barrier == nullptr) return;
  barrier->asks = true;
  memberOf(*barrier, member).asked = true;
}

void Lineage::on(const Stamp& stamp, const obs::MessageLost& event, const History&) {
  const bool rejected = event.why == obs::LossReason::rejected;
  if (rejected && event.message == obs::MessageKind::barrierRequest) noteAsked(stamp, event.to);
}

void Lineage::on(const Stamp& stamp, const obs::MessageSent& event, const History&) {
  if (event.message == obs::MessageKind::barrierRequest) {
    noteAsked(stamp, event.to);
    const Dated& last = started_.at(stamp.node.value);
    if (last.at == stamp.at) noteLetter(event.id, last.nonce);
  } else if (event.message == obs::MessageKind::barrierReply) {
    if (const std::uint64_t nonce = answeredBy(stamp, event.to); nonce != 0) noteLetter(event.id, nonce);
  }
}

std::uint64_t Lineage::answeredBy(const Stamp& stamp, NodeId acquirer) {
  std::uint64_t nonce = 0;
  auto& open = links_.at(acquirer.value, stamp.node).open;
  Dated& last = appended_.at(stamp.node.value);
  if (last.at == stamp.at) {
    // A member answers at the instant in which it appends. It may do so long after the acquirer has given
    // that barrier up, which is no answer to the next one.
    nonce = last.nonce;
    last = {};
  } else if (!open.empty() && std::ranges::count(open, open.front()) == std::ssize(open)) {
    // Without an entry it answers the one barrier that it was asked for.
    nonce = open.front();
  }
  const auto answered = std::ranges::find(open, nonce);
  if (answered != open.end()) open.erase(answered);
  return nonce;
}

void Lineage::on(const Stamp& stamp, const obs::MessageDelivered& event, const History&) {
  const bool request = event.message == obs::MessageKind::barrierRequest;
  if (!request && event.message != obs::MessageKind::barrierReply) return;
  const std::uint64_t nonce = nonceOf(event.id);
  if (nonce == 0) return;
  if (request) {
    auto& open = links_.at(event.from.value, stamp.node).open;
    if (open.size() == kOpenKept) open.erase(open.begin());
    open.push_back(nonce);
    return;
  }
  Barrier* const barrier = find(nonce);
  if (barrier == nullptr || barrier->node != stamp.node) return;
  BarrierMember& member = memberOf(*barrier, event.from);
  if (!member.answered) member.answeredAt = stamp.at;
  member.answered = true;
}

void Lineage::on(const Stamp& stamp, const obs::MessageRefused& event, const History&) {
  if (event.message != obs::MessageKind::barrierRequest) return;
  auto& open = links_.at(event.from.value, stamp.node).open;
  if (!open.empty()) open.pop_back();
}

void Lineage::judgeAbsent(const Stamp& stamp, const Barrier& barrier, BarrierMember& member,
                          const History& history) const {
  const NodeFacts& facts = history.node(member.node);
  const Link* const back = links_.find(member.node.value, barrier.node);
  member.cutOff = back != nullptr && (back->cut || back->healedAt >= barrier.startedAt);
  if (facts.crashes > 0) member.crashedAt = facts.crashedAt;
  const bool wasDown = facts.crashes > 0 && (!facts.up || facts.startedAt >= barrier.startedAt);
  member.lost = wasDown ? Route::l2a : Route::l2b;
  member.lostAt = wasDown ? facts.crashedAt : stamp.at;
}

void Lineage::judgeDismissed(const Stamp& stamp, Barrier& barrier, NodeId node,
                             const History& history) const {
  const Membership* const membership = memberships_.find(barrier.node.value);
  const bool dismissed = membership != nullptr && membership->members.bits != 0 && node != barrier.node &&
                         !membership->members.contains(node);
  if (!dismissed || barrier.member(node) != nullptr) return;
  BarrierMember absent;
  absent.node = node;
  judgeAbsent(stamp, barrier, absent, history);
  const NodeFacts& facts = history.node(node);
  const bool suspended = facts.paused || (facts.pausedInAll.ns > 0 && facts.resumedAt >= barrier.startedAt);
  if (absent.lost == Route::l2a || absent.cutOff || suspended) barrier.members.push_back(absent);
}

void Lineage::on(const Stamp& stamp, const obs::MembershipInstalled& event, const History&) {
  Membership& last = memberships_.at(stamp.node.value);
  if (last.number != event.number) kept_.loseAll(stamp.node);
  last = {event.members, event.number};
}

std::uint32_t Lineage::membershipOf(NodeId node) const {
  const Membership* const last = memberships_.find(node.value);
  return last == nullptr ? 0 : last->number;
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
    } else if (member != nullptr) {
      lane.lost = member->lost;
      if (member->lost != Route::none) lane.lostAt = member->lostAt;
      const TrueInstant lastSettled =
          lane.head == kNothing ? stamp.at : history.txn(committed_[lane.head].txn).settledAt;
      if (lane.lost == Route::l2b && !member->cutOff && member->crashedAt >= lastSettled) {
        lane.lost = Route::l2a;
        lane.lostAt = member->crashedAt;
      }
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
  KeyLineage& row = keys_.at(event.key.value);
  row.renewed = event.renewal;
  if (event.renewal) return;
  lanes_.at(event.key.value, event.to).grantedAt = stamp.at;
  row.pendingRoute.reset();
  row.pendingNode = event.to;
  row.virgin = event.path == obs::Path::virgin;
  if (row.cleanlyReleased && event.path == obs::Path::recovery) {
    row.pendingRoute = reasonOfRecovery(row, event.key, stamp.node, history);
  }
  row.wasClean = row.cleanlyReleased;
  row.cleanlyReleased = false;
}

Route Lineage::reasonOfRecovery(const KeyLineage& row, KeyId key, NodeId home, const History& history) const {
  const NodeFacts& facts = history.node(row.releaseHome);
  if (home == row.releaseHome && kept_.evicted(key, home)) return Route::l2Eviction;
  if (membershipOf(home) != row.membership) return Route::l2MembershipChange;
  const bool restarted = facts.crashes + facts.replacements != row.homeLives;
  return home == row.releaseHome && restarted ? Route::l2HomeRestart : Route::none;
}

void Lineage::on(const Stamp& stamp, const obs::ControlAppended& event, const History& history) {
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
  const NodeFacts& author = history.node(stamp.node);
  lane.releaseFound = author.crashes > 0 && author.startedAt == stamp.at;
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
  // What its author was not seen to append as it ran may be of another version, and tell of no lineage
  // (FR-4).
  const bool appended = lane.releaseToken == event.token;
  if (appended) lane.covered = std::max(lane.covered, lane.releasePosition);
  const NodeFacts& home = history.node(stamp.node);
  row.cleanlyReleased = appended && !lane.releaseFound;
  row.releaseHome = stamp.node;
  row.homeLives = home.crashes + home.replacements;
  row.membership = membershipOf(stamp.node);
  row.releasedAt = stamp.at;
  kept_.store(event.key, stamp.node, row.homeLives);
}

void Lineage::on(const Stamp& stamp, const obs::HandBackSeen& event, const History& history) {
  if (!event.cleared) return;
  KeyLineage& row = keys_.at(event.key.value);
  const NodeFacts& home = history.node(stamp.node);
  if (row.renewed) {
    kept_.lose(event.key, stamp.node);
  } else if (row.virgin) {
    kept_.store(event.key, stamp.node, home.crashes + home.replacements);
  }
  // Nobody was admitted under the grant, so the predecessor's clean release stands.
  row.cleanlyReleased = row.wasClean && !row.renewed;
}

void Lineage::on(const Stamp& stamp, const obs::GrantExpired& event, const History&) {
  kept_.lose(event.key, stamp.node);
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

std::optional<Route> Lineage::cleanReleaseRoute(KeyId key, NodeId node) const {
  const KeyLineage* row = keys_.find(key.value);
  return row != nullptr && row->pendingNode == node ? row->pendingRoute : std::nullopt;
}

TrueInstant Lineage::releasedAt(KeyId key) const {
  const KeyLineage* row = keys_.find(key.value);
  return row == nullptr ? TrueInstant{INT64_MIN} : row->releasedAt;
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
