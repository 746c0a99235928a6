#include "checkers/history.hpp"

#include <algorithm>
#include <tuple>

namespace holdfast::checkers {

namespace {

const NodeFacts kNoNode{};
const Call kNoCall{};
const Txn kNoTxn{};
const KeyFacts kNoKey{};
const ReplicaView kNoReplica{};

template <class Calls>
void removeCall(Calls& calls, CallId id) {
  for (auto it = calls.begin(); it != calls.end(); ++it) {
    if (*it == id) {
      calls.erase(it);
      return;
    }
  }
}

}  // namespace

void History::reserveNodes(std::size_t nodes) {
  if (nodes == 0) return;
  nodes_.at(nodes - 1);
  replicas_.at(nodes - 1, {static_cast<std::uint16_t>(nodes - 1)});
}

const NodeFacts& History::node(NodeId id) const {
  const NodeFacts* found = nodes_.find(id.value);
  return found != nullptr ? *found : kNoNode;
}

obs::Duration History::pausedInAll(NodeId id, TrueInstant at) const {
  const NodeFacts& facts = node(id);
  return facts.paused ? facts.pausedInAll + (facts.clock.at(at) - facts.pausedAtLocal) : facts.pausedInAll;
}

const Call& History::call(CallId id) const {
  const Call* found = calls_.find(id.value);
  return found != nullptr ? *found : kNoCall;
}

const KeyFacts& History::key(KeyId id) const {
  const KeyFacts* found = keys_.find(id.value);
  return found != nullptr ? *found : kNoKey;
}

const Txn& History::txn(TxnId id) const {
  const Txn* found = txns_.find(id.value);
  return found != nullptr ? *found : kNoTxn;
}

const Write* History::writeOf(TxnId id, KeyId key, unsigned field) const {
  const Write* found = nullptr;
  for (std::uint32_t i = txn(id).firstWrite; i != kNothing; i = writes_[i].nextOfTxn) {
    const Write& candidate = writes_[i];
    if (candidate.key == key && (candidate.touched() >> field & 1U) != 0) found = &candidate;
  }
  return found;
}

bool History::outranks(const Write& a, const Write& b) const {
  return std::tuple(a.stamp, txn(a.txn).node) > std::tuple(b.stamp, txn(b.txn).node);
}

const ReplicaView& History::replica(NodeId node, NodeId origin) const {
  const ReplicaView* found = replicas_.find(node.value, origin);
  return found != nullptr ? *found : kNoReplica;
}

bool History::visible(NodeId node, const Txn& txn) const {
  if (txn.state != TxnState::committed) return false;
  return node == txn.node || replica(node, txn.node).shows(txn.position);
}

// ---- Calls ------------------------------------------------------------------------------------------------

void History::on(const Stamp& stamp, const obs::LockRequested& event) {
  Call& call = calls_.at(event.call.value);
  KeyFacts& key = keys_.at(event.key.value);
  const NodeFacts& home = nodes_.at(stamp.node.value);
  call.state = CallState::pending;
  call.node = stamp.node;
  call.key = event.key;
  call.crashes = home.crashes;
  call.requestedAt = stamp.at;
  call.requestedLocal = home.clock.at(stamp.at);
  call.wait = event.wait;
  call.pausedBefore = pausedInAll(stamp.node, stamp.at);
  for (const CallId other : key.pending) {
    if (calls_[other.value].node == stamp.node) call.behind = true;
  }
  key.pending.push_back(event.call);
}

/// The call has been answered: its critical section begins.
void History::begin(CallId id, const Stamp& stamp, KeyId keyId, obs::Path path,
                    obs::MonotonicInstant deadline) {
  Call& call = calls_.at(id.value);
  KeyFacts& key = keys_.at(keyId.value);
  const NodeFacts& node = nodes_.at(stamp.node.value);
  sweep(key, stamp.at);
  removeCall(key.pending, id);
  call.stray = call.state != CallState::pending || node.crashes != call.crashes;
  ++call.answers;
  ++admissions_;
  if (!call.admitted) {
    call.rank = ++key.sections;
    if (key.lastSection.valid()) {
      calls_[key.lastSection.value].nextSection = id;
    } else {
      key.firstSection = id;
    }
    key.lastSection = id;
    key.open.push_back(id);
  }
  call.state = CallState::live;
  call.admitted = true;
  call.node = stamp.node;
  call.key = keyId;
  call.crashes = node.crashes;
  call.replacements = node.replacements;
  call.path = path;
  call.order = ++order_;
  call.admittedAt = stamp.at;
  call.deadline = deadline;
}

void History::on(const Stamp& stamp, const obs::Admitted& event) {
  begin(event.call, stamp, event.key, event.path, event.deadline);
}

void History::on(const Stamp& stamp, const obs::Reentered& event) {
  Call& call = calls_.at(event.call.value);
  nodes_.at(stamp.node.value);
  reentry_ = {call.state, false, !call.admitted && call.state != CallState::refused, false, {}};
  if (reentry_.fresh) {
    // A call of its own that is let in by way of a handle is admitted as any other is.
    begin(event.call, stamp, event.key, obs::Path::cached, event.deadline);
    return;
  }
  if (call.state == CallState::live) {
    reentry_.lapsed = surelyLapsed(call, stamp.at);
    if (reentry_.lapsed) reentry_.lapsedAt = node(call.node).clock.whenReads(call.deadline);
    reentry_.inside = !reentry_.lapsed && !lostInCrash(call);
    KeyFacts& key = keys_.at(call.key.value);
    if (reentry_.lapsed && std::ranges::find(key.open, event.call) == key.open.end()) {
      key.open.push_back(event.call);
    }
  }
  call.deadline = event.deadline;
}

void History::on(const Stamp& stamp, const obs::LockRefused& event) {
  Call& call = calls_.at(event.call.value);
  // Through a handle that is no more, a re-entry is refused: no second answer to the call itself.
  if (call.admitted && event.error == obs::ErrorClass::conflict409) return;
  removeCall(keys_.at(event.key.value).pending, event.call);
  call.stray = call.state != CallState::pending || nodes_.at(stamp.node.value).crashes != call.crashes;
  ++call.answers;
  if (!call.admitted) call.state = CallState::refused;
  if (!call.node.valid()) call.node = stamp.node;
}

void History::end(Call& call, CallState state, TrueInstant at) {
  if (call.state == CallState::live) {
    call.endedAt = at;
    KeyFacts& key = keys_.at(call.key.value);
    TrueInstant inside = at;
    if (surelyLapsed(call, at)) inside = std::min(at, node(call.node).clock.whenReads(call.deadline));
    key.lastEnd = std::max(key.lastEnd, inside);
  }
  call.state = state;
}

void History::on(const Stamp& stamp, const obs::Unlocked& event) {
  Call& call = calls_.at(event.call.value);
  if (!call.admitted || call.state == CallState::revoked) return;
  end(call, CallState::unlocked, stamp.at);
  removeCall(keys_.at(call.key.value).open, event.call);
}

void History::on(const Stamp& stamp, const obs::Revoked& event) {
  Call& call = calls_.at(event.call.value);
  if (!call.admitted) return;
  end(call, CallState::revoked, stamp.at);
  call.revokedAt = stamp.at;
  removeCall(keys_.at(call.key.value).open, event.call);
}

void History::sweep(KeyFacts& key, TrueInstant at) {
  for (std::size_t i = key.open.size(); i-- > 0;) {
    const Call& call = calls_[key.open[i].value];
    if (!lostInCrash(call) && !surelyLapsed(call, at)) continue;
    // A crash sweeps in its own instant, so what it has lost ends then at the latest.
    const TrueInstant lapse = node(call.node).clock.whenReads(call.deadline);
    key.lastEnd = std::max(key.lastEnd, std::min(at, lapse));
    key.open.erase(key.open.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// ---- Writes -----------------------------------------------------------------------------------------------

void History::on(const Stamp& stamp, const obs::Staged& event) {
  Txn& txn = txns_.at(event.txn.value);
  if (txn.state == TxnState::unknown) {
    txn.state = TxnState::staged;
    txn.node = stamp.node;
  }
  txn.crashes = nodes_.at(stamp.node.value).crashes;
  keys_.at(event.key.value);
  const std::uint32_t index = static_cast<std::uint32_t>(writes_.size());
  writes_.push_back({event.txn, event.call, event.key, event.op, event.fields, event.callerStamp, event.stamp,
                     stamp.at, event.values, kNothing});
  if (txn.lastWrite == kNothing) {
    txn.firstWrite = index;
  } else {
    writes_[txn.lastWrite].nextOfTxn = index;
  }
  txn.lastWrite = index;
}

void History::on(const Stamp& stamp, const obs::Submitted& event) {
  Txn& txn = txns_.at(event.txn.value);
  if (txn.state == TxnState::unknown || txn.state == TxnState::staged) {
    txn.state = TxnState::submitted;
    txn.submittedAt = stamp.at;
    txn.order = ++order_;
    txn.node = stamp.node;
  }
  ++txn.submissions;
  txn.crashes = nodes_.at(stamp.node.value).crashes;
}

void History::on(const Stamp& stamp, const obs::Settled& event) {
  Txn& txn = txns_.at(event.txn.value);
  ++txn.settlements;
  if (txn.settlements > 1) return;
  if (!txn.node.valid()) txn.node = stamp.node;
  nodes_.at(stamp.node.value);
  if (txn.state == TxnState::refused && !event.committed) return;
  txn.state = event.committed ? TxnState::committed : TxnState::aborted;
  txn.recovered = event.recovered;
  txn.position = event.position;
  txn.settledAt = stamp.at;
}

void History::on(const Stamp& stamp, const obs::WriteRefused& event) {
  Txn& txn = txns_.at(event.txn.value);
  if (!txn.node.valid()) txn.node = stamp.node;
  if (!event.call.valid() && txn.submissions > 0) return;  // submitted twice: the first one counts
  if (txn.refusals < UINT8_MAX) ++txn.refusals;
  if (txn.state != TxnState::committed) txn.state = TxnState::refused;
}

// ---- Replicas ---------------------------------------------------------------------------------------------

void History::on(const Stamp& stamp, const obs::Applied& event) {
  ReplicaView& view = replicas_.at(stamp.node.value, event.origin);
  if (event.failed) {
    view.failed(event.position);
  } else {
    view.applied(event.position);
  }
}

void History::on(const Stamp& stamp, const obs::GapFound& event) {
  replicas_.at(stamp.node.value, event.origin).gap(event.from, event.to);
}

void History::on(const Stamp& stamp, const obs::HoleRepaired& event) {
  replicas_.at(stamp.node.value, event.origin).repaired(event.position);
}

void History::on(const Stamp& stamp, const obs::TombstoneReclaimed& event) {
  reclaimed_.at(event.key.value, stamp.node) = 1;
}

// ---- Nodes ------------------------------------------------------------------------------------------------

void History::on(const Stamp& stamp, const obs::MembershipRenewed& event) {
  NodeFacts& node = nodes_.at(stamp.node.value);
  membershipSeen_ = true;
  node.member = true;
  node.membershipDeadline = event.deadline;
}

void History::on(const Stamp& stamp, const obs::MembershipLapsed&) {
  nodes_.at(stamp.node.value).member = false;
}

void History::on(const Stamp& stamp, const obs::NodeStarted&) {
  NodeFacts& node = nodes_.at(stamp.node.value);
  node.up = true;
  node.startedAt = stamp.at;
}

void History::on(const Stamp& stamp, const obs::NodeCrashed&) {
  NodeFacts& node = nodes_.at(stamp.node.value);
  if (node.paused) {
    node.pausedInAll = pausedInAll(stamp.node, stamp.at);
    node.resumedAt = stamp.at;
    node.paused = false;
  }
  ++node.crashes;
  node.up = false;
  node.member = false;
  node.crashedAt = stamp.at;
  for (KeyFacts& key : keys_) {
    for (std::size_t i = key.pending.size(); i-- > 0;) {
      if (calls_[key.pending[i].value].node == stamp.node) {
        key.pending.erase(key.pending.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    sweep(key, stamp.at);
  }
}

void History::on(const Stamp& stamp, const obs::NodePaused&) {
  NodeFacts& node = nodes_.at(stamp.node.value);
  if (node.paused) return;
  node.paused = true;
  node.pausedAt = stamp.at;
  node.pausedAtLocal = node.clock.at(stamp.at);
}

void History::on(const Stamp& stamp, const obs::NodeResumed&) {
  NodeFacts& node = nodes_.at(stamp.node.value);
  if (!node.paused) return;
  node.pausedInAll = pausedInAll(stamp.node, stamp.at);
  node.paused = false;
  node.resumedAt = stamp.at;
}

void History::on(const Stamp& stamp, const obs::CoordinatorReplaced&) {
  ++nodes_.at(stamp.node.value).replacements;
}

void History::on(const Stamp& stamp, const obs::ClockRate& event) {
  nodes_.at(stamp.node.value).clock.set(stamp.at, event);
}

void History::on(const Stamp& stamp, const obs::PhaseChanged& event) {
  phased_ = true;
  phase_ = event.phase;
  if (event.phase == obs::Phase::healed) healedAt_ = stamp.at;
}

}  // namespace holdfast::checkers
