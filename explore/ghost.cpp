#include "explore/ghost.hpp"

#include <algorithm>

namespace holdfast::explore {
namespace {

constexpr std::uint8_t ghostBit(std::size_t index) { return static_cast<std::uint8_t>(1U << index); }
constexpr std::uint8_t without(std::uint8_t set, std::uint8_t other) {
  return static_cast<std::uint8_t>(set & ~other);
}
constexpr std::uint8_t with(std::uint8_t set, std::uint8_t other) {
  return static_cast<std::uint8_t>(set | other);
}

}  // namespace

std::uint8_t ticksUntil(obs::MonotonicInstant deadline, obs::MonotonicInstant now) {
  const std::int64_t ticks = (deadline - now).ns / kTick.ns;
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(ticks, 0, 255));
}

const char* nameOf(Breach breach) {
  switch (breach) {
    case Breach::none:
      return "none";
    case Breach::overlappingAdmissions:
      return "overlappingAdmissions";
    case Breach::submittedWithoutHandle:
      return "submittedWithoutHandle";
    case Breach::submittedAfterLapse:
      return "submittedAfterLapse";
    case Breach::submittedAfterRevocation:
      return "submittedAfterRevocation";
    case Breach::tokenNotIncreasing:
      return "tokenNotIncreasing";
    case Breach::answeredUnasked:
      return "answeredUnasked";
    case Breach::staleAdmission:
      return "staleAdmission";
    case Breach::admittedWithoutBarrier:
      return "admittedWithoutBarrier";
    case Breach::lateSettlement:
      return "lateSettlement";
    case Breach::twoConfigurations:
      return "twoConfigurations";
    case Breach::twoLiveRings:
      return "twoLiveRings";
    case Breach::activatedTooEarly:
      return "activatedTooEarly";
    case Breach::membershipWentBack:
      return "membershipWentBack";
    case Breach::grantedBeforeActivation:
      return "grantedBeforeActivation";
    case Breach::certificateWithoutMajority:
      return "certificateWithoutMajority";
    case Breach::grantedWithoutMembership:
      return "grantedWithoutMembership";
    case Breach::servedAfterAcknowledging:
      return "servedAfterAcknowledging";
    case Breach::strangerTakesPart:
      break;
  }
  return "strangerTakesPart";
}

/// One overload for each observation that matters.
struct Ghost::Observer {
  Ghost& ghost;
  const Cast& cast;
  std::uint8_t node;
  obs::MonotonicInstant now;

  void fail(Breach first) const {
    if (ghost.breach == Breach::none) ghost.breach = first;
  }
  Call& call(obs::CallId id) const { return ghost.calls[id.value - 1]; }
  std::uint8_t keyOfTxn(std::size_t txn) const { return cast.calls[cast.txns[txn].call].key; }
  std::uint8_t nodeOfTxn(std::size_t txn) const { return cast.calls[cast.txns[txn].call].node; }
  /// The transactions on the key of which `has(txn)` holds.
  template <class Has>
  std::uint8_t txnsOn(std::uint8_t key, const Has& has) const {
    std::uint8_t set = 0;
    for (std::size_t i = 0; i < cast.txnCount; ++i) {
      if (keyOfTxn(i) == key && has(ghost.txns[i], i)) set = with(set, ghostBit(i));
    }
    return set;
  }

