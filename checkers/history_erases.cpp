// LW-3: what a replica may show although an erase outranks it, because the erase has been forgotten there.
//
// A tombstone goes when its retention is over and all that was logged by then is applied. A write that is
// logged later, and yet with a timestamp that the erase outranks, is kept out by a replica that still has the
// tombstone and kept by those that have reclaimed it. Everything else is owed: nothing here looks at when a
// write was applied.
#include "checkers/history.hpp"

namespace holdfast::checkers {

bool History::reclaimed(KeyId key, NodeId node) const {
  const std::uint8_t* const found = reclaimed_.find(key.value, node);
  return found != nullptr && *found != 0;
}

bool History::outlivesErase(const Write& write, obs::Duration retention) const {
  if (retention.ns == 0 || txn(write.txn).state != TxnState::committed) return false;
  const TrueInstant logged = txn(write.txn).settledAt;
  for (const Write& erase : writes_) {
    if (erase.key != write.key || erase.op != obs::WriteOp::erase) continue;
    const Txn& eraser = txn(erase.txn);
    if (eraser.state != TxnState::committed || logged < eraser.settledAt + retention) continue;
    if (outranks(erase, write)) return true;
  }
  return false;
}

bool History::outrankedByErase(const Write& write) const {
  for (const Write& erase : writes_) {
    if (erase.key != write.key || erase.op != obs::WriteOp::erase) continue;
    if (txn(erase.txn).state == TxnState::committed && outranks(erase, write)) return true;
  }
  return false;
}

/// The put or patch on which the increments up to `top` stand for certain at `node`: none that an erase might
/// have removed there, or not.
const Write* History::baseOf(NodeId node, KeyId key, unsigned field, const Write& top) const {
  const Write* base = nullptr;
  for (const Write& write : writes_) {
    const bool decides =
        write.key == key && (write.leavesPresent() >> field & 1U) != 0 && write.op != obs::WriteOp::increment;
    if (!decides || !visible(node, txn(write.txn)) || outranks(write, top)) continue;
    if (base != nullptr && !outranks(write, *base)) continue;
    if (!outrankedByErase(write)) base = &write;
  }
  return base;
}

bool History::showsForgottenErase(NodeId node, KeyId key, unsigned field, TxnId writer,
                                  obs::Duration retention) const {
  if (!writer.valid() || !reclaimed(key, node)) return false;
  const Write* const top = writeOf(writer, key, field);
  if (top == nullptr) return false;
  if (top->op != obs::WriteOp::increment) return outlivesErase(*top, retention);
  // A sum is of all increments between its base and its greatest one.
  const Write* const base = baseOf(node, key, field, *top);
  for (const Write& write : writes_) {
    if (write.key != key || (write.leavesPresent() >> field & 1U) == 0) continue;
    if (!visible(node, txn(write.txn)) || outranks(write, *top)) continue;
    if (base != nullptr && outranks(*base, write)) continue;
    if (outlivesErase(write, retention)) return true;
  }
  return false;
}

}  // namespace holdfast::checkers
