#include "protocol/delegation/sessions.hpp"

#include <algorithm>

namespace holdfast::protocol {
namespace {

template <class Vector, class Id, class IdOf>
auto findById(Vector& sorted, Id id, IdOf idOf) -> decltype(sorted.data()) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), id,
                                   [&](const auto& element, Id wanted) { return idOf(element) < wanted; });
  return at != sorted.end() && idOf(*at) == id ? &*at : nullptr;
}

template <class Vector, class Element, class IdOf>
auto insertById(Vector& sorted, Element element, IdOf idOf) -> decltype(sorted.data()) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), idOf(element),
                                   [&](const auto& e, const auto& wanted) { return idOf(e) < wanted; });
  return &*sorted.insert(at, std::move(element));
}

template <class Vector, class Element>
void eraseElement(Vector& vector, const Element* element) {
  vector.erase(vector.begin() + (element - vector.data()));
}

/// A token in as many bits as a write has room for (rule LW3_OneOrder off): the order of a short run's
/// tokens.
std::uint16_t briefOf(const Token& token) {
  return static_cast<std::uint16_t>((token.membership & 3U) << 14 | (token.incarnation & 15U) << 10 |
                                    (token.counter & 1'023U));
}

constexpr auto kCallOf = [](const auto& handle) { return handle.call; };
constexpr auto kTxnOf = [](const auto& transaction) { return transaction.txn; };

}  // namespace

// ---- Handles ----------------------------------------------------------------------------------------------

Handle& Sessions::open(CallId call, KeyId key, const Token& token, MonotonicInstant deadline, bool hold,
                       Duration lease, const LocalEnv& env) {
  Handle handle;
  handle.call = call;
  handle.key = key;
  handle.token = token;
  handle.deadline = deadline;
  handle.wallDeadline = env.context.wall + lease;
  handle.hold = hold;
  return *insertById(handles_, handle, kCallOf);
}

Handle* Sessions::find(CallId call) { return findById(handles_, call, kCallOf); }

Cause Sessions::lapse(const Handle& handle, const LocalEnv& env) const {
  if (handle.revoked) return Cause::revoked;
  if (!env.on(Rule::CK5_MonotonicLeases)) {
    return env.context.wall >= handle.wallDeadline ? Cause::expired : Cause::none;
  }
  // CK-4: a suspended process learns of the lapse by looking, not from a timer that fires when it wakes up.
  const bool expired = env.on(Rule::CK4_ExpiryChecked) ? env.now() >= handle.deadline : handle.lapsed;
  return expired ? Cause::expired : Cause::none;
}

TouchedKeys Sessions::unlock(CallId call, const LocalEnv& env) {
  Handle* handle = find(call);
  if (handle == nullptr || handle->unlocked) return {};
  const KeyId key = handle->key;
  const bool wasInside = handle->inside();
  handle->unlocked = true;
  if (!env.on(Rule::LH4_UnlockIsNoRevocation) && handle->unsettled > 0) handle->revoked = true;
  if (wasInside) env.observe(obs::Unlocked{call, key});
  dropIfOver(call, env);
  return {Touched{key, call}};
}

void Sessions::noteLapse(CallId call) {
  if (Handle* handle = find(call)) handle->lapsed = true;
}

void Sessions::revoke(KeyId key, const LocalEnv& env) {
  for (Handle& handle : handles_) {
    if (handle.key != key || handle.revoked || lapse(handle, env) != Cause::none) continue;
    if (handle.unlocked && (handle.unsettled == 0 || !env.on(Rule::DR2_RevokeUnlockedStaged))) continue;
    handle.revoked = true;
    env.observe(obs::Revoked{handle.call, key, handle.unlocked});
  }
}

bool Sessions::active(KeyId key, const LocalEnv& env) const {
  return std::any_of(handles_.begin(), handles_.end(), [&](const Handle& handle) {
    if (handle.key != key || lapse(handle, env) != Cause::none) return false;
    return !handle.unlocked || handle.unsettled > 0;
  });
}

void Sessions::dropIfOver(CallId call, const LocalEnv& env) {
  const Handle* handle = find(call);
  if (handle == nullptr || !env.on(Rule::BD2_Sweep)) return;
  if (handle->unlocked && handle->unsettled == 0) eraseElement(handles_, handle);
}

void Sessions::sweep(const LocalEnv& env) {
  if (!env.on(Rule::BD2_Sweep)) return;
  std::erase_if(handles_, [&](const Handle& handle) {
    return handle.unsettled == 0 && (handle.unlocked || lapse(handle, env) != Cause::none);
  });
}

// ---- Transactions -----------------------------------------------------------------------------------------

Sessions::Transaction* Sessions::findTransaction(TxnId txn) { return findById(transactions_, txn, kTxnOf); }

void Sessions::stage(const CallStage& call, const LocalEnv& env) {
  Transaction* txn = findTransaction(call.txn);
  Handle* handle = call.call.valid() ? find(call.call) : nullptr;
  Cause cause = Cause::none;
  if (call.key.value >= env.setup.directory->keyCount() || !call.txn.valid() || (txn && txn->submitted)) {
    cause = Cause::malformed;
  } else if (call.call.valid()) {
    const bool usable = handle != nullptr && handle->key == call.key && !handle->unlocked;
    cause = usable ? lapse(*handle, env) : Cause::unknownHandle;
  } else if (!env.on(Rule::LH5_UnlockedWritesFree) && active(call.key, env)) {
    cause = Cause::contended;
  }
  if (cause != Cause::none) {
    Transaction refused;
    refused.txn = call.txn;
    refuse(txn ? *txn : refused, call.call, call.key, cause, true, env);
    if (txn && !txn->submitted) finish(*txn, env);
    return;
  }

  Timestamp stamp = call.callerStamp ? call.stamp : Timestamp{env.context.wall.ns};
  if (handle != nullptr) {
    // LW-2: under one handle a later stamp is greater, whatever the wall clock did in between.
    if (env.on(Rule::LW2_HandleFloor) && !call.callerStamp && stamp <= handle->floor)
      stamp.ns = handle->floor.ns + 1;
    handle->floor = std::max(handle->floor, stamp);
  }
  if (txn == nullptr) {
    Transaction fresh;
    fresh.txn = call.txn;
    txn = insertById(transactions_, std::move(fresh), kTxnOf);
  }
  const bool firstOfHandle = std::find(txn->calls.begin(), txn->calls.end(), call.call) == txn->calls.end();
  if (handle != nullptr && firstOfHandle) ++handle->unsettled;
  txn->locked = txn->locked || handle != nullptr;
  const bool whole = call.op == WriteOp::put || call.op == WriteOp::erase;
  const auto fields = static_cast<FieldMask>(whole ? obs::kAllFields : call.fields & obs::kAllFields);
  // LW-3: locked and unlocked writes resolve alike.
  const std::uint16_t fence = handle == nullptr || env.on(Rule::LW3_OneOrder) ? 0 : briefOf(handle->token);
  txn->writes.push_back({call.key, call.op, fields, fence, stamp, call.values});
  txn->calls.push_back(call.call);
  env.observe(
      obs::Staged{call.txn, call.call, call.key, call.op, fields, call.callerStamp, stamp, call.values});
  env.context.reply(TxnReply{call.txn, true, false, ErrorClass::none, Cause::none});
}

Cause Sessions::refusal(const Transaction& txn, CallId& call, KeyId& key, const LocalEnv& env) {
  if (!env.on(Rule::LH3_CheckAtSubmission)) return Cause::none;
  if (!txn.locked) {
    // LH-5: there is nothing to check, and not one write is looked at.
    if (env.on(Rule::LH5_NothingChecked)) return Cause::none;
    env.observe(obs::UnlockedWritesChecked{txn.txn, static_cast<std::uint32_t>(txn.writes.size())});
  }
  for (std::size_t i = 0; i < txn.calls.size(); ++i) {
    call = txn.calls[i];
    key = txn.writes[i].key;
    if (!call.valid()) continue;
    const Handle* handle = find(call);
    const Cause cause = handle == nullptr ? Cause::unknownHandle : lapse(*handle, env);
    if (cause != Cause::none) return cause;
  }
  return Cause::none;
}

void Sessions::refuse(const Transaction& txn, CallId call, KeyId key, Cause cause, bool staging,
                      const LocalEnv& env) {
  const ErrorClass error = cause == Cause::malformed || cause == Cause::shutdown
                               ? ErrorClass::lockUnavailable503
                               : ErrorClass::conflict409;
  env.observe(obs::WriteRefused{txn.txn, call, key, error, cause});
  env.context.reply(TxnReply{txn.txn, staging, false, error, cause});
}

void Sessions::announce(const Transaction& txn, std::uint32_t attempt, const LocalEnv& env) {
  for (std::size_t i = 0; i < txn.writes.size(); ++i) {
    env.observe(obs::Submitted{txn.txn, txn.calls[i], txn.writes[i].key, attempt});
  }
}

TouchedKeys Sessions::submit(TxnId id, const LocalEnv& env) {
  Transaction* txn = findTransaction(id);
  if (txn == nullptr || txn->submitted) {
    Transaction unknown;
    unknown.txn = id;
    refuse(unknown, CallId{}, KeyId::none(), Cause::unknownHandle, false, env);
    return {};
  }
  CallId call;
  KeyId key;
  if (const Cause cause = refusal(*txn, call, key, env); cause != Cause::none) {
    refuse(*txn, call, key, cause, false, env);
    return finish(*txn, env);
  }
  txn->submitted = true;
  announce(*txn, 1, env);
  env.commits.start(TransactionEntry{txn->txn, txn->writes}, 1, env.context);
  return {};
}

TouchedKeys Sessions::abandon(TxnId id, const LocalEnv& env) {
  Transaction* txn = findTransaction(id);
  if (txn == nullptr || txn->submitted) return {};
  return finish(*txn, env);
}

TouchedKeys Sessions::onCommitDone(const TransactionEntry& entry, std::uint32_t attempt,
                                   CommitOutcome outcome, Position position, const LocalEnv& env) {
  Transaction* txn = findTransaction(entry.txn);
  if (txn == nullptr) return {};
  if (outcome == CommitOutcome::committed) {
    env.observe(obs::Settled{txn->txn, true, false, position});
    env.context.reply(TxnReply{txn->txn, false, true, ErrorClass::none, Cause::none});
    return finish(*txn, env);
  }
  if (outcome == CommitOutcome::aborted && attempt < env.options().commitAttempts) {
    env.observe(obs::AttemptAborted{txn->txn, attempt});
    CallId call;
    KeyId key;
    // A further attempt is a further submission: it needs a live handle as much as the first one (LH-3).
    const Cause cause = refusal(*txn, call, key, env);
    if (cause == Cause::none) {
      announce(*txn, attempt + 1, env);
      env.commits.start(entry, attempt + 1, env.context);
      return {};
    }
    refuse(*txn, call, key, cause, false, env);
    return finish(*txn, env);
  }
  env.observe(obs::Settled{txn->txn, false, false, 0});
  env.context.reply(TxnReply{txn->txn, false, false, ErrorClass::none, Cause::aborted});
  return finish(*txn, env);
}

/// The transaction is over: its handles have one unsettled transaction less, and those that were not taken
/// with `hold` leave their critical sections.
TouchedKeys Sessions::finish(Transaction& txn, const LocalEnv& env) {
  TouchedKeys touched;
  for (std::size_t i = 0; i < txn.calls.size(); ++i) {
    const CallId call = txn.calls[i];
    const bool seen = std::find(txn.calls.begin(), txn.calls.begin() + static_cast<std::ptrdiff_t>(i),
                                call) != txn.calls.begin() + static_cast<std::ptrdiff_t>(i);
    Handle* handle = call.valid() && !seen ? find(call) : nullptr;
    if (handle == nullptr) continue;
    const KeyId key = handle->key;
    const bool leaves = txn.submitted && !handle->hold && !handle->unlocked;
    --handle->unsettled;
    if (leaves && handle->inside()) env.observe(obs::Unlocked{call, key});
    if (leaves) handle->unlocked = true;
    touched.push_back({key, leaves ? call : CallId{}});
    dropIfOver(call, env);
  }
  eraseElement(transactions_, &txn);
  return touched;
}

bool Sessions::settling(KeyId key) const {
  return std::any_of(transactions_.begin(), transactions_.end(), [&](const Transaction& txn) {
    if (!txn.submitted) return false;
    for (std::size_t i = 0; i < txn.calls.size(); ++i) {
      if (txn.calls[i].valid() && txn.writes[i].key == key) return true;
    }
    return false;
  });
}

void Sessions::addTo(StateHash& hash) const {
  for (const Handle& handle : handles_) {
    hash.add(handle.call);
    hash.add(handle.key);
    hash.add(handle.deadline);
    hash.add(handle.floor);
    hash.add(static_cast<std::uint64_t>(handle.unsettled) << 4 |
             static_cast<std::uint64_t>(handle.hold) << 3 | static_cast<std::uint64_t>(handle.unlocked) << 2 |
             static_cast<std::uint64_t>(handle.revoked) << 1 | static_cast<std::uint64_t>(handle.lapsed));
  }
  for (const Transaction& txn : transactions_) {
    hash.add(txn.txn);
    hash.add(static_cast<std::uint64_t>(txn.submitted));
    hash.addRange(txn.writes);
    hash.addRange(txn.calls);
  }
}

}  // namespace holdfast::protocol