  void operator()(const obs::Admitted& event) const {
    const std::size_t index = event.call.value - 1;
    if (call(event.call).phase != CallPhase::waiting) fail(Breach::answeredUnasked);
    const auto key = static_cast<std::uint8_t>(event.key.value);
    for (std::size_t i = 0; i < cast.callCount; ++i) {
      // inside, and its own clock has not reached its deadline.
      if (i != index && cast.calls[i].key == key && ghost.calls[i].inForce())
        fail(Breach::overlappingAdmissions);
    }
    call(event.call) = {CallPhase::inside, ticksUntil(event.deadline, now), 0};
    if (event.path == obs::Path::recovery && (ghost.recoveries[node].fenced & ghostBit(key)) == 0) {
      fail(Breach::admittedWithoutBarrier);
    }
    const std::uint8_t committed = txnsOn(key, [&](const Txn& txn, std::size_t i) {
      return txn.phase == TxnPhase::committed && cast.txns[i].call != index;
    });
    // X-2, up to what recoveries have lost by a documented route.
    if (without(without(committed, ghost.visible[node]), ghost.excused) != 0) fail(Breach::staleAdmission);
    const std::uint8_t passed = txnsOn(key, [&](const Txn& txn, std::size_t i) {
      const bool open =
          txn.phase == TxnPhase::staged || txn.phase == TxnPhase::submitted || txn.phase == TxnPhase::found;
      return open && nodeOfTxn(i) != node;
    });
    ghost.overtaken = with(ghost.overtaken, passed);
  }
  void operator()(const obs::Reentered& event) const {
    call(event.call).remaining = ticksUntil(event.deadline, now);
  }
  void operator()(const obs::LockRequested& event) const { call(event.call).phase = CallPhase::waiting; }
  void operator()(const obs::LockRefused& event) const {
    if (call(event.call).phase != CallPhase::waiting) fail(Breach::answeredUnasked);
    call(event.call) = {CallPhase::over, 0, 0};
  }
  void operator()(const obs::Unlocked& event) const {
    call(event.call).phase = CallPhase::left;
    settle(event.call.value - 1);
  }
  void operator()(const obs::Revoked& event) const {
    call(event.call).revoked = 1;
    settle(event.call.value - 1);
  }
  void operator()(const obs::Staged& event) const {
    if (event.call.valid()) ghost.txns[event.txn.value - 1].phase = TxnPhase::staged;
  }
  void operator()(const obs::WriteRefused& event) const {
    const std::size_t txn = event.txn.value - 1;
    ghost.txns[txn] = {TxnPhase::over, 0};
    ghost.overtaken = without(ghost.overtaken, ghostBit(txn));
    settle(cast.txns[txn].call);
  }
  void operator()(const obs::Submitted& event) const {
    if (!event.call.valid()) return;
    const Call& handle = call(event.call);
    ghost.txns[event.txn.value - 1].phase = TxnPhase::submitted;
    if (handle.phase != CallPhase::inside && handle.phase != CallPhase::left) {
      fail(Breach::submittedWithoutHandle);
    } else if (handle.revoked != 0) {
      fail(Breach::submittedAfterRevocation);
    } else if (handle.remaining == 0) {
      fail(Breach::submittedAfterLapse);
    }
  }
  void operator()(const obs::Settled& event) const {
    if (!event.committed) {
      ghost.txns[event.txn.value - 1] = {TxnPhase::over, 0};
      ghost.overtaken = without(ghost.overtaken, ghostBit(event.txn.value - 1));
    } else {
      commit(event.txn.value - 1, event.position);
    }
    settle(cast.txns[event.txn.value - 1].call);
  }
  void commit(std::size_t txn, obs::Position position) const {
    ghost.txns[txn] = {TxnPhase::committed, static_cast<std::uint8_t>(position)};
    const std::uint8_t author = nodeOfTxn(txn);
    ghost.visible[author] = with(ghost.visible[author], ghostBit(txn));
    // DR-3: nobody is admitted elsewhere while a write is still to settle, unless a recovery has lost it.
    const std::uint8_t behind = without(ghost.overtaken, ghost.excused);
    if ((behind & ghostBit(txn)) != 0) fail(Breach::lateSettlement);
    ghost.overtaken = without(ghost.overtaken, ghostBit(txn));
  }

  void operator()(const obs::Granted& event) const {
    LastToken& last = ghost.tokens[event.key.value];
    const std::uint32_t incarnation = event.token.incarnation;
    LastToken token{static_cast<std::uint8_t>(event.token.membership), {}, 0};
    for (std::uint32_t i = 0; i < token.incarnation.size(); ++i) {
      token.incarnation[i] = static_cast<std::uint8_t>(incarnation >> (24 - 8 * i));
    }
    token.counter = static_cast<std::uint8_t>(event.token.counter);
    if (token <= last) fail(Breach::tokenNotIncreasing);
    last = token;
  }
  void operator()(const obs::Installed& event) const {
    Recovery& recovery = ghost.recoveries[node];
    if (!event.renewal) recovery.fenced = without(recovery.fenced, ghostBit(event.key.value));
  }
  void operator()(const obs::Applied& event) const {
    for (std::size_t i = 0; i < cast.txnCount; ++i) {
      const Txn& txn = ghost.txns[i];
      const bool shows = !event.failed && txn.phase == TxnPhase::committed &&
                         txn.position == event.position && nodeOfTxn(i) == event.origin.value;
      if (shows) ghost.visible[node] = with(ghost.visible[node], ghostBit(i));
    }
  }

  void operator()(const obs::HomeMapAcknowledged&) const {
    ghost.acknowledged = with(ghost.acknowledged, ghostBit(node));
  }

  // ---- Recovery: a new lineage begins with what the barrier has measured (FR-8).
  void operator()(const obs::BarrierStarted&) const {
    ghost.recoveries[node].joined = 0;
    ghost.recoveries[node].covered = committedBy(node, 255);
  }
  void operator()(const obs::RecoveryJoined& event) const {
    ghost.recoveries[node].joined = with(ghost.recoveries[node].joined, ghostBit(event.key.value));
  }
  void operator()(const obs::BarrierMeasured& event) const {
    const auto member = static_cast<std::uint8_t>(event.member.value);
    ghost.recoveries[node].covered =
        with(ghost.recoveries[node].covered, committedBy(member, event.position));
  }
  void operator()(const obs::BarrierDone& event) const {
    Recovery& recovery = ghost.recoveries[node];
    if (event.satisfied) {
      for (std::uint8_t key = 0; key < kMaxKeys; ++key) {
        if ((recovery.joined & ghostBit(key)) == 0) continue;
        recovery.fenced = with(recovery.fenced, ghostBit(key));
        const std::uint8_t known =
            txnsOn(key, [](const Txn& txn, std::size_t) { return txn.phase != TxnPhase::none; });
        ghost.excused = with(ghost.excused, without(known, recovery.covered));
      }
    }
    recovery.joined = 0;
    recovery.covered = 0;
  }
  std::uint8_t committedBy(std::uint8_t author, obs::Position upTo) const {
    std::uint8_t set = 0;
    for (std::size_t i = 0; i < cast.txnCount; ++i) {
      const Txn& txn = ghost.txns[i];
      const bool counts = txn.phase == TxnPhase::committed && txn.position <= upTo && nodeOfTxn(i) == author;
      if (counts) set = with(set, ghostBit(i));
    }
    return set;
  }

  /// A handle that was left and has nothing to submit is over: nothing depends on its deadline any more.
  void settle(std::size_t index) const {
    Call& handle = ghost.calls[index];
    if (handle.phase != CallPhase::left) return;
    for (std::size_t i = 0; i < cast.txnCount; ++i) {
      const TxnPhase phase = ghost.txns[i].phase;
      if (cast.txns[i].call == index && (phase == TxnPhase::staged || phase == TxnPhase::submitted)) return;
    }
    handle = {CallPhase::over, 0, 0};
  }

  void operator()(const auto&) const {}
};

void Ghost::on(std::uint8_t node, const obs::Observation& what, obs::MonotonicInstant now, const Cast& cast) {
  std::visit(Observer{*this, cast, node, now}, what);
}

bool Ghost::admits() const { return std::ranges::any_of(calls, &Call::inForce); }

void Ghost::tick(std::uint8_t node, const Cast& cast) {
  for (std::size_t i = 0; i < cast.callCount; ++i) {
    if (cast.calls[i].node == node && calls[i].remaining > 0) --calls[i].remaining;
  }
}

void Ghost::crash(std::uint8_t node, const Cast& cast) {
  for (std::size_t i = 0; i < cast.callCount; ++i) {
    if (cast.calls[i].node == node && calls[i].phase != CallPhase::idle) calls[i] = {CallPhase::over, 0, 0};
  }
  for (std::size_t i = 0; i < cast.txnCount; ++i) {
    const bool open = txns[i].phase == TxnPhase::staged || txns[i].phase == TxnPhase::submitted;
    if (cast.calls[cast.txns[i].call].node != node || !open) continue;
    txns[i] = {TxnPhase::over, 0};
    overtaken = without(overtaken, ghostBit(i));
  }
  recoveries[node] = {};
  acknowledged = without(acknowledged, ghostBit(node));
}

void Ghost::found(obs::TxnId txn, obs::Position position) {
  txns[txn.value - 1] = {TxnPhase::found, static_cast<std::uint8_t>(position)};
}

void Ghost::restart(std::uint8_t node, const Cast& cast) {
  for (std::size_t i = 0; i < cast.txnCount; ++i) {
    if (cast.calls[cast.txns[i].call].node != node || txns[i].phase != TxnPhase::found) continue;
    Observer{*this, cast, node, {}}.commit(i, txns[i].position);
  }
}

bool Ghost::waits(std::uint8_t node, const Cast& cast) const {
  for (std::size_t i = 0; i < cast.callCount; ++i) {
    if (cast.calls[i].node == node && calls[i].phase == CallPhase::waiting) return true;
  }
  return false;
}

}  // namespace holdfast::explore
